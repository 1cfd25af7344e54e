"""Tables of PostgreSQL: documents in a column, or rows; read in one snapshot, written in one transaction.

SQLAlchemy is imported on first use.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from hierdata.documents.document import Document
from hierdata.ground.errors import InputError, PolicyError, TargetError
from hierdata.records.keyed import Table
from hierdata.sources.stores.base import Exported, Staged, Store

if TYPE_CHECKING:
    from hierdata.sources.stores.postgresql_reading import Relation


@dataclass(frozen=True)
class Rows:
    """Rows on a PostgreSQL server: a table, or the result of a query.

    ``of`` is an address ``postgresql://host/database``, or an Engine or Connection of SQLAlchemy. An address
    may name table and column itself, ``postgresql://host/database/table#column``, and needs no Rows then. Of
    a connection only its engine is used, so a transaction on the connection is not affected. ``table`` may
    include a schema, ``school.students``, with quotes around a part that has a dot. ``column`` is the column
    of type json or jsonb that contains whole documents; it can be omitted if the table has no other column.

    >>> Rows("postgresql://steward:secret@host/school", table="students", column="doc")
    Rows(table='students', query=None, column='doc')
    """

    of: object = field(repr=False)
    table: str | None = None
    query: str | None = None
    column: str | None = None


class PostgresStore(Store):
    """A table or a query, given by the address of the server or as ``Rows``.

    If the policy has ``tables``, it is the tables of these names; a table name in the address is then a
    prefix, followed by ``_``. So a release of several tables has one name too.
    """

    format: ClassVar[str | None] = "jsonl"

    def __init__(self, source: object, batch: int, options: Mapping[str, str]) -> None:
        from hierdata.sources.stores.postgresql_server import Server, parse_name

        rows = source if isinstance(source, Rows) else Rows(source)
        if options:
            raise PolicyError("options cannot select rows of PostgreSQL here: use hierdata.Rows")
        self._batch = batch
        self._server, table, column = Server.of(rows.of)
        if table is not None and (rows.table or rows.query) is not None:
            raise PolicyError("the address already names a table: remove the other name or the query")
        table = rows.table if table is None else table
        if table is not None and rows.query is not None:
            raise PolicyError("both a table and a query are given: use one of them")
        self._table = None if table is None else parse_name(table)
        self._query, self._column = rows.query, rows.column or column
        called = "the query" if rows.query is not None else "" if table is None else f"the table {table}"
        self.location = f"{called} of {self._server.location}" if called else self._server.location
        self._relations: dict[str | None, Relation] = {}

    @classmethod
    def recognizes(cls, source: object) -> bool:
        """Return whether something is Rows, or an engine or connection of SQLAlchemy, even asynchronous."""
        names = {(base.__module__.partition(".")[0], base.__name__) for base in type(source).__mro__}
        kinds = ("Engine", "Connection", "AsyncEngine", "AsyncConnection")
        return isinstance(source, Rows) or bool(names & {("sqlalchemy", kind) for kind in kinds})

    def documents(self) -> Iterator[Document]:
        """Yield the records, in one pass and in batches. Raises InputError for the first invalid one."""
        from hierdata.documents.formats import FORMATS, Layout
        from hierdata.ground.private_folder import PrivateFolder

        with PrivateFolder(None, "the records") as folder:
            path = self.export(folder).path
            with path.open("rb") as stream:
                yield from FORMATS["jsonl"]().read(stream, Layout())

    def export(
        self,
        folder: Path,
        *,
        tables: tuple[Table, ...] = (),
        lookups: tuple[str, ...] = (),
        published: bool = False,
        listed: Collection[str] = (),
    ) -> Exported:
        """Copy the rows to JSON Lines, all in one snapshot (see Store.export)."""
        from hierdata.sources.stores.postgresql_reading import copy, relation, snapshot

        path = folder / "records" if tables else folder / "records.jsonl"
        if tables:
            self._refuse_one()
            path.mkdir(mode=0o700)
        with snapshot(self._server) as connection:
            beside = tuple(Table(name, parent=tables[0].name) for name in lookups)
            for table in (*tables, *beside) or (None,):
                name = None if table is None else table.name
                rows = relation(connection, self._server, self._source(table), self._column)
                self._relations[name] = rows
                file = path if table is None else path / f"{table.name}.jsonl"
                order = None if table is None or not published else table.key
                count = copy(connection, rows, file, self._batch, order)
                if not count and (table is None or table.parent is None):
                    raise InputError("there are no rows: there is nothing to anonymize", path=rows.location)
        return Exported(path)

    def refuse(self, source: Store | None) -> None:
        """Raise TargetError for the source itself and for any taken name (see Store.refuse)."""
        from hierdata.sources.stores.postgresql_reading import exists

        if self._query is not None:
            raise PolicyError("a query cannot be written to: name a new table")
        if self._table is None:
            raise PolicyError("name the new table: postgresql://host/database/table", path=self.location)
        if exists(self._server, self._table):
            same = (
                isinstance(source, PostgresStore)
                and source._server.location == self._server.location
                and source._table == self._table
            )
            why = (
                "this is the source, which a release cannot replace: choose"
                if same
                else "is already there; choose"
            )
            raise TargetError(f"{why} a new name", path=self.location)

    def staging(
        self, source: Store | None, *, tables: tuple[Table, ...] = ()
    ) -> AbstractContextManager[Staged]:
        """Return a transaction that creates the tables (see Store.staging).

        Rows of a PostgreSQL source stay rows with its types; all other sources are written as documents.
        """
        from hierdata.sources.stores.postgresql_target import PostgresTarget, begin_target

        assert self._table is not None, "refuse came first"
        relations = source._relations if isinstance(source, PostgresStore) else {}
        whole = relations.get(None)
        if self._column is not None or (not tables and (whole is None or whole.document is not None)):
            column = self._column or (whole.document if whole is not None else None) or "doc"
        else:
            column = None
        types = {name: relation.types for name, relation in relations.items()}
        return begin_target(
            PostgresTarget(self._server, self._table, self.location, self._batch, tables, types, column)
        )

    def close(self) -> None:
        """Close the connections that an address opened."""
        self._server.close()

    def _source(self, table: Table | None) -> Any:
        """Return the query or the name of the table; with several tables, the one of this name."""
        from hierdata.sources.stores.postgresql_server import Name, part_name

        if table is not None:
            return Name(None, table.name) if self._table is None else part_name(self._table, table.name)
        if self._query is not None:
            return self._query
        if self._table is None:
            raise PolicyError("name the rows to read: --table or --query, in Python hierdata.Rows")
        return self._table

    def _refuse_one(self) -> None:
        if self._query is not None or self._column is not None:
            raise PolicyError("`tables` joins tables by their names: remove --query and --column")
