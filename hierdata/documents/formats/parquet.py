"""Parquet, DataFrames and Arrow tables: each column has one type, and a null is a missing value.

pyarrow is an extra (``hierdata[parquet]``) and imported on first use.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, cast

from hierdata.documents.document import Document, Scalar, Value
from hierdata.documents.formats.base import BESIDE, Divisible, Layout, Split, check_columns
from hierdata.documents.formats.decoder import LONE_SURROGATE
from hierdata.documents.formats.kinds import Kinds
from hierdata.documents.formats.nested_columns import (
    ColumnToWrite,
    column_for,
    is_nested,
    names_below,
    parts_of,
    read_nested,
)
from hierdata.documents.formats.objects import cell_text
from hierdata.documents.scalars import DoubleWord
from hierdata.ground.errors import InputError, PolicyError, VerificationError, missing_extra

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 1 << 16
"""Rows held in memory while reading, and rows of a written row group."""

_ARROWS_OWN = {b"ARROW:schema"}  # repeats the types of the columns: the only metadata without new information


@dataclass(frozen=True)
class Parquet(Divisible):
    """Apache Parquet: numbers, booleans, text, dates and timestamps, and lists and structs of them.

    Floats become the decimals of their repr, dates and timestamps ISO text. Null is a missing value; NaN
    and infinity are refused but for ``words``, which some rule counts as missing. When written, a column
    keeps its type if all its values still have it, and is text otherwise. ``paths`` are the policy's paths by
    column; errors name no other column.
    """

    name: ClassVar[str] = "parquet"
    extension: ClassVar[str] = ".parquet"
    table_suffixes: ClassVar[tuple[str, ...]] = (".parquet",)
    is_tabular: ClassVar[bool] = True
    is_binary: ClassVar[bool] = True
    types_numbers: ClassVar[bool] = True

    paths: Mapping[str, str] = field(default_factory=dict)
    words: frozenset[str] = frozenset()

    def with_marks(self, comment: str | None, decimal: str, words: Collection[str]) -> Parquet:
        """Return Parquet that reads some words of NaN and infinity (see Format.with_marks)."""
        return replace(self, words=frozenset(words))

    def with_options(
        self, delimiter: str | None, columns: tuple[str, ...], paths: Mapping[str, str]
    ) -> Parquet:
        """Return Parquet whose errors use the policy's paths of columns (see Format.with_options)."""
        return replace(self, paths=paths)

    def names_below(self, kind: Any) -> Iterator[str]:
        """See Format.names_below."""
        return names_below(kind)

    def layout(self, stream: BinaryIO, records: tuple[str, ...] = ()) -> Layout:
        """Read the schema. Raises InputError for a column of an unsupported type, with the type's name."""
        if records:
            raise PolicyError("every row of a Parquet table is a record: `records` has no meaning here")
        return table_layout(_open_file(stream).schema_arrow, self.paths)

    def splits(self, stream: BinaryIO, layout: Layout, size: int) -> tuple[Split, ...]:
        """Cut between row groups; small ones are combined up to ``ROWS`` rows (see Format.splits)."""
        metadata = _open_file(stream).metadata
        starts, rows = [0], 0
        for group in range(metadata.num_row_groups):
            rows += metadata.row_group(group).num_rows
            if rows > ROWS and group > starts[-1]:
                starts.append(group)
                rows = metadata.row_group(group).num_rows
        return tuple(map(Split, starts, [*starts[1:], metadata.num_row_groups]))

    def read_split(self, stream: BinaryIO, layout: Layout, split: Split) -> Iterator[Document]:
        """Yield the rows of some row groups (see Format.read_split)."""
        file = _open_file(stream)
        if layout.alone and _says_more(file):
            raise VerificationError(BESIDE)
        yield from documents(_batches(file, split), self.words)

    @contextmanager
    def writer(self, stream: BinaryIO, layout: Layout) -> Iterator[Callable[[Document], None]]:
        """Collect rows; the file is written at the end, when the types of its columns are known."""
        columns: dict[str, ColumnToWrite] = {}
        held: list[Document] = []
        known = {*layout.columns}

        def put(document: Document) -> None:
            if not document.keys() <= known:
                raise InputError("a record has a field that is not a column of the table")
            held.append(document)
            if len(held) == ROWS:
                pack()

        def pack() -> None:
            for name in layout.columns:
                values = [document.get(name) for document in held]
                if name not in columns:
                    columns[name] = column_for(layout.types.get(name), _Column, values)
                columns[name].add(values)
            held.clear()

        yield put
        pack()
        _write(columns, stream)


