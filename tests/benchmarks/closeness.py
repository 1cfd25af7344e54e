"""t-closeness over MSB-KACA: ``python -m tests.benchmarks.closeness`` prints tables.

The experiment of paper TC in small: Adult with five sensitive attributes where it lies beside the repository,
else a table of its shape. Then the swarm, swaps, the dealing rule and the optimum on random tables, as in
erratum TC-5. Seconds are CPU seconds of one machine on one day.
"""

from __future__ import annotations

import argparse
import csv
import random
import time
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from hierdata.engines.base import StepInput
from hierdata.engines.reassignment.arrangement import Arrangement
from hierdata.engines.reassignment.descent import Descent
from hierdata.engines.reassignment.kernel import UNIT, objective
from hierdata.engines.reassignment.swarming import Flight, along_the_leaves, deal_rows, run_swarm, seeds
from hierdata.forest.encoding import encode
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import Partition
from hierdata.metrics import METRICS
from hierdata.policy.load import from_data
from hierdata.policy.plan.plan import Prepared, prepare
from hierdata.privacy import TCloseness
from hierdata.records.binding import bind
from hierdata.records.survey import survey
from tests import naive_distributions
from tests import naive_reassigning as naive
from tests.benchmarks import adult
from tests.benchmarks.engine import header, row
from tests.publications import publication_of
from tests.small_tables import Table, table

QUASI = ("age", "sex", "race", "marital-status", "native-country")
SENSITIVE = ("occupation", "salary-class", "workclass", "education", "relationship")
DIVERSE = ("occupation", "education", "relationship")
"""Salary-class and workclass have a value with three quarters of the rows: no class is 2-diverse in them."""
K, L = 5, 2
MSB_KACA: tuple[dict[str, Any], ...] = ({"kind": "msb"}, {"kind": "kaca"})
SEED = 1
CLASS_SIZES = {9: 3, 12: 3, 60: 5, 120: 5}
"""Of the random tables, by their rows."""


def people(count: int) -> list[dict[str, Any]]:
    """A random part of the rows without a missing value."""
    if adult.is_there():
        with (adult.folder() / adult.COMPLETE).open(encoding="utf-8", newline="") as stream:
            every = list(csv.DictReader(stream))
        whole = [own for own in every if adult.MISSING not in own.values()]
    else:
        own = adult.table(adult.WITHOUT_MISSING)
        cells = {name: np.array(column.values)[column.codes].tolist() for name, column in own.items()}
        kin = random.Random(SEED)
        cells["relationship"] = [f"relationship {int(6 * kin.random() ** 2)}" for _ in cells["age"]]
        whole = [dict(zip(cells, values, strict=True)) for values in zip(*cells.values(), strict=True)]
    return random.Random(SEED).sample(whole, min(count, len(whole)))


def prepared(rows: Sequence[dict[str, Any]], steps: Sequence[dict[str, Any]], t: str | None) -> Prepared:
    """Rows under k-anonymity, l-diversity where it can be, and t-closeness of all five."""
    fields = {f"$['{name}']": adult._quasi(name) for name in QUASI}
    fields |= {f"$['{name}']": {"role": "sensitive"} for name in SENSITIVE}
    models: list[dict[str, Any]] = [
        {"kind": "k-anonymity", "k": K},
        {"kind": "frequency-l-diversity", "l": L, "on": [f"$['{name}']" for name in DIVERSE]},
    ]
    if t is not None:
        models.append({"kind": "t-closeness", "t": t, "distance": "equal"})
    asked = {"version": 1, "unlisted": "drop", "models": models, "fields": fields}
    policy = from_data({**asked, "engine": {"steps": list(steps)}})
    return prepare(policy, survey(rows, policy.declared_fields()))


def searched(found: Prepared, forest: Forest) -> Partition:
    """All steps, one after the other."""
    (stage,) = found.stages
    scope, partition, rng = Scope.of(forest), None, np.random.default_rng(SEED)
    for engine, constraints in stage.work():
        partition = engine.find_classes(StepInput(forest, scope, constraints, partition, rng))
    assert partition is not None
    return partition


def largest(forest: Forest, partition: Partition) -> float:
    """The largest distance of a class over all sensitive attributes."""
    kept = partition.equivalence_class >= 0
    most = 0.0
    for position, domain in enumerate(forest.domains[0]):
        codes = forest.sensitive[forest.first_sensitive[forest.roots[:-1]] + position]
        counts = np.zeros((partition.class_count, len(domain.values)))
        np.add.at(counts, (partition.equivalence_class[kept], codes[kept]), 1)
        p = np.array(domain.reference) / sum(domain.reference or ())
        distances = np.abs(counts / counts.sum(axis=1, keepdims=True) - p).sum(axis=1) / 2
        most = max(most, float(distances.max(initial=0)))
    return most


