"""One pass over rows in one snapshot, as JSON written by the server, so that numbers keep their digits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Connection,
    FromClause,
    Select,
    Text,
    cast,
    column,
    func,
    literal,
    literal_column,
    select,
    table,
    text,
)

from hierdata.documents.formats.source import write_stream
from hierdata.ground.errors import InputError, TargetError
from hierdata.sources.stores.postgresql_server import Name, Server, ask_server, connect

_JSON = ("json", "jsonb")
_ROW = "hierdata_row"
"""The alias of a row in our queries; a column of this name would conflict with it."""
_LINE_ENDS = str.maketrans("\r\n", "  ")
"""In JSON a line end occurs only between values, never within one."""


@dataclass(frozen=True)
class Relation:
    """Rows to read: their table or query, the types of their columns, and the document column, if any."""

    stated: Name | str
    types: dict[str, str]
    document: str | None
    location: str


@contextmanager
def snapshot(server: Server) -> Iterator[Connection]:
    """Open a read-only transaction that reads from one snapshot."""
    with connect(server, isolation_level="REPEATABLE READ", postgresql_readonly=True) as connection:
        yield connection


def relation(connection: Connection, server: Server, stated: Name | str, document: str | None) -> Relation:
    """Inspect a table or a query: its columns, and which of them contains documents.

    Raises TargetError if it does not exist, or if the column is not JSON.
    """
    called = f"the table {stated.table}" if isinstance(stated, Name) else "the query"
    location = f"{called} of {server.location}"
    columns = ask_server(location, lambda: _columns(connection, _source(stated)))
    types = dict(columns)
    if len(types) < len(columns):
        raise TargetError("two columns have the same name: rename one in the query", path=location)
    if document is None and len(types) == 1 and next(iter(types.values())) in _JSON:
        document = next(iter(types))
    if document is not None and document not in types:
        raise TargetError("there is no such column for the documents", path=location)
    if document is not None and types[document] not in _JSON:
        raise TargetError("the column for the documents is neither json nor jsonb", path=location)
    return Relation(stated, types, document, location)


def copy(connection: Connection, rows: Relation, path: Path, batch: int, order: str | None = None) -> int:
    """Write all rows to a new file of JSON Lines that only its owner can read; return their number.

    ``order`` is the column to sort by. Raises InputError for a row without a document.
    """
    source = _source(rows.stated, *(name for name in (rows.document, order) if name is not None))
    document = func.row_to_json(literal_column(_ROW)) if rows.document is None else source.c[rows.document]
    question = _parametrize_query(select(cast(document, Text)), source)
    if order is not None:
        question = question.order_by(source.c[order])
    return ask_server(rows.location, lambda: _write_batch(connection, question, path, batch))


def _write_batch(connection: Connection, question: Select[Any], path: Path, batch: int) -> int:
    path.touch(mode=0o600)
    count = 0
    streamed = {"stream_results": True, "yield_per": batch}
    with write_stream(path) as stream, connection.execute(question, execution_options=streamed) as result:
        for (line,) in result:
            count += 1
            if line is None:
                raise InputError("the column for the documents is empty here", record=count)
            stream.write(line.translate(_LINE_ENDS).encode() + b"\n")
    return count


def exists(server: Server, name: Name) -> bool:
    """Return whether a relation of this name exists: a table, a view, an index."""
    parts = [part.replace('"', '""') for part in (name.schema, name.table) if part is not None]
    question = select(cast(func.to_regclass(literal(".".join(f'"{part}"' for part in parts))), Text))
    with connect(server) as connection:
        return ask_server(server.location, lambda: connection.scalar(question)) is not None


def _source(stated: Name | str, *names: str) -> FromClause:
    """Return the FROM clause of a table or a query, with the columns that are used by name."""
    columns: list[Any] = [column(name) for name in names]
    if isinstance(stated, Name):
        return table(stated.table, *columns, schema=stated.schema).alias(_ROW)
    # Escape colons, which would begin a parameter. The line end closes a comment at the end of the query.
    plain = stated.strip().removesuffix(";").replace(":", "\\:")
    return text(f"{plain}\n").columns(*columns).subquery(_ROW)


def _parametrize_query(question: Select[Any], source: FromClause) -> Select[Any]:
    """Add a parameter: the server then accepts only one statement, so a query cannot contain a second one."""
    return question.select_from(source).where(literal(True))


def _columns(connection: Connection, source: FromClause) -> list[tuple[str, str]]:
    """Return the columns and their types, as the server names them; domains by their base type."""
    nothing = connection.execute(_parametrize_query(select(literal_column(f"{_ROW}.*")), source).limit(0))
    described: Any = nothing.cursor.description if nothing.cursor is not None else ()
    columns = [(entry[0], int(entry[1])) for entry in described]
    nothing.close()
    names = {oid: _type(connection, oid) for oid in {oid for _, oid in columns}}
    return [(name, names[oid]) for name, oid in columns]


def _type(connection: Connection, oid: int) -> str:
    described = connection.execute(
        text(
            "SELECT t.typtype, t.typbasetype, format_type(t.oid, NULL), n.nspname = 'pg_catalog' "
            "FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace "
            "WHERE t.oid = :oid"
        ),
        {"oid": oid},
    ).one()
    kind, base, name, common = described
    if str(kind) in ("d", "b'd'"):
        return _type(connection, int(base))
    return str(name) if common else "text"
