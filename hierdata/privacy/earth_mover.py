"""Earth mover's distances of two distributions, exact: between equal, ordered and hierarchical values.

All three are sums of weighted |q(S) - p(S)| over sets S of values, so integers decide.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Literal, Protocol, TypeAlias

from hierdata.domains.base import Uncovered
from hierdata.domains.number import Number, exact
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.ground.errors import PolicyError
from hierdata.privacy.base import FOREIGN, Closeness

Distance: TypeAlias = Literal["equal", "ordered", "hierarchical"]
"""The ground distance of two different values; see ``TCloseness``."""


def suitable_distance(domain: SensitiveDomain) -> Distance | None:
    """Return the distance that suits an attribute; None if no value is known.

    It is hierarchical with a taxonomy, ordered for numbers, else equal. The values of the original decide; if
    they are unknown, those that were seen.
    Raises PolicyError if some of them are numbers and others are not.
    """
    if domain.heights is not None:
        return "hierarchical"
    counts = domain.reference or (1,) * len(domain.values)
    occurring = [code for code, count in enumerate(counts) if count]
    numbers = len(_numbers_among(domain, occurring))
    if 0 < numbers < len(occurring):
        raise PolicyError(
            f"no distance of t-closeness suits these values, of which {numbers} of {len(occurring)} are "
            "numbers: state 'distance: equal', or list under 'missing' the texts that are no values",
            path=domain.path,
        )
    return None if not occurring else "ordered" if numbers else "equal"


def _numbers_among(domain: SensitiveDomain, codes: Sequence[int]) -> dict[int, Number]:
    """Return the values that are numbers, by code; text is one only if the domain reads it as such."""
    numbers: dict[int, Number] = {}
    for code in codes:
        value = domain.values[code]
        if domain.number or not isinstance(value, str):
            with suppress(Uncovered):
                numbers[code] = exact(value)
    return numbers


class MovedMass(Protocol):
    """The mass that must be moved to turn one distribution into the other.

    ``alone[code]`` is a positive lower bound of the distance from the value to any other.
    """

    alone: Sequence[Fraction]
    scale: int

    def closeness(self, bound: Fraction) -> Closeness:
        """Return the distance as weighted sets of values."""
        ...

    def mass_moved(self, counts: Mapping[int, int], present: int) -> int:
        """Return the distance times ``scale``, the number of values present, and that of the original."""
        ...


class NestedSets:
    """Sets of values, any two nested or disjoint: ``sets[code]`` are those that contain the value.

    The distance is the sum of ``weights[s]`` |q(s) - p(s)| / ``scale`` over all sets s.
    """

    def __init__(
        self,
        sets: Sequence[tuple[int, ...]],
        weights: Sequence[int],
        scale: int,
        alone: Sequence[Fraction],
        reference: Sequence[int],
    ) -> None:
        self.scale = scale
        self.alone = alone
        self._sets = sets
        self._weights = weights
        self._reference = reference
        self._total = sum(reference)
        self._expected = [0] * len(weights)
        for around, count in zip(sets, reference, strict=True):
            for index in around:
                self._expected[index] += count
        self._untouched = sum(weight * count for weight, count in zip(weights, self._expected, strict=True))

    def closeness(self, bound: Fraction) -> Closeness:
        """Return the sets, including those that contain no value of the original."""
        parent = [-1] * len(self._weights)
        for around in self._sets:
            for above, index in pairwise(around):
                parent[index] = above
        return Closeness(
            tuple(
                FOREIGN if not count else around[-1] if around else -1
                for around, count in zip(self._sets, self._reference, strict=True)
            ),
            tuple(parent),
            tuple(self._weights),
            tuple(self._expected),
            self._total,
            self.scale,
            bound,
        )

    def mass_moved(self, counts: Mapping[int, int], present: int) -> int:
        """Return the scaled distance; a set without values of the class contributes its expected share."""
        in_set: dict[int, int] = {}
        for code, count in counts.items():
            for index in self._sets[code]:
                in_set[index] = in_set.get(index, 0) + count
        moved = self._untouched * present
        for index, count in in_set.items():
            expected = self._expected[index] * present
            moved += self._weights[index] * (abs(count * self._total - expected) - expected)
        return moved


def equal_masses(reference: tuple[int, ...]) -> NestedSets:
    """Half the sum of |q - p| over single values."""
    codes = range(len(reference))
    return NestedSets([(code,) for code in codes], [1] * len(codes), 2, [Fraction(1)] * len(codes), reference)


def hierarchical_masses(domain: SensitiveDomain, reference: tuple[int, ...]) -> NestedSets:
    """Half the sum of |q - p| (height of the parent - own height) / height of the root, over all nodes.

    This equals the recursion of Li et al. A value at an inner node counts as one more leaf below it: its
    distance to a value under that node is that between such values of different children.
    """
    if domain.paths is None or domain.heights is None:
        raise PolicyError(
            "t-closeness by hierarchical distance needs 'taxonomy' on this sensitive attribute: add it, or "
            "let the model's `on` name others",
            path=domain.path,
        )
    heights = domain.heights
    nodes = len(heights)
    root = max(1, heights[0])
    weights = [0] * (2 * nodes)  # the second half: values at inner nodes
    sets: list[tuple[int, ...]] = []
    alone: list[Fraction] = []
    for path in domain.paths:
        for above, node in pairwise(path):
            weights[node] = heights[above] - heights[node]
        last = path[-1]
        weights[nodes + last] = heights[last]
        sets.append((*path[1:], nodes + last) if heights[last] else path[1:])
        alone.append(Fraction(heights[last] or heights[path[-2]], root))
    return NestedSets(sets, weights, 2 * root, alone, reference)


class OrderedMasses:
    """Ordered values: the sum of |Q - P| / (m - 1) over the cumulated shares Q and P up to each value.

    Between two values of the class Q is constant and P increases, so prefix sums of P suffice: a class of s
    values costs O(s log m).
    """

    def __init__(self, domain: SensitiveDomain, reference: tuple[int, ...]) -> None:
        occurring = [code for code, count in enumerate(reference) if count]
        numbers = _numbers_among(domain, occurring)
        if len(numbers) < len(occurring):
            raise PolicyError(
                "t-closeness by ordered distance needs numbers: state 'number: true' if text spells them",
                path=domain.path,
            )
        occurring.sort(key=numbers.__getitem__)
        self._rank = {code: rank for rank, code in enumerate(occurring)}
        self._total = sum(reference)
        self._below = list(accumulate(reference[code] for code in occurring))[:-1]
        self._sums = list(accumulate(self._below, initial=0))
        self.scale = max(1, len(occurring) - 1)
        self.alone: Sequence[Fraction] = [Fraction(1, self.scale)] * len(reference)

    def closeness(self, bound: Fraction) -> Closeness:
        """Return a chain of sets: for each value but the last, the values up to it."""
        last = len(self._below)
        return Closeness(
            tuple(
                FOREIGN if code not in self._rank else self._rank[code] if self._rank[code] < last else -1
                for code in range(len(self.alone))
            ),
            tuple(rank + 1 if rank + 1 < last else -1 for rank in range(last)),
            (1,) * last,
            tuple(self._below),
            self._total,
            self.scale,
            bound,
        )

    def mass_moved(self, counts: Mapping[int, int], present: int) -> int:
        """Return the scaled distance: between two values of the class, first P is the smaller, then Q."""
        sums, total = self._sums, self._total
        moved = start = reached = 0
        ranks = sorted((self._rank[code], count) for code, count in counts.items() if count)
        for rank, count in (*ranks, (len(self._below), 0)):
            turn = bisect_right(self._below, reached * total // present, start, rank)
            less, more = sums[turn] - sums[start], sums[rank] - sums[turn]
            moved += reached * total * (turn - start - (rank - turn)) + present * (more - less)
            start = rank
            reached += count
        return moved
