"""The bundled students as MongoDB exports them: every form gives the same classes, and its own form."""

from __future__ import annotations

import gzip
import json
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import bson
import pytest

import hierdata
from hierdata.documents.formats.bson_codec import decode
from hierdata.ground.errors import InputError, PolicyError
from hierdata.policy.load import from_data
from hierdata.release.release import Release
from tests.end_to_end.conftest import POLICIES, SEED, STUDENTS, published
from tests.mongodb_fixtures import OID

EXPORTS = STUDENTS / "mongodb"
POLICY = POLICIES / "students-mongodb.yaml"
FILES = ("relaxed.ejson", "canonical.ejson", "university", "university/students.bson")
EACH_FILE = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name == "university/students.bson" else pytest.mark.full)
        for name in FILES
    ],
)


def same(value: Any) -> Any:
    """Numbers by value, whatever their type; children in no order."""
    if isinstance(value, dict):
        return {key: same(item) for key, item in sorted(value.items())}
    if isinstance(value, list):
        return sorted(map(same, value), key=repr)
    return str(Decimal(value).normalize()) if isinstance(value, int | float | Decimal) else value


def records(release: Release) -> list[Any]:
    return [same(record) for record in release.records()]


@EACH_FILE
def test_every_form_gives_the_same_classes(students: Release, name: str) -> None:
    release = published(EXPORTS / name, POLICY)
    assert release.report.passed
    assert records(release) == records(students)
    assert release.report.counts.classes == students.report.counts.classes
    figures = {metric: found.figures for metric, found in release.report.metrics.items()}
    assert figures == {metric: found.figures for metric, found in students.report.metrics.items()}


def public(release: Release) -> Path:
    (file,) = (release.folder / "public").glob("records.*")
    return file


@pytest.mark.full
def test_each_is_written_as_it_was_read() -> None:
    relaxed, canonical, dumped, _ = (public(published(EXPORTS / name, POLICY)) for name in FILES)
    first = json.loads(relaxed.read_text().partition("\n")[0])
    assert isinstance(first["gpa"], float)
    first = json.loads(canonical.read_text().partition("\n")[0])
    assert list(first["gpa"]) == ["$numberDouble"]
    assert all(isinstance(record["gpa"], float) for record in decoded(dumped) if "gpa" in record)
    assert [path.name for path in dumped.parent.iterdir() if "metadata" in path.name] == []


def decoded(file: Path) -> list[dict[str, Any]]:
    return bson.decode_all(file.read_bytes())


@EACH_FILE
def test_a_release_is_verified_by_itself_and_with_its_original(name: str, tmp_path: Path) -> None:
    release = published(EXPORTS / name, POLICY)
    assert hierdata.verify(release.folder, POLICY).passed
    assert hierdata.verify(release.folder, POLICY, original=EXPORTS / name).passed


@pytest.mark.full
def test_packed_forms_are_published_packed(tmp_path: Path) -> None:
    for name in ("university/students.bson", "canonical.ejson"):
        packed = tmp_path / "dump" / f"{Path(name).name}.gz"
        packed.parent.mkdir(exist_ok=True)
        packed.write_bytes(gzip.compress((EXPORTS / name).read_bytes()))
        source = packed.parent if name.endswith("bson") else packed
        release = hierdata.anonymize(source, POLICY, seed=SEED)
        plain = public(published(EXPORTS / name, POLICY))
        assert gzip.decompress(public(release).read_bytes()) == plain.read_bytes()
        assert public(release).name == f"{plain.name}.gz"


@pytest.mark.full
def test_a_mongoexport_under_another_name(tmp_path: Path) -> None:
    file = tmp_path / "students.json"
    shutil.copy(EXPORTS / "relaxed.ejson", file)
    shutil.copytree(POLICY.parents[1] / "taxonomies", tmp_path / "taxonomies")
    policy = tmp_path / "policies" / "policy.yaml"
    policy.parent.mkdir()
    policy.write_text(POLICY.read_text() + "format: extended-json\n")
    release = hierdata.anonymize(file, policy, seed=SEED)
    assert public(release).read_bytes() == public(published(EXPORTS / "relaxed.ejson", POLICY)).read_bytes()


