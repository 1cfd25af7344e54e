"""Figures 5 to 7 of ML: loss, dissimilarity and time of MLevCluTree and ClusTree, with our engine beside.

The experiment is that of section 5, on data sets A and B.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np

from hierdata.engines.base import StepInput
from hierdata.forest.encoding import encode
from hierdata.forest.forest import Forest, Scope
from hierdata.metrics import METRICS
from hierdata.pipeline.look_over import open_shaped
from hierdata.policy.load import from_data, load
from hierdata.policy.plan.plan import prepare
from hierdata.policy.plan.stages import default_engines
from hierdata.policy.policy import Policy
from hierdata.records.binding import bind
from hierdata.records.survey import Survey, survey
from hierdata.release.charts import Line, LineChart
from hierdata.reproduction.exhibit import Cell, Exhibit, Grid, point_of
from hierdata.reproduction.small_data import publish_classes
from hierdata.reproduction.study import Study
from hierdata.synth import beside_students, students, write

DEPTHS = {"A": 2, "B": 3}
"""The data sets: A has students and courses (h = 2), B also instructors (h = 3)."""
CORRELATION = 0.8
"""How far courses follow majors in the synthetic data sets."""
PAPER, BASELINE = "MLevCluTree", "ClusTree"
OURS, OURS_BASELINE = "default engine, alpha", "default engine, l"


@dataclass(frozen=True)
class Algorithm:
    """What is compared: a model, the name of its parameter, and a preset (None: the default engines)."""

    model: str
    letter: str
    preset: str | None


ALGORITHMS = {
    PAPER: Algorithm("level-alpha-k", "k", "MLevCluTree"),
    BASELINE: Algorithm("frequency-l-diversity", "l", "ClusTree"),
    OURS: Algorithm("level-alpha-k", "k", None),
    OURS_BASELINE: Algorithm("frequency-l-diversity", "l", None),
}
"""The algorithms by the name in figures."""
_WARM = 40
"""Records of the run that only compiles."""


def measure_algorithms(data_set: str, population: str, records: int, seed: int) -> list[dict[str, Any]]:
    """Run each algorithm on one synthetic data set at each of ``SIZES``: figures by algorithm, and levels.

    ``loss`` is LM a record, suppressed records in full. ``dissimilarity`` is as printed (equations 6 and 7
    with siblings as aligned), None if no class is published. ``suppressed`` is the share of records.
    ``seconds`` are CPU seconds of the search, after compiling. ``levels`` are the shares of the sensitivity
    levels 1 to 5.
    """
    _warm_up(data_set)
    return _measure(data_set, population, SIZES, records, seed)


@cache
def _warm_up(data_set: str) -> None:
    """Compile, or load what is compiled, once a process."""
    _measure(data_set, "leaning", (3,), _WARM, 1)


def _measure(
    data_set: str, population: str, sizes: Sequence[int], records: int, seed: int
) -> list[dict[str, Any]]:
    depth = DEPTHS[data_set]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "students.jsonl"
        made = students(records, depth, seed, CORRELATION, 0, levels=POPULATIONS[population])
        write(made, file, beside_students(depth))
        written = load(file.with_suffix(".policy.yaml"))
        with open_shaped(file, written) as (shaped, _):
            documents = [*shaped]
        surveyed = survey(documents, written.declared_fields())
        prepared = prepare(written, surveyed)
        bound = bind(documents, prepared.binding)
        forest = encode(bound, prepared.schema, prepared.hierarchies, prepared.domains)
        levels = _shares_of_levels(forest)
        return [
            {
                "levels": levels,
                **{
                    name: _run(forest, _policy(written, k, algorithm), surveyed, seed)
                    for name, algorithm in ALGORITHMS.items()
                },
            }
            for k in sizes
        ]


def _policy(written: Policy, k: int, algorithm: Algorithm) -> Policy:
    stated = written.model_dump(mode="json", by_alias=True, exclude_unset=True)
    stated.pop("engine", None)
    stated["models"] = [{"kind": algorithm.model, algorithm.letter: k}]
    if algorithm.preset is not None:
        stated["engine"] = {"preset": algorithm.preset}
    return from_data(stated, written.folder)


def _run(forest: Forest, policy: Policy, surveyed: Survey, seed: int) -> dict[str, float | None]:
    prepared = prepare(policy, surveyed)
    steps = policy.steps or default_engines(policy, prepared.schema, prepared.constraints)
    partition, rng = None, np.random.default_rng(seed)
    start = time.process_time()
    for step in steps:
        partition = step.find_classes(
            StepInput(forest, Scope.of(forest), prepared.constraints, partition, rng)
        )
    seconds = time.process_time() - start
    assert partition is not None
    publication = publish_classes(forest, partition)
    loss = float(METRICS["lm_cost"]().of(publication, forest)[0].value)
    degrees = {figure.name: figure for figure in METRICS["dissimilarity_degree"]().of(publication, forest)}
    published = bool((partition.equivalence_class >= 0).any())
    return {
        "loss": loss / forest.record_count,
        "dissimilarity": float(degrees["as_printed"].value) if published else None,
        "suppressed": float((partition.equivalence_class < 0).mean()),
        "seconds": seconds,
    }


def _shares_of_levels(forest: Forest) -> list[float]:
    counts: Counter[int] = Counter()
    for kind, domains in enumerate(forest.domains):
        for position, domain in enumerate(domains):
            codes = forest.sensitive[forest.first_sensitive[forest.type == kind] + position]
            levels = np.array(domain.levels, np.int64)[codes[codes >= 0]]
            counts.update(levels.tolist())
    return [counts[level] / counts.total() for level in range(1, 6)]


SIZES = (2, 3, 4, 5, 6)
"""k, and l with it."""
POPULATIONS: dict[str, tuple[float, ...]] = {
    "equal": (20, 20, 20, 20, 20),
    "leaning": (50, 16, 12.5, 11, 10.5),
    "mostly 1": (80, 12, 5, 2, 1),
    "graduates": (50, 35, 15, 0, 0),
    "weaker graduates": (40, 40, 20, 0, 0),
}
"""Shares of the sensitivity levels 1 to 5 in the data sets, in percent; graduates have passed everything."""
RECORDS = 1000
_LEAST = 60

Runs = Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]
"""The settings of the runs, each with what was measured."""
Figures = Mapping[tuple[str, int, str], tuple[float, ...]]
"""The values of the repeats by population, k and algorithm."""


@dataclass(frozen=True)
class _Figure:
    """A figure of the paper: its number, what it shows, and the claim about the two algorithms.

    ``holds(paper, baseline)`` is the claim at one k: of the means of MLevCluTree and ClusTree.
    """

    number: int
    key: str
    title: str
    unit: str
    says: str
    claim: str
    holds: Callable[[float, float], bool]
    rises: str
    errata: tuple[str, ...]
    why: str = ""


_FIGURES = (
    _Figure(
        5,
        "loss",
        "information loss of a record",
        "LM a record",
        "A plot of the mean loss of a record. The paper says that it rises with k, and that MLevCluTree loses"
        " less than ClusTree.",
        "MLevCluTree loses less than ClusTree",
        lambda paper, baseline: paper < baseline,
        "The loss",
        ("ML-6", "ML-17", "ML-18"),
        " A class of k records has room for a value of level 3 from k = 3 on, of level 4 from k = 5, of"
        " level 5 from k = 10: where such values occur before, MLevCluTree suppresses their vertices.",
    ),
    _Figure(
        6,
        "dissimilarity",
        "dissimilarity degree of a class",
        "dissimilarity degree",
        "A plot of the mean dissimilarity degree of a class. The paper says that it rises with k, and that it"
        " is higher with MLevCluTree than with ClusTree.",
        "MLevCluTree has the higher dissimilarity",
        lambda paper, baseline: paper > baseline,
        "The dissimilarity",
        ("ML-6", "ML-15", "ML-18"),
    ),
    _Figure(
        7,
        "seconds",
        "time of the search",
        "CPU seconds",
        "A plot of the time. The paper says that it rises with k, and that MLevCluTree takes slightly more"
        " than ClusTree.",
        "MLevCluTree takes more time than ClusTree",
        lambda paper, baseline: paper > baseline,
        "The time",
        ("ML-17",),
    ),
)


def exhibits(study: Study) -> list[Exhibit]:
    """Return Figures 5 to 7, each for the data sets A and B."""
    records = study.effort.scale_records(round(RECORDS * study.effort.slow_scale), _LEAST)
    seeds = range(1, study.effort.repeats + 1)
    points = [
        {"data_set": data_set, "population": population, "records": records, "seed": seed}
        for data_set, population, seed in product(reversed(DEPTHS), POPULATIONS, seeds)
    ]
    measured: list[Any] = study.measure(measure_algorithms, points)
    runs = [
        ({**point, "k": k}, figures)
        for point, of_sizes in zip(points, measured, strict=True)
        for k, figures in zip(SIZES, of_sizes, strict=True)
    ]
    return [
        _exhibit(figure, part, data_set, records, [each for each in runs if each[0]["data_set"] == data_set])
        for figure in _FIGURES
        for part, data_set in zip("ab", DEPTHS, strict=True)
    ]


def _exhibit(figure: _Figure, part: str, data_set: str, records: int, runs: Runs) -> Exhibit:
    values = _collect(figure.key, runs)
    repeats = len({point["seed"] for point, _ in runs})
    return Exhibit(
        f"Figure {figure.number} ({part})",
        f"{figure.title}, data set {data_set} with h = {DEPTHS[data_set]}",
        f"{figure.says} {_describe_data(data_set, records, repeats, runs)}",
        ours=_grid(figure, values, runs),
        charts=tuple(_chart(figure, data_set, population, values) for population in POPULATIONS),
        differs=_judge(figure, values),
        errata=figure.errata,
    )


def _collect(key: str, runs: Runs) -> Figures:
    values: dict[tuple[str, int, str], tuple[float, ...]] = {}
    for (point, measured), name in product(runs, ALGORITHMS):
        value = measured[name][key]
        setting = (point["population"], point["k"], name)
        values[setting] = (*values.get(setting, ()), *([] if value is None else [value]))
    return values


def _describe_data(data_set: str, records: int, repeats: int, runs: Runs) -> str:
    """Say what data the figure is over: they are not the paper's, which are not public."""
    taken = f"{records:,} records" if records == RECORDS else f"{records:,} records instead of {RECORDS:,}"
    levels = {point["population"]: measured["levels"] for point, measured in runs if point["seed"] == 1}
    shares = "; ".join(
        f"{population} ({', '.join(f'{100 * share:.0f} %' for share in levels[population])})"
        for population in POPULATIONS
    )
    return (
        f"The paper's data are not public: here are synthetic students of the shape of {data_set}, {taken},"
        f" the mean of {repeats} data sets, of {len(POPULATIONS)} populations with these shares of the"
        f" levels 1 to 5: {shares}."
    )


