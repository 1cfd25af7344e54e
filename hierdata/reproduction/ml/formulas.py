"""The formulas of ML section 3.3, as printed but for errata ML-1 and ML-3, and equation 5 for two records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

Interval = tuple[Fraction, Fraction]


def divide_domain(low: int, high: int) -> tuple[Fraction, ...]:
    """Return min, a1..a5, max: a3 is the middle, the others divide its halves in three."""
    least, most = Fraction(low), Fraction(high)
    a3 = (least + most) / 2
    a1, a2 = least + (a3 - least) / 3, least + 2 * (a3 - least) / 3
    a4, a5 = a3 + (most - a3) / 3, a3 + 2 * (most - a3) / 3
    return least, a1, a2, a3, a4, a5, most


def degree_in(number: int, u: Fraction, low: int, high: int) -> Fraction:
    """Return the degree of membership of u in A1..A5, by its number."""
    if number == 1:
        start, (peak, end) = Fraction(low), (Fraction(low), divide_domain(low, high)[2])
    elif number == 5:
        start, peak, end = divide_domain(low, high)[4], Fraction(high), Fraction(high)
    else:
        start, peak, end = divide_domain(low, high)[number - 1 : number + 2]
    if u == peak:
        return Fraction(1)
    if not start < u < end:
        return Fraction(0)
    return (u - start) / (peak - start) if u < peak else (end - u) / (end - peak)


def crossings(low: int, high: int) -> tuple[Fraction, ...]:
    """Return p1..p4, where the falling edge of A1..A4 meets the rising edge of the next set."""
    least, a1, a2, a3, a4, a5, most = divide_domain(low, high)
    falling = ((least, a2), (a2, a3), (a3, a4), (a4, a5))
    rising = ((a1, a2), (a2, a3), (a3, a4), (a4, most))
    return tuple(_cross(fall, rise) for fall, rise in zip(falling, rising, strict=True))


def _cross(falling: Interval, rising: Interval) -> Fraction:
    """Return where the line from 1 to 0 over one interval meets that from 0 to 1 over another."""
    (down, zero), (up, one) = falling, rising
    return (zero * (one - up) + up * (zero - down)) / (one - up + zero - down)


def intervals(points: tuple[Fraction, ...], low: int, high: int) -> list[Interval]:
    """Return the five intervals that four points cut out of a domain."""
    return [*pairwise((Fraction(low), *points, Fraction(high)))]


def loss_of(
    originals: list[dict[str, Any]], published: dict[str, Any], policy: Mapping[str, Any]
) -> Fraction:
    """Return the loss of equation 5 for records that are published in one form.

    LM' of each published quasi-identifier, for each record, and 1 for each that is suppressed.
    """
    shown = [*_quasi(published, policy)]
    losses = sum((_lm(policy["fields"][path], value) for path, value in shown), Fraction(0))
    return len(originals) * losses + sum(len([*_quasi(own, policy)]) - len(shown) for own in originals)


def _quasi(node: Mapping[str, Any], policy: Mapping[str, Any], path: str = "$") -> Iterator[tuple[str, Any]]:
    """Yield the quasi-identifiers of a record with their paths."""
    for key, value in node.items():
        below = f"{path}.{key}"
        if isinstance(value, list) and value and isinstance(value[0], dict):
            for child in value:
                yield from _quasi(child, policy, f"{below}[*]")
        elif policy["fields"][below]["role"] == "quasi":
            yield below, value


def _lm(field: Mapping[str, Any], value: Any) -> Fraction:
    """Return (|u_q| - 1) / (|u| - 1); for a number range width by domain width (erratum ML-14)."""
    if "interval" in field:
        low, high = field["interval"]["domain"]
        if value == "*":
            return Fraction(1)
        first, last = (
            map(int, str(value).strip("[]").split(", ")) if isinstance(value, str) else (value, value)
        )
        return Fraction(last - first, high - low)
    tree = field["taxonomy"]["tree"]
    return Fraction(len(_leaves(_below(tree, value))) - 1, len(_leaves(tree)) - 1)


def _below(tree: Mapping[str, Any], label: str) -> Mapping[str, Any]:
    """Return the part of a nested tree that begins with a label."""
    for name, inner in tree.items():
        if name == label:
            return {name: inner}
        if inner and (found := _below(inner, label)):
            return found
    return {}


def _leaves(tree: Mapping[str, Any]) -> list[str]:
    return [leaf for name, inner in tree.items() for leaf in (_leaves(inner) if inner else [name])]
