"""Collections in several keyed tables: a folder with a file for each table, or tables in memory."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from hierdata.documents.formats.source import PathSource, Source, write_stream
from hierdata.ground.errors import HierdataError, InputError, PolicyError, TargetError, VerificationError
from hierdata.policy.policy import Policy
from hierdata.policy.shaped_tables import find_joined, shaped_tables
from hierdata.records.flatten import joined, split
from hierdata.records.joining import nest, nest_in_order
from hierdata.records.keyed import Lookup, Table, all_places, find_at, places
from hierdata.records.shape.tables import ShapedTables
from hierdata.records.survey import Keys
from hierdata.sources.columns import TableForm, check_columns, decode_source, format_of, published_form
from hierdata.sources.form import Collection, FileForm, Form, file_in, make_folder, open_input
from hierdata.sources.objects import read_objects, table_collection
from hierdata.sources.resources import ResourceSpelling
from hierdata.sources.rows import KeyedRows, RowPart, RowReading
from hierdata.sources.splits import measure_split

RECORDS = "records"
"""The part of a release that is a folder of tables; every other part is one table."""

_SUFFIXES = tuple(suffix for kind in FORMATS.values() for suffix in kind.table_suffixes)


@dataclass(frozen=True)
class TablesForm(Form):
    """A folder with one file for each table, keys being numbers from 1; other parts are one joined table."""

    format: Format
    tables: tuple[Table, ...]
    forms: Mapping[str, TableForm]
    resources: ResourceSpelling | None = None

    def name(self, part: str) -> str:
        """Return the folder of the records; any other part is a file like the root's."""
        return part if part == RECORDS else self._root.name(part)

    def write(self, documents: Iterable[Document], path: Path, element: str | None = None) -> None:
        """Write a file for each table (see Form.write)."""
        if path.name != RECORDS:
            replace(self._root, fixed=False).write(joined(documents), path, element or "value")
            return
        make_folder(path)
        nested = {name for name, form in self.forms.items() if not form.format.is_tabular}
        if self.resources is None:
            rows = split(self.tables, documents, nested)
        else:
            rows = self.resources.tag(split(self.tables, self.resources.to_rows(documents), nested))
        if not self._root.fixed:
            held: dict[str, list[Document]] = {table.name: [] for table in self.tables}
            for name, row in rows:
                held[name].append(row)
            for name, held_rows in held.items():
                self.forms[name].write(held_rows, path / self.forms[name].name(name))
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
        if self.resources is None:
            return nest_in_order(self.tables, rows)
        rows = {name: self.resources.untag(name, of_table) for name, of_table in rows.items()}
        return self.resources.from_rows(nest_in_order(self.tables, rows))

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
    files = {table.name: _files_of(folder, table.name, policy) for table in policy.joined_tables}
    opened = {table.name: _from_files(files[table.name], table, policy) for table in policy.joined_tables}
    parts = [part for _, of_table in opened.values() for part in of_table]
    for lookup in policy.lookups:
        parts += _lookup_parts(_files_of(folder, lookup.name, policy), lookup, policy)
    rows = KeyedRows.of(RowReading(policy.joined_tables, policy.lookups), parts)
    tables = shaped_tables(policy)
    forms = {name: collection.form for name, (collection, _) in opened.items()}
    form = _shape_form(
        {name: form for name, form in forms.items() if isinstance(form, TableForm)}, tables, policy
    )
    return Collection(form, rows.documents, rows=rows)


