"""Keyed tables and flat records in shape: lifted tables, counts, and records nested below individuals."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import bson
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

import hierdata
from hierdata.cli import main
from hierdata.ground.errors import HierdataError, InputError, PolicyError
from hierdata.pipeline.look_over import open_shaped
from hierdata.pipeline.measure import measure_release
from hierdata.policy.load import from_data
from tests.cases import examples
from tests.end_to_end.conftest import SEED

BORN: dict[str, Any] = {"role": "quasi", "interval": {"steps": [1, 5, 10, 40]}}
DAY: dict[str, Any] = {"role": "quasi", "date": {"steps": ["day", "month", "year"]}}
FLAT: dict[str, Any] = {"role": "quasi", "flat": True}
TABLES = {
    "people": {"key": "id"},
    "visits": {"parent": "people", "on": "person", "key": "visit"},
    "codes": {"parent": "visits", "on": "visit_id", "key": "line"},
    "notes": {"parent": "codes", "on": "line_id"},
}
LIFT = {"lift": {"from": "$.visits[*].codes[*]", "to": "$.conditions", "carry": {"seen": "day"}}}
COUNT = {"distinct": {"path": "$.conditions", "fields": ["code"], "count": "times"}}


def tables_policy(**more: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 3}],
        "tables": TABLES,
        "shape": [LIFT, COUNT],
        "fields": {
            "$.born": BORN,
            "$.visits[*].day": {"role": "identifier"},
            "$.visits[*].kind": FLAT,
            "$.conditions[*].code": {"role": "sensitive"},
            "$.conditions[*].seen": DAY,
            "$.conditions[*].times": {"role": "quasi", "interval": {"steps": [1, 2, 8]}},
            "$.conditions[*].notes[*].text": {"role": "sensitive"},
        },
        **more,
    }


def hospital(count: int = 40, seed: int = 4) -> dict[str, list[dict[str, Any]]]:
    rng = Random(seed)
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    for person in range(count):
        found["people"].append({"id": f"p{person}", "born": rng.randint(1950, 1960)})
        for _ in range(rng.randint(1, 2)):
            visit = len(found["visits"])
            day = f"2001-0{rng.randint(1, 2)}-01"
            found["visits"].append(
                {"visit": visit, "person": f"p{person}", "day": day, "kind": rng.choice("ab")}
            )
            for _ in range(rng.randint(1, 3)):
                line = len(found["codes"])
                found["codes"].append({"line": line, "visit_id": visit, "code": rng.choice("uv")})
                if rng.random() < 0.5:
                    found["notes"].append({"line_id": line, "text": rng.choice("xy")})
    return found


def write_tables(folder: Path, tables: dict[str, list[dict[str, Any]]]) -> Path:
    for name, rows in tables.items():
        pd.DataFrame(rows).to_csv(folder / f"{name}.csv", index=False)
    return folder


def as_frames(folder: Path, tables: dict[str, list[dict[str, Any]]]) -> Any:
    return {name: pd.DataFrame(rows) for name, rows in tables.items()}


def as_dicts(folder: Path, tables: dict[str, list[dict[str, Any]]]) -> Any:
    return tables


def join_by_hand(tables: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The shaped records of `tables_policy`, without the step that leaves equal items once."""
    people = {row["id"]: {"born": row["born"], "visits": [], "conditions": []} for row in tables["people"]}
    for visit in tables["visits"]:
        own = people[visit["person"]]
        own["visits"].append({"day": visit["day"], "kind": visit["kind"]})
        for code in tables["codes"]:
            if code["visit_id"] == visit["visit"]:
                item: dict[str, Any] = {"code": code["code"], "seen": visit["day"]}
                notes = [{"text": row["text"]} for row in tables["notes"] if row["line_id"] == code["line"]]
                own["conditions"].append(item | ({"notes": notes} if notes else {}))
    return list(people.values())


@pytest.mark.parametrize("write", [write_tables, as_frames, as_dicts])
def test_a_lifted_table_refers_to_its_new_parent(
    write: Callable[[Path, dict[str, list[dict[str, Any]]]], Any], tmp_path: Path
) -> None:
    source, stated, out = write(tmp_path, hospital()), tables_policy(), tmp_path / "out"
    release = hierdata.anonymize(source, stated, out=out, seed=SEED)
    records = out / "public" / "records"
    assert {file.name.partition(".")[0] for file in records.iterdir()} == {
        "people",
        "visits",
        "conditions",
        "notes",
    }
    assert hierdata.verify(out, stated, original=source).passed
    assert measure_release(out, stated, original=source).metrics
    published = list(release.records())
    assert sum(len(person.get("conditions", [])) for person in published) > 40
    assert {"code", "seen", "times"} <= {
        key for person in published for item in person.get("conditions", []) for key in item
    }
    if write is write_tables:
        people = {row["id"] for row in read_csv(records / "people.csv")}
        conditions = read_csv(records / "conditions.csv")
        assert {row["person"] for row in conditions} <= people
        lines = {row["line"] for row in conditions}
        assert {row["line_id"] for row in read_csv(records / "notes.csv")} <= lines


