"""Split constraints into those that compiled caps decide, and those that must be checked in Python."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from hierdata.engines.base import Constraints
from hierdata.engines.rows.caps import RowCaps, row_caps
from hierdata.engines.rows.table import codes_of
from hierdata.forest.forest import Forest, Scope
from hierdata.privacy.base import ClassView, Constraint, FrequencyCaps


def one_of_each_record(scope: Scope) -> list[RowCaps]:
    """Return the cap of one row per record in a class; empty if no record has two rows."""
    records, which = np.unique(scope.records, return_inverse=True)
    if len(records) == len(scope.records):
        return []
    groups = which.ravel().astype(np.int32)
    return [RowCaps(groups, FrequencyCaps((), (Fraction(1),) * len(records), most=1))]


def split_decided(
    forest: Forest, scope: Scope, constraints: Constraints
) -> tuple[list[RowCaps], Constraints]:
    """Return the caps on the rows, and the constraints that these and the least size do not decide.

    Caps decide a constraint if they are sufficient and every row has a value (erratum ML-8).
    """
    bound = one_of_each_record(scope)
    codes = codes_of(forest, scope)
    asked: list[tuple[Constraint, ...]] = []
    for position, own in enumerate(constraints.on_values[scope.kind]):
        column = codes[:, position]
        open_ones = []
        for constraint in own:
            caps = None if constraint.caps is None else row_caps(column, constraint.caps)
            if caps is not None and caps.fits():
                bound.append(caps)
                if caps.caps.sufficient and (column >= 0).all():
                    continue
            open_ones.append(constraint)
        asked.append(tuple(open_ones))
    on_records = tuple(one for one in constraints.on_records if not decided_by_size(one, constraints))
    on_values = tuple(
        tuple(asked) if kind == scope.kind else tuple(() for _ in own)
        for kind, own in enumerate(constraints.on_values)
    )
    return bound, Constraints(on_records, on_values, constraints.population)


def decided_by_size(constraint: Constraint, constraints: Constraints) -> bool:
    """Whether every class of the least size or more satisfies a constraint on records.

    A larger class is a union of classes of the least size to twice that. A constraint that is closed under
    unions and holds for those holds for their union. With a population, none is
    decided by size.
    """
    least = constraints.min_class_size
    return (
        constraint.closed_under_union
        and constraints.population is None
        and all(constraint.holds(ClassView(size, {})) for size in range(least, 2 * least))
    )
