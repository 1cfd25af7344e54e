"""Semantic partitions: blocks by hand and by depth, and what is refused."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from hierdata.document import Scalar
from hierdata.domains.semantic_partition import SemanticPartition
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.domains.taxonomy import Taxonomy
from hierdata.errors import PolicyError

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
    values = dict.fromkeys(("asthma", "cold", "fatigue", "flu", "rash"), 1)
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
    ],
)
def test_a_partition_has_one_form(stated: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SemanticPartition.model_validate(stated)


def test_equal_partitions_are_one_key() -> None:
    assert hash(partition(a=["x"], b=["y"])) == hash(partition(b=["y"], a=["x"]))
    assert hash(SemanticPartition(depth=1)) != hash(SemanticPartition(depth=2))
