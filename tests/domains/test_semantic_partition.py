"""Semantic partitions: blocks by hand, by depth, bins and levels, and what is refused."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import hierdata
from hierdata.documents.document import Scalar
from hierdata.domains.levels import Levels
from hierdata.domains.number import canonical
from hierdata.domains.semantic_partition import SemanticCover, SemanticPartition
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.domains.taxonomy import Taxonomy
from hierdata.ground.errors import PolicyError

TREE = Taxonomy(
    tree={"*": {"lungs": {"viral": ["flu", "cold"], "asthma": None}, "skin": ["rash"], "fatigue": None}}
).compile({}, Path())


def domain(*values: Scalar, number: bool = False) -> SensitiveDomain:
    return SensitiveDomain.build("$.a", dict.fromkeys(values, 1), number=number)


def partition(**blocks: list[Any]) -> SemanticPartition:
    return SemanticPartition.model_validate({"blocks": blocks})


def test_blocks_are_numbered_as_they_are_stated() -> None:
    own = domain("a", "b", "c", "d")
    assert partition(last=["d", "a"], gone=["z"], first=["b", "c"]).block_of(own) == (0, 2, 2, 0)


@pytest.mark.parametrize(
    ("depth", "blocks"), [(1, (0, 0, 1, 0, 2)), (2, (0, 1, 2, 1, 3)), (9, (0, 1, 2, 3, 4))]
)
def test_blocks_of_a_depth_are_what_lies_below_one_node(depth: int, blocks: tuple[int, ...]) -> None:
    values: dict[Scalar, int] = dict.fromkeys(("asthma", "cold", "fatigue", "flu", "rash"), 1)
    own = SensitiveDomain.build("$.a", values, taxonomy=TREE)
    assert own.values == tuple(values)
    assert SemanticPartition(depth=depth).block_of(own) == blocks


@pytest.mark.parametrize(
    ("own", "stated"),
    [
        (domain("1", "2"), [1, "2"]),
        (domain(1, Decimal("2.5")), ["1.0", Decimal("2.50")]),
        (domain("1", "2.5", number=True), [1, "2.50"]),
        (domain(True, "x"), [True, "x"]),
        (domain("01", "1"), ["01", "1"]),
    ],
)
def test_values_are_found_in_every_format(own: SensitiveDomain, stated: list[Any]) -> None:
    assert partition(all=stated).block_of(own) == (0, 0)


def test_text_that_only_looks_like_one_number_stays_apart() -> None:
    assert partition(padded=["01"], plain=["1"]).block_of(domain("01", "1")) == (0, 1)


def test_values_missed_or_repeated_are_refused_by_number_not_by_name() -> None:
    own = domain("secret", "b", "c")
    with pytest.raises(
        PolicyError, match=r"\$\.a: .* 3 values in one block: 1 in none, 1 repeated"
    ) as refused:
        partition(one=["b", "c"], two=["c"]).block_of(own)
    assert "secret" not in str(refused.value)
    with pytest.raises(PolicyError, match="0 in none, 2 repeated"):
        partition(one=["b", "c", "secret"], two=["c", "b"]).block_of(own)
    with pytest.raises(PolicyError, match="1 repeated"):
        partition(one=[1], two=["1"], rest=["2"]).block_of(domain("1", "2"))


def test_a_depth_needs_a_taxonomy() -> None:
    with pytest.raises(PolicyError, match="'taxonomy'"):
        SemanticPartition(depth=1).block_of(domain("a"))


@pytest.mark.parametrize(
    "stated",
    [
        {},
        {"depth": 0},
        {"depth": "1"},
        {"blocks": {}},
        {"blocks": {"a": []}},
        {"blocks": {"a": ["x"]}, "depth": 1},
        {"equal_width": 1},
        {"equal_frequency": "3"},
        {"equal_width": 3, "equal_frequency": 3},
        {"levels": False},
        {"levels": True, "depth": 1},
    ],
)
def test_a_partition_has_one_form(stated: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SemanticPartition.model_validate(stated)


def test_equal_partitions_are_one_key() -> None:
    assert hash(partition(a=["x"], b=["y"])) == hash(partition(b=["y"], a=["x"]))
    assert hash(SemanticPartition(depth=1)) != hash(SemanticPartition(depth=2))
    assert hash(SemanticPartition(equal_width=2)) != hash(SemanticPartition(equal_frequency=2))


# Bins


def counted(*values: Scalar, number: bool = False) -> SensitiveDomain:
    """The domain of these values, as often as they stand here."""
    return SensitiveDomain.build("$.a", Counter(values), number=number)


def naive_width(value: Fraction, low: Fraction, high: Fraction, bins: int) -> int:
    """The first of the bins that end at low + width, low + 2 width .. above the value, or the last."""
    width = (high - low) / bins
    return next((at for at in range(bins - 1) if value < low + (at + 1) * width), bins - 1 if width else 0)


@given(st.lists(st.integers(-240, 240), min_size=1), st.integers(2, 9))
def test_bins_of_equal_width_are_those_of_the_definition(eighths: list[int], bins: int) -> None:
    numbers = sorted({Fraction(value, 8) for value in eighths})
    found = SemanticPartition(equal_width=bins).block_of(counted(*map(canonical, numbers)))
    expected = [naive_width(number, numbers[0], numbers[-1], bins) for number in numbers]
    assert list(found) == [sorted(set(expected)).index(one) for one in expected]


@pytest.mark.parametrize(
    ("values", "bins", "blocks"),
    [
        ([0, 5, 10, 15, 20], 4, (0, 1, 2, 3, 3)),
        ([0, 1, 2, 100], 4, (0, 0, 0, 1)),
        ([7, 7, 7], 3, (0,)),
        ([0, Decimal("0.3"), 1], 3, (0, 0, 1)),
    ],
)
def test_bins_of_equal_width_by_hand(values: list[Scalar], bins: int, blocks: tuple[int, ...]) -> None:
    """An end belongs to the bin above it; bins that hold nothing are no blocks."""
    assert SemanticPartition(equal_width=bins).block_of(counted(*values)) == blocks


@pytest.mark.parametrize(
    ("values", "bins", "blocks"),
    [
        ([1, 2, 3, 4, 5, 6], 3, (0, 0, 1, 1, 2, 2)),
        ([1] * 10 + [2, 3], 3, (0, 1, 2)),
        ([1, 2, 3] + [4] * 9, 2, (0, 0, 0, 1)),
        ([1, 1, 2, 2, 2, 3, 4], 2, (0, 1, 1, 1)),
        ([1, 2], 5, (0, 1)),
        ([3] * 4, 2, (0,)),
    ],
)
def test_bins_of_equal_frequency_by_hand(values: list[Scalar], bins: int, blocks: tuple[int, ...]) -> None:
    """1 1 2 2 2 3 4 in two: 2 of 7 are as near to 7/2 as 5 are, and the first bin takes no more."""
    assert SemanticPartition(equal_frequency=bins).block_of(counted(*values)) == blocks


@given(st.lists(st.integers(0, 20), min_size=1, max_size=60), st.integers(2, 8))
def test_bins_of_equal_frequency_are_as_many_as_can_be_and_in_order(values: list[int], bins: int) -> None:
    own = counted(*values)
    found = SemanticPartition(equal_frequency=bins).block_of(own)
    assert list(found) == sorted(found), "the domain's numbers ascend"
    assert set(found) == set(range(min(bins, len(set(values)))))
    block = dict(zip(own.values, found, strict=True))
    sizes = Counter(block[value] for value in values)
    rest, often = len(values), Counter[Scalar](values)
    for at in range(max(found)):  # no bin comes nearer to its share by one number less or more
        share = Fraction(rest, max(found) + 1 - at)
        held = [often[value] for value in own.values if block[value] == at]
        after = next(often[value] for value in own.values if block[value] == at + 1)
        alone = sum(1 for value in own.values if block[value] == at + 1) == 1
        assert len(held) == 1 or abs(sizes[at] - share) < abs(sizes[at] - held[-1] - share)
        assert alone or abs(sizes[at] - share) <= abs(sizes[at] + after - share)
        rest -= sizes[at]


@pytest.mark.parametrize("form", ["equal_width", "equal_frequency"])
def test_bins_do_not_depend_on_the_order_or_the_spelling_of_values(form: str) -> None:
    """The judge meets values as they come, and text where the format knows nothing else."""
    values: list[Scalar] = [3, Decimal("1.5"), 8, 8, 2, 7, 7, 7, 1]
    engine = counted(*values)
    texts = ("8", "1", "7.0", "1.50", "3", "2")
    judge = SensitiveDomain("$.a", texts, number=True, reference=(2, 1, 3, 1, 1, 1))
    own = SemanticPartition.model_validate({form: 3})
    blocks = dict(zip(engine.numbers or (), own.block_of(engine), strict=True))
    assert [blocks[number] for number in judge.numbers or ()] == list(own.block_of(judge))


@pytest.mark.parametrize("form", ["equal_width", "equal_frequency"])
def test_bins_need_numbers_and_the_original_and_nothing_beside_it(form: str) -> None:
    own = SemanticPartition.model_validate({form: 3})
    assert own.of_original
    with pytest.raises(PolicyError, match=r"\$\.a: .*number: true"):
        own.block_of(counted("secret", "7"))
    with pytest.raises(PolicyError, match="number: true"):
        own.block_of(counted("1", "7"))
    assert own.block_of(counted("1", "7", number=True)) == (0, 1)
    with pytest.raises(PolicyError, match="the original"):
        own.block_of(SensitiveDomain("$.a", (1, 2)))
    with pytest.raises(PolicyError, match="lacks 1 of the values"):
        own.block_of(SensitiveDomain("$.a", (1, 2, 3), reference=(4, 0, 4)))


def test_each_level_is_a_block() -> None:
    scale = Levels.model_validate({"domain": [0, 4], "sensitive": "low"}).compile({})
    own = SensitiveDomain.build("$.a", dict.fromkeys((0, 1, 2, 3, 4), 1), scale)
    assert own.levels is not None
    assert SemanticPartition(levels=True).block_of(own) == tuple(level - 1 for level in own.levels)
    with pytest.raises(PolicyError, match="'levels'"):
        SemanticPartition(levels=True).block_of(domain("a"))
    assert not SemanticPartition(levels=True).of_original


# Published and judged

SEED = b"a seed of sixteen bytes"


def people() -> list[dict[str, Any]]:
    return [{"sex": "mf"[at % 2], "income": 10 * at} for at in range(40)]


def stated(**partition: Any) -> dict[str, Any]:
    model = {"kind": "frequency-l-diversity", "l": 2, "by": "partition", "partition": partition}
    fields = {"$.sex": {"role": "quasi", "flat": True}, "$.income": {"role": "sensitive"}}
    return {"version": 1, "models": [{"kind": "k-anonymity", "k": 4}, model], "fields": fields}


@pytest.mark.parametrize("form", ["equal_width", "equal_frequency"])
def test_a_release_keeps_its_bins_and_values_that_the_original_lacks_do_not_pass(
    form: str, tmp_path: Path
) -> None:
    policy = stated(**{form: 4})
    release = hierdata.anonymize(people(), policy, seed=SEED)
    release.save(tmp_path / "out")
    assert hierdata.verify(tmp_path / "out", policy).passed
    assert hierdata.verify(tmp_path / "out", policy, original=people()).passed
    published = list(release.records())
    assert not hierdata.verify(published, policy).passed, "without the original nobody knows the bins"
    witness = tmp_path / "out" / "steward" / "witness.bin"
    assert hierdata.verify(published, policy, original=people(), witness=witness).passed
    same = [{**one, "income": 390} for one in published]  # one bin
    verdict = hierdata.verify(same, policy, original=people())
    assert [one.held for one in verdict.judgements] == [True, False]
    forged = [{**one, "income": 1000 * at} for at, one in enumerate(published)]  # as diverse as can be
    verdict = hierdata.verify(forged, policy, original=people())
    assert not verdict.passed
    assert [one.held for one in verdict.judgements] == [True, None]
    assert "lacks" in verdict.judgements[1].reason


def test_bins_of_what_is_no_number_are_refused_before_the_search() -> None:
    words = [{**one, "income": f"word {at}"} for at, one in enumerate(people())]
    with pytest.raises(PolicyError, match="number: true") as refused:
        hierdata.anonymize(words, stated(equal_width=3), seed=SEED)
    assert "word 1" not in str(refused.value)


def test_overlapping_blocks_are_for_attackers_only() -> None:
    """A model bounds the share of each block, so a value in two blocks would count in one only."""
    own = domain("a", "b", "c")
    blocks = {"low": ["a", "b", "b"], "high": ["b", "c"]}
    cover = SemanticCover(blocks=blocks, overlapping=True)
    assert cover.block_of(own) == (0, 1, 2)
    assert hash(cover) == hash(SemanticCover(blocks=blocks, overlapping=True))
    with pytest.raises(PolicyError, match="3 values in one block: 0 in none, 1 repeated"):
        SemanticCover(blocks=blocks).block_of(own)
    with pytest.raises(PolicyError, match="4 values in a block: 1 in none"):
        cover.block_of(domain("a", "b", "c", "d"))
    with pytest.raises(ValidationError):
        SemanticPartition.model_validate({"blocks": blocks, "overlapping": True})
    policy = {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 2}],
        "fields": {"$.q": {"role": "quasi", "flat": True}, "$.a": {"role": "sensitive"}},
        "attackers": {"asker": {"on": "$.a", "partition": {"blocks": blocks, "overlapping": True}}},
    }
    records = [{"q": at % 2, "a": "abc"[at % 3]} for at in range(12)]
    release = hierdata.anonymize(records, policy, seed=bytes(16))
    assert release.report.attackers["asker"]["discrimination_rate"].figures == {"$.a": 0}
    model = {"kind": "frequency-l-diversity", "l": 2, "by": "partition"}
    model["partition"] = policy["attackers"]["asker"]["partition"]
    with pytest.raises(PolicyError, match="unknown key 'overlapping'"):
        hierdata.anonymize(records, {**policy, "models": [model]}, seed=bytes(16))
