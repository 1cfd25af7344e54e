"""Time of the default search under t-closeness on trees: ``python -m tests.benchmarks.closeness_trees``.

CPU milliseconds a record of each engine, and the part that is kept, means over data sets of several seeds.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hierdata.engines.base import StepInput
from hierdata.forest.forest import Scope
from hierdata.metrics import METRICS
from tests.benchmarks.collections import DATA_SETS, encoded, policy_for, written
from tests.benchmarks.engine import header, row
from tests.publications import publication_of

Model = dict[str, object]

MODELS: dict[str, Model] = {
    "t = 0.3 (equal) on grade": {"t": "0.3", "distance": "equal", "on": ["$.courses[*].grade"]},
    "t = 0.5 (equal) on all": {"t": "1/2", "distance": "equal"},
}
WARMING = 30
"""Records of a first search that is not measured, since it compiles."""


def measured(name: str, records: int, seed: int, model: Model) -> tuple[float, float, float]:
    """Return CPU milliseconds a record of ``k-member`` and of ``local-search``, and the part that is kept."""
    with tempfile.TemporaryDirectory() as folder:
        file = written(Path(folder), name, records, seed=seed)
        models: list[Model] = [{"kind": "k-anonymity", "k": 2}, {"kind": "t-closeness", **model}]
        data = encoded(file, policy_for(file, models=models, preset=""))
    partition, rng = None, np.random.default_rng(1)
    taken = []
    for engine, constraints in data.prepared.stages[0].work():
        start = time.process_time()
        partition = engine.find_classes(
            StepInput(data.forest, Scope.of(data.forest), constraints, partition, rng)
        )
        taken.append(1000 * (time.process_time() - start) / records)
    assert partition is not None
    figures = METRICS["kept"]().of(publication_of(data.forest, partition), data.forest)
    (kept,) = (float(one.value) for one in figures if one.name == "total")
    return taken[0], taken[1], 100 * kept


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    options = parser().parse_args(argv)
    for name in DATA_SETS:
        measured(name, min(WARMING, options.records), 1, MODELS["t = 0.5 (equal) on all"])
    header("t-closeness on trees", "model", "data", "k-member, CPU ms a record", "local-search", "kept, %")
    for label, model in MODELS.items():
        for name in DATA_SETS:
            runs = [measured(name, options.records, 1 + seed, model) for seed in range(options.seeds)]
            means = [statistics.fmean(own) for own in zip(*runs, strict=True)]
            row(label, name, *(f"{mean:.1f}" for mean in means))


def parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    made = argparse.ArgumentParser(prog="tests.benchmarks.closeness_trees", description=__doc__)
    made.add_argument("--records", type=int, default=300)
    made.add_argument("--seeds", type=int, default=3)
    return made


if __name__ == "__main__":
    main()
