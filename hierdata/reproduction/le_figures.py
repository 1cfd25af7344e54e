"""LE table VI and figures 2 to 7: (l,e)-diversity against l-diversity on Adult, and what section V claims."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import Any

from hierdata.engines import ENGINES
from hierdata.forest.partition import Partition
from hierdata.forest.publication import publish_grouped
from hierdata.metrics import METRICS
from hierdata.pipeline.points import JSON
from hierdata.policy.load import from_data
from hierdata.policy.policy import Policy
from hierdata.release.charts import Line, LineChart
from hierdata.reproduction.exhibit import Cell, Exhibit, Grid, describe_differences, read_grid
from hierdata.reproduction.le_claims import (
    Contrast,
    Describe,
    Repeats,
    describe_degree,
    describe_loss,
    describe_time,
)
from hierdata.reproduction.le_formulas import draw
from hierdata.reproduction.small_data import EncodedRecords, encode_records, find_classes
from hierdata.reproduction.study import MISSING, NUMBERS, Adult, Study

COLUMNS = ("age", "workclass", "marital-status", "sex", "race", "education")
"""The six attributes of table VI; the last is sensitive."""
TREE_OF_EDUCATION: dict[str, Any] = {
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
"""Our tree of education, for which the paper gives none (LE-13): leaves at depth 3, five buckets at e = 1."""
PRESETS = {"l-diversity": "anatomy-l", "(l,e)-diversity": "MBF"}
"""The models that section V compares, and the preset of each; both run the same engine."""
E = 1
_TIMED = 5
"""How often a search is run for its time."""


def policy_for(
    preset: str,
    l: int,  # noqa: E741  (the paper's letter)
    sensitive: str = COLUMNS[-1],
    tree: Mapping[str, Any] = TREE_OF_EDUCATION,
    e: int = E,
) -> Policy:
    """Return the policy of a setting: quasi-identifiers as they are, the sensitive attribute in a tree."""
    quasi = {f"$['{name}']": {"role": "quasi", "flat": True, "missing": [MISSING]} for name in COLUMNS[1:-1]}
    age = {"role": "quasi", "interval": {"steps": [1, 5, 10, 20]}}
    of_tree = {"role": "sensitive", "taxonomy": {"tree": {"*": tree}}}
    model: dict[str, Any] = {"kind": "frequency-l-diversity", "l": l}
    if preset == "MBF":
        model = {"kind": "l-e-diversity", "l": l, "e": e}
    return from_data(
        {
            "version": 1,
            "fields": {"$.age": age, **quasi, f"$.{sensitive}": of_tree},
            "models": [model],
            "engine": {"preset": preset},
        }
    )


def search_classes(data: EncodedRecords, seed: int) -> Partition:
    """Return the classes that MBF finds, ties broken by a seed."""
    (stage,) = data.prepared.stages
    return find_classes(data.forest, ENGINES["mbf"](kind="mbf"), stage.constraints, seed)


def measure_classes_of(data: EncodedRecords, partition: Partition) -> dict[str, Fraction]:
    """Return what section V measures, and what it leaves out.

    ``suppressed`` rows; ``loss`` with 1 for each of them and ``loss_published`` without (LE-6);
    ``degree`` as printed and the mean distance of two values of a class (LE-8). Both are 0 without classes.
    """
    publication = publish_grouped(data.forest, (partition,), ())
    gone = int((partition.equivalence_class < 0).sum())
    loss = METRICS["reconstruction_error"]().of(publication, data.forest)[0].value
    degree, mean = (figure.value for figure in METRICS["diversity_degree"]().of(publication, data.forest))
    figures: dict[str, int | float | Fraction] = {
        "suppressed": gone,
        "classes": partition.class_count,
        "loss_published": Fraction(loss) - gone,
        "loss": loss,
        "degree": degree,
        "mean_distance": mean,
    }
    return {name: Fraction(value) for name, value in figures.items()}


def measure_setting(adult: Adult, preset: str, n: int, l: int, seed: int) -> JSON:  # noqa: E741
    """Measure one setting on n rows drawn by the seed; fractions as text, ``seconds`` as a number.

    ``seconds`` are CPU seconds of the search, the median of five runs after one that compiles.
    """
    rows = adult.draw(COLUMNS, n, seed)
    data = encode_records(rows, policy_for(preset, l))
    partition = search_classes(data, seed)
    spent = []
    for _ in range(_TIMED):
        start = time.process_time()
        search_classes(data, seed)
        spent.append(time.process_time() - start)
    figures = {name: str(value) for name, value in measure_classes_of(data, partition).items()}
    return {**figures, "rows": str(len(rows)), "seconds": median(spent)}


SIZES = (5_000, 10_000, 15_000, 20_000, 25_000, 30_000)
"""n of figures 2, 4 and 6; the last is that of figures 3, 5 and 7."""
DIVERSITIES = (2, 3, 4, 5, 6)
"""l of figures 3, 5 and 7. The axes of the paper's plots are not known."""
L = 4
"""l of figures 2, 4 and 6."""
_NAMES = {
    "age": "Age",
    "workclass": "Workclass",
    "marital-status": "Marriage",
    "sex": "Gender",
    "race": "Race",
    "education": "Education",
}


