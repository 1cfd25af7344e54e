"""Columns of lists and structs, as trees: an array of Arrow for each field, whatever it lies below."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from hierdata.documents.document import Value
from hierdata.ground.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa


class ColumnToWrite(Protocol):
    """A column that takes values batch by batch."""

    def add(self, values: list[Value]) -> None:
        """Add the values of further rows."""

    def whole(self) -> Any:
        """Return the column; None if it has no field that any row shows."""


MakeColumn: TypeAlias = Callable[["pa.DataType | None"], ColumnToWrite]
"""Makes a column of single values, of a type or of the one that its values have."""
ReadColumn: TypeAlias = Callable[[Any, int], "list[Any]"]
"""Returns the values of an array whose first value is that of a numbered row."""


def is_list(kind: Any) -> bool:
    """Return whether a type is one of lists, of any size."""
    import pyarrow.types as types

    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def is_nested(kind: Any) -> bool:
    """Return whether a type is one of lists or structs."""
    import pyarrow.types as types

    return is_list(kind) or bool(types.is_struct(kind))


def parts_of(kind: Any) -> list[tuple[str, Any]]:
    """Return the types below a type of lists or structs, with the names of a struct's fields."""
    if is_list(kind):
        return [("", kind.value_type)]
    return [(kind.field(number).name, kind.field(number).type) for number in range(kind.num_fields)]


def names_below(kind: Any) -> Iterator[str]:
    """Yield the names of all fields below a type."""
    for name, below in parts_of(kind) if is_nested(kind) else ():
        if name:
            yield name
        yield from names_below(below)


def read_nested(column: Any, first: int, read: ReadColumn) -> list[Any]:
    """Return the values of an array of lists or structs; what a struct does not have is not in its object."""
    valid = column.is_valid().to_pylist()
    if not is_list(column.type):
        columns = [read(field, first) for field in column.flatten()]
        names = [name for name, _ in parts_of(column.type)]
        rows = zip(*columns, strict=True) if columns else (() for _ in valid)
        return [
            {name: value for name, value in zip(names, row, strict=True) if value is not None}
            if is_valid
            else None
            for row, is_valid in zip(rows, valid, strict=True)
        ]
    import pyarrow.compute as compute

    lengths = compute.fill_null(compute.list_value_length(column), 0).to_pylist()
    ends = [*accumulate(lengths)]
    try:
        items = read(column.flatten(), first)
    except InputError as error:
        if error.record is None:
            raise
        row = bisect_right(ends, error.record - first)  # it was numbered as an item
        raise InputError(error.message, record=first + row, path=error.path) from None
    return [
        items[end - length : end] if is_valid else None
        for end, length, is_valid in zip(ends, lengths, valid, strict=True)
    ]


def column_for(kind: Any, single: MakeColumn, values: Sequence[Value] = ()) -> ColumnToWrite:
    """Return a column of a type; without one, of what the values are."""
    shown = next((value for value in values if value is not None), None)
    if isinstance(shown, list) if kind is None else is_list(kind):
        return _Lists(None if kind is None else kind.value_type, single)
    if isinstance(shown, dict) if kind is None else is_nested(kind):
        return _Structs({} if kind is None else dict(parts_of(kind)), single)
    return single(kind)


class _Lists:
    """Lists: the items of all in one column, and where each ends."""

    def __init__(self, kind: Any, single: MakeColumn) -> None:
        self._kind, self._single = kind, single
        self._items: ColumnToWrite | None = None
        self._lengths: list[int | None] = []

    def add(self, values: list[Value]) -> None:
        """Add further lists."""
        _require(values, list)
        self._lengths += [len(value) if isinstance(value, list) else None for value in values]
        items = [item for value in values if isinstance(value, list) for item in value]
        if self._items is None and (items or self._kind is not None):
            self._items = column_for(self._kind, self._single, items)
        if self._items is not None:
            self._items.add(items)

    def whole(self) -> Any:
        """Return the lists."""
        import pyarrow as lib

        items = None if self._items is None else self._items.whole()
        ends = lib.array([0, *accumulate(length or 0 for length in self._lengths)], lib.int32())
        if items is None:
            if any(self._lengths):
                return None
            items = lib.nulls(0)
        mask = lib.array([length is None for length in self._lengths], lib.bool_())
        return lib.ListArray.from_arrays(ends, _together(items), mask=mask)


class _Structs:
    """Structs: a column for each field that any of them shows."""

    def __init__(self, kinds: dict[str, Any], single: MakeColumn) -> None:
        self._kinds, self._single = kinds, single
        self._fields: dict[str, ColumnToWrite] = {}
        self._missing: list[bool] = []

    def add(self, values: list[Value]) -> None:
        """Add further objects."""
        _require(values, dict)
        for name in dict.fromkeys(key for value in values if isinstance(value, dict) for key in value):
            if name not in self._fields:
                shown = [value.get(name) for value in values if isinstance(value, dict)]
                column = self._fields[name] = column_for(self._kinds.get(name), self._single, shown)
                column.add([None] * len(self._missing))
        for name, column in self._fields.items():
            column.add([value.get(name) if isinstance(value, dict) else None for value in values])
        self._missing += [value is None for value in values]

    def whole(self) -> Any:
        """Return the objects, with their fields in the order of the input; None without any field."""
        import pyarrow as lib

        order = dict.fromkeys([*self._kinds, *self._fields])
        columns = {name: self._fields[name].whole() for name in order if name in self._fields}
        shown = {name: _together(column) for name, column in columns.items() if column is not None}
        if not shown:
            return None
        mask = lib.array(self._missing, lib.bool_())
        return lib.StructArray.from_arrays([*shown.values()], names=[*shown], mask=mask)


def _together(column: Any) -> Any:
    return column.combine_chunks() if hasattr(column, "combine_chunks") else column


def _require(values: Sequence[Value], kind: type) -> None:
    if not all(value is None or isinstance(value, kind) for value in values):
        kinds = "lists" if kind is list else "objects"
        raise InputError(f"a column of {kinds} must have {kinds} in all rows: publish another format")
