"""Bounded knowledge in blocks: the whole keeps the promise, and no two blocks publish one root vector."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import hierdata
from hierdata.engines.base import Trial
from hierdata.engines.blocking import Sizes
from hierdata.engines.blocking.roots import RootNodes, grow_root_cut
from hierdata.engines.specialize import division_search
from hierdata.engines.specialize.engine import Specialize
from hierdata.engines.specialize.run import Way
from hierdata.forest.partition import Partition
from hierdata.ground.errors import PolicyError
from hierdata.pipeline import cluster
from hierdata.pipeline.cluster import add_trials
from hierdata.pipeline.encode import Blocks
from tests import naive_knowledge as naive
from tests.cases import naming, with_worlds
from tests.end_to_end.conftest import public_bytes

TOWNS = {"*": {"north": ["a", "b"], "south": {"coast": ["c", "d"], "hills": ["e"]}}}
FIELDS: dict[str, Any] = {
    "$.town": {"role": "quasi", "taxonomy": {"tree": TOWNS}},
    "$.job": {"role": "quasi", "flat": True},
    "$.visits[*].ward": {"role": "quasi", "flat": True},
    "$.visits[*].ill": {"role": "sensitive"},
}
OUTLINE = naive.Outline("", ("town", "job"), (), {"visits": naive.Outline("visit", ("ward",), ("ill",))})
SERIAL = hierdata.Resources("serial")


def policy_of(blocks: int | str, **model: Any) -> dict[str, Any]:
    models = [{"kind": "bounded-knowledge", "k": 2, "m": 2, **model}]
    return {"version": 1, "models": models, "fields": FIELDS, "blocks": blocks}


def random_people(random: Random, count: int, rare: float = 0.1) -> list[Any]:
    """People who lack values now and then."""

    def some(values: str) -> str | None:
        return None if random.random() < rare else random.choice(values)

    return [
        {
            "town": some("abcde"),
            "job": some("xyz"),
            "visits": [
                {"ward": some("1234"), "ill": random.choice("HHfc")} for _ in range(random.randrange(4))
            ],
        }
        for _ in range(count)
    ]


def keeps(release: hierdata.Release, **model: Any) -> bool:
    """Whether all published records together keep the promise, by the plain twin."""
    records: list[Any] = list(release.records())
    return naive.keeps_promise(
        [OUTLINE.read(record) for record in records],
        lambda kind, at, value: (),
        **{"k": 2, "m": 2, "whole": model.get("vertex") != "off", "counted": False},
    )


@with_worlds(2, 8)
def test_the_whole_keeps_the_promise(monkeypatch: pytest.MonkeyPatch, worlds: int) -> None:
    """Whatever the root values, missing ones included: none of the searches had to be joined.

    Every other collection chooses by trials, of which two in turn do not mend everything.
    """
    joined, chosen = [], list[object]()
    monkeypatch.setattr(cluster, "_join_blocks", joined.append)
    choose = Specialize.choose_by_trials

    def watch(own: Specialize, trials: Mapping[Hashable, Trial]) -> Specialize:
        found = choose(own, trials)
        chosen.append(found._way)
        return found

    monkeypatch.setattr(Specialize, "choose_by_trials", watch)
    random = Random(4)
    for number in range(worlds):
        people = random_people(random, random.choice([40, 70]))
        monkeypatch.setattr(Specialize, "chooses_from", 2 if number % 2 else 100)
        monkeypatch.setattr(division_search, "_MOST_TRIED", 10**6 if number % 4 < 2 else 0)
        model = {"vertex": random.choice(["whole", "off"])}
        with naming(number=number, model=model):
            release = hierdata.anonymize(people, policy_of(9, **model), seed=bytes(16), resources=SERIAL)
            assert keeps(release, **model)
            assert release.report.counts.records.published == len(people)
    assert not joined
    assert len(chosen) == worlds // 2
    assert None not in chosen


def test_a_block_with_too_many_patterns_is_published_in_whole_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person with forty visits has 780 pairs of them; the other blocks are searched, and decide the way."""
    monkeypatch.setattr("hierdata.privacy.bounded_knowledge._MOST_OCCURRENCES", 700)
    monkeypatch.setattr(Specialize, "chooses_from", 2)
    people, policy = random_people(Random(3), 60), policy_of(10)
    people[4]["visits"] = [{"ward": "1234"[at % 4], "ill": "f"} for at in range(40)]
    searched = list[int]()
    mend = division_search.DivisionSearch.mend_by

    def watch(own: division_search.DivisionSearch, *way: Any) -> Partition | None:
        searched.append(sum(own.occurrences))
        return mend(own, *way)

    monkeypatch.setattr(division_search.DivisionSearch, "mend_by", watch)
    release = hierdata.anonymize(people, policy, seed=bytes(16), resources=SERIAL)
    assert keeps(release)
    assert release.report.counts.records.published == len(people)
    assert len(searched) > 2
    assert max(searched) < 700


