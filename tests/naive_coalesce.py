"""The last step of a search in plain Python: what coincides once it is published is judged together.

Written from the rule (DECISIONS 24): classes of equal form are one class, identical siblings one place. Where
a model fails in a union of classes, they are taken up one by one, the largest first, as long as all models
hold; so are the siblings of a place. Who is not taken up is gone. Until nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Values = list[list[Any]]
"""By sensitive attribute, the values present."""
Holds = Callable[[str, int, Values], bool]
"""Vertex type, records in the class, values: whether all models hold."""


@dataclass(eq=False)
class Node:
    """A vertex of a class representative; ``name`` is how the test knows it."""

    name: int
    type: str
    labels: tuple[Any, ...]
    values: Values
    children: list[Node] = field(default_factory=list)


@dataclass(eq=False)
class Known:
    """A class: how many records it has, and its representative."""

    records: int
    root: Node


def form(node: Node) -> Any:
    return (node.type, tuple(map(str, node.labels)), tuple(sorted(form(child) for child in node.children)))


def coalesced(classes: Sequence[Known], holds: Holds) -> list[Known]:
    """The classes that are left, in their order; their representatives have lost what failed."""
    left = list(classes)
    while True:
        before = [(known, form(known.root)) for known in left]
        for shape in dict.fromkeys(own for _, own in before):
            union = [known for known, own in before if own == shape]
            union.sort(key=lambda known: -known.records)  # stable: then by their order
            kept = taken(union, lambda some: holds_at_root(some, holds))
            left = [known for known in left if known in kept or known not in union]
            settle([known.root for known in kept], sum(known.records for known in kept), holds)
        if [(known, form(known.root)) for known in left] == before:
            return left


def taken(many: list[Any], safe: Callable[[list[Any]], bool]) -> list[Any]:
    """All if they are safe together (one is, by itself), else one by one those that are with the former."""
    if len(many) == 1 or safe(many):
        return many
    kept: list[Any] = []
    for one in many:
        if safe([*kept, one]):
            kept.append(one)
    return kept


def holds_at_root(classes: list[Known], holds: Holds) -> bool:
    roots = [known.root for known in classes]
    return holds(roots[0].type, sum(known.records for known in classes), pooled(roots))


def pooled(nodes: list[Node]) -> Values:
    return [[value for own in many for value in own] for many in zip(*(n.values for n in nodes), strict=True)]


def settle(place: list[Node], records: int, holds: Holds) -> None:
    """Take siblings away below a place until all pools are safe, from above to below."""
    siblings = [(parent, child) for parent in place for child in parent.children]
    shapes = [form(child) for _, child in siblings]  # as they were published, before anything is taken away
    for shape in dict.fromkeys(shapes):
        pool = [pair for pair, own in zip(siblings, shapes, strict=True) if own == shape]
        kept = taken(pool, lambda some: holds(some[0][1].type, records, pooled([n for _, n in some])))
        for parent, child in pool:
            if (parent, child) not in kept:
                parent.children.remove(child)
        settle([child for _, child in kept], records, holds)
