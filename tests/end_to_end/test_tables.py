"""Tables through the whole pipeline: they give the same classes as the same data as JSON, in every form."""

from __future__ import annotations

import csv
import gzip
import json
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata.policy.load import from_data
from hierdata.policy.load.yaml import read
from hierdata.release.release import Release
from tests.end_to_end.conftest import POLICIES, SEED, STUDENTS, all_plain, published

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pd = pytest.importorskip("pandas")

TABLES = STUDENTS / "tables"
KEYED = POLICIES / "students-tables.yaml"
NAMES = ("students", "courses", "books", "evaluations")
MAJORS = ("Physics", "Statistics", "Film Studies", "Linguistics", "Logistics")
TEXT = {
    pa.large_string(): pa.string(),
    pa.dictionary(pa.int8(), pa.large_string()): pa.dictionary(pa.int32(), pa.string()),
}


FEW = 150
"""So many of the bundled students; some of them have no gpa."""


def rows() -> list[dict[str, Any]]:
    """Some students without their courses, what is missing absent."""
    people = json.loads((STUDENTS / "students.json").read_text("utf-8"), parse_float=Decimal)
    return [{key: value for key, value in person.items() if key != "courses"} for person in people[:FEW]]


def policy(**changes: Any) -> Any:
    stated: dict[str, Any] = {
        "version": 1,
        "models": [
            {"kind": "k-anonymity", "k": 4},
            {"kind": "level-alpha-k", "k": 4, "alpha": [1, 1, 0.8, 0.6, 0.5]},
        ],
        "fields": {
            "id": {"role": "identifier"},
            "major": {"role": "quasi", "taxonomy": "../taxonomies/major.csv"},
            "birth_year": {"role": "quasi", "interval": {"steps": [1, 2, 5, 10]}},
            "gpa": {"role": "sensitive", "levels": {"domain": [0, 4], "sensitive": "low"}},
        },
    }
    return from_data(stated | changes, POLICIES)


def write_csv(path: Path, header: list[str], lines: list[list[Any]], delimiter: str = ",") -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows([header, *lines])
    return path


def as_csv(path: Path, delimiter: str = ",") -> Path:
    columns = ["gpa", "id", "major", "birth_year"]
    return write_csv(path, columns, [[row.get(column) for column in columns] for row in rows()], delimiter)


def text(release: Release) -> list[dict[str, Any]]:
    return all_plain(release.records())


@pytest.fixture(scope="module")
def expected() -> Release:
    return hierdata.anonymize(rows(), policy(), seed=SEED)


def same(release: Release, expected: Release) -> bool:
    """The same classes, values and figures, whatever the types."""
    counts = ("records", "classes", "smallest_class", "largest_class")
    return (
        text(release) == text(expected)
        and release.report.metrics == expected.report.metrics
        and all(
            getattr(release.report.counts, name) == getattr(expected.report.counts, name) for name in counts
        )
    )


# One table


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_gives_what_the_same_rows_give_as_json(expected: Release, delimiter: str, tmp_path: Path) -> None:
    release = hierdata.anonymize(as_csv(tmp_path / "a.csv", delimiter), policy(), seed=SEED)
    assert same(release, expected)
    lines = (release.folder / "public" / "records.csv").read_bytes().decode().splitlines(keepends=True)
    assert lines[0] == delimiter.join(["gpa", "major", "birth_year"]) + "\r\n"
    assert hierdata.verify(release.save(tmp_path / "out"), policy()).passed
    assert hierdata.verify(tmp_path / "out", policy(), original=tmp_path / "a.csv").passed
    assert hierdata.verify(tmp_path / "out" / "public" / "records.csv", policy()).passed
    assert not hierdata.verify(tmp_path / "a.csv", policy()).passed


def test_packed_csv_is_published_packed(expected: Release, tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(as_csv(tmp_path / "a.csv").read_bytes()))
    release = hierdata.anonymize(tmp_path / "a.csv.gz", policy(), seed=SEED)
    assert same(release, expected)
    assert (release.folder / "public" / "records.csv.gz").is_file()


