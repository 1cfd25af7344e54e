"""LE table VI and figures 2 to 7: (l,e)-diversity against l-diversity on Adult, and what section V claims."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean, median
from typing import Any

import numpy as np

from hierdata.engines import ENGINES
from hierdata.executors.points import JSON
from hierdata.forest.forest import Scope
from hierdata.forest.partition import Partition
from hierdata.forest.publication import publish_grouped
from hierdata.metrics import METRICS
from hierdata.policy.load import from_data
from hierdata.policy.policy import Policy
from hierdata.release.charts import Line, LineChart, Point
from hierdata.reproduction.exhibit import Cell, Exhibit, Grid, describe_differences, grid_of, read_printed
from hierdata.reproduction.le_formulas import draw
from hierdata.reproduction.small_data import EncodedRecords, encode_records
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


def policy_for(preset: str, l: int) -> Policy:  # noqa: E741  (the paper's letter)
    """Return the policy of a setting: quasi-identifiers as they are, education in our tree."""
    quasi = {f"$['{name}']": {"role": "quasi", "flat": True, "missing": [MISSING]} for name in COLUMNS[1:-1]}
    age = {"role": "quasi", "interval": {"steps": [1, 5, 10, 20]}}
    sensitive = {"role": "sensitive", "taxonomy": {"tree": {"*": TREE_OF_EDUCATION}}}
    model: dict[str, Any] = {"kind": "frequency-l-diversity", "l": l}
    if preset == "MBF":
        model = {"kind": "l-e-diversity", "l": l, "e": E}
    return from_data(
        {
            "version": 1,
            "fields": {"$.age": age, **quasi, "$.education": sensitive},
            "models": [model],
            "engine": {"preset": preset},
        }
    )


def search_classes(data: EncodedRecords, seed: int) -> Partition:
    """Return the classes that MBF finds, ties broken by a seed."""
    (stage,) = data.prepared.stages
    rng = np.random.default_rng(seed)
    return ENGINES["mbf"](kind="mbf").step(data.forest, Scope.of(data.forest), stage.constraints, None, rng)


def measure_classes_of(data: EncodedRecords, partition: Partition) -> dict[str, Fraction]:
    """Return what section V measures, and what it leaves out.

    ``suppressed`` rows; ``loss`` with 1 for each of them and ``loss_published`` without (LE-6);
    ``degree`` as printed and the mean distance of two values of a class (LE-8). Both are 0 without classes.
    """
    publication = publish_grouped(data.forest, (partition,), ())
    gone = int((partition.equivalence_class < 0).sum())
    loss = METRICS["reconstruction_error"]().of(publication, data.forest)[0].value
    degree, mean = (one.value for one in METRICS["diversity_degree"]().of(publication, data.forest))
    found: dict[str, int | float | Fraction] = {
        "suppressed": gone,
        "classes": partition.class_count,
        "loss_published": Fraction(loss) - gone,
        "loss": loss,
        "degree": degree,
        "mean_distance": mean,
    }
    return {name: Fraction(value) for name, value in found.items()}


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


Measured = Mapping[str, Fraction]
"""The figures of one run, by name (see experiment.measure_setting)."""
LONGER = Fraction(11, 10)
"""How many times as long a search must take to count as slower; less is noise."""


@dataclass(frozen=True)
class Repeats:
    """The runs of one setting under one model, which differ by the rows drawn."""

    runs: tuple[Measured, ...]

    def mean(self, name: str) -> Fraction:
        """Return the mean of a figure over the runs."""
        return sum((run[name] for run in self.runs), Fraction(0)) / len(self.runs)

    def point(self, x: float, name: str) -> Point:
        """Return a figure as a point of a chart: its mean, least and most."""
        values = [float(run[name]) for run in self.runs]
        return Point(x, fmean(values), min(values), max(values))

    @property
    def publishes(self) -> bool:
        """Whether every run published a class."""
        return all(run["classes"] for run in self.runs)


@dataclass(frozen=True)
class Contrast:
    """The two models at one setting; ``x`` is its n or l."""

    x: int
    plain: Repeats
    semantic: Repeats

    def compare(self, name: str) -> int:
        """Return 1 if the figure is larger under (l,e)-diversity, -1 if smaller, 0 if equal."""
        left, right = self.semantic.mean(name), self.plain.mean(name)
        return (left > right) - (left < right)


def describe_loss(contrasts: Sequence[Contrast], axis: str) -> str:
    """Return whether (l,e)-diversity loses more, as the paper counts and with suppressed rows at 1 (LE-6)."""
    both = _select_comparable(contrasts)
    if not both:
        return _describe_nothing(contrasts, axis)
    as_counted = [one.compare("loss_published") for one in both]
    charged = [one.compare("loss") for one in both]
    return (
        f"The claim that (l,e)-diversity loses more {_verdict(as_counted)} as the paper counts, where "
        f"suppressed rows cost nothing: {_count(as_counted, 'more', 'less')}. With 1 for each suppressed "
        f"row it {_verdict(charged)}: {_count(charged, 'more', 'less')}. (l,e)-diversity suppresses "
        f"{_range(both, _semantic_suppression)} of the rows, l-diversity "
        f"{_range(both, _plain_suppression)}.{_describe_nothing(contrasts, axis, ' ')}"
    )


def describe_degree(contrasts: Sequence[Contrast], axis: str) -> str:
    """Return whether the diversity degree is higher, as printed and as the mean distance of a pair (LE-8)."""
    both = _select_comparable(contrasts)
    if not both:
        return _describe_nothing(contrasts, axis)
    printed, mean = ([one.compare(name) for one in both] for name in ("degree", "mean_distance"))
    growth = ""
    if axis == "l" and len(both) > 1 and _rises(both, "degree") and not _rises(both, "mean_distance"):
        growth = (
            f" From l = {both[0].x} to {both[-1].x} the degree rises under both models and the mean "
            "distance does not: as printed the degree counts the size of classes."
        )
    return (
        f"The claim that (l,e)-diversity has the higher degree {_verdict(printed)}: "
        f"{_count(printed, 'higher', 'lower')}. The mean distance of two values of a class, which does not "
        f"grow with the class, is {_count(mean, 'higher', 'lower')}.{growth} (l,e)-diversity "
        f"suppresses {_range(both, _semantic_suppression)} of the rows, l-diversity "
        f"{_range(both, _plain_suppression)}.{_describe_nothing(contrasts, axis, ' ')}"
    )


def describe_time(contrasts: Sequence[Contrast], axis: str) -> str:
    """Return whether the search for (l,e)-diversity takes longer."""
    both = _select_comparable(contrasts)
    if not both:
        return _describe_nothing(contrasts, axis)
    ratios = [
        one.semantic.mean("seconds") / max(one.plain.mean("seconds"), Fraction(1, 10**9)) for one in both
    ]
    slower = [(ratio > LONGER) - (ratio < 1 / LONGER) for ratio in ratios]
    return (
        f"The claim that (l,e)-diversity takes longer {_verdict(slower)}: its search takes "
        f"{_times(min(ratios))} to {_times(max(ratios))} times the CPU seconds of that for l-diversity "
        f"(within a tenth counts as equal: {_count(slower, 'longer', 'shorter')}). Both run the same "
        f"engine.{_describe_nothing(contrasts, axis, ' ')}"
    )


def _select_comparable(contrasts: Sequence[Contrast]) -> list[Contrast]:
    return [one for one in contrasts if one.plain.publishes and one.semantic.publishes]


def _describe_nothing(contrasts: Sequence[Contrast], axis: str, before: str = "") -> str:
    """Return a sentence on the settings where a model publishes nothing, which are not compared."""
    lost = [one for one in contrasts if not (one.plain.publishes and one.semantic.publishes)]
    if not lost:
        return ""
    plain = any(not one.plain.publishes for one in lost)
    semantic = any(not one.semantic.publishes for one in lost)
    who = " or ".join(["l-diversity"] * plain + ["(l,e)-diversity"] * semantic)
    values = ", ".join(str(one.x) for one in lost)
    return f"{before}At {axis} = {values} {who} publishes nothing; that is not compared."


def _verdict(signs: Sequence[int]) -> str:
    if all(sign > 0 for sign in signs):
        return "holds"
    return "holds in part" if any(sign > 0 for sign in signs) else "does not hold"


def _count(signs: Sequence[int], more: str, less: str) -> str:
    named = ((1, more), (-1, less), (0, "equal"))
    found = [f"{word} at {signs.count(sign)}" for sign, word in named if sign in signs]
    return f"{', '.join(found)} of {len(signs)} points"


def _semantic_suppression(one: Contrast) -> Fraction:
    return one.semantic.mean("suppressed") / one.semantic.mean("rows")


def _plain_suppression(one: Contrast) -> Fraction:
    return one.plain.mean("suppressed") / one.plain.mean("rows")


def _range(contrasts: Sequence[Contrast], share: Callable[[Contrast], Fraction]) -> str:
    low, high = (
        f"{100 * float(end):.1f} %" for end in (min(map(share, contrasts)), max(map(share, contrasts)))
    )
    return low if low == high else f"{low} to {high}"


def _rises(contrasts: Sequence[Contrast], name: str) -> bool:
    first, last = contrasts[0], contrasts[-1]
    return all(
        getattr(last, model).mean(name) > getattr(first, model).mean(name) for model in ("plain", "semantic")
    )


def _times(ratio: Fraction) -> str:
    return f"{float(ratio):.2f}"


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
}
_NAMES |= {"education": "Education"}


@dataclass(frozen=True)
class Quantity:
    """What a chart shows: the name of a figure, the chart's title and the label of its axis."""

    name: str
    title: str
    label: str
    cell: Callable[[Fraction], Cell] = float


