"""Marked values in every cell of a table: no message, log or report shows one."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.adversarial.marked import MODELS, NUMBER, PEOPLE, RULES, TEXT, Bench, table_policy

COLUMNS = [path for path in RULES if path.isalpha()]
ROWS = [{column: person[column] for column in COLUMNS} for person in PEOPLE]
TABLES: dict[str, list[dict[str, Any]]] = {
    "people": [{**row, "person": number} for number, row in enumerate(ROWS)],
    "visits": [
        {"person": number, **visit} for number, person in enumerate(PEOPLE) for visit in person["visits"]
    ],
}

CELLS: dict[str, Callable[[Any], Any]] = {
    "text": lambda value: TEXT,
    "number": lambda value: NUMBER,
    "a number like none": lambda value: f"{NUMBER}e",
    "a formula": lambda value: f"=1+{TEXT}",
    "a line end": lambda value: f"{value}\n{TEXT}",
}


def planted_rows(column: str, change: Callable[[Any], Any]) -> list[dict[str, Any]]:
    """The rows, with a cell of the last but one changed."""
    rows = [dict(row) for row in ROWS]
    rows[-2][column] = change(rows[-2][column])
    return rows


def as_csv(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def as_parquet(rows: list[dict[str, Any]]) -> bytes:
    """As Arrow takes it; a column of several types as text."""
    columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in rows[0]}
    for name, values in columns.items():
        if len({type(value) for value in values}) > 1:
            columns[name] = [str(value) for value in values]
    target = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), target)
    return target.getvalue().to_pybytes()


@pytest.mark.full
@pytest.mark.parametrize("change", CELLS)
def test_a_mark_in_any_cell(bench: Bench, change: str) -> None:
    for column in COLUMNS:
        rows = planted_rows(column, CELLS[change])
        bench.run(as_csv(rows).encode(), ".csv")
        bench.run(as_parquet(rows), ".parquet")
    assert bench.codes & {2, 5}


@pytest.mark.parametrize("people", [True, False], ids=["for people", "plain"])
def test_a_mark_that_spreadsheets_would_take_for_a_formula(bench: Bench, people: bool) -> None:
    policy = table_policy() | {"csv": {"for_people": people}}
    (bench.folder / "people.csv").write_text(as_csv(planted_rows("town", CELLS["a formula"])), "utf-8")
    bench.look(bench.folder / "people.csv", policy)


BREAKS: dict[str, Callable[[str], str]] = {
    "cut inside": lambda text: text[: text.index(TEXT) + 4],
    "an open quote": lambda text: text.replace(TEXT, f'"{TEXT}'),
    "text behind a quote": lambda text: text.replace(TEXT, f'"{TEXT}"{TEXT}'),
    "one cell more": lambda text: text.replace(TEXT, f"{TEXT},{TEXT}"),
    "not UTF-8": lambda text: text.replace(TEXT, TEXT + "\udcff"),
    "NUL": lambda text: text.replace(TEXT, TEXT + "\0"),
    "an unlisted column": lambda text: text.replace("\n", f",{TEXT}\n"),
    "a name twice": lambda text: text.replace("town", f"{TEXT},{TEXT}", 1),
    "no header": lambda text: text.partition("\n")[2],
    "another delimiter": lambda text: text.replace(",", "^"),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_mark_beside_a_broken_table(bench: Bench, name: str) -> None:
    text = as_csv(planted_rows("town", CELLS["text"]))
    bench.run(BREAKS[name](text).encode("utf-8", "surrogateescape"), ".csv")
    assert bench.codes <= {2, 5}


def keyed() -> dict[str, Any]:
    """A policy for people and their visits."""
    fields = {f"$.{name}": rule for name, rule in table_policy()["fields"].items()}
    for name in ("ward", "reason"):
        fields[f"$.visits[*].{name}"] = {**RULES[f"visits[*].{name}"], "optional": True}
    tables = {"people": {"key": "person"}, "visits": {"parent": "people", "on": "person"}}
    return {"version": 1, "models": MODELS, "tables": tables, "fields": fields}


@pytest.mark.full
@pytest.mark.parametrize("change", ["text", "number"])
def test_a_mark_in_any_cell_of_keyed_tables(bench: Bench, tmp_path: Path, change: str) -> None:
    """In a key too: then the rows hang together otherwise, or not at all."""
    folder = tmp_path / "tables"
    folder.mkdir()
    for name in TABLES:
        for column in TABLES[name][0]:
            tables = {table: [dict(row) for row in rows] for table, rows in TABLES.items()}
            tables[name][-2][column] = CELLS[change](tables[name][-2][column])
            for table, rows in tables.items():
                (folder / f"{table}.csv").write_text(as_csv(rows), "utf-8")
            bench.look(folder, keyed())
    assert bench.codes & {2, 5}