def _grid(figure: _Figure, values: Figures, runs: Runs) -> Grid:
    """Tabulate the means by population and k; with the loss the share of suppressed records, a part of it."""
    columns = ["levels", "k", *ALGORITHMS]
    shown = [values]
    if figure.key == "loss":
        columns += [f"{name}, suppressed %" for name in ALGORITHMS]
        shown.append(_collect("suppressed", runs))
    rows: list[tuple[Cell, ...]] = []
    for population, k in product(POPULATIONS, SIZES):
        means = [_mean(those.get((population, k, name), ())) for those in shown for name in ALGORITHMS]
        shares = [None if mean is None else round(100 * mean, 1) for mean in means[len(ALGORITHMS) :]]
        rows.append((population, k, *means[: len(ALGORITHMS)], *shares))
    return Grid(tuple(columns), tuple(rows))


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def _chart(figure: _Figure, data_set: str, population: str, values: Figures) -> LineChart:
    lines = tuple(
        Line(name, tuple(point_of(k, runs) for k in SIZES if (runs := values[population, k, name])))
        for name in ALGORITHMS
    )
    return LineChart(
        f"Data set {data_set}, levels: {population}",
        f"{figure.title} over k from {SIZES[0]} to {SIZES[-1]}; bars show the least and most of the repeats."
        " The numbers are in the table.",
        "k = l",
        figure.unit,
        lines,
    )


