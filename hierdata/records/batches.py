"""Records in batches: enough to go by column, few enough to stay in the processor's caches, and in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import cast

from hierdata.document import Document, Siblings, Value

VALUES = 1024
"""About so many values make a batch."""
_WEIGHED = 8
"""One record of so many is weighed: that costs next to nothing, and records of one collection are alike."""


def batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Records in lists of about so many values each, at least one record.

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
    """The number of values and of what holds them."""
    weight = 1
    waiting: list[Value] = [record]
    for whole in waiting:
        parts = whole.values() if isinstance(whole, dict) else cast("list[Value]", whole)
        weight += len(parts)
        waiting += [part for part in parts if part.__class__ in _CONTAINERS]
    return weight
