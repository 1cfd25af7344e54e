"""Entropies and rates of whole tables of counts: what ``metrics.rates`` is made of, put together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from hierdata.metrics.rates import Split, rate, split, uncertainty

Table: TypeAlias = Collection[Mapping[Any, int]]
"""One mapping for each value of Y: how often each value of X occurs with it."""


def split_rows(table: Table) -> Split:
    """Several wholes, each with its parts: the rows of a table."""
    total: Counter[tuple[float, float]] = Counter()
    for row in table:
        whole = sum(row.values())
        for part in row.values():
            if part:
                total[whole, part] += 1
    return total


def conditional_entropy(table: Table) -> float:
    """H(X|Y) in bits.

    >>> conditional_entropy([{"flu": 1, "cold": 1}, {"flu": 2}])
    0.5
    """
    return uncertainty(split_rows(table)) / max(sum(sum(row.values()) for row in table), 1)


def discrimination_rate(table: Table) -> Fraction | float:
    """DR_X(Y) = 1 - H(X|Y) / H(X), 0..1.

    A Fraction where the rate is rational, else the nearest float.

    >>> discrimination_rate([{4: 1, 5: 1, 6: 1}, {7: 1, 9: 1, 12: 1}, {8: 1, 10: 1, 11: 1}])
    Fraction(1, 2)
    """
    values: Counter[Any] = Counter()
    for row in table:
        values.update(row)
    return rate(split_rows(table), split(values.values()))
