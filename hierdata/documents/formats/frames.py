"""DataFrames of pandas as Arrow tables."""

from __future__ import annotations

from typing import Any

from hierdata.documents.formats.parquet import arrow
from hierdata.errors import InputError


def from_frame(frame: Any) -> Any:
    """Return a pandas DataFrame as an Arrow table, without its index. NaN, NaT and NA are missing values.

    Text always becomes Arrow's ``string``, whatever the version of pandas. Raises InputError for a column
    with values of several types.
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
    return lib.string() if lib.types.is_large_string(kind) else kind