def frame(index: Any = None) -> Any:
    table = pd.DataFrame(rows())
    table["gpa"] = table["gpa"].astype(float)
    table["major"] = table["major"].astype("category")
    table["birth_year"] = table["birth_year"].astype("Int64")
    return table if index is None else table.set_index(pd.Index(index(len(table)), name="marker"))


def test_parquet_a_frame_and_an_arrow_table_are_one_and_keep_their_types(
    expected: Release, tmp_path: Path
) -> None:
    table = pa.Table.from_pandas(frame(), preserve_index=False)
    # Which of Arrow's two sorts of text a frame becomes depends on the version of pandas.
    fields = [field.with_type(TEXT.get(field.type, field.type)) for field in table.schema]
    table = table.cast(pa.schema(fields))
    pq.write_table(table, tmp_path / "a.parquet")
    found = []
    for source in (tmp_path / "a.parquet", table, frame()):
        release = hierdata.anonymize(source, policy(), seed=SEED)
        assert release.report.metrics == expected.report.metrics
        # As a float 3.70 is 3.7, so the figures are the same and the spelling is not.
        assert [row.get("major") for row in release.records()] == [
            row.get("major") for row in expected.records()
        ]
        found.append((release.folder / "public" / "records.parquet").read_bytes())
        assert hierdata.verify(release.save(tmp_path / f"out{len(found)}"), policy()).passed
    assert found[0] == found[1] == found[2]
    back = pd.read_parquet(tmp_path / "out1" / "public" / "records.parquet")
    assert back["gpa"].dtype == float
    assert list(back.columns) == ["major", "birth_year", "gpa"]
    assert back["gpa"].isna().any()


@pytest.mark.parametrize(
    "index",
    [
        lambda size: [0] * size,
        lambda size: range(size, 0, -1),
        lambda size: [f"marker-7319-{at}" for at in range(size)],
        lambda size: [None] * size,
        lambda size: pd.date_range("2000-01-01", periods=size),
    ],
)
def test_the_index_of_a_frame_neither_matters_nor_appears(expected: Release, index: Any) -> None:
    release = hierdata.anonymize(frame(index), policy(), seed=SEED)
    assert release.report.metrics == expected.report.metrics
    for file in release.folder.rglob("*.*"):
        assert file.is_dir() or b"marker" not in file.read_bytes()
    assert hierdata.verify(frame(index), policy()).k == hierdata.verify(frame(), policy()).k


def test_dates_of_a_frame_are_generalized_and_sensitive_ones_kept() -> None:
    days = pd.to_datetime([f"2001-03-0{day}" for day in range(1, 9)])
    table = pd.DataFrame({"born": days, "seen": days.date, "ill": ["flu", "cold"] * 4})
    stated = {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 4}],
        "fields": {
            "born": {"role": "quasi", "date": {"steps": ["month", "year"]}},
            "seen": {"role": "sensitive"},
            "ill": {"role": "sensitive"},
        },
    }
    release = hierdata.anonymize(table, stated, seed=SEED)
    back = pq.read_table(release.folder / "public" / "records.parquet")
    assert set(back.column("born").to_pylist()) == {"2001-03"}
    assert back.schema.field("seen").type == pa.date32()
    assert sorted(back.column("seen").to_pylist()) == list(days.date)


def test_a_file_for_people_is_neutralized_and_verified(tmp_path: Path) -> None:
    attacks = ["=1+1", "@x", "'=1+1", "-2+3", "+cmd|x", "-5", "a,=b", "plain"]
    source = write_csv(tmp_path / "a.csv", ["q", "s"], [["x", cell] for cell in attacks])
    stated: dict[str, Any] = {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 8}, {"kind": "frequency-l-diversity", "l": 8}],
        "fields": {"q": {"role": "quasi", "flat": True}, "s": {"role": "sensitive"}},
    }
    plain = hierdata.anonymize(source, stated, seed=SEED)
    people = hierdata.anonymize(source, stated | {"csv": {"for_people": True}}, seed=SEED)
    assert list(people.records()) == list(plain.records())
    with (people.folder / "public" / "records.csv").open(newline="") as file:
        shown = sorted(row["s"] for row in csv.DictReader(file))
    assert shown == sorted(["'=1+1", "'@x", "''=1+1", "'-2+3", "'+cmd|x", "-5", "a,=b", "plain"])
    folder = people.save(tmp_path / "out")
    assert hierdata.verify(folder, stated | {"csv": {"for_people": True}}).passed
    with pytest.raises(hierdata.VerificationError, match="formula"):
        hierdata.verify(source, stated | {"csv": {"for_people": True}})


