"""PostgreSQL, on a real server: what is read is what is there, what is written appears whole or not."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.pool import NullPool

import hierdata
from hierdata.cli import main
from hierdata.documents.document import Document
from hierdata.documents.formats import FORMATS, Layout
from hierdata.records.keyed import Table
from hierdata.sources.stores import Rows, Store, store_at, store_of
from hierdata.sources.stores.postgresql_server import Name, parse_name
from hierdata.sources.stores.postgresql_types import kind_of, type_of
from tests.stores.postgresql_server import Running, serving

ROOT = Path(__file__).parents[2]
STUDENTS = ROOT / "fixtures" / "students"
POLICY = ROOT / "fixtures" / "policies" / "students-multilevel.yaml"
KEYED = ROOT / "fixtures" / "policies" / "students-tables.yaml"
K = {"kind": "k-anonymity", "k": 2}
PEOPLE: dict[str, Any] = {
    "version": 1,
    "models": [K],
    "fields": {
        "$.name": {"role": "identifier"},
        "$.age": {"role": "quasi", "interval": {"steps": [1, 10]}},
        "$.born": {"role": "quasi", "date": {"steps": ["day", "month", "year"]}},
        "$.seen": {"role": "sensitive"},
        "$.paid": {"role": "sensitive"},
        "$.alive": {"role": "sensitive"},
        "$.code": {"role": "sensitive"},
        "$.more": {"role": "sensitive", "optional": True},
    },
}
MAKE_PEOPLE = """
    CREATE TABLE people (
        name text PRIMARY KEY, age smallint, born date, seen timestamptz, paid numeric(12,4), alive boolean,
        code uuid
    );
    INSERT INTO people VALUES
        ('marked-1', 31, '1990-05-06', '2001-03-04 12:00+02', 1.5000, true,
         '00000000-0000-0000-0000-000000000001'),
        ('marked-2', 34, '1990-05-06', '2001-03-04 12:30+02', 12345678.1234, false, NULL),
        ('marked-3', NULL, '1980-01-01', NULL, 0, NULL, '00000000-0000-0000-0000-000000000002'),
        ('marked-4', NULL, '1980-01-01', NULL, -0.0001, true, '00000000-0000-0000-0000-000000000003');
"""


def ask(address: str, question: str, *values: object) -> list[tuple[Any, ...]]:
    with psycopg.connect(address, autocommit=True) as connection:
        cursor = connection.execute(question, values or None)
        return cursor.fetchall() if cursor.description else []


def tables(address: str) -> set[str]:
    found = ask(
        address, "SELECT schemaname || '.' || tablename FROM pg_tables WHERE schemaname !~ '^pg_|^info'"
    )
    return {name.removeprefix("public.") for (name,) in found}


def witness_of(release: hierdata.Release) -> Path:
    """The file by which a release is compared with its original."""
    return release.folder / "steward" / "witness.bin"


def types(address: str, table: str) -> dict[str, str]:
    found = ask(
        address,
        "SELECT attname, format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = %s::regclass "
        "AND attnum > 0 ORDER BY attnum",
        table,
    )
    return dict(found)


def students(address: str, kind: str = "jsonb", count: int = 150) -> list[Document]:
    """Put bundled students into a table with another column beside the documents."""
    records: list[Document] = json.loads((STUDENTS / "students.json").read_text("utf-8"), parse_float=Decimal)
    records = records[:count]
    with psycopg.connect(address) as connection:
        connection.execute(f"CREATE TABLE students (number int PRIMARY KEY, doc {kind})")
        with connection.cursor().copy("COPY students FROM STDIN") as copy:
            for number, record in enumerate(records):
                copy.write_row((number, json.dumps(record, default=str)))
    return records


def stored(source: object) -> Store:
    return store_at(source, batch=3)


def told(error: BaseException) -> str:
    """Everything that an error could show."""
    return "".join(traceback.format_exception(error, chain=True)) + repr(error) + repr(vars(error))


def refused(address: str, code: int, do: Callable[[], object]) -> str:
    """What is said; nothing was changed by it, and no password, value or driver's error is in it."""
    before = tables(address)
    with pytest.raises(hierdata.HierdataError) as caught:
        do()
    assert caught.value.exit_code == code
    message = str(caught.value)
    assert "\n" not in message
    assert tables(address) == before
    everything = told(caught.value)
    password = address.split(":")[2].split("@")[0]
    assert password not in everything
    assert "marked" not in everything
    assert "psycopg." not in everything
    assert "sqlalchemy.exc" not in everything
    return message


# Reading


