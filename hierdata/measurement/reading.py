"""Flat tables, told by nothing but their own columns: rows, and how many there are of each."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any, TypeAlias, cast

from hierdata.document import Document, Scalar, Value
from hierdata.domains.base import Uncovered
from hierdata.domains.number import canonical, identity
from hierdata.errors import InputError, PolicyError
from hierdata.formats import FORMATS, detect
from hierdata.formats.objects import from_python
from hierdata.formats.parquet import documents, from_frame, table_layout
from hierdata.formats.source import PathSource
from hierdata.intake.form import FileForm, open_layout
from hierdata.intake.objects import is_table
from hierdata.progress import Progress, counted

FLAT = tuple(name for name in FORMATS if name != "xml")
"""The formats that hold tables; of JSON, arrays of flat records."""

Row: TypeAlias = "tuple[Scalar, ...]"
"""The values of a row at the columns that were asked for: equal numbers are equal, None is missing."""


def rows(source: object, columns: Sequence[str], format: str | None, progress: Progress) -> Counter[Row]:
    """How often each row occurs in a file (CSV, JSON, JSON Lines, Parquet) or in a table in memory.

    Raises PolicyError for a column that there is not and for what is no table, InputError for values that
    are no single ones and for a table without rows, TargetError for a file that cannot be read.
    """
    header, found_in = _opened(source, format)
    _require(columns, columns if header is None else header)
    unseen = set(columns if header is None else ())
    known: dict[tuple[type, Scalar], Scalar] = {}
    found: Counter[Row] = Counter()
    items = counted(found_in, "reading", None, progress, lambda item: item[1])
    for ordinal, (document, times) in enumerate(items, 1):
        row = tuple([document.get(column) for column in columns])
        if not all(value.__class__ is str for value in row):
            row = tuple(
                _single(value, known, ordinal, column) for value, column in zip(row, columns, strict=True)
            )
        found[cast("Row", row)] += times
        if unseen:
            unseen.difference_update(document)
    if not found:
        raise InputError("the table has no rows")
    _require(columns, [column for column in columns if column not in unseen])
    return found


def _require(columns: Iterable[str], there: Sequence[str]) -> None:
    for column in columns:
        if column not in there:
            raise PolicyError(f"the table has no column {column}")


def _single(value: Value, known: dict[tuple[type, Scalar], Scalar], ordinal: int, column: str) -> Scalar:
    """A value as the one that stands for all equal to it; what was found is ``known`` from then on."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        raise InputError("a table is flat, and an object or array stands here", record=ordinal, path=column)
    place = (value.__class__, value)  # True equals 1
    if place not in known:
        try:
            key = identity(value)
        except Uncovered:
            raise InputError("the number has too many digits", record=ordinal, path=column) from None
        known[place] = key if isinstance(key, str) else canonical(key)
    return known[place]


def _opened(
    source: object, format: str | None
) -> tuple[Sequence[str] | None, Iterator[tuple[Document, int]]]:
    """The columns, where there is a header, and the documents, each with how many equal ones there are."""
    if isinstance(source, str | os.PathLike):
        return _file(Path(source), format)
    if is_table(source):
        table: Any = source if type(source).__name__ == "Table" else from_frame(source)
        layout = table_layout(table.schema, {})
        return layout.columns, zip(documents(table.to_batches()), repeat(1))
    if isinstance(source, Iterable) and not isinstance(source, bytes | dict):
        return None, ((from_python(item, record=ordinal), 1) for ordinal, item in enumerate(source, 1))
    raise PolicyError(
        "the table must be a path, a DataFrame or Arrow table, or an iterable of dicts; "
        f"it has the type {type(source).__name__}"
    )


def _file(path: Path, format: str | None) -> tuple[Sequence[str] | None, Iterator[tuple[Document, int]]]:
    if path.exists() and not path.is_file():
        raise PolicyError("one table is measured, and it lies in one file: name the file")
    if format not in (None, *FLAT):
        raise PolicyError(f"a table is measured in one of the formats {', '.join(FLAT)}")
    kind = FORMATS[format]() if format else detect(path.name)
    if kind.name not in FLAT:
        raise PolicyError(
            f"a table is flat, and {kind.name.upper()} is not: write the records as JSON or CSV"
        )
    layout = open_layout(PathSource(path), kind, ())
    return layout.columns or None, FileForm(kind, layout, kind.extension).counted(path)
