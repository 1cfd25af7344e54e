"""Releases from and to MongoDB, by the Python API and the command line, on a real server."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pymongo
import pytest
from bson import Decimal128, Int64, ObjectId
from pymongo.database import Database

import hierdata
from hierdata.cli import main
from hierdata.ground.errors import InputError, PolicyError, TargetError, VerificationError
from hierdata.sources.stores.mongodb_reading import without_number
from hierdata.sources.stores.mongodb_target import MongoTarget
from tests.stores.server import serving
from tests.stores.test_mongodb_store import address_of, names

POLICY: dict[str, Any] = {
    "version": 1,
    "dataset": "people",
    "models": [{"kind": "k-anonymity", "k": 3}, {"kind": "frequency-l-diversity", "l": 2}],
    "fields": {
        "$.name": {"role": "identifier"},
        "$.age": {"role": "quasi", "interval": {"steps": [1, 5, 10, 50], "domain": [0, 99]}},
        "$.income": {"role": "sensitive"},
        "$.visits[*].ward": {"role": "quasi", "flat": True},
        "$.visits[*].reason": {"role": "sensitive"},
    },
}
SEED = bytes(range(32))
SECRET = "s3cret-w0rd"


def people(count: int = 60) -> list[dict[str, Any]]:
    rng = Random(7)
    return [
        {
            "name": f"Person {number}",
            "age": rng.randint(20, 59),
            "income": rng.choice([Int64(20_000), Int64(30_000), Decimal128("25000.50")]),
            "visits": [
                {"ward": rng.choice("ab"), "reason": rng.choice(["flu", "cold", "asthma"])}
                for _ in range(rng.randint(1, 2))
            ],
        }
        for number in range(count)
    ]


@pytest.fixture
def source(database: Database) -> Any:
    database.people.insert_many(people())
    database.people.create_index("age")
    database.people.create_index("name")
    return database.people


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(POLICY), "utf-8")
    return file


def content(collection: Any) -> list[dict[str, Any]]:
    return list(collection.find(sort=[("_id", 1)]))


def left(folder: Path) -> list[str]:
    """What lies in a folder beside the policy, hidden or not."""
    return sorted(path.name for path in folder.iterdir() if path.name != "policy.json")


# The Python API


def test_a_collection_becomes_a_collection(source: Any, database: Database) -> None:
    before = content(source)
    release = hierdata.anonymize(source, POLICY, to=database.release, batch=7, seed=SEED)
    assert content(source) == before
    assert names(database) == {"people", "release"}
    raw = list(pymongo.collection.Collection(database, "release").find_raw_batches(batch_size=1))
    numbered = enumerate(raw, 1)
    assert (
        b"".join(without_number(one, number) for number, one in numbered)
        == next((release.folder / "public").glob("records.bson")).read_bytes()
    )
    published = content(database.release)
    assert len(published) == release.report.counts.records.published > 50
    # Equal numbers have one type, the widest of the attribute.
    assert {type(record["income"]) for record in published} == {Decimal128}
    assert not any("name" in record for record in published)
    few = source.find({"name": {"$exists": True}}).limit(40)
    release = hierdata.anonymize(few, POLICY, seed=SEED)
    assert release.report.counts.records.input == 40
    assert hierdata.verify(release.folder, POLICY, original=few).passed
    assert [list(index["key"]) for index in database.release.list_indexes()] == [["_id"], ["age"]]


def test_the_target_is_verified_like_a_file(source: Any, database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "release"
    hierdata.anonymize(source, POLICY, to=database.release, out=folder, seed=SEED)
    facts = folder / "steward" / "verification.json"
    of_file = hierdata.verify(folder, POLICY)
    assert of_file.passed
    assert hierdata.verify(database.release, POLICY, facts=facts) == of_file
    witness = folder / "steward" / "witness.bin"
    with_original = hierdata.verify(database.release, POLICY, facts=facts, original=source, witness=witness)
    assert with_original == of_file
    assert not hierdata.verify(database.release, POLICY, facts=facts, original=source).passed
    # An _id that tells more than the place is judged.
    record = database.release.find_one()
    assert record is not None
    database.release.delete_one({"_id": record["_id"]})
    database.release.insert_one(record | {"_id": ObjectId()})
    verdict = hierdata.verify(database.release, POLICY, facts=facts)
    assert not verdict.passed
    assert verdict.forbidden
    assert not hierdata.verify(source, POLICY, facts=facts).passed


def test_classes_do_not_depend_on_where_records_come_from(
    source: Any, tmp_path: Path, order_by_seed: None
) -> None:
    fields = {name: rule for name, rule in POLICY["fields"].items() if name != "$.income"}
    plain = POLICY | {"fields": fields | {"$.income": {"role": "identifier"}}}
    from_server = hierdata.anonymize(source, plain, seed=SEED)
    given = [{**record, "income": 0} for record in people()]
    from_memory = hierdata.anonymize(given, plain, seed=SEED)
    assert list(from_server.records()) == list(from_memory.records())
    assert from_server.report.metrics == from_memory.report.metrics
    assert from_server.folder.joinpath("public", "records.bson").is_file()


def test_the_public_folder_tells_nothing_of_the_server(
    source: Any, database: Database, mongodb: str, tmp_path: Path
) -> None:
    folder = tmp_path / "release"
    address = address_of(mongodb, database, "people")
    hierdata.anonymize(address, POLICY, to=address_of(mongodb, database, "release"), out=folder)
    for file in folder.rglob("*.*"):
        data = file.read_bytes()
        assert database.name.encode() not in data
        assert b"mongodb://" not in data
        assert b"Person 1" not in data


@pytest.mark.parametrize(
    "recoding", ["representatives", "anatomy", "slicing", "full_domain", "sets_and_ranges"]
)
def test_every_recoding_goes_to_a_server(source: Any, database: Database, recoding: str) -> None:
    models = [{"kind": "k-anonymity", "k": 3}, {"kind": "distinct-l-diversity", "l": 2}]
    policy = POLICY | {"recoding": recoding, "models": models}
    if recoding in ("full_domain", "sets_and_ranges"):  # of tables
        fields = {name: rule for name, rule in POLICY["fields"].items() if "visits" not in name}
        policy |= {"fields": fields, "unlisted": "drop"}
    release = hierdata.anonymize(source, policy, to=database.release)
    parts = {"release" if part == "records" else f"release.{part}" for part in release.parts}
    assert names(database) == {"people"} | parts
    for part in release.parts:
        name = "release" if part == "records" else f"release.{part}"
        assert database[name].count_documents({}) == len(list(release.part(part)))


def test_files_go_to_a_server(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "people.jsonl"
    records = [{**record, "income": number % 3 + 0.5} for number, record in enumerate(people())]
    file.write_text("".join(f"{json.dumps(record)}\n" for record in records), "utf-8")
    release = hierdata.anonymize(file, POLICY, to=database.release)
    assert database.release.count_documents({}) == release.report.counts.records.published
    assert {type(record["income"]) for record in database.release.find()} == {float}
    assert release.report.format == "bson"


def test_a_table_goes_to_a_server(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, ["name", "age", "income"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(people())
    fields = {name: rule for name, rule in POLICY["fields"].items() if "visits" not in name}
    release = hierdata.anonymize(file, POLICY | {"fields": fields}, to=database.release)
    assert database.release.count_documents({}) == release.report.counts.records.published
    assert all(set(record) <= {"_id", "age", "income"} for record in database.release.find())


def test_dicts_and_generators_go_to_a_server(database: Database) -> None:
    records = ({**record, "income": number % 3} for number, record in enumerate(people()))
    release = hierdata.anonymize(records, POLICY, to=database.release)
    assert database.release.count_documents({}) == sum(1 for _ in release.records())


def test_the_id_is_published_where_the_policy_says_so(database: Database) -> None:
    database.people.insert_many({**record, "_id": number} for number, record in enumerate(people()))
    fields = POLICY["fields"] | {"$._id": {"role": "sensitive"}}
    hierdata.anonymize(database.people, POLICY | {"fields": fields}, to=database.release)
    assert {record["_id"] for record in database.release.find()} <= set(range(60))
    fields = POLICY["fields"] | {"$._id": {"role": "quasi", "interval": {"steps": [100]}}}
    with pytest.raises(TargetError, match="two records of the release have the same _id"):
        hierdata.anonymize(database.people, POLICY | {"fields": fields}, to=database.other)
    assert names(database) == {"people", "release"}


def test_what_a_collection_cannot_hold_is_refused_before_anything_is_read(
    database: Database, tmp_path: Path
) -> None:
    file = tmp_path / "people.xml"
    file.write_text("<people><person><age>3</age></person></people>", "utf-8")
    fields = {"/people/person/age": {"role": "quasi", "flat": True}}
    xml = POLICY | {"fields": fields, "models": [{"kind": "k-anonymity", "k": 1}]}
    with pytest.raises(PolicyError, match=r"the records are XML, which the collection .* cannot hold"):
        hierdata.anonymize(file, xml, to=database.release)
    with pytest.raises(PolicyError, match="the target must be an address or a live object of a server"):
        hierdata.anonymize(people(), POLICY, to=tmp_path)
    with pytest.raises(PolicyError, match="`format` is for files"):
        hierdata.anonymize(database.people, POLICY | {"format": "json"})
    assert names(database) == set()


def test_a_server_without_snapshots_is_a_limitation_of_the_release(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "--standalone") as (address, _), pymongo.MongoClient(address) as client:
        client.one.people.insert_many(people())
        release = hierdata.anonymize(client.one.people, POLICY)
    assert release.report.limitations[-1].startswith("The server could not hold the collection still")


# What goes wrong: source untouched, target absent, nothing saved


def test_what_the_server_holds_is_judged_not_what_was_sent(
    source: Any, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = MongoTarget.export

    def meddled(self: MongoTarget, part: str, path: Path) -> None:
        """Somebody changes a record before it is read back."""
        (unfinished,) = names(database) - {"people"}
        found = database[unfinished].find_one()
        assert found is not None
        database[unfinished].update_one({"_id": found["_id"]}, {"$set": {"age": "[0, 99]"}})
        export(self, part, path)

    monkeypatch.setattr(MongoTarget, "export", meddled)
    with pytest.raises(VerificationError, match="the content on the server differs"):
        hierdata.anonymize(source, POLICY, to=database.release, out=tmp_path / "release", staging=tmp_path)
    assert names(database) == {"people"}
    assert left(tmp_path) == []


def test_a_name_that_is_taken_at_the_last_moment(
    source: Any, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish = MongoTarget.publish

    def late(self: MongoTarget) -> None:
        assert "release" in left(tmp_path)  # saved before the target appears
        database.release.insert_one({"n": 1})
        publish(self)

    monkeypatch.setattr(MongoTarget, "publish", late)
    with pytest.raises(TargetError, match="is already there; choose a new name"):
        hierdata.anonymize(source, POLICY, to=database.release, out=tmp_path / "release", staging=tmp_path)
    assert names(database) == {"people", "release"}
    assert database.release.count_documents({}) == 1
    assert left(tmp_path) == []


def test_a_folder_that_is_there_leaves_no_target(source: Any, database: Database, tmp_path: Path) -> None:
    (tmp_path / "release").mkdir()
    with pytest.raises(TargetError, match="is already there"):
        hierdata.anonymize(source, POLICY, to=database.release, out=tmp_path / "release")
    assert names(database) == {"people"}


@pytest.mark.parametrize("stage", ["reading", "writing", "verifying"])
def test_an_interrupt_at_any_stage(source: Any, database: Database, tmp_path: Path, stage: str) -> None:
    def interrupted(name: str, done: int, total: int | None) -> None:
        if name == stage:
            raise KeyboardInterrupt

    before = content(source)
    with pytest.raises(KeyboardInterrupt):
        hierdata.anonymize(
            source, POLICY, to=database.release, out=tmp_path / "out", staging=tmp_path, progress=interrupted
        )
    assert names(database) == {"people"}
    assert content(source) == before
    assert left(tmp_path) == []


def test_mixed_types_under_one_path_are_told_by_record_and_path(database: Database) -> None:
    database.people.insert_many([*people(), {"age": "unknown", "name": "x", "income": 1, "visits": []}])
    with pytest.raises(InputError, match=r"record 61, \$\.age") as caught:
        hierdata.anonymize(database.people, POLICY, to=database.release)
    assert "unknown" not in str(caught.value)
    database.others.insert_many([*people(), {"age": {"years": 3}, "name": "x", "income": 1, "visits": []}])
    with pytest.raises(InputError):
        hierdata.anonymize(database.others, POLICY, to=database.release)
    assert names(database) == {"people", "others"}


# The command line


def run(*arguments: object, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    assert SECRET not in captured.out + captured.err
    return code, captured.out, captured.err


def test_the_command_publishes_and_verifies(
    source: Any,
    database: Database,
    mongodb: str,
    policy: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "release"
    there = address_of(mongodb, database, "release")
    options = ("--policy", policy, "--out", folder, "--to", there, "--batch", 9, "--json")
    code, out, _ = run("anonymize", address_of(mongodb, database, "people"), *options, capsys=capsys)
    assert code == 0
    assert json.loads(out)["counts"]["records"] == database.release.count_documents({})
    assert left(tmp_path) == ["release"]
    facts = ("--facts", folder / "steward" / "verification.json")
    code, out, _ = run("verify", there, "--policy", policy, *facts, capsys=capsys)
    assert (code, "frequency-l-diversity" in out) == (0, True)
    code, *_ = run(
        "verify", address_of(mongodb, database, "people"), "--policy", policy, *facts, capsys=capsys
    )
    assert code == 4


def test_lint_and_measure_read_a_collection(
    source: Any, database: Database, mongodb: str, policy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there = address_of(mongodb, database, "people")
    code, *_ = run("lint", policy, "--data", there, capsys=capsys)
    assert code == 0
    code, out, _ = run("measure", there, "--key", "age", "--sensitive", "income", "--json", capsys=capsys)
    assert (code, json.loads(out)["rows"]) == (0, 60)


@pytest.mark.parametrize(
    "arguments",
    [
        ("anonymize", "people.json", "--policy", "{policy}", "--out", "{address}"),
        ("anonymize", "people.json", "--policy", "{address}", "--out", "release"),
        ("anonymize", "{address}", "--policy", "{policy}", "--out", "{address}"),
        ("lint", "{address}"),
        ("lint", "{policy}", "--data", "{address}"),
        ("measure", "{address}", "--key", "age", "--sensitive", "income"),
        ("measure", "{address}", "--original", "{address}", "--policy", "{policy}"),
        ("verify", "{address}", "--policy", "{policy}", "--facts", "{address}"),
        ("verify", "{policy}", "--policy", "{policy}", "--original", "{address}"),
        ("init", "{address}"),
    ],
)
@pytest.mark.parametrize("scheme", ["mongodb", "mongo"])
def test_no_command_shows_a_password(
    arguments: tuple[str, ...],
    scheme: str,
    policy: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    address = f"{scheme}://steward:{SECRET}@127.0.0.1:1/a/b?serverSelectionTimeoutMS=50"
    code, *_ = run(*(one.format(address=address, policy=policy) for one in arguments), capsys=capsys)
    assert code in (2, 5, 6, 8)


Case = Callable[[Callable[[str], str]], tuple[str, str]]
CASES: dict[str, tuple[int, str, Case]] = {
    "source and target are one": (6, "this is the source", lambda own: (own("people"), own("people"))),
    "target exists": (6, "is already there", lambda own: (own("people"), own("other"))),
    "empty": (5, "the collection is empty", lambda own: (own("none"), own("release"))),
    "no collection": (
        2,
        "the address names a database: name a collection",
        lambda own: (own("people").partition("?")[0].rpartition("/")[0], own("release")),
    ),
    "unknown scheme": (2, "an address must begin with", lambda own: (own("people"), "mysql://h/a")),
    "gone": (
        8,
        "no server answers there",
        lambda own: (
            f"mongodb://steward:{SECRET}@127.0.0.1:1/a/b?serverSelectionTimeoutMS=200",
            own("release"),
        ),
    ),
    "target gone": (
        8,
        "no server answers there",
        lambda own: (
            own("people"),
            f"mongodb://steward:{SECRET}@127.0.0.1:1/a/b?serverSelectionTimeoutMS=200",
        ),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_sentence_a_code_and_nothing_else(
    case: str,
    source: Any,
    database: Database,
    mongodb: str,
    policy: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    database.other.insert_one({"n": 1})
    code, sentence, places = CASES[case]
    given, to = places(partial(address_of, mongodb, database))
    before = content(source)
    options = ("--policy", policy, "--out", tmp_path / "release", "--to", to)
    found, out, err = run("anonymize", given, *options, capsys=capsys)
    assert (found, out) == (code, "")
    assert sentence in err
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert names(database) == {"people", "other"}
    assert content(source) == before
    assert left(tmp_path) == []


def test_a_promise_that_cannot_be_met_leaves_no_target(
    database: Database, mongodb: str, policy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database.people.insert_many(people(2))
    to = address_of(mongodb, database, "release")
    options = ("--policy", policy, "--out", tmp_path / "release", "--to", to)
    code, *_ = run("anonymize", address_of(mongodb, database, "people"), *options, capsys=capsys)
    assert (code, names(database), left(tmp_path)) == (3, {"people"}, [])


@pytest.mark.full
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_target_is_written(
    database: Database, mongodb: str, policy: Path, tmp_path: Path, number: signal.Signals
) -> None:
    database.people.insert_many(people(3000))
    source, to = (address_of(mongodb, database, name) for name in ("people", "release"))
    command = [sys.executable, "-m", "hierdata", "anonymize", source, "--policy", policy]
    command += ["--out", tmp_path / "release", "--to", to, "--batch", "1", "--quiet"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=dict(os.environ)) as process:
        try:
            while process.poll() is None and names(database) == {"people"}:
                time.sleep(0.02)
            process.send_signal(number)
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 128 + number, err
    assert b"partial results are removed" in err
    assert names(database) == {"people"}
    assert left(tmp_path) == []
