"""Real collections end to end: ``python -m tests.benchmarks.real [NAME ...]`` prints a table.

Each collection that lies beside the repository is released under its own policy: by the published algorithm
that goes with its models, and without a named engine, with and without effort. Where all records are so many
that they are cut into blocks, these runs are on the first of them and then on the whole. A release is
everything: read twice, search, write, read again and judge, report. Seconds are CPU seconds of this process;
a first run would compile as well, so small releases come before all others.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hierdata
from hierdata.ground.errors import HierdataError
from hierdata.release.report.models import StewardReport
from tests.benchmarks.engine import header, row
from tests.benchmarks.real_collections import COLLECTIONS, Collection

WARMING = 200
"""Records of the releases that only compile."""
CELLS = (
    *("collection", "records", "vertices", "searched by", "LM per value", "ratio"),
    *("records lost", "vertices lost", "classes", "largest", "CPU s"),
)


@dataclass(frozen=True)
class Run:
    """Who searches: the name in the table, and what the policy states for it."""

    name: str
    stated: dict[str, Any]


def runs(own: Collection) -> Iterator[Run]:
    """The ways that are compared, the published one first."""
    yield Run(f"preset {own.preset}", {"engine": {"preset": own.preset}})
    yield Run("effort 0", {"effort": 0})
    yield Run("default", {})


def released(own: Collection, source: Path, run: Run, seed: int) -> tuple[StewardReport, float]:
    """The report of a release, and its CPU seconds. Raises HierdataError."""
    start = time.process_time()
    release = hierdata.anonymize(
        source,
        own.policy(**run.stated),
        seed=seed.to_bytes(16, "big"),
        resources=hierdata.Resources("serial"),
    )
    return release.report, time.process_time() - start


def show(own: Collection, source: Path, chosen: list[Run], seed: int) -> None:
    """A line for each run over one source; loss is compared with that of the first, if it is a preset."""
    published: float | None = None
    for run in chosen:
        try:
            report, seconds = released(own, source, run, seed)
        except HierdataError as error:
            row(own.name, "", "", run.name, f"refused: {error}", *("" for _ in CELLS[5:]))
            continue
        counts, loss = report.counts, report.metrics["lm_cost"].per_value
        if "engine" in run.stated:
            published = loss
        vertices = list(counts.vertices.values())
        there, gone = (sum(int(getattr(one, name)) for one in vertices) for name in ("input", "suppressed"))
        row(
            *(own.name, f"{counts.records.input:,}", f"{there:,}", run.name, f"{loss:.4f}"),
            "" if published is None else f"{loss / published:.3f}",
            *(f"{counts.records.suppressed:,}", f"{gone / there:.3f}"),
            *(f"{counts.classes:,}", counts.largest_class, f"{seconds:.1f}"),
        )
        sys.stdout.flush()


def measure(own: Collection, seed: int, records: int | None) -> None:
    """All lines of a collection; with a number of records only those, without a first run that compiles."""
    with tempfile.TemporaryDirectory() as temporary:
        folders = [Path(temporary) / name for name in ("warming", "part", "whole")]
        for folder in folders:
            folder.mkdir()
        chosen = list(runs(own))
        if records is None:
            warming = own.input(folders[0], WARMING)
            for run in chosen:
                released(own, warming, run, seed)
        show(own, own.input(folders[1], records or own.part), chosen, seed)
        if records is None and own.part is not None:
            show(own, own.input(folders[2]), chosen, seed)


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(COLLECTIONS)}; all if none")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--records", type=int, help="only the first of each, timed with what compiles")
    return options


def main(argv: list[str] | None = None) -> None:
    asked = parser().parse_args(argv)
    unknown = sorted(set(asked.names) - set(COLLECTIONS))
    if unknown:
        parser().error(f"no such collection: {', '.join(unknown)}")
    there = []
    for name in asked.names or COLLECTIONS:
        own = COLLECTIONS[name]
        if own.is_there():
            there.append(own)
        else:
            sys.stdout.write(f"{name} is skipped: it does not lie beside the repository.\n")
    if not there:
        return
    header("Real collections: the first records of each, then all", *CELLS)
    for own in there:
        measure(own, asked.seed, asked.records)


if __name__ == "__main__":
    main()