KINDS: dict[str, list[Any]] = {
    "int": [1, 1, 2, 2],
    "long": [bson.Int64(1), bson.Int64(1), bson.Int64(2), bson.Int64(2)],
    "double": [1.5, 1.5, 2.5, 2.5],
    "decimal": [bson.Decimal128("1.50"), bson.Decimal128("1.5"), bson.Decimal128("2"), bson.Decimal128("2")],
    "mixed": [1, bson.Int64(1), 2.0, bson.Decimal128("2.0")],
    "word": [float("nan"), float("nan"), bson.Decimal128("Infinity"), bson.Decimal128("Infinity")],
    "oid": [OID, OID, bson.ObjectId("0" * 24), bson.ObjectId("0" * 24)],
    "uuid": [bson.Binary(b"\1" * 16, 4)] * 2 + [bson.Binary(b"\2" * 16, 4)] * 2,
    "bytes": [b"a", b"a", bson.Binary(b"a", 5), bson.Binary(b"a", 5)],
    "regex": [bson.Regex("a"), bson.Regex("a"), bson.Regex("b", "i"), bson.Regex("b", "i")],
    "time": [bson.Timestamp(1, 1), bson.Timestamp(1, 1), bson.Timestamp(2, 1), bson.Timestamp(2, 1)],
    "code": [bson.Code("f"), bson.Code("f"), bson.Code("g"), bson.Code("g")],
    "key": [bson.MinKey(), bson.MinKey(), bson.MaxKey(), bson.MaxKey()],
    "date": [bson.DatetimeMS(ms) for ms in (0, 1, 253402300800000, 253402300800001)],
}
ONE_TYPE: dict[str, list[Any]] = {
    "decimal": [bson.Decimal128(text) for text in ("1.5", "1.5", "2", "2")],
    "mixed": [bson.Decimal128(text) for text in "1122"],
    "word": ["NaN", "NaN", "Infinity", "Infinity"],
    "key": ["MinKey", "MinKey", "MaxKey", "MaxKey"],
}
"""What is published where a field has several types or spellings."""
NUMBERS = ("int", "long", "double", "decimal", "mixed")


def policy_of(domains: dict[str, Any], role: dict[str, Any]) -> Any:
    """The fields as quasi-identifiers, or as sensitive attributes."""
    fields = {f"$.{name}": {**role, **domain} for name, domain in domains.items()}
    return from_data({"version": 1, "models": [{"kind": "k-anonymity", "k": 2}], "fields": fields})


def collection(tmp_path: Path) -> Path:
    file = tmp_path / "things.bson"
    rows = [{name: values[at] for name, values in KINDS.items()} for at in range(4)]
    options = bson.CodecOptions(datetime_conversion=bson.DatetimeConversion.DATETIME_MS)
    file.write_bytes(b"".join(bson.encode(row, codec_options=options) for row in rows))
    return file


