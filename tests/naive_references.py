"""Dangling references by brute force, on published documents alone: written from the definition.

Documents are plain JSON. A reference that leads to no published identity is dropped wherever a reader cannot
tell its place in a record from that place in others of the class.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any

Tree = dict[str, Any]
Names = tuple[str, ...]


def values_at(tree: Any, names: Names) -> Iterator[Any]:
    """Every value at a path, through all arrays."""
    if isinstance(tree, list):
        for item in tree:
            yield from values_at(item, names)
    elif not names:
        if tree is not None:
            yield tree
    elif isinstance(tree, dict) and names[0] in tree:
        yield from values_at(tree[names[0]], names[1:])


def form(tree: Any, hidden: Collection[str]) -> Any:
    """All that is compared of a vertex, whatever the order of siblings; ``hidden`` are the other fields."""
    if isinstance(tree, list):
        return tuple(sorted(map(repr, (form(item, hidden) for item in tree))))
    if not isinstance(tree, dict):
        return tree
    return tuple(sorted((key, repr(form(inner, hidden))) for key, inner in tree.items() if key not in hidden))


def places(documents: list[Tree], hidden: Collection[str]) -> Iterator[tuple[Names, list[Tree]]]:
    """The vertices of every place, with its path: those that no reader can tell apart."""
    pools: dict[Any, list[Tree]] = defaultdict(list)
    for document in documents:
        pools[form(document, hidden)].append(document)
    left: list[tuple[Names, list[Tree]]] = [((), pool) for pool in pools.values()]
    while left:
        names, pool = left.pop()
        yield names, pool
        below: dict[Any, list[Tree]] = defaultdict(list)
        for vertex in pool:
            for key, inner in vertex.items():
                for child in inner if isinstance(inner, list) else ():
                    if isinstance(child, dict):
                        below[key, form(child, hidden)].append(child)
        left += [((*names, key), children) for (key, _), children in below.items()]


def without_dangling(
    documents: list[Tree], fields: Mapping[Names, Collection[Names]], hidden: Collection[str]
) -> list[Tree]:
    """The documents without dangling references; ``fields`` are by identity the references to it."""
    left = copy.deepcopy(documents)
    for identity, references in fields.items():
        known = {value for document in documents for value in values_at(document, identity)}
        for names, pool in places(left, hidden):
            for *above, last in references:
                if tuple(above) != names:
                    continue
                if any(value not in known for vertex in pool for value in values_at(vertex, (last,))):
                    for vertex in pool:
                        vertex.pop(last, None)
    return left


def plain(tree: Any) -> Any:
    """A document without the order of siblings, what is empty or missing, and numbers of groups."""
    if isinstance(tree, list):
        return sorted((plain(item) for item in tree if item is not None), key=repr)
    if not isinstance(tree, dict):
        return tree
    return {
        key: plain(inner)
        for key, inner in sorted(tree.items())
        if key != "group" and inner is not None and inner != []
    }
