"""Constraints that state a closeness: which bind a scope, and which of its rows they forbid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.rows.table import codes_of
from hierdata.forest import Forest, Scope
from hierdata.privacy.base import FOREIGN, Closeness


def closeness_of(scope: Scope, constraints: Constraints) -> list[tuple[int, Closeness]]:
    """What is stated on the rows of a scope, each with the position of its sensitive attribute."""
    return [
        (position, one.closeness)
        for position, own in enumerate(constraints.on_values[scope.kind])
        for one in own
        if one.closeness is not None
    ]


def strangers(forest: Forest, scope: Scope, constraints: Constraints) -> NDArray[np.bool_]:
    """The rows with a value that the original lacks, which no class may hold."""
    codes = codes_of(forest, scope)
    found = np.zeros(len(codes), np.bool_)
    for position, one in closeness_of(scope, constraints):
        found |= foreign(one, codes[:, position])
    return found


def foreign(one: Closeness, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which of the codes are of values that the original lacks."""
    return np.array([*(own == FOREIGN for own in one.set_of), False], np.bool_)[codes]  # MISSING is the last
