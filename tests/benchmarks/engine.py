"""Measure the engine against its twin: ``python -m tests.benchmarks.engine`` prints tables.

Ratios within one run are what counts; seconds are those of one machine on one day.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from hierdata.engines.alignment.alignment import Alignment
from hierdata.engines.base import StepInput
from hierdata.forest.forest import Scope
from hierdata.metrics import METRICS
from hierdata.policy.policy import Policy
from tests import naive
from tests.benchmarks.collections import DATA_SETS, Encoded, encoded, policy_for, written
from tests.publications import publication_of
from tests.twin import caps_of, schema_of, trees_of

IMPORTS = "import numpy, numba, scipy, lxml.etree, pydantic, typer, rich"
TARGETS = {"A": 300, "B": 250}
"""How many times as many pair losses per second as the twin are asked for."""
SCANS = {1_000: (1.0, 500), 20_000: (0.1, 1500)}
"""By number of students: the share of all pair losses that may be evaluated, and how many times faster than
the twin a whole clustering has to be."""


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def row(*cells: object) -> None:
    sys.stdout.write("| " + " | ".join(str(cell) for cell in cells) + " |\n")


def header(title: str, *cells: str) -> None:
    sys.stdout.write(f"\n{title}\n\n")
    row(*cells)
    row(*("---" for _ in cells))


def pair_rates(data: Encoded, pairs: int) -> tuple[float, float]:
    """Pair losses per second of the engine and of the twin, on the same random pairs; they must be equal."""
    forest, constraints = data.forest, data.prepared.constraints
    size = constraints.min_class_size
    rng = np.random.default_rng(7)
    seeds = rng.choice(forest.record_count, 10, replace=False)
    others = rng.choice(forest.record_count, pairs, replace=False)
    trees = trees_of(forest)
    rules = naive.Rules(schema_of(forest, forest.scale), size, caps_of(constraints))

    def by_twin() -> list[int]:
        return [int(naive.pair_loss(trees[a], trees[b], rules)) for a in seeds for b in others]

    alignment = Alignment(forest, constraints, size, "greedy")
    everybody = np.arange(forest.record_count)

    def by_engine() -> list[list[int]]:
        return [alignment.pair_losses(seed, everybody).tolist() for seed in seeds]

    first = by_engine()  # compiles, where the cache is empty
    assert [first[i][b] for i in range(len(seeds)) for b in others] == by_twin()  # fills the twin's memos too
    engine = statistics.median(timed(by_engine) for _ in range(9))
    twin = statistics.median(timed(by_twin) for _ in range(3))
    return len(seeds) * forest.record_count / engine, len(seeds) * pairs / twin


def show_pair_rates(folder: Path, names: Sequence[str], students: int, pairs: int) -> None:
    header(
        "Pair losses per second (k = 5, level-alpha-k, greedy)", "data", "engine", "twin", "ratio", "asked"
    )
    for name in names:
        file = written(folder, name, students)
        engine, twin = pair_rates(encoded(file, policy_for(file, preset="MLevCluTree")), pairs)
        row(name, f"{engine:,.0f}", f"{twin:,.0f}", f"{engine / twin:.0f}", f">= {TARGETS[name]}")


def pairs_of_twin(records: int, size: int, window: int, without_room: int) -> int:
    """Pair losses of a clustering that looks at everybody: a scan for each seed, and its window at each step.

    A seed without room is given up at the first step; the few classes that end later are counted as such.
    """
    scans = [remaining - 1 for remaining in range(records, size - 1, -size)]
    steps = [sum(min(window, others) - step for step in range(size - 1)) for others in scans]
    return sum(scans) + sum(steps) - without_room * sum(window - step for step in range(1, size - 1))


def show_scans(folder: Path, names: Sequence[str], sizes: Sequence[int], pairs: int) -> None:
    header(
        "Whole clustering (preset MLevCluTree, k = 5): what the bound saves",
        *("data", "students", "seconds", "pair losses", "of all", "asked", "twin s", "times faster", "asked"),
    )
    for name in names:
        small = folder / f"{name}.jsonl"
        rate = pair_rates(encoded(small, policy_for(small, preset="MLevCluTree")), pairs)[1]
        for records in sizes:
            share, asked = SCANS.get(records, (1.0, None))
            own = folder / f"{records}-students"
            own.mkdir(exist_ok=True)
            file = written(own, name, records)
            policy = policy_for(file, preset="MLevCluTree")
            data = encoded(file, policy)
            constraints = data.prepared.constraints
            size = constraints.min_class_size

            def cluster(data: Encoded = data, policy: Policy = policy) -> dict[str, int]:
                rng = np.random.default_rng(1)
                prepared = data.prepared.constraints
                return (
                    policy.steps[0]
                    .find_classes(StepInput(data.forest, Scope.of(data.forest), prepared, None, rng))
                    .costs
                )

            costs = cluster()  # compiles, where the cache is empty
            seconds = statistics.median(timed(cluster) for _ in range(5 if records < 10_000 else 1))
            all_pairs = pairs_of_twin(records, size, 50, costs["seeds_without_room"])
            row(
                *(name, f"{records:,}", f"{seconds:.3f}", f"{costs['pair_losses']:,}"),
                *(
                    f"{costs['pair_losses'] / all_pairs:.1%}",
                    f"<= {share:.0%}" if share < 1 else "-",
                    f"{all_pairs / rate:,.0f}",
                ),
                *(f"{all_pairs / rate / seconds:,.0f}", f">= {asked:,}" if asked else "-"),
            )


def show_command(folder: Path, students: int, turns: int) -> None:
    """The whole warm command on data set A, preset MLevCluTree, against the imports alone."""
    file = folder / "A.jsonl"
    if not file.exists():
        written(folder, "A", students)
    command = [sys.executable, "-m", "hierdata", "anonymize", str(file), "--quiet"]
    policy = folder / "A.preset.yaml"
    stated = file.with_suffix(".policy.yaml").read_text("utf-8")
    policy.write_text(stated + "engine: {preset: MLevCluTree}\n", "utf-8")
    command += ["--policy", str(policy), "--out"]
    times: list[float] = []
    imports: list[float] = []
    for turn in range(turns + 1 if turns > 1 else 1):
        out = folder / f"release-{turn}"
        times.append(timed(lambda out=out: subprocess.run([*command, str(out)], check=True)))
        imports.append(timed(lambda: subprocess.run([sys.executable, "-c", IMPORTS], check=True)))
    if turns > 1:  # the first run may compile
        times, imports = times[1:], imports[1:]
    ratio = statistics.median(a / b for a, b in zip(times, imports, strict=True))
    header(
        f"Whole warm command, data set A, {students:,} students", "command s", "imports s", "ratio", "asked"
    )
    row(f"{statistics.median(times):.2f}", f"{statistics.median(imports):.2f}", f"{ratio:.1f}", "<= 4")


def experiment(folder: Path, names: Sequence[str], repeats: int) -> Iterator[tuple[object, ...]]:
    """ML section 5: loss and dissimilarity for k = 2..6 under both presets, mean over seeds."""
    for name in names:
        file = folder / f"{name}.jsonl"
        for k in range(2, 7):
            for preset, model in (
                ("MLevCluTree", {"kind": "level-alpha-k", "k": k}),
                ("ClusTree", {"kind": "frequency-l-diversity", "l": k}),
            ):
                policy = policy_for(file, models=[model], preset=preset)
                data = encoded(file, policy)
                figures: list[list[float]] = []
                seconds = []
                for seed in range(repeats):
                    start = time.perf_counter()
                    partition = policy.steps[0].find_classes(
                        StepInput(
                            data.forest,
                            Scope.of(data.forest),
                            data.prepared.constraints,
                            None,
                            np.random.default_rng(seed),
                        )
                    )
                    seconds.append(time.perf_counter() - start)
                    publication = publication_of(data.forest, partition)
                    loss = METRICS["lm_cost"]().of(publication, data.forest)
                    gone = METRICS["suppression_ratio"]().of(publication, data.forest)
                    apart = METRICS["dissimilarity_degree"]().of(publication, data.forest)
                    figures.append([float(figure.value) for figure in (loss[1], *gone, *apart)])
                means = [statistics.mean(column) for column in zip(*figures, strict=True)]
                yield (name, k, preset, *(f"{mean:.3f}" for mean in means), f"{statistics.mean(seconds):.2f}")


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument(
        "--repeats", type=int, default=3, help="runs of each setting of the paper's experiment"
    )
    options.add_argument("--no-experiment", action="store_true", help="speed only")
    options.add_argument(
        "--students", type=int, default=1_000, help="of all tables but that of whole clusterings"
    )
    options.add_argument(
        "--scans", type=int, nargs="+", default=list(SCANS), help="students of whole clusterings"
    )
    options.add_argument("--data", nargs="+", choices=DATA_SETS, default=list(DATA_SETS))
    options.add_argument("--pairs", type=int, default=20, help="of the twin with each of ten seeds")
    options.add_argument("--turns", type=int, default=7, help="runs of the whole command")
    return options


def main(argv: list[str] | None = None) -> None:
    arguments = parser().parse_args(argv)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        show_pair_rates(folder, arguments.data, arguments.students, arguments.pairs)
        show_scans(folder, arguments.data, arguments.scans, arguments.pairs)
        show_command(folder, arguments.students, arguments.turns)
        if arguments.no_experiment:
            return
        header(
            f"The paper's experiment (ML section 5), {arguments.students:,} students, mean over seeds",
            *("data", "k", "preset", "LM per record", "records lost", "vertices lost"),
            *("dissimilarity", "pooled", "level distance", "seconds"),
        )
        for cells in experiment(folder, arguments.data, arguments.repeats):
            row(*cells)


if __name__ == "__main__":
    main()
