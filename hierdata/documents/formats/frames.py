"""Tables in memory as Arrow tables: DataFrames of pandas, and whatever exports an Arrow stream."""

from __future__ import annotations

from typing import Any

from hierdata.documents.formats.parquet import arrow
from hierdata.ground.errors import InputError


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
    return lib.string() if lib.types.is_large_string(kind) or lib.types.is_string_view(kind) else kind
