"""Rows in classes of fixed sizes: the arrays for swaps, and the constraints that swaps must keep."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.reassignment.ground import ground_of
from hierdata.engines.reassignment.kernel import (
    ClosenessArrays,
    ForeseenExcess,
    ReassignedClasses,
    refresh_all,
)
from hierdata.engines.rows.asking import ClassConstraints
from hierdata.engines.rows.caps import pack_row_caps
from hierdata.engines.rows.closeness import strangers
from hierdata.engines.rows.decided_caps import split_decided
from hierdata.engines.rows.kernel import Caps
from hierdata.engines.rows.order import RowLine
from hierdata.engines.rows.table import class_sizes, classes_of, dense, rows_by_class
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import SUPPRESSED, Partition

_KEPT = 2**24
"""The most entries of what is foreseen."""


@dataclass(frozen=True)
class Arrangement:
    """Classes as runs of ``classes.members``; ``asked`` are the models that the arrays do not cover."""

    classes: ReassignedClasses
    ground: ClosenessArrays
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
        ground = ground_of(forest, scope, constraints.closeness(scope.kind), int(sizes.max(initial=0)))
        members = rows_by_class(classes)
        made = cls(
            ReassignedClasses(
                members,
                np.cumsum([0, *sizes]),
                np.zeros(len(sizes), np.int64),
                np.zeros(len(sizes), np.int64),
                np.zeros((len(sizes), 4, line.places.shape[1]), np.int32),
            ),
            ground,
            line,
            pack_row_caps(caps, len(classes)),
            _foresee_nothing(ground, len(members)),
            ClassConstraints(forest, scope, asked),
        )
        refresh_all(made.classes, made.ground, made.line)
        return made

    def numbers(self) -> NDArray[np.int64]:
        """Return the class of each row, SUPPRESSED for rows without a class."""
        found = np.full(self.line.places.shape[0], SUPPRESSED, np.int64)
        found[self.classes.members] = np.repeat(
            np.arange(len(self.classes.beyond)), np.diff(self.classes.starts)
        )
        return found


def initial_classes(
    forest: Forest, scope: Scope, constraints: Constraints, partition: Partition
) -> NDArray[np.int64]:
    """Return the classes of the previous step, without rows that have a value missing from the original."""
    forbidden = strangers(forest, scope, constraints)
    return dense(np.where(forbidden, SUPPRESSED, classes_of(partition, scope)))


def _foresee_nothing(ground: ClosenessArrays, positions: int) -> ForeseenExcess:
    """Return room for what is foreseen: a slot for each combination of sets, as long as there is room."""
    found, combination = np.unique(ground.sets, axis=1, return_inverse=True)
    slots = min(max(1, found.shape[1]), max(1, _KEPT // max(1, positions)))
    return ForeseenExcess(combination.reshape(-1) + 1, np.zeros((slots, positions), np.int64))
