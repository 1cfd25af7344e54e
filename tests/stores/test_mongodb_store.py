"""Collections of MongoDB by themselves: what is read is what is there, what is written appears whole."""

from __future__ import annotations

import os
import signal
import stat
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from decimal import Decimal
from pathlib import Path
from threading import Timer
from typing import Any

import bson
import pymongo
import pytest
from bson import Binary, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from bson.datetime_ms import DatetimeMS
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from pymongo.collection import Collection
from pymongo.database import Database

from hierdata.documents.formats.bson_codec import encode
from hierdata.documents.scalars import DateTime, Double
from hierdata.ground.errors import InputError, PolicyError, TargetError
from hierdata.sources.stores import Staged, Store, store_at, store_of
from tests.cases import examples
from tests.stores.server import serving

EVERY_TYPE: dict[str, Any] = {
    "_id": ObjectId(),
    "text": "grün",
    "int": 3,
    "long": Int64(3),
    "double": -0.0,
    "decimal": Decimal128("1.50"),
    "date": DatetimeMS(1_500_000_000_123),
    "before": DatetimeMS(-1),
    "binary": Binary(b"\0\1", 5),
    "uuid": Binary(bytes(16), 4),
    "regex": Regex("^a", "i"),
    "time": Timestamp(5, 1),
    "least": MinKey(),
    "most": MaxKey(),
    "none": None,
    "yes": True,
    "deep": [{"a": [1, [2.5]]}, {}],
}


def address_of(mongodb: str, database: Database, name: str) -> str:
    base, _, options = mongodb.partition("/?")
    return f"{base}/{database.name}/{name}" + (f"?{options}" if options else "")


def stored(database: Database, name: str) -> Store:
    return store_at(database[name])


def names(database: Database) -> set[str]:
    return set(database.list_collection_names())


# Reading


@pytest.mark.parametrize("batch", [1, 7, 1000])
def test_the_file_has_every_byte_in_batches_of_any_size(
    database: Database, tmp_path: Path, batch: int
) -> None:
    records = [EVERY_TYPE | {"_id": number} for number in range(20)]
    database.all.insert_many(records)
    exported = store_at(database.all, batch=batch).export(tmp_path, listed=["_id"])
    raw = b"".join(database.all.find_raw_batches())
    assert exported.path.read_bytes() == raw
    assert exported.limitations == ()
    assert stat.S_IMODE(exported.path.stat().st_mode) == 0o600
    assert len(bson.decode_all(raw)) == 20


def test_ids_carry_time_and_are_dropped_unless_the_policy_lists_them(
    database: Database, tmp_path: Path
) -> None:
    database.people.insert_many([{"n": 1}, {"_id": "Jane Roe", "n": 2}])
    exported = stored(database, "people").export(tmp_path, listed=["n"])
    assert bson.decode_all(exported.path.read_bytes()) == [{"n": 1}, {"n": 2}]


def test_an_address_and_a_live_collection_are_the_same(
    mongodb: str, database: Database, tmp_path: Path
) -> None:
    database.people.insert_many([{"_id": 1, "n": 1.5}, {"_id": 2, "n": 2}])
    store = store_at(address_of(mongodb, database, "people"))
    try:
        assert list(store.documents()) == list(stored(database, "people").documents())
        assert [document["n"] for document in store.documents()] == [Double("1.5"), 2]
        assert store.export(tmp_path, listed=["_id"]).path.read_bytes() == b"".join(
            database.people.find_raw_batches()
        )
    finally:
        store.close()


def test_a_query_is_read_as_a_collection_with_only_these_documents(
    database: Database, tmp_path: Path
) -> None:
    """Filter, order, limit, projection; ids of every type; whatever was read from the cursor before."""
    found = database["many"]
    found.insert_many([EVERY_TYPE | {"_id": ObjectId(), "at": at, "odd": at % 2} for at in range(9)])
    query = found.find({"odd": 1}).sort("at", -1).limit(3)
    next(query)
    assert [document["at"] for document in store_of(query).documents()] == [7, 5, 3]
    exported = store_of(query).export(tmp_path, listed=("_id",))
    written = bson.decode_all(exported.path.read_bytes())
    assert [one["at"] for one in written] == [7, 5, 3]
    assert all(isinstance(one["_id"], ObjectId) for one in written)
    (tmp_path / "few").mkdir()
    few = store_of(found.find({"at": {"$gt": 6}}, {"at": 1})).export(tmp_path / "few")
    assert bson.decode_all(few.path.read_bytes()) == [{"at": 7}, {"at": 8}]
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="the query finds nothing"):
        store_of(found.find({"at": 99})).export(tmp_path / "none")


