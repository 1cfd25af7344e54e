"""The rates of a whole table against reading it: ``python -m tests.benchmarks.rates`` prints a table.

Adult where it lies beside the repository, else a synthetic table of its shape: 8 keys and all of them
together, every value. Seconds are CPU seconds. Reading is what a run does when it takes in the rows of a CSV
file one by one as documents; measuring is the whole call, its own reading included.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from hierdata import measure
from hierdata.documents.formats.csv import Csv
from hierdata.documents.formats.source import PathSource
from hierdata.sources.form import open_layout
from hierdata.sources.splits import read_file
from tests.benchmarks import adult
from tests.benchmarks.engine import header, row
from tests.benchmarks.tables import SEED, exhaust, timed

SIZES = (100_000, 1_000_000)
TURNS = 3


def show(sizes: list[int], folder: Path) -> None:
    own = adult.table(adult.WITHOUT_MISSING)
    longest = adult.scaled(own, -(-max(sizes) // len(own["age"].codes)), SEED)
    header(
        "Rates of 8 keys and of all together, every value",
        *("rows", "reading s", "measuring s", "ratio", "asked", "values of all keys together"),
    )
    for size in sizes:
        table = {name: adult.Column(column.values, column.codes[:size]) for name, column in longest.items()}
        source = PathSource(adult.write(table, folder / f"{size}.csv"))
        layout = open_layout(source, Csv(), ())
        read, reading = timed(lambda: exhaust(read_file(source, Csv(), layout)), TURNS)  # noqa: B023
        assert read == size
        path = source.path
        found, seconds = timed(
            lambda: measure(path, keys=adult.QUASI, sensitive=adult.SENSITIVE),  # noqa: B023
            TURNS,
        )
        cells = f"{size:,}", f"{reading:.2f}", f"{seconds:.2f}", f"{seconds / reading:.1f}", "<= 5"
        row(*cells, f"{len(found.keys[-1].values):,}")


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="rows")
    return options


def main(argv: list[str] | None = None) -> None:
    sizes = list(parser().parse_args(argv).sizes)
    sys.stdout.write("Adult\n" if adult.is_there() else "A synthetic table of Adult's shape\n")
    with tempfile.TemporaryDirectory() as temporary:
        show(sizes, Path(temporary))


if __name__ == "__main__":
    main()
