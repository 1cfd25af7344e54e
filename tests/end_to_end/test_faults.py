"""Whatever ends a run in the middle: nothing is published or left, and one sentence without values says why.

Then the same command with the same seed gives the bytes that it would have given. A test fails if its fault
was never reached.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hierdata.pipeline.cluster import ClusterBlock
from hierdata.pipeline.encode import EncodeSplit
from hierdata.pipeline.publish import PublishBlock, TallyBlock, WriteRange
from hierdata.pipeline.published import ReadPart
from hierdata.pipeline.survey import SurveySplit
from tests.cases import in_full, some_of
from tests.end_to_end.faulty import SECRET

pytestmark = pytest.mark.full  # each case is one or two whole commands

ROOT = Path(__file__).parents[2]
PEOPLE = 200
STAGES = {
    "survey": SurveySplit.__name__,
    "encode": EncodeSplit.__name__,
    "cluster": ClusterBlock.__name__,
    "measure": TallyBlock.__name__,
    "publish": PublishBlock.__name__,
    "write": WriteRange.__name__,
    "judge": ReadPart.__name__,
}
"""The task of each stage."""
POLICY: dict[str, Any] = {
    "version": 1,
    "blocks": 40,
    "models": [{"kind": "k-anonymity", "k": 3}, {"kind": "distinct-l-diversity", "l": 2}],
    "fields": {
        "$.id": {"role": "identifier", "action": "drop"},
        "$.city": {"role": "quasi", "flat": True},
        "$.age": {"role": "quasi", "interval": {"steps": [1, 3, 6], "domain": [0, 99]}},
        "$.visits[*].ward": {"role": "quasi", "flat": True},
        "$.visits[*].ill": {"role": "sensitive"},
    },
}


def people(count: int = PEOPLE) -> list[dict[str, Any]]:
    """People, all of whose texts begin with the secret."""
    rng = random.Random(7)
    return [
        {
            "id": f"{SECRET}{number}",
            "city": SECRET + rng.choice(["ghent", "bruges", "ypres"]),
            "age": rng.randrange(30, 36),
            "visits": [
                {"ward": SECRET + rng.choice("abc"), "ill": SECRET + rng.choice("uvwxyz")}
                for _ in range(rng.randrange(3))
            ],
        }
        for number in range(count)
    ]


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


class Place:
    """A folder with a collection, its policy and a seed, and what a command leaves in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.temporary = folder / "temporary"
        self.temporary.mkdir(parents=True)
        self.marker = folder / "reached"
        self.input = folder / "people.jsonl"
        self.write(people())
        (folder / "policy.yaml").write_text(json.dumps(POLICY), "utf-8")
        (folder / "seed").write_bytes(b"a seed of sixteen bytes")
        self.names = self.found()

    def found(self) -> set[Path]:
        """What lies in the folder."""
        return set(self.folder.iterdir())

    def write(self, records: list[dict[str, Any]]) -> None:
        """Write another collection."""
        self.input.write_text("".join(json.dumps(one) + "\n" for one in records), "utf-8")

    def begin(self, fault: str, task: str, *options: str, out: str = "out") -> subprocess.Popen[str]:
        """Start the command."""
        command = [sys.executable, "-m", "tests.end_to_end.faulty", fault, task]
        command += ["anonymize", str(self.input), "--policy", str(self.folder / "policy.yaml"), "--quiet"]
        command += ["--out", str(self.folder / out), "--seed-file", str(self.folder / "seed"), *options]
        environment = {**os.environ, "TMPDIR": str(self.temporary), "MARKER": str(self.marker)}
        return subprocess.Popen(
            command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def run(self, fault: str, task: str, *options: str, out: str = "out") -> Ended:
        """Run the command to its end, which has to be silent about values and must have reached the fault."""
        ended = self.ended(self.begin(fault, task, *options, out=out))
        assert self.marker.exists() == (fault != "-"), f"{fault} in {task}: never reached"
        self.marker.unlink(missing_ok=True)
        return ended

    def ended(self, process: subprocess.Popen[str]) -> Ended:
        """Wait for the command's end."""
        found = Ended(process.wait(280), *process.communicate())
        assert SECRET not in found.out + found.err
        assert "Traceback" not in found.err
        assert not workers_of(process.pid)
        return found

    def nothing_left(self) -> None:
        """Check that all is as it was."""
        assert self.found() == self.names
        assert not any(self.temporary.iterdir())

    def release(self, out: str = "out") -> dict[str, bytes]:
        """The files of a release, which is removed."""
        found = {}
        for path in sorted((self.folder / out).rglob("*"), reverse=True):
            if path.is_dir():
                path.rmdir()
            else:
                found[str(path.relative_to(self.folder / out))] = path.read_bytes()
                path.unlink()
        (self.folder / out).rmdir()
        return found


def workers_of(driver: int, patience: float = 5) -> list[int]:
    """The workers of a command that are still there after a while (they look for it five times a second)."""
    until = time.monotonic() + patience
    while True:
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if any(b"hierdata.executors.worker" in word for word in words) and str(driver).encode() in words:
                found.append(int(folder.name))
        if not found or time.monotonic() > until:
            return found
        time.sleep(0.1)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The release of a run that nothing happens to."""
    place = Place(tmp_path_factory.mktemp("expected"))
    assert place.run("-", "-", "--executor", "serial") == Ended(0, "", "")
    found = place.release()
    place.nothing_left()
    assert {"public/records.jsonl", "steward/report.json"} <= found.keys()
    return found


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    found = Place(tmp_path)
    yield found
    found.nothing_left()


TWO = ("--executor", "processes", "--workers", "2")


def test_the_same_command_again_gives_the_same_bytes(place: Place, expected: dict[str, bytes]) -> None:
    assert place.run("kill", STAGES["cluster"], *TWO).code == 8
    assert place.run("-", "-", *TWO) == Ended(0, "", "")
    assert place.release() == expected


@pytest.mark.parametrize("stage", some_of(STAGES, 3))
def test_a_worker_killed_in_any_stage(place: Place, stage: str) -> None:
    ended = place.run("kill", STAGES[stage], *TWO)
    assert (ended.code, ended.out) == (8, "")
    (line,) = ended.err.splitlines()
    assert "a worker process was ended from outside (signal 9)" in line
    assert "run it again with fewer workers" in line


@pytest.mark.parametrize(
    ("stage", "executor"),
    some_of(
        [
            ("survey", "processes"),
            ("encode", "serial"),
            ("cluster", "processes"),
            ("publish", "processes"),
            ("write", "serial"),
            ("write", "processes"),
            ("judge", "serial"),
        ],
        4,
    ),
)
def test_a_full_disk_in_any_stage(place: Place, stage: str, executor: str) -> None:
    ended = place.run("full", STAGES[stage], "--executor", executor)
    assert (ended.code, ended.out) == (8, "")
    (line,) = ended.err.splitlines()
    assert "free some space" in line or "cannot write" in line
    place.nothing_left()


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_an_error_that_nobody_foresaw_tells_its_place_alone(place: Place, executor: str) -> None:
    ended = place.run("raise", STAGES["cluster"], "--executor", executor)
    assert ended.code == 1
    (line,) = ended.err.splitlines()
    assert "internal error (ValueError at" in line


@pytest.mark.parametrize(
    ("stage", "name"),
    some_of(
        [
            ("survey", "SIGTERM"),
            ("encode", "SIGINT"),
            ("cluster", "SIGTERM"),
            ("write", "SIGINT"),
            ("judge", "SIGTERM"),
        ],
        3,
    ),
)
def test_a_signal_in_any_stage(place: Place, stage: str, name: str) -> None:
    ended = place.run(name, STAGES[stage], *TWO)
    number = getattr(signal, name)
    sentence = f"hierdata: stopped by {name}; partial results are removed\n"
    assert ended == Ended(128 + number, "", sentence)


def test_signals_at_any_moment(place: Place, expected: dict[str, bytes]) -> None:
    rng = random.Random(3)
    for _ in range(in_full(9)):
        number = rng.choice([signal.SIGINT, signal.SIGTERM])
        process = place.begin("-", "-", *TWO)
        until = time.monotonic() + 60
        while place.found() == place.names and time.monotonic() < until:
            time.sleep(0.005)  # not before the command has begun
        time.sleep(rng.random() * 3)
        process.send_signal(number)
        ended = place.ended(process)
        if ended.code == 0:  # with a sentence if the signal came after the release
            assert place.release() == expected
        else:
            told = f"hierdata: stopped by {number.name}; partial results are removed\n"
            assert (ended.code, ended.err) == (128 + number, told)
        place.nothing_left()


@pytest.mark.parametrize("kills", [in_full(6)])
def test_killed_at_any_moment(place: Place, expected: dict[str, bytes], kills: int) -> None:
    """Nobody in the program can remove anything any more: who waits for its end does."""
    rng = random.Random(4)
    for number in range(kills):
        process = place.begin("-", "-", *(TWO if number % 2 else ("--executor", "serial")))
        until = time.monotonic() + 60
        while place.found() == place.names and time.monotonic() < until:
            time.sleep(0.005)
        time.sleep(rng.random() * 2.5)
        process.kill()
        assert process.wait(60) in (0, -signal.SIGKILL)
        process.communicate()
        if (place.folder / "out").exists():  # it has its name only when it is whole
            assert place.release() == expected
        else:
            assert process.returncode != 0
        until = time.monotonic() + 30
        while place.found() != place.names and time.monotonic() < until:
            time.sleep(0.05)
        place.nothing_left()


@pytest.mark.parametrize(
    ("stage", "executor"), [("cluster", "serial"), ("encode", "processes"), ("judge", "processes")]
)
def test_what_is_put_away_is_private(
    place: Place, stage: str, executor: str, expected: dict[str, bytes]
) -> None:
    ended = place.run("modes", STAGES[stage], "--executor", executor)
    assert ended.code == 0
    (line,) = ended.err.splitlines()
    assert line.endswith("private, open to others: []")
    assert int(line.split()[0]) > 3
    assert place.release() == expected


def test_a_broken_record_in_the_middle(place: Place, expected: dict[str, bytes]) -> None:
    lines = place.input.read_bytes().splitlines(keepends=True)
    at = PEOPLE // 2
    broken = {
        b'{"id": "zq"\n': (5, f"record {at + 1}: "),
        lines[at][:20] + b"\xff" + lines[at][20:]: (5, f"record {at + 1}: "),
        json.dumps({**people()[at], "age": "zqold"}).encode() + b"\n": (5, f"record {at + 1}, $.age: "),
        json.dumps({**people()[at], "zqkey": "zqvalue"}).encode() + b"\n": (2, "not listed in the policy"),
    }
    for wrong, (code, sentence) in broken.items():
        place.input.write_bytes(b"".join([*lines[:at], wrong, *lines[at + 1 :]]))
        ended = place.run("-", "-", *TWO)
        assert (ended.code, ended.out) == (code, "")
        assert sentence in ended.err
        place.nothing_left()
    place.input.write_bytes(b"".join(lines))
    assert place.run("-", "-", *TWO).code == 0
    assert place.release() == expected
