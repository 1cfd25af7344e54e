"""What addresses, live objects and servers are refused for; the servers themselves are in tests/stores.

Nothing connects here: where a server would answer, its answer is given.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
import sqlalchemy

import hierdata
from hierdata.documents.formats.csv import Csv
from hierdata.executors.base import WorkerError
from hierdata.executors.spark import SparkHeld, _translate_errors
from hierdata.ground.errors import InputError, PolicyError, TargetError, UnavailableError
from hierdata.pipeline.publish import form_in
from hierdata.policy.load import from_data
from hierdata.records.keyed import Table
from hierdata.sources.open import fetch_source
from hierdata.sources.stores import store_at, store_of
from hierdata.sources.stores.base import LOST, Store, naming
from hierdata.sources.stores.mongodb_reading import single
from hierdata.sources.stores.mongodb_target import _number_documents
from hierdata.sources.stores.postgresql_reading import _write_batch, relation
from hierdata.sources.stores.postgresql_server import (
    Name,
    _refusal,
    _SilentError,
    _watch,
    parse_name,
    part_name,
)
from hierdata.sources.tables import TablesForm
from tests.provoked import SECRET, Act, provoke
from tests.provoked.test_plans import OUTER, K

MONGO = "mongodb://127.0.0.1:1/school/students"
SQL = "postgresql://127.0.0.1:1/school"
PEOPLE = (Table("people", key="id"),)


def patched(act: Act, answers: Mapping[str, Any]) -> Act:
    """Return the act while functions of the readers of servers give these answers."""

    def run() -> object:
        with pytest.MonkeyPatch.context() as patch:
            for name, answer in answers.items():
                patch.setattr(f"hierdata.sources.stores.{name}", answer)
            return act()

    return run


def given(value: Any) -> Any:
    return lambda *_, **__: value


def without(package: str, module: str) -> Act:
    """Return the act of importing a module of stores where a package is not installed."""

    def run() -> object:
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            patch.delitem(sys.modules, module, raising=False)
            return importlib.import_module(module)

    return run


@pytest.fixture
def mongo() -> Iterator[Store]:
    """A collection at an address where no server is."""
    store = store_at(MONGO)
    yield store
    store.close()


def test_addresses_and_options(mongo: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIERDATA_MONGODB_USER", "steward")
    monkeypatch.setenv("HIERDATA_MONGODB_PASSWORD", SECRET)
    other = sqlalchemy.create_engine(SQL.replace("postgresql", "postgresql+psycopg"))
    monkeypatch.setattr(other.dialect, "driver", "psycopg2")
    rows = hierdata.Rows
    here, policy = Path(), from_data({"version": 1, "models": [K], "fields": OUTER})

    def fetch(**keys: str) -> Act:
        def run() -> object:
            with fetch_source(MONGO, policy.model_copy(update=keys)) as found:
                return found

        return run

    unread = {"postgresql_reading.snapshot": given(nullcontext())}
    keyed = TablesForm(Csv(), PEOPLE, {})
    provoke(
        PolicyError,
        ("the target must be an address or a live object of a server", lambda: store_at(3)),
        ("batch, the number of records read or", lambda: store_of(MONGO, batch=0)),
        ("table is for tables: the address of", lambda: store_of(MONGO, options={"table": "t"})),
        ("options cannot select rows of PostgreSQL", lambda: store_of(SQL, options={"table": "t"})),
        (
            "pymongo cannot use the options, or the user",
            lambda: store_of(f"{MONGO}?authMechanism=MONGODB-X509"),
        ),
        ("`tables` joins keyed tables, but a MongoDB", lambda: mongo.export(here, tables=PEOPLE)),
        ("the records are keyed tables, which", lambda: form_in(keyed, mongo)),
        ("`format` is for files, but the records are", fetch(format="csv")),
        ("`encoding` is for files, but the records are", fetch(encoding="utf-16")),
        ("format: applies to files only", lambda: hierdata.init(MONGO, format="csv")),
        ("the address already names a table", lambda: store_of(rows(f"{SQL}/students", query="SELECT 1"))),
        ("both a table and a query are given", lambda: store_of(rows(SQL, table="t", query="SELECT 1"))),
        ("name the rows to read: --table or", patched(lambda: store_at(SQL).export(here), unread)),
        (
            "remove --query and --column",
            lambda: store_at(rows(SQL, query="SELECT 1")).export(here, tables=PEOPLE),
        ),
        (
            "a query cannot be written to: name a new",
            lambda: store_at(rows(SQL, query="SELECT 1")).refuse(None),
        ),
        ("name the new table: postgresql://host", lambda: store_at(SQL).refuse(None)),
        ("the engine needs the driver psycopg", lambda: store_of(other)),
        ("the character U+0000", lambda: parse_name("a\0b")),
        ("more than 63 bytes, the limit", lambda: part_name(Name(None, "n" * 60), "people")),
        (
            "MongoDB needs pymongo; install it with",
            without("pymongo", "hierdata.sources.stores.mongodb_server"),
        ),
        (
            "PostgreSQL needs SQLAlchemy and psycopg",
            without("psycopg", "hierdata.sources.stores.postgresql_server"),
        ),
    )


def test_what_a_server_answers(mongo: Store, tmp_path: Path) -> None:
    sql = store_at(f"{SQL}/students")
    server = SimpleNamespace(location="a server")

    def inspect(*columns: tuple[str, str], column: str | None = None) -> Act:
        answers = {"postgresql_reading._columns": given([*columns])}
        return patched(lambda: relation(None, server, Name(None, "t"), column), answers)  # type: ignore[arg-type]

    def name_target() -> None:
        with naming("a table"):
            raise UnavailableError(LOST)

    def wait() -> object:
        asked = _watch(iter([1, 1]), -1)  # type: ignore[arg-type]
        next(asked)
        return asked.send(0)

    nobody = {"mongodb_reading.read_collection": given(nullcontext(SimpleNamespace(snapshot=True)))}
    nobody["mongodb_reading.copy"] = given(0)
    none = {"postgresql_reading.snapshot": given(nullcontext()), "postgresql_reading.copy": given(0)}
    none["postgresql_reading.relation"] = given(SimpleNamespace(location="the table"))
    connection = SimpleNamespace(execute=given(nullcontext([("{}",), (None,)])))
    lines = tmp_path / "lines.jsonl"
    provoke(
        InputError,
        ("the collection is empty or does not exist", patched(lambda: mongo.export(tmp_path), nobody)),
        ("there are no rows: there is nothing", patched(lambda: sql.export(tmp_path), none)),
        ("record 2: the column for the documents is", lambda: _write_batch(connection, None, lines, 9)),  # type: ignore[arg-type]
        ("the server sent data that is not BSON", lambda: [*single([b"\x02\0\0\0"], "a server")]),
    )
    provoke(
        TargetError,
        (
            "is already there; choose a new name",
            patched(lambda: mongo.refuse(None), {"mongodb.MongoStore._entry": given({"a": 1})}),
        ),
        ("this is the source, which a release", lambda: mongo.refuse(mongo)),
        (
            "this is the source, which a release",
            patched(lambda: sql.refuse(sql), {"postgresql_reading.exists": given(True)}),
        ),
        (
            "is already there; choose a new name",
            patched(lambda: sql.refuse(None), {"postgresql_reading.exists": given(True)}),
        ),
        ("two columns have the same name: rename", inspect(("a", "text"), ("a", "text"))),
        ("there is no such column for the documents", inspect(("a", "text"), column="b")),
        ("is neither json nor jsonb", inspect(("a", "text"), column="a")),
        ("the driver refused (DataError)", lambda: raise_it(_refusal(psycopg.DataError("x"), "a server"))),
        ("BSON cannot represent", lambda: [*_number_documents([{"a\0": SECRET}])]),
        ("has more than 16 MiB, the limit of MongoDB", lambda: [*_number_documents([{"a": "x" * 2**24}])]),
    )
    pool = sqlalchemy.exc.TimeoutError("x")
    refused = psycopg.OperationalError("connection failed: Connection refused")
    provoke(
        UnavailableError,
        ("it may stand. Run `hierdata verify` on it", name_target),
        ("no connection in the engine's pool", lambda: raise_it(_refusal(pool, "a server"))),
        ("no server answers there, or it refuses", lambda: raise_it(_refusal(refused, "a server"))),
    )
    provoke(_SilentError, ("the server is silent", wait))


def raise_it(error: Exception) -> None:
    raise error


def test_what_spark_reports() -> None:
    protocol = pytest.importorskip("py4j.protocol")

    class Failed(protocol.Py4JJavaError):  # type: ignore[misc, name-defined]
        def __init__(self, account: str) -> None:
            self.java_exception = account

        def __str__(self) -> str:
            return "failed"

    def fail(account: str) -> Act:
        def run() -> None:
            with _translate_errors():
                raise Failed(account)

        return run

    provoke(PolicyError, ("workers cannot import hierdata", fail("No module named 'hierdata'")))
    provoke(
        UnavailableError, ("no space is left for Spark's temp", fail("IOException: No space left on device"))
    )
    provoke(WorkerError, ("workers were ended from outside", fail(f"ExecutorLostFailure {SECRET}")))
    held = SparkHeld.__new__(SparkHeld)
    held._rows = None
    provoke(RuntimeError, ("these values were released", held._all))
