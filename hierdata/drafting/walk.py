"""The values of a batch of documents by path, each with its record."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import repeat
from typing import TypeAlias, cast

from hierdata.documents.document import Document, Scalar, Value
from hierdata.records.by_column import columns
from hierdata.records.survey import Keys

Owners: TypeAlias = Sequence[int]
"""The index of the record in its batch, for each value."""


Leaf: TypeAlias = tuple[Keys, Sequence[Scalar], Owners]


def walk(documents: Sequence[Document], skipped: Collection[Keys]) -> Iterator[Leaf]:
    """Return every path with its single values and their owners, except ``skipped`` paths.

    A path may occur several times.

    >>> list(walk([{"a": 1, "b": [{"c": 2}, {"c": 3}]}, {"a": 4}], ()))
    [(('a',), [1, 4], range(0, 2)), (('b', 'c'), [2, 3], [0, 0])]
    """
    return _objects((), documents, range(len(documents)), skipped)


def _objects(
    keys: Keys, objects: Sequence[Document], owners: Owners, skipped: Collection[Keys]
) -> Iterator[Leaf]:
    for key, column, places in columns(objects):
        path = (*keys, key)
        if path not in skipped:
            own = owners if len(places) == len(objects) else [owners[place] for place in places]
            yield from _column(path, column, own, skipped)


def _column(keys: Keys, column: Sequence[Value], owners: Owners, skipped: Collection[Keys]) -> Iterator[Leaf]:
    kinds = set(map(type, column))
    if any(issubclass(kind, list) for kind in kinds):
        arrays, column, owners = _separate_kind(column, owners, list)
        items = [pair for items, owner in arrays for pair in zip(cast("list[Value]", items), repeat(owner))]
        items = [(item, owner) for item, owner in items if not isinstance(item, list)]
        column = [*column, *(item for item, _ in items)]
        owners = [*owners, *(owner for _, owner in items)]
        kinds = set(map(type, column))
    if dict in kinds:
        below, column, owners = _separate_kind(column, owners, dict)
        objects = cast("list[Document]", [value for value, _ in below])
        yield from _objects(keys, objects, [owner for _, owner in below], skipped)
    if column:
        yield keys, cast("Sequence[Scalar]", column), owners


def _separate_kind(
    column: Sequence[Value], owners: Owners, kind: type
) -> tuple[list[tuple[Value, int]], list[Value], list[int]]:
    """Return the values of a kind with their owners, and the others."""
    pairs = list(zip(column, owners, strict=True))
    others = [pair for pair in pairs if not isinstance(pair[0], kind)]
    return (
        [pair for pair in pairs if isinstance(pair[0], kind)],
        [value for value, _ in others],
        [owner for _, owner in others],
    )
