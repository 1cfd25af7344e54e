"""The experiment of LE section V, and growth: ``python -m tests.benchmarks.anatomy``.

Six attributes of Adult, education sensitive; without the file a synthetic table of the same shape. The paper
gives no tree for education, so the one here is ours (erratum LE-13). CPU seconds of one machine on one day.
"""

from __future__ import annotations

import argparse
import csv
import math
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from hierdata.engines import ENGINES
from hierdata.errors import HierdataError
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import Partition
from hierdata.forest.publication import publish_grouped
from hierdata.metrics import METRICS
from hierdata.policy.load import from_data
from hierdata.policy.policy import Policy
from tests.benchmarks.collections import Encoded, encoded
from tests.benchmarks.data_folder import data_folder
from tests.benchmarks.engine import header, row

COLUMNS = ("age", "workclass", "marital-status", "sex", "race", "education")
EDUCATION = {
    "school": {
        "primary": ["Preschool", "1st-4th", "5th-6th", "7th-8th"],
        "secondary": ["9th", "10th", "11th", "12th", "HS-grad"],
    },
    "higher": {
        "college": ["Some-college", "Assoc-voc", "Assoc-acdm"],
        "university": ["Bachelors", "Masters"],
        "professional": ["Prof-school", "Doctorate"],
    },
}
"""Leaves at depth 3. With e = 1 the five groups above them are the buckets."""
COUNTS = {
    "HS-grad": 10501, "Some-college": 7291, "Bachelors": 5355, "Masters": 1723, "Assoc-voc": 1382,
    "11th": 1175, "Assoc-acdm": 1067, "10th": 933, "7th-8th": 646, "Prof-school": 576, "9th": 514,
    "12th": 433, "Doctorate": 413, "5th-6th": 333, "1st-4th": 168, "Preschool": 51,
}  # fmt: skip
"""How often each value occurs in the 32,561 rows of Adult."""
Answer = TypeVar("Answer")


def synthetic(rows: int) -> Iterator[dict[str, str]]:
    """A table of Adult's shape: education as there, the rest independent of it and of each other."""
    rng = random.Random(rows)
    values = rng.choices(list(COUNTS), list(COUNTS.values()), k=rows)
    sizes = {"workclass": 8, "marital-status": 7, "sex": 2, "race": 5}
    for value in values:
        others = {name: f"{name} {rng.randrange(size)}" for name, size in sizes.items()}
        yield {"age": str(rng.randint(17, 90)), **others, "education": value}


def rows_of(adult: Path | None) -> list[dict[str, str]]:
    if adult is None:
        return list(synthetic(sum(COUNTS.values())))
    with adult.open(newline="", encoding="utf-8") as stream:
        return [{name: own[name] for name in COLUMNS} for own in csv.DictReader(stream)]


def policy(preset: str, least: int) -> Policy:
    quasi = {f"$['{name}']": {"role": "quasi", "flat": True} for name in COLUMNS[1:-1]}
    age = {"role": "quasi", "interval": {"steps": [1, 5, 10, 20]}}
    sensitive = {"role": "sensitive", "taxonomy": {"tree": {"*": EDUCATION}}}
    model: dict[str, Any] = {"kind": "frequency-l-diversity", "l": least}
    if preset == "MBF":
        model = {"kind": "l-e-diversity", "l": least, "e": 1}
    return from_data(
        {
            "version": 1,
            "fields": {"$.age": age, **quasi, "$.education": sensitive},
            "models": [model],
            "engine": {"preset": preset},
        }
    )


def read(folder: Path, rows: Sequence[dict[str, str]], preset: str, least: int) -> Encoded:
    file = folder / "table.csv"
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return encoded(file, policy(preset, least))


def timed(work: Callable[[], Answer]) -> tuple[Answer, float]:
    """The answer and its CPU seconds: the machine may be busy otherwise."""
    start = time.process_time()
    answer = work()
    return answer, time.process_time() - start


def classes(data: Encoded, forest: Forest, seed: int) -> Partition:
    (stage,) = data.prepared.stages
    rng = np.random.default_rng(seed)
    return ENGINES["mbf"]().step(forest, Scope.of(forest), stage.constraints, None, rng)


@dataclass(frozen=True)
class Measured:
    """Means over the seeds."""

    suppressed: float
    loss_published: float
    loss: float
    degree: float
    mean_distance: float
    seconds: float


