"""Models that state a closeness: which rows they rule out, and in which sets a value is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.rows.table import codes_of
from hierdata.forest.forest import Forest, Scope
from hierdata.privacy.base import FOREIGN, Closeness


def strangers(forest: Forest, scope: Scope, constraints: Constraints) -> NDArray[np.bool_]:
    """The rows with a value that the original lacks, which no class may hold."""
    codes = codes_of(forest, scope)
    found = np.zeros(len(codes), np.bool_)
    for position, one in constraints.closeness(scope.kind):
        found |= foreign(one, codes[:, position])
    return found


def foreign(one: Closeness, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which of the codes are of values that the original lacks."""
    return np.array([*(own == FOREIGN for own in one.set_of), False], np.bool_)[codes]  # MISSING is the last


def weighted_sets(one: Closeness) -> tuple[int, ...]:
    """The sets that add to the distance: those of a weight."""
    return tuple(own for own, weight in enumerate(one.weight) if weight)


def paths(one: Closeness) -> tuple[tuple[int, ...], ...]:
    """For each code the positions among ``weighted_sets`` of the sets that hold it, from the least up."""
    position = {own: at for at, own in enumerate(weighted_sets(one))}
    found = []
    for own in one.set_of:
        path: list[int] = []
        while own >= 0:
            path += [position[own]] if own in position else []
            own = one.parent[own]
        found.append(tuple(path))
    return tuple(found)
