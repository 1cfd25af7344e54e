"""Collections in several keyed tables: a folder with a file for each table, or tables in memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial, reduce
from pathlib import Path
from typing import Any

from hierdata.documents.document import Document
from hierdata.documents.formats import FORMATS, Format, Layout, Order, Rowwise
from hierdata.documents.formats.arrow_tables import is_table
from hierdata.documents.formats.base import BESIDE
from hierdata.documents.formats.kinds import Kinds
from hierdata.documents.formats.objects import from_python
from hierdata.documents.formats.source import PathSource, Source, write_stream
from hierdata.ground.errors import (
    HierdataError,
    InputError,
    PolicyError,
    TargetError,
    VerificationError,
    file_error,
)
from hierdata.policy.policy import Policy
from hierdata.policy.shaped_tables import find_joined, shaped_tables
from hierdata.records.flatten import Table, joined, nest, places, split
from hierdata.records.shape.tables import ShapedTables
from hierdata.records.survey import Keys
from hierdata.sources.columns import TableForm, check_columns, decode_source, format_of, published_form
from hierdata.sources.form import Collection, Form, open_input
from hierdata.sources.objects import table_collection
from hierdata.sources.splits import read_file

RECORDS = "records"
"""The part of a release that is a folder of tables; every other part is one table."""

_SUFFIXES = tuple(suffix for kind in FORMATS.values() for suffix in kind.table_suffixes)


@dataclass(frozen=True)
class TablesForm(Form):
    """A folder with one file for each table, keys being numbers from 1; other parts are one joined table."""

    format: Format
    tables: tuple[Table, ...]
    forms: Mapping[str, TableForm]

    def name(self, part: str) -> str:
        """Return the folder of the records; any other part is a file like the root's."""
        return part if part == RECORDS else self._root.name(part)

    def write(self, documents: Iterable[Document], path: Path, element: str | None = None) -> None:
        """Write a file for each table (see Form.write)."""
        if path.name != RECORDS:
            replace(self._root, fixed=False).write(joined(documents), path, element or "value")
            return
        try:
            path.mkdir()
        except OSError as error:
            raise file_error(error, f"cannot write {path}: {error.strerror}") from None
        rows = split(self.tables, documents)
        if not self._root.fixed:
            held: dict[str, list[Document]] = {table.name: [] for table in self.tables}
            for name, row in rows:
                held[name].append(row)
            for name, own in held.items():
                self.forms[name].write(own, path / self.forms[name].name(name))
            return
        with ExitStack() as files:
            puts = {}
            for table in self.tables:
                form = self.forms[table.name]
                stream = files.enter_context(write_stream(path / form.name(table.name)))
                assert isinstance(form.format, Rowwise)
                puts[table.name] = files.enter_context(form.format.writer(stream, form.layout))
            for name, row in rows:
                puts[name](row)

    def read(self, path: Path, element: str | None = None, *, alone: bool = False) -> Iterator[Document]:
        """Join the files of a folder (see Form.read)."""
        if path.name != RECORDS and not path.is_dir():
            return self._root.read(path, alone=alone)
        files = {table.name: path / self.forms[table.name].name(table.name) for table in self.tables}
        if alone and {file.name for file in path.iterdir()} - {file.name for file in files.values()}:
            raise VerificationError(BESIDE, path=str(path))
        rows = {
            name: _name_errors(name, self.forms[name].read(file, alone=alone)) for name, file in files.items()
        }
        if alone:
            rows = {table.name: _with_fresh_keys(table, rows[table.name]) for table in self.tables}
        return nest(self.tables, rows)

    def fit(self, policy: Policy, order: Order) -> Form:
        """Return the form with the columns of each table that the policy publishes (see Form.fit)."""
        return replace(self, forms={name: form.fit(policy, order) for name, form in self.forms.items()})

    @property
    def _root(self) -> TableForm:
        return self.forms[self.tables[0].name]


