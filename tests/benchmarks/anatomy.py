"""Growth of MBF, and the experiment of LE section V in short: ``python -m tests.benchmarks.anatomy``.

``hierdata reproduce LE`` has the whole experiment; policy, search and measures are those of its page. Six
attributes of Adult, education sensitive; without the file a synthetic table of the same shape. CPU seconds
of one machine on one day.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

import numpy as np

from hierdata.forest.forest import Forest
from hierdata.ground.errors import HierdataError
from hierdata.reproduction.le_figures import COLUMNS, measure_setting, policy_for, search_classes
from hierdata.reproduction.small_data import EncodedRecords, encode_records
from hierdata.reproduction.study import Adult, read_adult, synthesize_adult
from tests.benchmarks.data_folder import data_folder
from tests.benchmarks.engine import header, row

Answer = TypeVar("Answer")


def encoded(adult: Adult, count: int | None, preset: str, least: int) -> EncodedRecords:
    return encode_records(adult.draw(COLUMNS, count), policy_for(preset, least))


def timed(work: Callable[[], Answer]) -> tuple[Answer, float]:
    """The answer and its CPU seconds: the machine may be busy otherwise."""
    start = time.process_time()
    answer = work()
    return answer, time.process_time() - start


def experiment(adult: Adult, sizes: Sequence[int], seeds: int) -> None:
    header(
        f"Information loss and diversity degree, e = 1, mean over {seeds} seeds",
        "n", "l", "preset", "suppressed", "IL of published", "IL, suppressed charged", "DOT as printed",
        "mean pair distance", "CPU s",
    )  # fmt: skip
    *smaller, largest = sizes
    settings = [(n, 4) for n in smaller] + [(largest, least) for least in (2, 3, 4, 5)]
    for n, least in settings:
        for preset in ("anatomy-l", "MBF"):
            runs = [measure_setting(adult, preset, n, least, seed) for seed in range(1, seeds + 1)]
            mean = {name: float(sum(Fraction(run[name]) for run in runs) / seeds) for name in runs[0]}
            row(
                n, least, preset, f"{mean['suppressed']:,.0f}", f"{mean['loss_published']:,.0f}",
                f"{mean['loss']:,.0f}", f"{mean['degree']:.3f}", f"{mean['mean_distance']:.3f}",
                f"{mean['seconds']:.2f}",
            )  # fmt: skip
    try:
        sentence = search_classes(encoded(adult, largest, "MBF", 6), 1).reason
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


def growth(adult: Adult, copies: int) -> None:
    header(
        "Growth of the engine, l = 4, copies of the table, CPU seconds", "preset", "rows", "s", "exponent",
        "reading s",
    )  # fmt: skip
    for preset in ("anatomy-l", "MBF"):
        data, reading = timed(lambda preset=preset: encoded(adult, None, preset, 4))
        before = None
        for times in (own for own in (1, 10, 100) if own <= copies):
            many = replace(data, forest=copied(data.forest, times))
            _, seconds = timed(lambda many=many: search_classes(many, 1))
            exponent = "" if before is None else f"{math.log10(seconds / before):.2f}"
            shown = f"{reading:.2f}" if times == 1 else ""
            row(preset, f"{many.forest.record_count:,}", f"{seconds:.2f}", exponent, shown)
            before = seconds


def parser() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(description=__doc__)
    folder = data_folder() / "adult"
    arguments.add_argument("--adult", type=Path, default=folder, help="a folder with adult.csv")
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
    adult = read_adult(asked.adult) if asked.adult.exists() else synthesize_adult()
    print(adult.origin)
    experiment(adult, asked.rows, asked.seeds)
    growth(adult, asked.copies)


if __name__ == "__main__":
    main()
