"""The worked examples of the discrimination rate's paper: rates of attributes, and the entropies behind them.

The rates of single values, resistances and the comparisons with t-closeness are other figures than a release
has; their kinds are not asserted here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from typing import Any

import pytest

from hierdata.domains.semantic_partition import SemanticPartition
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.metrics.rates import conditional_entropy, discrimination_rate, entropy
from tests.golden.cases import Case, agrees, load

GOLDEN = load("semantic_discrimination_rate.json")
PARTITIONS = GOLDEN.inputs["semantic_partitions"]


def column(table: dict[str, Any], name: str) -> list[Any]:
    at = table["columns"].index(name)
    return [row[at] for row in table["rows"]]


def joined(values: Iterable[Hashable], keys: Iterable[Hashable]) -> list[Counter[Hashable]]:
    """For each key how often each value occurs with it."""
    rows: dict[Hashable, Counter[Hashable]] = {}
    for value, key in zip(values, keys, strict=True):
        rows.setdefault(key, Counter())[value] += 1
    return list(rows.values())


def blocks(values: list[Any], partition: str | None) -> list[Any]:
    if partition is None:
        return values
    domain = SensitiveDomain.build("$.x", Counter(values))
    stated = {str(at): own for at, own in enumerate(PARTITIONS[partition])}
    block_of = SemanticPartition(blocks=stated).block_of(domain)
    return [block_of[domain.code_of(value)] for value in values]


def keyed(table: dict[str, Any], keys: list[str]) -> list[tuple[Any, ...]]:
    return list(zip(*(column(table, key) for key in keys), strict=True))


def of_attribute(
    table: dict[str, Any], sensitive: str, keys: list[str], partition: str | None = None
) -> Fraction | float:
    return discrimination_rate(joined(blocks(column(table, sensitive), partition), keyed(table, keys)))


def of_table(table: dict[str, Any], attribute: str) -> float:
    return entropy(Counter(column(table, attribute)).values())


def given_keys(table: dict[str, Any], attribute: str, given: list[str]) -> float:
    return conditional_entropy(joined(column(table, attribute), keyed(table, given)))


def inline(X: list[str], Y: list[str]) -> Fraction | float:  # noqa: N803  (the letters of the cases)
    return discrimination_rate(joined(X, Y))


KINDS: dict[str, Callable[..., Any]] = {
    "discrimination_rate": of_attribute,
    "entropy": of_table,
    "conditional_entropy": given_keys,
    "discrimination_rate_inline": inline,
}
CASES = [case for case in GOLDEN.cases if case.kind in KINDS]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case: Case) -> None:
    assert agrees(case.expected, KINDS[case.kind](**case.input))


def test_every_kind_has_cases() -> None:
    assert {case.kind for case in CASES} == set(KINDS)
    assert len(CASES) == 35


def test_rational_rates_are_exact() -> None:
    """Nine salaries in classes of three: log 3 of log 9 is left, a half and no float."""
    rate = of_attribute(GOLDEN.inputs["table_3"], "salary_k", ["zip_star", "age_star"])
    assert rate == Fraction(1, 2)
    assert isinstance(rate, Fraction)