def given_tables(tables: Mapping[Any, object], policy: Policy) -> Collection:
    """Return the collection in tables by name: paths, DataFrames, Arrow tables, lists of dicts.

    Raises InputError if a table is missing, PolicyError for one that the policy does not name.
    """
    strangers = tables.keys() - {table.name for table in policy.joined_tables}
    if strangers:
        raise PolicyError(f"{len(strangers)} of the tables given are not among the policy's `tables`")
    parts = {table.name: _open_given(tables.get(table.name), table, policy) for table in policy.joined_tables}
    forms = {name: part.form for name, part in parts.items() if isinstance(part.form, TableForm)}
    release_tables = shaped_tables(policy)

    def documents() -> Iterator[Document]:
        return nest(
            policy.joined_tables, {name: _name_errors(name, part.documents()) for name, part in parts.items()}
        )

    def kinds() -> Kinds:
        whole = Kinds()
        bases = _places_of(release_tables)
        for shaped in release_tables:
            noted = parts[shaped.origin].kinds
            if noted is not None:
                reduce(Kinds.child, bases[shaped.table.name], whole).below.update(noted().below)
        return whole

    return Collection(_shape_form(forms, release_tables, policy), documents, kinds=kinds)


def tables_form(folder: Path, policy: Policy) -> Form:
    """Return the form of the tables in a published folder."""
    _require_folder(folder)
    every = shaped_tables(policy)
    if not every:
        raise PolicyError("this is a folder of tables, but the policy has no `tables`", path=str(folder))
    bases = _places_of(every)
    tables = tuple(
        shaped.table
        for shaped in every
        if not _is_dropped(shaped.table.name, every, policy)
        or any((folder / f"{shaped.table.name}{end}").exists() for end in _SUFFIXES)
    )
    forms = {}
    for table in tables:
        (file,) = _files_of(folder, table.name, policy)
        format = format_of(file.name, policy, bases[table.name], table.name)
        suffix = file.name.removeprefix(table.name)
        forms[table.name] = published_form(PathSource(file), format, suffix, policy)
    resources = None if policy.standard is None else ResourceSpelling.by(policy)
    return TablesForm(forms[tables[0].name].format, tables, forms, resources)


def nest_rows(collection: Collection, policy: Policy) -> Collection:
    """Return a collection of flat rows whose release is a folder of tables, since the policy nests them.

    Any other collection is returned unchanged. Raises PolicyError for a rule on a column that joins tables.
    """
    if not isinstance(collection.form, TableForm) or not (tables := shaped_tables(policy)):
        return collection
    for path, reason in find_joined(policy):
        raise PolicyError(reason, path=path)
    return replace(collection, form=_shape_form({"": collection.form}, tables, policy))


def _shape_form(forms: Mapping[str, TableForm], tables: ShapedTables, policy: Policy) -> TablesForm:
    """Return the form of a release of shaped tables; ``forms`` are those of the tables of the input."""
    bases, shaped_forms = _places_of(tables), {}
    for shaped in tables:
        table, form = shaped.table, forms[shaped.origin]
        known = {new.name: forms[new.table].layout.types.get(new.column) for new in shaped.added if new.table}
        types = form.layout.types | {name: kind for name, kind in known.items() if kind is not None}
        names = form.layout.columns
        first = (column for column in table.joins if column not in names)
        columns = dict.fromkeys((*first, *names, *(new.name for new in shaped.added))) if names else ()
        layout = replace(form.layout, columns=tuple(columns), types=types)
        shaped_forms[table.name] = replace(form, layout=layout, base=bases[table.name], joins=table.joins)
    return TablesForm(shaped_forms[tables[0].table.name].format, published_tables(policy), shaped_forms)


def published_tables(policy: Policy) -> tuple[Table, ...]:
    """Return the tables of a release: those that the policy does not drop as a whole."""
    tables = shaped_tables(policy)
    return tuple(shaped.table for shaped in tables if not _is_dropped(shaped.table.name, tables, policy))


def _places_of(tables: ShapedTables) -> dict[str, Keys]:
    """Return the keys of the rows of each table."""
    return places([shaped.table for shaped in tables])


def _place_of_rows(table: Table, policy: Policy) -> Keys:
    """Return the keys that the rows of a table of the input have once they are shaped."""
    tables = shaped_tables(policy)
    return next(
        _places_of(tables)[shaped.table.name] for shaped in reversed(tables) if shaped.origin == table.name
    )


def _is_dropped(name: str, tables: ShapedTables, policy: Policy) -> bool:
    """Return whether the policy drops a whole table, at each place of its rows."""
    return all(
        any(keys[:count] in policy.forbidden_fields for count in range(1, len(keys) + 1))
        for keys in all_places([shaped.table for shaped in tables])[name]
    )


