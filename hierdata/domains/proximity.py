"""Which numbers are near each other: closed intervals around values, closed windows over them (DL)."""

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
    """The values in the closed interval around each value of a domain.

    ``rank[code]`` is the value's position in ascending order. The interval around the value of rank r covers
    the ranks ``reach[r][0]`` to ``reach[r][1]``, including r.
    """

    rank: tuple[int, ...]
    reach: tuple[tuple[int, int], ...]

    @classmethod
    def absolute(cls, numbers: Sequence[Number], radius: Fraction) -> Neighbourhoods:
        """Build the intervals [v - radius, v + radius].

        >>> Neighbourhoods.absolute((40, 60, 50), Fraction(10)).reach
        ((0, 1), (0, 2), (1, 2))
        """
        points, unit = _scale_numbers(numbers)
        return cls._around(points, [floor(radius * unit)] * len(points))

    @classmethod
    def relative(
        cls, numbers: Sequence[Number], share: Fraction, width: Fraction = Fraction(0)
    ) -> Neighbourhoods:
        """Build the intervals [v - share |v|, v + share |v|], which are not symmetric.

        Numbers of a ``width`` stand for all from v - width to v + width. Raises ValueError for a share above
        1.

        >>> Neighbourhoods.relative((10, 15), Fraction(2, 5)).reach
        ((0, 0), (0, 1))
        """
        if share > 1:
            raise ValueError("the share of a relative interval must be at most 1")
        points, unit = _scale_numbers(numbers)
        reach = [share * (abs(point) + width * unit) + width * unit for point in points]
        return cls._around(points, [floor(radius) for radius in reach])

    @classmethod
    def _around(cls, points: list[int], widths: list[int]) -> Neighbourhoods:
        order = sorted(range(len(points)), key=points.__getitem__)
        rank = [0] * len(points)
        for position, code in enumerate(order):
            rank[code] = position
        ends = ((points[code] - widths[code], points[code] + widths[code]) for code in order)
        within = _within([points[code] for code in order], ends)
        return cls(tuple(rank), tuple((first, stop - 1) for first, stop in within))

    def sizes(self, counts: Mapping[int, int]) -> dict[int, int]:
        """Return, for each code that occurs, how many values its interval holds, with repeats and itself.

        This is n(v) of DL equations 1 and 2. Linear after sorting the codes: the algorithm of DL figure 3,
        with both ends measured from the value itself (DL-3).

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
    """Return the most values in a closed window [x, x + width], with multiplicity; 0 without values.

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
    """Return the numbers as integers of a common unit, and the number of units in 1.

    Integer distances compare with the floor of a bound as with the bound itself, so the result is exact.
    """
    unit = lcm(*(number.denominator for number in numbers))
    return [int(number * unit) for number in numbers], unit


def _within(points: Sequence[int], ends: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield for each ascending point the positions [first, stop) of all points between its two ends.

    Linear: neither position ever moves back.
    """
    first = stop = 0
    for low, high in ends:
        while points[first] < low:
            first += 1
        while stop < len(points) and points[stop] <= high:
            stop += 1
        yield first, stop