def test_what_is_dropped_has_no_column(tmp_path: Path) -> None:
    source = write_csv(
        tmp_path / "a.csv", ["q", "marker", "s", "note"], [["x", "7", "a", "b"], ["x", "8", "c", ""]]
    )
    stated: dict[str, Any] = {
        "version": 1,
        "unlisted": "drop",
        "models": [{"kind": "k-anonymity", "k": 2}],
        "fields": {
            "q": {"role": "quasi", "flat": True},
            "s": {"role": "sensitive"},
            "note": {"role": "free_text"},
        },
    }
    release = hierdata.anonymize(source, stated)
    assert (release.folder / "public" / "records.csv").read_text().splitlines()[0] == "q,s"
    release = hierdata.anonymize(source, stated | {"unlisted": {"keep": "harmless"}})
    assert (release.folder / "public" / "records.csv").read_text().splitlines()[0] == "q,marker,s"


# Keyed tables


@pytest.fixture(scope="module")
def students(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """Some students, published from JSON."""
    source = tmp_path_factory.mktemp("json") / "students.json"
    source.write_text(json.dumps(json.loads((STUDENTS / "students.json").read_text("utf-8"))[:FEW]))
    return published(source, POLICIES / "students-multilevel.yaml")


@pytest.fixture(scope="module")
def folder_of_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables of the same students."""
    folder = tmp_path_factory.mktemp("tables")
    tables = keyed_rows(TABLES)
    known = {row["cid"] for row in tables["courses"] if int(row["sid"]) <= FEW}
    for name, own in tables.items():
        kept = [row for row in own if (int(row["sid"]) <= FEW if "sid" in row else row["cid"] in known)]
        write_csv(folder / f"{name}.csv", [*own[0]], [[*row.values()] for row in kept])
    return folder


def keyed_rows(folder: Path) -> dict[str, list[dict[str, str]]]:
    found = {}
    for name in NAMES:
        with (folder / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            found[name] = list(csv.DictReader(file))
    return found


@pytest.fixture(scope="module")
def keyed(folder_of_tables: Path) -> Release:
    return published(folder_of_tables, KEYED)


def test_four_keyed_tables_give_the_classes_of_the_same_students_as_json(
    keyed: Release, students: Release
) -> None:
    assert same(keyed, students)


@pytest.mark.full
def test_a_release_of_tables_has_fresh_keys_and_its_judge_joins_them(tmp_path: Path) -> None:
    release = hierdata.anonymize(TABLES, KEYED, seed=SEED)
    folder = release.save(tmp_path / "out")
    assert sorted(path.name for path in (folder / "public").iterdir()) == [
        "codebook.json",
        "records",
        "release.json",
        "summary.html",
    ]
    tables = keyed_rows(folder / "public" / "records")
    assert list(tables["courses"][0]) == ["cid", "sid", "code", "grade"]
    assert [row["sid"] for row in tables["students"]] == [
        str(at) for at in range(1, len(tables["students"]) + 1)
    ]
    assert [row["cid"] for row in tables["courses"]] == [
        str(at) for at in range(1, len(tables["courses"]) + 1)
    ]
    assert {row["sid"] for row in tables["courses"]} <= {row["sid"] for row in tables["students"]}
    assert hierdata.verify(folder, KEYED).passed
    assert hierdata.verify(folder, KEYED, original=TABLES).passed
    assert hierdata.verify(folder / "public" / "records", KEYED).passed
    raw = hierdata.verify(TABLES, KEYED)
    assert (raw.passed, raw.k) == (False, 1)


def test_strangers_and_changes_in_a_release_of_tables_are_refused(keyed: Release, tmp_path: Path) -> None:
    folder = shutil.copytree(keyed.folder, tmp_path / "out")
    records = folder / "public" / "records"
    (records / "more.csv").write_text("sid,name\n1,marker\n")
    with pytest.raises(hierdata.VerificationError, match="besides the records"):
        hierdata.verify(folder, KEYED)
    (records / "more.csv").unlink()
    courses = (records / "courses.csv").read_text().splitlines(keepends=True)
    (records / "courses.csv").write_text("".join(courses[:-1]))
    with pytest.raises(hierdata.HierdataError):
        assert hierdata.verify(folder, KEYED).passed, "its books and evaluations are orphans"
    (records / "courses.csv").write_text("".join(courses).replace("cid,sid,code,grade", "cid,sid,code,name"))
    with pytest.raises(hierdata.VerificationError, match="does not list"):
        hierdata.verify(folder, KEYED)


@pytest.mark.full
def test_other_keys_and_another_order_of_tables_change_nothing(
    students: Release, folder_of_tables: Path, tmp_path: Path
) -> None:
    tables = keyed_rows(folder_of_tables)
    for name, own in tables.items():
        for row in own:
            row.update({key: f"key-{row[key]}" for key in ("sid", "cid") if key in row})
        lines = [[row["cid"] if key == "on" else row[key] for key in row] for row in own]
        write_csv(tmp_path / f"{name}.csv", list(own[0]), lines, ";")
    assert same(hierdata.anonymize(tmp_path, KEYED, seed=SEED), students)


@pytest.mark.full
def test_tables_in_memory_and_in_files_may_be_mixed(
    students: Release, folder_of_tables: Path, tmp_path: Path
) -> None:
    tables: dict[str, Any] = keyed_rows(folder_of_tables)
    for own in tables.values():
        for row in own:
            row.update({key: int(row[key]) for key in ("sid", "cid") if key in row})
    tables["students"] = pd.DataFrame(tables["students"]).replace("", None)
    tables["books"] = pa.Table.from_pylist(tables["books"])
    pq.write_table(pa.Table.from_pylist(tables["evaluations"]), tmp_path / "e.parquet")
    tables["evaluations"] = tmp_path / "e.parquet"
    release = hierdata.anonymize(tables, KEYED, seed=SEED)
    assert text(release) == text(students)
    folder = release.save(tmp_path / "out")
    names = ["books.parquet", "courses.jsonl", "evaluations.parquet", "students.parquet"]
    assert sorted(path.name for path in (folder / "public" / "records").iterdir()) == names
    assert hierdata.verify(folder, KEYED).passed
    assert pq.read_schema(folder / "public" / "records" / "books.parquet").field("cid").type == pa.int64()


def test_files_may_be_packed_and_have_names_of_their_own(
    students: Release, folder_of_tables: Path, tmp_path: Path
) -> None:
    stated = read(KEYED)
    for name in NAMES:
        (tmp_path / f"{name}.csv.gz").write_bytes(
            gzip.compress((folder_of_tables / f"{name}.csv").read_bytes())
        )
    (tmp_path / "books.csv.gz").unlink()
    shutil.copy(folder_of_tables / "books.csv", tmp_path / "loans.csv")
    stated["tables"]["books"]["file"] = "loans.csv"
    renamed = from_data(stated, POLICIES)
    release = hierdata.anonymize(tmp_path, renamed, seed=SEED)
    assert same(release, students)
    public = release.folder / "public" / "records"
    assert sorted(path.name for path in public.iterdir()) == [
        *("books.csv", "courses.csv.gz", "evaluations.csv.gz", "students.csv.gz")
    ]
    assert hierdata.verify(release.folder, renamed).passed


def test_a_table_that_the_policy_drops_is_not_published(folder_of_tables: Path) -> None:
    stated = read(KEYED)
    fields = {path: rule for path, rule in stated["fields"].items() if "books" not in path}
    dropped = from_data(stated | {"fields": fields | {"$.courses[*].books": {"role": "free_text"}}}, POLICIES)
    release = hierdata.anonymize(folder_of_tables, dropped, seed=SEED)
    public = release.folder / "public" / "records"
    assert sorted(path.name for path in public.iterdir()) == [
        "courses.csv",
        "evaluations.csv",
        "students.csv",
    ]
    assert hierdata.verify(release.folder, dropped).passed


def parts(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The parts of a release by their names, their documents as texts."""
    found = {}
    for path in sorted((folder / "public").glob("sensitive*")):
        name, _, suffix = path.name.partition(".")
        if suffix == "csv":
            with path.open(newline="") as file:
                found[name] = [
                    {key: cell for key, cell in row.items() if cell} for row in csv.DictReader(file)
                ]
        elif suffix == "parquet":
            rows = pq.read_table(path).to_pylist()
            found[name] = [{key: str(cell) for key, cell in row.items() if cell is not None} for row in rows]
        else:
            rows = json.loads(path.read_text("utf-8"), parse_float=str)
            found[name] = [{key: str(cell) for key, cell in row.items()} for row in rows]
    return found


@pytest.mark.full
def test_anatomy_of_tables_is_that_of_the_same_students_as_json() -> None:
    changes = {"recoding": "anatomy", "engine": None, "models": [{"kind": "frequency-l-diversity", "l": 2}]}
    keyed = from_data({**read(KEYED), **changes}, POLICIES)
    nested = from_data({**read(POLICIES / "students-multilevel.yaml"), **changes}, POLICIES)
    as_tables = hierdata.anonymize(TABLES, keyed, seed=SEED)
    as_json = hierdata.anonymize(STUDENTS / "students.json", nested, seed=SEED)
    assert text(as_tables) == text(as_json)
    assert parts(as_tables.folder) == parts(as_json.folder)
    assert len(parts(as_json.folder)) == 3
    public = as_tables.folder / "public"
    assert (public / "records" / "courses.csv").read_text().splitlines()[0] == "cid,sid,code,group"
    assert (public / "sensitive.csv").read_text().splitlines()[0] == "group,gpa,count"
    assert hierdata.verify(as_tables.folder, keyed).passed


def test_anatomy_of_one_table_in_every_format(tmp_path: Path) -> None:
    changes = {"recoding": "anatomy", "models": [{"kind": "frequency-l-diversity", "l": 3}]}
    expected = hierdata.anonymize(rows(), policy(**changes), seed=SEED)
    for source in (as_csv(tmp_path / "a.csv"), frame()):
        release = hierdata.anonymize(source, policy(**changes), seed=SEED)
        assert text(release) == text(expected)
        assert [row["count"] for row in parts(release.folder)["sensitive"]] == [
            row["count"] for row in parts(expected.folder)["sensitive"]
        ]
        assert hierdata.verify(release.folder, policy(**changes)).passed


@pytest.mark.parametrize(
    ("source", "error", "words"),
    [
        ({"students": []}, hierdata.InputError, "courses"),
        ({"marker-7319": []}, hierdata.PolicyError, "1 of the tables given"),
        (dict.fromkeys(NAMES, 7319), hierdata.PolicyError, "not int"),
        ({name: [{"a": [7319]}] for name in NAMES}, hierdata.InputError, "joins the tables"),
        ([{"a": 7319}], hierdata.PolicyError, "dict of tables"),
        (Path("nowhere"), hierdata.TargetError, "no such folder"),
    ],
)
def test_what_are_no_tables_is_refused(source: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        hierdata.anonymize(source, KEYED)
    assert "7319" not in str(caught.value)


def test_a_table_with_two_files_must_be_told(tmp_path: Path) -> None:
    shutil.copytree(TABLES, tmp_path / "in")
    (tmp_path / "in" / "books.csv.gz").write_bytes(b"")
    with pytest.raises(hierdata.InputError, match="the table books: there are 2 files"):
        hierdata.anonymize(tmp_path / "in", KEYED)
