"""Marked values in every position of a document, in every format: no message, log or report shows one."""

from __future__ import annotations

import copy
import json
import shutil
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata.cli import main

# Put together here, so that no line of this file that a traceback quotes holds one.
TEXT = "".join(("Zq", "x7", "319"))
NUMBER = int("".join(("73", "19", "0042")))
SEED = b"a seed of sixteen bytes"
MARKS = (TEXT, str(NUMBER))

# What anonymize may answer: published, not to be promised, bad policy or input. Never an internal error (1),
# never a release that the judge refuses (4).
ALLOWED = {0, 2, 3, 5}
STEWARD_FACTS = "verification.json"


def person(ordinal: int) -> dict[str, Any]:
    return {
        "id": f"p{ordinal}",
        "note": "text",
        "color": ("red", "blue")[ordinal % 2],
        "age": 30 + ordinal,
        "born": f"1990-0{1 + ordinal % 3}-11",
        "zip": f"481{ordinal % 3}",
        "town": ("north", "south")[ordinal % 2],
        "home": {"floor": ordinal % 3},
        "score": ordinal % 4,
        "grade": "ABC"[ordinal % 3],
        "disease": ("flu", "cold", "HIV")[ordinal % 3],
        "tags": ["x", "y"],
        "visits": [{"ward": "west", "reason": "rA"}, {"ward": "east", "reason": "rB"}],
    }


RULES: dict[str, Any] = {
    "id": {"role": "identifier"},
    "note": {"role": "free_text", "optional": True},
    "color": {"role": "quasi", "taxonomy": {"tree": {"*": {"red": {}, "blue": {}}}}},
    "age": {"role": "quasi", "interval": {"steps": [1, 10]}},
    "born": {"role": "quasi", "date": {"steps": ["day", "year"]}},
    "zip": {"role": "quasi", "prefix": {"keep": [3, 1]}},
    "town": {"role": "quasi", "flat": True},
    "home.floor": {"role": "quasi", "interval": {"steps": [1, 2], "domain": [0, 9]}},
    "score": {"role": "sensitive", "levels": {"domain": [0, 4], "sensitive": "low"}},
    "grade": {"role": "sensitive", "levels": {"by": {"A": 1, "B": 2, "C": 3}}},
    "disease": {"role": "sensitive", "levels": {"by": "frequency", "sensitive": "rare"}},
    "tags[*]": {"role": "quasi", "flat": True},
    "visits[*].ward": {"role": "quasi", "flat": True},
    "visits[*].reason": {"role": "sensitive"},
}
MODELS = [{"kind": "k-anonymity", "k": 2}, {"kind": "distinct-l-diversity", "l": 2}]
PEOPLE = [person(ordinal) for ordinal in range(8)]


def json_policy() -> dict[str, Any]:
    fields = {f"$.{path}": {**rule, "optional": True} for path, rule in RULES.items()}
    return {"version": 1, "models": MODELS, "fields": fields}


def xml_policy() -> dict[str, Any]:
    def xpath(path: str) -> str:
        keys = path.replace("[*]", "").split(".")
        return "/people/person/" + "/".join(
            (*keys[:-1], f"@{keys[-1]}" if keys[-1] in ATTRIBUTES else keys[-1])
        )

    fields = {xpath(path): {**rule, "optional": True} for path, rule in RULES.items()}
    return {"version": 1, "models": MODELS, "fields": fields}


ATTRIBUTES = ("id", "age", "grade", "ward", "reason")

Position = tuple[str | int, ...]


