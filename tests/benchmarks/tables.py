"""Speed and memory on tables: ``python -m tests.benchmarks.tables`` prints tables.

Adult where it lies beside the repository, else a synthetic table of its shape. Ratios and exponents are what
counts. Seconds are CPU seconds of one machine on one day, unless the head says otherwise.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from hierdata.engines.base import StepInput
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import Partition
from hierdata.judge import judge, judge_counted
from hierdata.policy.policy import Policy
from hierdata.sources import collect
from tests.benchmarks import adult, checks
from tests.benchmarks.commands import Taken, anonymize
from tests.benchmarks.engine import header, row

FACTORS = (1, 10, 100)
SCALED, SEED = 10, 20240901
"""What ``make_scaled.py`` is called with for a table of 301,620 rows."""
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Task:
    """What is promised of which column, and who searches."""

    sensitive: str
    engine: str
    model: dict[str, Any]
    more: dict[str, Any] = field(default_factory=dict)

    def policy(self) -> Policy:
        return adult.policy(self.sensitive, [self.model], self.engine, **self.more)


APART = {"kind": "delta-l-diversity", "delta": 10_000, "l": 4}
MBF = Task("education", "mbf", {"kind": "l-e-diversity", "l": 4, "e": 1}, {"recoding": "anatomy"})
MONDRIAN = Task(adult.SENSITIVE, "mondrian", {"kind": "k-anonymity", "k": 5})
TASKS = {
    "mbf, l = 4, e = 1 (education)": MBF,
    "mondrian, k = 5": MONDRIAN,
    "mondrian, delta = 10,000, l = 4 (fnlwgt)": Task(adult.WEIGHT, "mondrian", APART),
    "spread, delta = 10,000, l = 4 (fnlwgt)": Task(adult.WEIGHT, "spread", APART),
}
RELEASED = Task(adult.SENSITIVE, "mondrian", {"kind": "k-anonymity", "k": 10})
"""What is verified: about 11,000 classes at 301,620 rows."""


def timed(work: Callable[[], Answer], turns: int = 1) -> tuple[Answer, float]:
    """The answer, and the least CPU seconds of some turns: the machine may be busy otherwise."""
    least = math.inf
    for _ in range(turns):
        start = time.process_time()
        answer = work()
        least = min(least, time.process_time() - start)
    return answer, least


def exhaust(items: Iterable[object]) -> int:
    return sum(1 for _ in items)


def searched(data: adult.Encoded, task: Task) -> Partition:
    (stage,) = data.prepared.stages
    (step,) = task.policy().steps
    rng = np.random.default_rng(1)
    return step.find_classes(StepInput(data.forest, Scope.of(data.forest), stage.constraints, None, rng))


def show_mbf(own: adult.Table, file: Path, turns: int) -> None:
    """The engine's step against reading the file, as a run does, and as the csv module alone does."""
    collection, data = collect(file, MBF.policy()), adult.encoded(own, MBF.policy())
    searched(data, MBF)  # compiles, where the cache is empty
    partition, seconds = timed(lambda: searched(data, MBF), turns)
    _, reading = timed(lambda: exhaust(collection.documents()), turns)

    def bare() -> int:
        with file.open(encoding="utf-8", newline="") as stream:
            return exhaust(csv.reader(stream))

    _, by_csv = timed(bare, turns)
    header(
        f"MBF against reading the table, {data.forest.record_count:,} rows, education, l = 4, e = 1",
        *("MBF s", "reading into documents s", "ratio", "asked", "csv module alone s", "rows published"),
    )
    published = int((partition.equivalence_class >= 0).sum())
    times = f"{seconds:.3f}", f"{reading:.3f}", f"{seconds / reading:.1f}", "<= 2", f"{by_csv:.3f}"
    row(*times, f"{published:,}")
    if partition.reason:
        sys.stdout.write(f"\n{partition.reason}.\n")


def exponents(sizes: Sequence[int], seconds: Sequence[float]) -> list[str]:
    """The least-squares slope of log time against log n, and against log(n log n)."""
    bases = sizes, [size * math.log(size) for size in sizes]
    times = np.log(seconds)
    return [f"{np.polyfit(np.log(base), times, 1)[0]:.2f}" if len(sizes) > 1 else "" for base in bases]


