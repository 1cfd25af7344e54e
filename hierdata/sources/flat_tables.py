"""Open a flat table by itself: a file, a table in memory or on a server, or an iterable of dicts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path

from hierdata.documents.document import Document
from hierdata.documents.formats import FORMATS, detect
from hierdata.documents.formats.arrow_tables import is_table, to_table
from hierdata.documents.formats.parquet import documents, table_layout
from hierdata.documents.formats.source import PathSource
from hierdata.ground.errors import PolicyError
from hierdata.sources.form import FileForm, open_input
from hierdata.sources.objects import read_objects
from hierdata.sources.stores import open_store

FLAT = tuple(name for name, kind in FORMATS.items() if not kind.has_elements)
"""The formats that hold tables; JSON as arrays of flat records."""


@contextmanager
def open_table(
    source: object, format: str | None
) -> Iterator[tuple[Sequence[str] | None, Iterator[tuple[Document, int]]]]:
    """Open a file (CSV, JSON, JSON Lines, Parquet), a table in memory or on a server, or dicts.

    Yields the columns, None without a header, and the documents, each with the number of its copies. Raises
    PolicyError for a source that is not a table, TargetError for a file that cannot be read.
    """
    with open_store(source) as store:
        yield _open_source(source if store is None else store.documents(), format)


def _open_source(
    source: object, format: str | None
) -> tuple[Sequence[str] | None, Iterator[tuple[Document, int]]]:
    """Return the columns, None without a header, and the documents, each with the number of its copies."""
    if isinstance(source, str | os.PathLike):
        return _file(Path(source), format)
    if is_table(source):
        table = to_table(source)
        layout = table_layout(table.schema, {})
        return layout.columns, zip(documents(table.to_batches()), repeat(1))
    if isinstance(source, Iterable) and not isinstance(source, bytes | dict):
        return None, zip(read_objects(source), repeat(1))
    raise PolicyError(
        "the table must be a path, a table in memory, or an iterable of dicts; "
        f"it has the type {type(source).__name__}"
    )


def _file(path: Path, format: str | None) -> tuple[Sequence[str] | None, Iterator[tuple[Document, int]]]:
    if path.exists() and not path.is_file():
        raise PolicyError(
            "the table must be a single file: name the file, or for keyed tables a policy with their `tables`"
        )
    if format not in (None, *FLAT):
        raise PolicyError(f"a table must have one of the formats {', '.join(FLAT)}")
    kind = FORMATS[format]() if format else detect(path.name)
    if kind.name not in FLAT:
        raise PolicyError(
            f"a table must be flat, but {kind.name.upper()} is not: name columns by paths, such as $.a or "
            "/list/item/@a"
        )
    layout = open_input(PathSource(path), kind, ())
    return layout.columns or None, FileForm(kind, layout, kind.extension).count_documents(path)
