"""Marked values where values are replaced: pseudonyms, constants, moved dates, and in maps."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

import hierdata
from hierdata.ground.secrets import Key
from hierdata.records.identifiers import Pseudonym
from tests.adversarial.marked import CHANGES, MARKS, NUMBER, PEOPLE, SEED, TEXT, Bench, json_policy, positions
from tests.cases import first_few, in_turns

KEY = bytes(range(60, 100))
ACTIONS: dict[str, Any] = {
    "$.id": {"role": "identifier", "action": {"pseudonym": {"domain": "people", "identity": True}}},
    "$.friend": {"role": "identifier", "action": {"pseudonym": {"domain": "people"}}},
    "$.note": {"role": "free_text", "action": "redact"},
    "$.born": {"role": "quasi", "date": {"steps": ["day", "year"]}, "action": {"shift": {"days": 9}}},
    "$.seen": {"role": "sensitive", "action": {"shift": {"days": 9}}},
    "$.stays": {"map": True},
    "$.stays[*]~": {"role": "quasi", "date": {"steps": ["day", "year"]}, "action": {"shift": {"days": 9}}},
    "$.stays[*].doctor": {"role": "identifier", "action": {"pseudonym": {"domain": "doctors"}}},
    "$.stays[*].ward": {"role": "sensitive"},
    "$.scores": {"map": True},
    "$.scores[*]~": {"role": "identifier", "action": {"pseudonym": {"length": 16}}},
    "$.scores[*]": {"role": "sensitive"},
}
REPLACED = (("id",), ("friend",), ("note",))


def policy() -> dict[str, Any]:
    stated = json_policy()
    own = {path: rule if "map" in rule else {**rule, "optional": True} for path, rule in ACTIONS.items()}
    return stated | {"fields": stated["fields"] | own}


def person(ordinal: int) -> dict[str, Any]:
    return copy.deepcopy(PEOPLE[ordinal]) | {
        "stays": {f"2001-0{1 + ordinal % 2}-03": {"doctor": f"d{ordinal}", "ward": "ab"[ordinal % 2]}},
        "scores": {f"s{ordinal}": ordinal % 3},
        "seen": f"2001-03-0{1 + ordinal}",
        "friend": f"p{ordinal}",
    }


def planted(position: tuple[str | int, ...], change: str) -> list[dict[str, Any]]:
    people = [person(ordinal) for ordinal in range(len(PEOPLE))]
    inner: Any = people[-2]
    for key in position[:-1]:
        inner = inner[key]
    inner[position[-1]] = CHANGES[change](inner[position[-1]])
    return people


HERE = [
    position
    for position in positions(person(len(PEOPLE) - 2))
    if position[0] in ("id", "friend", "note", "born", "seen", "stays", "scores")
]


@pytest.mark.parametrize(
    "change", [pytest.param(name, marks=() if name == "text" else pytest.mark.full) for name in CHANGES]
)
def test_a_mark_where_values_are_replaced(bench: Bench, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIERDATA_KEY", KEY.hex())
    bench.policies[".json"] = policy()
    for position in in_turns(HERE, [*CHANGES].index(change), 4):
        bench.run(json.dumps(planted(position, change)).encode(), ".json")
    assert bench.codes


def test_marks_as_keys_of_maps(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIERDATA_KEY", KEY.hex())
    bench.policies[".json"] = policy()
    for field, keys in (("stays", [TEXT, str(NUMBER)]), ("scores", [TEXT, str(NUMBER)])):
        people = [person(ordinal) for ordinal in range(len(PEOPLE))]
        people[-2][field] = {key: next(iter(people[-2][field].values())) for key in keys}
        bench.run(json.dumps(people).encode(), ".json")
    assert bench.codes == {0, 5}  # a key that is replaced, and one that is no date


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_to_which_a_reference_leads_is_nowhere(mark: str) -> None:
    """It dangles, so not even its pseudonym is left, and others of the class have no reference either."""
    people = [person(ordinal) for ordinal in range(len(PEOPLE))]
    people[-2]["friend"] = mark
    release = hierdata.anonymize(people, policy(), seed=SEED, key=KEY)
    replace = Pseudonym(domain="people").replace("$.friend", Key(KEY))
    assert replace is not None
    token = str(replace(mark, 0))
    for path in release.folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert mark.encode() not in content, path.name
            assert token.encode() not in content, path.name
    records: Any = list(release.records())
    lacking = [record for record in records if "friend" not in record]
    assert 2 <= len(lacking) < len(records)


@pytest.mark.parametrize("written", first_few(1, ["T01:02:03.{}Z", " 01:02:03,{}+09:30"]))
def test_a_mark_in_the_time_of_day(bench: Bench, written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A time is in no message and no published file; where it is not a time, the date is refused."""
    monkeypatch.setenv("HIERDATA_KEY", KEY.hex())
    bench.policies[".json"] = policy()
    for field in ("born", "seen", "stays"):
        for mark in MARKS:
            people = [person(ordinal) for ordinal in range(len(PEOPLE))]
            spelled = "2001-02-03" + written.format(mark)
            inner = people[-2]
            inner[field] = {spelled: inner[field].popitem()[1]} if field == "stays" else spelled
            bench.run(json.dumps(people).encode(), ".json")
            if not mark.isdecimal():
                continue
            release = hierdata.anonymize(people, policy(), seed=SEED, key=KEY)
            for path in (release.folder / "public").rglob("*"):
                assert mark.encode() not in path.read_bytes(), path.name
    assert bench.codes == {0, 5}


@pytest.mark.parametrize("position", REPLACED)
@pytest.mark.parametrize("change", ["text", "number"])
def test_what_was_replaced_is_in_no_published_file(position: tuple[str], change: str) -> None:
    release = hierdata.anonymize(planted(position, change), policy(), seed=SEED, key=KEY)
    for path in release.folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert not [mark for mark in MARKS if mark.encode() in content], path.name