def folder_collection(folder: Path, policy: Policy) -> Collection:
    """Return the collection in a folder of tables.

    Raises TargetError if there is no such folder, InputError if a file is missing.
    """
    _require_folder(folder)
    return _combine_tables(
        policy,
        {
            table.name: _from_file(_file_of(folder, table, policy), table, policy)
            for table in policy.joined_tables
        },
    )


def given_tables(tables: Mapping[Any, object], policy: Policy) -> Collection:
    """Return the collection in tables by name: paths, DataFrames, Arrow tables, lists of dicts.

    Raises InputError if a table is missing, PolicyError for one that the policy does not name.
    """
    strangers = tables.keys() - {table.name for table in policy.joined_tables}
    if strangers:
        raise PolicyError(f"{len(strangers)} of the tables given are not among the policy's `tables`")
    return _combine_tables(
        policy,
        {table.name: _open_given(tables.get(table.name), table, policy) for table in policy.joined_tables},
    )


def tables_form(folder: Path, policy: Policy) -> Form:
    """Return the form of the tables in a published folder."""
    _require_folder(folder)
    every = shaped_tables(policy)
    if not every:
        raise PolicyError("this is a folder of tables, but the policy has no `tables`", path=str(folder))
    at = _places_of(every)
    tables = tuple(
        shaped.table
        for shaped in every
        if not _is_dropped(at[shaped.table.name], policy)
        or any((folder / f"{shaped.table.name}{end}").exists() for end in _SUFFIXES)
    )
    forms = {}
    for table in tables:
        file = _file_of(folder, table, policy)
        format = format_of(file.name, policy, at[table.name], table.name)
        suffix = file.name.removeprefix(table.name)
        forms[table.name] = published_form(PathSource(file), format, suffix, policy)
    return TablesForm(forms[tables[0].name].format, tables, forms)


def nest_rows(collection: Collection, policy: Policy) -> Collection:
    """Return a collection of flat rows whose release is a folder of tables, since the policy nests them.

    Any other collection is returned unchanged. Raises PolicyError for a rule on a column that joins tables.
    """
    if not isinstance(collection.form, TableForm) or not (tables := shaped_tables(policy)):
        return collection
    for path, reason in find_joined(policy):
        raise PolicyError(reason, path=path)
    return replace(collection, form=_shape_form({"": collection.form}, tables, policy))


def _combine_tables(policy: Policy, parts: Mapping[str, Collection]) -> Collection:
    forms = {name: part.form for name, part in parts.items() if isinstance(part.form, TableForm)}

    def documents() -> Iterator[Document]:
        return nest(
            policy.joined_tables, {name: _name_errors(name, part.documents()) for name, part in parts.items()}
        )

    tables = shaped_tables(policy)

    def kinds() -> Kinds:
        whole = Kinds()
        at = _places_of(tables)
        for shaped in tables:
            noted = parts[shaped.origin].kinds
            if noted is not None:
                reduce(Kinds.at, at[shaped.table.name], whole).below.update(noted().below)
        return whole

    return Collection(_shape_form(forms, tables, policy), documents, kinds=kinds)


def _shape_form(forms: Mapping[str, TableForm], tables: ShapedTables, policy: Policy) -> TablesForm:
    """Return the form of a release of shaped tables; ``forms`` are those of the tables of the input."""
    at, shaped_forms = _places_of(tables), {}
    for shaped in tables:
        table, form = shaped.table, forms[shaped.origin]
        known = {new.name: forms[new.table].layout.types.get(new.column) for new in shaped.added if new.table}
        types = form.layout.types | {name: kind for name, kind in known.items() if kind is not None}
        own = form.layout.columns
        first = (column for column in table.joins if column not in own)
        columns = dict.fromkeys((*first, *own, *(new.name for new in shaped.added))) if own else ()
        layout = replace(form.layout, columns=tuple(columns), types=types)
        shaped_forms[table.name] = replace(form, layout=layout, base=at[table.name], joins=table.joins)
    published = tuple(one.table for one in tables if not _is_dropped(at[one.table.name], policy))
    return TablesForm(shaped_forms[tables[0].table.name].format, published, shaped_forms)


