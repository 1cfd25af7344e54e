"""The rows that models with a closeness rule out."""

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
