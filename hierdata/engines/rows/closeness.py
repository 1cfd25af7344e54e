"""Models with a closeness: the rows they rule out, and the sets that hold a value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.rows.table import codes_of
from hierdata.forest.forest import Forest, Scope
from hierdata.privacy.base import FOREIGN, Closeness


def strangers(forest: Forest, scope: Scope, constraints: Constraints) -> NDArray[np.bool_]:
    """Mark the rows with a value that does not occur in the original, which no class may hold."""
    codes = codes_of(forest, scope)
    found = np.zeros(len(codes), np.bool_)
    for position, one in constraints.closeness(scope.kind):
        found |= foreign(one, codes[:, position])
    return found


def foreign(one: Closeness, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Mark the codes of values that do not occur in the original."""
    return np.array([*(own == FOREIGN for own in one.set_of), False], np.bool_)[codes]  # MISSING is the last


def weighted_sets(one: Closeness) -> tuple[int, ...]:
    """Return the sets with a weight, which add to the distance."""
    return tuple(own for own, weight in enumerate(one.weight) if weight)


def paths(one: Closeness) -> tuple[tuple[int, ...], ...]:
    """Return, by code, the positions in ``weighted_sets`` of the sets that hold it, the smallest first."""
    position = {own: at for at, own in enumerate(weighted_sets(one))}
    found = []
    for own in one.set_of:
        path: list[int] = []
        while own >= 0:
            path += [position[own]] if own in position else []
            own = one.parent[own]
        found.append(tuple(path))
    return tuple(found)
