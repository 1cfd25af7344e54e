"""New tables in one transaction: either it is committed, or nothing is created."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from psycopg import sql
from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    ForeignKey,
    MetaData,
    Table,
    Text,
    cast,
    func,
    insert,
    literal,
    select,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSON, JSONB
from sqlalchemy.exc import DataError
from sqlalchemy.schema import CreateTable
from sqlalchemy.types import UserDefinedType

from hierdata.documents.document import Document
from hierdata.documents.formats.objects import dumps_exact
from hierdata.records.flatten import split
from hierdata.records.keyed import Table as Keyed
from hierdata.sources.stores.base import RECORDS, Staged, naming
from hierdata.sources.stores.postgresql_reading import Relation, copy
from hierdata.sources.stores.postgresql_server import Name, Server, ask_server, connect, part_name
from hierdata.sources.stores.postgresql_types import JSON as NESTED
from hierdata.sources.stores.postgresql_types import TEXT, Kind, kind_of, must_be_tried, type_of


class _Type(UserDefinedType[Any]):
    """A type of the server, by its name there."""

    cache_ok = True

    def __init__(self, name: str) -> None:
        self.name = name

    def get_col_spec(self, **_: object) -> str:
        """Return the name of the type (called by SQLAlchemy)."""
        return self.name


class PostgresTarget(Staged):
    """Tables for the parts of a release: ``name`` for the records, ``name_part`` for every other part.

    With a ``column`` they contain documents in it. Otherwise they contain rows; each of the keyed ``tables``
    is written to a table ``name_table``. ``types`` are the source's column types, by table (None: the only
    one).
    """

    def __init__(
        self,
        server: Server,
        name: Name,
        location: str,
        batch: int,
        tables: tuple[Keyed, ...],
        types: Mapping[str | None, Mapping[str, str]],
        column: str | None,
    ) -> None:
        self.server, self._name, self._place, self._batch = server, name, location, batch
        self._tables, self._types, self._column = tables, types, column
        self._metadata = MetaData()
        self.connection: Connection

    def write(self, part: str, documents: Iterable[Document]) -> None:
        """Write a part (see Staged.write); the tables are visible only in this transaction."""
        column = self._column
        if column is not None:
            ask_server(self._place, lambda: self._write_documents(column, part, documents))
        else:
            ask_server(self._place, lambda: self._write_rows(part, documents))

    def export(self, part: str, path: Path) -> None:
        """Copy a part back from the server (see Staged.export)."""
        if self._column is None and part == RECORDS and self._tables:
            path.mkdir(mode=0o700)
            for table in self._tables:
                self._copy(self._table_name(part, table), path / f"{table.name}.jsonl", table.key)
        else:
            self._copy(self._table_name(part), path, None)

    def publish(self) -> None:
        """Commit (see Staged.publish)."""
        with naming(self._place):
            ask_server(self._place, self.connection.commit)

    def _copy(self, name: Name, path: Path, order: str | None) -> None:
        copy(self.connection, Relation(name, {}, self._column, self._place), path, self._batch, order)

    def _table_name(self, part: str, table: Keyed | None = None) -> Name:
        if table is not None:
            return part_name(self._name, table.name)
        return self._name if part == RECORDS else part_name(self._name, part)

    def _table(self, name: Name, columns: Sequence[Column[Any]]) -> Table:
        table = Table(name.table, self._metadata, *columns, schema=name.schema)
        self.connection.execute(CreateTable(table))
        return table

    def _write_documents(self, column: str, part: str, documents: Iterable[Document]) -> None:
        table = self._table(self._table_name(part), [Column(column, JSONB, nullable=False)])
        self._copy_rows(table, ((dumps_exact(document),) for document in documents))

    def _write_rows(self, part: str, documents: Iterable[Document]) -> None:
        """Write rows to a temporary table first, since column types are known only after the last row."""
        keyed = self._tables if part == RECORDS else ()
        staged = Table(
            f"hierdata_{secrets.token_hex(8)}",
            self._metadata,
            Column("number", BigInteger),
            Column("part", Text),
            Column("row", JSON),
            prefixes=["TEMPORARY"],
            postgresql_on_commit="DROP",
        )
        self.connection.execute(CreateTable(staged))
        kinds: dict[str, dict[str, set[Kind]]] = {}
        rows = split(keyed, documents) if keyed else ((part, document) for document in documents)
        self._copy_rows(staged, _note_rows(rows, kinds))
        made: dict[str, Table] = {}
        for table in keyed:
            table_rows = _Rows(staged, table.name, self._types.get(table.name, {}), kinds.get(table.name, {}))
            made[table.name] = self._fill(self._table_name(part, table), table_rows, table, made)
        if not keyed:
            types = self._types.get(None, {}) if part == RECORDS else {}
            self._fill(self._table_name(part), _Rows(staged, part, types, kinds.get(part, {})))

    def _copy_rows(self, table: Table, rows: Iterator[tuple[Any, ...]]) -> None:
        columns = sql.SQL(", ").join(sql.Identifier(column.name) for column in table.columns)
        question = sql.SQL("COPY {} ({}) FROM STDIN").format(_quote_table(table), columns)
        with self._driver.cursor() as cursor, cursor.copy(question) as copying:
            for row in rows:
                copying.write_row(row)

    def _fill(
        self, name: Name, rows: _Rows, keyed: Keyed | None = None, made: Mapping[str, Table] | None = None
    ) -> Table:
        """Create a table from staged rows; the keys of keyed tables become primary and foreign keys."""
        joins = () if keyed is None else keyed.joins
        columns: list[Column[Any]] = []
        for column in dict.fromkeys([*joins, *filter(rows.kinds.__contains__, rows.types), *rows.kinds]):
            if keyed is None or column not in joins:
                columns.append(Column(column, _Type(self._type(rows, column))))
            elif column == keyed.key:
                columns.append(Column(column, BigInteger, primary_key=True, autoincrement=False))
            else:
                above = next(other for other in self._tables if other.name == keyed.parent)
                assert made is not None, "parents come before their children"
                reference = ForeignKey(made[above.name].c[above.key or ""])
                columns.append(Column(column, BigInteger, reference, nullable=False))
        table = self._table(name, columns)
        if columns:
            values = [rows.value(column.name, column.type) for column in columns]
            chosen = select(*values).where(rows.chosen).order_by(rows.staged.c.number)
            self.connection.execute(insert(table).from_select([*table.c], chosen))
        else:  # all published values are null: the rows are written without columns
            empty = sql.SQL("INSERT INTO {} SELECT FROM {} WHERE part = %s")
            self._driver.execute(empty.format(_quote_table(table), _quote_table(rows.staged)), [rows.part])
        return table

    @property
    def _driver(self) -> Any:
        """The driver's own connection, in the same transaction."""
        return self.connection.connection.driver_connection

    def _type(self, rows: _Rows, column: str) -> str:
        kinds = rows.kinds[column]
        wanted = type_of(rows.types.get(column), kinds)
        if must_be_tried(wanted, kinds) and not self._fits(rows, column, wanted):
            return TEXT
        return wanted

    def _fits(self, rows: _Rows, column: str, wanted: str) -> bool:
        """Return whether all texts of a column are written as the server writes values of a type."""
        stated = rows.text(column)
        whole = cast(literal("{}"), ARRAY(Text))
        spelled = func.to_jsonb(cast(stated, _Type(wanted))).op("#>>")(whole)
        odd = select(func.count()).select_from(rows.staged).where(rows.chosen, stated != spelled)
        try:
            with self.connection.begin_nested():
                return self.connection.scalar(odd) == 0
        except DataError:
            return False


