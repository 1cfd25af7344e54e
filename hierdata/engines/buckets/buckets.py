"""The buckets of a scope: rows by the groups that the models keep apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import floor

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.rows.table import codes_of
from hierdata.forest.forest import Forest, Scope, look_up
from hierdata.privacy.base import Constraint, FrequencyCaps


@dataclass(frozen=True)
class Coordinate:
    """The groups of one share cap on one attribute: ``group_of[row]``, MISSING without a value.

    In no class does a group have more than the share ``share[group]`` of the values; ``path`` is the
    attribute's.
    """

    path: str
    group_of: NDArray[np.int64]
    share: tuple[Fraction, ...]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of rows of each group."""
        return np.bincount(self.group_of[self.group_of >= 0], minlength=len(self.share)).astype(np.int64)


@dataclass(frozen=True)
class Buckets:
    """All coordinates of a scope, and the least size of a class. A bucket is a vector of groups."""

    coordinates: tuple[Coordinate, ...]
    class_size: int
    rows: int

    @classmethod
    def of(cls, forest: Forest, scope: Scope, constraints: Constraints) -> Buckets:
        """Build the buckets from every attribute that has both models and values in the scope."""
        size = constraints.min_class_size
        codes = codes_of(forest, scope)
        found = []
        for position, bound in enumerate(constraints.on_values[scope.kind]):
            domain, column = forest.domains[scope.kind][position], codes[:, position]
            if (column >= 0).any():
                for caps in _caps(bound, len(domain.values)):
                    group_of = look_up(caps.group_of, column).astype(np.int64)
                    found.append(Coordinate(domain.path, group_of, _shares(caps, size)))
        return cls(tuple(found), size, len(scope.vertices))

    def room(self, coordinate: Coordinate) -> list[int]:
        """Return how many rows of each group a class of the least size may take."""
        return [floor(share * self.class_size) for share in coordinate.share]


def _caps(constraints: tuple[Constraint, ...], values: int) -> Iterator[FrequencyCaps]:
    """Yield the share caps of an attribute's models; if no model has caps, each value may occur once."""
    if not constraints:
        return
    caps = [constraint.caps for constraint in constraints if constraint.caps is not None]
    yield from caps or [FrequencyCaps(tuple(range(values)), (Fraction(1),) * values, most=1)]


def _shares(caps: FrequencyCaps, size: int) -> tuple[Fraction, ...]:
    """Return the largest share of each group; ``most`` values in a class of ``size`` also limit it."""
    if caps.most is None:
        return caps.share
    return tuple(min(share, Fraction(caps.most, size)) for share in caps.share)