def arrow() -> Any:
    """Return the module pyarrow. Raises PolicyError if it is not installed."""
    try:
        import pyarrow
    except ImportError:
        raise missing_extra("Parquet and tables in memory need pyarrow", "parquet") from None
    return pyarrow


def _type_to_write(kind: pa.DataType) -> pa.DataType:
    lib = arrow()  # the index of a dictionary tells how many values the input had
    return lib.dictionary(lib.int32(), kind.value_type) if lib.types.is_dictionary(kind) else kind


def table_layout(schema: pa.Schema, paths: Mapping[str, str]) -> Layout:
    """Return the columns of a table and their types. Raises InputError for unsupported types."""
    check_columns(schema.names)
    for place, column in enumerate(schema, 1):
        if not _is_known_type(column.type):
            kind = str(column.type).partition("<")[0]  # what follows names the fields of a nested type
            raise InputError(
                f"column {place} has the type {kind}, which is not supported: convert it or leave it out",
                path=paths.get(column.name, "<key>"),
            )
    types = {column.name: _type_to_write(column.type) for column in schema}
    return Layout(columns=tuple(schema.names), types=types)


def column_kinds(schema: pa.Schema) -> Kinds:
    """Return the types of a table's columns, for values that are published unchanged."""
    types = arrow().types
    kinds = Kinds()

    def note(kinds: Kinds, kind: Any) -> None:
        for name, below in parts_of(kind) if is_nested(kind) else ():
            note(kinds.child(name) if name else kinds, below)
        kind = kind.value_type if types.is_dictionary(kind) else kind
        tests = {date: types.is_date, datetime: types.is_timestamp, float: types.is_floating}
        kinds.types.update(plain for plain, is_kind in tests.items() if is_kind(kind))

    for column in schema:
        note(kinds.child(column.name), column.type)
    return kinds


def documents(batches: Iterable[Any], words: Collection[str] = ()) -> Iterator[Document]:
    """Yield the rows of Arrow record batches (or of one table) as documents; ``words`` as in Parquet."""
    first = 1
    for batch in batches:
        names = batch.schema.names
        columns = [_values(column, first, words) for column in batch.columns]
        for row in zip(*columns, strict=True):
            if None in row:
                yield {name: value for name, value in zip(names, row, strict=True) if value is not None}
            else:
                yield dict(zip(names, row, strict=True))
        first += batch.num_rows


def _open_file(stream: BinaryIO) -> Any:
    lib = arrow()
    import pyarrow.parquet as pq

    if not stream.seekable():
        raise InputError("Parquet is compressed inside and cannot be read through gzip: unpack the file")
    try:
        return pq.ParquetFile(stream, page_checksum_verification=True)
    except (lib.ArrowException, OSError, UnicodeDecodeError):
        pass
    raise InputError("this is not a Parquet file, or it is damaged")


def _batches(file: Any, split: Split) -> Iterator[Any]:
    lib = arrow()
    groups = range(file.metadata.num_row_groups)[split.start : split.end]
    batches = file.iter_batches(batch_size=ROWS, row_groups=groups)
    while True:
        try:
            batch = next(batches, None)
        except (lib.ArrowException, OSError):
            raise InputError("the Parquet file is damaged") from None
        if batch is None:
            return
        yield batch


def _says_more(file: Any) -> bool:
    """Return whether the file has metadata with information beyond its rows."""
    schema = file.schema_arrow
    keys = {key for column in schema for key in column.metadata or ()}
    return bool(
        (file.metadata.metadata or {}).keys() - _ARROWS_OWN or schema.metadata or keys - {b"PARQUET:field_id"}
    )


def _is_known_type(kind: pa.DataType) -> bool:
    types = arrow().types
    if types.is_dictionary(kind):
        return _is_known_type(kind.value_type)
    if is_nested(kind):
        names = [name for name, _ in parts_of(kind)]
        return len({*names}) == len(names) and all(_is_known_type(below) for _, below in parts_of(kind))
    if types.is_decimal(kind):
        return bool(kind.scale >= 0)  # Parquet has no others
    texts = (types.is_string, types.is_large_string, types.is_string_view)
    others = (types.is_integer, types.is_floating, types.is_boolean, types.is_null)
    return any(test(kind) for test in (*others, *texts, types.is_date, types.is_timestamp))


