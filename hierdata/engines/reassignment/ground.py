"""Closeness constraints as arrays for compiled code."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import floor

import numpy as np

from hierdata.engines.reassignment.kernel import ClosenessArrays
from hierdata.engines.rows.table import bits_over, codes_of
from hierdata.forest.forest import MISSING, Forest, Scope, look_up
from hierdata.privacy.base import FOREIGN, Closeness

_FINE = 2**20
"""Bounds with a larger denominator are rounded down to a multiple of 1 / 2^20 for the search."""


def ground_of(
    forest: Forest, scope: Scope, forms: list[tuple[int, Closeness]], largest: int
) -> ClosenessArrays:
    """Pack the constraints in the layout of the kernels, for classes of at most ``largest`` rows.

    If products would not fit into 64 bits, low bits of the counts are dropped. This only affects the search;
    the models decide at the end.
    """
    codes = codes_of(forest, scope)
    first, parents, weights, expected = [0], [], [], []
    numbers: list[list[int]] = []
    totals, bounds = [], []
    for _, form in forms:
        base = first[-1]
        order = list(_from_above(form.parent))
        number = {own: base + 1 + at for at, own in enumerate(order)}
        number[-1] = number[FOREIGN] = base
        bound = form.bound
        if bound.denominator > _FINE:
            bound = Fraction(floor(bound * _FINE), _FINE)
        # A distance is at most scale * rows * total; the kernels add its changes for one value more or less.
        dropped = bits_over(8 * form.scale * (largest + 1) * form.total * bound.denominator)
        parents += [base, *(number[form.parent[own]] for own in order)]
        weights += [0, *(form.weight[own] for own in order)]
        expected += [0, *(form.expected[own] >> dropped for own in order)]
        totals.append(max(1, form.total >> dropped))
        bounds.append(bound)
        first.append(base + 1 + len(order))
        numbers.append([number[own] for own in form.set_of])
    sets = np.empty((len(forms), len(codes)), np.int32)
    for c, (position, _) in enumerate(forms):
        own = look_up(numbers[c], codes[:, position])
        sets[c] = np.where(own == MISSING, first[-1] + c, own)
    return ClosenessArrays(
        sets,
        np.array(first, np.int64),
        np.array(parents, np.int32),
        np.array(weights, np.int64),
        np.array(expected, np.int64),
        np.array(totals, np.int64),
        np.array([form.scale for _, form in forms], np.int64),
        np.array([bound.numerator for bound in bounds], np.int64),
        np.array([bound.denominator for bound in bounds], np.int64),
    )


def _from_above(parent: tuple[int, ...]) -> Iterator[int]:
    """Iterate over the sets in depth-first order, each after the set that holds it."""
    below: dict[int, list[int]] = {}
    for own, above in enumerate(parent):
        below.setdefault(above, []).append(own)
    stack = below.get(-1, [])[::-1]
    while stack:
        own = stack.pop()
        yield own
        stack += below.get(own, [])[::-1]