def _files_of(folder: Path, table: str, policy: Policy) -> list[Path]:
    """Return the file of a table, or the files of JSON Lines that are its parts, in the order of numbers."""
    rule = (policy.tables or {}).get(table)
    stated = None if rule is None else rule.file
    if stated is not None and (folder / stated).exists():
        return [folder / stated]
    files = [file for end in _SUFFIXES if (file := folder / f"{table}{end}").exists()]
    if len(files) == 1:
        return files
    if files:
        raise InputError(f"the table {table}: there are {len(files)} files: name one of them with `file`")
    parts = find_parts(folder, table) if stated is None else []
    if parts:
        return parts
    due = stated or f"{table}.csv, .csv.gz, .parquet, .ndjson or .jsonl"
    raise InputError(f"the table {table}: the folder has no file {due}")


def find_parts(folder: Path, table: str) -> list[Path]:
    """Return the numbered parts of a table, such as ``visits.000.ndjson``, in the order of their numbers."""
    numbered = re.compile(re.escape(table) + r"[._-]([0-9]{1,18})\.(?:jsonl|ndjson)(?:\.gz)?")
    parts = [(int(match[1]), file) for file in folder.iterdir() if (match := numbered.fullmatch(file.name))]
    return [file for _, file in sorted(parts)]


def _from_files(files: Sequence[Path], table: Table, policy: Policy) -> tuple[Collection, list[RowPart]]:
    """Return a table in one file or several, and the parts of these; its form is that of the first."""
    collections = [_from_file(file, table, policy) for file in files]
    return collections[0], [
        part
        for file, collection in zip(files, collections, strict=True)
        for part in _cut_file(table.name, file, collection, alone=len(files) == 1)
    ]


def _cut_file(name: str, file: Path, collection: Collection, *, alone: bool) -> list[RowPart]:
    """Return the parts of a file of a table; errors name the file where the table has several."""
    called = f"the table {name}" if alone else f"the table {name}, {file.name}"
    return [RowPart(name, called, split, measure_split(split, file)) for split in collection.splits()]


def _lookup_parts(files: Sequence[Path], lookup: Lookup, policy: Policy) -> list[RowPart]:
    """Return the parts of the files of a table of rows that belong to nobody."""
    parts = []
    for file in files:
        format = format_of(file.name, policy, (), lookup.name)
        source = decode_source(PathSource(file), format, policy.encoding)
        with _name_table(lookup.name):
            layout = open_input(source, format, ())
        collection = file_in(source, format, layout, FileForm(format, layout, format.extension))
        parts += _cut_file(lookup.name, file, collection, alone=len(files) == 1)
    return parts


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
    return file_in(source, format, layout, form)


def _open_given(source: object, table: Table, policy: Policy) -> Collection:
    if source is None:
        raise InputError(f"the table {table.name}: it is not among the tables given")
    if isinstance(source, str | os.PathLike):
        return _from_file(Path(source), table, policy)
    if is_table(source):
        with _name_table(table.name):
            return table_collection(source, policy, _place_of_rows(table, policy), table.joins)
    if not isinstance(source, Iterable) or isinstance(source, bytes | dict):
        raise PolicyError(
            f"the table {table.name}: it must be a path, a table in memory or a list of dicts, "
            f"not {type(source).__name__}"
        )
    items = list(source)
    format = FORMATS["jsonl"]()
    form = TableForm(format, Layout(), format.extension)
    return Collection(
        form,
        partial(read_objects, items),
        kinds=partial(Kinds.of, items),
    )


def _require_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise TargetError("there is no such folder", path=str(folder))


def _with_fresh_keys(table: Table, rows: Iterable[Document]) -> Iterator[Document]:
    """Yield the rows of a published table. Raises VerificationError if a key is not the number of its row."""
    for number, row in enumerate(rows, 1):
        if table.key is not None and find_at(row, table.key) not in (number, str(number)):
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