def _values(column: Any, first: int, words: Collection[str] = ()) -> list[Any]:
    """Return the values of a column of a batch whose first row is record ``first``."""
    lib = arrow()
    kind = column.type
    if is_nested(kind):
        return read_nested(column, first, lambda below, number: _values(below, number, words))
    if lib.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = kind.value_type
    if lib.types.is_date(kind) or lib.types.is_timestamp(kind):
        try:
            return cast("list[Scalar]", _iso(column).to_pylist())
        except lib.ArrowInvalid:
            pass
        raise InputError("the time zone of a timestamp column is unknown here")
    if not lib.types.is_floating(kind):
        try:
            return cast("list[Scalar]", column.to_pylist())
        except UnicodeDecodeError:
            pass
        raise InputError("a text column is not UTF-8")
    if kind.bit_width < 64:  # 0.1 in 32 bits must become 0.1, not the double nearest to the 32-bit value
        column = column.cast(lib.string()).cast(lib.float64())
    return [_read_double(number, first + place, words) for place, number in enumerate(column.to_pylist())]


def _read_double(number: float | None, record: int, words: Collection[str]) -> Scalar:
    if number is None or isfinite(number):
        return None if number is None else Decimal(repr(number))
    word = "NaN" if isnan(number) else "Infinity" if number > 0 else "-Infinity"
    if word not in words:
        reads = f"`missing: [{word}]` reads it as missing"
        raise InputError(f"a number is NaN or infinite: a missing value is null, or {reads}", record=record)
    return DoubleWord(word)


def _iso(column: Any) -> Any:
    """Return dates and timestamps as ISO text, without a fraction of zeros."""
    import pyarrow.compute as compute

    lib = arrow()
    if column.type == lib.date64():
        column = column.cast(lib.date32())
    text = compute.replace_substring(column.cast(lib.string()), " ", "T", max_replacements=1)
    return compute.replace_substring_regex(text, r"\.0+([Z+-]|$)", r"\1")


class _Column:
    """A column to write: arrays of its own type as long as all values have it, otherwise of text."""

    def __init__(self, kind: object) -> None:
        lib = arrow()
        known = [lib.int64(), lib.bool_()] if kind is None else [kind]
        self._kinds: list[Any] = [*known, lib.string()]
        self._arrays: list[Any] = []

    def add(self, values: list[Value]) -> None:
        """Add the values of further rows."""
        array = _array(values, self._kinds[0])
        while array is None:
            self._kinds.pop(0)
            if not self._kinds:
                raise InputError(LONE_SURROGATE)  # the only possible error in text
            if len(self._kinds) == 1:
                values = [cell_text(value) for value in values]
                self._arrays = [self._as_text(array) for array in self._arrays]
            array = _array(values, self._kinds[0])
        self._arrays.append(array)

    def whole(self) -> Any:
        """Return the column."""
        return arrow().chunked_array(self._arrays, self._kinds[0])

    def _as_text(self, array: Any) -> Any:
        return _array([cell_text(value) for value in _values(array, 1)], self._kinds[0])


def _array(values: Sequence[Value], kind: Any) -> Any:
    """Return values as an array of a type, or None if one of them does not have it."""
    lib = arrow()
    plain = kind.value_type if lib.types.is_dictionary(kind) else kind
    try:
        if lib.types.is_floating(plain):
            numbers = [float(value) if isinstance(value, Decimal) else value for value in values]
            array = lib.array(numbers, lib.float64()).cast(plain)
        elif lib.types.is_date(plain) or lib.types.is_timestamp(plain):
            array = lib.array(values, lib.string()).cast(plain)
        else:
            array = lib.array(values, plain)
        if plain is not kind:
            array = array.dictionary_encode()
        same = _values(array, 1) == values
    except (lib.ArrowException, OverflowError, UnicodeEncodeError, InputError):
        return None
    return array if same else None


def _write(columns: Mapping[str, ColumnToWrite], stream: BinaryIO) -> None:
    import pyarrow.parquet as pq

    arrays = {name: column.whole() for name, column in columns.items()}
    table = arrow().table({name: column for name, column in arrays.items() if column is not None})
    pq.write_table(table, stream, row_group_size=ROWS)
