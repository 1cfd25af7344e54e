"""Measure ``spread`` and ``mondrian``: ``python -m tests.benchmarks.spread`` prints tables.

Household incomes under (delta,l)-diversity where the data lie beside the repository, and how the cost grows
on a synthetic table. Seconds are those of one machine on one day.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from math import log
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Scalar
from hierdata.domains import DOMAINS
from hierdata.domains.base import QuasiDomain
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.engines import ENGINES, Constraints
from hierdata.engines.base import StepInput
from hierdata.engines.spread.run import nearness
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import Partition
from hierdata.privacy import MODELS
from hierdata.privacy.base import PrivacyModel
from hierdata.records.schema import Attribute, Role, Schema, VertexType
from tests.benchmarks.data_folder import data_folder

QI8 = (*("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class"),)
SIZES = (32_561, 325_610, 3_256_100)
PAIRS = ((0, 2), (500, 2), (500, 5), (2_500, 2), (2_500, 5), (5_000, 4), (5_000, 8), (10_000, "5/2"))
"""delta and l. Small incomes are many: from the largest of these on not everybody can be published."""


def row(*cells: object) -> None:
    sys.stdout.write("| " + " | ".join(str(cell) for cell in cells) + " |\n")


def header(title: str, *cells: str) -> None:
    sys.stdout.write(f"\n{title}\n\n")
    row(*cells)
    row(*("---" for _ in cells))


def forest_of(
    domains: Sequence[QuasiDomain],
    quasi: Sequence[NDArray[np.generic]],
    sensitive: NDArray[np.generic],
    semantics: QuasiDomain | None = None,
) -> Forest:
    """A table as the encoder would make it; ``semantics``: the taxonomy of the sensitive values."""
    rows, width = len(sensitive), len(domains)
    trees, nodes = [], np.empty((rows, width), np.int32)
    for at, (domain, column) in enumerate(zip(domains, quasi, strict=True)):
        values, which = np.unique(column, return_inverse=True)
        observed: dict[Scalar, int] = dict.fromkeys(values.tolist(), 1)
        trees.append(domain.compile(observed, Path()))
        nodes[:, at] = np.array([trees[-1].node_of(value) for value in observed])[which.ravel()]
    values, which = np.unique(sensitive, return_inverse=True)
    counted: Mapping[Scalar, int] = Counter(
        dict(zip(values.tolist(), np.bincount(which.ravel()).tolist(), strict=True))
    )
    taxonomy = None if semantics is None else semantics.compile(counted, Path())
    bound = SensitiveDomain.build("$.s", counted, number=taxonomy is None, taxonomy=taxonomy)
    attributes = (
        *(Attribute(f"$.q{at}", (f"q{at}",), Role.QUASI) for at in range(width)),
        Attribute("$.s", ("s",), Role.SENSITIVE),
    )
    return Forest(
        schema=Schema((VertexType(0, "$", (), True, None, (), attributes),)),
        hierarchies=(tuple(trees),),
        domains=((bound,),),
        roots=np.arange(rows + 1),
        type=np.zeros(rows, np.int32),
        parent=np.full(rows, -1),
        first_child=np.zeros(rows, np.int64),
        child_count=np.zeros(rows, np.int64),
        first_node=width * np.arange(rows),
        nodes=nodes.ravel(),
        first_sensitive=np.arange(rows),
        sensitive=which.ravel().astype(np.int32),
        spelling=which.ravel().astype(np.int32),
        spellings=tuple(values.tolist()),
        carried={},
    )


def household_file() -> Path:
    return data_folder() / "census_households" / "households.csv.gz"


def households() -> Forest:
    """Incomes, with zone, size, race, type, cars and the head's age as quasi-identifiers."""
    with gzip.open(household_file(), "rt", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    domains: dict[str, QuasiDomain] = {
        "taz": DOMAINS["flat"](),
        "persons": DOMAINS["interval"](steps=[1, 2, 4, 8]),
        "race_id": DOMAINS["flat"](),
        "hht": DOMAINS["flat"](),
        "cars": DOMAINS["interval"](steps=[1, 2]),
        "age_of_head": DOMAINS["interval"](steps=[1, 5, 10, 20]),
    }
    columns = [np.array([int(own[name]) for own in rows]) for name in domains]
    return forest_of(list(domains.values()), columns, np.array([int(own["hincp"]) for own in rows]))


def adult_file() -> Path:
    return data_folder() / "adult" / "adult_arx_30162.csv"


def adult() -> Forest:
    """Adult with its eight quasi-identifiers, taxonomies and occupation as the sensitive attribute."""
    hierarchies = adult_file().parent / "hierarchies"
    with adult_file().open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter=";"))
    domains = {
        name: DOMAINS["taxonomy"](file=str(hierarchies / f"adult_hierarchy_{name}.csv"))
        for name in (*QI8, "occupation")
    }
    columns = {name: np.array([own[name] for own in rows]) for name in domains}
    quasi = [columns[name] for name in QI8]
    own = [domains[name] for name in QI8]
    return forest_of(own, quasi, columns["occupation"], domains["occupation"])


def synthetic(rows: int) -> Forest:
    """Eight quasi-identifiers shaped like Adult's, and incomes in hundreds beside them."""
    rng = np.random.default_rng(11)
    age = np.clip(rng.normal(38, 13, rows), 17, 90).astype(np.int64)
    shapes = ((16, [2, 4, 8]), (42, [3, 9]), (7, [2, 4]), (8, [2, 4]), (5, [5]), (2, [2]), (2, [2]))
    skewed = [(values * rng.beta(1, 2.5, rows)).astype(np.int64) for values, _ in shapes]
    domains = [DOMAINS["interval"](steps=[1, *steps]) for _, steps in ((0, [5, 10, 20]), *shapes)]
    incomes = 100 * (rng.lognormal(6, 0.8, rows) * (1 + age / 90)).astype(np.int64)
    return forest_of(domains, [age, *skewed], incomes)