def positions(value: Any, above: Position = ()) -> Iterator[Position]:
    """Every value inside a record, objects and arrays too."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*above, key)
        yield from positions(inner, (*above, key))


def planted(position: Position, change: Callable[[Any], Any]) -> list[dict[str, Any]]:
    """The people, with a value of the last but one changed."""
    people = copy.deepcopy(PEOPLE)
    inner: Any = people[-2]
    for key in position[:-1]:
        inner = inner[key]
    inner[position[-1]] = change(inner[position[-1]])
    return people


CHANGES: dict[str, Callable[[Any], Any]] = {
    "text": lambda value: TEXT,
    "number": lambda value: NUMBER,
    "object": lambda value: {TEXT: NUMBER},
    "array": lambda value: [TEXT, NUMBER],
    "array of arrays": lambda value: [[TEXT], [{TEXT: TEXT}]],
    "unlisted key": lambda value: {**value, TEXT: NUMBER} if isinstance(value, dict) else {TEXT: value},
}


def shown(out: Path) -> dict[str, str]:
    """Everything written beside the records and the steward's facts."""
    return {
        path.name: path.read_text("utf-8")
        for path in out.rglob("*")
        if path.is_file() and not path.name.startswith("records.") and path.name != STEWARD_FACTS
    }


class Bench:
    """Runs ``hierdata anonymize`` on bytes and looks for marks in everything that it shows."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.capture = capture
        self.codes: set[int] = set()
        for name, policy in (("json", json_policy()), ("xml", xml_policy())):
            (folder / f"{name}.policy.json").write_text(json.dumps(policy), encoding="utf-8")

    def run(self, content: bytes, suffix: str) -> None:
        source, out = self.folder / f"people{suffix}", self.folder / "out"
        source.write_bytes(content)
        policy = self.folder / ("xml.policy.json" if suffix == ".xml" else "json.policy.json")
        commands = [["anonymize", source, "--policy", policy, "--out", out, "--json"]]
        commands.append(["lint", policy, "--data", source])
        if source.exists():
            commands.append(["verify", source, "--policy", policy])
        for command in commands:
            code = main([str(argument) for argument in command])
            said = self.capture.readouterr()
            self.silent(said.out + said.err, str(command[0]))
            assert code != 1, said.err
            if command[0] == "anonymize":
                assert code in ALLOWED, said.err
                self.codes.add(code)
        for name, text in shown(out).items():
            self.silent(text, name)
        shutil.rmtree(out, ignore_errors=True)

    def silent(self, text: str, where: str) -> None:
        assert not [mark for mark in MARKS if mark in text], f"{where} shows a value"


@pytest.fixture
def bench(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("HIERDATA_SEED", SEED.decode())
    return Bench(tmp_path, capfd)


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_a_mark_at_any_place_of_a_json_record(bench: Bench, change: str, suffix: str) -> None:
    for position in positions(PEOPLE[-2]):
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
@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_a_mark_beside_broken_json(bench: Bench, name: str, suffix: str) -> None:
    for position in (("town",), ("home", "floor"), ("visits", 1, "reason")):
        lines = [json.dumps(one) for one in planted(position, CHANGES["text"])]
        text = "\n".join(lines) if suffix == ".jsonl" else f"[{','.join(lines)}]"
        bench.run(BREAKS[name](text).encode("utf-8", "surrogateescape"), suffix)
    assert bench.codes == {5}


def element(name: str, value: Any) -> str:
    """A value as XML text."""
    if not isinstance(value, dict):
        return f"<{name}>{value}</{name}>"
    attributes, children = "", ""
    for key, inner in value.items():
        if key in ATTRIBUTES and not isinstance(inner, list | dict):
            attributes += f' {key}="{inner}"'
        else:
            children += "".join(element(key, one) for one in (inner if isinstance(inner, list) else [inner]))
    return f"<{name}{attributes}>{children}</{name}>"


def people_xml(people: list[dict[str, Any]]) -> str:
    return f"<people>{''.join(element('person', one) for one in people)}</people>"


XML_CHANGES: dict[str, Callable[[Any], Any]] = {
    "text": lambda value: TEXT,
    "number": lambda value: NUMBER,
    "element": lambda value: {TEXT: NUMBER},
    "elements": lambda value: [TEXT, NUMBER],
    "unlisted element": lambda value: {**value, TEXT: NUMBER} if isinstance(value, dict) else {TEXT: value},
    "unlisted attribute": lambda value: {"id": TEXT, "age": NUMBER},
    "a comment": lambda value: f"<!-- {TEXT} -->{value}",
    "an instruction": lambda value: f"<?{TEXT} {NUMBER}?>{value}",
    "text between": lambda value: f"{TEXT}<{TEXT}/>{TEXT}",
}


@pytest.mark.slow
@pytest.mark.parametrize("change", XML_CHANGES)
def test_a_mark_at_any_place_of_an_xml_record(bench: Bench, change: str) -> None:
    for position in positions(PEOPLE[-2]):
        if isinstance(position[-1], str):
            bench.run(people_xml(planted(position, XML_CHANGES[change])).encode(), ".xml")


XML_BREAKS: dict[str, Callable[[str], str]] = {
    "cut inside": lambda text: text[: text.index(TEXT) + 4],
    "no closing tag": lambda text: text.replace(TEXT, f"<{TEXT}>"),
    "another closing tag": lambda text: text.replace(TEXT, f"<a></{TEXT}>"),
    "undefined entity": lambda text: text.replace(TEXT, f"&{TEXT};"),
    "unbound prefix": lambda text: text.replace(TEXT, f"<{TEXT}:a/>"),
    "attribute twice": lambda text: text.replace(TEXT, f'<a {TEXT}="1" {TEXT}="2"/>'),
    "attribute without quotes": lambda text: text.replace(TEXT, f"<a b={TEXT}/>"),
    "DOCTYPE": lambda text: f'<!DOCTYPE people [<!ENTITY {TEXT} "{TEXT}">]>' + text,
    "another root": lambda text: text.replace("people>", f"{TEXT}>"),
    "another record": lambda text: text.replace("</people>", f"<{TEXT}/></people>"),
    "text under the root": lambda text: text.replace("</people>", f"{TEXT}</people>"),
    "behind the end": lambda text: text + TEXT,
    "encoding": lambda text: f'<?xml version="1.0" encoding="{TEXT}"?>' + text,
    "not UTF-8": lambda text: text.replace(TEXT, TEXT + "\udcff"),
    "control character": lambda text: text.replace(TEXT, TEXT + "\x01"),
    "deep": lambda text: text.replace(TEXT, "<a>" * 70 + TEXT + "</a>" * 70),
}


@pytest.mark.parametrize("name", XML_BREAKS)
def test_a_mark_beside_broken_xml(bench: Bench, name: str) -> None:
    for position in (("town",), ("home", "floor")):
        text = people_xml(planted(position, CHANGES["text"]))
        bench.run(XML_BREAKS[name](text).encode("utf-8", "surrogateescape"), ".xml")
    # What lies around the records is left out where the policy names their place.
    assert 5 in bench.codes or name in ("another record", "text under the root")


def test_a_mark_that_only_a_json_schema_refuses(bench: Bench, tmp_path: Path) -> None:
    schema = {"properties": {"town": {"enum": ["north", "south"]}, "visits": {"maxItems": 2}}}
    (tmp_path / "person.schema.json").write_text(json.dumps(schema), encoding="utf-8")
    policy = json_policy() | {"schema": "person.schema.json"}
    (tmp_path / "json.policy.json").write_text(json.dumps(policy), encoding="utf-8")
    for position, change in ((("town",), "text"), (("visits",), "array"), (("town",), "object")):
        bench.run(json.dumps(planted(position, CHANGES[change])).encode(), ".json")
    assert bench.codes == {5}


@pytest.mark.parametrize("change", CHANGES)
def test_a_traceback_of_the_api_shows_no_mark_either(change: str) -> None:
    """Errors are raised from None, so that the chain behind a message shows no value."""
    raised = 0
    for position in positions(PEOPLE[-2]):
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
