"""Read flat tables without a schema: the distinct values of each column, and the codes of the rows."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, repeat
from pathlib import Path
from typing import cast

import numpy as np

from hierdata.documents.document import Document, Scalar, Value
from hierdata.documents.formats import FORMATS, detect
from hierdata.documents.formats.frames import is_table, to_table
from hierdata.documents.formats.objects import from_python
from hierdata.documents.formats.parquet import documents, table_layout
from hierdata.documents.formats.source import PathSource
from hierdata.domains.base import Uncovered
from hierdata.domains.number import canonical, identity
from hierdata.ground.errors import InputError, PolicyError
from hierdata.ground.progress import Progress, count_items
from hierdata.measurement.table.rows import TableColumn, TableRows
from hierdata.sources.form import FileForm, open_input
from hierdata.sources.stores import store_of

FLAT = tuple(name for name, kind in FORMATS.items() if not kind.has_elements)
"""The formats that hold tables; JSON as arrays of flat records."""

_BATCH = 1 << 12
_PLAIN = {str, type(None)}
"""Types of cells that need no conversion."""


class _Codes(dict[Scalar, int]):
    """The code of each value; a new value gets the next code."""

    def __missing__(self, value: Scalar) -> int:
        code = self[value] = len(self)
        return code


def rows(source: object, columns: Sequence[str], format: str | None, progress: Progress) -> TableRows:
    """Read a file (CSV, JSON, JSON Lines, Parquet) or a table in memory or on a server, by columns.

    Equal numbers are one value, None is missing. Raises PolicyError for a missing column and for a source
    that is not a table, InputError for nested values and for a table without rows, TargetError for a file
    that cannot be read.
    """
    store = store_of(source)
    if store is not None:
        try:
            return rows(store.documents(), columns, format, progress)
        finally:
            if store is not source:
                store.close()
    header, found_in = _open_source(source, format)
    _require(columns, columns if header is None else header)
    unseen = set(columns if header is None else ())
    known: dict[tuple[type, Scalar], Scalar] = {}
    values = [_Codes() for _ in columns]
    codes = [array("q") for _ in columns]
    counts = array("q")
    items = count_items(found_in, "reading", None, progress, lambda item: item[1])
    while batch := list(islice(items, _BATCH)):
        cells = [[document.get(column) for column in columns] for document, _ in batch]
        if not _PLAIN.issuperset(map(type, chain.from_iterable(cells))):
            for ordinal, row in enumerate(cells, len(counts) + 1):
                row[:] = map(_single, row, repeat(known), repeat(ordinal), columns)
        counts.extend([times for _, times in batch])
        for own, code_of, column in zip(codes, values, zip(*cells, strict=True), strict=True):
            own.extend(map(code_of.__getitem__, cast("tuple[Scalar, ...]", column)))
        if unseen:
            unseen.difference_update(*[document for document, _ in batch])
    if not counts:
        raise InputError("the table has no rows")
    _require(columns, [column for column in columns if column not in unseen])
    found = [
        TableColumn(tuple(own), np.array(code, np.int64)) for own, code in zip(values, codes, strict=True)
    ]
    return TableRows(dict(zip(columns, found, strict=True)), np.array(counts, np.int64))


def _require(columns: Iterable[str], there: Sequence[str]) -> None:
    for column in columns:
        if column not in there:
            raise PolicyError(f"the table has no column {column}")


def _single(value: Value, known: dict[tuple[type, Scalar], Scalar], ordinal: int, column: str) -> Scalar:
    """Return the canonical form of a value, equal for equal numbers; ``known`` is the cache."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        raise InputError(
            "a table must be flat, but this value is an object or array: name what is below it by a path, "
            "such as $.visits[*].ward",
            record=ordinal,
            path=column,
        )
    place = (value.__class__, value)  # True equals 1
    if place not in known:
        try:
            key = identity(value)
        except Uncovered:
            raise InputError("the number has too many digits", record=ordinal, path=column) from None
        known[place] = key if isinstance(key, str) else canonical(key)
    return known[place]


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
        return None, ((from_python(item, record=ordinal), 1) for ordinal, item in enumerate(source, 1))
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
