"""The buckets of a scope, the most rows that can be published from them, why rows are suppressed (LE-3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
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
        coordinates = []
        for position, bound in enumerate(constraints.on_values[scope.kind]):
            domain, column = forest.domains[scope.kind][position], codes[:, position]
            if (column >= 0).any():
                for caps in _caps(bound, len(domain.values)):
                    group_of = look_up(caps.group_of, column).astype(np.int64)
                    coordinates.append(Coordinate(domain.path, group_of, shares_at(caps, size)))
        return cls(tuple(coordinates), size, len(scope.vertices))

    @property
    def complete(self) -> NDArray[np.bool_]:
        """Which rows have a value at every coordinate."""
        complete = np.ones(self.rows, np.bool_)
        for coordinate in self.coordinates:
            complete &= coordinate.group_of >= 0
        return complete

    @property
    def first_groups(self) -> NDArray[np.int64]:
        """The first group of each coordinate in one numbering over all, then the number of groups."""
        return np.cumsum([0, *(len(coordinate.share) for coordinate in self.coordinates)])

    def of_rows(self, rows: NDArray[np.int64]) -> Buckets:
        """Return the buckets of some rows."""
        coordinates = (
            replace(coordinate, group_of=coordinate.group_of[rows]) for coordinate in self.coordinates
        )
        return replace(self, coordinates=tuple(coordinates), rows=len(rows))

    @property
    def once(self) -> bool:
        """Whether a class of the least size has room for at most one row of each group."""
        return all(max(self.room(coordinate), default=0) <= 1 for coordinate in self.coordinates)

    def room(self, coordinate: Coordinate) -> list[int]:
        """Return how many rows of each group a class of the least size may take."""
        return [floor(share * self.class_size) for share in coordinate.share]


def _caps(constraints: tuple[Constraint, ...], values: int) -> Iterator[FrequencyCaps]:
    """Yield the share caps of an attribute's models; if no model has caps, each value may occur once."""
    if not constraints:
        return
    caps = [constraint.caps for constraint in constraints if constraint.caps is not None]
    yield from caps or [FrequencyCaps(tuple(range(values)), (Fraction(1),) * values, most=1)]


def shares_at(caps: FrequencyCaps, size: int) -> tuple[Fraction, ...]:
    """Return the largest share of each group; ``most`` values in a class of ``size`` also limit it."""
    if caps.most is None:
        return caps.share
    return tuple(min(share, Fraction(caps.most, size)) for share in caps.share)


@dataclass(frozen=True)
class CoordinateBound:
    """The bound by one coordinate: at most ``rows`` rows, and ``most`` of any one group, by share."""

    rows: int
    most: dict[Fraction, int]


def bound_rows(coordinate: Coordinate) -> CoordinateBound:
    """Find the largest N <= sum over groups of min(c, floor(share * N)), plus the rows without a value.

    Of N published values no group has more than its share, since it has no more in any class. If all shares
    are 1/l this is LE-3: S(g) = sum min(c_b, g) for the largest g with S(g) >= l g. Going down from all rows
    ends at the largest such N, since the sum never falls as N grows. No method publishes more if the caps are
    equivalent to the model; on ragged taxonomies they are stricter (LE-2).
    """
    sizes = coordinate.sizes
    by_share = {
        share: sizes[[other == share for other in coordinate.share]] for share in set(coordinate.share)
    }
    rows = int(sizes.sum())
    while True:
        most = {share: floor(share * rows) for share in by_share}
        kept = sum(int(np.minimum(counts, most[share]).sum()) for share, counts in by_share.items())
        if kept >= rows:
            return CoordinateBound(rows + int((coordinate.group_of < 0).sum()), most)
        rows = kept


def tightest(buckets: Buckets) -> tuple[Coordinate, CoordinateBound] | None:
    """Return the coordinate with the smallest bound, and that bound; None without coordinates.

    With one coordinate the bound is attained, with several it may not be.
    """
    bounds = [(coordinate, bound_rows(coordinate)) for coordinate in buckets.coordinates]
    return min(bounds, key=lambda pair: pair[1].rows, default=None)


def reason(buckets: Buckets, published: int) -> str:
    """Explain in one sentence why no more rows of the scope are published. It contains sizes of buckets."""
    size = buckets.class_size
    if buckets.rows < size:
        return (
            f"a class needs {size} rows and there are {buckets.rows}: k and l can be at most {buckets.rows}"
        )
    groups, path = min(
        (
            (int(np.count_nonzero(coordinate.sizes)), coordinate.path)
            for coordinate in buckets.coordinates
            if max(buckets.room(coordinate)) <= 1
        ),
        default=(size, ""),
    )
    if not published and groups < size:
        return (
            f"a class needs {size} rows of different buckets and the values at {path} make {groups}: k and l "
            f"can be at most {groups}"
        )
    bound = tightest(buckets)
    if bound is None or bound[1].rows == buckets.rows:
        return (
            f"{published} of {buckets.rows} rows are published in classes of at least {size}: no attribute "
            "by itself forces a suppression, but the rest could not be put together so that rows of a class "
            "differ in every attribute and belong to different records"
        )
    return _too_large(buckets, *bound, published)


def _too_large(buckets: Buckets, coordinate: Coordinate, limit: CoordinateBound, published: int) -> str:
    sizes = coordinate.sizes
    shares = zip(sizes.tolist(), coordinate.share, strict=True)
    over = [size for size, share in shares if size > limit.most[share]]
    text = (
        f"{sum(over)} of the {int(sizes.sum())} values at {coordinate.path} lie in {len(over)} of "
        f"{np.count_nonzero(sizes)} buckets: while these are kept apart, at most {limit.rows} of "
        f"{buckets.rows} rows can be published in classes of at least {buckets.class_size}; {published} are"
    )
    sparing = int(sizes.sum()) // int(sizes.max())
    if len(limit.most) > 1 or sparing < 2:
        return text
    return f"{text}; with k and l of at most {sparing} no row would be lost for this reason"
