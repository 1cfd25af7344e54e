"""JSON: an array of records, at the top or at a path in a document; read through a window."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO, ClassVar

from hierdata.documents.document import Document
from hierdata.documents.formats.base import Format, Layout
from hierdata.documents.formats.objects import dumps_exact, encode
from hierdata.documents.formats.window import Window, read_array
from hierdata.ground.errors import InputError


class Json(Format):
    """A JSON array of objects, at the top or at a path of keys; anything else is skipped."""

    name: ClassVar[str] = "json"
    extension: ClassVar[str] = ".json"
    is_wrapped: ClassVar[bool] = True

    def layout(self, stream: BinaryIO, records: tuple[str, ...] = ()) -> Layout:
        """Use the policy's path, or check that the file begins with an array."""
        if not records and Window(stream).peek() == "{":
            raise InputError(
                "the file is an object, not an array: state with `records` where its records are"
            )
        return Layout(records, stated=bool(records))

    def read(self, stream: BinaryIO, layout: Layout) -> Iterator[Document]:
        """Yield the records (see Format.read); only a window and one record are held in memory."""
        return read_array(stream, layout)

    def write(self, documents: Iterable[Document], stream: BinaryIO, layout: Layout) -> None:
        """Write an array with one record per line, inside the objects of the layout's path."""
        head = "".join("{" + dumps_exact(key) + ":" for key in layout.records)
        stream.write(encode(head + "["))
        separator = "\n"
        for document in documents:
            stream.write(encode(separator + dumps_exact(document)))
            separator = ",\n"
        stream.write(encode("\n]" + "}" * len(layout.records) + "\n"))