def read_csv(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_table_is_lifted_step_by_step(tmp_path: Path) -> None:
    first = {"lift": {"from": "$.visits[*].codes[*].notes[*]", "to": "$.visits[*].remarks"}}
    stated = tables_policy(shape=[first, {"lift": {"from": "$.visits[*].remarks[*]", "to": "$.notes"}}])
    stated["fields"] = {
        "$.born": BORN,
        "$.visits[*].day": {"role": "identifier"},
        "$.visits[*].kind": FLAT,
        "$.visits[*].codes[*].code": {"role": "sensitive"},
        "$.notes[*].text": {"role": "sensitive"},
    }
    hierdata.anonymize(hospital(), stated, out=tmp_path / "out", seed=SEED)
    assert hierdata.verify(tmp_path / "out", stated, original=hospital()).passed
    files = {file.name.partition(".")[0] for file in (tmp_path / "out/public/records").iterdir()}
    assert files == {"people", "visits", "codes", "notes"}


def test_lifted_tables_are_published_as_records_that_were_shaped_by_hand() -> None:
    stated = tables_policy(shape=[LIFT])
    del stated["fields"]["$.conditions[*].times"]
    given = hierdata.anonymize(hospital(), stated, seed=SEED)
    plain = {key: own for key, own in stated.items() if key not in ("tables", "shape")}
    by_hand = hierdata.anonymize(join_by_hand(hospital()), plain, seed=SEED)
    assert given.report.counts.vertices == by_hand.report.counts.vertices
    assert given.report.metrics["lm_cost"] == by_hand.report.metrics["lm_cost"]


FIELDS = {
    "$.patient": {"role": "identifier"},
    "$.sex": FLAT,
    "$.encounters[*].day": DAY,
    "$.encounters[*].ward": FLAT,
    "$.encounters[*].code": {"role": "sensitive"},
}
NEST = {"by": "$.patient", "nest": "$.encounters", "own": ["$.sex"]}


def nest_policy(**more: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 3}],
        "individual": NEST,
        "fields": FIELDS,
        **more,
    }