def _places_of(tables: ShapedTables) -> dict[str, Keys]:
    """Return the keys of the rows of each table."""
    return places([shaped.table for shaped in tables])


def _place_of_rows(table: Table, policy: Policy) -> Keys:
    """Return the keys that the rows of a table of the input have once they are shaped."""
    tables = shaped_tables(policy)
    return next(
        _places_of(tables)[shaped.table.name] for shaped in reversed(tables) if shaped.origin == table.name
    )


def _is_dropped(place: Keys, policy: Policy) -> bool:
    """Return whether the policy drops the whole table at a place."""
    return any(place[:count] in policy.forbidden_fields for count in range(1, len(place) + 1))


def _file_of(folder: Path, table: Table, policy: Policy) -> Path:
    rule = (policy.tables or {}).get(table.name)
    stated = None if rule is None else rule.file
    if stated is not None and (folder / stated).exists():
        return folder / stated
    found = [file for end in _SUFFIXES if (file := folder / f"{table.name}{end}").exists()]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(
            f"the table {table.name}: there are {len(found)} files: name one of them with `file`"
        )
    due = stated or f"{table.name}.csv, .csv.gz or .parquet"
    raise InputError(f"the table {table.name}: the folder has no file {due}")


def _from_file(file: Path, table: Table, policy: Policy) -> Collection:
    base = _place_of_rows(table, policy)
    source: Source = PathSource(file)
    with _name_table(table.name):
        format = format_of(file.name, policy, base, table.name)
        source = decode_source(source, format, policy.encoding)
        layout = open_input(source, format, ())
        if format.is_tabular:
            check_columns(layout, policy, base, table.joins)
    packed = ".gz" if file.name.lower().endswith(".gz") else ""
    form = TableForm(format, layout, format.extension + packed, base=base, joins=table.joins)
    flat = iter if format.is_tabular else _flat
    return Collection(form, lambda: flat(read_file(source, format, layout)))


def _open_given(given: object, table: Table, policy: Policy) -> Collection:
    if given is None:
        raise InputError(f"the table {table.name}: it is not among the tables given")
    if isinstance(given, str | os.PathLike):
        return _from_file(Path(given), table, policy)
    if is_table(given):
        with _name_table(table.name):
            return table_collection(given, policy, _place_of_rows(table, policy), table.joins)
    if not isinstance(given, Iterable) or isinstance(given, bytes | dict):
        raise PolicyError(
            f"the table {table.name}: it must be a path, a table in memory or a list of dicts, "
            f"not {type(given).__name__}"
        )
    items = list(given)
    format = FORMATS["jsonl"]()
    form = TableForm(format, Layout(), format.extension)
    return Collection(
        form,
        lambda: _flat(from_python(item, record=at) for at, item in enumerate(items, 1)),
        kinds=partial(Kinds.of, items),
    )


def _require_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise TargetError("there is no such folder", path=str(folder))


def _flat(rows: Iterable[Document]) -> Iterator[Document]:
    """Yield the rows of JSON Lines or dicts. Raises InputError for a cell with more than one value."""
    for number, row in enumerate(rows, 1):
        if any(isinstance(cell, dict | list) for cell in row.values()):
            raise InputError("a cell of a table must contain a single value", record=number)
        yield row


def _with_fresh_keys(table: Table, rows: Iterable[Document]) -> Iterator[Document]:
    """Yield the rows of a published table. Raises VerificationError if a key is not the number of its row."""
    for number, row in enumerate(rows, 1):
        if table.key is not None and row.get(table.key) not in (number, str(number)):
            raise VerificationError(
                f"the table {table.name}: its keys must be the numbers of its rows; others could name people"
            )
        yield row


def _name_errors(table: str, rows: Iterable[Document]) -> Iterator[Document]:
    """Yield the rows of a table; errors get the name of the table."""
    with _name_table(table):
        yield from rows


@contextmanager
def _name_table(table: str) -> Iterator[None]:
    try:
        yield
    except HierdataError as error:
        raise type(error)(f"the table {table}: {line}" for line in str(error).split("\n")) from None