def show_growth(small: adult.Table, factors: Sequence[int], folder: Path) -> None:
    sizes = [len(small["age"].codes) * factor for factor in factors]
    header(
        "How CPU seconds grow", "work", *(f"{size:,} rows" for size in sizes), "exponent of n", "of n log n"
    )
    tables = [small if factor == 1 else adult.scaled(small, factor, SEED) for factor in factors]
    for name, task in TASKS.items():
        searched(adult.encoded(small, task.policy()), task)  # compiles, where the cache is empty
        seconds = []
        for own in tables:
            data = adult.encoded(own, task.policy())
            seconds.append(timed(lambda data=data, task=task: searched(data, task))[1])
        row(name, *(f"{second:.2f}" for second in seconds), *exponents(sizes, seconds))
    read, checked = [], []
    for own in tables:
        published = release(own, folder)
        read.append(timed(lambda published=published: exhaust(published.lines()))[1])
        whole = timed(lambda published=published: judge_counted(published.lines(), published.rules))[1]
        checked.append(whole - read[-1])
        published.file.unlink()
    row("verify, reading", *(f"{second:.2f}" for second in read), *exponents(sizes, read))
    row("verify, eight checks", *(f"{second:.2f}" for second in checked), *exponents(sizes, checked))


def release(own: adult.Table, folder: Path) -> checks.Published:
    """Publish a table by mondrian, straight from the partition: millions of rows need no pipeline."""
    policy = RELEASED.policy()
    own = {name: column for name, column in own.items() if (name,) in policy.rules_by_keys}
    data = adult.encoded(own, policy)
    partition = searched(data, RELEASED)
    file = folder / f"published-{len(partition.equivalence_class)}.csv"
    adult.write(generalized(own, data.forest, partition), file)
    return checks.Published.of(file, own[adult.SENSITIVE])


def generalized(own: adult.Table, forest: Forest, partition: Partition) -> adult.Table:
    """The table by the labels of its classes; a missing value is an empty cell."""
    assert (partition.equivalence_class >= 0).all(), "k-anonymity needs no suppression"
    found = dict(own)
    first = forest.first_node[partition.representative]
    quasi = [name for name in adult.QUASI if name in own]
    for at, (name, tree) in enumerate(zip(quasi, forest.hierarchies[0], strict=True)):
        labels = ["" if label is None else str(label) for label in tree.labels]
        found[name] = adult.Column(labels, partition.nodes[first + at].astype(np.int64))
    return found


def show_checks(small: adult.Table, folder: Path, pycanon: Path | None, turns: int) -> None:
    published = release(adult.scaled(small, SCALED, SEED), folder)
    lines, plain = list(published.lines()), list(published.documents())
    rules, without = published.rules, replace(published.rules, models=published.rules.models[:1])
    _, reading = timed(lambda: exhaust(published.lines()), turns)
    _, grouping = timed(lambda: judge_counted(lines, without), turns)
    verdict, together = timed(lambda: judge_counted(lines, rules), turns)
    _, one_by_one = timed(lambda: judge(plain, rules), turns)
    header(
        f"Eight checks, {verdict.records:,} rows, {verdict.classes:,} classes",
        *("reading s", "grouping s", "judging s", "grouping and judging s", "asked"),
        "the same without counting equal lines first s",
    )
    cells = reading, grouping, together - grouping, together
    row(*(f"{second:.2f}" for second in cells), "<= 1", f"{one_by_one:.2f}")
    show_peer(checks.by_judge(verdict), checks.by_pycanon(pycanon, published.file) if pycanon else None)


def show_peer(judged: dict[str, float], peer: dict[str, tuple[str, float]] | None) -> None:
    if peer is None:
        sys.stdout.write(
            "\npycanon: skipped. Name an interpreter that has the extra bench: --pycanon PYTHON\n"
        )
    header("What is achieved", "check", "hierdata", "pycanon", "pycanon s", "remark")
    for model, name in checks.COUNTERPARTS.items():
        answer, seconds = ("", "") if peer is None or name is None else peer[name]
        figure = "nothing" if model not in judged else f"{judged[model]:.6f}"
        row(model, figure, answer, f"{seconds:.1f}" if seconds else "", checks.REMARKS.get(model, ""))
    if peer is not None:
        total = sum(seconds for _, seconds in peer.values())
        row("together", "", "", f"{total:.1f}", "")


