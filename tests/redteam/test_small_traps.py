"""Small traps for users: what a beginner meets first is one sentence that says what to do."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy
import pandas
import pytest

import hierdata
from hierdata.documents.formats import FORMATS
from hierdata.ground.errors import missing_extra
from hierdata.pipeline.look_over import survey_collection
from hierdata.pipeline.verify import UNTOLD
from hierdata.policy.lint.lint import lint
from hierdata.policy.load import from_data

K = {"kind": "k-anonymity", "k": 2}
FLAT = {"role": "quasi", "flat": True}
PLAIN = {"version": 1, "models": [K], "fields": {"$.a": FLAT, "$.b": {"role": "sensitive"}}}
XML = {"version": 1, "models": [K], "fields": {"/r/s/a": FLAT}}
TABLE = {"version": 1, "models": [K], "fields": {"a": FLAT, "b": {"role": "sensitive"}}}


def refusal(kind: type[hierdata.HierdataError], source: Any, policy: Any) -> str:
    with pytest.raises(kind) as refused:
        hierdata.anonymize(source, policy)
    assert "7319" not in str(refused.value)
    return str(refused.value)


# Suffixes, extras, empty files


def test_an_unknown_suffix_names_the_option_and_the_formats(tmp_path: Path) -> None:
    for name in ("people.7319", "people", "people.txt.gz"):
        (tmp_path / name).write_text("[]")
        message = refusal(hierdata.PolicyError, tmp_path / name, PLAIN)
        assert "--format" in message
        assert all(known in message for known in FORMATS)


def test_every_extra_is_installed_by_a_command_that_can_be_pasted() -> None:
    """Each error about a package that is missing is made by one function, and its extra exists."""
    import tomllib

    root = Path(__file__).parents[2]
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    asked = set()
    for file in (root / "hierdata").rglob("*.py"):
        text = file.read_text()
        assert "install hierdata[" not in text, file
        asked |= {extra for extra in extras if f'", "{extra}") from None' in text}
    assert asked == {"mongodb", "pandas", "parquet", "postgresql", "spark"}
    assert str(missing_extra("this", "spark")).endswith("pip install 'hierdata[spark]'")


def test_what_is_missing_is_named_with_its_command(tmp_path: Path) -> None:
    """In a process that never imported it; one for all, since each begins by importing the package."""
    inputs = {
        "pyarrow": ("x.parquet", None),
        "bson": ("x.bson", None),
        "pymongo": ("mongodb://h/d/c", None),
        "sqlalchemy": ("postgresql://h/d?table=t", None),
        "pyspark": ("x.jsonl", "spark"),
    }
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    (tmp_path / "x.bson").write_bytes(b"\5\0\0\0\0")
    (tmp_path / "x.jsonl").write_text('{"a": 1, "b": 2}\n' * 4)
    program = f"""
import sys, hierdata
for extra, (given, executor) in {inputs!r}.items():
    sys.modules[extra] = None
    try:
        hierdata.anonymize(given, {PLAIN!r}, resources=hierdata.Resources(executor))
    except hierdata.PolicyError as error:
        print(error)
    del sys.modules[extra]
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    messages = done.stdout.splitlines()
    assert len(messages) == len(inputs)
    assert all("install it with: pip install 'hierdata[" in message for message in messages)


@pytest.mark.parametrize("name", ["x.json", "x.jsonl", "x.csv", "x.xml", "x.bson", "x.parquet", "x.jsonl.gz"])
@pytest.mark.parametrize("content", [b"", b"\n \r\n", b"\xef\xbb\xbf\n"])
def test_an_empty_file_is_called_empty(tmp_path: Path, name: str, content: bytes) -> None:
    if content and name.endswith((".bson", ".parquet")):
        return  # binary: white space is not empty
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    policy = XML if name.endswith(".xml") else PLAIN
    message = refusal(hierdata.InputError, tmp_path / name, policy)
    assert message == "the file is empty: there is nothing to read"


