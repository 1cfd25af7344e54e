"""PostgreSQL servers: connections, requests, and error messages without values."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

from hierdata.ground.errors import PolicyError, TargetError, UnavailableError, missing_extra
from hierdata.sources.stores.base import LOST

try:
    import psycopg
    from sqlalchemy import URL, Connection, Engine, create_engine, event
    from sqlalchemy.exc import DBAPIError, SQLAlchemyError
    from sqlalchemy.exc import TimeoutError as PoolTimeout
    from sqlalchemy.pool import NullPool
except ImportError:
    raise missing_extra("PostgreSQL needs SQLAlchemy and psycopg", "postgresql") from None

Answer = TypeVar("Answer")

LONGEST_NAME = 63
"""Maximum bytes of a name; the server silently truncates longer ones."""
_PATIENCE = "10"
"""Timeout in seconds for connecting to a server, if the address states none."""
SILENCE = 600.0
"""Seconds of silence after which the server counts as lost, if the address states no `read_timeout`."""
_PART = r'"(?:[^"]|"")+"|[^".]+'
_NAME = re.compile(rf"(?:({_PART})\.)?({_PART})")
_BY_STATE = {
    "08": LOST,
    "option": "the address has an option with a value that PostgreSQL does not know",
    "0A": "the server does not support this",
    "22": "a value does not fit an operation of the query",
    "22P05": "a text contains the character U+0000, which PostgreSQL does not allow",
    "25006": "the query tries to write, but the transaction is read-only",
    "25P02": "the server aborted the transaction",
    "28": "the server rejects this user: check name and password",
    "3D000": "there is no such database",
    "3F000": "there is no such schema",
    "40": "the server aborted the transaction, since it conflicted with others",
    "42501": "the server's user lacks a privilege",
    "42601": "the query is not valid SQL, or it is more than one statement",
    "42702": "the query names a column that is ambiguous",
    "42703": "there is no such column",
    "42710": "is already there; choose a new name",
    "42723": "is already there; choose a new name",
    "42883": "the query uses a function or an operator that does not exist",
    "42P01": "there is no such table",
    "42P07": "is already there; choose a new name",
    "42": "the server rejects the query",
    "53": "the server has run out of memory, disk or connections",
    "54": "a row or a table is larger than PostgreSQL allows",
    "55P03": "a table is locked by another transaction",
    "57014": "the server stopped the query on request or after a timeout",
    "57": LOST,
    "58": "the server has an internal problem",
}
"""Messages by SQLSTATE, or by its class."""
_PASSING = ("08", "40", "53", "55P03", "57", "58")
"""The states, or their classes, that may be gone later."""
_LOST = "08"
_CONNECTING = ("connection failed", "connection is bad", "connection timeout", "could not translate")
"""Words of libpq and psycopg where no connection was made."""
_BY_WORDS = {
    "authentication failed": "28",
    "no password supplied": "28",
    "no pg_hba.conf entry": "28",
    "not permitted to log in": "28",
    "role ": "28",
    "database ": "3D000",
    "invalid ": "option",
}
"""States of errors without one, by the words of the message: a connection could not be made."""


@dataclass(frozen=True)
class Name:
    """A table in a schema; without a schema it is found by the search path of the connection."""

    schema: str | None
    table: str


def parse_name(text: str) -> Name:
    """Parse ``schema.table``; a part in double quotes may contain dots.

    >>> parse_name("students"), parse_name('school."a.b"')
    (Name(schema=None, table='students'), Name(schema='school', table='a.b'))
    """
    match = _NAME.fullmatch(text)
    if match is None:
        raise PolicyError(
            "the name of a table must be `table` or `schema.table`; put a part with dots in double "
            "quotes, which the shell must pass on: --table 'school.\"a.b\"'"
        )
    schema, table = (None if part is None else _unquote(part) for part in match.groups())
    assert table is not None, "the second part is not optional"
    return _short(Name(schema, table))


def part_name(name: Name, part: str) -> Name:
    """Return the name of the table for a part, such as ``release_courses``."""
    return _short(Name(name.schema, f"{name.table}_{part}"))


def _unquote(part: str) -> str:
    return part[1:-1].replace('""', '"') if part.startswith('"') else part


def _short(name: Name) -> Name:
    for part in (name.schema or "", name.table):
        if len(part.encode("utf-8", "replace")) > LONGEST_NAME:
            raise PolicyError(f"a name has more than {LONGEST_NAME} bytes, the limit of PostgreSQL")
        if "\0" in part:
            raise PolicyError("a name contains the character U+0000")
    return name


@dataclass(frozen=True)
class Server:
    """A database: the engine that connects to it, and its readable address.

    An engine that ``is_made_here``, for an address, is disposed of by ``close``.
    """

    engine: Engine
    location: str
    is_made_here: bool

    @classmethod
    def of(cls, source: object) -> tuple[Server, str | None, str | None]:
        """Return the server of an address, an engine or a connection, and the table and column in an address.

        Raises PolicyError for anything else, and never shows it: it may contain a password.
        """
        if isinstance(source, str):
            url, silence, table, column = _parse_address(source)
            limits = {} if "connect_timeout" in url.query else {"connect_timeout": _PATIENCE}
            engine = create_engine(url, poolclass=NullPool, hide_parameters=True, connect_args=limits)
            event.listen(engine, "do_connect", partial(_connect_watched, silence))
            return cls(engine, _place(url), True), table, column
        live = source.engine if isinstance(source, Connection) else source
        if not isinstance(live, Engine):
            raise PolicyError("the source must be a synchronous engine or connection of SQLAlchemy")
        if live.dialect.name != "postgresql":
            raise PolicyError("the engine must be for PostgreSQL")
        # Other drivers accept several statements at once, so a query could contain a second one.
        if live.dialect.driver != "psycopg":
            raise PolicyError("the engine needs the driver psycopg: postgresql+psycopg://...")
        return cls(live, _place(live.url), False), None, None

    def close(self) -> None:
        """Close the connections that were opened for an address."""
        if self.is_made_here:
            self.engine.dispose()


def _parse_address(address: str) -> tuple[URL, float, str | None, str | None]:
    """Return the URL, the longest silence, table and column of an address; the last two may be None."""
    wrong = (
        "the address must be postgresql://user@host:port/database, optionally with /table or /table#column"
    )
    try:
        parts = urlsplit(address)
        user, _, host_and_port = parts.netloc.rpartition("@")
        host = re.fullmatch(r"(\[[^\]]+\]|[^:,]*)(?::([0-9]{1,5}))?", host_and_port)
        query = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
        silence = float(query.pop("read_timeout", SILENCE))
    except ValueError:
        host = None
    if host is None:
        raise PolicyError(wrong)
    database, _, table = parts.path.removeprefix("/").partition("/")
    if "/" in table:
        raise PolicyError(wrong)
    name, colon, password = user.partition(":")
    url = URL.create(
        "postgresql+psycopg",
        unquote(name) or None,
        unquote(password) if colon else None,
        unquote(host[1]).strip("[]") or None,
        int(host[2]) if host[2] else None,
        unquote(database) or None,
        query,
    )
    return url, silence, unquote(table) or None, unquote(parts.fragment) or None


def _place(url: URL) -> str:
    host = f"{url.host or ''}{f':{url.port}' if url.port else ''}"
    return f"postgresql://{host}/{url.database or ''}"


def ask_server(location: str, question: Callable[[], Answer]) -> Answer:
    """Return the server's answer; turn the driver's errors into TargetErrors without value or context.

    What may pass, such as a lost connection, is an UnavailableError.
    """
    try:
        return question()
    except (SQLAlchemyError, psycopg.Error) as error:
        refused = _refusal(error, location)
    raise refused


@contextmanager
def connect(server: Server, **options: Any) -> Iterator[Connection]:
    """Open a connection; its transaction is rolled back unless it was committed.

    Dates, times and numbers have a fixed output format, whatever the server's settings are.
    """
    connection = ask_server(server.location, server.engine.connect)
    try:
        yield ask_server(server.location, partial(_set_options, connection, options))
    finally:
        _close_connection(connection)


def _set_options(connection: Connection, options: Mapping[str, Any]) -> Connection:
    connection = connection.execution_options(**options)
    connection.exec_driver_sql(
        "SELECT set_config('datestyle', 'ISO, YMD', true), set_config('timezone', 'UTC', true), "
        "set_config('intervalstyle', 'iso_8601', true), set_config('extra_float_digits', '1', true), "
        "set_config('bytea_output', 'hex', true)"
    )
    return connection


def _close_connection(connection: Connection) -> None:
    """Close a connection, even if the server was lost, which ends the transaction too."""
    try:
        connection.close()
    except (SQLAlchemyError, psycopg.Error):
        with suppress(SQLAlchemyError, psycopg.Error):  # it may be closed already
            connection.invalidate()


def _refusal(error: Exception, location: str) -> TargetError:
    if isinstance(error, PoolTimeout):
        return UnavailableError("no connection in the engine's pool became free in time", path=location)
    lost = isinstance(error, DBAPIError) and error.connection_invalidated
    origin = error.orig if isinstance(error, DBAPIError) else error
    state = getattr(origin, "sqlstate", None) or getattr(origin, "pgcode", None)
    if state is None and isinstance(origin, psycopg.OperationalError):
        message = str(origin)  # a message of libpq; it may quote names, so it is not passed on
        state = next((state for words, state in _BY_WORDS.items() if words in message), None)
        if state is None and any(words in message for words in _CONNECTING) and not lost:
            return UnavailableError("no server answers there, or it refuses the connection", path=location)
        state = state or _LOST
    if state is None:
        return TargetError(f"the driver refused ({type(origin).__name__})", path=location)
    known = _BY_STATE.get(state) or _BY_STATE.get(state[:2])
    kind = UnavailableError if state.startswith(_PASSING) else TargetError
    unknown = f"the server refused (state {state if state.isalnum() else 'unknown'})"
    return kind(known or unknown, path=location)


def _connect_watched(
    silence: float, dialect: object, record: object, stated: Any, options: Any
) -> psycopg.Connection[Any]:
    """Connect (called by SQLAlchemy)."""
    connection = _WatchedConnection.connect(*stated, **options)
    connection.silence = silence
    return connection


class _WatchedConnection(psycopg.Connection[Any]):
    """A connection that is closed once the server was silent for ``silence`` seconds."""

    silence = SILENCE

    def wait(self, gen: Any, *stated: Any, **options: Any) -> Any:
        """Wait for an answer (called by psycopg). Raises OperationalError after too long a silence."""
        try:
            return super().wait(_watch(gen, self.silence), *stated, **options)
        except _SilentError:
            self.pgconn.finish()  # else the end of the transaction would be waited for as long again
            raise


class _SilentError(psycopg.OperationalError):
    pass


def _watch(gen: Generator[Any, Any, Answer], silence: float) -> Generator[Any, Any, Answer]:
    """Pass on what psycopg asks and is told: which of reading and writing is ready, 0 for neither."""
    heard = monotonic()
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if ready:
                heard = monotonic()
            elif monotonic() - heard > silence:
                raise _SilentError("the server is silent")
            wanted = gen.send(ready)
    except StopIteration as end:
        answer: Answer = end.value
        return answer