@pytest.mark.parametrize("domain", ["flat", "prefix", "taxonomy", "interval or date"])
def test_every_type_is_a_quasi_identifier(domain: str, tmp_path: Path) -> None:
    source = collection(tmp_path)
    labels = {
        name: sorted({str(release_text(values[at])) for at in range(4)}) for name, values in KINDS.items()
    }
    domains: dict[str, dict[str, Any]] = {}
    for name in KINDS:
        domains[name] = {
            "flat": {"flat": True},
            "prefix": {"prefix": {"keep": [99, 1]}},
            "taxonomy": {"taxonomy": {"tree": {"*": labels[name]}}},
            "interval or date": {"flat": True},
        }[domain]
        if domain == "interval or date" and name in ("int", "long", "mixed"):  # others are in bins, as text
            domains[name] = {"interval": {"steps": [1, 10]}}
        if name in ("date", "time") and domain in ("interval or date", "taxonomy", "flat", "prefix"):
            domains[name] = {"date": {"steps": ["day", "month"]}}
    release = hierdata.anonymize(source, policy_of(domains, {"role": "quasi"}), seed=SEED)
    assert release.report.passed
    rows = decoded_ms(public(release))
    forms = {repr(sorted(row.items())) for row in rows}
    assert len(rows) == 4
    assert len(forms) == 2  # int32 1, int64 1 and double 1.0 tell nobody apart
    # Numbers are written by their value, dates and codes as text: a type would tell of other records.
    number = {"prefix": str, "taxonomy": str}.get(domain, int)
    assert {type(row[name]) for row in rows for name in ("int", "long")} == {number}
    assert {type(row["double"]) for row in rows} == {float if number is int else str}
    assert {type(row["oid"]) for row in rows} == {str if number is str else bson.ObjectId}
    assert {row["date"] for row in rows} == {"1970-01-01", "+010000-01-01"}


def decoded_ms(file: Path) -> list[dict[str, Any]]:
    options = bson.CodecOptions(datetime_conversion=bson.DatetimeConversion.DATETIME_MS)
    return bson.decode_all(file.read_bytes(), options)


def release_text(value: Any) -> str:
    """How a taxonomy of a policy spells a value."""
    (found,) = decode(bson.encode({"": value})).values()
    return str(found)


@pytest.mark.parametrize("name", KINDS)
def test_every_type_is_sensitive_and_a_field_has_one(name: str, tmp_path: Path) -> None:
    by = {release_text(value): at % 5 + 1 for at, value in enumerate(KINDS[name])}
    if name in NUMBERS:
        by = {"1": 1, "1.5": 2, "2": 3, "2.5": 4}
    fields = {f"$.{other}": {"role": "identifier", "action": "drop"} for other in KINDS if other != name}
    fields[f"$.{name}"] = {"role": "sensitive", "levels": {"by": by}}
    models = [{"kind": "level-alpha-k", "k": 2, "alpha": [1, 1, 1, 1, 1]}]
    policy = from_data({"version": 1, "models": models, "fields": fields})
    release = hierdata.anonymize(collection(tmp_path), policy, seed=SEED)
    rows = decoded_ms(public(release))
    published = ONE_TYPE.get(name, KINDS[name])
    assert sorted(repr(row[name]) for row in rows) == sorted(repr(one(value)) for value in published)


def one(value: Any) -> Any:
    """A value as the library reads it."""
    options = bson.CodecOptions(datetime_conversion=bson.DatetimeConversion.DATETIME_MS)
    return bson.decode(bson.encode({"": value}, codec_options=options), options)[""]


def test_folders_that_are_no_dump_of_one_collection(tmp_path: Path) -> None:
    database = tmp_path / "db"
    database.mkdir()
    with pytest.raises(InputError, match="no files"):
        hierdata.anonymize(database, POLICY)
    for name in ("a.bson", "system.views.bson", "a.metadata.json"):
        (database / name).write_bytes(b"")
    with pytest.raises(PolicyError, match="dump of databases"):
        hierdata.anonymize(tmp_path, POLICY)
    (database / "b.bson.gz").write_bytes(b"")
    with pytest.raises(PolicyError, match="2 collections"):
        hierdata.anonymize(database, POLICY)


def test_extended_json_under_the_name_of_json_lines_is_recognized(tmp_path: Path) -> None:
    file = tmp_path / "students.jsonl"
    lines = (EXPORTS / "canonical.ejson").read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:150]))
    assert hierdata.anonymize(file, POLICY).report.passed
    stated = hierdata.load_policy(POLICY).model_copy(update={"format": "jsonl"})
    with pytest.raises(PolicyError, match="`format: extended-json`"):
        hierdata.anonymize(file, stated)
