"""The formulas of LE on one class of values, as plain as possible; trees map each node to its parent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

Parents = Mapping[str, str | None]


def path_up(parents: Parents, node: str) -> list[str]:
    """Return a node and all above it, the root last."""
    above = parents[node]
    return [node] if above is None else [node, *path_up(parents, above)]


def distance(parents: Parents, a: str, b: str) -> Fraction:
    """Return the distance of two values: definition 2, and definition 4 with its sign corrected (LE-7)."""
    level_a, level_b = len(path_up(parents, a)), len(path_up(parents, b))
    above = path_up(parents, b)
    common = next(len(path_up(parents, node)) for node in path_up(parents, a) if node in above)
    return Fraction((level_a - common) + (level_b - common), 2)


def is_l_e_diverse(parents: Parents, values: Sequence[str], l: int, e: Fraction) -> bool:  # noqa: E741
    """Return whether a class satisfies definition 3: l records, any two more than e apart (LE-1)."""
    return len(values) >= l and all(distance(parents, a, b) > e for a, b in combinations(values, 2))


def find_buckets(parents: Parents, values: Sequence[str], e: Fraction) -> list[list[int]]:
    """Return the positions of the values of each bucket of algorithm 1, step 1: at most e apart.

    For trees of uniform depth, where "at most e apart" is transitive (LE-2).
    """
    buckets: list[list[int]] = []
    for at, value in enumerate(values):
        near = [own for own in buckets if distance(parents, values[own[0]], value) <= e]
        if near:
            near[0].append(at)
        else:
            buckets.append([at])
    return buckets


def lose(values: Sequence[str], true: str, *, true_point_only: bool = False) -> Fraction:
    """Return IL of a tuple by formula 5: over all candidate points, or over the true one as in the example.

    >>> lose(["a", "b", "c"], "a"), lose(["a", "b", "c"], "a", true_point_only=True)
    (Fraction(2, 3), Fraction(4, 9))
    """
    points = {true} if true_point_only else set(values)
    shares = {point: Fraction(values.count(point), len(values)) for point in points}
    return sum(((share - (point == true)) ** 2 for point, share in shares.items()), Fraction(0))


def diversity_degree(parents: Parents, values: Sequence[str]) -> Fraction:
    """Return DOD of formula 9: the sum over all pairs divided by the number of values (LE-8)."""
    return _sum_pairs(parents, values) / len(values)


def mean_pair_distance(parents: Parents, values: Sequence[str]) -> Fraction:
    """Return the sum over all pairs divided by their number."""
    return _sum_pairs(parents, values) / Fraction(len(values) * (len(values) - 1), 2)


def _sum_pairs(parents: Parents, values: Sequence[str]) -> Fraction:
    return sum((distance(parents, a, b) for a, b in combinations(values, 2)), Fraction(0))


def nest(parents: Parents, node: str) -> dict[str, Any]:
    """Return the tree below a node, nested, as a policy states a taxonomy."""
    return {child: nest(parents, child) for child, above in parents.items() if above == node}