@pytest.mark.parametrize("batch", [1, 7, 1000])
@pytest.mark.parametrize("kind", ["json", "jsonb"])
def test_documents_come_with_all_digits(address: str, tmp_path: Path, batch: int, kind: str) -> None:
    texts = [
        '{"n": 1.50, "whole": 3, "big": 123456789012345678901234567890.12345678901234567890}',
        '{"text": "gr\\u00fcn \\n \\\\u0041 \\"", "deep": [{"a": [null, true, []]}, {}]}',
        '{\n "lines":\r\n [1,\n2] }',
    ] * 4
    ask(address, f"CREATE TABLE t (number int, doc {kind})")
    with psycopg.connect(address) as connection, connection.cursor() as cursor:
        cursor.executemany("INSERT INTO t VALUES (%s, %s)", list(enumerate(texts)))
    exported = store_at(Rows(f"{address}/t#doc"), batch=batch).export(tmp_path)
    assert exported.limitations == ()
    assert stat.S_IMODE(exported.path.stat().st_mode) == 0o600
    lines = exported.path.read_text("utf-8").splitlines()
    found = [json.loads(line, parse_float=Decimal) for line in lines]
    assert found == [json.loads(text, parse_float=Decimal) for text in texts]
    assert str(found[0]["n"]) == "1.50"
    assert list(stored(f"{address}/t#doc").documents()) == found


def test_rows_come_with_their_types(address: str) -> None:
    ask(
        address,
        """
        CREATE DOMAIN grade AS smallint CHECK (VALUE < 7);
        CREATE TYPE mood AS ENUM ('glad', 'sad');
        CREATE TABLE "odd ""table" AS SELECT
            7::int AS "odd %% ""name", 6::grade AS g, 9223372036854775807::bigint AS b, 1.50::numeric AS n,
            0.1::real AS r, 1e300::double precision AS d, true AS t, NULL::text AS nothing, 'x''y'::text AS s,
            date '2001-03-04' AS day, timestamp '2001-03-04 05:06:07.89' AS at, time '05:06' AS clock,
            timestamptz '2001-03-04 05:06:07+02' AS zoned, interval '1 day' AS long,
            '00000000-0000-0000-0000-000000000001'::uuid AS u, 'glad'::mood AS m,
            '{"a": [1.0]}'::jsonb AS j, ARRAY[1, 2] AS list, '\\x00ff'::bytea AS raw
        """.replace("%%", "%"),
    )
    (row,) = stored(Rows(address, table='"odd ""table"')).documents()
    assert row == {
        'odd % "name': 7, "g": 6, "b": 9223372036854775807, "n": Decimal("1.50"), "r": Decimal("0.1"),
        "d": Decimal("1e300"), "t": True, "nothing": None, "s": "x'y", "day": "2001-03-04",
        "at": "2001-03-04T05:06:07.89", "clock": "05:06:00", "zoned": "2001-03-04T03:06:07+00:00",
        "long": "P1D", "u": "00000000-0000-0000-0000-000000000001", "m": "glad", "j": {"a": [Decimal("1.0")]},
        "list": [1, 2], "raw": "\\x00ff",
    }  # fmt: skip
    assert str(row["n"]) == "1.50"


