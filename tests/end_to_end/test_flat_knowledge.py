"""Bounded knowledge of tables: any m quasi-identifier values of a person fit at least k records."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

import hierdata
from tests import naive_knowledge as naive
from tests.cases import naming, with_worlds

TREE = {"*": {"A": ["a1", "a2"], "B": ["b1", "b2", "b3"]}}
FIELDS: dict[str, Any] = {
    "$.code": {"role": "quasi", "taxonomy": {"tree": TREE}},
    "$.town": {"role": "quasi", "flat": True},
    "$.sex": {"role": "quasi", "flat": True},
    "$.year": {"role": "quasi", "interval": {"steps": [1, 5]}},
    "$.ill": {"role": "sensitive"},
}
OUTLINE = naive.Outline("person", ("code", "town", "sex", "year"), ("ill",))
SEED = bytes(32)


def people(seed: int) -> list[dict[str, Any]]:
    rng = Random(seed)
    found = []
    for _ in range(rng.randint(6, 30)):
        row = {
            "code": rng.choice(["a1", "a2", "b1", "b2", "b3"]),
            "town": rng.choice("pqrs"),
            "sex": rng.choice("fm"),
            "year": rng.randint(1990, 1996),
            "ill": rng.choice("xyz"),
        }
        found.append({key: value for key, value in row.items() if rng.random() > 0.05})
    return found


def stated(k: int, m: int, **more: Any) -> dict[str, Any]:
    model = {"kind": "bounded-knowledge", "k": k, "m": m, "root": "counted", **more}
    return {"version": 1, "models": [model], "fields": FIELDS}


@with_worlds(3, 80)
def test_every_m_values_fit_k_records(worlds: int, tmp_path: Path) -> None:
    """As the patterns of plain Python count them; the original's values fit too, and verify agrees."""
    for seed in range(worlds):
        rng = Random(seed)
        k, m, records = rng.randint(2, 4), rng.randint(1, 3), people(seed)
        with naming(seed=seed, k=k, m=m):
            policy = stated(k, m, vertex=rng.choice(["whole", "off"]))
            release = hierdata.anonymize(records, policy, seed=SEED, out=tmp_path / str(seed))
            published = list(release.records())
            assert len(published) == len(records)
            least = naive.smallest_counts([OUTLINE.read(row) for row in published], m, counted=True)
            assert min(least.values()) >= k
            assert hierdata.verify(release, policy, original=records).passed
            spoilt = [{**row, "town": "elsewhere"} if row is published[0] else row for row in published]
            assert not hierdata.verify(spoilt, policy).passed


def test_the_promise_says_nothing_of_vertices() -> None:
    """There are none: the sentence is of values of a person."""
    release = hierdata.anonymize(people(1), stated(3, 2), seed=SEED)
    text = (Path(release) / "public" / "release.json").read_text(encoding="utf-8")
    assert "Someone who knows any 2 values of a person, or that one is missing" in text
    assert "all that one vertex shows" not in text


def test_pairs_of_a_table() -> None:
    """Every two columns together have no combination that fewer than three records show."""
    published = list(hierdata.anonymize(people(5), stated(3, 2), seed=SEED).records())
    for one, other in combinations(("code", "town", "sex", "year"), 2):
        shown = [(row.get(one), row.get(other)) for row in published]
        assert min(map(shown.count, shown)) >= 3


def test_fewer_records_than_k_are_refused() -> None:
    """Nothing can keep that."""
    with pytest.raises(hierdata.HierdataError, match="3"):
        hierdata.anonymize(people(1)[:2], stated(3, 2), seed=SEED)


def test_an_attack_knows_values_of_the_record_as_facts(tmp_path: Path) -> None:
    """With up to m of them each person has at least k candidates."""
    records = people(4) + people(5)
    release = hierdata.anonymize(records, stated(3, 2), seed=SEED, out=tmp_path / "out")
    found = hierdata.attack(release, stated(3, 2), original=records, facts=4)
    assert found.by_facts
    assert [row.smallest >= 3 for row in found.release.candidates[:3]] == [True] * 3
    assert found.identifiers_dropped.candidates[4].unique > 0
