"""What blocks cost: ``python -m tests.benchmarks.blocks`` prints tables.

Each block is clustered by itself, by the preset MLevCluTree or any engine, and the loss is compared with
that of the same engine over all records at once. Blocks are those of the cut, those of records in the order
of their roots, and random ones. Seconds are CPU seconds of one machine on one day.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.lower_bounds import histograms
from hierdata.engines.base import StepInput
from hierdata.engines.blocking import Sizes, grow_cut
from hierdata.forest.encoded import Frame, part
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.worth import Heaviest
from hierdata.metrics import METRICS
from hierdata.pipeline.cluster import TRIED, add_trials
from hierdata.pipeline.search import try_first_step
from hierdata.policy.plan.stages import Stage
from tests.benchmarks.collections import DATA_SETS, Encoded, by_lm, encoded, policy_for, written
from tests.benchmarks.engine import header, row
from tests.publications import publication_of

Numbers = NDArray[np.int64]

CLASSES_AT_LEAST = 20


@dataclass(frozen=True)
class Outcome:
    """LM, and how many records are lost, of all blocks together."""

    loss: float
    suppressed: int
    seconds: float


def block_of(forest: Forest, block: Numbers, number: int) -> Forest:
    """The records of one block, losses by the scale of all."""
    frame = Frame(forest.schema, forest.hierarchies, forest.domains)
    heaviest = Heaviest(quasi=int(forest.weight[forest.roots[:-1]].max()))
    records = np.flatnonzero(block == number)
    return frame.forest(part(forest, np.arange(forest.record_count), records), heaviest)


def settled(data: Encoded, block: Numbers, seed: int) -> Stage:
    """The search, with what it chooses between chosen for all blocks."""
    (stage,), count = data.prepared.stages, int(block.max()) + 1
    if not stage.chooses(count):
        return stage
    asked = {count * at // TRIED for at in range(TRIED)}
    rngs = {number: np.random.default_rng([seed, number]) for number in asked}
    return stage.choose_by_trials(
        add_trials(
            [try_first_step(block_of(data.forest, block, number), stage, rng) for number, rng in rngs.items()]
        )
    )


def clustered(data: Encoded, block: Numbers, seed: int) -> Outcome:
    """Every block by itself."""
    forest = data.forest
    loss, suppressed, start = 0.0, 0, time.process_time()
    stage = settled(data, block, seed)
    for number in range(int(block.max()) + 1):
        own = block_of(forest, block, number)
        rng = np.random.default_rng([seed, number])
        partition = None
        for step, constraints in stage.work():
            partition = step.find_classes(StepInput(own, Scope.of(own), constraints, partition, rng))
        assert partition is not None
        figure = METRICS["lm_cost"]().of(publication_of(own, partition), own)[0]
        loss += float(figure.value)
        suppressed += int((partition.equivalence_class < 0).sum())
    return Outcome(loss / forest.record_count, suppressed, time.process_time() - start)


def blocks_of(forest: Forest, size: int, unit: int) -> Iterator[tuple[str, Numbers]]:
    """The cut's blocks, and what they are compared with."""
    records = np.arange(forest.record_count)
    found = histograms(forest)
    sizes = Sizes(forest.record_count, size, CLASSES_AT_LEAST * unit, unit)
    made = grow_cut(found.counts, found.weights, records, sizes)
    yield "cut", made.block_of(found.counts, records)
    ranks = np.empty_like(records)
    ranks[np.lexsort(roots(forest))] = records
    yield "by root", ranks // size
    yield "random", np.random.default_rng(0).permutation(forest.record_count) // size


def roots(forest: Forest) -> tuple[Numbers, ...]:
    """The nodes that the roots' values are below, for a sort: the coarsest of the first attribute last."""
    first = forest.first_node[forest.roots[:-1]]
    keys = []
    for position, tree in enumerate(forest.hierarchies[0]):
        above = np.array(tree.ancestors, np.int64)[forest.nodes[first + position]]
        keys += [above[:, depth] for depth in range(above.shape[1])]
    return tuple(reversed(keys))


def parser() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--records", type=int, default=20_000)
    arguments.add_argument("--sizes", type=int, nargs="+", default=[500, 1000, 2000, 4000])
    arguments.add_argument("--correlation", type=float, nargs="+", default=[0.8, 0.0])
    arguments.add_argument("--data", nargs="+", choices=DATA_SETS, default=list(DATA_SETS))
    arguments.add_argument("--preset", default="MLevCluTree", help="'' for the engine where none is named")
    arguments.add_argument("--repeats", type=int, default=1, help="seeds; figures are means")
    arguments.add_argument("--no-exact", action="store_true", help="leave out all records at once")
    return arguments


def main(argv: list[str] | None = None) -> None:
    asked = parser().parse_args(argv)
    header(
        f"Loss of blocks, {asked.records:,} records, {asked.preset or 'the default engine'}",
        *("data", "correlation", "blocks", "size", "number", "smallest", "largest"),
        *("LM per record", "against all at once", "records lost", "CPU s"),
    )
    for name in asked.data:
        for correlation in asked.correlation:
            with tempfile.TemporaryDirectory() as folder:
                file = written(Path(folder), name, asked.records, correlation=correlation)
                policy = policy_for(file, preset=asked.preset)
                show(f"{name} | {correlation}", by_lm(encoded(file, policy)), asked)


def show(title: str, data: Encoded, asked: argparse.Namespace) -> None:
    unit = data.prepared.constraints.min_class_size
    whole = None
    settings: list[tuple[str, int, Numbers]] = []
    if not asked.no_exact:
        settings.append(("all at once", asked.records, np.zeros(asked.records, np.int64)))
    for size in asked.sizes:
        settings += [(kind, size, block) for kind, block in blocks_of(data.forest, size, unit)]
    for kind, size, block in settings:
        found = [clustered(data, block, seed) for seed in range(1, asked.repeats + 1)]
        loss = statistics.mean(one.loss for one in found)
        whole = loss if kind == "all at once" else whole
        counts = np.bincount(block)
        row(
            title, kind, f"{size:,}", len(counts), counts.min(), counts.max(), f"{loss:.3f}",
            "" if whole is None else f"{100 * (loss / whole - 1):+.1f} %",
            round(statistics.mean(one.suppressed for one in found)),
            f"{statistics.mean(one.seconds for one in found):.1f}",
        )  # fmt: skip


if __name__ == "__main__":
    main()