QUERIES = {
    "plain": "SELECT 1 AS a",
    "semicolon": "SELECT 1 AS a ; ",
    "comment": "SELECT 1 AS a -- and no more",
    "colons": "SELECT 1 AS a WHERE 'x :y ::z' = 'x :y ::z'::text AND '\\:b' = '\\:b'",
    "per cent": "SELECT 1 AS a WHERE 5 % 4 = 1 AND 'a%b' LIKE 'a%' AND '%(x)s' <> '%s'",
    "with": "WITH one AS (SELECT 1 AS a) SELECT * FROM one ORDER BY a",
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_queries_are_taken_as_they_are(address: str, query: str) -> None:
    assert list(stored(Rows(address, query=query)).documents()) == [{"a": 1}]


def test_a_query_writes_nothing(address: str) -> None:
    ask(address, MAKE_PEOPLE)
    ask(
        address,
        "CREATE FUNCTION spoil() RETURNS int LANGUAGE plpgsql AS "
        "$$ BEGIN DELETE FROM people; RETURN 1; END $$",
    )
    wicked = {
        "SELECT spoil() AS a": "the query tries to write, but the transaction is read-only",
        "DELETE FROM people RETURNING age": "not valid SQL",
        "WITH gone AS (DELETE FROM people RETURNING age) SELECT * FROM gone": "does not support",
        "SELECT 1 AS a) AS q; DELETE FROM people; --": "more than one",
        "SELECT 1 AS a) AS hierdata_row; COMMIT; DELETE FROM people; SELECT (1": "more than one",
    }
    for query, why in wicked.items():
        message = refused(
            address, 6, lambda query=query: list(stored(Rows(address, query=query)).documents())
        )
        assert why in message, query
    assert ask(address, "SELECT count(*) FROM people") == [(4,)]


def test_all_is_read_in_one_moment(address: str, tmp_path: Path) -> None:
    """A row that is written while the tables are read is in none of them."""
    ask(address, "CREATE TABLE a AS SELECT n AS id FROM generate_series(1, 2000) n; CREATE TABLE b (a int)")
    both = (Table("a", key="id"), Table("b", parent="a", on="a"))
    store = stored(address)
    done = threading.Event()

    def write() -> None:
        with psycopg.connect(address, autocommit=True) as connection:
            number = 2000
            while not done.is_set():
                number += 1
                connection.execute(
                    "WITH x AS (INSERT INTO a VALUES (%s)) INSERT INTO b VALUES (%s)", [number] * 2
                )

    writer = threading.Thread(target=write)
    writer.start()
    try:
        time.sleep(0.05)
        path = store.export(tmp_path, tables=both).path
    finally:
        done.set()
        writer.join()
    a = [json.loads(line)["id"] for line in (path / "a.jsonl").read_text().splitlines()]
    b = [json.loads(line)["a"] for line in (path / "b.jsonl").read_text().splitlines()]
    assert len(a) == 2000 + len(b)
    assert set(b) <= set(a)


# Releases of documents


@pytest.mark.parametrize("kind", [pytest.param("json", marks=pytest.mark.full), "jsonb"])
def test_documents_are_published_as_documents(address: str, tmp_path: Path, kind: str) -> None:
    records = students(address, kind, 10_000)
    seed = bytes(32)
    release = hierdata.anonymize(
        Rows(address, table="students", column="doc"), POLICY, to=f"{address}/release", seed=seed
    )
    same = hierdata.anonymize(STUDENTS / "students.json", POLICY, seed=seed)
    assert release.report.passed
    assert len(records) == ask(address, "SELECT count(*) FROM students")[0][0]
    assert types(address, "release") == {"doc": "jsonb"}
    published = [document for (document,) in ask(address, "SELECT doc::text FROM release")]
    key = lambda document: json.dumps(document, sort_keys=True, default=str)  # noqa: E731
    assert sorted(key(json.loads(text, parse_float=Decimal)) for text in published) == sorted(
        key(record) for record in release.records()
    )
    # The same classes as of the file, by the same seed; the table has numbers as texts, so 1 as "1".
    as_texts = lambda document: key(json.loads(key(document), parse_int=str))  # noqa: E731
    assert sorted(map(as_texts, release.records())) == sorted(map(as_texts, same.records()))
    assert hierdata.verify(
        f"{address}/release", POLICY, original=f"{address}/students#doc", witness=witness_of(release)
    ).passed
    assert not hierdata.verify(f"{address}/students#doc", POLICY).passed


def test_the_live_objects_of_sqlalchemy(address: str) -> None:
    students(address)
    engine = sqlalchemy.create_engine(address.replace("postgresql", "postgresql+psycopg"), poolclass=NullPool)
    with engine.connect() as connection:
        begun = connection.execute(sqlalchemy.text("SELECT txid_current()")).scalar()
        source = Rows(connection, table="students", column="doc")
        release = hierdata.anonymize(source, POLICY, to=Rows(engine, table="release"), batch=50)
        assert release.report.passed
        # The transaction that was begun on it goes on.
        assert connection.execute(sqlalchemy.text("SELECT txid_current()")).scalar() == begun
        assert not connection.closed
    assert ask(address, "SELECT count(*) FROM release")[0][0] == len(list(release.records()))


def test_an_engine_that_commits_by_itself_does_not_here(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hierdata.sources.stores.postgresql_target import PostgresTarget

    students(address)
    place = address.replace("postgresql", "postgresql+psycopg")
    engine = sqlalchemy.create_engine(place, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    source = Rows(engine, query="SELECT doc FROM students LIMIT 60")
    export = PostgresTarget.export

    def noticing(self: PostgresTarget, part: str, path: Path) -> None:
        export(self, part, path)
        assert tables(address) == {"students"}

    monkeypatch.setattr(PostgresTarget, "export", noticing)
    assert hierdata.anonymize(source, POLICY, to=Rows(engine, table="release")).report.passed
    assert tables(address) == {"students", "release"}
    engine.dialect.driver = "pg8000"
    with pytest.raises(hierdata.PolicyError, match="needs the driver psycopg"):
        store_at(Rows(engine, table="t"))


ODD = (
    "a b",
    'a"b',
    "a%b",
    "a%(b)s",
    "a:b",
    "a.b",
    "hierdata",
    "document",
    "row",
    "number",
    "part",
    "group",
    "é",
)


@pytest.mark.parametrize("name", ODD)
def test_names_of_columns_and_tables_are_quoted(address: str, name: str) -> None:
    quoted = name.replace('"', '""').replace("%", "%%")
    ask(address, f'CREATE TABLE "{quoted}" ("{quoted}" int, other text)'.replace("%%", "%"))
    ask(address, f"INSERT INTO \"{quoted}\" VALUES (1, 'x'), (1, 'y')".replace("%%", "%"))
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    fields = {f"$['{escaped}']": {"role": "quasi", "flat": True}, "$.other": {"role": "sensitive"}}
    policy = {"version": 1, "models": [K], "fields": fields}
    table = '"' + name.replace('"', '""') + '"'
    to = f'"new {name.replace(chr(34), chr(34) * 2)}"'
    assert hierdata.anonymize(Rows(address, table=table), policy, to=Rows(address, table=to)).report.passed
    assert f"new {name}" in tables(address)
    documents = Rows(address, table=f'"doc {name.replace(chr(34), chr(34) * 2)}"', column=name)
    release = hierdata.anonymize(Rows(address, table=table), policy, to=documents)
    assert release.report.passed
    original = Rows(address, table=table)
    assert hierdata.verify(documents, policy, original=original, witness=witness_of(release)).passed
    verdict = hierdata.verify(documents, policy, original=original)
    assert (verdict.passed, len(verdict.not_judged)) == (False, 1), "nobody knows whose record is whose"


def test_a_query_of_documents_goes_into_a_schema(address: str) -> None:
    students(address)
    ask(address, 'CREATE SCHEMA "the outside"')
    query = "SELECT doc FROM students WHERE number % 2 = 0 ORDER BY number"
    to = Rows(address, table='"the outside"."a.b"', column="record")
    release = hierdata.anonymize(Rows(address, query=query), POLICY, to=to)
    assert release.report.passed
    assert tables(address) == {"students", "the outside.a.b"}
    assert types(address, '"the outside"."a.b"') == {"record": "jsonb"}
    original = Rows(address, query=query)
    assert hierdata.verify(to, POLICY, original=original, witness=witness_of(release)).passed


def test_files_go_into_tables_too(address: str) -> None:
    release = hierdata.anonymize(STUDENTS / "students.json", POLICY, to=f"{address}/release")
    assert release.report.passed
    original, witness = STUDENTS / "students.json", witness_of(release)
    assert hierdata.verify(f"{address}/release", POLICY, original=original, witness=witness).passed


def test_parts_have_tables_of_their_own(address: str) -> None:
    ask(address, "CREATE TABLE ill AS SELECT n / 2 AS age, n AS illness FROM generate_series(1, 8) n")
    fields = {"$.age": PEOPLE["fields"]["$.age"], "$.illness": {"role": "sensitive"}}
    models = [{"kind": "frequency-l-diversity", "l": 2}]
    policy = {"version": 1, "models": models, "recoding": "anatomy", "fields": fields}
    assert hierdata.anonymize(f"{address}/ill", policy, to=f"{address}/release").report.passed
    assert tables(address) == {"ill", "release", "release_sensitive"}
    assert types(address, "release") == {"age": "integer", "group": "bigint"}
    assert types(address, "release_sensitive") == {"group": "bigint", "illness": "bigint", "count": "bigint"}


# Releases of rows


def people(address: str, **more: Any) -> tuple[Rows, dict[str, Any]]:
    ask(address, MAKE_PEOPLE)
    return Rows(address, table="people"), PEOPLE | more


def test_types_are_kept_where_nothing_was_generalized(address: str) -> None:
    source, policy = people(address)
    release = hierdata.anonymize(source, policy, to=f"{address}/release")
    assert release.report.passed
    assert types(address, "release") == {
        "age": "text",
        "born": "date",
        "seen": "timestamp with time zone",
        "paid": "numeric",
        "alive": "boolean",
        "code": "uuid",
    }
    rows = ask(
        address, "SELECT age, born::text, paid::text, alive, code::text FROM release ORDER BY paid DESC"
    )
    assert rows[0] == ("[30, 39]", "1990-05-06", "12345678.1234", False, None)
    assert rows[1] == ("[30, 39]", "1990-05-06", "1.5", True, "00000000-0000-0000-0000-000000000001")
    assert [row[0] for row in rows[2:]] == [None, None]
    assert ask(address, "SELECT count(*) FROM release WHERE seen = '2001-03-04 10:00+00'") == [(1,)]
    assert hierdata.verify(f"{address}/release", policy, original=source, witness=witness_of(release)).passed


def test_what_is_generalized_in_part_is_text_and_verified_as_such(address: str) -> None:
    ask(
        address,
        "CREATE TABLE people AS SELECT age::int, born::date, n AS seen FROM (VALUES "
        "(31, '1990-05-06', 1), (31, '1990-05-06', 2), (32, '1990-05-07', 3), (38, '1990-06-08', 4)) "
        "AS given (age, born, n)",
    )
    fields = {path: PEOPLE["fields"][path] for path in ("$.age", "$.born", "$.seen")}
    policy = PEOPLE | {"fields": fields}
    source = f"{address}/people"
    release = hierdata.anonymize(source, policy, to=f"{address}/release")
    assert release.report.passed
    assert types(address, "release") == {"age": "text", "born": "text", "seen": "integer"}
    rows = ask(address, "SELECT * FROM release ORDER BY seen")
    assert rows[0] == ("31", "1990-05-06", 1)
    assert rows[2][:2] != ("32", "1990-05-07")
    assert hierdata.verify(f"{address}/release", policy, original=source, witness=witness_of(release)).passed


def test_times_are_generalized_like_dates_and_are_text_then(address: str) -> None:
    ask(
        address,
        "CREATE TABLE seen AS SELECT timestamp '2001-03-04 05:06' AS at, "
        "timestamptz '2001-03-04 23:30-02' AS zoned, n "
        "FROM generate_series(1, 4) n",
    )
    date = {"role": "quasi", "date": {"steps": ["day", "month"]}}
    policy = {
        "version": 1,
        "models": [K],
        "fields": {"$.at": date, "$.zoned": date, "$.n": {"role": "sensitive"}},
    }
    assert hierdata.anonymize(f"{address}/seen", policy, to=f"{address}/release").report.passed
    assert types(address, "release") == {"at": "text", "zoned": "text", "n": "integer"}
    assert ask(address, "SELECT DISTINCT at, zoned FROM release") == [("2001-03-04", "2001-03-05")]


def test_a_json_column_beside_others_is_a_part_of_the_row(address: str) -> None:
    ask(
        address,
        """CREATE TABLE mixed (a int, more jsonb);
        INSERT INTO mixed VALUES (1, '{"b": [{"c": 1.50}, {"c": 2}]}');
        INSERT INTO mixed VALUES (1, '{"b": [{"c": 1.50}, {"c": 3}]}')""",
    )
    fields = {"$.a": {"role": "quasi", "flat": True}, "$.more.b[*].c": {"role": "sensitive"}}
    policy = {"version": 1, "models": [K], "fields": fields}
    release = hierdata.anonymize(f"{address}/mixed", policy, to=f"{address}/release")
    assert release.report.passed
    assert types(address, "release") == {"a": "integer", "more": "jsonb"}
    assert '{"c": 1.5}' in ask(address, "SELECT more::text FROM release")[0][0]
    original, witness = f"{address}/mixed", witness_of(release)
    assert hierdata.verify(f"{address}/release", policy, original=original, witness=witness).passed


def keyed(address: str) -> None:
    """Put the bundled tables of students on the server, keys and all."""
    for file in sorted((STUDENTS / "tables").glob("*.csv")):
        header, *_ = file.read_text("utf-8").splitlines()
        columns = ", ".join(
            f'"{name}" {"numeric" if name in ("gpa", "score") else "text"}' for name in header.split(",")
        )
        ask(address, f'CREATE TABLE "{file.stem}" ({columns})')
        copying = f'COPY "{file.stem}" FROM STDIN (FORMAT csv, HEADER)'
        with psycopg.connect(address) as connection, connection.cursor().copy(copying) as copy:
            copy.write(file.read_bytes())
    ask(address, "ALTER TABLE students ALTER birth_year TYPE smallint USING birth_year::smallint")


def test_keyed_tables_are_published_as_keyed_tables(address: str) -> None:
    keyed(address)
    before = tables(address)
    release = hierdata.anonymize(address, KEYED, to=f"{address}/release", seed=bytes(32))
    same = hierdata.anonymize(STUDENTS / "tables", KEYED, seed=bytes(32))
    assert release.report.passed
    assert release.report.counts == same.report.counts
    policy = hierdata.load_policy(KEYED)
    made = {f"release_{table.name}" for table in policy.joined_tables}
    assert tables(address) == before | made
    foreign = ask(
        address,
        "SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint WHERE contype = 'f'",
    )
    assert set(foreign) == {
        (f"release_{t.name}", f"release_{t.parent}") for t in policy.joined_tables if t.parent
    }
    for table in policy.joined_tables:
        for join in table.joins:
            assert types(address, f"release_{table.name}")[join] == "bigint"
    assert hierdata.verify(f"{address}/release", KEYED, original=address, witness=witness_of(release)).passed


def test_a_table_of_rows_that_belong_to_nobody_is_looked_up(address: str) -> None:
    ask(address, "CREATE TABLE people AS SELECT n AS id, n % 2 AS age FROM generate_series(1, 6) n")
    ask(
        address,
        "CREATE TABLE visits AS SELECT n AS person, 'w' || n % 2 AS ward FROM generate_series(1, 6) n",
    )
    ask(address, "CREATE TABLE wards AS SELECT 'w' || n AS code, n AS floor FROM generate_series(0, 1) n")
    policy: dict[str, Any] = {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 3}],
        "unlisted": "drop",
        "tables": {
            "people": {"key": "id"},
            "visits": {"parent": "people", "on": "person"},
            "wards": {"lookup": {"visits.ward": {"floor": "floor"}}, "key": "code"},
        },
        "fields": {
            "$.age": {"role": "quasi", "flat": True},
            "$.visits[*].floor": {"role": "quasi", "flat": True},
        },
    }
    found = list(hierdata.anonymize(address, policy, seed=bytes(32)).records())
    assert sorted((one["age"], one["visits"][0]["floor"]) for one in found) == [(0, 0)] * 3 + [(1, 1)] * 3


# Round trips


TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
NUMBERS = st.decimals(allow_nan=False, allow_infinity=False, places=6).map(
    lambda value: value or Decimal("0.0")
)
SCALARS = st.none() | st.booleans() | st.integers() | NUMBERS | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3)
)
ROUNDS = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


