"""Fuzzy sets over numbers (ML section 3.3): exact degrees for decisions, scikit-fuzzy's for display."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from hierdata.domains.number import Number


@dataclass(frozen=True)
class Trapezoid:
    """A fuzzy set with support ``a``..``d`` and core ``b``..``c``; a triangle where b = c.

    >>> Trapezoid(*map(Fraction, (0, 1, 2, 4))).degree(3)
    Fraction(1, 2)
    """

    a: Fraction
    b: Fraction
    c: Fraction
    d: Fraction

    @property
    def corners(self) -> tuple[Fraction, Fraction, Fraction, Fraction]:
        """The ends of support and core, ascending."""
        return self.a, self.b, self.c, self.d

    def degree(self, value: Number) -> Fraction:
        """Return the exact membership degree, 0..1. At a vertical edge the end of the core has degree 1."""
        if value < self.a or value > self.d:
            return Fraction(0)
        if value < self.b:
            return Fraction(value - self.a) / (self.b - self.a)
        if value > self.c:
            return Fraction(self.d - value) / (self.d - self.c)
        return Fraction(1)

    def distance(self, value: Number) -> Fraction:
        """Return the distance of the value from the support, 0 inside."""
        return max(self.a - value, value - self.d, Fraction(0))

    def fuzzy_degree(self, value: Number) -> float:
        """Return the degree by scikit-fuzzy.

        Value and corners are first scaled to 0..1 over the support, so that the float differs from the exact
        degree by rounding only, even if a domain is narrow and far from zero.
        """
        width = self.d - self.a
        if not width:
            return float(value == self.a)
        corners = _on_scale(self.corners, self.a, width)
        point = _on_scale((value,), self.a, width)
        return float(_trapmf()(point, corners)[0])


def _on_scale(values: Sequence[Number], low: Fraction, width: Fraction) -> Any:
    import numpy as np

    return np.array([float((value - low) / width) for value in values])


@cache
def _trapmf() -> Any:
    """Load scikit-fuzzy's trapezoid from its own file: the whole package takes long to import."""
    package = find_spec("skfuzzy")
    generators = Path(package.origin or "").parent / "membership" / "generatemf.py" if package else Path()
    spec = spec_from_file_location("skfuzzy_generatemf", generators)
    if spec is None or spec.loader is None or not generators.is_file():
        from skfuzzy.membership import trapmf

        return trapmf
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.trapmf


def knots(low: Number, high: Number) -> tuple[Fraction, ...]:
    """Return a1..a5, which divide min..max uniformly (ML section 3.3).

    >>> [str(knot) for knot in knots(0, 4)]
    ['2/3', '4/3', '2', '8/3', '10/3']
    """
    return tuple(low + Fraction(i, 6) * (high - low) for i in range(1, 6))


def value_sets(low: Number, high: Number) -> tuple[Trapezoid, ...]:
    """Return the fuzzy sets A1..A5 of the value levels over min..max (ML section 3.3, erratum ML-1)."""
    least, a1, a2, a3, a4, a5, most = Fraction(low), *knots(low, high), Fraction(high)
    return (
        Trapezoid(least, least, least, a2),
        Trapezoid(a1, a2, a2, a3),
        Trapezoid(a2, a3, a3, a4),
        Trapezoid(a3, a4, a4, a5),
        Trapezoid(a4, most, most, most),
    )


BREAKPOINTS = (Fraction(2, 9), Fraction(5, 12), Fraction(7, 12), Fraction(7, 9))
"""Where neighbouring sets A1..A5 cross, as fractions of max - min (erratum ML-2)."""

MIDDLE_LEVEL = 3


def breakpoints(low: Number, high: Number) -> tuple[Fraction, ...]:
    """Return p1..p4 of ML section 3.3, exact.

    >>> [str(point) for point in breakpoints(0, 4)]
    ['8/9', '5/3', '7/3', '28/9']
    """
    return tuple(low + point * (high - low) for point in BREAKPOINTS)


def value_level(value: Number, low: Number, high: Number) -> int:
    """Return the value level 1..5: the set of A1..A5 with the highest degree, the upper one at a breakpoint.

    Values beyond the domain have the level of its nearer end; if min = max, the level is 3 (erratum ML-3).

    >>> value_level(Fraction(8, 9), 0, 4), value_level(-1, 0, 4), value_level(7, 7, 7)
    (2, 1, 3)
    """
    if low == high:
        return MIDDLE_LEVEL
    return 1 + sum(value >= point for point in breakpoints(low, high))
