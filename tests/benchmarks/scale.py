"""Whole commands on collections of any size: ``python -m tests.benchmarks.scale --records N --executor E``.

Each is ``hierdata anonymize`` as a process of its own, from JSON Lines to a verified release, with the files
it writes. Memory is what all its processes hold together (proportional set size), looked at five times a
second. ``--m M`` releases under ``bounded-knowledge`` with k = 5, weights 1 and without the clause of whole
vertices instead of the models of the data set.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.collections import DATA_SETS, policy_for, written
from tests.benchmarks.engine import header, row
from tests.benchmarks.knowledge import knowing

_LOOK = 0.2


@dataclass(frozen=True)
class Measured:
    """What a command took, and what came of it."""

    seconds: float
    cpu: float
    peak: int
    report: dict[str, object]


def family(process: int) -> Iterator[int]:
    """A process and all below it."""
    yield process
    with suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from family(int(child))


def held(process: int) -> int:
    """Bytes that a process and all below it hold, what they share counted once."""
    total = 0
    for one in family(process):
        with suppress(OSError):
            for line in Path(f"/proc/{one}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += 1024 * int(line.split()[1])
    return total


def taken(command: list[str]) -> tuple[float, int]:
    """Run a command to its end: seconds, and most bytes held. Raises CalledProcessError where it fails."""
    start = time.perf_counter()
    process = subprocess.Popen(command)
    peak = 0
    while process.poll() is None:
        peak = max(peak, held(process.pid))
        time.sleep(_LOOK)
    seconds = time.perf_counter() - start
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return seconds, peak


def measured(command: list[str], out: Path) -> Measured:
    """Run a command that writes a release; see ``taken``."""
    before = cpu_of_children()
    seconds, peak = taken(command)
    report = json.loads((out / "steward" / "report.json").read_text())
    return Measured(seconds, cpu_of_children() - before, peak, report)


def cpu_of_children() -> float:
    """CPU seconds of all processes that have ended below this one."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def figure(report: dict[str, object], *keys: str) -> float:
    found: object = report
    for key in keys:
        assert isinstance(found, dict)
        found = found[key]
    assert isinstance(found, int | float)
    return float(found)


def policy_beside(file: Path, m: int | None) -> Path:
    """The policy beside a collection, or one with bounded knowledge, which is written there."""
    if m is None:
        return file.with_suffix(".policy.yaml")
    found = file.with_name(f"m{m}.policy.json")
    stated = policy_for(file, preset="").model_dump(mode="json", by_alias=True, exclude_unset=True)
    policy = knowing(stated, file.parent, "unit", m=m, vertex="off")
    found.write_text(policy.model_dump_json(by_alias=True, exclude_unset=True), encoding="utf-8")
    return found


def parser() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--records", type=int, nargs="+", default=[10_000, 100_000])
    arguments.add_argument("--data", nargs="+", choices=DATA_SETS, default=list(DATA_SETS))
    arguments.add_argument("--m", type=int, choices=[1, 2, 3], help="bounded knowledge of m facts")
    arguments.add_argument("--executor", default="processes")
    arguments.add_argument("--folder", type=Path, help="where collections are kept, and found again")
    arguments.add_argument("options", nargs="*", help="more options of the command, behind --")
    return arguments


def main(argv: list[str] | None = None) -> None:
    arguments = parser().parse_args(argv)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as temporary:
        for name in arguments.data:
            header(
                f"Data set {name}, executor {arguments.executor} {' '.join(arguments.options)}",
                *(
                    "records",
                    "seconds",
                    "CPU s",
                    "us a record",
                    "exponent",
                    "peak MiB",
                    "LM per value",
                    "suppressed",
                ),
            )
            before: tuple[int, float] | None = None
            for records in arguments.records:
                folder = (arguments.folder or Path(temporary)) / f"{name}-{records}"
                folder.mkdir(exist_ok=True)
                file = folder / f"{name}.jsonl"
                if not file.exists():
                    written(folder, name, records)
                out = Path(temporary) / f"{name}-{records}-release"
                command = [sys.executable, "-m", "hierdata", "anonymize", str(file), "--quiet"]
                command += ["--policy", str(policy_beside(file, arguments.m)), "--out", str(out)]
                found = measured([*command, "--executor", arguments.executor, *arguments.options], out)
                exponent = "-"
                if before is not None:
                    exponent = f"{math.log(found.seconds / before[1]) / math.log(records / before[0]):.2f}"
                before = records, found.seconds
                row(
                    f"{records:,}",
                    f"{found.seconds:.1f}",
                    f"{found.cpu:.1f}",
                    f"{1e6 * found.seconds / records:.0f}",
                    exponent,
                    f"{found.peak / 2**20:,.0f}",
                    f"{figure(found.report, 'metrics', 'lm_cost', 'per_value'):.4f}",
                    f"{figure(found.report, 'counts', 'records', 'suppressed'):,.0f}",
                )


if __name__ == "__main__":
    main()
