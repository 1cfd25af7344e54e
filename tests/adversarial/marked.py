"""Marked values to be planted in a collection, and a bench that looks for them in everything that is said."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hierdata.cli import main

# Put together here, so that no line of this file that a traceback quotes holds one.
TEXT = "".join(("Zq", "x7", "319"))
NUMBER = int("".join(("73", "19", "0042")))
SEED = b"a seed of sixteen bytes"
MARKS = (TEXT, TEXT.casefold(), str(NUMBER))

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
    "visits[*].reason": {"role": "sensitive", "same": ["trim", "nfkc", "fold"]},
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


def table_policy() -> dict[str, Any]:
    """The rules of what stands in a record itself."""
    fields = {path: {**rule, "optional": True} for path, rule in RULES.items() if path.isalpha()}
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
    told = {"codebook.json", "release.json", "summary.html"}
    return {
        path.name: path.read_text("utf-8", "replace")
        for path in out.rglob("*")
        if path.is_file() and (path.name in told or path.parent.name == "steward")
        if path.name != STEWARD_FACTS
    }


class Bench:
    """Runs commands on bytes under a policy, and looks for marks in everything that they show."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.capture = capture
        self.codes: set[int] = set()
        self.policies = {".xml": xml_policy(), ".csv": table_policy(), ".parquet": table_policy()}

    def run(self, content: bytes, suffix: str) -> None:
        """Write the bytes into a file, and run the commands on it."""
        source = self.folder / f"people{suffix}"
        source.write_bytes(content)
        self.look(source, self.policies.get(suffix, json_policy()))

    def look(self, source: Path, policy: dict[str, Any]) -> None:
        """Run the commands on a file or folder."""
        out, stated = self.folder / "out", self.folder / "policy.json"
        stated.write_text(json.dumps(policy), encoding="utf-8")
        self.command("anonymize", source, "--policy", stated, "--out", out, "--json")
        self.command("lint", stated, "--data", source)
        self.command("verify", source, "--policy", stated)
        if out.exists():
            self.command("measure", out, "--original", source, "--policy", stated)
            for name, text in shown(out).items():
                self.silent(text, name)
            shutil.rmtree(out)

    def command(self, *words: object) -> None:
        """Run one command."""
        code = main([str(word) for word in words])
        said = self.capture.readouterr()
        self.silent(said.out + said.err, str(words[0]))
        assert code != 1, said.err
        if words[0] == "anonymize":
            assert code in ALLOWED, said.err
            self.codes.add(code)

    def silent(self, text: str, where: str) -> None:
        """Look for marks in a text."""
        assert not [mark for mark in MARKS if mark in text], f"{where} shows a value"
