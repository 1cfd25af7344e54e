"""How strongly sensitive attributes go together, and which of them share a table (slicing; TC section 3.1).

TC and the method it builds on cluster correlated attributes and name no coefficient (erratum TC-10). Here
it is the mean-square contingency, and clusters are k-medoids over 1 - phi^2, both as in slicing (Li, Li,
Zhang, Molloy, IEEE TKDE 24(3), 2012). This affects only how much is lost, never whether a promise holds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.forest.forest import MISSING, Forest

Column = NDArray[np.int64]
"""The category of each vertex of one type."""

BINS = 10
"""The largest number of bins of equal frequency that numbers are cut into."""
MANY = 20
"""Numbers with more distinct values than this are cut into bins."""
_UNIT = 2**40
_CHOICES = 20_000
"""The most sets of medoids that are all compared; with more, exchanges look for better ones."""


def mean_square_contingency(first: Column, second: Column) -> Fraction:
    """Return the mean-square contingency phi^2 of two attributes, 0..1: the square of Cramér's V.

    phi^2 = 1 / (min(d1, d2) - 1) * sum_ij (f_ij - f_i f_j)^2 / (f_i f_j), where d1 and d2 are the
    numbers of values that occur and f the shares of rows: 0 if the attributes are independent, 1 if the one
    with more values determines the other. 0 for a constant attribute, where phi^2 is undefined (TC-10).

    >>> import numpy as np
    >>> ill, ward, sex = np.array([[0, 0, 1, 1], [5, 5, 7, 7], [0, 1, 0, 1]])
    >>> mean_square_contingency(ill, ward), mean_square_contingency(ill, sex)
    (Fraction(1, 1), Fraction(0, 1))
    """
    _, i, of_first = np.unique(first, return_inverse=True, return_counts=True)
    _, j, of_second = np.unique(second, return_inverse=True, return_counts=True)
    least = min(len(of_first), len(of_second))
    if least < 2:
        return Fraction(0)
    cells, both = np.unique(i * len(of_second) + j, return_counts=True)
    # The sum is that of n_ij^2 / (n_i n_j), less 1; cells of equal counts are summed at once.
    of_cell = (both, of_first[cells // len(of_second)], of_second[cells % len(of_second)])
    alike, times = np.unique(np.stack(of_cell), axis=1, return_counts=True)
    over_first, over_second = math.lcm(*of_first.tolist()), math.lcm(*of_second.tolist())
    total = sum(
        times * n * n * (over_first // a) * (over_second // b)
        for n, a, b, times in zip(*alike.tolist(), times.tolist(), strict=True)
    )
    return (Fraction(total, over_first * over_second) - 1) / (least - 1)


def tables(forest: Forest, kind: int, asked: int) -> tuple[tuple[int, ...], ...]:
    """Divide the sensitive attributes of a vertex type, by position, into at most ``asked`` >= 1 tables.

    Each attribute is in one table, together with those that it correlates with most.
    """
    domains = forest.domains[kind]
    positions = tuple(range(len(domains)))
    if asked == 1:
        return (positions,)
    if asked >= len(domains):
        return tuple((position,) for position in positions)
    return cluster_attributes(_measure(forest, kind), asked)


def correlated_tables(forest: Forest, kind: int) -> tuple[tuple[int, ...], ...]:
    """Divide the sensitive attributes of a vertex type into the number of tables that separates them best.

    That is the number from 2 on with the largest mean silhouette; of equal ones the largest number, with
    which fewer values are tied to each other. One or two attributes have a table each.
    """
    count = len(forest.domains[kind])
    alone = tuple((position,) for position in range(count))
    if count < 3:
        return alone
    apart = _measure(forest, kind)
    divisions = [alone, *(cluster_attributes(apart, asked) for asked in range(count - 1, 1, -1))]
    return max(divisions, key=lambda division: silhouette(apart, division))


def silhouette(apart: NDArray[np.int64], clusters: Sequence[Sequence[int]]) -> Fraction:
    """Return the sum over all attributes of (b - a) / max(a, b) (Rousseeuw 1987).

    a is the mean distance to the others of its cluster, b the least mean distance to another cluster. An
    attribute alone in its cluster counts 0, as does one at distance 0 from both.

    >>> import numpy as np
    >>> apart = np.array([[0, 1, 4], [1, 0, 4], [4, 4, 0]])
    >>> silhouette(apart, [(0, 1), (2,)]), silhouette(apart, [(0,), (1,), (2,)])
    (Fraction(3, 2), Fraction(0, 1))
    """
    total = Fraction(0)
    for cluster in clusters:
        for attribute in cluster if len(cluster) > 1 else ():
            inside = Fraction(int(apart[attribute, list(cluster)].sum()), len(cluster) - 1)
            outside = min(
                Fraction(int(apart[attribute, list(other)].sum()), len(other))
                for other in clusters
                if other is not cluster
            )
            if most := max(inside, outside):
                total += (outside - inside) / most
    return total


def _measure(forest: Forest, kind: int) -> NDArray[np.int64]:
    first = forest.first_sensitive[forest.type == kind]
    domains = forest.domains[kind]
    columns = [forest.sensitive[first + position] for position, _ in enumerate(domains)]
    return distances(list(map(categories, domains, columns)))


def categories(domain: SensitiveDomain, codes: NDArray[np.int32]) -> Column:
    """Return the category of each value: the value itself, or a bin of numbers; missing is a category.

    An attribute of numbers with more than 20 distinct values is cut into at most 10 bins of equal
    frequency: a number that is above a share s of all is in bin floor(10 s), so equal ones share a bin.
    """
    column = codes.astype(np.int64)
    there = column[column != MISSING]
    numbers = domain.numbers
    if numbers is None or len(np.unique(there)) <= MANY:
        return column
    counts = np.bincount(there, minlength=len(numbers))
    order = np.array(sorted(range(len(numbers)), key=numbers.__getitem__), np.int64)
    bins = np.empty(len(numbers), np.int64)
    bins[order] = BINS * (np.cumsum(counts[order]) - counts[order]) // len(there)
    return np.where(column == MISSING, MISSING, bins[column])


def distances(columns: Sequence[Column]) -> NDArray[np.int64]:
    """Return 1 - phi^2 of every two columns, in units of 2^-40, each rounded once; 0 on the diagonal."""
    matrix = np.zeros((len(columns), len(columns)), np.int64)
    for first, other in combinations(range(len(columns)), 2):
        apart = 1 - mean_square_contingency(columns[first], columns[other])
        matrix[first, other] = matrix[other, first] = round(apart * _UNIT)
    return matrix


def cluster_attributes(apart: NDArray[np.int64], clusters: int) -> tuple[tuple[int, ...], ...]:
    """Cluster attributes by k-medoids: minimize the sum of distances to the nearest medoid.

    Ties between sets of medoids, and between equally near medoids, go to the first in the order of
    attributes; a medoid belongs to itself. If there are at most 20,000 sets, all are compared; else medoids
    are added one by one and exchanged as long as the sum falls (PAM), which may miss the least sum. Clusters
    are sorted by their first attribute.
    """
    size = len(apart)
    if math.comb(size, clusters) <= _CHOICES:
        choices = np.array([*combinations(range(size), clusters)])
        medoids = choices[apart[:, choices].min(axis=2).sum(axis=0).argmin()].tolist()
    else:
        medoids = _exchange_medoids(apart, clusters)
    members: dict[int, list[int]] = {medoid: [] for medoid in medoids}
    for attribute in range(size):
        nearest = min(medoids, key=lambda medoid: int(apart[attribute, medoid]))
        members[attribute if attribute in members else nearest].append(attribute)
    return tuple(sorted(tuple(cluster) for cluster in members.values()))


def _exchange_medoids(apart: NDArray[np.int64], clusters: int) -> list[int]:
    """Partitioning around medoids: build, then swap (Kaufman and Rousseeuw 1990)."""
    medoids: list[int] = []
    nearest = np.full(len(apart), np.iinfo(np.int64).max // len(apart))
    while len(medoids) < clusters:
        cost = np.minimum(nearest[:, None], apart).sum(axis=0)
        cost[medoids] = np.iinfo(np.int64).max
        medoids.append(int(cost.argmin()))
        nearest = np.minimum(nearest, apart[:, medoids[-1]])
    while True:
        best = int(apart[:, medoids].min(axis=1).sum())
        exchanged = None
        for position in range(clusters):
            others = [*medoids[:position], *medoids[position + 1 :]]
            kept = apart[:, others].min(axis=1, initial=np.iinfo(np.int64).max // len(apart))
            cost = np.minimum(kept[:, None], apart).sum(axis=0)
            if int(cost.min()) < best:
                best, exchanged = int(cost.min()), [*others, int(cost.argmin())]
        if exchanged is None:
            return sorted(medoids)
        medoids = exchanged
