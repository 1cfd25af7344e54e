"""What trees lose by which engine: ``python -m tests.benchmarks.quality`` prints a table.

LM is ``lm_cost``'s total, suppressed records in full, the mean over data sets drawn by several seeds.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from hierdata.engines import ENGINES, Engine
from hierdata.engines.base import StepInput
from hierdata.forest.forest import Scope
from hierdata.metrics import METRICS
from hierdata.policy.load import from_data, load
from tests.benchmarks.collections import DATA_SETS, Encoded, by_lm, encoded, written
from tests.benchmarks.engine import header, row
from tests.publications import publication_of

Model = dict[str, object]

STEPS: dict[str, tuple[Engine, ...]] = {
    "k-member": (ENGINES["k-member"](),),
    "default": (ENGINES["k-member"](), ENGINES["local-search"]()),
}
"""What is compared with a preset, or with plain ``clustree``, by name."""
MODELS: list[tuple[str, str | None, Model]] = [
    *((f"level-alpha-k, k = {k}", "MLevCluTree", {"kind": "level-alpha-k", "k": k}) for k in (2, 3, 4, 5, 6)),
    *((f"frequency, l = {k}", "ClusTree", {"kind": "frequency-l-diversity", "l": k}) for k in (3, 5)),
    ("t = 0.5", None, {"kind": "t-closeness", "t": "0.5"}),
]
"""Name, preset to compare with (None: plain ``clustree``), model."""


def outcome(data: Encoded, steps: tuple[Engine, ...], seed: int) -> tuple[float, float, float]:
    """Total LM, records lost in percent, and milliseconds a record."""
    forest, constraints = data.forest, data.prepared.constraints
    partition, rng = None, np.random.default_rng(seed)
    start = time.perf_counter()
    for step in steps:
        partition = step.find_classes(StepInput(forest, Scope.of(forest), constraints, partition, rng))
    assert partition is not None
    seconds = time.perf_counter() - start
    total = METRICS["lm_cost"]().of(publication_of(forest, partition), forest)[0]
    lost = 100 * float((partition.equivalence_class < 0).mean())
    return float(total.value), lost, 1000 * seconds / forest.record_count


def compared(
    file: Path, preset: str | None, model: Model, seed: int
) -> dict[str, tuple[float, float, float]]:
    policy = load(file.with_suffix(".policy.yaml"))
    stated = policy.model_dump(mode="json", by_alias=True, exclude_unset=True)
    engine = {"preset": preset} if preset else {"steps": [{"kind": "clustree"}]}
    policy = from_data(stated | {"models": [model], "engine": engine}, policy.folder)
    data = by_lm(encoded(file, policy))
    base = policy.steps
    return {
        name: outcome(data, steps, seed) for name, steps in ({preset or "clustree": base} | STEPS).items()
    }


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--records", type=int, default=1000)
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--correlation", type=float, default=0.8, help="of the synthetic data")
    options.add_argument("--data", default="".join(DATA_SETS), help="which data sets, such as A or AB")
    options.add_argument("--models", default="", help="only models whose name has this in it")
    return options


def main(argv: list[str] | None = None) -> None:
    arguments = parser().parse_args(argv)
    header(
        f"Loss of {arguments.records:,} students, correlation {arguments.correlation}",
        *("data", "model", "engine", "LM", "compared", "records lost %", "ms a record"),
    )
    with tempfile.TemporaryDirectory() as temporary:
        for name in arguments.data:
            files = []
            for seed in range(1, arguments.seeds + 1):
                folder = Path(temporary) / f"{name}-{seed}"
                folder.mkdir()
                files.append(
                    written(folder, name, arguments.records, seed=seed, correlation=arguments.correlation)
                )
            for label, preset, model in MODELS:
                if arguments.models in label:
                    show(name, label, [compared(file, preset, model, at) for at, file in enumerate(files)])


def show(data: str, label: str, runs: list[dict[str, tuple[float, float, float]]]) -> None:
    means = {
        engine: [statistics.mean(column) for column in zip(*(run[engine] for run in runs), strict=True)]
        for engine in runs[0]
    }
    base = next(iter(means.values()))[0]
    for engine, (loss, lost, milliseconds) in means.items():
        change = f"{100 * (loss / base - 1):+.1f} %"
        row(data, label, engine, f"{loss:,.0f}", change, f"{lost:.1f}", f"{milliseconds:.2f}")


if __name__ == "__main__":
    main()
