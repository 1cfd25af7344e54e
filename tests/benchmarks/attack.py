"""What an attack takes: ``python -m tests.benchmarks.attack`` prints a table.

A release of synthetic students (data set A) is attacked with victims drawn from all of them: by classes of
whole trees (``effort: 0``), and under bounded knowledge of two facts, where hardly two records look alike.
Workers read; one process prepares the index of the release, attacks release and original, and measures the
risks (singling out, linkability, downcoding); then the whole command runs with its workers. Seconds are CPU
seconds; those of the command are also by the clock. MB is the peak of the largest process.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import hierdata
from hierdata.measurement.adversary.attack import Adversary, Findings, draw_victims
from hierdata.measurement.adversary.forms import Forms
from hierdata.measurement.adversary.knowledge import Curiosity
from hierdata.pipeline.read_release import read_release
from hierdata.pipeline.risks import measure_read
from hierdata.policy.checks.sensitive import class_size
from tests.benchmarks.collections import policy_for, written
from tests.benchmarks.commands import watched
from tests.benchmarks.engine import header, row
from tests.benchmarks.knowledge import knowing

Found = TypeVar("Found")
WAYS = ("classes", "bounded knowledge")
CELLS = (
    *("published by", "records", "forms", "victims", "facts"),
    *("reading", "drawing", "index", "release", "index of original", "original", "risks"),
    *("command CPU s", "command s", "MB"),
)


def policy_of(file: Path, way: str) -> Path:
    """Write the policy of a way beside a collection."""
    policy = policy_for(file, preset="")
    stated = policy.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if way == WAYS[0]:
        stated["effort"] = 0
    else:
        policy = knowing(stated, policy.folder, "unit", m=2, vertex="off")
        stated = policy.model_dump(mode="json", by_alias=True, exclude_unset=True)
    found = file.with_name(f"{way.split()[0]}.json")
    found.write_text(json.dumps(stated), encoding="utf-8")
    return found


def published(file: Path, policy: Path, workers: int) -> Path:
    """The release of a collection; one that lies there is taken."""
    out = policy.with_suffix("")
    if not out.exists():
        resources = hierdata.Resources(workers=workers)
        hierdata.anonymize(file, policy, out=out, seed=bytes(16), resources=resources)
    return out


def timed(do: Callable[[], Found]) -> tuple[Found, str]:
    """What a function returns, and the CPU seconds it took, with those of its workers."""
    start = sum(os.times()[:4])
    found = do()
    return found, f"{sum(os.times()[:4]) - start:.1f}"


def measure(file: Path, way: str, victims: int, facts: int, workers: int) -> None:
    """A line of the table."""
    policy = policy_of(file, way)
    out = published(file, policy, workers)
    warm_up(file, policy, out, facts)
    read, reading = timed(lambda: read_release(out, policy, original=file))
    known, drawing = timed(lambda: draw_victims(read.original, victims, Curiosity(facts), 1))
    cells: list[str] = []
    findings: list[Findings] = []
    shown = [
        Forms.of(read.rebuilt.forest, read.rebuilt.publication, read.rebuilt.form),
        Forms.of_original(read.original),
    ]
    for forms in shown:
        adversary, preparing = timed(lambda forms=forms: Adversary(read.original, forms))  # type: ignore[misc]
        found, attacking = timed(lambda adversary=adversary: adversary.attack(known, facts))  # type: ignore[misc]
        findings.append(found)
        cells += [preparing, attacking]
    attacked = findings[0].summarize(class_size(read.prepared.policy))
    cells.append(timed(lambda: measure_read(read, attacked, None, (facts, victims, 1)))[1])
    command = [sys.executable, "-m", "hierdata", "attack", str(out), "--original", str(file), "--quiet"]
    command += ["--policy", str(policy), "--victims", str(victims), "--facts", str(facts)]
    seconds, cpu, megabytes = watched(command)
    row(
        *(way, f"{read.original.record_count:,}", f"{len(shown[0].first):,}", f"{len(known):,}", facts),
        *(reading, drawing, *cells, f"{cpu:.1f}", f"{seconds:.1f}", f"{megabytes:,.0f}"),
    )
    sys.stdout.flush()


def warm_up(file: Path, policy: Path, out: Path, facts: int) -> None:
    """Compile what an attack needs."""
    hierdata.attack(out, policy, original=file, victims=1, facts=facts)


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--records", type=int, default=100_000)
    options.add_argument("--victims", type=int, default=10_000)
    options.add_argument("--facts", type=int, default=5)
    options.add_argument("--workers", type=int, default=2, help="for publishing")
    options.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    options.add_argument(
        "--folder", type=Path, help="where collections and releases are kept, and found again"
    )
    return options


def main(argv: list[str] | None = None) -> None:
    asked = parser().parse_args(argv)
    header("Attacks, CPU s", *CELLS)
    with tempfile.TemporaryDirectory() as temporary:
        folder = (asked.folder or Path(temporary)) / f"A-{asked.records}"
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "A.jsonl"
        if not file.exists():
            written(folder, "A", asked.records)
        for way in asked.ways:
            measure(file, way, asked.victims, asked.facts, asked.workers)


if __name__ == "__main__":
    main()
