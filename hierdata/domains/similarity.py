"""Semantic distance of values in a taxonomy of any shape, and which values are within a bound (LE)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import count
from math import floor

NodePath = Sequence[int]
"""The nodes of a taxonomy from the root down to a value (``SensitiveDomain.paths``)."""


def distance(path: NodePath, other: NodePath) -> Fraction:
    """Return half the number of edges between two values: ((h1 - hc) + (h2 - hc)) / 2 by depths.

    hc is the depth of their deepest common node. The distance of a value to itself is 0, that of siblings is
    1 at any depth; a value may be an inner node. LE definitions 2 and 4 with errata LE-1 and LE-7: the paper
    calls this number similarity, although it grows with difference, and prints it with the wrong sign.

    >>> distance((0, 1, 2), (0, 1, 3)), distance((0, 1, 2), (0, 4))
    (Fraction(1, 1), Fraction(3, 2))
    """
    return Fraction(_edges(path, other), 2)


def difference_matrix(paths: Sequence[NodePath]) -> tuple[tuple[Fraction, ...], ...]:
    """Return the difference matrix of a class: the distances between its q values, q x q (LE definition 5).

    ``paths`` has one entry for each record of the class. The matrix is symmetric with zeros on the diagonal;
    distances are those of erratum LE-7.

    >>> [list(map(int, row)) for row in difference_matrix([(0, 1, 3), (0, 1, 4), (0, 2, 5)])]
    [[0, 1, 2], [1, 0, 2], [2, 2, 0]]
    """
    return tuple(tuple(distance(path, other) for other in paths) for path in paths)


def diversity_degree(matrix: Sequence[Sequence[Fraction]]) -> Fraction:
    """Return the diversity degree of a class from its difference matrix (LE definition 6, formula 9).

    The sum above the diagonal, divided by q: it grows with q, so compare it at equal class sizes only
    (erratum LE-8). Raises ValueError for fewer than two values, for which it is not defined.

    >>> diversity_degree(difference_matrix([(0, 1, 3), (0, 1, 4), (0, 2, 5)]))
    Fraction(5, 3)
    """
    if len(matrix) < 2:
        raise ValueError("the diversity degree is defined from two values on")
    above = (sum(row[number + 1 :], Fraction(0)) for number, row in enumerate(matrix))
    return sum(above, Fraction(0)) / len(matrix)


def components(paths: Sequence[NodePath], e: Fraction) -> tuple[int, ...]:
    """Return the component of each value in the graph "distance <= e", numbered in order of occurrence.

    If the relation is transitive, these are the buckets of LE section IV, otherwise only an approximation
    (erratum LE-2): values of different components are always more than e apart, but values of one component
    may be so too. O(values x depth): at each node, the value nearest to it is joined with all values in its
    reach; if two values are within e through their deepest common node, both are within e of that value.

    >>> components([(0, 1, 2), (0, 1, 3), (0, 4, 5)], Fraction(1))
    (0, 0, 1)
    """
    most = floor(2 * e)
    nearest: dict[int, int] = {}
    for code, path in enumerate(paths):
        for node in path:
            if node not in nearest or len(path) < len(paths[nearest[node]]):
                nearest[node] = code
    joined = list(range(len(paths)))
    for code, path in enumerate(paths):
        for depth, node in enumerate(path, start=1):
            if len(path) + len(paths[nearest[node]]) - 2 * depth <= most:
                joined[_root(joined, code)] = _root(joined, nearest[node])
    numbers: dict[int, int] = {}
    return tuple(numbers.setdefault(_root(joined, code), len(numbers)) for code in range(len(paths)))


def is_transitive(paths: Sequence[NodePath], e: Fraction) -> bool:
    """Return whether "distance <= e" is an equivalence of these values: components are buckets (LE-2).

    At uniform depth it always is. O(values x depth): a component is a bucket if its two farthest values are
    at most e apart, and in a tree the value farthest from any value is one end of such a pair.

    >>> ragged = [(0, 1, 2), (0, 3), (0, 4, 5)]
    >>> is_transitive(ragged, Fraction(3, 2)), is_transitive(ragged, Fraction(1))
    (False, True)
    """
    members: dict[int, list[NodePath]] = {}
    for path, component in zip(paths, components(paths, e), strict=True):
        members.setdefault(component, []).append(path)
    return all(_diameter(inside) <= 2 * e for inside in members.values())


def least_distance(paths: Sequence[NodePath]) -> Fraction | None:
    """Return the distance of the two closest values, 0 if one occurs twice; None for fewer than two values.

    O(values x depth): at their deepest common node these two are the two values nearest to it.

    >>> least_distance([(0, 1, 2), (0, 1, 3), (0, 4, 5)])
    Fraction(1, 1)
    """
    shortest: dict[int, int] = {}
    least: int | None = None
    for path in paths:
        for depth, node in enumerate(path, start=1):
            below = len(path) - depth
            other = shortest.get(node)
            if other is None:
                shortest[node] = below
                continue
            least = other + below if least is None else min(least, other + below)
            shortest[node] = min(other, below)
    return None if least is None else Fraction(least, 2)


def _edges(path: NodePath, other: NodePath) -> int:
    common = next((depth for depth, a, b in zip(count(), path, other) if a != b), min(len(path), len(other)))
    return len(path) + len(other) - 2 * common


def _diameter(paths: Sequence[NodePath]) -> int:
    end = max(paths, key=lambda path: _edges(paths[0], path))
    return max(_edges(end, path) for path in paths)


def _root(joined: list[int], code: int) -> int:
    while joined[code] != code:
        joined[code] = joined[joined[code]]
        code = joined[code]
    return code