def show_twin(own: adult.Table, folder: Path) -> None:
    """The judge against the definitions, where values are missing and where there is only one."""
    constant = adult.Column(["the only one"], np.zeros(len(own["age"].codes), np.int64))
    header("The judge against a slow twin", "table", "classes", "all figures equal")
    for name, table in (
        ("missing values in quasi-identifiers and occupation", own),
        ("a constant sensitive attribute", {**own, adult.SENSITIVE: constant}),
    ):
        published = release(table, folder)
        verdict = judge_counted(published.lines(), published.rules)
        assert checks.agree(verdict, published), name
        row(name, f"{verdict.classes:,}", "yes")


def show_commands(
    small: adult.Table, complete: adult.Table, folder: Path, *, limit: int | None, first_run: bool
) -> None:
    """The whole command, cold: read twice, search, write, read again and judge, report."""
    works = [
        ("mondrian, k = 5", MONDRIAN, small, 1),
        ("mbf, l = 4, e = 1", MBF, complete, 1),
        ("mondrian, k = 5", MONDRIAN, small, SCALED),
    ]
    environment = None
    if first_run:
        # As an installed package is: with what Python compiles on the disk, which a first run puts there.
        compiled = {"PYTHONPYCACHEPREFIX": str(folder / "compiled"), "PYTHONDONTWRITEBYTECODE": ""}
        environment = os.environ | compiled
        command(folder, MONDRIAN, small, environment)
    header(
        "The whole command",
        *("work", "rows", "s by the clock", "CPU s", "peak MB", "NCP", "rows suppressed", "classes"),
    )
    for name, task, own, factor in works[:limit]:
        taken = command(folder, task, own if factor == 1 else adult.scaled(own, factor, SEED), environment)
        counts, loss = taken.release["counts"], taken.release["metrics"].get("lm_cost")
        row(
            *(name, f"{counts['records']['input']:,}", f"{taken.seconds:.1f}", f"{taken.cpu:.1f}"),
            *(f"{taken.megabytes:.0f}", "" if loss is None else f"{loss['per_value']:.4f}"),
            *(f"{counts['records']['suppressed']:,}", f"{counts['classes']:,}"),
        )


def command(folder: Path, task: Task, own: adult.Table, environment: Mapping[str, str] | None) -> Taken:
    place = Path(tempfile.mkdtemp(dir=folder))
    policy = task.policy().model_dump(mode="json", by_alias=True, exclude_unset=True)
    return anonymize(adult.write(own, place / "table.csv"), policy, place, environment)


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, help="only the first rows of each table")
    options.add_argument("--turns", type=int, default=5, help="most figures are the least of so many")
    options.add_argument("--factors", type=int, nargs="+", default=FACTORS, help="sizes of the growth")
    options.add_argument("--pycanon", type=Path, help="an interpreter that has the extra bench")
    options.add_argument("--commands", type=int, help="only the first of the whole commands")
    options.add_argument(
        "--no-first-run",
        action="store_true",
        help="measure whole commands without a first one, by which Python compiles",
    )
    return options


def main(argv: list[str] | None = None) -> None:
    asked = parser().parse_args(argv)
    sys.stdout.write("Adult\n" if adult.is_there() else "A synthetic table of Adult's shape\n")
    small, complete = (adult.table(name, asked.rows) for name in (adult.WITHOUT_MISSING, adult.COMPLETE))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        file = adult.folder() / adult.COMPLETE
        if asked.rows is not None or not file.exists():
            file = adult.write(complete, folder / adult.COMPLETE)
        show_mbf(complete, file, asked.turns)
        show_checks(small, folder, asked.pycanon, asked.turns)
        show_twin(complete, folder)
        show_commands(small, complete, folder, limit=asked.commands, first_run=not asked.no_first_run)
        show_growth(complete, asked.factors, folder)


if __name__ == "__main__":
    main()
