"""Servers that are lost: reset, silent or refusing, there is a sentence, code 8 and no target."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from pymongo.database import Database

import hierdata
from hierdata.ground.errors import HierdataError, UnavailableError
from hierdata.sources.stores.base import LOST, UNCERTAIN
from hierdata.sources.stores.mongodb_target import UNFINISHED
from tests.stores.postgresql_server import binaries
from tests.stores.postgresql_server import serving as serving_postgresql
from tests.stores.proxy import Proxy, losing
from tests.stores.server import serving as serving_mongodb
from tests.stores.test_mongodb import POLICY as OF_MONGODB
from tests.stores.test_mongodb import people
from tests.stores.test_mongodb_store import address_of, names
from tests.stores.test_postgresql import POLICY as OF_POSTGRESQL
from tests.stores.test_postgresql import students, tables

SENTENCES = (LOST, "no server answers there", "unfinished collections could not be removed")
SOONER = "directConnection=true&serverSelectionTimeoutMS=300&socketTimeoutMS=700&retryWrites=false"


def through(proxy: Proxy, address: str, options: str = "") -> str:
    """The address by way of a proxy."""
    parts = urlsplit(address)
    place = f"{parts.netloc.rpartition(':')[0]}:{proxy.own_port}"
    return parts._replace(netloc=place, query="&".join(filter(None, (parts.query, options)))).geturl()


def lost(work: Callable[[], object]) -> str:
    """The message of a run whose server was lost; no error of a driver hangs on it."""
    with pytest.raises(HierdataError) as raised:
        work()
    error = raised.value
    assert isinstance(error, UnavailableError), str(error)
    assert error.exit_code == 8
    assert error.__cause__ is None
    assert any(sentence in str(error) for sentence in (*SENTENCES, UNCERTAIN)), str(error)
    return str(error)


def amount(port: int, run: Callable[[Proxy], object]) -> int:
    """The bytes of a whole run by way of a proxy."""
    with losing(port) as proxy:
        run(proxy)
        return proxy.seen


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs wait a second for a lost server to remove what it has."""
    monkeypatch.setattr("hierdata.sources.stores.mongodb_target._OF_REMOVAL", 1)


class Run:
    """A release of small records, read or written by way of a proxy."""

    def __init__(self, source: object, policy: object, to: str, folder: Path, options: str = "") -> None:
        self.source, self.policy, self.to, self.folder, self.options = source, policy, to, folder, options

    def read(self, proxy: Proxy) -> object:
        place = through(proxy, str(self.source), self.options)
        return hierdata.anonymize(place, self.policy, out=self.folder / "read")

    def write(self, proxy: Proxy, to: str = "release") -> object:
        place = through(proxy, self.to.replace("release", to), self.options)
        return hierdata.anonymize(self.source, self.policy, to=place, out=self.folder / to)


def lose_everywhere(
    run: Run, port: int, found: Callable[[], set[str]], cuts: int, cut: str = "reset"
) -> None:
    """Cut both ways at random bytes, and fall silent and refuse once; nothing may be left."""
    rng = random.Random(5)
    before = found()
    whole = {"read": amount(port, run.read), "write": amount(port, lambda proxy: run.write(proxy, "whole"))}
    after = found()
    assert after > before
    for what in ("read", "write"):
        work = getattr(run, what)
        there = {path.name for path in run.folder.iterdir()}
        if what == "read":
            (run.folder / "read").rename(run.folder / "earlier")
            there = {path.name for path in run.folder.iterdir()}
        for way in ["refuse", "hang", *(cut for _ in range(cuts))]:
            at = rng.randrange(100, int(0.95 * whole[what]))
            with losing(port, after=at, way=way) as proxy:
                message = lost(lambda work=work, proxy=proxy: work(proxy))
                assert proxy.lost, (what, way, at)
            assert {path.name for path in run.folder.iterdir()} == there, (what, way, at, message)
            left = found() - after
            said = "could not be removed" in message and way != "reset"
            assert all(name.startswith(UNFINISHED) for name in left) if said else not left, (what, way, at)
            after |= left


def test_postgresql(address: str, tmp_path: Path) -> None:
    students(address)
    port = urlsplit(address).port
    assert port is not None
    source = f"{address}/students#doc"
    run = Run(source, OF_POSTGRESQL, f"{address}/release", tmp_path, "read_timeout=0.7&connect_timeout=2")
    lose_everywhere(run, port, lambda: tables(address), 8)
    for deliver in (False, True):  # the answer to COMMIT is lost, and so was COMMIT or not
        with losing(port, word=b"COMMIT\0", deliver=deliver) as proxy:
            assert UNCERTAIN in lost(lambda proxy=proxy: run.write(proxy))
        assert ("release" in tables(address)) is deliver
        assert not (tmp_path / "release").exists()


