"""The most rows that several attributes allow, against every choice; groups of them; what is refused."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product
from random import Random
from typing import Any

import numpy as np
import pytest

import hierdata
from hierdata.cli.overview import overview
from hierdata.engines.buckets.attainable import JointCounts, draw_rows, explain_shortage, keep_most
from hierdata.engines.buckets.buckets import Buckets, Coordinate
from hierdata.engines.buckets.draw import draw_kept
from hierdata.engines.buckets.exchange import Exchange
from hierdata.engines.buckets.packing import pack_rows
from tests.cases import for_each, with_worlds

JOINT = {"aa": 12, "ab": 2, "ac": 12, "ba": 15, "bb": 3, "bc": 9, "ca": 2, "cb": 1, "cc": 4}
PAIRS = [pair for pair, count in JOINT.items() for _ in range(count)]
"""60 rows of two attributes; a has 26 in the first, a 29 in the second: 18 rows can be kept for l = 3."""


def coordinates(rows: Sequence[Sequence[int]], shares: Sequence[Fraction]) -> list[Coordinate]:
    columns = [np.array(column, np.int64) for column in zip(*rows, strict=True)]
    return [
        Coordinate(f"$.s{at}", column, (share,) * (max(0, int(column.max())) + 1))
        for at, (column, share) in enumerate(zip(columns, shares, strict=True))
    ]


def random_rows(rng: Random, count: int, width: int, values: int) -> list[list[int]]:
    return [[min(rng.randrange(values), rng.randrange(values)) for _ in range(width)] for _ in range(count)]


def keeps(rows: Sequence[Sequence[int]], shares: Sequence[Fraction]) -> bool:
    """Whether no value of any attribute has more than its share; -1 is a missing value."""
    for at, share in enumerate(shares):
        held = Counter(row[at] for row in rows if row[at] >= 0)
        if held and max(held.values()) > share * held.total():
            return False
    return True


def best(rows: Sequence[Sequence[int]], gone: set[int], shares: Sequence[Fraction], least: int | None) -> int:
    """The most rows that can be kept, by trying every choice; ``least`` of the others keep shares too."""
    found = 0
    for choice in product((False, True), repeat=len(rows)):
        if any(choice[own] for own in gone):
            continue
        kept = [row for row, own in zip(rows, choice, strict=True) if own]
        rest = [row for row, own in zip(rows, choice, strict=True) if not own]
        if keeps(kept, shares) and (least is None or (len(rest) >= least and keeps(rest, shares))):
            found = max(found, len(kept))
    return found


@for_each("seed", range(60), few=15)
def test_as_many_rows_are_kept_as_any_choice_keeps(seed: int) -> None:
    rng = Random(seed)
    rows = random_rows(rng, rng.randint(1, 9), rng.randint(1, 3), rng.randint(2, 4))
    if seed % 4 == 0:
        rows = [[-1 if rng.random() < 0.2 else value for value in row] for row in rows]
    shares = [Fraction(rng.randint(1, 2), rng.randint(2, 4)) for _ in rows[0]]
    cells = JointCounts.of(coordinates(rows, shares), len(rows))
    kept = keep_most(cells, cells.count())
    assert not any(cells.excesses(kept))
    assert (kept <= cells.count()).all()
    assert kept.sum() == best(rows, set(), shares, None)
    gone = set(rng.sample(range(len(rows)), 1))
    mask = np.isin(np.arange(len(rows)), [*gone])
    both = keep_most(cells, cells.count(~mask), cells.count(mask), 2)
    assert both.sum() == best(rows, gone, shares, 2)
    left_out = cells.count() - both
    assert not both.sum() or not any(cells.excesses(left_out))


def test_which_rows_of_a_cell_are_kept_is_drawn() -> None:
    rows = [[0]] * 6 + [[1]] * 3
    cells = JointCounts.of(coordinates(rows, [Fraction(1, 2)]), 9)
    kept = keep_most(cells, cells.count())
    every = np.ones(9, np.bool_)
    drawn = {tuple(draw_rows(cells, kept, every, np.random.default_rng(seed)).tolist()) for seed in range(60)}
    assert all(sum(own[:6]) == sum(own[6:]) == 3 for own in drawn)
    assert {at for own in drawn for at in range(6) if own[at]} == set(range(6))
    assert len(drawn) > 10


def groups_of(rows: Sequence[Sequence[int]], diversity: int, seed: int) -> tuple[int, list[list[int]]]:
    own = coordinates(rows, [Fraction(1, diversity)] * len(rows[0]))
    cells = JointCounts.of(own, len(rows))
    buckets = Buckets(tuple(own), diversity, len(rows))
    classes, _ = draw_kept(buckets, cells, np.random.default_rng(seed), "multi")
    found = [np.flatnonzero(classes == number).tolist() for number in range(int(classes.max(initial=-1)) + 1)]
    return int(keep_most(cells, cells.count()).sum()), found


@for_each("seed", range(60), few=10)
def test_two_attributes_publish_all_that_can_be_published(seed: int) -> None:
    rng = Random(seed)
    rows, diversity = random_rows(rng, rng.randint(8, 120), 2, rng.randint(3, 6)), rng.randint(2, 4)
    most, groups = groups_of(rows, diversity, seed)
    assert sum(map(len, groups)) == most
    for group in groups:
        assert len(group) >= diversity
        assert all(len(set(column)) == len(group) for column in zip(*(rows[at] for at in group), strict=True))


def test_sixty_rows_lose_no_more_than_they_must_under_any_seed() -> None:
    rows = [["abc".index(value) for value in pair] for pair in PAIRS]
    for seed in range(6):
        most, groups = groups_of(rows, 3, seed)
        assert most == sum(map(len, groups)) == 18


@for_each("seed", range(20), few=6)
def test_groups_stay_apart_whatever_is_exchanged(seed: int) -> None:
    rng = Random(seed)
    rows = np.add(random_rows(rng, 60, 3, 6), [0, 6, 12])
    exchange = Exchange(rows, 18, [[]] * 12, np.random.default_rng(seed))
    put = [row for row in range(60) if exchange.put(row)]
    exchange.stir()
    exchange.even_out(4)
    held = sorted(row for own in exchange.groups for row in own)
    assert held == put
    for own in exchange.groups:
        vectors = rows[sorted(own)]
        assert all(len(set(column)) == len(own) for column in vectors.T.tolist())


def most_classes(rows: list[list[int]], size: int) -> int:
    """The most classes of rows without a common value, by trying every row in every class, or in none."""
    if len(rows) < size:
        return 0
    first, *others = rows
    found = most_classes(others, size)
    for class_of_first in combinations(range(len(others)), size - 1):
        held = [first, *(others[at] for at in class_of_first)]
        if all(len(set(column)) == size for column in zip(*held, strict=True)):
            left = [row for at, row in enumerate(others) if at not in class_of_first]
            found = max(found, 1 + most_classes(left, size))
    return found


@for_each("seed", range(60), few=15)
def test_no_choice_makes_more_classes_than_packing(seed: int) -> None:
    rng = Random(seed)
    width, size = rng.randint(1, 4), rng.randint(2, 3)
    rows = random_rows(rng, rng.randint(1, 8), width, rng.randint(2, 4))
    gaps = [row if rng.random() < 0.8 else [-1, *row[1:]] for row in rows]
    own = coordinates(gaps, [Fraction(1, size)] * width)
    buckets, generator = Buckets(tuple(own), size, len(rows)), np.random.default_rng(seed)
    classes = pack_rows(buckets, generator.permutation(np.flatnonzero(buckets.complete)))
    found = 0 if classes is None else int(classes.max()) + 1
    assert found == most_classes([row for row in gaps if min(row) >= 0], size)
    cells = JointCounts.of(own, len(rows))
    most = int(keep_most(cells, cells.count()).sum())
    assert size * found <= most, "where exchanges publish as many, packing is not tried"
    for number in range(found):
        assert classes is not None
        held = [gaps[at] for at in np.flatnonzero(classes == number)]
        assert len(held) == size
        assert all(len(set(column)) == size for column in zip(*held, strict=True))
    assert found or classes is None


def test_too_many_combinations_are_left_to_the_draw() -> None:
    own = coordinates([[at, at] for at in range(60)], [Fraction(1, 4)] * 2)
    assert pack_rows(Buckets(tuple(own), 4, 60), np.arange(60)) is None


# The release


@with_worlds(4, 60)
def test_of_what_counts_allow_nearly_all_is_published_under_every_seed(worlds: int) -> None:
    published, attainable = 0, 0
    for seed in range(worlds):
        rng = Random(seed)
        width, diversity = rng.randint(2, 4), rng.randint(2, 3)
        rows = random_rows(rng, rng.randint(40, 160), width, rng.randint(4, 8))
        names = [f"s{at}" for at in range(width)]
        fields = {"$.q": {"role": "quasi", "interval": {"steps": [1, 10, 1000]}}}
        asked = policy(
            3, diversity, fields=fields | {f"$.{name}": {"role": "sensitive"} for name in names},
            suppressed="as_published",
        )  # fmt: skip
        table = [{"q": at, **dict(zip(names, row, strict=True))} for at, row in enumerate(rows)]
        cells = JointCounts.of(coordinates(rows, [Fraction(1, diversity)] * width), len(rows))
        most = int(keep_most(cells, cells.count()).sum())
        if most < max(3, diversity):
            continue
        releases = [hierdata.anonymize(table, asked, seed=bytes([number]) * 16) for number in range(2)]
        found = [release.report.counts.records.published for release in releases]
        assert max(found) - min(found) <= 0.02 * max(found)
        published, attainable = published + min(found), attainable + most
    assert attainable > 100
    assert published >= 0.99 * attainable


def policy(k: int, diversity: int, preset: str = "SLOMS", **changes: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "engine": {"preset": preset},
        "models": [{"kind": "k-anonymity", "k": k}, {"kind": "frequency-l-diversity", "l": diversity}],
        "fields": {
            "$.q": {"role": "quasi", "interval": {"steps": [1, 10, 100]}},
            "$.s0": {"role": "sensitive"},
            "$.s1": {"role": "sensitive"},
        },
        "accept": {"group-ids": "a test"} if preset == "SLOMS" else {},
    } | changes


def people() -> list[dict[str, Any]]:
    return [{"q": at, "s0": pair[0], "s1": pair[1]} for at, pair in enumerate(PAIRS)]


@pytest.mark.parametrize("preset", ["SLOMS", "MSB-KACA with shared groups"])
def test_all_that_can_be_published_is(preset: str) -> None:
    for seed in range(3):
        release = hierdata.anonymize(people(), policy(3, 3, preset), seed=bytes([seed]) * 16)
        assert release.report.counts.records.published == 18
    told = " ".join(line.strip() for line in overview(release.report, release.folder))
    assert "Given out: 18 of 60 records are published" in told
    assert re.search(
        r"Why so few: .* at most 2 (none|no row) would be (left out|lost for this reason)\.", told
    )


@pytest.mark.parametrize("preset", ["SLOMS", "MSB-KACA with shared groups"])
@pytest.mark.parametrize(
    ("k", "diversity", "said"),
    [
        (
            20,
            3,
            "a class needs 20: k can be at most 18 with this l; l can be at most 2, and k then at most 60",
        ),
        (3, 4, "at most 0 of 60 .* a class needs 4: l can be at most 3, and k then at most 18"),
        (30, 4, "a class needs 30: l can be at most 2, and k then at most 60"),
    ],
)
def test_where_nothing_can_be_published_the_largest_k_and_l_are_told(
    preset: str,
    k: int,
    diversity: int,
    said: str,
) -> None:
    with pytest.raises(hierdata.PromiseError, match=said):
        hierdata.anonymize(people(), policy(k, diversity, preset), seed=bytes(16))


def test_who_is_left_out_is_guarded() -> None:
    with pytest.raises(hierdata.PromiseError, match=r"\$.s0: 0.45 of all values .* 1/3 is allowed"):
        hierdata.anonymize(people(), policy(3, 3, suppressed="guarded"), seed=bytes(16))


def test_largest_k_and_l_are_those_of_the_count() -> None:
    """What is said to be possible is, and the next larger l is not."""
    rows = [["abc".index(value) for value in pair] for pair in PAIRS]
    for least, said in (
        (4, "l can be at most 3, and k then at most 18"),
        (19, "l can be at most 2, and k then at most 60"),
    ):
        cells = JointCounts.of(coordinates(rows, [Fraction(1, 4)] * 2), 60)
        assert said in explain_shortage(cells, 60, least)
    assert explain_shortage(JointCounts.of(coordinates(rows, [Fraction(1, 3)] * 2), 60), 60, 18) == ""
    assert "no l above 1 is possible" in explain_shortage(
        JointCounts.of(coordinates([[0]] * 5, [Fraction(1, 3)]), 5), 5, 3
    )
