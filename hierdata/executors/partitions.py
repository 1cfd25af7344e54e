"""What runs in Spark's Python workers: rows of a partition to values, and values back to rows.

A row is a key and some bytes. The key is (value, task, piece, part): the number of the value that the bytes
belong to; for pieces of an exchange, the number of the value that they were made from and the number of the
piece; and the number of the part of the record (see ``spill``). Sorted by key, rows are in the order of
values and pieces. Nothing here needs Spark.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from zipimport import zipimporter

from hierdata.executors.base import Failure, within
from hierdata.executors.spill import Extent, read, record

Key = tuple[int, int, int, int]
Row = tuple[Key, bytes]

_PART = 1 << 18  # bytes of a row: Spark checks its memory after a number of rows, not of bytes


@dataclass(frozen=True)
class PartitionLayout:
    """How values are spread over partitions: evenly, neighbors together; with ``pieces`` they are lists."""

    values: int
    partitions: int
    pieces: bool

    def partition(self, key: Key) -> int:
        """Return the partition of a value."""
        return key[0] * self.partitions // self.values

    def inside(self, partition: int) -> range:
        """Return the numbers of the values of a partition."""
        return range(
            -(-partition * self.values // self.partitions),
            -(-(partition + 1) * self.values // self.partitions),
        )

    def load(self, numbers: Iterable[int], rows: Iterable[Row]) -> Iterator[tuple[int, Any]]:
        """Yield (number, value) for these numbers; bins without rows are empty lists."""
        groups = groupby(rows, lambda row: row[0][0])
        following = next(groups, None)
        for number in numbers:
            records = []
            if following is not None and following[0] == number:
                records = list(_records(following[1]))
                following = next(groups, None)
            if self.pieces:
                yield number, records
            else:
                (value,) = records
                yield number, value


def _records(rows: Iterable[Row]) -> Iterator[Any]:
    for _, parts in groupby(rows, lambda row: row[0][:3]):
        joined = b"".join(part for _, part in parts)
        yield from read([Extent(joined, 0, len(joined))])


def cut_value(value: Any, number: int, task: int = 0, piece: int = 0) -> Iterator[Row]:
    """Yield the rows of a value, one if it is small."""
    part = 0
    chunks = record(value)
    if sum(memoryview(chunk).nbytes for chunk in chunks) <= _PART:
        chunks = [b"".join(chunks)]
    for chunk in chunks:
        view = memoryview(chunk).cast("B")
        for start in range(0, len(view), _PART):
            yield (number, task, piece, part), bytes(view[start : start + _PART])
            part += 1


def map_value(function: Callable[[Any], Any], number: int, value: Any) -> Iterator[Row]:
    """Yield the rows of the function's result for a value: a task of ``map``."""
    return cut_value(function(value), number)


def scatter_value(
    bins: int, function: Callable[[Any], Iterable[tuple[int, Any]]], number: int, value: Any
) -> Iterator[Row]:
    """Yield the rows of the pieces that the function makes of a value: a task of ``exchange``."""
    for count, (into, piece) in enumerate(function(value)):
        within(into, bins)
        yield from cut_value(piece, into, number, count)


_unpickled: tuple[str, Any] = ("", None)


def _function(name: str, pickled: bytes) -> Any:
    """Return the function of a stage, unpickled once per worker."""
    global _unpickled
    if _unpickled[0] != name:
        _, function = pickle.loads(pickled)
        _unpickled = name, function
    return _unpickled[1]


@dataclass(frozen=True)
class PartitionStage:
    """Applies a stage's function to the values of a partition.

    An exception is not raised, since Spark would write it with its message into its logs. It goes to
    ``failures`` (an accumulator) under the number of its value.
    """

    name: str
    function: bytes
    layout: PartitionLayout
    task: Callable[[Any, int, Any], Iterator[Row]]
    failures: Any

    def __call__(self, partition: int, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield the rows of the function's results."""
        number = 0
        try:
            function = _function(self.name, self.function)
            for number, value in self.layout.load(self.layout.inside(partition), rows):
                yield from self.task(function, number, value)
        except Exception as error:  # noqa: BLE001  # whatever it is, the driver raises it
            self.failures.add({number: Failure.of(error).pickled})
            for _ in rows:  # a worker is only reused if it has read all its input
                pass
        finally:
            _forget_archives()


def _forget_archives() -> None:
    """Drop the import caches of Spark's own zip files, which a worker would reread before each task.

    Python up to 3.11 does that, and it takes longer than a small task.
    """
    for path, finder in list(sys.path_importer_cache.items()):
        if isinstance(finder, zipimporter):
            del sys.path_importer_cache[path]


class Failures:
    """How Spark merges failures: by the number of the value, so that a repeated one counts once."""

    def zero(self, value: dict[int, bytes]) -> dict[int, bytes]:
        """Return no failures."""
        return {}

    def addInPlace(self, failures: dict[int, bytes], more: dict[int, bytes]) -> dict[int, bytes]:  # noqa: N802
        """Merge two sets of failures."""
        failures.update(more)
        return failures
