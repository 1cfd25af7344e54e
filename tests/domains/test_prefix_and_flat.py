"""Prefixes of codes, and values without structure."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from hierdata.documents.document import Numeral, Scalar
from hierdata.domains import Flat, Prefix
from hierdata.domains.base import Hierarchy, Uncovered
from hierdata.records.values import Values

HERE = Path()


def codes(values: list[Scalar], keep: list[int]) -> Hierarchy:
    return Prefix.model_validate({"keep": keep}).compile(dict.fromkeys(values, 1), HERE)


def joined(tree: Hierarchy, a: Scalar, b: Scalar) -> Scalar:
    return tree.labels[tree.join(tree.node_of(a), tree.node_of(b))]


def test_prefixes_are_masked_to_the_length_of_the_code() -> None:
    tree = codes(["48123", "48199", "48777", "40000", "90210"], [3, 2, 1])
    assert joined(tree, "48123", "48199") == "481**"
    assert joined(tree, "48123", "48777") == "48***"
    assert joined(tree, "48123", "40000") == "4****"
    assert joined(tree, "48123", "90210") == "*"
    assert tree.lm[tree.join(tree.node_of("48123"), tree.node_of("48777"))] == Fraction(2, 4)


def test_codes_of_different_length_meet_at_the_root_only() -> None:
    tree = codes(["4812", "48123", "48", "4"], [3, 2, 1])
    assert joined(tree, "4812", "48123") == "*"
    assert tree.ancestors[tree.node_of("48")][1:] == (tree.labels.index("4*"), -1, tree.node_of("48"))
    assert tree.ancestors[tree.node_of("4")][1:] == (-1, -1, tree.node_of("4"))


def test_nothing_longer_than_the_first_prefix_is_published() -> None:
    tree = codes(["48123", "48199", "481", "4"], [3, 1])
    assert [tree.labels[tree.node_of(code)] for code in ("48123", "481", "4")] == ["481**", "481", "4"]
    assert tree.node_of("48123") == tree.node_of("48199")
    assert tree.lm[tree.node_of("48123")] == Fraction(1, 3)
    assert "48123" not in tree.labels


def test_a_code_that_is_a_number_is_published_as_text() -> None:
    tree = codes([48123, "48199", Decimal("40000")], [5, 2])
    assert [tree.labels[tree.node_of(code)] for code in (48123, 48199, 40000)] == ["48123", "48199", "40000"]
    assert joined(tree, 48123, 48199) == "48***"


def test_a_code_with_the_mask_in_it_is_not_covered() -> None:
    for value in ("481**", "*", True):
        with pytest.raises(Uncovered):
            codes(["48123", "481**", "*", True], [3]).node_of(value)


@pytest.mark.parametrize("keep", [[], [1, 2], [2, 2], [1, 0], ["a"]])
def test_prefix_rules_that_are_refused(keep: list[Any]) -> None:
    with pytest.raises(ValidationError):
        Prefix.model_validate({"keep": keep})


@given(st.lists(st.text("0123", min_size=4, max_size=4), min_size=1, max_size=12, unique=True))
def test_two_codes_meet_in_their_longest_kept_prefix(values: list[str]) -> None:
    tree = codes(list(values), [4, 3, 1])
    for a in values:
        for b in values:
            kept = next(keep for keep in (4, 3, 1, 0) if a[:keep] == b[:keep])
            assert joined(tree, a, b) == (a[:kept] + "*" * (4 - kept) if kept else "*")


def flat(values: list[Scalar]) -> Hierarchy:
    return Flat().compile(Values(values), HERE)


def test_flat_values_are_published_as_they_are_or_not_at_all() -> None:
    tree = flat(["f", "m", "f"])
    assert joined(tree, "f", "f") == "f"
    assert joined(tree, "f", "m") == "*"
    assert tree.lm == (1, 0, 0, 0)
    assert flat(["f"]).lm[0] == 0


def test_flat_values_keep_their_type_and_equal_ones_are_one() -> None:
    tree = flat([1, "1", Numeral("1e0"), Decimal("2.50"), True])
    assert [(type(label), str(label)) for label in tree.labels] == [
        (str, "*"),
        (int, "1"),
        (Decimal, "2.5"),
        (bool, "True"),
        (str, "1"),
        (type(None), "None"),
    ]
    assert tree.node_of(1) == tree.node_of(Decimal("1.0")) != tree.node_of("1")
    with pytest.raises(Uncovered):
        tree.node_of("true")


def test_the_root_s_spelling_and_unknown_values_are_not_covered() -> None:
    for value in ("*", "x", Decimal("Infinity")):
        with pytest.raises(Uncovered):
            flat(["a", "*"]).node_of(value)


def test_flat_is_spelled_true() -> None:
    adapter = TypeAdapter(Flat)
    assert adapter.validate_python(True) == Flat()
    with pytest.raises(ValidationError):
        adapter.validate_python(False)
    assert adapter.json_schema()["const"] is True
