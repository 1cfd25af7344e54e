"""The worked examples of the discrimination rate's paper, and that every one of them is asserted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from math import log2
from typing import Any

import pytest

from hierdata import measure
from hierdata.measurement.table import KeyRates
from hierdata.metrics.rates import ValueRate, entropy
from tests import naive_rates as naive
from tests.golden import test_distributions
from tests.golden.cases import Case, agrees, load
from tests.rates_of_counts import conditional_entropy

GOLDEN = load("semantic_discrimination_rate.json")
PARTITIONS = GOLDEN.inputs["semantic_partitions"]
Found = tuple[Any, Any]
"""What we answer, and what the twin answers."""


def records(table: dict[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def column(table: dict[str, Any], name: str) -> list[Any]:
    return [record[name] for record in records(table)]


def shown(table: dict[str, Any], keys: list[str]) -> list[Any]:
    return list(zip(*(column(table, key) for key in keys), strict=True))


def blocks(values: list[Any], partition: str | None) -> list[Any]:
    if partition is None:
        return values
    return [next(at for at, own in enumerate(PARTITIONS[partition]) if value in own) for value in values]


def measured(
    table: dict[str, Any] | list[dict[str, Any]],
    sensitive: str,
    keys: list[str],
    partition: str | None = None,
    **more: Any,
) -> tuple[KeyRates, dict[tuple[Any, ...], ValueRate]]:
    """The figures of all keys together, and of each of their values."""
    rows = records(table) if isinstance(table, dict) else table
    stated = None
    if partition is not None:
        stated = {"blocks": {f"b{at}": own for at, own in enumerate(PARTITIONS[partition])}}
    found = measure(rows, keys=keys, sensitive=sensitive, partition=stated, **more)
    together = found.keys[-1]
    return together, {
        tuple(found.names[key][label] for key, label in zip(keys, labels.split(", "), strict=True)): figures
        for labels, figures in together.values.items()
    }


def of_keys(table: dict[str, Any], sensitive: str, keys: list[str], partition: str | None = None) -> Found:
    xs = blocks(column(table, sensitive), partition)
    return measured(table, sensitive, keys, partition)[0].rate, naive.rate(xs, shown(table, keys))


def of_value(
    table: dict[str, Any], sensitive: str, keys: list[str], value: Any, partition: str | None = None
) -> Found:
    xs = blocks(column(table, sensitive), partition)
    ours = measured(table, sensitive, keys, partition)[1][(value,)].rate
    return ours, naive.rate_of(xs, shown(table, keys), (value,))


def resistance(table: dict[str, Any], sensitive: str, keys: list[str], value: Any = None) -> Found:
    if value is not None:
        ours, twin = of_value(table, sensitive, keys, value)
        return 1 - ours, 1 - twin
    twin = 1 - naive.rate(column(table, sensitive), shown(table, keys))
    return measured(table, sensitive, keys)[0].resistance, twin


def of_table(table: dict[str, Any], attribute: str) -> Found:
    values = column(table, attribute)
    return entropy(Counter(values).values()), naive.entropy(values)


def given_keys(table: dict[str, Any], attribute: str, given: list[str]) -> Found:
    xs, ys = column(table, attribute), shown(table, given)
    rows: dict[Any, Counter[Any]] = {}
    for x, y in zip(xs, ys, strict=True):
        rows.setdefault(y, Counter())[x] += 1
    return conditional_entropy(rows.values()), naive.conditional(xs, ys)


def at_value(table: dict[str, Any], sensitive: str, partition: str, keys: list[str], value: Any) -> Found:
    own = measured(table, sensitive, keys, partition)[1][(value,)]
    xs, ys = blocks(column(table, sensitive), partition), shown(table, keys)
    return (
        {"entropy": own.entropy, "one_minus_ratio": own.refinement},
        {
            "entropy": naive.entropy(naive.given(xs, ys, (value,))),
            "one_minus_ratio": naive.refinement(xs, ys, (value,)),
        },
    )


def inline(X: list[str], Y: list[str], value: str | None = None) -> Found:  # noqa: N803  (the cases' letters)
    rows = [{"x": x, "y": y} for x, y in zip(X, Y, strict=True)]
    together, values = measured(rows, "x", ["y"])
    if value is None:
        return together.rate, naive.rate(X, Y)
    return values[(value,)].rate, naive.rate_of(X, Y, value)


def skewness(rows: int, yes: int, class_yes: int, class_no: int) -> Found:
    """One class beside all other rows; each class of two that are unlike needs one yes and one no."""
    xs = ["yes"] * class_yes + ["no"] * class_no
    ys = ["class"] * len(xs) + ["rest"] * (rows - len(xs))
    xs += ["yes"] * (yes - class_yes) + ["no"] * (rows - yes - class_no)
    _, values = measured([{"x": x, "y": y} for x, y in zip(xs, ys, strict=True)], "x", ["y"])
    counts = Counter(xs)
    ours = (entropy(counts.values()), values[("class",)].entropy, values[("class",)].rate)
    twin = (
        naive.entropy(xs),
        naive.entropy(naive.given(xs, ys, "class")),
        naive.rate_of(xs, ys, "class"),
    )
    names = ("entropy_table", "entropy_class", "rate_of_the_class_value")
    most = {"max_classes_of_a_distinct_2_diverse_table": min(counts.values())}
    return dict(zip(names, ours, strict=True)) | most, dict(zip(names, twin, strict=True)) | most


def share(table: dict[str, Any], zip_star: str, low_salary_max: int) -> Found:
    """Low salaries among the rows of a zip code."""
    rows = [record for record in records(table) if record["zip_star"] == zip_star]
    low = [{**record, "low": record["salary_k"] <= low_salary_max} for record in rows]
    _, values = measured(low, "zip_star", ["low"])
    salaries = column(table, "salary_k")
    own = naive.given(salaries, column(table, "zip_star"), zip_star)
    return values[("true",)].share, Fraction(sum(one <= low_salary_max for one in own), len(own))


def identity_risks(first: str, second: str) -> Found:
    """Table 6: how far a generalized age narrows down the age (erratum DR-5)."""
    table = GOLDEN.inputs["table_1"]
    names = {"first": first, "second": second}
    ours = {
        name: measured(table, "zip", [key], originals={key: "age"})[0].identity for name, key in names.items()
    }
    return ours, {name: naive.rate(column(table, "age"), column(table, key)) for name, key in names.items()}


KINDS: dict[str, Callable[..., Found]] = {
    "discrimination_rate": of_keys,
    "discrimination_rate_value": of_value,
    "resistance": resistance,
    "entropy": of_table,
    "conditional_entropy": given_keys,
    "conditional_entropy_at_value": at_value,
    "discrimination_rate_inline": inline,
    "discrimination_rate_value_inline": inline,
    "skewness": skewness,
    "share": share,
    "text_statement": identity_risks,
}
CASES = [case for case in GOLDEN.cases if case.kind in KINDS]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case: Case) -> None:
    ours, twin = KINDS[case.kind](**case.input)
    assert agrees(case.expected, ours)
    assert agrees(case.expected, twin)


def test_every_case_is_asserted() -> None:
    """Here, or with the distances."""
    elsewhere = {
        case.id
        for test in vars(test_distributions).values()
        for mark in getattr(test, "pytestmark", ())
        for case in mark.args[1]
    }
    assert {case.id for case in GOLDEN.cases} - elsewhere == {case.id for case in CASES}
    assert {case.kind for case in CASES} == set(KINDS)
    assert (len(CASES), len(GOLDEN.cases)) == (102, 115)


def test_rational_rates_are_exact() -> None:
    """Nine salaries in classes of three: log 3 of log 9 is left, a half and no float."""
    together, _ = measured(GOLDEN.inputs["table_3"], "salary_k", ["zip_star", "age_star"])
    assert together.rate == Fraction(1, 2)
    assert isinstance(together.rate, Fraction)


def test_rates_of_a_skewed_class_stay_while_distances_tell() -> None:
    """Erratum DR-10: from 1 % to 50 %."""
    rows = [
        {"x": "yes" if at < 10 else "no", "y": "class" if at in (9, 10) else "rest"} for at in range(1000)
    ]
    together, values = measured(rows, "x", ["y"])
    assert values[("class",)].refinement < 0
    assert together.distance == values[("class",)].distance == Fraction(49, 100)
    assert together.divergence == pytest.approx((log2(50) + log2(50 / 99)) / 2)
