"""Records in batches: enough to go by column, few enough to stay in the processor's caches, and in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from hierdata.document import Document, Value

VALUES = 4096
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
        weight += _WEIGHED * _weight(document)
        if weight < VALUES:
            batch += islice(stream, _WEIGHED - 1)
        else:
            yield batch
            batch, weight = [], 0
    if batch:
        yield batch


def _weight(value: Value) -> int:
    """The number of values and of what holds them."""
    if isinstance(value, dict):
        return 1 + sum(map(_weight, value.values()))
    return 1 + sum(map(_weight, value)) if isinstance(value, list) else 1