LOSS = (
    Quantity("loss_published", "IL of what is published", "information loss", lambda value: round(value)),
    Quantity("loss", "IL with 1 for each suppressed row", "information loss", lambda value: round(value)),
    Quantity("suppressed", "suppressed rows", "rows", lambda value: round(value)),
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
    describe: Callable[[Sequence[Contrast], str], str]
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
    printed = grid_of(read_printed("LE")["table VI"])
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
    (stated,) = (row[1] for row in grid_of(read_printed("LE")["section V"]).rows if row[0] == "records")
    return "" if count == stated else f"The paper has {stated:,} rows, this table {count:,}."


def show_figures(study: Study) -> list[Exhibit]:
    """Return figures 2 to 7."""
    sizes = sorted({study.effort.scale_records(n) for n in SIZES})
    largest = sizes[-1]
    found = measure_settings(study, [*((n, L) for n in sizes), *((largest, least) for least in DIVERSITIES)])
    over_n = [Contrast(n, *(found[model, n, L] for model in PRESETS)) for n in sizes]
    over_l = [Contrast(least, *(found[model, largest, least] for model in PRESETS)) for least in DIVERSITIES]
    return [
        _show_figure(pair, at, axis, contrasts, fixed)
        for pair in PAIRS
        for at, axis, contrasts, fixed in ((0, "n", over_n, f"l = {L}"), (1, "l", over_l, f"n = {largest:,}"))
    ]


def measure_settings(
    study: Study, settings: Sequence[tuple[int, int]]
) -> Mapping[tuple[str, int, int], Repeats]:
    """Return the runs of each model at each n and l, one for each repeat of the study."""
    asked = [(model, n, least) for n, least in dict.fromkeys(settings) for model in PRESETS]
    repeats = range(1, study.effort.repeats + 1)
    points = study.measure_on_adult(
        measure_setting,
        [
            {"preset": PRESETS[model], "n": n, "l": least, "seed": seed}
            for model, n, least in asked
            for seed in repeats
        ],
    )
    runs = [{name: Fraction(value) for name, value in point.items()} for point in points]
    each = len(repeats)
    return {one: Repeats(tuple(runs[at * each : (at + 1) * each])) for at, one in enumerate(asked)}


def _show_figure(pair: FigurePair, at: int, axis: str, contrasts: Sequence[Contrast], fixed: str) -> Exhibit:
    return Exhibit(
        pair.labels[at],
        f"{pair.title} over {axis}, {fixed}, e = 1",
        f"{pair.says} The paper has a plot only.",
        ours=_grid(pair, axis, contrasts),
        charts=tuple(_chart(quantity, axis, contrasts, fixed) for quantity in pair.quantities),
        differs=pair.describe(contrasts, axis),
        errata=pair.errata,
    )


def _grid(pair: FigurePair, axis: str, contrasts: Sequence[Contrast]) -> Grid:
    columns = (axis, *(f"{model}: {own.title}" for model in PRESETS for own in pair.quantities))
    rows = tuple(
        (
            one.x,
            *(
                own.cell(repeats.mean(own.name)) if _is_shown(own, repeats) else None
                for repeats in (one.plain, one.semantic)
                for own in pair.quantities
            ),
        )
        for one in contrasts
    )
    return Grid(columns, rows)


def _chart(quantity: Quantity, axis: str, contrasts: Sequence[Contrast], fixed: str) -> LineChart:
    series = [[(one.x, getattr(one, model)) for one in contrasts] for model in ("plain", "semantic")]
    return LineChart(
        quantity.title.capitalize() if quantity.title.islower() else quantity.title,
        f"{quantity.title} over {axis} at {fixed}: l-diversity and (l,e)-diversity with e = 1.",
        axis,
        quantity.label,
        tuple(
            Line(model, tuple(own.point(x, quantity.name) for x, own in points if _is_shown(quantity, own)))
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