@dataclass(frozen=True)
class Quantity:
    """What a chart shows: the name of a figure, the chart's title and the label of its axis."""

    name: str
    title: str
    label: str
    cell: Callable[[Fraction], Cell] = float


LOSS = (
    Quantity("loss_published", "IL of what is published", "information loss", round),
    Quantity("loss", "IL with 1 for each suppressed row", "information loss", round),
    Quantity("suppressed", "suppressed rows", "rows", round),
)
DEGREE = (
    Quantity("degree", "diversity degree as printed", "DOT"),
    Quantity("mean_distance", "mean distance of two values", "distance"),
)
TIME = (Quantity("seconds", "execution time", "CPU seconds"),)


@dataclass(frozen=True)
class FigurePair:
    """Two figures of one subject, over n and over l, with the paper's claim about both."""

    labels: tuple[str, str]
    title: str
    says: str
    quantities: tuple[Quantity, ...]
    describe: Describe
    errata: tuple[str, ...]


PAIRS = (
    FigurePair(
        ("Figure 2", "Figure 3"),
        "Information loss",
        "(l,e)-diversity is said to lose more than l-diversity.",
        LOSS,
        describe_loss,
        ("LE-5", "LE-6", "LE-13"),
    ),
    FigurePair(
        ("Figure 4", "Figure 5"),
        "Diversity degree",
        "(l,e)-diversity is said to have the higher diversity degree, and so to protect more.",
        DEGREE,
        describe_degree,
        ("LE-8", "LE-13"),
    ),
    FigurePair(
        ("Figure 6", "Figure 7"),
        "Execution time",
        "MBF is said to take longer for (l,e)-diversity than for l-diversity.",
        TIME,
        describe_time,
        ("LE-11", "LE-13"),
    ),
)


def show_table_vi(study: Study) -> Exhibit:
    """Return table VI, with what the table at hand has, and our tree of education (LE-13)."""
    printed = read_grid("LE", "table VI")
    rows = study.adult.draw(COLUMNS)
    counted = {name: Counter(row[name] for row in rows if row[name] != MISSING) for name in COLUMNS}
    kinds = {name: "Numeric" if name in NUMBERS else "Categorical" for name in COLUMNS} | {
        COLUMNS[-1]: "Sensitive"
    }
    ours = Grid(
        printed.columns, tuple((_NAMES[name], kinds[name], len(counted[name]), None) for name in COLUMNS)
    )
    tree = _with_counts(TREE_OF_EDUCATION, counted[COLUMNS[-1]])
    return Exhibit(
        "Table VI",
        "The six attributes of Adult",
        "The heights of the quasi-identifiers' trees are printed, though anatomy publishes them "
        "unchanged. For education, which needs a tree, none is given: the one below is ours. With e = 1 "
        "its five lowest groups are the buckets.",
        printed,
        ours=ours,
        drawing="\n".join(["education", *draw(tree, "  ")]),
        differs=f"{describe_differences(printed, ours)} {describe_rows(len(rows))}".strip(),
        errata=("LE-13",),
    )


