"""Rows in classes of fixed sizes, and the constraints that swaps must keep, as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import floor

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.reassignment.kernel import (
    ClosenessArrays,
    ForeseenExcess,
    ReassignedClasses,
    refresh_all,
)
from hierdata.engines.rows.constraints import ClassConstraints, pack_row_caps, split_decided, strangers
from hierdata.engines.rows.kernel import Caps
from hierdata.engines.rows.table import (
    RowLine,
    bits_over,
    class_sizes,
    classes_of,
    codes_of,
    dense,
    rows_by_class,
)
from hierdata.forest.forest import MISSING, Forest, Scope, look_up
from hierdata.forest.partition import SUPPRESSED, Partition
from hierdata.privacy.base import FOREIGN, Closeness

_FINE = 2**20
"""Bounds with a larger denominator are rounded down to a multiple of 1 / 2^20 for the search."""


def pack_closeness(
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
        number = {value_set: base + 1 + rank for rank, value_set in enumerate(order)}
        number[-1] = number[FOREIGN] = base
        bound = form.bound
        if bound.denominator > _FINE:
            bound = Fraction(floor(bound * _FINE), _FINE)
        # A distance is at most scale * rows * total; the kernels add its changes for one value more or less.
        dropped = bits_over(8 * form.scale * (largest + 1) * form.total * bound.denominator)
        parents += [base, *(number[form.parent[value_set]] for value_set in order)]
        weights += [0, *(form.weight[value_set] for value_set in order)]
        expected += [0, *(form.expected[value_set] >> dropped for value_set in order)]
        totals.append(max(1, form.total >> dropped))
        bounds.append(bound)
        first.append(base + 1 + len(order))
        numbers.append([number[value_set] for value_set in form.set_of])
    sets = np.empty((len(forms), len(codes)), np.int32)
    for c, (position, _) in enumerate(forms):
        of_row = look_up(numbers[c], codes[:, position])
        sets[c] = np.where(of_row == MISSING, first[-1] + c, of_row)
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
    for value_set, above in enumerate(parent):
        below.setdefault(above, []).append(value_set)
    stack = below.get(-1, [])[::-1]
    while stack:
        value_set = stack.pop()
        yield value_set
        stack += below.get(value_set, [])[::-1]


_KEPT = 2**24
"""The most entries of what is foreseen."""


@dataclass(frozen=True)
class Arrangement:
    """Classes as runs of ``classes.members``; ``asked`` are the models that the arrays do not cover."""

    classes: ReassignedClasses
    closeness: ClosenessArrays
    line: RowLine
    caps: Caps
    foreseen: ForeseenExcess
    asked: ClassConstraints

    @classmethod
    def of(
        cls, forest: Forest, scope: Scope, constraints: Constraints, classes: NDArray[np.int64]
    ) -> Arrangement:
        """Build the arrangement of classes; rows without a class stay out."""
        sizes = class_sizes(classes)
        line = RowLine.of(forest, scope)
        caps, asked = split_decided(forest, scope, constraints.without_mended({"closeness"}))
        closeness = pack_closeness(
            forest, scope, constraints.closeness(scope.kind), int(sizes.max(initial=0))
        )
        members = rows_by_class(classes)
        made = cls(
            ReassignedClasses(
                members,
                np.cumsum([0, *sizes]),
                np.zeros(len(sizes), np.int64),
                np.zeros(len(sizes), np.int64),
                np.zeros((len(sizes), 4, line.places.shape[1]), np.int32),
            ),
            closeness,
            line,
            pack_row_caps(caps, len(classes)),
            _foresee_nothing(closeness, len(members)),
            ClassConstraints(forest, scope, asked),
        )
        refresh_all(made.classes, made.closeness, made.line)
        return made

    def numbers(self) -> NDArray[np.int64]:
        """Return the class of each row, SUPPRESSED for rows without a class."""
        classes = np.full(self.line.places.shape[0], SUPPRESSED, np.int64)
        classes[self.classes.members] = np.repeat(
            np.arange(len(self.classes.beyond)), np.diff(self.classes.starts)
        )
        return classes


def initial_classes(
    forest: Forest, scope: Scope, constraints: Constraints, partition: Partition
) -> NDArray[np.int64]:
    """Return the classes of the previous step, without rows that have a value missing from the original."""
    forbidden = strangers(forest, scope, constraints)
    return dense(np.where(forbidden, SUPPRESSED, classes_of(partition, scope)))


def _foresee_nothing(closeness: ClosenessArrays, positions: int) -> ForeseenExcess:
    """Return room for what is foreseen: a slot for each combination of sets, as long as there is room."""
    combinations, combination = np.unique(closeness.sets, axis=1, return_inverse=True)
    slots = min(max(1, combinations.shape[1]), max(1, _KEPT // max(1, positions)))
    return ForeseenExcess(combination.reshape(-1) + 1, np.zeros((slots, positions), np.int64))