def written(address: str, documents: list[Document], keyed: bool) -> list[Document]:
    """What a release of these documents is read back as, within its transaction and never committed."""
    kept = (Table("t"),) if keyed else ()
    target = store_at(f"{address}/release")
    with tempfile.TemporaryDirectory() as folder, target.staging(None, tables=kept) as staged:
        staged.write("records", iter(documents))
        path = Path(folder) / "records"
        staged.export("records", path)
        with (path / "t.jsonl" if keyed else path).open("rb") as stream:
            found = list(FORMATS["jsonl"]().read(stream, Layout()))
    assert tables(address) == set()
    return found


@ROUNDS
@given(documents=st.lists(st.dictionaries(TEXTS, VALUES, max_size=4), max_size=4))
def test_all_documents_come_back_as_they_went(address: str, documents: list[Document]) -> None:
    assert written(address, documents, keyed=False) == documents


def spelled(value: Any, type: str) -> Any:
    """A value as a column of a type has it."""
    if value is None or type != "text" or isinstance(value, str):
        return value
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


NAMES = ("a", "b c", "É")


@ROUNDS
@given(rows=st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, SCALARS)), max_size=5))
def test_all_rows_come_back_as_their_columns_have_them(address: str, rows: list[Document]) -> None:
    columns = dict.fromkeys(name for row in rows for name in row if row[name] is not None)
    kinds = {name: {kind_of(row.get(name)) for row in rows} - {None} for name in columns}
    found = written(address, rows, keyed=True)
    expected = [
        {name: spelled(row.get(name), type_of(None, kinds[name])) for name in columns} for row in rows
    ]
    assert [{name: row[name] for name in columns} for row in found] == expected
    for row, due in zip(found, expected, strict=True):
        assert [type(row[name]) is bool for name in columns] == [type(due[name]) is bool for name in columns]