def encounters(count: int = 90, seed: int = 6) -> list[dict[str, Any]]:
    rng = Random(seed)
    people = {f"p{at}": rng.choice("fm") for at in range(count // 2)}
    found = []
    for at in range(count):
        patient = f"p{at}" if at < len(people) else rng.choice(list(people))
        day = f"2001-0{rng.randint(1, 2)}-0{rng.randint(1, 3)}"
        found.append(
            {"patient": patient, "sex": people[patient], "day": day, "ward": rng.choice("ab"), "code": "u"}
        )
    rng.shuffle(found)
    return found


def nest_by_hand(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    people: dict[str, dict[str, Any]] = {}
    for row in rows:
        own = people.setdefault(
            row["patient"], {"patient": row["patient"], "sex": row["sex"], "encounters": []}
        )
        own["encounters"].append({key: row[key] for key in ("day", "ward", "code")})
    return list(people.values())


def rows_json(folder: Path, rows: list[dict[str, Any]]) -> Path:
    file = folder / "rows.json"
    file.write_text(json.dumps(rows))
    return file


def rows_lines(folder: Path, rows: list[dict[str, Any]]) -> Path:
    file = folder / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def rows_csv(folder: Path, rows: list[dict[str, Any]]) -> Path:
    file = folder / "rows.csv"
    pd.DataFrame(rows).to_csv(file, index=False)
    return file


def rows_parquet(folder: Path, rows: list[dict[str, Any]]) -> Path:
    file = folder / "rows.parquet"
    pd.DataFrame(rows).to_parquet(file)
    return file


def rows_bson(folder: Path, rows: list[dict[str, Any]]) -> Path:
    file = folder / "dump.bson"
    file.write_bytes(b"".join(map(bson.encode, rows)))
    return file


def rows_frame(folder: Path, rows: list[dict[str, Any]]) -> Any:
    return pd.DataFrame(rows)


@pytest.mark.parametrize("write", [rows_json, rows_lines, rows_bson, rows_csv, rows_parquet, rows_frame])
def test_records_are_nested_below_their_individual(
    write: Callable[[Path, list[dict[str, Any]]], Any], tmp_path: Path
) -> None:
    source, stated, out = write(tmp_path, encounters()), nest_policy(), tmp_path / "out"
    release = hierdata.anonymize(source, stated, out=out, seed=SEED)
    plain = {key: own for key, own in stated.items() if key != "individual"}
    by_hand = hierdata.anonymize(nest_by_hand(encounters()), plain, seed=SEED)
    assert release.report.counts.records.input == 45
    assert release.report.metrics["lm_cost"] == by_hand.report.metrics["lm_cost"]
    assert hierdata.verify(out, stated, original=source).passed
    assert measure_release(out, stated, original=source).metrics
    told = json.loads((out / "public/codebook.json").read_text())["shape"]
    assert "were united" in told[0]
    assert "made an item of $.encounters" in told[1]
    if write is rows_csv:
        individuals = read_csv(out / "public/records/individuals.csv")
        assert list(individuals[0]) == ["patient", "sex"]
        assert list(read_csv(out / "public/records/encounters.csv")[0]) == ["patient", "day", "ward", "code"]
        assert {row["patient"] for row in individuals} == {str(at) for at in range(1, len(individuals) + 1)}
        assert hierdata.verify(out / "public/records", stated, original=source).records == 45


def test_elements_are_nested_below_their_individual(tmp_path: Path) -> None:
    root = etree.Element("stays")
    for row in encounters():
        stay = etree.SubElement(root, "stay", patient=row["patient"], day=row["day"])
        for key in ("sex", "ward", "code"):
            etree.SubElement(stay, key).text = row[key]
    source, out = tmp_path / "stays.xml", tmp_path / "out"
    source.write_bytes(etree.tostring(root))
    stated = nest_policy(
        individual={
            "by": "/stays/stay/@patient",
            "nest": "/stays/stay/encounter",
            "own": ["/stays/stay/sex"],
        },
        fields={
            "/stays/stay/@patient": FIELDS["$.patient"],
            "/stays/stay/sex": FLAT,
            "/stays/stay/encounter/@day": DAY,
            "/stays/stay/encounter/ward": FLAT,
            "/stays/stay/encounter/code": {"role": "sensitive"},
        },
    )
    release = hierdata.anonymize(source, stated, out=out, seed=SEED)
    assert release.report.counts.records.input == 45
    assert hierdata.verify(out, stated, original=source).passed
    published = etree.parse(out / "public/records.xml")
    assert 0 < len(published.findall("stay/encounter/code")) <= 90


def test_the_rows_of_a_root_table_are_nested_with_what_is_below_them(tmp_path: Path) -> None:
    rows = encounters()
    stays = [{"stay": at, **row} for at, row in enumerate(rows)]
    drugs = [{"stay": at % len(rows), "drug": "xy"[at % 2]} for at in range(120)]
    stated = nest_policy(
        tables={"stays": {"key": "stay"}, "drugs": {"parent": "stays", "on": "stay"}},
        fields={**FIELDS, "$.encounters[*].drugs[*].drug": {"role": "sensitive"}},
    )
    source, out = {"stays": stays, "drugs": drugs}, tmp_path / "out"
    release = hierdata.anonymize(source, stated, out=out, seed=SEED)
    assert release.report.counts.vertices["$.encounters[*].drugs[*]"].input == 120
    assert release.report.counts.records.input == 45
    assert hierdata.verify(out, stated, original=source).passed
    files = {file.name for file in (out / "public" / "records").iterdir()}
    assert {name.partition(".")[0] for name in files} == {"individuals", "encounters", "drugs"}


def test_nested_records_are_shaped_by_the_steps_that_follow() -> None:
    steps = [{"take": {"path": "$.encounters", "last": 1, "by": "day"}}]
    release = hierdata.anonymize(encounters(), nest_policy(shape=steps), seed=SEED)
    assert release.report.counts.vertices["$.encounters[*]"].input == 45


def differ(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        if row["patient"] == "p3":
            row["sex"] = "m"
    rows.append({**rows[0], "patient": "p3", "sex": "f"})


def nothing(rows: list[dict[str, Any]]) -> None:
    pass


WRONG: list[tuple[dict[str, Any], Callable[[list[dict[str, Any]]], None], type[HierdataError], str]] = [
    (nest_policy(), differ, InputError, "1 individuals have different values here: leave the field out of"),
    (
        nest_policy(individual={**NEST, "own": ["$.sex", "$.height"]}),
        nothing,
        InputError,
        "$.height: individual: no record has a value here",
    ),
    (
        nest_policy(individual={"by": "$.patient", "own": ["$.sex"]}),
        nothing,
        PolicyError,
        "no meaning without `nest`",
    ),
    (nest_policy(individual={**NEST, "nest": "$.a.b"}), nothing, PolicyError, "a list of the individual"),
    (nest_policy(individual={**NEST, "nest": "$.sex"}), nothing, PolicyError, "is a field of the individual"),
    (
        nest_policy(individual={**NEST, "own": ["$.address.city"]}),
        nothing,
        PolicyError,
        "must be a field directly in the record",
    ),
    (
        nest_policy(fields={**FIELDS, "$.ward": FLAT}),
        nothing,
        PolicyError,
        "nests this field below $.encounters: name it there",
    ),
    (
        nest_policy(individual="$.patient", fields={"$.patient": FIELDS["$.patient"], "$.day": DAY}),
        nothing,
        InputError,
        "nest the documents with `individual: {by: ..., nest: ...}`",
    ),
]


@pytest.mark.parametrize(("stated", "spoil", "kind", "message"), WRONG, ids=[own[3][:30] for own in WRONG])
def test_what_cannot_be_nested_is_told_and_nothing_is_written(
    stated: dict[str, Any],
    spoil: Callable[[list[dict[str, Any]]], None],
    kind: type[HierdataError],
    message: str,
    tmp_path: Path,
) -> None:
    rows = encounters()
    spoil(rows)
    with pytest.raises(kind) as told:
        hierdata.anonymize(rows, {**stated, "unlisted": "drop"}, out=tmp_path / "out", seed=SEED)
    assert message in str(told.value)
    assert not (tmp_path / "out").exists()
    file = tmp_path / "policy.json"
    file.write_text(json.dumps({**stated, "unlisted": "drop"}))
    code = main(["anonymize", str(rows_json(tmp_path, rows)), "--policy", str(file), "--out", "no", "-q"])
    assert code == (2 if kind is PolicyError else 5)


WRONG_TABLES = [
    ([{"lift": {"from": "$.visits[*].code[*]", "to": "$.all"}}], "no table has its rows here"),
    ([{"lift": {"from": "$.visits[*].codes[*]", "to": "$.notes"}}], "there is a table notes already"),
    ([{"lift": {"from": "$.visits[*].codes[*]", "to": "$.visits"}}], "name a list that does not exist"),
    ([LIFT, {"lift": {"from": "$.visits[*].codes[*]", "to": "$.other"}}], "is lifted twice"),
    ([{"lift": {"from": "$.visits[*].codes[*]", "to": "$['a/b']"}}], "a name that a file can have"),
]


@pytest.mark.parametrize(("steps", "message"), WRONG_TABLES)
def test_what_tables_cannot_hold_is_told(steps: list[dict[str, Any]], message: str, tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=message) as told:
        hierdata.anonymize(hospital(), tables_policy(shape=steps), out=tmp_path / "out", seed=SEED)
    assert "\n" not in str(told.value)
    assert not (tmp_path / "out").exists()


def test_key_columns_take_no_rule() -> None:
    stated = tables_policy()
    stated["fields"]["$.conditions[*].person"] = FLAT
    with pytest.raises(PolicyError, match="joins tables and is renumbered: it takes no rule"):
        hierdata.anonymize(hospital(), stated, seed=SEED)
    fields = {**FIELDS, "$.patient": {"role": "identifier", "action": "pseudonym"}}
    with pytest.raises(PolicyError, match="it can only be dropped"):
        hierdata.anonymize(pd.DataFrame(encounters()), nest_policy(fields=fields, key="per-run"), seed=SEED)


def test_a_count_that_a_table_has_already_is_refused() -> None:
    tables = hospital()
    for row in tables["codes"]:
        row["times"] = 1
    with pytest.raises(InputError, match="has the field of `count` already"):
        hierdata.anonymize(tables, tables_policy(), seed=SEED)


@given(st.integers(0, 40), st.integers(0, 10**6))
@examples(20)
def test_nested_records_are_those_nested_by_hand_in_any_order(count: int, seed: int) -> None:
    rows = encounters(2 * count + 2, seed)
    with open_shaped(deepcopy(rows), from_data(nest_policy())) as (documents, _):
        found = list(documents)
    assert found == nest_by_hand(rows)
    Random(seed).shuffle(rows)
    with open_shaped(rows, from_data(nest_policy())) as (documents, _):
        assert sort_nested(documents) == sort_nested(found)


def sort_nested(people: Iterable[Any]) -> list[str]:
    """The content of people, whatever the order of people and encounters."""
    return sorted(
        json.dumps({**person, "encounters": sorted(map(json.dumps, person["encounters"]))})
        for person in people
    )
