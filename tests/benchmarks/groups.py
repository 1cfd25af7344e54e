"""What one group id costs: ``python -m tests.benchmarks.groups`` prints two tables.

Classes by quasi-identifiers alone, classes under the same models by engines that look at both, and the groups
of msb merged by kaca, on the task of ``tests.benchmarks.tables``: Adult without missing values, eight
quasi-identifiers, occupation sensitive. Then whole runs of the two presets, with groups for each sensitive
table and with shared groups. Without the data beside the project a synthetic table stands in.
"""

from __future__ import annotations

import argparse
import time
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import hierdata
from hierdata.engines import ENGINES
from hierdata.engines.base import StepInput
from hierdata.engines.rows.table import class_sizes, losses_of
from hierdata.forest.forest import Scope
from hierdata.forest.partition import SUPPRESSED
from hierdata.policy.plan.stages import Stage
from tests.benchmarks.adult import SENSITIVE, WITHOUT_MISSING, Table, encoded, policy, table, write
from tests.benchmarks.engine import header, row

K: dict[str, Any] = {"kind": "k-anonymity", "k": 5}
L: dict[str, Any] = {"kind": "frequency-l-diversity", "l": 3}
RUNS = [
    (["kaca"], [K]),
    (["mondrian"], [K]),
    (["kaca"], [K, L]),
    (["mondrian"], [K, L]),
    (["msb", "kaca"], [K, L]),
]


PRESETS = ("MSB-KACA", "MSB-KACA with shared groups")
SENSITIVE_FIELDS = {(SENSITIVE,): 3, (SENSITIVE, "education", "marital-status"): 2}
"""Which columns are sensitive, and the l that is asked for."""


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, help="only the first rows")
    return options


def main(argv: list[str] | None = None) -> None:
    own = table(WITHOUT_MISSING, parser().parse_args(argv).rows)
    header(
        f"Groups of l = 3 merged to classes of k = 5 ({SENSITIVE} sensitive)",
        *("steps", "models", "s", "NCP", "suppressed", "classes", "largest"),
    )
    for names, models in RUNS:
        steps = tuple(ENGINES[name](kind=name) for name in names)
        data = encoded(own, policy(SENSITIVE, models, "kaca"))
        forest, scope = data.forest, Scope.of(data.forest)
        start, partition = time.perf_counter(), None
        for step, constraints in Stage(0, steps, data.prepared.constraints).work():
            partition = step.find_classes(
                StepInput(forest, scope, constraints, partition, np.random.default_rng(1))
            )
        seconds = time.perf_counter() - start
        assert partition is not None
        classes = partition.equivalence_class
        gone = int((classes == SUPPRESSED).sum())
        width = len(forest.hierarchies[0])
        lost = losses_of(forest, scope, classes).sum() / forest.scale + gone * width
        row(
            ", ".join(names),
            ", ".join(model["kind"] for model in models),
            f"{seconds:.1f}",
            f"{lost / (len(classes) * width):.4f}",
            gone,
            partition.class_count,
            int(class_sizes(classes).max()),
        )
    show_presets(own)


def show_presets(own: Table) -> None:
    """Whole runs: NCP of what is published, k with ids, and the worst guess with one other value known."""
    header(
        "Groups for each sensitive table, and shared groups (k = 5)",
        *("preset", "sensitive", "l", "CPU s", "NCP", "suppressed", "classes", "k with ids", "worst guess"),
    )
    with TemporaryDirectory() as folder:
        file = write(own, Path(folder) / "adult.csv")
        for (names, diversity), preset in product(SENSITIVE_FIELDS.items(), PRESETS):
            start = time.process_time()
            try:
                told = hierdata.anonymize(file, task(names, diversity, preset), seed=bytes(16)).report
            except hierdata.PromiseError:  # a few rows may have no class
                row(preset, ", ".join(names), diversity, *("",) * 6)
                continue
            seconds = time.process_time() - start
            ids = told.group_ids
            guesses = [] if ids is None else [float(guess.fraction) for guess in ids.worst_guess.values()]
            row(
                preset,
                ", ".join(names),
                diversity,
                f"{seconds:.1f}",
                f"{told.metrics['lm_cost'].figures['per_value']:.4f}",
                told.counts.records.suppressed,
                told.counts.classes,
                "" if ids is None else ids.k,
                f"{max(guesses):.3f}" if guesses else "",
            )


def task(names: tuple[str, ...], diversity: int, preset: str) -> dict[str, Any]:
    """A policy with these sensitive columns; the other quasi-identifiers of Adult stay."""
    base = policy(SENSITIVE, [K], None)
    fields = {path: rule.model_dump(exclude_unset=True) for path, rule in base.fields.items()}
    fields |= {f"$['{name}']": {"role": "sensitive"} for name in names}
    accept = {} if "shared" in preset else {"group-ids": "a benchmark"}
    models = [K, {**L, "l": diversity}]
    stated = {"version": 1, "unlisted": "drop", "models": models, "fields": fields, "accept": accept}
    apart = [[f"$['{name}']"] for name in names]
    stated |= {"engine": {"preset": preset}, "sensitive_tables": apart}
    return stated | {"csv": {"delimiter": ";"}}


if __name__ == "__main__":
    main()