# Refusals


def test_a_target_that_is_there_stays(address: str) -> None:
    students(address)
    source = f"{address}/students#doc"
    for made in ("TABLE", "VIEW", "SEQUENCE"):
        ask(address, f"CREATE {made} taken{' AS SELECT 1 AS a' if made != 'SEQUENCE' else ''}")
        message = refused(address, 6, lambda: hierdata.anonymize(source, POLICY, to=f"{address}/taken"))
        assert message.endswith("/" + address.rpartition("/")[2] + ": is already there; choose a new name")
        ask(address, f"DROP {made} taken")
    message = refused(address, 6, lambda: hierdata.anonymize(source, POLICY, to=f"{address}/students"))
    assert "this is the source, which a release cannot replace" in message


def test_a_target_that_was_taken_meanwhile(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    students(address)
    monkeypatch.setattr("hierdata.sources.stores.postgresql.PostgresStore.refuse", lambda *_: None)
    ask(address, "CREATE TABLE release (a int)")
    message = refused(
        address, 6, lambda: hierdata.anonymize(f"{address}/students#doc", POLICY, to=f"{address}/release")
    )
    assert "is already there; choose a new name" in message


@pytest.mark.parametrize(
    ("source", "code", "message"),
    [
        (lambda a: Rows(a, table="none"), 6, "there is no such table"),
        (lambda a: Rows(a, table="none.students"), 6, "there is no such"),
        (lambda a: Rows(a, table="students", column="none"), 6, "there is no such column"),
        (lambda a: Rows(a, table="students", column="number"), 6, "neither json nor jsonb"),
        (lambda a: Rows(a, query="SELECT none FROM students"), 6, "there is no such column"),
        (lambda a: Rows(a, query="SELECT 'marked' FRM students"), 6, "not valid SQL, or it is"),
        (lambda a: Rows(a, query="SELECT 1/0 AS a"), 6, "a value does not fit"),
        (lambda a: Rows(a, query="SELECT 1 AS a, 2 AS a"), 6, "two columns have the same name"),
        (lambda a: Rows(a, query="SELECT doc FROM students WHERE number < 0"), 5, "there are no rows"),
        (
            lambda a: Rows(a, query="SELECT NULL::jsonb AS doc"),
            5,
            "record 1: the column for the documents is",
        ),
        (lambda a: Rows(a, query="SELECT '[1]'::jsonb AS doc"), 5, "record 1: the record is not an object"),
        (lambda a: Rows(a, query="""SELECT '{"a": 1, "a": 2}'::json AS doc"""), 5, "record 1: "),
        (lambda a: Rows(a), 2, "name the rows to read"),
        (lambda a: Rows(a, table="students", query="SELECT 1"), 2, "use one of them"),
        (lambda a: Rows(f"{a}/students", table="students"), 2, "already names a table"),
        (lambda a: Rows(a, table="a.b.c"), 2, "`table` or `schema.table`"),
        (lambda a: Rows(a, table="x" * 64), 2, "more than 63 bytes"),
        (lambda a: a.rpartition("/")[0] + "/none/students", 6, "there is no such database"),
        (lambda a: a.replace("steward", "nobody") + "/students#doc", 6, "rejects this user"),
        (lambda a: a + "/students?sslmode=marked#doc", 6, "the address has an option with a value"),
    ],
)
def test_sources_that_cannot_be_read(
    address: str, source: Callable[[str], object], code: int, message: str
) -> None:
    students(address)
    assert message in refused(
        address, code, lambda: hierdata.anonymize(source(address), POLICY, to=f"{address}/release")
    )


def test_credentials_that_are_wrong(
    address: str, postgresql: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = address.replace(postgresql.password, "marked-wrong")
    message = refused(address, 6, lambda: hierdata.anonymize(f"{wrong}/students", POLICY))
    assert "rejects this user: check name and password" in message
    nobody = address.replace(f":{postgresql.password}", "")
    assert "rejects this user" in refused(address, 6, lambda: hierdata.anonymize(f"{nobody}/x", POLICY))
    # The password may come from the environment, as for any client of PostgreSQL.
    students(address)
    monkeypatch.setenv("PGPASSWORD", postgresql.password)
    assert hierdata.anonymize(f"{nobody}/students#doc", POLICY).report.passed


def test_no_right_to_read_or_to_write(address: str, postgresql: Running) -> None:
    students(address)
    database = address.rpartition("/")[2]
    ask(address, f"DROP ROLE IF EXISTS guest; CREATE ROLE guest LOGIN PASSWORD '{postgresql.password}'")
    ask(address, "REVOKE CREATE ON SCHEMA public FROM public")
    guest = postgresql.address(database, "guest")
    message = refused(address, 6, lambda: hierdata.anonymize(f"{guest}/students#doc", POLICY))
    assert "user lacks a privilege" in message
    message = refused(
        address, 6, lambda: hierdata.anonymize(f"{address}/students#doc", POLICY, to=f"{guest}/release")
    )
    assert "user lacks a privilege" in message
    assert "the table release" in message
    ask(address, "DROP ROLE guest")


def test_no_server_is_there(address: str, postgresql: Running) -> None:
    nowhere = address.replace(f":{postgresql.port}/", ":1/")
    assert "no server answers there" in refused(
        address, 8, lambda: hierdata.anonymize(f"{nowhere}/t", POLICY)
    )
    away = hierdata.anonymize
    message = refused(address, 8, lambda: away(STUDENTS / "students.json", POLICY, to=f"{nowhere}/t"))
    assert "no server answers there" in message


def test_a_text_that_the_server_does_not_hold(address: str, tmp_path: Path) -> None:
    records = [{"a": "x", "s": "marked\0"}, {"a": "x", "s": "marked"}]
    fields = {"$.a": {"role": "quasi", "flat": True}, "$.s": {"role": "sensitive"}}
    policy = {"version": 1, "models": [K], "fields": fields}
    message = refused(address, 6, lambda: hierdata.anonymize(records, policy, to=f"{address}/release"))
    assert "U+0000" in message


def test_what_the_judge_does_not_find_again_is_rolled_back(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    students(address)
    from hierdata.sources.stores.postgresql_target import PostgresTarget

    write = PostgresTarget.write

    def losing(self: PostgresTarget, part: str, documents: Any) -> None:
        write(self, part, list(documents)[1:])

    monkeypatch.setattr(PostgresTarget, "write", losing)
    message = refused(
        address,
        4,
        lambda: hierdata.anonymize(
            f"{address}/students#doc", POLICY, to=f"{address}/release", out=tmp_path / "out"
        ),
    )
    assert "the content on the server differs" in message
    assert list(tmp_path.iterdir()) == []


def test_a_failed_commit_leaves_nothing(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody ends the connection after all was written and judged."""
    students(address)
    from hierdata.sources.stores.postgresql_target import PostgresTarget

    publish = PostgresTarget.publish

    def late(self: PostgresTarget) -> None:
        ask(address, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            " AND datname = current_database()")  # fmt: skip
        publish(self)

    monkeypatch.setattr(PostgresTarget, "publish", late)
    message = refused(
        address,
        8,
        lambda: hierdata.anonymize(
            f"{address}/students#doc", POLICY, to=f"{address}/release", out=tmp_path / "out"
        ),
    )
    assert "the server or the connection" in message
    assert list(tmp_path.iterdir()) == []


def test_the_server_goes_while_it_is_read(tmp_path: Path, postgresql: Running) -> None:
    with serving() as running:
        address = running.address("postgres")
        ask(address, "CREATE TABLE t AS SELECT n AS a FROM generate_series(1, 200000) n")
        ended = threading.Timer(0.3, running.process.kill)
        query = "SELECT a, pg_sleep(0.0002)::text AS slow FROM t"
        policy = PEOPLE | {
            "fields": {"$.a": {"role": "quasi", "flat": True}, "$.slow": {"role": "sensitive"}}
        }
        ended.start()
        with pytest.raises(hierdata.TargetError, match=r"the server or the connection") as caught:
            hierdata.anonymize(Rows(address, query=query), policy, staging=tmp_path)
        assert running.password not in told(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full
def test_a_run_that_is_killed_leaves_nothing(address: str, tmp_path: Path) -> None:
    students(address)
    run = [sys.executable, "-m", "hierdata", "anonymize", f"{address}/students#doc", "--policy", str(POLICY)]
    others = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    for number in range(8):
        out, target = tmp_path / f"out{number}", f"release{number}"
        ended = subprocess.Popen([*run, "--out", str(out), "--to", f"{address}/{target}", "--quiet"])
        try:
            ended.wait(0.5 + number / 4)
        except subprocess.TimeoutExpired:
            ended.kill()
            ended.wait()
        patience = time.monotonic() + 20
        while ask(address, others) != [(0,)] or any(tmp_path.glob(".hierdata-*")):
            assert time.monotonic() < patience
            time.sleep(0.1)
        # Whole, or not at all: the folder comes first, the commit last.
        if target in tables(address):
            original, witness = f"{address}/students#doc", out / "steward" / "witness.bin"
            assert hierdata.verify(f"{address}/{target}", POLICY, original=original, witness=witness).passed
            assert hierdata.verify(out, POLICY).passed
            break
    else:
        assert tables(address) == {"students"}


def test_other_objects_and_addresses(tmp_path: Path) -> None:
    for wrong in (
        "postgresql://u:marked@h/d/t/more",
        "postgresql://u:marked@h1:1,h2:2/d",
        "postgresql://h:marked/d",
    ):
        with pytest.raises(hierdata.PolicyError, match="the address must be") as caught:
            store_at(wrong)
        assert "marked" not in told(caught.value)
    with pytest.raises(hierdata.PolicyError, match="must be for PostgreSQL"):
        store_at(Rows(sqlalchemy.create_engine("sqlite://"), table="t"))
    with pytest.raises(hierdata.PolicyError, match="a synchronous engine"):
        store_at(Rows([1], table="t"))
    assert store_of(tmp_path / "t") is None
    assert "marked" not in repr(Rows("postgresql://u:marked@h/d"))
    location = store_at("postgresql://u:mark%65d@h:5433/d%20b/t#c").location
    assert location == "the table t of postgresql://h:5433/d b"
    assert parse_name('"a""b".c') == Name('a"b', "c")


# The command


def test_the_command_reads_and_writes(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    students(address)
    password = address.split(":")[2].split("@")[0]
    out = tmp_path / "out"
    run = ["anonymize", address, "--policy", str(POLICY), "--out", str(out)]
    assert main([*run, "--table", "students", "--column", "doc", "--to", f"{address}/release"]) == 0
    assert ask(address, "SELECT count(*) > 0 FROM release") == [(True,)]
    assert (out / "public" / "records.jsonl").exists()
    assert main(["verify", f"{address}/release", "--policy", str(POLICY)]) == 0
    again = ["anonymize", address, "--policy", str(POLICY), "--out", str(tmp_path / "again")]
    assert main([*again, "--query", "SELECT doc FROM students", "--to", f"{address}/release"]) == 6
    assert main([*again, "--table", "a", "--query", "b"]) == 2
    assert (
        main(["anonymize", "x.json", "--policy", str(POLICY), "--out", str(tmp_path / "z"), "--table", "a"])
        == 2
    )
    shown = "".join(capsys.readouterr())
    for file in tmp_path.rglob("*"):
        shown += file.read_text("utf-8", "replace") if file.is_file() else ""
    assert password not in shown
    assert "127.0.0.1" not in (out / "public" / "release.json").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]