def test_a_block_that_tried_nothing_decides_nothing() -> None:
    way, other = Way(1.0, None), Way(0.4, 0.3)
    assert add_trials([{}, {way: Trial(1, 0), other: Trial(5, 0)}, {way: Trial(2, 0)}]) == {way: Trial(3, 0)}
    assert add_trials([{}, {}]) == {}


@pytest.mark.full
def test_bytes_do_not_depend_on_the_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Specialize, "chooses_from", 2)
    people, policy = random_people(Random(1), 60), policy_of(10)
    serial = hierdata.anonymize(people, policy, seed=bytes(16), resources=SERIAL)
    several = hierdata.anonymize(
        people, policy, seed=bytes(16), resources=hierdata.Resources("processes", workers=2)
    )
    assert public_bytes(several) == public_bytes(serial)
    assert hierdata.verify(serial, policy_of("whole"), original=people).passed


def test_what_a_block_cannot_keep_is_searched_in_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """One person of each side has a single child: each alone in a block, two together."""
    joined, join = [], cluster._join_blocks

    def watch(blocks: Blocks) -> Blocks:
        joined.append(len(blocks.loads))
        return join(blocks)

    monkeypatch.setattr(cluster, "_join_blocks", watch)
    fields = {**FIELDS, "$.home": {"vertex": True}, "$.home.room": {"role": "quasi", "flat": True}}
    people = [{**one, "job": "xy"[at % 2]} for at, one in enumerate(random_people(Random(2), 40, 0.0))]
    for one in people[:2]:
        one["home"] = {"room": "r"}
    policy = {**policy_of(20), "fields": fields}
    release = hierdata.anonymize(people, policy, seed=bytes(16), resources=SERIAL)
    records: list[Any] = list(release.records())
    assert joined == [2]
    assert len(records) == 40
    assert sum("home" in record for record in records) == 2
    assert hierdata.verify(release, policy, original=people).passed


def test_counted_roots_are_counted_over_all_records() -> None:
    with pytest.raises(PolicyError, match="blocks: counted roots: patterns are counted over all records"):
        hierdata.anonymize(random_people(Random(1), 40), policy_of(10, root="counted"))


def test_a_cut_takes_the_node_that_saves_most_and_unites_what_is_too_small() -> None:
    """By hand: 8 records in node 1, of which 4 in node 2, and 8 elsewhere; node 3 of another root value."""
    counts = np.zeros((16, 3), np.uint8)
    counts[:8, 0] = 1
    counts[:4, 1] = 1
    counts[::2, 2] = 1
    columns = RootNodes(np.array([0, 0, 1]), np.array([1, 2, 1]), np.array([4, 0, 9]), np.array([10, 10]))
    # Sides of at least 6: node 1 saves 8 * 6, node 3 of the other value 8 * 1.
    made = grow_root_cut(counts, columns, Sizes(16, 9, 4), 0)
    assert made.block_of(counts, np.arange(16)).tolist() == [1] * 8 + [0] * 8
    # Sides of at least 4: each half is cut again, the first by node 2, the second by the other value.
    made = grow_root_cut(counts, columns, Sizes(16, 6, 4), 0)
    assert made.leaf_of(counts, np.arange(16)).tolist() == [3] * 4 + [2] * 4 + [1, 0] * 4
    settled = made.settle_counts(np.array([4, 2, 9, 9]))
    assert settled.block_of(counts, np.arange(16)).tolist() == [2] * 4 + [1] * 4 + [0] * 8
    settled = made.settle_counts(np.array([4, 4, 0, 3]))
    assert settled.blocks == 1
