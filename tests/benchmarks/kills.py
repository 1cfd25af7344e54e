"""What killed runs leave: ``python -m tests.benchmarks.kills [--kills N] [--only NAME ...]``.

Each engine and each format publishes small trees or tables, as a process of its own, and is killed at random
moments from its first folder to its end. Counted are the hidden
entries beside the target and all entries in the folder of temporary files: as soon as the process has ended,
some seconds later, and after a whole run with the same folders. A target that is there must be whole.
After INT and TERM, exit codes are counted that are not as documented: those of a signal, or 0 with a target.

``all`` kills every process of the session at once, as the end of a container does; nobody is left who could
remove anything before the next run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.engine import header, row
from tests.benchmarks.same_bytes.factors import DEFAULT, ROW_ENGINES, TREE_ENGINES, Combination
from tests.benchmarks.same_bytes.inputs import TABULAR, WRITERS, source_of, write_inputs
from tests.benchmarks.same_bytes.policies import policy

HEADS = (
    *("case", "killed by", "kills", "while a folder was there"),
    *("left at once", "left later", "other exit codes", "left after a whole run"),
)
WAYS = ("INT", "TERM", "KILL", "group", "all")
PATIENCE = 12.0  # seconds until what is left is counted
_SEED = 1
SPECIALIZE = "engine specialize"
"""The case of bounded knowledge, which is searched by this engine alone."""
_KNOWLEDGE = {"kind": "bounded-knowledge", "k": 3, "m": 2}


def cases() -> dict[str, Combination]:
    """Every engine on JSON Lines, every format with the engine that a policy has by default, and workers."""
    usual = Combination("tree", DEFAULT, "generalization", "jsonl", "serial", "k-anonymity", "plain")
    found = {f"engine {name}": usual._replace(search=name) for name in TREE_ENGINES}
    found[SPECIALIZE] = usual
    for name in ROW_ENGINES:
        model = "delta-l-diversity" if name == "spread" else "k-anonymity"
        found[f"engine {name}"] = usual._replace(shape="flat", search=name, model=model)
    for name in WRITERS:
        shape = "flat" if name in TABULAR else "tree"
        found[f"format {name}"] = usual._replace(shape=shape, format=name)
    found["tables csv"] = usual._replace(format="csv")
    found["workers"] = usual._replace(executor="processes", option="blocks")
    return found


@dataclass
class Counts:
    """What was counted over the kills of one case."""

    kills: int = 0
    begun: int = 0
    at_once: int = 0
    later: int = 0
    odd: int = 0


class Desk:
    """A case with its folders: beside the target, and for temporary files."""

    def __init__(self, folder: Path, command: list[str]) -> None:
        self.beside, self.temporary = folder / "beside", folder / "temporary"
        for place in (self.beside, self.temporary):
            place.mkdir(parents=True)
        self.command = command
        self.rng = random.Random(_SEED)
        self.working = 0.0
        """Seconds from the first folder to the end of a whole run."""
        self._number = 0

    def left(self) -> set[Path]:
        """What a finished run does not leave."""
        hidden = {path for path in self.beside.iterdir() if path.name.startswith(".")}
        return hidden | {*self.temporary.iterdir()}

    def start(self) -> tuple[subprocess.Popen[bytes], Path]:
        """Start a run, and return when its first folder is there."""
        before = self.left()
        self._number += 1
        out = self.beside / f"out-{self._number}"
        environment = {**os.environ, "TMPDIR": str(self.temporary)}
        process = subprocess.Popen(
            [*self.command, "--out", str(out)],
            env=environment,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        while process.poll() is None and self.left() <= before:
            time.sleep(0.002)
        return process, out

    def measure(self) -> None:
        """Make a whole run."""
        process, out = self.start()
        begun = time.perf_counter()
        _, errors = process.communicate()
        self.working = time.perf_counter() - begun
        if process.returncode:
            raise SystemExit(f"refused: {errors.decode()}")
        check_whole(out)

    def kill(self, way: str, counts: Counts) -> None:
        """Kill a run at a random moment, and count what it leaves; nothing is counted if it has ended."""
        before = self.left()
        process, out = self.start()
        time.sleep(self.rng.uniform(0, self.working))
        begun = not self.left() <= before
        if process.poll() is None:
            counts.kills += 1
            counts.begun += begun
            strike(process, way)
            process.communicate()
            if way in ("INT", "TERM"):
                expected = 0 if out.exists() else 128 + getattr(signal, f"SIG{way}")
                counts.odd += process.returncode != expected
            counts.at_once += not self.left() <= before
            until = time.monotonic() + (PATIENCE if way != "all" else 0)
            while not self.left() <= before and time.monotonic() < until:
                time.sleep(0.05)
            counts.later += not self.left() <= before
        else:
            process.communicate()
        if out.exists():
            check_whole(out)


def strike(process: subprocess.Popen[bytes], way: str) -> None:
    """Kill the process by a signal, its group, or all processes of its session."""
    if way in ("INT", "TERM", "KILL"):
        process.send_signal(getattr(signal, f"SIG{way}"))
    elif way == "group":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        for number in session(process.pid):
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)


def session(leader: int) -> Iterator[int]:
    """Yield the processes of a session (Linux only); those that remove folders come first."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            own = stat.read_text("utf-8", "replace").rpartition(")")[2].split()
            if int(own[3]) == leader:
                found.append(int(stat.parent.name))
    yield from sorted(found, reverse=True)


