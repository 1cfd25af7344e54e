"""A source for tests that have the bytes of a file."""

from __future__ import annotations

import io
from typing import BinaryIO, cast

from hierdata.documents.formats import source


class BytesSource(source.Source):
    """Bytes in memory, with a name."""

    def __init__(self, data: bytes, name: str) -> None:
        self._data = data
        self.name = name

    def open(self) -> BinaryIO:
        """Open the bytes (see Source)."""
        return source._plain(io.BufferedReader(cast("io.RawIOBase", io.BytesIO(self._data))))
