"""Marked values in every position of a document: no message, log, report or traceback shows one."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

import hierdata
from tests.adversarial.marked import (
    CHANGES,
    MARKS,
    MODELS,
    NUMBER,
    PEOPLE,
    SEED,
    TEXT,
    Bench,
    json_policy,
    planted,
    positions,
)
from tests.cases import in_turns


@pytest.mark.full
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_a_mark_at_any_place_of_a_json_record(bench: Bench, change: str, suffix: str) -> None:
    for position in in_turns(positions(PEOPLE[-2]), [*CHANGES].index(change) + len(suffix), 4):
        people = planted(position, CHANGES[change])
        lines = [json.dumps(one) for one in people]
        text = "\n".join(lines) if suffix == ".jsonl" else f"[{','.join(lines)}]"
        bench.run(text.encode(), suffix)
    assert bench.codes & {2, 5}


BREAKS: dict[str, Callable[[str], str]] = {
    "cut inside": lambda text: text[: text.index(TEXT) + 4],
    "cut behind": lambda text: text[: text.index(TEXT) + len(TEXT)],
    "no quotes": lambda text: text.replace(f'"{TEXT}"', TEXT),
    "a number like none": lambda text: text.replace(f'"{TEXT}"', f"{NUMBER}e"),
    "NaN beside": lambda text: text.replace(f'"{TEXT}"', f'["{TEXT}", NaN]'),
    "too long": lambda text: text.replace(f'"{TEXT}"', f"{NUMBER}" * 700),
    "exponent": lambda text: text.replace(f'"{TEXT}"', f"{NUMBER}e999999"),
    "duplicate keys": lambda text: text.replace(f'"{TEXT}"', f'{{"{TEXT}": 1, "{TEXT}": 2}}'),
    "surrogate": lambda text: text.replace(f'"{TEXT}"', f'"{TEXT}\\ud800"'),
    "control character": lambda text: text.replace(TEXT, TEXT + "\x01"),
    "escape": lambda text: text.replace(TEXT, TEXT + "\\q"),
    "deep": lambda text: text.replace(f'"{TEXT}"', "[" * 70 + f'"{TEXT}"' + "]" * 70),
    "garbage": lambda text: text + TEXT,
    "comma": lambda text: text.replace(f'"{TEXT}"', f'"{TEXT}",,'),
    "not UTF-8": lambda text: text.replace(TEXT, TEXT + "\udcff"),
}


@pytest.mark.parametrize("name", BREAKS)
@pytest.mark.parametrize("suffix", [pytest.param(".json", marks=pytest.mark.full), ".jsonl"])
def test_a_mark_beside_broken_json(bench: Bench, name: str, suffix: str) -> None:
    for position in (("town",), ("home", "floor"), ("visits", 1, "reason")):
        lines = [json.dumps(one) for one in planted(position, CHANGES["text"])]
        text = "\n".join(lines) if suffix == ".jsonl" else f"[{','.join(lines)}]"
        bench.run(BREAKS[name](text).encode("utf-8", "surrogateescape"), suffix)
    assert bench.codes == {5}


def test_a_mark_that_only_a_json_schema_refuses(bench: Bench, tmp_path: Path) -> None:
    schema = {"properties": {"town": {"enum": ["north", "south"]}, "visits": {"maxItems": 2}}}
    (tmp_path / "person.schema.json").write_text(json.dumps(schema), encoding="utf-8")
    bench.policies[".json"] = json_policy() | {"schema": "person.schema.json"}
    for position, change in ((("town",), "text"), (("visits",), "array"), (("town",), "object")):
        bench.run(json.dumps(planted(position, CHANGES[change])).encode(), ".json")
    assert bench.codes == {5}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("turns", [3, pytest.param(1, marks=pytest.mark.full)])
def test_a_traceback_of_the_api_shows_no_mark_either(change: str, turns: int) -> None:
    """Errors are raised from None, so that the chain behind a message shows no value.

    In the fast tier each change is made at every third position.
    """
    raised = 0
    for position in list(positions(PEOPLE[-2]))[[*CHANGES].index(change) % turns :: turns]:
        try:
            hierdata.anonymize(planted(position, CHANGES[change]), json_policy(), seed=SEED)
        except hierdata.HierdataError as error:
            raised += 1
            text = "".join(traceback.format_exception(error)) + repr(error) + repr(error.args)
            assert not [mark for mark in MARKS if mark in text]
    assert raised or change == "number"


def test_numbers_that_only_the_data_tell_stay_out_of_what_is_given_out() -> None:
    """The ends of a domain that the policy leaves open are two people's values."""
    people = planted(("age",), lambda value: NUMBER)
    release = hierdata.anonymize(people, {**json_policy(), "models": MODELS[:1]}, seed=SEED)
    for path in (release.folder / "public").iterdir():
        if not path.name.startswith("records."):
            assert str(NUMBER) not in path.read_text("utf-8"), path.name
