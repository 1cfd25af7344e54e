"""What runs in Spark's Python workers: rows of a partition to values, and values to rows again.

A row is a key and some bytes. The key is (value, task, piece, part): the number of the value that the bytes
belong to; for pieces of an exchange the number of the value that they were made of, and which of its pieces
they are; and which part of the record (see ``spill``) the bytes are. Sorted by key, rows are in the order of
values and of pieces. Nothing here needs Spark.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from zipimport import zipimporter

from hierdata.executors.failures import Failure
from hierdata.executors.spill import Extent, read, record, within

Key = tuple[int, int, int, int]
Row = tuple[Key, bytes]

_PART = 1 << 18  # bytes of a row: Spark counts rows, not bytes, before it looks at its memory


@dataclass(frozen=True)
class Layout:
    """How values are spread over partitions: evenly, neighbors together. Pieces become lists."""

    values: int
    partitions: int
    pieces: bool

    def partition(self, key: Key) -> int:
        """Where a value lies."""
        return key[0] * self.partitions // self.values

    def inside(self, partition: int) -> range:
        """The numbers of the values of a partition."""
        return range(
            -(-partition * self.values // self.partitions),
            -(-(partition + 1) * self.values // self.partitions),
        )

    def load(self, numbers: Iterable[int], rows: Iterable[Row]) -> Iterator[tuple[int, Any]]:
        """The values with these numbers, each with its number; bins without rows are empty lists."""
        found = groupby(rows, lambda row: row[0][0])
        following = next(found, None)
        for number in numbers:
            if following is not None and following[0] == number:
                made = list(_records(following[1]))
                following = next(found, None)
            else:
                made = []
            if self.pieces:
                yield number, made
            else:
                (value,) = made
                yield number, value


def _records(rows: Iterable[Row]) -> Iterator[Any]:
    for _, parts in groupby(rows, lambda row: row[0][:3]):
        joined = b"".join(part for _, part in parts)
        yield from read([Extent(joined, 0, len(joined))])


def cut(value: Any, number: int, task: int = 0, piece: int = 0) -> Iterator[Row]:
    """The rows of a value: one if it is small."""
    part = 0
    chunks = record(value)
    if sum(memoryview(chunk).nbytes for chunk in chunks) <= _PART:
        chunks = [b"".join(chunks)]
    for chunk in chunks:
        view = memoryview(chunk).cast("B")
        for start in range(0, len(view), _PART):
            yield (number, task, piece, part), bytes(view[start : start + _PART])
            part += 1


def applied(function: Callable[[Any], Any], number: int, value: Any) -> Iterator[Row]:
    """A task of ``map``."""
    return cut(function(value), number)


@dataclass(frozen=True)
class Scattered:
    """A task of ``exchange``."""

    bins: int

    def __call__(
        self, function: Callable[[Any], Iterable[tuple[int, Any]]], number: int, value: Any
    ) -> Iterator[Row]:
        """The rows of the pieces."""
        for piece, (into, made) in enumerate(function(value)):
            within(into, self.bins)
            yield from cut(made, into, number, piece)


_unpickled: tuple[str, Any] = ("", None)


def _function(name: str, pickled: bytes) -> Any:
    """The function of a stage, unpickled once a worker."""
    global _unpickled
    if _unpickled[0] != name:
        _, function = pickle.loads(pickled)
        _unpickled = name, function
    return _unpickled[1]


@dataclass(frozen=True)
class Stage:
    """A stage's function on the values of a partition.

    An exception is no result and is not raised either, since Spark would write it into its logs, with what it
    says: it goes to ``failures`` (an accumulator), under the number of its value.
    """

    name: str
    function: bytes
    layout: Layout
    task: Callable[[Any, int, Any], Iterator[Row]]
    failures: Any

    def __call__(self, partition: int, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows of what the function makes of the values."""
        number = 0
        try:
            function = _function(self.name, self.function)
            for number, value in self.layout.load(self.layout.inside(partition), rows):
                yield from self.task(function, number, value)
        except Exception as error:  # noqa: BLE001  # whatever it is, the driver raises it
            self.failures.add({number: Failure.of(error).pickled})
            for _ in rows:  # a worker that has read all that it was sent is used again
                pass
        finally:
            _forget_archives()


def _forget_archives() -> None:
    """Drop what imports remember of Spark's own zip files: a worker reads all of it again before each task.

    That is Python's part up to 3.11, and takes longer than a small task.
    """
    for path, finder in list(sys.path_importer_cache.items()):
        if isinstance(finder, zipimporter):
            del sys.path_importer_cache[path]


class Failures:
    """How Spark adds up failures: by the number of the value; made twice, it is still one."""

    def zero(self, value: dict[int, bytes]) -> dict[int, bytes]:
        """No failures."""
        return {}

    def addInPlace(self, one: dict[int, bytes], other: dict[int, bytes]) -> dict[int, bytes]:  # noqa: N802
        """Put together what two have seen."""
        one.update(other)
        return one
