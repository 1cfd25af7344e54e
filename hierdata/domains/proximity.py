"""Which numbers lie near each other: closed intervals around values, closed windows over them (DL)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import floor, lcm

from hierdata.domains.number import Number


@dataclass(frozen=True)
class Neighbourhoods:
    """What lies in the closed interval around each value of a domain; an end that is touched belongs to it.

    ``rank[code]`` is the value's place in ascending order; the interval around the value of rank r covers the
    ranks ``reach[r][0]`` to ``reach[r][1]``, its own among them.
    """

    rank: tuple[int, ...]
    reach: tuple[tuple[int, int], ...]

    @classmethod
    def absolute(cls, numbers: Sequence[Number], radius: Fraction) -> Neighbourhoods:
        """The intervals [v - radius, v + radius].

        >>> Neighbourhoods.absolute((40, 60, 50), Fraction(10)).reach
        ((0, 1), (0, 2), (1, 2))
        """
        points, unit = _scale_numbers(numbers)
        return cls._around(points, [floor(radius * unit)] * len(points))

    @classmethod
    def relative(cls, numbers: Sequence[Number], share: Fraction) -> Neighbourhoods:
        """The intervals [v - share |v|, v + share |v|]; that u lies around v does not put v around u.

        Raises ValueError for a share above 1.

        >>> Neighbourhoods.relative((10, 15), Fraction(2, 5)).reach
        ((0, 0), (0, 1))
        """
        if share > 1:
            raise ValueError("a relative interval reaches no further than 0")
        points, _ = _scale_numbers(numbers)
        return cls._around(points, [abs(point) * share.numerator // share.denominator for point in points])

    @classmethod
    def _around(cls, points: list[int], widths: list[int]) -> Neighbourhoods:
        order = sorted(range(len(points)), key=points.__getitem__)
        rank = [0] * len(points)
        for place, code in enumerate(order):
            rank[code] = place
        ends = ((points[code] - widths[code], points[code] + widths[code]) for code in order)
        within = _within([points[code] for code in order], ends)
        return cls(tuple(rank), tuple((first, stop - 1) for first, stop in within))

    def sizes(self, counts: Mapping[int, int]) -> dict[int, int]:
        """By code that occurs, how many of the values lie around it, with multiplicity, itself included.

        n(v) of DL equations 1 and 2. Linear once the codes are sorted: the walk of DL figure 3, with both
        ends measured from the value itself (DL-3).

        >>> Neighbourhoods.absolute((40, 50, 60, 80), Fraction(15)).sizes({0: 1, 1: 1, 2: 1, 3: 1})
        {0: 2, 1: 3, 2: 2, 3: 1}
        """
        present = sorted((self.rank[code], code) for code, count in counts.items() if count)
        before = [0, *accumulate(counts[code] for _, code in present)]
        ranks = [rank for rank, _ in present]
        within = _within(ranks, (self.reach[rank] for rank in ranks))
        return {
            code: before[stop] - before[first]
            for (_, code), (first, stop) in zip(present, within, strict=True)
        }


def fullest_window(values: Iterable[Number], width: Fraction) -> int:
    """The most values that a closed window [x, x + width] holds, with multiplicity; 0 where there are none.

    >>> fullest_window([0, 1, 2, 3], Fraction(1)), fullest_window([0, 1, 2, 3], Fraction(2))
    (2, 3)
    """
    points, unit = _scale_numbers(sorted(values))
    counted = Counter(points)
    span, distinct = floor(width * unit), list(counted)
    before = [0, *accumulate(counted.values())]
    within = _within(distinct, ((point, point + span) for point in distinct))
    return max((before[stop] - before[first] for first, stop in within), default=0)


def _scale_numbers(numbers: Sequence[Number]) -> tuple[list[int], int]:
    """Numbers as integers of one unit, and how many units 1 has. Distances of integers compare with the whole
    part of a bound as with the bound itself, so nothing is lost.
    """
    unit = lcm(*(number.denominator for number in numbers))
    return [int(number * unit) for number in numbers], unit


def _within(points: Sequence[int], ends: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """For each ascending point the places [first, stop) of all points between its two ends, its own too.

    Linear: neither end ever moves back.
    """
    first = stop = 0
    for low, high in ends:
        while points[first] < low:
            first += 1
        while stop < len(points) and points[stop] <= high:
            stop += 1
        yield first, stop