def measured(data: Encoded, seeds: int) -> Measured:
    found = []
    for seed in range(1, seeds + 1):
        partition, seconds = timed(lambda seed=seed: classes(data, data.forest, seed))
        publication = publish_grouped(data.forest, (partition,), ())
        gone = int((partition.equivalence_class < 0).sum())
        loss = METRICS["reconstruction_error"]().of(publication, data.forest)[0].value
        degree, mean = (one.value for one in METRICS["diversity_degree"]().of(publication, data.forest))
        figures = (gone, loss - gone, loss, degree, mean, seconds)
        found.append([float(one) for one in figures])
    return Measured(*np.mean(found, axis=0).tolist())


def experiment(folder: Path, rows: list[dict[str, str]], sizes: Sequence[int], seeds: int) -> None:
    header(
        f"Information loss and diversity degree, e = 1, mean over {seeds} seeds",
        "n", "l", "preset", "suppressed", "IL of published", "IL, suppressed charged", "DOT as printed",
        "mean pair distance", "CPU s",
    )  # fmt: skip
    *smaller, largest = sizes
    settings = [(n, 4) for n in smaller] + [(largest, least) for least in (2, 3, 4, 5)]
    for n, least in settings:
        for preset in ("anatomy-l", "MBF"):
            one = measured(read(folder, rows[:n], preset, least), seeds)
            row(
                n, least, preset, f"{one.suppressed:,.0f}", f"{one.loss_published:,.0f}",
                f"{one.loss:,.0f}", f"{one.degree:.3f}", f"{one.mean_distance:.3f}", f"{one.seconds:.2f}",
            )  # fmt: skip
    try:
        sentence = classes(data := read(folder, rows[:largest], "MBF", 6), data.forest, 1).reason
    except HierdataError as error:
        sentence = str(error)
    print(f"\nMBF at l = 6: {sentence}.")


def copied(forest: Forest, times: int) -> Forest:
    """A table of so many copies of the rows of another."""
    count = forest.record_count * times
    quasi, sensitive = len(forest.hierarchies[0]), len(forest.domains[0])
    return replace(
        forest,
        roots=np.arange(count + 1),
        type=np.zeros(count, np.int32),
        parent=np.full(count, -1),
        first_child=np.arange(1, count + 1),
        child_count=np.zeros(count, np.int64),
        first_node=np.arange(count) * quasi,
        nodes=np.tile(forest.nodes, times),
        first_sensitive=np.arange(count) * sensitive,
        sensitive=np.tile(forest.sensitive, times),
        spelling=np.tile(forest.spelling, times),
    )


def growth(folder: Path, rows: list[dict[str, str]], copies: int) -> None:
    header(
        "Growth of the engine, l = 4, copies of the table, CPU seconds", "preset", "rows", "s", "exponent",
        "reading s",
    )  # fmt: skip
    for preset in ("anatomy-l", "MBF"):
        data, reading = timed(lambda preset=preset: read(folder, rows, preset, 4))
        before = None
        for times in (own for own in (1, 10, 100) if own <= copies):
            forest = copied(data.forest, times)
            _, seconds = timed(lambda forest=forest, data=data: classes(data, forest, 1))
            exponent = "" if before is None else f"{math.log10(seconds / before):.2f}"
            shown = f"{reading:.2f}" if times == 1 else ""
            row(preset, f"{forest.record_count:,}", f"{seconds:.2f}", exponent, shown)
            before = seconds


def parser() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(description=__doc__)
    file = data_folder() / "adult" / "adult.csv"
    arguments.add_argument("--adult", type=Path, default=file, help="adult.csv with a header")
    arguments.add_argument(
        "--rows",
        type=int,
        nargs="+",
        default=[5_000, 10_000, 20_000, 30_000],
        help="sizes of the experiment; the last one with several l",
    )
    arguments.add_argument("--seeds", type=int, default=3, help="figures are means over so many")
    arguments.add_argument(
        "--copies", type=int, default=10, help="the largest table of the growth, in copies"
    )
    return arguments


def main(argv: list[str] | None = None) -> None:
    asked = parser().parse_args(argv)
    adult = asked.adult if asked.adult.exists() else None
    rows = rows_of(adult)
    print("Adult" if adult else "A synthetic table of Adult's shape", f"({len(rows):,} rows)")
    with tempfile.TemporaryDirectory() as folder:
        experiment(Path(folder), rows, asked.rows, asked.seeds)
        growth(Path(folder), rows, asked.copies)


if __name__ == "__main__":
    main()
