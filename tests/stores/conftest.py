"""Servers: one of our own, and the one that the environment names."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator

import psycopg
import pymongo
import pytest
from pymongo.database import Database

from tests.stores.postgresql_server import Running, binaries
from tests.stores.postgresql_server import serving as postgresql_serving
from tests.stores.server import serving

NAMED = os.environ.get("HIERDATA_MONGODB_URI")


_SERVERS = {"mongodb", "postgresql"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that start a server belong to the full tier."""
    for item in items:
        if _SERVERS & {*getattr(item, "fixturenames", ())}:
            item.add_marker(pytest.mark.full)


@pytest.fixture(scope="session", params=["own", *(["named"] if NAMED else [])])
def mongodb(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server, without a database."""
    if request.param == "named":
        assert NAMED is not None
        yield NAMED.rstrip("/")
        return
    with serving(tmp_path_factory.mktemp("mongodb") / "data") as (address, _):
        yield address


@pytest.fixture
def database(mongodb: str) -> Iterator[Database]:
    """A database of a test's own."""
    name = f"hierdata_{secrets.token_hex(6)}"
    with pymongo.MongoClient(mongodb) as client:
        yield client[name]
        client.drop_database(name)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Running]:
    """A server of PostgreSQL."""
    if binaries() is None:
        pytest.skip("PostgreSQL is not installed; on Debian: apt-get install postgresql")
    with postgresql_serving() as running:
        yield running


@pytest.fixture
def address(postgresql: Running) -> Iterator[str]:
    """The address of a database of a test's own."""
    name = f"hierdata_{secrets.token_hex(6)}"
    with psycopg.connect(postgresql.address("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield postgresql.address(name)
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
