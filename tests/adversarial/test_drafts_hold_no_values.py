"""Marked values in every position, in every format: neither a draft nor what init says shows one."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

import hierdata
from hierdata.cli import main
from tests.adversarial.marked import CHANGES, MARKS, PEOPLE, planted, positions

ASKED = (["--json"], [], ["--quiet"])


def element(name: str, value: Any) -> list[Any]:
    """A value as XML: an item of an array is an element of its own."""
    values = value if isinstance(value, list) else [value]
    found = []
    for one in values:
        own = etree.Element(name)
        if isinstance(one, dict):
            own.extend([child for key, inner in one.items() for child in element(key, inner)])
        else:
            own.text = str(one)
        found.append(own)
    return found


def as_json(people: list[dict[str, Any]], folder: Path) -> Path:
    path = folder / "people.json"
    path.write_text(json.dumps(people))
    return path


def as_xml(people: list[dict[str, Any]], folder: Path) -> Path:
    root = etree.Element("people")
    root.extend([own for one in people for own in element("person", one)])
    path = folder / "people.xml"
    path.write_bytes(etree.tostring(root))
    return path


def as_csv(people: list[dict[str, Any]], folder: Path) -> Path:
    path = folder / "people.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, PEOPLE[0], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(
            {
                key: json.dumps(value) if isinstance(value, list | dict) else value
                for key, value in one.items()
            }
            for one in people
        )
    return path


FAST = ((as_json, "array of arrays"), (as_xml, "text"), (as_csv, "number"))


@pytest.mark.parametrize(
    ("write", "change"),
    [
        pytest.param(write, change, marks=[] if (write, change) in FAST else pytest.mark.full)
        for write in (as_json, as_xml, as_csv)
        for change in ("text", "number", "array", "array of arrays")
    ],
)
def test_a_mark_at_any_place_stays_out_of_drafts(
    write: Callable[..., Path], change: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for turn, position in enumerate(positions(PEOPLE[-2])):
        source = write(planted(position, CHANGES[change]), tmp_path)
        draft = tmp_path / "draft.yaml"
        draft.unlink(missing_ok=True)
        code = main(["init", str(source), "--out", str(draft), *ASKED[turn % len(ASKED)]])
        said = capsys.readouterr()
        assert code in (0, 5), said.err
        shown = said.out + said.err + (draft.read_text() if draft.exists() else "")
        assert not [mark for mark in MARKS if mark in shown], position


def test_a_mark_among_the_keys_of_a_map_stays_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people = [
        {**one, "by": {f"{MARKS[0]}@{n}.org": n, f"2001-01-0{n + 1}": MARKS[0]}}
        for n, one in enumerate(PEOPLE)
    ]
    assert main(["init", str(as_json(people, tmp_path))]) == 0
    said = capsys.readouterr()
    assert "$.by[*]~" in said.out
    assert not [mark for mark in MARKS if mark in said.out + said.err]


@pytest.mark.parametrize("turns", [4, pytest.param(1, marks=pytest.mark.full)])
def test_errors_hold_no_mark_in_their_chain(turns: int) -> None:
    """In the fast tier each position meets every fourth change."""
    for turn, change in enumerate(CHANGES.values()):
        for position in list(positions(PEOPLE[-2]))[turn % turns :: turns]:
            try:
                draft = hierdata.init(planted(position, change))
            except hierdata.HierdataError as error:
                chain = [error, error.__cause__, error.__context__]
                assert not [mark for mark in MARKS for one in chain if mark in repr(one)]
            else:
                assert not [mark for mark in MARKS if mark in repr(draft.promises)]