def bound(forest: Forest, *models: PrivacyModel) -> Constraints:
    ((domain,),) = forest.domains
    on_values = tuple(model.bind(domain) for model in models if model.per_attribute)
    return Constraints(
        tuple(model.bind(None) for model in models if not model.per_attribute), ((on_values,),)
    )


def timed(forest: Forest, engine: str, constraints: Constraints) -> tuple[Partition, float]:
    start = time.perf_counter()
    partition = ENGINES[engine]().find_classes(
        StepInput(forest, Scope.of(forest), constraints, None, np.random.default_rng(1))
    )
    return partition, time.perf_counter() - start


def per_value(forest: Forest, partition: Partition) -> float:
    """LM per quasi-identifier value, a suppressed row's counted as 1."""
    kept = np.flatnonzero(partition.equivalence_class >= 0)
    width = len(forest.hierarchies[0])
    published = partition.nodes[forest.first_node[partition.representative[kept]][:, None] + np.arange(width)]
    total = sum(int(own[published[:, at]].sum()) for at, own in enumerate(forest.losses[0]))
    return (total / forest.scale / width + len(partition.equivalence_class) - len(kept)) / len(
        partition.equivalence_class
    )


def show_households() -> None:
    if not household_file().exists():
        sys.stdout.write(f"\nHousehold incomes: skipped, {household_file().name} is not there.\n")
        return
    forest = households()
    header(
        f"Incomes of {forest.record_count:,} households under (delta,l)-diversity",
        *("delta", "l", "bound", "spread", "LM", "s", "mondrian", "LM", "s"),
    )
    for delta, l in PAIRS:  # noqa: E741
        constraints = bound(forest, MODELS["delta-l-diversity"](delta=str(delta), l=str(l)))
        apart, least = nearness(forest, Scope.of(forest), constraints)
        most = len(apart.tracks(np.arange(forest.record_count), least))
        cells: list[str] = []
        for engine in ("spread", "mondrian"):
            partition, seconds = timed(forest, engine, constraints)
            published = int((partition.equivalence_class >= 0).sum())
            cells += [f"{published:,}", f"{per_value(forest, partition):.4f}", f"{seconds:.2f}"]
        row(delta, l, f"{most:,}", *cells)


WORK: dict[str, tuple[str, tuple[PrivacyModel, ...]]] = {
    "mondrian, k = 5": ("mondrian", (MODELS["k-anonymity"](k=5),)),
    "mondrian, k = 5 and frequency l = 4": (
        "mondrian",
        (MODELS["k-anonymity"](k=5), MODELS["frequency-l-diversity"](l=4)),
    ),
    "mondrian, delta = 500, l = 4": ("mondrian", (MODELS["delta-l-diversity"](delta=500, l=4),)),
    "spread, delta = 500, l = 4": ("spread", (MODELS["delta-l-diversity"](delta=500, l=4),)),
    "spread, delta = 7500, l = 4 (crowded)": ("spread", (MODELS["delta-l-diversity"](delta=7500, l=4),)),
}


def show_adult() -> None:
    if not adult_file().exists():
        sys.stdout.write(f"\nAdult: skipped, {adult_file().name} is not there.\n")
        return
    forest = adult()
    header(
        f"mondrian on Adult, {forest.record_count:,} rows, 8 quasi-identifiers, k = 5",
        *("and", "LM per value", "ARX 3.9.2, local recoding", "suppressed", "s"),
    )
    for models, arx in (
        ([], "0.0329 / 0.0284"),
        ([MODELS["distinct-l-diversity"](l=4)], "0.0443 / 0.0407"),
        ([MODELS["frequency-l-diversity"](l=4)], ""),
        ([MODELS["t-closeness"](t="0.2", distance="hierarchical")], "0.363 / 0.326 / 0.323"),
        ([MODELS["t-closeness"](t="0.2")], "0.456"),
    ):
        constraints = bound(forest, MODELS["k-anonymity"](k=5), *models)
        partition, seconds = timed(forest, "mondrian", constraints)
        gone = int((partition.equivalence_class < 0).sum())
        row(
            ", ".join(own.kind for own in models),
            f"{per_value(forest, partition):.4f}",
            arx,
            gone,
            f"{seconds:.2f}",
        )


def show_growth(sizes: Sequence[int]) -> None:
    cells = [f"{size:,} s" for size in sizes]
    header("How the time grows", "work", *cells, "exponent", *(f"LM {size:,}" for size in sizes))
    forests = [synthetic(size) for size in sizes]
    warm = synthetic(1000)
    for name, (engine, models) in WORK.items():
        timed(warm, engine, bound(warm, *models))  # compiles, where the cache is empty
        found = [timed(forest, engine, bound(forest, *models)) for forest in forests]
        seconds = [own for _, own in found]
        exponent = log(seconds[-1] / seconds[0]) / log(sizes[-1] / sizes[0]) if len(sizes) > 1 else 1.0
        losses = [f"{per_value(forest, own):.4f}" for forest, (own, _) in zip(forests, found, strict=True)]
        row(name, *(f"{own:.2f}" for own in seconds), f"{exponent:.2f}", *losses)


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="rows of the synthetic tables")
    return options


def main(argv: list[str] | None = None) -> None:
    arguments = parser().parse_args(argv)
    show_households()
    show_adult()
    show_growth(arguments.sizes)


if __name__ == "__main__":
    main()
