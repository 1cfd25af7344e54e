"""PostgreSQL servers: how they are found and asked; what their refusals mean, in sentences without values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

from hierdata.errors import PolicyError, TargetError

try:
    import psycopg
    from sqlalchemy import URL, Connection, Engine, create_engine
    from sqlalchemy.exc import DBAPIError, SQLAlchemyError
    from sqlalchemy.exc import TimeoutError as PoolTimeout
    from sqlalchemy.pool import NullPool
except ImportError:
    raise PolicyError("PostgreSQL needs SQLAlchemy and psycopg: install hierdata[postgresql]") from None

Answer = TypeVar("Answer")

LONGEST_NAME = 63
"""Bytes of a name; the server cuts longer ones without a word."""
_PATIENCE = "10"
"""Seconds until a server that does not answer is given up, where the address does not say."""
_PART = r'"(?:[^"]|"")+"|[^".]+'
_NAME = re.compile(rf"(?:({_PART})\.)?({_PART})")
_BY_STATE = {
    "08": "the server has gone, or the connection to it broke",
    "0A": "the server does not know how to do this",
    "22": "a value does not fit what the query does with it",
    "22P05": "a text holds the character U+0000, which PostgreSQL does not hold",
    "25006": "the query wants to write, and it is only read",
    "25P02": "the server gave up the transaction",
    "28": "the server does not let this user in: check name and password",
    "3D000": "there is no such database",
    "3F000": "there is no such schema",
    "40": "the server gave up the transaction, since others were in its way",
    "42501": "the server does not allow it: the user lacks the right",
    "42601": "the query is not SQL that the server understands, or it is more than one",
    "42702": "the query names a column that could be one of several",
    "42703": "there is no such column",
    "42710": "is already there; choose a new name",
    "42723": "is already there; choose a new name",
    "42883": "the query uses a function or an operator that there is not",
    "42P01": "there is no such table",
    "42P07": "is already there; choose a new name",
    "42": "the server does not take the query",
    "53": "the server has run out of memory, disk or connections",
    "54": "a row or a table is larger than PostgreSQL allows",
    "55P03": "a table is locked by somebody else",
    "57014": "the server stopped the query, as somebody asked or its time was over",
    "57": "the server has gone, or the connection to it broke",
    "58": "the server has a trouble of its own",
}
"""What a state of SQL means, by the whole or by its class."""
_BY_WORDS = {
    "authentication failed": "28",
    "no password supplied": "28",
    "no pg_hba.conf entry": "28",
    "not permitted to log in": "28",
    "role ": "28",
    "database ": "3D000",
}
"""What is told without a state: a connection that could not be made."""


@dataclass(frozen=True)
class Name:
    """A table, by the schema that it lies in, or by the search path of the connection."""

    schema: str | None
    table: str


def named(text: str) -> Name:
    """Read ``schema.table``; in double quotes a part may hold dots.

    >>> named("students"), named('school."a.b"')
    (Name(schema=None, table='students'), Name(schema='school', table='a.b'))
    """
    found = _NAME.fullmatch(text)
    if found is None:
        raise PolicyError("the name of a table is `table` or `schema.table`; put parts with dots in quotes")
    schema, table = (None if part is None else _unquoted(part) for part in found.groups())
    assert table is not None, "the second part is not optional"
    return _short(Name(schema, table))


def beside(name: Name, part: str) -> Name:
    """The table for a part of what has a name: ``release_courses``."""
    return _short(Name(name.schema, f"{name.table}_{part}"))


def _unquoted(part: str) -> str:
    return part[1:-1].replace('""', '"') if part.startswith('"') else part


def _short(name: Name) -> Name:
    for part in (name.schema or "", name.table):
        if len(part.encode("utf-8", "replace")) > LONGEST_NAME:
            raise PolicyError(f"a name has more than {LONGEST_NAME} bytes, which PostgreSQL would cut")
        if "\0" in part:
            raise PolicyError("a name holds the character U+0000")
    return name


@dataclass(frozen=True)
class Server:
    """A database: the engine that connects to it, and where it is, for people."""

    engine: Engine
    place: str
    own: bool

    @classmethod
    def of(cls, source: object) -> tuple[Server, str | None, str | None]:
        """The server of an address, an engine or a connection; the table and column that an address names.

        Raises PolicyError for anything else, and never shows it: it may hold a password.
        """
        if isinstance(source, str):
            url, table, column = _read(source)
            limits = {} if "connect_timeout" in url.query else {"connect_timeout": _PATIENCE}
            engine = create_engine(url, poolclass=NullPool, hide_parameters=True, connect_args=limits)
            return cls(engine, _place(url), True), table, column
        given = source.engine if isinstance(source, Connection) else source
        if not isinstance(given, Engine):
            raise PolicyError("an engine or a connection of SQLAlchemy is due, and none that is asynchronous")
        if given.dialect.name != "postgresql":
            raise PolicyError("the engine is of another database than PostgreSQL")
        if (
            given.dialect.driver != "psycopg"
        ):  # others take several statements at once, and hide one in a query
            raise PolicyError("the engine needs the driver psycopg: postgresql+psycopg://...")
        return cls(given, _place(given.url), False), None, None

    def close(self) -> None:
        """Forget the connections that were opened for an address."""
        if self.own:
            self.engine.dispose()


def _read(address: str) -> tuple[URL, str | None, str | None]:
    """The parts of an address: user, password, host, port and database, and perhaps a table and a column."""
    wrong = "the address must be postgresql://user@host:port/database, perhaps with /table or /table#column"
    try:
        parts = urlsplit(address)
        user, _, place = parts.netloc.rpartition("@")
        found = re.fullmatch(r"(\[[^\]]+\]|[^:,]*)(?::([0-9]{1,5}))?", place)
        query = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
    except ValueError:
        found = None
    if found is None:
        raise PolicyError(wrong)
    database, _, table = parts.path.removeprefix("/").partition("/")
    if "/" in table:
        raise PolicyError(wrong)
    name, colon, password = user.partition(":")
    url = URL.create(
        "postgresql+psycopg",
        unquote(name) or None,
        unquote(password) if colon else None,
        unquote(found[1]).strip("[]") or None,
        int(found[2]) if found[2] else None,
        unquote(database) or None,
        query,
    )
    return url, unquote(table) or None, unquote(parts.fragment) or None


def _place(url: URL) -> str:
    host = f"{url.host or ''}{f':{url.port}' if url.port else ''}"
    return f"postgresql://{host}/{url.database or ''}"


def asked(place: str, question: Callable[[], Answer]) -> Answer:
    """The server's answer; what goes wrong is said in a sentence of ours, and the driver's error is gone."""
    try:
        return question()
    except (SQLAlchemyError, psycopg.Error) as error:
        refused = TargetError(_sentence(error), path=place)
    raise refused


@contextmanager
def connected(server: Server, **options: Any) -> Iterator[Connection]:
    """A connection of our own, whose transaction is rolled back unless it was committed.

    Dates, times and numbers are spelled in one way, whatever the server's settings are.
    """
    connection = asked(server.place, server.engine.connect)
    try:
        yield asked(server.place, partial(_settled, connection, options))
    finally:
        _left(connection)


def _settled(connection: Connection, options: Mapping[str, Any]) -> Connection:
    connection = connection.execution_options(**options)
    connection.exec_driver_sql(
        "SELECT set_config('datestyle', 'ISO, YMD', true), set_config('timezone', 'UTC', true), "
        "set_config('intervalstyle', 'iso_8601', true), set_config('extra_float_digits', '1', true), "
        "set_config('bytea_output', 'hex', true)"
    )
    return connection


def _left(connection: Connection) -> None:
    """Close a connection, even where the server has gone: its transaction has gone with it then."""
    try:
        connection.close()
    except (SQLAlchemyError, psycopg.Error):
        connection.invalidate()


def _sentence(error: Exception) -> str:
    origin = error.orig if isinstance(error, DBAPIError) else error
    state = getattr(origin, "sqlstate", None) or getattr(origin, "pgcode", None)
    if state is None and isinstance(origin, psycopg.OperationalError):
        told = str(origin)  # by the library that connects; it may quote names, so it is not passed on
        state = next((state for words, state in _BY_WORDS.items() if words in told), None)
        if state is None:
            gone = isinstance(error, DBAPIError) and error.connection_invalidated
            return _BY_STATE["08"] if gone else "no server answers there, or it does not let us in"
    if state is not None:
        known = _BY_STATE.get(state) or _BY_STATE.get(state[:2])
        return known or f"the server refused (state {state if state.isalnum() else 'unknown'})"
    if isinstance(error, PoolTimeout):
        return "no connection of the engine's pool became free"
    return f"the driver refused ({type(origin).__name__})"
