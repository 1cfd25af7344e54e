from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hierdata.cli import main

ROOT = Path(__file__).parents[2]

POLICY = """\
version: 1
dataset: visits
models:
  - {kind: k-anonymity, k: 2}
  - {kind: frequency-l-diversity, l: 2}
fields:
  $.id: {role: identifier}
  $.age: {role: quasi, interval: {steps: [1, 5, 10], domain: [0, 99]}}
  $.visits[*].ward: {role: quasi, flat: true}
  $.visits[*].reason: {role: sensitive}
"""


def person(ordinal: int, age: object, ward: str, reason: str) -> dict[str, Any]:
    return {"id": f"p{ordinal}", "age": age, "visits": [{"ward": ward, "reason": reason}]}


PEOPLE = [
    person(1, 31, "west", "flu"),
    person(2, 34, "west", "cold"),
    person(3, 58, "east", "flu"),
    person(4, 52, "east", "asthma"),
]


@dataclass(frozen=True)
class Ran:
    """What a command returned and printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        (line,) = self.out.splitlines()
        parsed: dict[str, Any] = json.loads(line)
        return parsed


Run = Callable[..., Ran]


class Desk:
    """A folder with a small collection and its policy; ``command`` publishes it to ``out``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.people = folder / "people.jsonl"
        self.policy = folder / "policy.yaml"
        self.out = folder / "out"
        self.command = ("anonymize", self.people, "--policy", self.policy, "--out", self.out)
        self.policy.write_text(POLICY)
        self.write(PEOPLE)

    def write(self, people: list[dict[str, Any]]) -> None:
        self.people.write_text("".join(json.dumps(one) + "\n" for one in people))

    def names(self) -> set[str]:
        """What lies in the folder."""
        return {path.name for path in self.folder.iterdir()}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The first run of all compiles, and says so on stderr."""
    desk = Desk(tmp_path_factory.mktemp("compiled"))
    assert main([*map(str, desk.command), "--quiet"]) == 0


@pytest.fixture
def run(compiled: None, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line, in this process."""
    monkeypatch.delenv("HIERDATA_SEED", raising=False)

    def call(*arguments: object) -> Ran:
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        return Ran(code, *capfd.readouterr())

    return call
