"""Tables of PostgreSQL: documents in a column, or rows; read in one snapshot, written in one transaction.

SQLAlchemy is imported once there is something to do for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from hierdata.documents.document import Document
from hierdata.errors import InputError, PolicyError, TargetError
from hierdata.records.flatten import Table
from hierdata.sources.stores.base import Exported, Staged, Store

if TYPE_CHECKING:
    from hierdata.sources.stores.postgresql_reading import Relation


@dataclass(frozen=True)
class Rows:
    """Rows on a PostgreSQL server: a table, or what a query answers.

    ``of`` is an address ``postgresql://host/database``, or an Engine or Connection of SQLAlchemy. An address
    may name table and column itself, ``postgresql://host/database/table#column``, and needs no Rows then. A
    connection stands for its engine: it is not used itself, so a transaction on it is left alone. ``table``
    may name its schema, ``school.students``, with quotes around a part that has a dot. ``column`` is the one
    of type json or jsonb that holds whole documents; a table with no other column needs not say so.

    >>> Rows("postgresql://steward:secret@host/school", table="students", column="doc")
    Rows(table='students', query=None, column='doc')
    """

    of: object = field(repr=False)
    table: str | None = None
    query: str | None = None
    column: str | None = None


class PostgresStore(Store):
    """A table or a query, by the address of the server or as ``Rows``.

    Under ``tables`` in the policy it is the tables of these names; a table that is named then is the
    beginning of their names, with ``_`` behind it. So a release of several tables has one name too.
    """

    format: ClassVar[str | None] = "jsonl"

    def __init__(self, source: object, batch: int, options: Mapping[str, str]) -> None:
        from hierdata.sources.stores.postgresql_server import Server, named

        rows = source if isinstance(source, Rows) else Rows(source)
        if options:
            raise PolicyError("say which rows are meant with hierdata.Rows")
        self._batch = batch
        self._server, table, column = Server.of(rows.of)
        if table is not None and (rows.table or rows.query) is not None:
            raise PolicyError("the address names a table already: leave the other name or the query out")
        table = rows.table if table is None else table
        if table is not None and rows.query is not None:
            raise PolicyError("a table and a query are given: take one of them")
        self._table = None if table is None else named(table)
        self._query, self._column = rows.query, rows.column or column
        what = "the query" if rows.query is not None else "" if table is None else f"the table {table}"
        self.place = f"{what} of {self._server.place}" if what else self._server.place
        self._relations: dict[str | None, Relation] = {}

    @classmethod
    def recognizes(cls, source: object) -> bool:
        """Whether something is Rows, or an engine or connection of SQLAlchemy, be it asynchronous."""
        names = {(base.__module__.partition(".")[0], base.__name__) for base in type(source).__mro__}
        kinds = ("Engine", "Connection", "AsyncEngine", "AsyncConnection")
        return isinstance(source, Rows) or bool(names & {("sqlalchemy", kind) for kind in kinds})

    def documents(self) -> Iterator[Document]:
        """The records, in one pass and in batches; InputError for the first that no record can be."""
        from hierdata.documents.formats import FORMATS, Layout
        from hierdata.documents.private_folder import PrivateFolder

        with PrivateFolder(None, "the records") as folder:
            path = self.export(folder).path
            with path.open("rb") as stream:
                yield from FORMATS["jsonl"]().read(stream, Layout())

    def export(
        self,
        folder: Path,
        *,
        tables: tuple[Table, ...] = (),
        published: bool = False,
        listed: Collection[str] = (),
    ) -> Exported:
        """Copy the rows into JSON Lines, all in one snapshot (see Store.export)."""
        from hierdata.sources.stores.postgresql_reading import copy, relation, snapshot

        path = folder / "records" if tables else folder / "records.jsonl"
        if tables:
            self._refuse_one()
            path.mkdir(mode=0o700)
        with snapshot(self._server) as connection:
            for table in tables or (None,):
                name = None if table is None else table.name
                found = relation(connection, self._server, self._source(table), self._column)
                self._relations[name] = found
                file = path if table is None else path / f"{table.name}.jsonl"
                order = None if table is None or not published else table.key
                count = copy(connection, found, file, self._batch, order)
                if not count and (table is None or table.parent is None):
                    raise InputError("there are no rows: there is nothing to anonymize", path=found.place)
        return Exported(path)

    def refuse(self, source: Store | None) -> None:
        """Refuse the source itself, and any name that is taken (see Store.refuse)."""
        from hierdata.sources.stores.postgresql_reading import exists

        if self._query is not None:
            raise PolicyError("a query is read, not written to: name a new table")
        if self._table is None:
            raise PolicyError("name the new table: postgresql://host/database/table", path=self.place)
        if exists(self._server, self._table):
            same = (
                isinstance(source, PostgresStore)
                and source._server.place == self._server.place
                and source._table == self._table
            )
            why = (
                "this is the source, which no release replaces: choose"
                if same
                else "is already there; choose"
            )
            raise TargetError(f"{why} a new name", path=self.place)

    def staging(
        self, source: Store | None, *, tables: tuple[Table, ...] = ()
    ) -> AbstractContextManager[Staged]:
        """A transaction in which the tables are made (see Store.staging).

        Rows stay rows with the source's types; from anywhere else, and from documents, come documents.
        """
        from hierdata.sources.stores.postgresql_target import Target, begun

        assert self._table is not None, "refuse came first"
        relations = source._relations if isinstance(source, PostgresStore) else {}
        whole = relations.get(None)
        if self._column is not None or (not tables and (whole is None or whole.document is not None)):
            column = self._column or (whole.document if whole is not None else None) or "doc"
        else:
            column = None
        types = {name: relation.types for name, relation in relations.items()}
        return begun(Target(self._server, self._table, self.place, self._batch, tables, types, column))

    def close(self) -> None:
        """Close the connections that an address opened."""
        self._server.close()

    def _source(self, table: Table | None) -> Any:
        """The query, or the table that is meant: of several the one of this name."""
        from hierdata.sources.stores.postgresql_server import Name, beside

        if table is not None:
            return Name(None, table.name) if self._table is None else beside(self._table, table.name)
        if self._query is not None:
            return self._query
        if self._table is None:
            raise PolicyError("say which rows are meant: --table or --query, from Python hierdata.Rows")
        return self._table

    def _refuse_one(self) -> None:
        if self._query is not None or self._column is not None:
            raise PolicyError("`tables` joins tables by their names: leave --query and --column out")
