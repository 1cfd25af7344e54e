"""What a reader holds is bounded, however long a record goes on."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Iterator

import pytest

from hierdata.documents.formats import FORMATS
from hierdata.documents.formats.base import MAX_RECORD
from hierdata.ground.errors import InputError

OPEN = {"json": b'[{"a": 1},\n{"a": "', "jsonl": b'{"a": 1}\n{"a": "'}
"""A record, and the beginning of one that does not end."""


class Endless(io.RawIOBase):
    """A file that goes on for ten times what is accepted."""

    def __init__(self, begin: bytes) -> None:
        self._parts = self._all(begin)
        self.given = 0

    def _all(self, begin: bytes) -> Iterator[bytes]:
        yield begin
        for _ in range(10 * MAX_RECORD >> 16):
            yield b"x" * (1 << 16)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        part = next(self._parts, b"")
        buffer[: len(part)] = part
        self.given += len(part)
        return len(part)


@pytest.mark.parametrize("name", OPEN)
def test_a_record_without_end(name: str) -> None:
    format, source = FORMATS[name](), Endless(OPEN[name])
    stream = io.BufferedReader(source, 1 << 16)
    layout = format.layout(io.BytesIO(OPEN[name]))
    records = format.read(stream, layout)
    assert next(records) == {"a": 1}
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"^record 2: the record is longer than 64 MiB"):
            next(records)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert source.given < 2.5 * MAX_RECORD
    assert peak < 6 * MAX_RECORD
