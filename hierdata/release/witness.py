"""The witness of a release: which record and vertex of the original every published one shows (DECISION 36).

It is for the steward alone: it links the release to people. ``verify --original`` follows the links and
checks each; a false witness makes a true release fail, and no witness makes a false release pass.

The file begins with a head: what it is, the digest of the published files, and the number of records of the
original. Then follow numbers of 32 bits, for each published record, or each member of a published class, in
the order of publication: the record's place in the original (from 0, two numbers, the lower half first), and
for each published vertex its place among the vertices of that record, both level by level.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from hierdata.ground.errors import VerificationError, file_error
from hierdata.release.report.parts import PublishedFile

WITNESS_FILE = Path("steward") / "witness.bin"
ROOT_WORDS = 2
"""Numbers of a record's place, before those of its vertices."""

_KIND = b"hierdata witness 1\n"
_HEAD = struct.Struct(f"<{len(_KIND)}s32s32sQ")
_WORD = np.dtype("<u4")


def spell_links(ordinal: int, places: Sequence[int]) -> bytes:
    """Return the entry of one record: its place in the original, and those of its published vertices.

    >>> spell_links(1, [0, 3]).hex()
    '01000000000000000000000003000000'
    """
    return np.array([ordinal & 0xFFFFFFFF, ordinal >> 32, *places], _WORD).tobytes()


@contextmanager
def write_witness(file: Path) -> Iterator[BinaryIO]:
    """Open a new witness, readable by this user alone, for its entries; ``seal_witness`` completes it.

    Raises TargetError if it cannot be written.
    """
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as stream:
            stream.write(bytes(_HEAD.size))
            yield stream
    except OSError as error:
        raise file_error(error, f"cannot write the witness ({error.strerror})") from None


def seal_witness(folder: Path, files: Sequence[PublishedFile], content: bytes, records: int) -> None:
    """Bind the witness of a release folder to its published ``files`` and to the original.

    ``content`` is the digest of the original, ``records`` the number of its records. Do nothing where the
    recoding does not say which vertices it shows, so that there is no witness. Raises TargetError if it
    cannot be written.
    """
    file = folder / WITNESS_FILE
    if not file.exists():
        return
    try:
        with file.open("r+b") as stream:
            stream.write(_HEAD.pack(_KIND, digest_files(files), content, records))
    except OSError as error:
        raise file_error(error, f"cannot write the witness ({error.strerror})") from None


def digest_files(files: Sequence[PublishedFile]) -> bytes:
    """Return the digest of published files, by which what is kept apart from them belongs to them."""
    listed = sorted((file.name, file.sha256) for file in files)
    return hashlib.sha256(json.dumps(listed).encode()).digest()


@dataclass(frozen=True)
class Witness:
    """A witness that was opened; nothing in it is trusted.

    ``content`` and ``records`` are those of the original that the release was made from, ``words`` the
    number of 32-bit numbers after the head.
    """

    file: Path
    content: bytes
    records: int
    words: int

    def read(self, first: int, count: int) -> NDArray[np.int64]:
        """Return ``count`` numbers from the ``first`` on, fewer at the end. Raises TargetError."""
        try:
            with self.file.open("rb") as stream:
                stream.seek(_HEAD.size + first * _WORD.itemsize)
                raw = stream.read(count * _WORD.itemsize)
        except OSError as error:
            raise file_error(error, f"the witness cannot be read ({error.strerror})") from None
        return np.frombuffer(raw[: len(raw) // _WORD.itemsize * _WORD.itemsize], _WORD).astype(np.int64)


def read_witness(file: Path, files: Sequence[PublishedFile] | None) -> Witness:
    """Open the witness of a release with these published ``files``; None: they have no names (a store).

    Raises TargetError for a file that is missing or cannot be read, VerificationError for one that is not a
    witness, that others may read or change, or that belongs to another release.
    """
    try:
        status = file.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise VerificationError(
                "the witness must be a file of its own, not a link or a folder", path=str(file)
            )
        if stat.S_IMODE(status.st_mode) & 0o077:
            raise VerificationError(
                "the witness links records to people, and others may read or change it: close it with "
                "chmod 600, and find out who has read it",
                path=str(file),
            )
        with file.open("rb") as stream:
            head = stream.read(_HEAD.size)
    except OSError as error:
        raise file_error(error, f"the witness cannot be read ({error.strerror})", path=str(file)) from None
    if len(head) < _HEAD.size or not head.startswith(_KIND):
        raise VerificationError("this is not a witness, or it was changed", path=str(file))
    _, bound, content, records = _HEAD.unpack(head)
    if files is not None and bound != digest_files(files):
        raise VerificationError(
            "the witness is of another release, or the published files were changed", path=str(file)
        )
    return Witness(file.absolute(), content, records, (status.st_size - _HEAD.size) // _WORD.itemsize)


@dataclass(frozen=True)
class LinkSpelling:
    """Spells the vertices of a block's records; ``ordinals`` are the records' places by their root."""

    ordinals: Mapping[int, int]

    @classmethod
    def of(cls, roots: NDArray[np.int64], ordinals: NDArray[np.int64]) -> LinkSpelling:
        """Return the spelling for records with these roots and places in the original."""
        return cls(dict(zip(roots.tolist(), ordinals.tolist(), strict=True)))

    def spell(self, shown: Sequence[Sequence[int]]) -> bytes:
        """Return the entries of a document, which shows these vertices of each of its records."""
        return b"".join(
            spell_links(self.ordinals[vertices[0]], [vertex - vertices[0] for vertex in vertices])
            for vertices in shown
        )