def experiment(count: int, ts: Sequence[str], swarm: dict[str, Any]) -> None:
    """What t-closeness over the classes of MSB-KACA costs; mondrian under the same models beside."""
    rows = people(count)
    header(
        f"Adult, {len(rows):,} rows, k = {K}, l = {L}, five sensitive attributes",
        *("steps", "t", "largest distance", "GCP", "additional loss", "suppressed", "disclosure", "seconds"),
    )
    runs: list[tuple[str, Sequence[dict[str, Any]], str | None]] = [("msb, kaca", MSB_KACA, None)]
    t: str | None
    for t in ts:
        runs += [
            ("msb, kaca, swap", (*MSB_KACA, {"kind": "swap"}), t),
            ("msb, kaca, swarm", (*MSB_KACA, {"kind": "swarm", **swarm}), t),
            ("mondrian, swap", ({"kind": "mondrian"}, {"kind": "swap"}), t),
            ("mondrian", ({"kind": "mondrian"},), t),
        ]
    for name, steps, t in runs:
        found = prepared(rows, steps, t)
        forest = encode(bind(rows, found.binding), found.schema, found.hierarchies, found.domains)
        start = time.process_time()
        partition = searched(found, forest)
        seconds = time.process_time() - start
        publication = publication_of(forest, partition)

        def figure(metric: str, own: str, at: Any = publication, of: Forest = forest) -> float:
            figures = {one.name: one.value for one in METRICS[metric]().of(at, of)}
            return float(figures.get(own, float("nan")))

        row(
            *(name, t or "-", f"{largest(forest, partition):.3f}"),
            f"{figure('certainty_penalty', 'gcp'):.4f}",
            f"{figure('additional_information_loss', 'total'):.3f}",
            f"{figure('suppression_ratio', 'records'):.4f}",
            *(f"{figure('disclosure_rate', 'largest'):.3f}", f"{seconds:.1f}"),
        )


def reached(made: Arrangement, members: Any) -> float:
    return objective(members, made.classes.starts, made.closeness, made.caps)[1] / UNIT


def lowered(built: Table, made: Arrangement) -> float:
    """The smallest t that swaps reach: each is asked for a little less than what the one before came to."""
    scope, least = Scope.of(built.forest), reached(made, made.classes.members)
    while least > 0:
        asked = built.bind(TCloseness(t=Fraction(round(least * 10**6) - 2, 10**6)))
        made = Arrangement.of(built.forest, scope, asked, made.numbers())
        Descent(made, 10**6).towards_closeness(ignore)
        found = reached(made, made.classes.members)
        if found >= least:
            break
        least = found
    return least


def random_tables(sizes: Sequence[int], tables: int, rounds: int) -> None:
    """Six values of one attribute, skewed; the mean over tables of the largest distance of a class."""
    header(
        f"Random tables, {tables} of each size, mean of the largest distance",
        *("records", "class size", "as it came", "dealt", "swarm", "seeded swarm", "swap", "optimum"),
    )
    for count in sizes:
        size = CLASS_SIZES[count]
        sums: defaultdict[str, float] = defaultdict(float)
        for seed in range(tables):
            rng = random.Random(seed)
            values = [[min(rng.randrange(6), rng.randrange(6))] for _ in range(count)]
            built = table([], [[] for _ in values], values)
            scope, classes = Scope.of(built.forest), np.repeat(np.arange(count // size), size)
            constraints = built.bind(TCloseness(t=0))
            made = Arrangement.of(built.forest, scope, constraints, classes)
            sums["came"] += reached(made, made.classes.members)
            rule = deal_rows(along_the_leaves(made), made.classes.starts)
            sums["dealt"] += reached(made, rule)
            flight = Flight(0.729, 1.494, 1.494, 0.5)
            draws = np.random.default_rng(seed)
            sums["alone"] += reached(made, run_swarm(made, flight, (), 30, rounds, draws, ignore))
            sums["swarm"] += reached(made, run_swarm(made, flight, seeds(made), 30, rounds, draws, ignore))
            sums["swap"] += lowered(built, made)
            if count <= 12:
                one = naive.Attribute([value for (value,) in values], naive_distributions.equal)
                sums["optimum"] += float(naive.optimum([size] * (count // size), [one]))
        shown = [f"{sums[name] / tables:.3f}" for name in ("came", "dealt", "alone", "swarm", "swap")]
        row(count, size, *shown, f"{sums['optimum'] / tables:.3f}" if count <= 12 else "-")


def ignore(done: int) -> None:
    """Nobody looks."""


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=2_000, help="rows of Adult")
    options.add_argument("--t", nargs="+", default=["0.5", "0.4", "0.3", "0.2", "0.1"], help="on Adult")
    options.add_argument("--tables", type=int, default=10, help="random tables of each size")
    options.add_argument(
        "--sizes", type=int, nargs="+", choices=CLASS_SIZES, default=list(CLASS_SIZES), help="rows of these"
    )
    options.add_argument(
        "--rounds", type=int, default=100, help="of the swarm; twice as many on random tables"
    )
    return options


def main(argv: list[str] | None = None) -> None:
    given = parser().parse_args(argv)
    random_tables(given.sizes, given.tables, 2 * given.rounds)
    experiment(given.rows, given.t, {"particles": 30, "rounds": given.rounds})


if __name__ == "__main__":
    main()