def test_a_custom_document_class_of_the_client_does_not_matter(mongodb: str, database: Database) -> None:
    database.people.insert_one({"n": 1})
    with pymongo.MongoClient(mongodb, document_class=bson.SON, tz_aware=True) as client:
        store = store_at(client[database.name].people)
        assert [set(document) for document in store.documents()] == [{"_id", "n"}]
        assert store.structure() is None


def test_what_is_written_while_it_is_read_is_not_seen(database: Database) -> None:
    database.people.insert_many({"_id": number, "n": 0} for number in range(50))
    documents = store_at(database.people, batch=10).documents()
    first = next(documents)
    database.people.update_many({}, {"$set": {"n": 1}})
    database.people.delete_one({"_id": 40})
    database.people.insert_one({"_id": 50, "n": 0})
    assert [document["n"] for document in (first, *documents)] == [0] * 50


def test_a_server_without_snapshots_is_read_and_the_report_says_so(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "--standalone") as (address, _), pymongo.MongoClient(address) as client:
        client.one.people.insert_many([{"n": 1}, {"n": 2}])
        (tmp_path / "spill").mkdir()
        exported = store_at(client.one.people).export(tmp_path / "spill")
        (limitation,) = exported.limitations
        assert "could not hold the collection still" in limitation
        assert len(bson.decode_all(exported.path.read_bytes())) == 2


def test_the_structure_is_that_of_the_validator(database: Database) -> None:
    schema = {"bsonType": "object", "required": ["n"], "properties": {"n": {"bsonType": "int"}}}
    database.create_collection("people", validator={"$jsonSchema": schema})
    assert stored(database, "people").structure() == schema


def test_an_asynchronous_collection_is_refused() -> None:
    collection = pymongo.AsyncMongoClient("mongodb://127.0.0.1:1", connect=False).people.people
    with pytest.raises(PolicyError, match="an asynchronous collection cannot be used"):
        store_of(collection)


def test_an_empty_collection_and_one_that_is_none(database: Database, tmp_path: Path) -> None:
    database.create_collection("empty")
    for name in ("empty", "none"):
        with pytest.raises(InputError, match="the collection is empty or does not exist"):
            stored(database, name).export(tmp_path)


# Writing

RECORDS = [{"age": "[30, 40]", "visits": [{"ward": "A"}]}, {"age": 31, "visits": []}]


def write(staged: Staged, records: list[dict[str, Any]] = RECORDS) -> None:
    staged.write("records", records)


def publish(
    target: Store, source: Store | None = None, records: list[dict[str, Any]] = RECORDS, parts: int = 1
) -> Staged:
    with target.staging(source) as staged:
        write(staged, records)
        for part in range(1, parts):
            staged.write(f"sensitive-{part}", [{"group": 1, "reason": "flu", "count": 2}])
        staged.publish()
    return staged


def test_the_target_appears_when_it_is_published(database: Database, tmp_path: Path) -> None:
    store = stored(database, "release")
    store.refuse(None)
    with store.staging(None) as staged:
        write(staged)
        staged.export("records", tmp_path / "back.bson")
        assert names(database).isdisjoint({"release"})
        assert len(names(database)) == 1
        staged.publish()
    assert names(database) == {"release"}
    assert not staged.lacking
    back = bson.decode_all((tmp_path / "back.bson").read_bytes())
    assert back == RECORDS  # without what was added


def test_ids_are_numbers_that_tell_no_time(database: Database) -> None:
    publish(stored(database, "release"))
    found = list(database.release.find(sort=[("_id", 1)]))
    assert [document["age"] for document in found] == ["[30, 40]", 31]
    assert [str(document["_id"]) for document in found] == [f"{number:024x}" for number in (1, 2)]
    assert {document["_id"].generation_time.timestamp() for document in found} == {0}