@pytest.mark.parametrize(("name", "content"), [("x.json", "[]"), ("x.csv", "a,b\n")])
def test_a_file_without_records_has_no_records(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    message = refusal(hierdata.InputError, tmp_path / name, PLAIN)
    assert message == "there are no records: the input has nothing to anonymize"


def test_an_empty_table_among_several_is_called_empty(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("")
    policy = {**PLAIN, "tables": {"people": {"key": "id"}}}
    assert refusal(hierdata.InputError, tmp_path, policy) == (
        "the table people: the file is empty: there is nothing to read"
    )


# CSV


ROWS = [["x", "flu"], ["x", "HIV"], ["y", "flu"], ["y", "HIV"]]


def table(folder: Path, text: str, name: str = "t.csv") -> Path:
    file = folder / name
    file.write_text(text, "utf-8")
    return file


def published(release: Any, folder: Path) -> list[list[str]]:
    release.save(folder / "release")
    (file,) = (folder / "release" / "public").glob("records.*")
    header, *rows = csv.reader(io.StringIO(file.read_text()))
    return [header, *sorted(rows)]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_a_table_without_header_takes_its_names_from_the_policy(
    tmp_path: Path, mark: str, start: str
) -> None:
    file = table(tmp_path, start + "".join(mark.join(row) + "\n" for row in ROWS))
    policy = {**TABLE, "csv": {"columns": ["a", "b"]}}
    (tmp_path / "policy.json").write_text(json.dumps(policy))
    release = hierdata.anonymize(file, tmp_path / "policy.json")
    release.save(tmp_path / "release")
    text = (tmp_path / "release" / "public" / "records.csv").read_text()
    header, *rows = csv.reader(io.StringIO(text), delimiter=mark)
    assert [header, *sorted(rows)] == [["a", "b"], *sorted(ROWS)]
    assert hierdata.verify(tmp_path / "release", tmp_path / "policy.json", original=file).passed
    # A file that hierdata did not write has no header either.
    assert hierdata.verify(file, policy).passed
    assert not hierdata.verify(file, {**policy, "models": [{"kind": "k-anonymity", "k": 3}]}).passed


def test_the_first_row_is_a_record_unless_it_has_the_names(tmp_path: Path) -> None:
    policy = {**TABLE, "csv": {"columns": ["a", "b"]}}
    text = "".join(",".join(row) + "\n" for row in ROWS)
    without = published(hierdata.anonymize(table(tmp_path, text), policy), tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    assert published(hierdata.anonymize(table(tmp_path, "a,b\n" + text), policy), other) == without


def test_tables_without_headers(tmp_path: Path) -> None:
    policy = {
        "version": 1,
        "models": [K],
        "tables": {"p": {"key": "id", "columns": ["id", "a"]}, "v": {"parent": "p", "on": "p"}},
        "fields": {"$.a": FLAT, "$.v[*].b": {"role": "sensitive"}},
    }
    table(tmp_path, "1,x\n2,x\n", "p.csv")
    table(tmp_path, "p,b\n1,flu\n2,flu\n", "v.csv")
    release = hierdata.anonymize(tmp_path, policy)
    release.save(tmp_path / "release")
    assert (tmp_path / "release" / "public" / "records" / "p.csv").read_text().splitlines() == [
        "id,a",
        "1,x",
        "2,x",
    ]
    assert "csv.columns: each table" in refusal(
        hierdata.PolicyError, tmp_path, {**policy, "csv": {"columns": ["a"]}}
    )


@pytest.mark.parametrize(
    ("text", "columns", "sentence"),
    [
        ("7319,flu\n7319,HIV\n", None, "no column is in the policy: make sure that the table begins"),
        ("7319,flu,1\n", ["a", "b"], "`columns` names 2 columns, but the first line has 3 cells"),
        ("7319,flu\n7319\n", ["a", "b"], "record 2: the row has 1 cells, but the number of columns is 2"),
        ("a,a\n7319,1\n", None, "columns 1 and 2 have the same name"),
        ("a,\n7319,1\n", None, "column 2 has no name: name it in the header, or leave it out"),
        ("7319,flu\n", ["a", "a"], "csv.columns: two of them have the same name"),
        ("7319,flu\n", [], "csv.columns: "),
    ],
)
def test_headers_that_cannot_be_used(
    tmp_path: Path, text: str, columns: list[str] | None, sentence: str
) -> None:
    policy = TABLE if columns is None else {**TABLE, "csv": {"columns": columns}}
    assert refusal(hierdata.HierdataError, table(tmp_path, text), policy).startswith(sentence)


def test_columns_are_for_csv_only(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('[{"a": 1}]')
    policy = {**PLAIN, "csv": {"columns": ["a", "b"]}}
    assert "options for CSV" in refusal(hierdata.PolicyError, tmp_path / "x.json", policy)


# Values in dicts


def test_values_of_python_and_pandas_come_back_in_kind_unless_generalized() -> None:
    day, key = datetime(2001, 3, 4, tzinfo=UTC), UUID(int=7)
    people = [
        {
            "seen": day + timedelta(days=place // 2),
            "born": date(1990, 1, 1 + place),
            "s": numpy.int64(place % 2),
        }
        | {"key": key, "blob": b"a", "gone": pandas.NaT}
        for place in range(4)
    ]
    kept = {"role": "insensitive", "exempt": "a test"}
    fields = {
        "$.seen": {"role": "quasi", "date": {"steps": ["day", "year"]}},
        "$.born": {"role": "quasi", "date": {"steps": ["year"]}},
        "$.s": {"role": "sensitive"},
        **{f"$.{name}": kept for name in ("key", "blob", "gone")},
    }
    policy = {"version": 1, "models": [K], "fields": fields}
    release = hierdata.anonymize(people, policy)
    assert sorted(release.records(), key=str)[0] == {
        "seen": "2001-03-04",
        "born": "1990",
        "s": 0,
        "key": key,
        "blob": b"a",
    }


def test_a_type_that_is_refused_is_named_without_its_value() -> None:
    message = refusal(hierdata.InputError, [{"a": {7319}, "b": 1}], PLAIN)
    assert message == "record 1: a value has the type set, which a record cannot contain"


# Extended JSON


def exported(folder: Path, name: str, *, array: bool = False) -> Path:
    """Canonical Extended JSON, as mongoexport writes it."""
    rows = [
        {
            "_id": {"$oid": f"{place:024x}"},
            "a": {"$numberInt": str(30 + place % 2)},
            "b": "flu" if place < 2 else "HIV",
        }
        for place in range(4)
    ]
    text = json.dumps(rows) if array else "".join(json.dumps(row) + "\n" for row in rows)
    return table(folder, text, name)


IDS = {"$._id": {"role": "identifier"}}


@pytest.mark.parametrize(("name", "array"), [("x.json", True), ("x.json", False), ("x.jsonl", False)])
def test_extended_json_is_recognized_by_its_content(tmp_path: Path, name: str, array: bool) -> None:
    file = exported(tmp_path, name, array=array)
    policy = {**PLAIN, "fields": {**PLAIN["fields"], **IDS}}  # type: ignore[dict-item]
    release = hierdata.anonymize(file, policy)
    assert sorted(str(record["a"]) for record in release.records()) == ["30", "30", "31", "31"]
    release.save(tmp_path / "release")
    (found,) = (tmp_path / "release" / "public").glob("records.*")
    assert found.suffix == ".ejson"
    assert '"$numberInt"' in found.read_text()
    assert hierdata.verify(tmp_path / "release", policy, original=file).passed
    assert {field.path for field in hierdata.init(file).fields} == {"$._id", "$.a", "$.b"}


@pytest.mark.parametrize("path", ["$.a", "$.a['$numberInt']"])
def test_wrappers_are_never_fields(tmp_path: Path, path: str) -> None:
    """Also where the format is stated, and where wrappers come too late to be recognized."""
    file = exported(tmp_path, "x.jsonl")
    fields = {path: FLAT, "$.b": {"role": "sensitive"}}
    policy = {**PLAIN, "unlisted": "drop", "fields": fields}
    sentence = "$.a: these are values of MongoDB's Extended JSON: state `format: extended-json`"
    assert refusal(hierdata.PolicyError, file, {**policy, "format": "jsonl"}) == sentence
    late = table(tmp_path, '{"b": "flu"}\n' * 20_000 + file.read_text(), "late.jsonl")
    assert refusal(hierdata.PolicyError, late, policy) == sentence


def test_lint_says_so_too(tmp_path: Path) -> None:
    file = exported(tmp_path, "x.jsonl")
    stated = from_data(
        {**PLAIN, "format": "jsonl", "unlisted": "drop", "fields": {"$.a['$numberInt']": FLAT}}
    )
    found, hints = survey_collection(file, stated)
    assert any("Extended JSON" in finding.message for finding in lint(stated, found, hints))


def test_text_that_looks_like_a_wrapper_is_text(tmp_path: Path) -> None:
    rows = [{"a": '{"$oid": "x"}', "b": place} for place in range(2)]
    file = table(tmp_path, json.dumps(rows), "x.json")
    assert [record["a"] for record in hierdata.anonymize(file, PLAIN).records()] == ['{"$oid": "x"}'] * 2


# Anatomy of another program


ANATOMY = {
    "version": 1,
    "recoding": "anatomy",
    "models": [K, {"kind": "distinct-l-diversity", "l": 2}],
    "fields": {"$.id": {"role": "identifier"}, "$.a": FLAT, "$.b": {"role": "sensitive"}},
}
PEOPLE = [{"id": place, "a": f"x{place}", "b": ("flu", "HIV", "cold")[place % 3]} for place in range(12)]


@pytest.mark.parametrize("inside", ["", "public"])
@pytest.mark.parametrize("suffix", ["json", "csv"])
def test_an_anatomy_folder_of_another_program_is_judged(tmp_path: Path, suffix: str, inside: str) -> None:
    people = tmp_path / f"people.{suffix}"
    text = io.StringIO()
    rows = csv.DictWriter(text, ["id", "a", "b"])
    rows.writeheader()
    rows.writerows(PEOPLE)
    people.write_text(json.dumps(PEOPLE) if suffix == "json" else text.getvalue())
    release = hierdata.anonymize(people, ANATOMY).save(tmp_path / "release")
    theirs = tmp_path / "theirs"
    (theirs / inside).mkdir(parents=True)
    for part in (f"records.{suffix}", f"sensitive.{suffix}"):
        shutil.copy(release / "public" / part, theirs / inside / part)
    assert hierdata.verify(theirs, ANATOMY).passed
    verdict = hierdata.verify(theirs, ANATOMY, original=people)
    assert verdict.not_judged == (UNTOLD,)  # exit code 4
    assert not verdict.passed
    assert [judgement.held for judgement in verdict.judgements] == [True, True]
    assert hierdata.verify(
        theirs, ANATOMY, original=people, witness=release / "steward" / "witness.bin"
    ).passed

    stricter = {**ANATOMY, "models": [{"kind": "k-anonymity", "k": 13}]}
    assert not hierdata.verify(theirs, stricter).passed

    # A release of hierdata that has lost this file is not another program's.
    (release / "public" / "release.json").unlink()
    with pytest.raises(hierdata.TargetError, match=r"release\.json"):
        hierdata.verify(release, ANATOMY, original=people)
