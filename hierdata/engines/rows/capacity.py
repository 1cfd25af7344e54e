"""Explain why no class is possible, with the largest parameter that the data allow."""

from __future__ import annotations

import numpy as np

from hierdata.domains.number import plain
from hierdata.engines.base import Constraints
from hierdata.engines.rows.caps import RowCaps, row_caps
from hierdata.engines.rows.table import codes_of
from hierdata.forest.forest import Forest, Scope
from hierdata.records.schema import Role


def shortage(forest: Forest, scope: Scope, constraints: Constraints) -> str:
    """Return a sentence about a constraint that no class of these rows can satisfy; "" if none is known."""
    kind = forest.schema.types[scope.kind]
    records = len(np.unique(scope.records))
    least = constraints.min_class_size
    if records < least:
        return (
            f"a class needs at least {least} records, and there are only {records}: {records} is the largest "
            "k or l that would work; collect more records or lower k or l"
        )
    codes = codes_of(forest, scope)
    attributes = kind.of_role(Role.SENSITIVE)
    for position, caps in constraints.caps(scope.kind):
        # Unequal shares have no single letter that could be smaller.
        asked = 1 / caps.share[0] if caps.share and caps.share[0] else 0
        if not asked or len(set(caps.share)) > 1:
            continue
        apart = values_apart(row_caps(codes[:, position], caps))
        if apart < asked:
            return (
                f"a class needs {plain(asked)} or more values at {attributes[position].path} that do not "
                f"count together, and there are only {apart}: {apart} is the largest l that a class can reach"
            )
    return ""


def values_apart(own: RowCaps) -> int:
    """Return the largest number of occurring values of which no two count together."""
    groups = np.unique(own.groups[own.groups >= 0]).tolist()
    if own.caps.reach is None:
        return len(groups)
    apart, reached = 0, -1
    for group in groups:
        if group > reached:
            apart, reached = apart + 1, own.caps.reach[group][1]
    return apart
