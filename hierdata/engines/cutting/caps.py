"""Which constraints the compiled cuts decide by themselves, and who must be asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.rows.table import codes_of
from hierdata.forest import MISSING, Forest, Scope
from hierdata.privacy.base import ClassView, Constraint, ShareCaps

_UNBOUNDED = 2**62


@dataclass(frozen=True)
class RowCaps:
    """Share caps with the group of every row, -1 for a missing value."""

    groups: NDArray[np.int32]
    caps: ShareCaps

    def fits(self) -> bool:
        """Whether count * denominator fits into 64 bits at every size."""
        return all(share.denominator * len(self.groups) < _UNBOUNDED for share in self.caps.share)


@dataclass(frozen=True)
class PackedCaps:
    """All caps in the layout of ``kernels.cutting.within_caps``."""

    groups: NDArray[np.int32]
    first_group: NDArray[np.int64]
    most: NDArray[np.int64]
    reach: NDArray[np.int64]
    shares: NDArray[np.int64]
    tally: NDArray[np.int64]

    @classmethod
    def of(cls, bound: Sequence[RowCaps], rows: int) -> PackedCaps:
        """Pack them; without any, every region passes."""
        counts = [len(own.caps.share) for own in bound]
        alone = [[(group, group) for group in range(count)] for count in counts]
        reach = [own.caps.reach or single for own, single in zip(bound, alone, strict=True)]
        shares = [(share.numerator, share.denominator) for own in bound for share in own.caps.share]
        return cls(
            np.array([own.groups for own in bound], np.int32).reshape(len(bound), rows),
            np.cumsum([0, *counts]),
            np.array([_UNBOUNDED if own.caps.most is None else own.caps.most for own in bound], np.int64),
            np.array([pair for own in reach for pair in own], np.int64).reshape(-1, 2),
            np.array(shares, np.int64).reshape(-1, 2),
            np.zeros(max(counts, default=0), np.int64),
        )


def row_caps(codes: NDArray[np.int32], caps: ShareCaps) -> RowCaps:
    """The caps with the groups of rows that hold these codes."""
    return RowCaps(np.array([*caps.group_of, MISSING], np.int32)[codes], caps)  # MISSING is -1: the last


def one_of_each_record(scope: Scope) -> list[RowCaps]:
    """The cap that no record has two rows in a class; empty where no record has two."""
    records, which = np.unique(scope.records, return_inverse=True)
    if len(records) == len(scope.records):
        return []
    groups = which.ravel().astype(np.int32)
    return [RowCaps(groups, ShareCaps((), (Fraction(1),) * len(records), most=1))]


def decided(forest: Forest, scope: Scope, constraints: Constraints) -> tuple[list[RowCaps], Constraints]:
    """The caps on the rows, and the constraints that these and the least size do not decide.

    Caps decide alone where they are sufficient and every row has a value (erratum ML-8).
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

    A larger class is made up of some with the least size to twice that, and if the constraint holds for
    those and is monotone, it holds for their unions. Whoever asks for the population is asked.
    """
    least = constraints.min_class_size
    return (
        constraint.monotone
        and constraints.population is None
        and all(constraint.holds(ClassView(size, {})) for size in range(least, 2 * least))
    )
