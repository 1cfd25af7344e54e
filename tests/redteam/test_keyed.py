"""Keyed tables: what joins them must say nothing, in what verify passes too."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hierdata

SEED = b"sixteen bytes or"
POLICY: dict[str, Any] = {
    "version": 1,
    "tables": {
        "people": {"key": "id"},
        "visits": {"parent": "people", "on": "person", "key": "visit"},
        "drugs": {"parent": "visits", "on": "visit"},
    },
    "models": [{"kind": "k-anonymity", "k": 3}],
    "fields": {
        "$.zip": {"role": "quasi", "flat": True},
        "$.ill": {"role": "sensitive"},
        "$.visits[*].ward": {"role": "quasi", "flat": True},
        "$.visits[*].drugs[*].name": {"role": "sensitive"},
    },
}


@pytest.fixture(params=["generalization", "anatomy"])
def release(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path / "input"
    folder.mkdir()
    people = "".join(f"SSN{at},{'ab'[at % 2]},{'xyz'[at % 3]}\n" for at in range(30))
    visits = "".join(f"SSN{at},V{at},{'uv'[at % 2]}\n" for at in range(30))
    drugs = "".join(f"V{at},{at % 4}\n" for at in range(30))
    (folder / "people.csv").write_text(f"id,zip,ill\n{people}", "utf-8")
    (folder / "visits.csv").write_text(f"person,visit,ward\n{visits}", "utf-8")
    (folder / "drugs.csv").write_text(f"visit,name\n{drugs}", "utf-8")
    policy = POLICY | {"recoding": request.param}
    return hierdata.anonymize(folder, policy, seed=SEED).save(tmp_path / "release"), policy


def rename(folder: Path, columns: dict[str, str], spell: Callable[[str], str]) -> None:
    """Spell the keys in these columns of these tables anew; release.json is made to name the new files."""
    for table, column in columns.items():
        file = folder / "public" / "records" / f"{table}.csv"
        header, *rows = csv.reader(io.StringIO(file.read_text("utf-8")))
        at = header.index(column)
        lines = [header, *([*row[:at], spell(row[at]), *row[at + 1 :]] for row in rows)]
        file.write_text("".join(",".join(line) + "\n" for line in lines), "utf-8")
    claims = folder / "public" / "release.json"
    stated = json.loads(claims.read_text("utf-8"))
    for one in stated["files"]:
        one["sha256"] = hashlib.sha256((folder / "public" / one["name"]).read_bytes()).hexdigest()
    claims.write_text(json.dumps(stated, ensure_ascii=False, indent=2) + "\n", "utf-8")


def test_keys_that_are_the_numbers_of_rows_pass(release: tuple[Path, dict[str, Any]]) -> None:
    folder, policy = release
    rename(folder, {"people": "id"}, str)
    assert hierdata.verify(folder, policy).passed


@pytest.mark.parametrize("spell", ["SSN{}".format, lambda key: f"{int(key) + 1000}", lambda key: f"0{key}"])
@pytest.mark.parametrize(
    "columns", [{"people": "id", "visits": "person"}, {"visits": "visit", "drugs": "visit"}], ids=str
)
def test_other_keys_than_numbers_of_rows_fail(
    release: tuple[Path, dict[str, Any]], columns: dict[str, str], spell: Callable[[str], str]
) -> None:
    """The input's own keys join as well, and tell every record apart."""
    folder, policy = release
    rename(folder, columns, spell)
    for published in (folder, folder / "public"):
        with pytest.raises(hierdata.VerificationError, match="its keys must be the numbers") as refused:
            hierdata.verify(published, policy)
        assert "SSN" not in str(refused.value)


def test_a_table_of_which_nothing_is_left_has_a_header(tmp_path: Path) -> None:
    people = [{"id": at, "zip": "a", "ill": "xy"[at % 2]} for at in range(6)]
    visits = [{"person": 0, "ward": "u", "cost": 1}, {"person": 1, "ward": "u", "cost": 1}]
    folder = tmp_path / "input"
    folder.mkdir()
    for name, rows in {"people": people, "visits": visits}.items():
        lines = [list(rows[0]), *([str(cell) for cell in row.values()] for row in rows)]
        (folder / f"{name}.csv").write_text("".join(",".join(line) + "\n" for line in lines), "utf-8")
    policy = {
        "version": 1,
        "recoding": "anatomy",
        "tables": {"people": {"key": "id"}, "visits": {"parent": "people", "on": "person"}},
        "engine": {"steps": [{"kind": "clustree"}]},
        "models": [{"kind": "distinct-l-diversity", "l": 2}],
        "fields": {
            "$.zip": {"role": "quasi", "flat": True},
            "$.ill": {"role": "sensitive"},
            "$.visits[*].ward": {"role": "quasi", "flat": True},
            "$.visits[*].cost": {"role": "sensitive"},
        },
    }
    release = hierdata.anonymize(folder, policy, seed=SEED).save(tmp_path / "release")
    assert (release / "public" / "records" / "visits.csv").read_text("utf-8").count("\n") == 1
    assert hierdata.verify(release, policy, original=folder).passed