def describe_rows(count: int) -> str:
    """Return a sentence on the number of rows, empty if it is the paper's."""
    (stated,) = (row[1] for row in read_grid("LE", "section V").rows if row[0] == "records")
    return "" if count == stated else f"The paper has {stated:,} rows, this table {count:,}."


def show_figures(study: Study) -> list[Exhibit]:
    """Return figures 2 to 7."""
    sizes = sorted({study.effort.scale_records(n) for n in SIZES})
    largest = sizes[-1]
    runs = measure_settings(study, [*((n, L) for n in sizes), *((largest, least) for least in DIVERSITIES)])
    over_n = [Contrast(n, *(runs[model, n, L] for model in PRESETS)) for n in sizes]
    over_l = [Contrast(least, *(runs[model, largest, least] for model in PRESETS)) for least in DIVERSITIES]
    return [
        exhibit
        for pair in PAIRS
        for exhibit in (
            _show_figure(pair, pair.labels[0], "n", over_n, f"l = {L}"),
            _show_figure(pair, pair.labels[1], "l", over_l, f"n = {largest:,}"),
        )
    ]


def measure_settings(
    study: Study, settings: Sequence[tuple[int, int]]
) -> Mapping[tuple[str, int, int], Repeats]:
    """Return the runs of each model at each n and l, one for each repeat of the study."""
    arguments = {
        (model, n, least): {"preset": preset, "n": n, "l": least}
        for n, least in dict.fromkeys(settings)
        for model, preset in PRESETS.items()
    }
    return {
        setting: Repeats(tuple({name: Fraction(value) for name, value in run.items()} for run in runs))
        for setting, runs in study.repeat(measure_setting, arguments).items()
    }


def _show_figure(
    pair: FigurePair, label: str, axis: str, contrasts: Sequence[Contrast], fixed: str
) -> Exhibit:
    return Exhibit(
        label,
        f"{pair.title} over {axis}, {fixed}, e = 1",
        f"{pair.says} The paper has a plot only.",
        ours=_grid(pair, axis, contrasts),
        charts=tuple(_chart(quantity, axis, contrasts, fixed) for quantity in pair.quantities),
        differs=pair.describe(contrasts, axis),
        errata=pair.errata,
    )


def _grid(pair: FigurePair, axis: str, contrasts: Sequence[Contrast]) -> Grid:
    columns = (axis, *(f"{model}: {quantity.title}" for model in PRESETS for quantity in pair.quantities))
    rows = tuple(
        (
            contrast.x,
            *(
                quantity.cell(repeats.mean(quantity.name)) if _is_shown(quantity, repeats) else None
                for repeats in (contrast.plain, contrast.semantic)
                for quantity in pair.quantities
            ),
        )
        for contrast in contrasts
    )
    return Grid(columns, rows)


def _chart(quantity: Quantity, axis: str, contrasts: Sequence[Contrast], fixed: str) -> LineChart:
    series = (
        [(contrast.x, contrast.plain) for contrast in contrasts],
        [(contrast.x, contrast.semantic) for contrast in contrasts],
    )
    return LineChart(
        quantity.title.capitalize() if quantity.title.islower() else quantity.title,
        f"{quantity.title} over {axis} at {fixed}: l-diversity and (l,e)-diversity with e = 1.",
        axis,
        quantity.label,
        tuple(
            Line(
                model, tuple(runs.point(x, quantity.name) for x, runs in points if _is_shown(quantity, runs))
            )
            for model, points in zip(PRESETS, series, strict=True)
        ),
    )


def _is_shown(quantity: Quantity, repeats: Repeats) -> bool:
    """Return whether there is such a number: without classes only the suppressed rows are known."""
    return repeats.publishes or quantity.name == "suppressed"


def _with_counts(tree: Any, counted: Counter[Any]) -> Any:
    """Return a tree with the number of rows behind each label."""
    if isinstance(tree, list):
        return {f"{value} ({counted[value]:,})": {} for value in tree}
    return {
        f"{label} ({_count_rows(below, counted):,})": _with_counts(below, counted)
        for label, below in tree.items()
    }


def _count_rows(tree: Any, counted: Counter[Any]) -> int:
    return (
        sum(_count_rows(below, counted) for below in tree.values())
        if isinstance(tree, dict)
        else sum(map(counted.__getitem__, tree))
    )
