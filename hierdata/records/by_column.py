"""Objects by column: all values of one key together, so that they are processed in compiled code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from operator import itemgetter
from typing import cast

from hierdata.documents.document import Document, Siblings, Value

VALUES = 1024
"""Approximate number of values per batch."""
_WEIGHED = 8
"""One record in this many is weighed, which is cheap and enough, since records of a collection are alike."""


def batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Yield lists of records with about ``VALUES`` values each, and at least one record.

    >>> [len(batch) for batch in batches([{"a": [0] * 1000}] * 2 + [{"a": 0}] * 500)]
    [1, 1, 500]
    """
    stream = iter(documents)
    batch: list[Document] = []
    weight = 0
    for document in stream:
        batch.append(document)
        own = _weight(document)
        alike = min(_WEIGHED - 1, max(0, VALUES - weight - own) // own)
        batch += islice(stream, alike)
        weight += (1 + alike) * own
        if weight + own > VALUES:
            yield batch
            batch, weight = [], 0
    if batch:
        yield batch


_CONTAINERS = (dict, list, Siblings)


def _weight(record: Document) -> int:
    """Return the number of values and containers in a record."""
    weight = 1
    waiting: list[Value] = [record]
    for whole in waiting:
        parts = whole.values() if isinstance(whole, dict) else cast("list[Value]", whole)
        weight += len(parts)
        waiting += [part for part in parts if part.__class__ in _CONTAINERS]
    return weight


def columns(objects: Sequence[Document]) -> Iterator[tuple[str, Sequence[Value], Sequence[int]]]:
    """Yield each key in order of first appearance, with its values and the positions of objects that have it.

    >>> list(columns([{"a": 1, "b": 2}, {"b": 3}]))
    [('a', [1], [0]), ('b', [2, 3], range(0, 2))]
    """
    keys = list(objects[0]) if objects else []
    places = range(len(objects))
    if len(keys) > 1 and set(map(len, objects)) == {len(keys)}:
        try:
            rows = list(map(itemgetter(*keys), objects))
        except KeyError:
            pass  # the same number of keys, but different ones
        else:
            for key, column in zip(keys, zip(*rows, strict=True), strict=True):
                yield key, column, places
            return
    for key in dict.fromkeys(chain.from_iterable(objects)):
        try:
            whole = list(map(itemgetter(key), objects))
        except KeyError:
            pass  # some objects do not have it
        else:
            yield key, whole, places
            continue
        there = [place for place in places if key in objects[place]]
        yield key, [objects[place][key] for place in there], there