def test_rows_of_postgresql(address: str, tmp_path: Path) -> None:
    """Rows are written twice: staged, then into a table of their types, which the server tries."""
    import psycopg

    with psycopg.connect(address) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT 'marked-' || n AS name, n % 7 AS age, date '1990-05-06' AS born "
            "FROM generate_series(1, 3000) n"
        )
    fields: dict[str, Any] = {
        "$.name": {"role": "identifier"},
        "$.age": {"role": "quasi", "interval": {"steps": [1, 10]}},
        "$.born": {"role": "quasi", "date": {"steps": ["day", "month", "year"]}},
    }
    policy = {"version": 1, "models": [{"kind": "k-anonymity", "k": 2}], "fields": fields}
    port = urlsplit(address).port
    assert port is not None
    run = Run(
        f"{address}/people", policy, f"{address}/release", tmp_path, "read_timeout=0.7&connect_timeout=2"
    )
    lose_everywhere(run, port, lambda: tables(address), 4)


def test_mongodb(database: Database, mongodb: str, tmp_path: Path) -> None:
    database.people.insert_many(people(600))
    port = urlsplit(mongodb).port
    assert port is not None
    source, to = (address_of(mongodb, database, name) for name in ("people", "release"))
    run = Run(source, OF_MONGODB, to, tmp_path, SOONER)
    lose_everywhere(run, port, lambda: names(database), 6, "refuse")
    before = names(database)
    for word in (b"insert", b"create\0"):  # one connection of several is lost: what was begun is removed
        with losing(port, word=word) as proxy:
            assert LOST in lost(lambda proxy=proxy: run.write(proxy))
            assert proxy.lost
        assert names(database) == before
    for deliver in (False, True):
        with losing(port, word=b"renameCollection", deliver=deliver, way="refuse") as proxy:
            message = lost(lambda proxy=proxy: run.write(proxy))
            assert proxy.lost
        assert "it may stand" in message
        assert not (tmp_path / "release").exists()


def restart_everywhere(
    run: Run, port: int, restart: Callable[[], None], found: Callable[[], set[str]], moments: int
) -> None:
    """Restart the server at random moments of both ways: there is a sentence, and nothing is left."""
    rng = random.Random(9)
    whole = {"read": amount(port, run.read), "write": amount(port, lambda proxy: run.write(proxy, "whole"))}
    (run.folder / "read").rename(run.folder / "earlier")
    before, there = found(), {path.name for path in run.folder.iterdir()}
    for what in ("read", "write"):
        for _ in range(moments):
            at = rng.randrange(100, int(0.95 * whole[what]))
            again = threading.Event()

            def restart_and_tell(again: threading.Event = again) -> None:
                restart()
                again.set()

            with losing(port, after=at, meanwhile=restart_and_tell) as proxy:
                message = lost(lambda what=what, proxy=proxy: getattr(run, what)(proxy))
                assert again.wait(60), (what, at)
            assert {path.name for path in run.folder.iterdir()} == there, (what, at, message)
            left = found() - before
            told = "could not be removed" in message  # the server was away when they were to be removed
            assert all(name.startswith(UNFINISHED) for name in left) if told else not left, (
                what,
                at,
                message,
            )
            before |= left
    with losing(port) as proxy:  # the server that was restarted serves the same command
        run.write(proxy)
    assert found() > before


@pytest.mark.full
def test_a_restart_of_postgresql(tmp_path: Path) -> None:
    import psycopg

    if binaries() is None:
        pytest.skip("PostgreSQL is not installed; on Debian: apt-get install postgresql")
    with serving_postgresql() as running:
        with psycopg.connect(running.address("postgres"), autocommit=True) as connection:
            connection.execute("CREATE DATABASE school")
        address = running.address("school")
        students(address)
        run = Run(
            f"{address}/students#doc", OF_POSTGRESQL, f"{address}/release", tmp_path, "connect_timeout=5"
        )
        restart_everywhere(run, running.port, running.restart, lambda: tables(address), 2)


@pytest.mark.full
def test_a_restart_of_mongodb(tmp_path: Path) -> None:
    import pymongo

    data, folder = tmp_path / "data", tmp_path / "runs"
    folder.mkdir()
    with ExitStack() as stack:
        address, process = stack.enter_context(serving_mongodb(data))
        port = urlsplit(address).port
        assert port is not None
        client: pymongo.MongoClient[Any] = stack.enter_context(pymongo.MongoClient(address))
        database = client.school
        database.people.insert_many(people(600))

        def restart() -> None:
            nonlocal process
            process.terminate()
            process.wait(20)
            _, process = stack.enter_context(serving_mongodb(data, port=port))

        source, to = (address_of(address, database, name) for name in ("people", "release"))
        run = Run(source, OF_MONGODB, to, folder, "directConnection=true&retryWrites=false&retryReads=false")
        restart_everywhere(run, port, restart, lambda: names(database), 2)