def test_only_ids_that_number_the_records_are_left_out_of_what_is_judged(
    database: Database, tmp_path: Path
) -> None:
    database.release.insert_many(
        [{"_id": ObjectId(bytes(11) + b"\1"), "n": 1}, {"_id": ObjectId(bytes(11) + b"\3"), "n": 2}]
    )
    exported = stored(database, "release").export(tmp_path, published=True)
    first, second = bson.decode_all(exported.path.read_bytes())
    assert first == {"n": 1}
    assert set(second) == {"_id", "n"}


def test_validator_and_indexes_fit_the_release(database: Database) -> None:
    source = database.people
    source.insert_one({"age": 31, "name": "n", "visits": [{"ward": "A"}]})
    source.create_index([("age", 1), ("visits.ward", -1)])
    source.create_index("name")
    source.create_index("visits.ward", unique=True)
    source.create_index("age", expireAfterSeconds=5, name="gone")
    staged = publish(stored(database, "release"), store_at(source))
    assert not staged.lacking
    keys = [list(index["key"].items()) for index in database.release.list_indexes()]
    assert keys == [[("_id", 1)], [("age", 1), ("visits.ward", -1)]]
    assert stored(database, "release").structure() == {
        "bsonType": "object",
        "properties": {
            "_id": {"bsonType": "objectId"},
            "age": {"bsonType": ["int", "string"]},
            "visits": {
                "bsonType": "array",
                "items": {
                    "bsonType": "object",
                    "properties": {"ward": {"bsonType": "string"}},
                    "required": ["ward"],
                    "additionalProperties": False,
                },
            },
        },
        "required": ["_id", "age", "visits"],
        "additionalProperties": False,
    }
    with pytest.raises(pymongo.errors.WriteError):
        database.release.insert_one({"age": 2.5, "visits": []})
    with pytest.raises(pymongo.errors.WriteError):
        database.release.insert_one({"age": 2, "visits": [], "name": "x"})


def test_every_type_is_written_and_fits_its_validator(database: Database, tmp_path: Path) -> None:
    database.all.insert_one(EVERY_TYPE)
    with stored(database, "release").staging(None) as staged:
        staged.write("records", list(stored(database, "all").documents()))
        staged.publish()
    (raw,) = (b"".join(database[name].find_raw_batches()) for name in ["release"])
    assert raw == b"".join(database.all.find_raw_batches())


KEYS = st.text("abäß _-", min_size=1, max_size=3).filter(lambda key: key != "_id")
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.text("aé*[", max_size=3),
    st.integers(-(2**63), 2**63 - 1),
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**6), max_value=10**6),
    st.dates(date(1900, 1, 1)).map(lambda day: DateTime(f"{day}T00:00:00Z")),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
)


@examples(30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.dictionaries(KEYS, VALUES, max_size=4), min_size=1, max_size=5))
def test_whatever_was_written_fits_its_validator_and_comes_back(
    database: Database, tmp_path: Path, records: list[dict[str, Any]]
) -> None:
    with stored(database, "release").staging(None) as staged:
        write(staged, records)
        staged.export("records", tmp_path / "back.bson")
        assert not staged.lacking
    assert (tmp_path / "back.bson").read_bytes() == b"".join(map(encode, records))


def test_dates_beyond_9999_come_back(database: Database, tmp_path: Path) -> None:
    try:
        database.dates.insert_one({"day": DatetimeMS(400_000_000_000_000)})
    except pymongo.errors.OperationFailure:
        pytest.skip("this server knows no such dates")
    publish(stored(database, "release"), records=list(stored(database, "dates").documents()))
    assert b"".join(database.release.find_raw_batches()) == b"".join(database.dates.find_raw_batches())


def test_several_parts_become_several_collections(database: Database) -> None:
    publish(stored(database, "release"), parts=3)
    assert names(database) == {"release", "release.sensitive-1", "release.sensitive-2"}


# What goes wrong


def test_nothing_is_left_of_what_was_not_published(database: Database) -> None:
    def interrupted() -> Any:
        yield RECORDS[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), stored(database, "release").staging(None) as staged:
        staged.write("records", interrupted())
    with stored(database, "release").staging(None) as staged:
        write(staged)
    assert names(database) == set()


def delay(monkeypatch: pytest.MonkeyPatch, owner: type, name: str, seconds: float) -> None:
    """Let the server execute a request late, and the keyboard send a signal in the meantime."""
    send = getattr(owner, name)
    server = ThreadPoolExecutor(1)

    def execute(*arguments: Any, **options: Any) -> Any:
        time.sleep(seconds)
        return send(*arguments, **options)

    def send_and_wait(*arguments: Any, **options: Any) -> Any:
        Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        return server.submit(execute, *arguments, **options).result()

    monkeypatch.setattr(owner, name, send_and_wait)


