"""What must hold of any bytes that a reader is given, and bytes to begin with: used by ``fuzz``."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from hierdata.documents.document import Document
from hierdata.documents.formats import FORMATS, WHOLE, Format, Layout
from hierdata.documents.formats.extended_json import spelling
from hierdata.documents.formats.objects import dumps_exact
from hierdata.documents.formats.source import Source
from hierdata.ground.errors import HierdataError
from tests.bytes_source import BytesSource

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
LENGTH = 8192
"""Bytes of an input at most."""
RECORDS = 500
"""Records that are looked at: of inputs that have more only the reading is tried."""
TYPED = ("extended-json", "bson")
"""Formats whose values say their types."""
SPLIT = 64
"""Bytes of a split: small, so that small inputs have several."""


def look(name: str, data: bytes) -> None:
    """Read; where that succeeds, write and read again, and read in splits.

    Only errors of hierdata may be raised, what is read again must be the same, and so must the splits
    together.
    """
    format = FORMATS[name]()
    source = BytesSource(data, f"input{format.extension}")
    try:
        layout = _layout(format, source)
        found = _read(format, source, layout)
    except HierdataError:
        return
    if len(found) == RECORDS:
        return
    spell = spelling(layout.canonical) if name in TYPED else dumps_exact
    spelled = list(map(spell, found))
    written = io.BytesIO()
    try:
        format.write(found, written, layout)
    except HierdataError:
        pass  # what a format cannot hold it may refuse
    else:
        copy = BytesSource(written.getvalue(), source.name)
        again = _read(format, copy, _layout(format, copy))
        assert list(map(spell, again)) == spelled, "what was written reads otherwise"
    with source.open() as stream:
        splits = format.splits(stream, layout, SPLIT)
    if splits != (WHOLE,):
        parts: list[str] = []
        for split in splits:
            with source.open() as stream:
                parts += map(spell, format.read_split(stream, layout, split))
        assert parts == spelled, "the splits are not the file"


def _layout(format: Format, source: Source) -> Layout:
    with source.open() as stream:
        return format.layout(stream)


def _read(format: Format, source: Source, layout: Layout) -> list[Document]:
    with source.open() as stream:
        return list(islice(format.read(stream, layout), RECORDS))


def seeds(name: str) -> Iterator[bytes]:
    """Small bundled files of a format, broken ones too, and the first lines of large ones."""
    extension = FORMATS[name]().extension
    for path in sorted(FIXTURES.rglob("*")):
        if path.is_file() and path.name.endswith((extension, f"{extension}.gz")):
            data = path.read_bytes()
            yield data if len(data) <= LENGTH else b"".join(data[:LENGTH].splitlines(keepends=True)[:-1])
