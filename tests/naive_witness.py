"""The witness by brute force, for small releases in JSON: written from the definition, without the engine.

Published records are compared with plain input records. ``covers`` says what a label of each field covers.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Tree = dict[str, Any]
HEAD = 19 + 32 + 32 + 8


@dataclass(frozen=True)
class Shape:
    """The fields of one vertex type, and the types below it, in the order of the policy."""

    covers: Mapping[str, Callable[[Any, Any], bool]] = field(default_factory=dict)
    sensitive: tuple[str, ...] = ()
    pseudonyms: tuple[str, ...] = ()
    below: Mapping[str, Shape] = field(default_factory=dict)


def level_by_level(record: Tree, shape: Shape) -> list[tuple[Tree, Shape, int]]:
    """All vertices of a record, each with its parent's number."""
    found = [(record, shape, -1)]
    for number, (vertex, own, _) in enumerate(found):
        for key, inner in own.below.items():
            found += [(child, inner, number) for child in vertex.get(key, ())]
    return found


def words(file: Path) -> list[int]:
    raw = file.read_bytes()[HEAD:]
    return [number for (number,) in struct.iter_unpack("<I", raw)]


def entries(
    shown: Sequence[tuple[Tree, int]], shape: Shape, file: Path
) -> Iterator[tuple[Tree, int, list[int]]]:
    """Each published tree with one of its members: its number in the input, and the places of its vertices.

    ``shown`` are trees, each with the number of records that it stands for.
    """
    left = words(file)
    for tree, members in shown:
        count = len(level_by_level(tree, shape))
        for _ in range(members):
            low, high, *places = left[: count + 2]
            del left[: count + 2]
            yield tree, low + (high << 32), places
    assert not left


def is_true(  # noqa: C901  # the definition, in one piece
    shown: Sequence[tuple[Tree, int]],
    originals: Sequence[Tree],
    shape: Shape,
    file: Path,
    values: Mapping[str, Mapping[int, Counter[Any]]] | None = None,
) -> bool:
    """Whether a release says nothing that is not so.

    ``values`` are those of the groups, by field and group, where a release has them apart. A list at a
    sensitive field of a published tree holds the values of all its members.
    """
    taken: set[tuple[int, int]] = set()
    pairs: set[tuple[str, Any, Any]] = set()
    pooled: dict[tuple[Any, ...], Counter[Any]] = {}
    stated: dict[tuple[Any, ...], Counter[Any]] = {}
    for tree, number, places in entries(shown, shape, file):
        if number >= len(originals):
            return False
        vertices = level_by_level(tree, shape)
        own = level_by_level(originals[number], shape)
        for at, ((vertex, kind, parent), place) in enumerate(zip(vertices, places, strict=True)):
            if place >= len(own) or (number, place) in taken:
                return False
            taken.add((number, place))
            original, own_kind, own_parent = own[place]
            if own_kind is not kind or own_parent != (places[parent] if parent >= 0 else -1):
                return False
            if not all(covers(vertex.get(key), original.get(key)) for key, covers in kind.covers.items()):
                return False
            for key in kind.pseudonyms:
                pairs.add((key, original.get(key), vertex.get(key)))
            for key in kind.sensitive:
                value = original.get(key)
                if values is not None:
                    pooled.setdefault((key, vertex["group"]), Counter())[value] += 1
                elif isinstance(vertex.get(key), list) or "records" in tree:
                    place_of = (id(tree), at, key)
                    pooled.setdefault(place_of, Counter())
                    stated[place_of] = Counter(vertex.get(key) or ())
                    if value is not None:
                        pooled[place_of][value] += 1
                elif vertex.get(key) != value or type(vertex.get(key)) is not type(value):
                    return False
    if values is not None:
        stated = {(key, group): own for key, groups in values.items() for group, own in groups.items()}
    if pooled != stated:
        return False
    forth: dict[tuple[str, Any], set[Any]] = {}
    back: dict[tuple[str, Any], set[Any]] = {}
    for key, value, token in pairs:
        forth.setdefault((key, value), set()).add(token)
        back.setdefault((key, token), set()).add(value)
    return all(len(own) == 1 for own in (*forth.values(), *back.values()))
