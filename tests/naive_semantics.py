"""The slow, obvious twin of what is similar: walks up trees, all pairs, intervals as the papers draw them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)
Number = int | Fraction

# Trees (LE)


def way_up(parent: Mapping[Node, Node | None], node: Node) -> list[Node]:
    """The node and all above it."""
    above = parent[node]
    return [node] if above is None else [node, *way_up(parent, above)]


def distance(parent: Mapping[Node, Node | None], a: Node, b: Node) -> Fraction:
    """Half the path: steps up from a to the first node that is also above b, and down from there."""
    up, down = way_up(parent, a), way_up(parent, b)
    meeting = next(node for node in up if node in down)
    return Fraction(up.index(meeting) + down.index(meeting), 2)


def buckets(parent: Mapping[Node, Node | None], values: Sequence[Node], e: Fraction) -> list[set[Node]]:
    """Join what is at most e apart until nothing changes."""
    found = [{value} for value in dict.fromkeys(values)]
    while True:
        near = next(
            (
                (one, two)
                for one, two in combinations(found, 2)
                if any(distance(parent, a, b) <= e for a in one for b in two)
            ),
            None,
        )
        if near is None:
            return found
        found.remove(near[1])
        near[0].update(near[1])


def is_transitive(parent: Mapping[Node, Node | None], values: Sequence[Node], e: Fraction) -> bool:
    """Whenever a is near b and b near c, a is near c."""

    def near(a: Node, b: Node) -> bool:
        return distance(parent, a, b) <= e

    return all(near(a, c) for a in values for b in values if near(a, b) for c in values if near(b, c))


def l_e(
    parent: Mapping[Node, Node | None], records: int, values: Sequence[Node], least: int, e: Fraction
) -> bool:
    """At least l records and values, every two values more than e apart, equal ones included."""
    if not values:
        return True
    apart = all(distance(parent, a, b) > e for a, b in combinations(values, 2))
    return apart and len(values) >= least and records >= least


def l_e_with_repeats(
    parent: Mapping[Node, Node | None], records: int, values: Sequence[Node], least: int, e: Fraction
) -> bool:
    """Different values more than e apart, at least l of them, none with a share above 1/l."""
    if not values:
        return True
    apart = all(distance(parent, a, b) > e for a, b in combinations(set(values), 2))
    shares = [Fraction(values.count(value), len(values)) for value in values]
    many = len(set(values)) >= least and records >= least
    return apart and many and all(share <= Fraction(1, least) for share in shares)


# Numbers (DL)


def similar(v: Number, u: Number, delta: Fraction) -> bool:
    """Whether two closed intervals [v - delta, v + delta] overlap."""
    return max(v - delta, u - delta) <= min(v + delta, u + delta)


def similar_to_each(values: Sequence[Number], delta: Fraction) -> dict[Number, int]:
    """n(v): the tuples similar to v, itself included."""
    return {v: sum(similar(v, u, delta) for u in values) for v in values}


def delta_l(records: int, values: Sequence[Number], delta: Fraction, least: Fraction) -> bool:
    """For every value at most 1/l of the tuples is similar to it."""
    if not values:
        return True
    return records >= least and all(
        Fraction(n, len(values)) <= 1 / least for n in similar_to_each(values, delta).values()
    )


def within_epsilon(values: Sequence[Number], epsilon: Fraction, relative: bool = False) -> dict[Number, int]:
    """n(v): the tuples in the closed interval around v."""
    return {v: sum(abs(u - v) <= (epsilon * abs(v) if relative else epsilon) for u in values) for v in values}


def epsilon_m(
    records: int, values: Sequence[Number], epsilon: Fraction, least: Fraction, relative: bool = False
) -> bool:
    """Around every value lies at most 1/m of the tuples."""
    if not values:
        return True
    return records >= least and all(
        Fraction(n, len(values)) <= 1 / least for n in within_epsilon(values, epsilon, relative).values()
    )


def fullest_window(values: Sequence[Number], width: Fraction) -> int:
    """A fullest closed window can be moved until it begins at a value."""
    return max((sum(v <= u <= v + width for u in values) for v in values), default=0)