def check_whole(out: Path) -> None:
    """Raise SystemExit unless the release has all its files."""
    stated = json.loads((out / "public" / "release.json").read_bytes())
    names = {file["name"] for file in stated["files"]}
    there = {path.relative_to(out / "public").as_posix() for path in (out / "public").rglob("*")}
    if not names <= there or not (out / "steward" / "report.html").is_file():
        raise SystemExit(f"refused: {out} is not whole")


def prepare(name: str, one: Combination, inputs: Path, folder: Path) -> Desk:
    """Write the policy of a case, and make two whole runs: the first compiles what is not compiled yet."""
    named = name.replace(" ", "-")
    stated = inputs / "policies" / f"{named}.json"
    asked = json.loads(policy(one))
    if name == SPECIALIZE:
        asked["models"] = [_KNOWLEDGE]
    stated.write_text(json.dumps(asked), "utf-8")
    command = [sys.executable, "-m", "hierdata", "anonymize", str(inputs / source_of(one.shape, one.format))]
    command += ["--policy", str(stated), "--root", str(inputs), "--quiet", "--executor", one.executor]
    if one.executor != "serial":
        command += ["--workers", "2"]
    desk = Desk(folder / named, command)
    desk.measure()
    desk.measure()
    return desk


def run(desk: Desk, way: str, kills: int) -> tuple[int, ...]:
    """Kill so many runs, and count what they leave, and what is still there after a whole run."""
    counts = Counts()
    for _ in range(3 * kills):
        if counts.kills < kills:
            desk.kill(way, counts)
    desk.measure()
    return *vars(counts).values(), len(desk.left())


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--kills", type=int, default=20, help="kills of each case and way")
    options.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS[:3])
    options.add_argument("--only", nargs="+", help="names of cases, such as 'engine mbf'")
    return options


def main(argv: list[str] | None = None) -> None:
    """Print a table."""
    stated = parser().parse_args(argv)
    chosen: Mapping[str, Combination] = cases()
    header("Killed runs", *HEADS)
    with tempfile.TemporaryDirectory(prefix="kills-") as temporary:
        inputs = Path(temporary) / "inputs"
        inputs.mkdir()
        write_inputs(inputs)
        for name in stated.only or chosen:
            desk = prepare(name, chosen[name], inputs, Path(temporary) / "runs")
            for way in stated.ways:
                row(name, way, *run(desk, way, stated.kills))
                sys.stdout.flush()


if __name__ == "__main__":
    main()
