"""The last step of a search in plain Python: what coincides once it is published is judged together.

Written from the rule: classes of equal form are one class, identical siblings one place. Where
a model fails in a union of classes, they are taken up one by one, the largest first, as long as all models
hold; so are the siblings of a place. Who is not taken up is gone. Until nothing changes.

Presence is not known to hold at any place below the root, however few siblings there are.
Within records it is asked of all places of a class together, once its places have been settled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Values = list[list[Any]]
"""By sensitive attribute, the values present, each with its record."""
Holds = Callable[[str, int, Values], bool]
"""Vertex type, records in the class, values: whether all models hold."""
InRecords = Callable[[str, int, int, list[Any]], bool]
"""Vertex type, attribute, records in the class, values at all places: whether presence holds."""


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


def coalesced(
    classes: Sequence[Known], holds: Holds, *, presence: bool = False, in_records: InRecords | None = None
) -> list[Known]:
    """The classes that are left, in their order; their representatives have lost what failed.

    ``presence``: even a sibling that is alone at its place may fail.
    """
    left = list(classes)
    while True:
        before = [(known, form(known.root)) for known in left]
        for shape in dict.fromkeys(own for _, own in before):
            union = [known for known, own in before if own == shape]
            union.sort(key=lambda known: -known.records)  # stable: then by their order
            kept = taken(union, lambda some: holds_at_root(some, holds))
            left = [known for known in left if known in kept or known not in union]
            size = sum(known.records for known in kept)
            settle([known.root for known in kept], size, holds, presence)
            if in_records is not None:
                settle_records([known.root for known in kept], size, in_records)
        if [(known, form(known.root)) for known in left] == before:
            return left


def taken(many: list[Any], safe: Callable[[list[Any]], bool], *, presence: bool = False) -> list[Any]:
    """All if they are safe together (one is, by itself), else one by one those that are with the former."""
    if (len(many) == 1 and not presence) or safe(many):
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


def settle(place: list[Node], records: int, holds: Holds, presence: bool) -> None:
    """Take siblings away below a place until all pools are safe, from above to below."""
    siblings = [(parent, child) for parent in place for child in parent.children]
    shapes = [form(child) for _, child in siblings]  # as they were published, before anything is taken away
    for shape in dict.fromkeys(shapes):
        pool = [pair for pair, own in zip(siblings, shapes, strict=True) if own == shape]
        kept = taken(
            pool,
            lambda some: holds(some[0][1].type, records, pooled([n for _, n in some])),
            presence=presence,
        )
        for parent, child in pool:
            if (parent, child) not in kept:
                parent.children.remove(child)
        settle([child for _, child in kept], records, holds, presence)


def settle_records(roots: list[Node], records: int, in_records: InRecords) -> None:
    """Take vertices away until presence holds over all places, type by type and attribute by attribute."""
    attributes = {node.type: len(node.values) for _, node in below(roots)}
    for kind in sorted(attributes, key=int):
        for at in range(attributes[kind]):
            own = [pair for pair in below(roots) if pair[1].type == kind]
            if in_records(kind, at, records, [value for _, node in own for value in node.values[at]]):
                continue
            kept: list[Any] = []
            for parent, node in own:
                if in_records(kind, at, records, [*kept, *node.values[at]]):
                    kept += node.values[at]
                else:
                    parent.children.remove(node)


def below(roots: list[Node]) -> list[tuple[Node, Node]]:
    """All vertices below some roots with their parents, those nearer to the roots first."""
    found: list[tuple[Node, Node]] = []
    level = roots
    while level:
        pairs = [(parent, child) for parent in level for child in parent.children]
        found += pairs
        level = [child for _, child in pairs]
    return found