def _judge(figure: _Figure, values: Figures) -> str:
    """Say in which population and at which k the claims of section 5.2 hold, and why not elsewhere."""
    holding, total = [], 0
    grown: dict[str, list[str]] = {PAPER: [], BASELINE: []}
    for population in POPULATIONS:
        means = {name: [_mean(values[population, k, name]) for k in SIZES] for name in (PAPER, BASELINE)}
        sizes = [
            k
            for k, paper, baseline in zip(SIZES, means[PAPER], means[BASELINE], strict=True)
            if paper is not None and baseline is not None and figure.holds(paper, baseline)
        ]
        total += len(sizes)
        holding.append(f"{population}: {_name_sizes(sizes)}")
        for name, those in means.items():
            grown[name] += [population] if _rises(those) else []
    most = len(SIZES) * len(POPULATIONS)
    where = "nowhere" if not total else "everywhere" if total == most else "; ".join(holding)
    rising = " and ".join(f"{name} {_name_populations(those)}" for name, those in grown.items())
    return (
        f"{figure.claim} at {total} of {most} points ({where}). {figure.rises} rises at every step of k for"
        f" {rising}.{figure.why}"
    )


def _name_populations(words: Sequence[str]) -> str:
    if not words:
        return "in no population"
    return (
        "in all populations"
        if len(words) == len(POPULATIONS)
        else f"where the levels are: {', '.join(words)}"
    )


def _name_sizes(sizes: Sequence[int]) -> str:
    if not sizes:
        return "at no k"
    return "at every k" if len(sizes) == len(SIZES) else f"at k = {', '.join(map(str, sizes))}"


def _rises(means: Sequence[float | None]) -> bool:
    return all(a is not None and b is not None and a < b for a, b in pairwise(means))
