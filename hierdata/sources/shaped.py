"""Parts of a collection whose documents are shaped as they are read."""

from __future__ import annotations

import os
import pickle
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hierdata.documents.document import Document
from hierdata.ground.private_folder import explain_full_disk
from hierdata.records.shape.shaping import ShapeTally, Shaping
from hierdata.sources.splits import InputSplit

_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True)
class ShapedSplit(InputSplit):
    """A part of a collection, shaped."""

    split: InputSplit
    shaping: Shaping

    def documents(self) -> Iterator[Document]:
        """Return the shaped documents (see InputSplit.documents)."""
        return self.tally_documents(ShapeTally())

    def tally_documents(self, tally: ShapeTally) -> Iterator[Document]:
        """Return the shaped documents (see InputSplit.tally_documents)."""
        return self.shaping.documents(self.split.documents(), tally)


@dataclass(frozen=True)
class SpilledSplit(InputSplit):
    """Documents in a private file, one for each individual."""

    path: Path

    def documents(self) -> Iterator[Document]:
        """Read the documents (see InputSplit.documents)."""
        return map(pickle.loads, self._read())  # our own file, of mode 0600

    def _read(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            while head := file.read(_LENGTH.size):
                yield file.read(_LENGTH.unpack(head)[0])


def spill_split(pickled: Iterable[bytes], path: Path) -> SpilledSplit:
    """Write pickled documents to a new private file. Raises TargetError where the disk is full."""
    path.unlink(missing_ok=True)  # a task may be repeated
    with explain_full_disk():
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(number, "wb") as file:
            for document in pickled:
                file.write(_LENGTH.pack(len(document)))
                file.write(document)
    return SpilledSplit(path)