SLOW = [(Database, "create_collection"), (Collection, "insert_many"), (Collection, "rename")]


@pytest.mark.parametrize("request_", SLOW, ids=lambda request_: request_[1])
def test_a_request_that_a_signal_finds_on_its_way_leaves_nothing(
    database: Database, monkeypatch: pytest.MonkeyPatch, request_: tuple[type, str]
) -> None:
    delay(monkeypatch, *request_, 0.4)
    with pytest.raises(KeyboardInterrupt):
        publish(stored(database, "release"))
    time.sleep(0.5)
    assert names(database) == set()


def test_a_request_without_end_is_told(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hierdata.sources.stores.mongodb_target._PATIENCE", 1)
    delay(monkeypatch, Collection, "insert_many", 3)
    with pytest.raises(KeyboardInterrupt) as told, stored(database, "release").staging(None) as staged:
        write(staged)
    assert "could not be removed: drop the collections hierdata-unfinished-" in told.value.__notes__[0]


def test_a_name_that_is_taken_is_refused(database: Database) -> None:
    database.people.insert_one({"n": 1})
    database.other.insert_one({"n": 1})
    people = stored(database, "people")
    with pytest.raises(TargetError, match="this is the source, which a release cannot replace"):
        people.refuse(stored(database, "people"))
    with pytest.raises(TargetError, match="is already there; choose a new name"):
        stored(database, "other").refuse(people)
    with pytest.raises(TargetError, match="is already there; choose a new name"):
        publish(stored(database, "other"), people)
    assert names(database) == {"people", "other"}
    assert database.other.count_documents({}) == 1


def test_one_part_whose_name_is_taken_takes_the_others_back(database: Database) -> None:
    database["release.sensitive-2"].insert_one({"n": 1})
    with pytest.raises(TargetError, match="is already there"):
        publish(stored(database, "release"), parts=4)
    assert names(database) == {"release.sensitive-2"}


def test_two_equal_ids_are_told_without_the_id(database: Database) -> None:
    with pytest.raises(TargetError, match="two records of the release have the same _id") as caught:
        publish(stored(database, "release"), records=[{"_id": "Jane Roe"}, {"_id": "Jane Roe"}])
    assert_silent(caught.value, "Jane")
    assert names(database) == set()


@pytest.mark.parametrize("text", ["x" * (16 * 1024 * 1024 - 29), "x" * (17 * 1024 * 1024)])
def test_a_document_over_16_mib_is_told(database: Database, text: str) -> None:
    with pytest.raises(TargetError, match=r"record 2: .*more than 16 MiB") as caught:
        publish(stored(database, "release"), records=[{"t": "y"}, {"t": text}])
    assert_silent(caught.value, "xxxx")
    assert names(database) == set()


def test_a_value_that_bson_cannot_hold_is_told(database: Database) -> None:
    with pytest.raises(TargetError, match="record 1: a number has more digits than BSON can represent"):
        publish(stored(database, "release"), records=[{"n": Decimal("1." + "1" * 40)}])


def test_a_collection_that_is_dropped_while_it_is_read(database: Database, tmp_path: Path) -> None:
    database.people.insert_many({"n": number} for number in range(50))
    documents = store_at(database.people, batch=10).documents()
    next(documents)
    database.people.drop()
    with pytest.raises(TargetError, match="dropped"):
        list(documents)


def test_a_server_that_is_gone(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as (address, process):
        client = pymongo.MongoClient(address, serverSelectionTimeoutMS=300)
        client.one.people.insert_many({"n": number} for number in range(50))
        documents = store_at(client.one.people, batch=10).documents()
        next(documents)

        class Ending(list[Any]):
            """Records whose server ends while they are gone through for the second time."""

            def __iter__(self) -> Iterator[Any]:
                yield from RECORDS
                if "release" not in ended:
                    ended.append("release")
                    return
                process.kill()
                process.wait()
                yield from RECORDS

        ended: list[str] = []
        gone = pytest.raises(TargetError, match=r"the server or the connection|no server answers")
        with store_at(client.one.release, batch=1).staging(None) as staged, gone:
            staged.write("records", Ending())
        with pytest.raises(TargetError, match=r"the server or the connection|no server answers"):
            list(documents)
        with pytest.raises(TargetError, match=r"drop the collections hierdata-unfinished-\*") as caught:
            publish(store_at(client.one.release))
        assert_silent(caught.value, "127.0.0.1")
        client.close()
    store = store_at(f"{address}/one/people?serverSelectionTimeoutMS=200")
    with pytest.raises(TargetError, match=f"^{address}/one/people: no server answers there$"):
        store.refuse(None)
    store.close()


@pytest.mark.full
def test_wrong_credentials_and_passwords_that_nobody_sees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user: dict[str, Any] = {"pwd": "right", "roles": ["root"]}
    with serving(tmp_path / "data") as (address, _), pymongo.MongoClient(address) as client:
        client.admin.command("createUser", "steward", **user)
        client.one.people.insert_one({"n": 1})
    with serving(tmp_path / "data", "--auth") as (address, _):
        there = address.replace("mongodb://", "mongodb://steward:{}@") + "/one/people?authSource=admin"
        store = store_at(there.format("s3cret-w0rd"))
        with pytest.raises(TargetError, match="the server does not accept user and password") as caught:
            store.export(tmp_path)
        store.close()
        assert_silent(caught.value, "s3cret-w0rd", "steward")
        store = store_at(there.format("right"))
        assert len(list(store.documents())) == 1
        store.close()
        monkeypatch.setenv("HIERDATA_MONGODB_USER", "steward")
        monkeypatch.setenv("HIERDATA_MONGODB_PASSWORD", "right")
        store = store_at(f"{address}/one/people?authSource=admin")
        assert len(list(store.documents())) == 1
        store.close()


@pytest.mark.full
def test_a_user_who_may_read_and_write_is_enough_and_one_who_may_not_is_told(tmp_path: Path) -> None:
    roles = [{"role": "read", "db": "one"}, {"role": "readWrite", "db": "two"}]
    with serving(tmp_path / "data") as (address, _), pymongo.MongoClient(address) as client:
        client.admin.command("createUser", "steward", pwd="right", roles=roles)
        client.one.people.insert_many(dict(record) for record in RECORDS)
        client.one.people.create_index("age")
    with serving(tmp_path / "data", "--auth") as (address, _):
        there = address.replace("mongodb://", "mongodb://steward:right@") + "/?authSource=admin"
        with pymongo.MongoClient(there) as client:
            source = store_at(client.one.people)
            assert len(list(source.documents())) == 2
            assert not publish(store_at(client.two.release), source).lacking
            assert store_at(client.two.release).structure() is not None
            assert set(client.two.release.index_information()) == {"_id_", "age_1"}
            refused = r"the collection one\.other: the server's user lacks a privilege: .*on its database$"
            with pytest.raises(TargetError, match=refused):
                publish(store_at(client.one.other), source)


SECRET = "s3cret-w0rd"


@pytest.mark.parametrize(
    "address",
    [
        f"mongodb://steward:{SECRET}@host",
        f"mongodb://steward:{SECRET}@host/db/a/b",
        f"mongodb://steward:a/{SECRET}@host/db",
        f"mongodb://steward:12/{SECRET}@host/db",
        f"mongodb://steward:a@{SECRET}@host/db/c",
        f"mongodb://steward:{SECRET}@host:port/db/c",
        f"mongodb://steward:{SECRET}@host/db/c?unknown={SECRET}",
        f"mongodb://steward:{SECRET}@host/db/c#fragment",
        f"mongodb://steward:%zz{SECRET}@host/db/c",
        f"mongodb://steward:{SECRET}@host/d b/c",
        f"mongodb://steward:{SECRET}@host/db/c$d",
        f"mongodb://steward:{SECRET}@host/db/c?authMechanism={SECRET}",
        f"mongo://steward:{SECRET}@host/db/c",
        f"MONGODB+TLS://steward:{SECRET}@host/db/c",
    ],
)
def test_no_message_shows_a_password(address: str) -> None:
    with pytest.raises(PolicyError) as caught:
        store_of(address)
    assert_silent(caught.value, SECRET, "steward")


def assert_silent(error: BaseException | None, *words: str) -> None:
    """No error of a chain says any of the words."""
    while error is not None:
        assert not any(word in f"{error!s}{error!r}" for word in words[:1]), type(error)
        error = error.__cause__ or error.__context__
