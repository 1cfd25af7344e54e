"""Tables in memory: documents as Arrow tables and DataFrames, nested or flat, and both as input.

Input is a DataFrame of pandas, or whatever exports an Arrow stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from hierdata.documents.document import Siblings
from hierdata.documents.formats.nested_columns import is_list, is_nested, parts_of
from hierdata.documents.formats.objects import dumps_exact, to_plain
from hierdata.documents.formats.parquet import arrow
from hierdata.ground.errors import InputError, missing_extra

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

ArrowTable: TypeAlias = "pa.Table"
DataFrame: TypeAlias = "pd.DataFrame"


def documents_table(documents: Iterable[dict[str, Any]]) -> ArrowTable:
    """Return documents as a table with a column for each key, in the order in which keys first occur.

    Lists become list columns, objects structs. A column has the type that all its values have: booleans,
    integers of 64 bits, floats where all numbers are equal to one, decimals, dates, timestamps, text. Values
    of several types are text, as they are where a part of them is generalized.
    """
    rows = list(documents)
    names = dict.fromkeys(name for row in rows for name in row)
    return arrow().table({name: _column([row.get(name) for row in rows]) for name in names})


def read_table(file: Path) -> ArrowTable:
    """Return the table in a Parquet file."""
    import pyarrow.parquet as pq

    return pq.read_table(file)


def frame_of(table: ArrowTable) -> DataFrame:
    """Return a table as a DataFrame of pandas. Whole numbers and booleans with gaps keep their type.

    Raises PolicyError if pandas is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise missing_extra("DataFrames need pandas", "pandas") from None
    lib = arrow()
    with_gaps = {lib.int64(): pandas.Int64Dtype(), lib.bool_(): pandas.BooleanDtype()}.get
    columns = {
        name: pandas.Series(column.to_pylist(), dtype=object)
        if lib.types.is_nested(column.type)
        else column.to_pandas(types_mapper=with_gaps if column.null_count else None)
        for name, column in zip(table.column_names, table.columns, strict=True)
    }
    return pandas.DataFrame(columns, index=range(table.num_rows))


def _column(values: Sequence[Any]) -> pa.Array:
    lib = arrow()
    kinds = {type(value) for value in values} - {type(None)}
    if kinds & {list, Siblings}:
        return _lists([value if value is None or isinstance(value, list) else [value] for value in values])
    if kinds == {dict}:
        return _structs(values)
    for kind in _candidates([value for value in values if value is not None]):
        try:
            return lib.array(map(_float, values) if kind == lib.float64() else values, kind)
        except (lib.ArrowException, OverflowError, TypeError, ValueError):
            continue
    return lib.array([_text(value) for value in values], lib.string())


def _lists(values: Sequence[list[Any] | None]) -> pa.Array:
    lib = arrow()
    ends = [0]
    for value in values:
        ends.append(ends[-1] + len(value or ()))
    items = _column([item for value in values for item in value or ()])
    missing = lib.array([value is None for value in values])
    return lib.ListArray.from_arrays(lib.array(ends, lib.int32()), items, mask=missing)


def _structs(values: Sequence[dict[str, Any] | None]) -> pa.Array:
    lib = arrow()
    names = dict.fromkeys(name for value in values for name in value or ())
    if not names:
        return lib.array(values, lib.struct([]))
    columns = [_column([None if value is None else value.get(name) for value in values]) for name in names]
    missing = lib.array([value is None for value in values])
    return lib.StructArray.from_arrays(columns, names=list(names), mask=missing)


def _candidates(values: Sequence[Any]) -> list[Any]:
    """Return the types to try for values other than None; text is tried after them."""
    lib = arrow()
    kinds = {type(value) for value in values}
    if not kinds:
        return [lib.null()]
    if kinds == {bool}:
        return [lib.bool_()]
    if kinds == {int}:
        return [lib.int64()]
    if all(issubclass(kind, int | float | Decimal) and kind is not bool for kind in kinds):
        exact = [Decimal(repr(value)) if isinstance(value, float) else Decimal(value) for value in values]
        return [lib.float64()] if all(Decimal(repr(float(value))) == value for value in exact) else []
    if all(issubclass(kind, datetime) for kind in kinds):
        zones = {value.tzinfo is None for value in values}
        return [lib.timestamp("us", None if True in zones else "UTC")] if len(zones) == 1 else []
    if kinds == {date}:
        return [lib.date32()]
    return [lib.binary()] if kinds == {bytes} else []


def _float(value: float | Decimal | None) -> float | None:
    return None if value is None else float(value)


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        return repr(value)
    return dumps_exact(value) if isinstance(value, bool | int | Decimal | dict) else str(to_plain(value))


def is_table(source: object) -> bool:
    """Return whether something is a table in memory; nothing is imported to find out.

    Besides DataFrames of pandas this is anything with ``__arrow_c_stream__``, the interface by which Arrow
    tables, polars, DuckDB and others hand over their columns.
    """
    kind = type(source)
    is_frame = (kind.__module__.partition(".")[0], kind.__name__) == ("pandas", "DataFrame")
    return is_frame or hasattr(kind, "__arrow_c_stream__")


def to_table(source: Any) -> Any:
    """Return a table in memory as an Arrow table; a DataFrame's index is left out.

    Raises InputError for what Arrow cannot represent: a column of a DataFrame with values of several types,
    or a stream whose items are no rows.
    """
    lib = arrow()
    if isinstance(source, lib.Table):
        return source
    if type(source).__module__.partition(".")[0] == "pandas":
        return _from_frame(source)
    try:
        with lib.RecordBatchReader.from_stream(source) as reader:
            table = reader.read_all()
    except (lib.ArrowException, ValueError, TypeError, NotImplementedError):
        table = None
    if table is None:
        raise InputError("the Arrow stream has no rows that can be read")
    return lib.table(
        [column.cast(_with_one_text(column.type)) for column in table.columns], table.column_names
    )


def _from_frame(frame: Any) -> Any:
    """Return a pandas DataFrame as an Arrow table. NaN, NaT and NA are missing values.

    Text always becomes Arrow's ``string``, whatever the version of pandas.
    """
    lib = arrow()
    arrays, names = [], [str(name) for name in frame.columns]
    for place in range(len(names)):
        try:
            column = lib.array(frame.iloc[:, place], from_pandas=True)
            column = column.cast(_with_one_text(column.type))
        except (lib.ArrowException, ValueError, TypeError, OverflowError):
            column = None
        if column is None:
            raise InputError(
                f"column {place + 1} of the DataFrame has values of several types, or of an unsupported type"
            )
        arrays.append(column)
    return lib.table(arrays, names=names)


def _with_one_text(kind: Any) -> Any:
    lib = arrow()
    if lib.types.is_dictionary(kind):
        return lib.dictionary(kind.index_type, _with_one_text(kind.value_type), kind.ordered)
    if is_list(kind):
        return lib.list_(_with_one_text(kind.value_type))
    if is_nested(kind):
        return lib.struct([(name, _with_one_text(below)) for name, below in parts_of(kind)])
    return lib.string() if lib.types.is_large_string(kind) or lib.types.is_string_view(kind) else kind