class _Rows:
    """The staged rows of one table: the source's types, and the kinds of values in each column."""

    def __init__(
        self, staged: Table, part: str, types: Mapping[str, str], kinds: Mapping[str, set[Kind]]
    ) -> None:
        self.staged, self.part, self.types, self.kinds = staged, part, types, kinds
        self.chosen: ColumnElement[bool] = staged.c.part == part

    def text(self, column: str) -> ColumnElement[Any]:
        """Return a value as text."""
        value: ColumnElement[Any] = self.staged.c.row[column].astext
        return value

    def value(self, column: str, type: Any) -> ColumnElement[Any]:
        """Return a value of a type."""
        if isinstance(type, _Type) and type.name == NESTED:
            return func.nullif(cast(self.staged.c.row[column], JSONB), cast(literal("null"), JSONB))
        return cast(self.text(column), type)


def _quote_table(table: Table) -> sql.Identifier:
    """Return the quoted name of a table."""
    return sql.Identifier(*(part for part in (table.schema, table.name) if part is not None))


@contextmanager
def begin_target(target: PostgresTarget) -> Iterator[PostgresTarget]:
    """Yield a target in a transaction, which is rolled back unless it was published."""
    # Set explicitly: an engine may autocommit, or be read-only.
    options = {"isolation_level": "READ COMMITTED", "postgresql_readonly": False}
    with connect(target.server, **options) as connection:
        target.connection = connection
        yield target


def _note_rows(
    rows: Iterable[tuple[str, Document]], kinds_by_part: dict[str, dict[str, set[Kind]]]
) -> Iterator[tuple[int, str, str]]:
    """Yield the rows with number and part, and add the kinds of values of each column."""
    for number, (part, row) in enumerate(rows, 1):
        kinds = kinds_by_part.setdefault(part, {})
        for column, value in row.items():
            kind = kind_of(value)
            known = kinds.setdefault(column, set())
            if kind is not None:
                known.add(kind)
        yield number, part, dumps_exact(row)
