"""What the promise to a person costs: ``python -m tests.benchmarks.promise [NAME ...]`` prints a table.

Each collection is released three times under each set of models: with the readings that were the only ones
before (``asks: value``, ``suppressed: as_published``), with the suppressed guarded beside, and with every
default. The models are those of the collection's policy, and frequency-l-diversity alone. No engine is named.
Seconds are CPU seconds of this process for a whole release, the least of several runs, since the first one
compiles.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hierdata
from hierdata.ground.errors import HierdataError
from hierdata.policy.load import from_data, read_file
from hierdata.policy.policy import Policy
from hierdata.release.report.models import StewardReport
from tests.benchmarks.collections import DATA_SETS, written
from tests.benchmarks.engine import header, row
from tests.benchmarks.real_collections import COLLECTIONS

FIXTURES = Path(__file__).parents[2] / "fixtures"
REAL = ("oulad", "diabetes130", "census_households")
NAMES = ("students", *DATA_SETS, *REAL)
RECORDS = 5000
OTHER: list[dict[str, Any]] = [
    {"kind": "k-anonymity", "k": 5},
    {"kind": "frequency-l-diversity", "l": 2},
]
CELLS = (
    *("collection", "records", "models", "readings", "LM per value", "records lost", "vertices lost"),
    *("at roots", "given up", "CPU s", "ratio"),
)


def source_of(name: str, folder: Path, records: int) -> tuple[Path, dict[str, Any], Path]:
    """The input, its policy as plain data without an engine, and the folder of the policy's files."""
    if name in DATA_SETS:
        file = written(folder, name, records)
        stated, root = read_file(file.with_suffix(".policy.yaml")).data, folder
    elif name == "students":
        file = folder / "students.jsonl"
        lines = (FIXTURES / "students" / "students.jsonl").read_text("utf-8").splitlines(keepends=True)
        file.write_text("".join(lines[:records]), "utf-8")
        stated, root = (
            read_file(FIXTURES / "policies" / "students-multilevel.yaml").data,
            FIXTURES / "policies",
        )
    else:
        own = COLLECTIONS[name]
        file, stated, root = own.input(folder, records), own.policy(), folder
    return file, {key: value for key, value in stated.items() if key != "engine"}, root


def readings(stated: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The policy under each reading, the one of before first."""
    by_value = {
        path: {**rule, "asks": "value"}
        if rule.get("role") == "sensitive" and rule.get("action") != "drop"
        else rule
        for path, rule in stated["fields"].items()
    }
    yield "value, as published", {**stated, "fields": by_value, "suppressed": "as_published"}
    yield "value, guarded", {**stated, "fields": by_value, "suppressed": "guarded"}
    yield "defaults", stated


def released(file: Path, policy: Policy, times: int) -> tuple[StewardReport, float]:
    """The report of a release and its least CPU seconds. Raises HierdataError."""
    least = float("inf")
    for _ in range(times):
        start = time.process_time()
        release = hierdata.anonymize(file, policy, seed=bytes(16), resources=hierdata.Resources("serial"))
        least = min(least, time.process_time() - start)
    return release.report, least


def show(name: str, folder: Path, records: int, times: int) -> None:
    """A line for each set of models and each reading; seconds are compared with the first reading's."""
    file, stated, root = source_of(name, folder, records)
    for models, policy in (("its own", stated), ("frequency-l 2", {**stated, "models": OTHER})):
        first: float | None = None
        for reading, asked in readings(policy):
            try:
                report, seconds = released(file, from_data(asked, root), times)
            except HierdataError as error:
                row(name, records, models, reading, f"refused: {error}", *("" for _ in CELLS[5:]))
                continue
            first = first or seconds
            counts, costs = report.counts, report.costs
            vertices = list(counts.vertices.values())
            there, gone = (
                sum(int(getattr(one, what)) for one in vertices) for what in ("input", "suppressed")
            )
            kept = (costs[key].count if key in costs else 0 for key in AT)
            row(
                *(name, f"{counts.records.input:,}", models, reading),
                f"{report.metrics['lm_cost'].per_value:.4f}",
                *(f"{counts.records.suppressed:,}", f"{gone / there:.4f}", *kept),
                *(f"{seconds:.2f}", f"{seconds / first:.2f}"),
            )
            sys.stdout.flush()


AT = ("records_published_at_roots", "records_of_classes_given_up")
"""The costs of guarding the suppressed."""


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all if none")
    options.add_argument("--records", type=int, default=RECORDS, help="the first of each")
    options.add_argument("--times", type=int, default=2, help="runs, of which the fastest counts")
    return options


def main(argv: list[str] | None = None) -> None:
    asked = parser().parse_args(argv)
    if unknown := sorted(set(asked.names) - set(NAMES)):
        parser().error(f"no such collection: {', '.join(unknown)}")
    header("What the promise to a person costs", *CELLS)
    for name in asked.names or NAMES:
        if name in REAL and not COLLECTIONS[name].is_there():
            sys.stdout.write(f"{name} is skipped: it does not lie beside the repository.\n")
            continue
        with tempfile.TemporaryDirectory() as folder:
            show(name, Path(folder), asked.records, asked.times)


if __name__ == "__main__":
    main()
