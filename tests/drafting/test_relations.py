"""How tables hang together is told from names and values, or said not to be told."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import hierdata
from hierdata.ground.errors import InputError, PolicyError
from hierdata.pipeline.look_over import survey_collection
from hierdata.policy.lint.lint import lint
from hierdata.policy.load import from_data
from hierdata.policy.load.yaml import read

FIXTURES = Path(__file__).parents[2] / "fixtures"
Tables = dict[str, list[dict[str, Any]]]


def patients() -> Tables:
    """Patients, their visits by another column's name, and the drugs of each visit."""
    return {
        "drugs": [{"visit": 100 + n % 60, "drug": "abc"[n % 3]} for n in range(90)],
        "patients": [{"id": n, "sex": "mf"[n % 2], "rooms": n % 5} for n in range(1, 41)],
        "visits": [{"key": 100 + n, "patient_id": 1 + n % 40, "ward": "xyz"[n % 3]} for n in range(60)],
    }


def joins(tables: Any) -> dict[str, Any]:
    found: dict[str, Any] = hierdata.init(tables).confirmed()["tables"]
    return found


@pytest.mark.full
def test_the_bundled_tables_are_joined_as_their_policy_says() -> None:
    folder = FIXTURES / "students" / "tables"
    draft = hierdata.init(folder)
    stated = read(FIXTURES / "policies" / "students-tables.yaml")["tables"]
    assert draft.confirmed()["tables"] == {
        name: {key: value for key, value in rule.items() if key != "file"} for name, rule in stated.items()
    }
    policy = from_data(draft.confirmed())
    survey, hints = survey_collection(folder, policy)
    assert [one for one in lint(policy, survey, hints) if one.severity == "error"] == []
    hierdata.anonymize(folder, {**draft.confirmed(), "effort": 0})


def test_a_column_may_have_the_name_of_the_table_above() -> None:
    expected = {
        "patients": {"key": "id"},
        "visits": {"parent": "patients", "on": "patient_id", "key": "key"},
        "drugs": {"parent": "visits", "on": "visit"},
    }
    assert joins(patients()) == expected
    assert list(joins(patients())) == list(expected)
    assert joins({name: pd.DataFrame(rows) for name, rows in patients().items()}) == expected


def test_many_texts_need_no_names() -> None:
    people = [{"a": f"p{n:03}", "sex": "mf"[n % 2]} for n in range(30)]
    stays = [{"b": f"p{n % 30:03}", "ward": "xy"[n % 2]} for n in range(60)]
    assert joins({"x": people, "y": stays}) == {"x": {"key": "a"}, "y": {"parent": "x", "on": "b"}}


def test_numbers_that_are_among_keys_by_accident_tie_nothing() -> None:
    people = [{"id": n, "sex": "mf"[n % 2]} for n in range(30)]
    wards = [{"beds": n % 20, "name": f"ward {n % 7}"} for n in range(60)]
    with pytest.raises(PolicyError, match="the tables people, wards have no parent"):
        hierdata.init({"people": people, "wards": wards})


def test_a_row_too_many_unties_tables() -> None:
    tables = patients()
    tables["visits"].append({"key": 999, "patient_id": 999, "ward": "x"})
    with pytest.raises(PolicyError, match="have no parent, but only the table of the records may"):
        hierdata.init(tables)


def test_of_two_tables_with_the_same_keys_the_larger_is_above() -> None:
    people = [{"person": n, "sex": "mf"[n % 2]} for n in range(30)]
    details = [{"person": n, "town": "xyz"[n % 3]} for n in range(20)]
    expected = {"people": {"key": "person"}, "details": {"parent": "people", "on": "person"}}
    assert joins({"people": people, "details": details}) == expected
    assert joins({"details": details, "people": people}) == expected


def test_tables_larger_than_what_is_counted_exactly_are_tied_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hierdata.drafting.profile._SINGLE", 64)
    people = [{"person": n, "sex": "mf"[n % 2]} for n in range(1000)]
    stays = [{"person": n % 1000, "ward": "xyz"[n % 3]} for n in range(2000)]
    assert joins({"people": people, "stays": stays})["stays"] == {"parent": "people", "on": "person"}


def test_folders_are_looked_through_for_tables(tmp_path: Path) -> None:
    for name, rows in patients().items():
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    (tmp_path / "README.md").write_text("no table")
    draft = hierdata.init(tmp_path)
    path = tmp_path / "draft.yaml"
    draft.save(path)
    assert "CONFIRM: are the tables linked correctly?" in path.read_text()
    stated = read(path)
    stated.pop("draft")
    assert from_data(stated) == from_data(draft.confirmed())
    with pytest.raises(PolicyError, match="applies to a single file only"):
        hierdata.init(tmp_path, records="$.x")
    (tmp_path / "visits.csv.gz").write_bytes(b"")
    with pytest.raises(InputError, match="several files"):
        hierdata.init(tmp_path)


def test_what_is_wrong_with_a_table_is_told_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id,sex\n1,m,7\n")
    with pytest.raises(InputError, match="the table people: record 1"):
        hierdata.init(tmp_path)
