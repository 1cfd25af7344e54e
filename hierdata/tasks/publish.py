"""Publication: the records of a block as lines, and all lines of the release in one order.

The order is that of a keyed hash over the whole collection, so a record's place in the file tells neither
where it stood in the input nor which block it was in.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from hierdata.document import Document
from hierdata.executors.spill import room
from hierdata.formats import Layout, Rowwise
from hierdata.intake import FileForm, Form
from hierdata.pieces import Frame
from hierdata.recodings import Recoding
from hierdata.seeds import places_of
from hierdata.tasks.cluster import Block

Lines: TypeAlias = "list[tuple[bytes, bytes]]"
"""Records in published form, each with its place."""


@dataclass(frozen=True)
class Spelling:
    """How a published record travels: as bytes where these make a file, else as the document itself."""

    format: Rowwise | None
    layout: Layout

    @classmethod
    def of(cls, form: Form) -> Spelling:
        """The spelling for files of a form."""
        if isinstance(form, FileForm):
            format, layout = form.format, form.layout
            if isinstance(format, Rowwise) and format.joins(layout):
                return cls(format, layout)
        return cls(None, Layout())

    def lines(self, documents: Iterable[Document]) -> Iterator[bytes]:
        """Each document as bytes."""
        if self.format is None:
            yield from (pickle.dumps(document, protocol=5) for document in documents)
            return
        stream = BytesIO()
        with self.format.writer(stream, self.layout) as put:
            for document in documents:
                put(document)
                yield stream.getvalue()
                stream.seek(0)
                stream.truncate()


@dataclass(frozen=True)
class PublishBlock:
    """The published records of a block, for the ``ranges`` of places that they belong to."""

    recoding: Recoding
    frame: Frame
    heaviest: int
    seed: bytes
    ranges: int
    spelling: Spelling

    def __call__(self, block: Block) -> Iterator[tuple[int, Lines]]:
        """Lines by range."""
        places = places_of(self.seed, block.encoded.ordinals.tolist())
        order = sorted(range(len(places)), key=places.__getitem__)
        forest = block.at(self.frame, self.heaviest)
        (part,) = self.recoding.publish(forest, block.partitions, order).parts
        class_of = block.partitions[0].class_of.tolist()
        kept = (places[record] for record in order if class_of[record] >= 0)
        found: defaultdict[int, Lines] = defaultdict(list)
        for place, line in zip(kept, self.spelling.lines(part.documents()), strict=True):
            found[int.from_bytes(place[:4]) * self.ranges >> 32].append((place, line))
        yield from found.items()


@dataclass(frozen=True)
class WriteRange:
    """Put the lines of a range in order, into a private file of their own in ``folder``."""

    folder: Path

    def __call__(self, lines: list[Lines]) -> Path:
        """The file."""
        with room():
            handle, name = tempfile.mkstemp(prefix="range-", dir=self.folder)
        with room(), os.fdopen(handle, "wb") as stream:
            stream.writelines(line for _, line in sorted(chain.from_iterable(lines)))
        return Path(name)


def in_order(lines: list[Lines]) -> list[Document]:
    """The documents of a range that travelled as themselves."""
    return [pickle.loads(line) for _, line in sorted(chain.from_iterable(lines))]
