"""Alignments of all records of a class but the last, which exchanges of one record have in common."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int32]
Members = NDArray[np.int64]

_BYTES = 64 * 2**20


class Prefixes:
    """Representatives by the records that are aligned, in their order; those used last, up to 64 MiB."""

    def __init__(self) -> None:
        self._found: OrderedDict[tuple[int, ...], tuple[Rows, Members]] = OrderedDict()
        self._bytes = 0

    def get(self, records: tuple[int, ...]) -> tuple[Rows, Members] | None:
        """Return the rows and members of a representative that is remembered."""
        found = self._found.get(records)
        if found is not None:
            self._found.move_to_end(records)
        return found

    def remember(self, records: tuple[int, ...], rows: Rows, members: Members) -> None:
        """Copy the rows and members of a representative, and forget those that were used longest ago."""
        self._found[records] = rows.copy(), members.copy()
        self._bytes += rows.nbytes + members.nbytes
        while self._bytes > _BYTES:
            _, (rows, members) = self._found.popitem(last=False)
            self._bytes -= rows.nbytes + members.nbytes
