"""MongoDB Extended JSON as written by mongoexport: one document per line, or an array."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, ClassVar

from hierdata.documents.document import Document, Value
from hierdata.documents.formats.base import WHOLE, Layout, Rowwise, Split
from hierdata.documents.formats.decoder import RefusedTextError, strict, unique
from hierdata.documents.formats.extended_values import LAST_ISO, spelling, unwrap_value
from hierdata.documents.formats.lines import find_extent, ranges, read_lines
from hierdata.documents.formats.objects import encode
from hierdata.documents.formats.window import read_array
from hierdata.documents.scalars import WRAPPERS
from hierdata.ground.errors import InputError, PolicyError

_HEAD = 1 << 17
"""Bytes at the beginning from which the spelling of numbers is determined."""
_WRAPPED = re.compile(r'("\$date"\s*:\s*)?\{\s*"\$number(?:Int|Long|Double)"\s*:\s*"(-?[0-9]+)')
_TIMESTAMP = re.compile(r'\{\s*"t"\s*:\s*[0-9]+\s*,\s*"i"\s*:\s*[0-9]+\s*\}')
_BARE = re.compile(r'(?<!\\)"(?!\$minKey"|\$maxKey")(?:[^"\\]|\\.)*"\s*:\s*-?[0-9]')
_WRAPPER = re.compile(
    rb'\{\s*"(?:' + b"|".join(re.escape(key.encode()) for key in sorted(WRAPPERS)) + rb')"\s*:'
)


def is_extended(stream: BinaryIO) -> bool:
    """Return whether the beginning of a JSON file has wrapped values, which are not plain objects.

    >>> from io import BytesIO
    >>> is_extended(BytesIO(b'{"age": {"$numberInt": "7"}}')), is_extended(BytesIO(b'{"a": "{ $numberInt"}'))
    (True, False)
    """
    return _WRAPPER.search(stream.read(_HEAD)) is not None


class ExtendedJson(Rowwise):
    """Extended JSON version 2, relaxed or canonical; wrappers of version 1 are read too.

    It is written in the mode that was read: canonical if the beginning of the file has numbers in wrappers
    and none without, otherwise relaxed.
    """

    name: ClassVar[str] = "extended-json"
    extension: ClassVar[str] = ".ejson"
    types_numbers: ClassVar[bool] = True

    def joins(self, layout: Layout) -> bool:
        """Return whether the file has lines: concatenated arrays are not an array."""
        return not layout.array

    def layout(self, stream: BinaryIO, records: tuple[str, ...] = ()) -> Layout:
        """Find out whether the file is an array, and how it spells numbers."""
        if records:
            raise PolicyError("mongoexport writes lines or an array: `records` has no meaning here")
        head = stream.read(_HEAD).removeprefix(BOM_UTF8).decode(errors="replace")
        return Layout(array=head.lstrip(" \t\r\n").startswith("["), canonical=_is_canonical(head))

    def read(self, stream: BinaryIO, layout: Layout) -> Iterator[Document]:
        """Yield the records (see Format.read)."""
        if layout.array:
            return read_array(stream, layout, _DECODER)
        return self.read_split(stream, layout, WHOLE)

    def splits(self, stream: BinaryIO, layout: Layout, size: int) -> tuple[Split, ...]:
        """Cut lines by bytes; an array is one part (see Format.splits)."""
        return (WHOLE,) if layout.array else ranges(stream, size)

    def read_split(self, stream: BinaryIO, layout: Layout, split: Split) -> Iterator[Document]:
        """Yield the records of a part (see Format.read_split)."""
        if layout.array:
            return self.read(stream, layout)
        return read_lines(stream, split, _DECODER)

    def extent(self, stream: BinaryIO, layout: Layout, split: Split) -> tuple[int, int] | None:
        """Return the extent of the lines; an array is not joined (see Rowwise.extent)."""
        return None if layout.array else find_extent(stream, split)

    @contextmanager
    def writer(self, stream: BinaryIO, layout: Layout) -> Iterator[Callable[[Document], None]]:
        """Write one record per line in the layout's mode, as an array if the layout says so."""
        spell = spelling(layout.canonical)
        if not layout.array:
            yield lambda document: _write_array(stream, "", _spell_document(spell, document), "\n")
            return
        before = "[\n"

        def put(document: Document) -> None:
            nonlocal before
            _write_array(stream, before, _spell_document(spell, document))
            before = ",\n"

        yield put
        _write_array(stream, "[]\n" if before == "[\n" else "\n]\n")


def _spell_document(spell: Callable[[Value], str], document: Document) -> str:
    try:
        return spell(document)
    except RefusedTextError as refused:
        message = str(refused)
    raise InputError(message)


def _write_array(stream: BinaryIO, *texts: str) -> None:
    stream.write(encode("".join(texts)))


def _is_canonical(head: str) -> bool:
    """Return whether numbers have types. Dates count too, except those that relaxed mode also wraps."""
    if _BARE.search(_TIMESTAMP.sub("", head)):
        return False
    return any(not found[1] or 0 <= int(found[2]) <= LAST_ISO for found in _WRAPPED.finditer(head))


def _members(pairs: list[tuple[str, Value]]) -> Value:
    """Return an object, or the value that it wraps if its first key begins with a dollar sign."""
    document = unique(pairs)
    return unwrap_value(document) if pairs and pairs[0][0][:1] == "$" else document


_DECODER = strict(_members)
