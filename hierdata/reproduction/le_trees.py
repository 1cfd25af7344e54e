"""LE's model at e of 1 and 2 on two trees: what section V leaves open, measured on Adult like its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from statistics import fmean
from typing import Any

from hierdata.pipeline.points import JSON
from hierdata.reproduction.exhibit import Cell, Exhibit, Grid
from hierdata.reproduction.le_example import most_publishable
from hierdata.reproduction.le_figures import (
    COLUMNS,
    PRESETS,
    TREE_OF_EDUCATION,
    measure_classes_of,
    policy_for,
    search_classes,
)
from hierdata.reproduction.le_formulas import draw
from hierdata.reproduction.small_data import encode_records
from hierdata.reproduction.study import MISSING, Adult, Study

TREE_OF_OCCUPATION: dict[str, Any] = {
    "office": {
        "leading": ["Exec-managerial", "Prof-specialty"],
        "clerical": ["Adm-clerical", "Sales", "Tech-support"],
    },
    "manual": {
        "making": ["Craft-repair", "Machine-op-inspct"],
        "moving": ["Transport-moving", "Handlers-cleaners"],
    },
    "other": {
        "service": ["Other-service", "Priv-house-serv"],
        "land and safety": ["Farming-fishing", "Protective-serv", "Armed-Forces"],
    },
}
"""A second tree, of another attribute; like that of education, its leaves have depth 3."""
TREES: dict[str, dict[str, Any]] = {"education": TREE_OF_EDUCATION, "occupation": TREE_OF_OCCUPATION}
N = 10_000
L, ES = (2, 3), (0, 1, 2)
"""With e = 0 values differ, with 1 their parents do, with 2 what is above these."""


def find_groups(tree: Mapping[str, Any], e: int) -> list[list[str]]:
    """Return the values that are at most e apart, in groups; all leaves have depth 3.

    >>> len(find_groups(TREE_OF_EDUCATION, 2)), len(find_groups(TREE_OF_EDUCATION, 1))
    (2, 5)
    """
    by_depth = {
        2: [[leaf for leaves in below.values() for leaf in leaves] for below in tree.values()],
        1: [list(leaves) for below in tree.values() for leaves in below.values()],
        0: [[leaf] for below in tree.values() for leaves in below.values() for leaf in leaves],
    }
    return by_depth[e]


def measure_similarity(adult: Adult, sensitive: str, preset: str, e: int, n: int, l: int, seed: int) -> JSON:  # noqa: E741
    """Measure one setting on n rows, without those that miss the value; fractions as text.

    ``most`` is the share of rows that the formula of LE-3 gives.
    """
    columns = (*COLUMNS[:-1], sensitive)
    rows = [row for row in adult.draw(columns, n, seed) if row[sensitive] != MISSING]
    data = encode_records(rows, policy_for(preset, l, sensitive, TREES[sensitive], e))
    figures = measure_classes_of(data, search_classes(data, seed))
    values = [row[sensitive] for row in rows]
    sizes = [sum(map(values.count, group)) for group in find_groups(TREES[sensitive], e)]
    most = Fraction(most_publishable(sizes, l), max(1, len(rows)))
    return {
        **{name: str(value) for name, value in figures.items()},
        "rows": str(len(rows)),
        "most": str(most),
    }


@dataclass(frozen=True)
class Setting:
    """The means over the repeats of one setting: published share, what was possible, and two distances."""

    published: Fraction
    most: Fraction
    loss: float
    mean_distance: float


def show_trees(study: Study) -> Exhibit:
    """Return what (l,e)-diversity publishes and loses at each e on each tree, beside l-diversity."""
    n = study.effort.scale_records(N)
    settings = _measure(study, n)
    columns = (
        "tree, l, model",
        "published %",
        "possible %",
        "IL with 1 for each suppressed row",
        "mean distance of two values",
    )
    derived, ours = [], []
    for (sensitive, l, model, e), setting in settings.items():  # noqa: E741
        name = f"{sensitive}, l = {l}, {model}" + (f" e = {e}" if model != "l-diversity" else "")
        derived.append((name, None, _percent(setting.most), None, None))
        ours.append((name, _percent(setting.published), None, round(setting.loss), setting.mean_distance))
    drawing = "\n".join(["occupation", *draw(_nest(TREE_OF_OCCUPATION), "  ")])
    return Exhibit(
        "Section V, two trees",
        f"(l,e)-diversity at e = {', '.join(map(str, ES))} on two trees, {n:,} rows",
        "The paper measures e = 1 on a tree of education that it does not show. Here are a tree of "
        "education and one of occupation, both ours, with the rows that have a value; e = 2 asks that not "
        "even the parents of two values have a common parent. The first grid is the most that any method can "
        "publish, from the counts alone.",
        derived=Grid(columns, tuple(derived)),
        ours=Grid(columns, tuple(ours)),
        drawing=drawing,
        differs=describe_trees(settings),
        errata=("LE-3", "LE-6", "LE-13"),
    )


Settings = Mapping[tuple[str, int, str, int], Setting]


def describe_trees(settings: Settings) -> str:
    """Return whether the model publishes what is possible, and what larger e costs and brings."""
    less = [name for name, setting in settings.items() if setting.published < setting.most]
    sentences = [
        "Everything that is possible is published in every setting"
        if not less
        else f"Less than possible is published at {len(less)} of {len(settings)} settings"
    ]
    for sensitive in TREES:
        for l in L:  # noqa: E741
            chosen = [settings[sensitive, l, "(l,e)-diversity", e] for e in ES]
            shares = ", ".join(f"{float(100 * setting.published):.1f} %" for setting in chosen)
            distances = (f"{each.mean_distance:.2f}" if each.published else "-" for each in chosen)
            sentences.append(
                f"{sensitive}, l = {l}: e = {', '.join(map(str, ES))} publishes {shares} of the rows "
                f"at mean distances of {', '.join(distances)}"
            )
    return f"{'; '.join(sentences)}."


def _measure(study: Study, n: int) -> Settings:
    models = [("l-diversity", 0), *(("(l,e)-diversity", e) for e in ES)]
    arguments = {
        (sensitive, l, model, e): {"sensitive": sensitive, "preset": PRESETS[model], "e": e, "n": n, "l": l}
        for sensitive, l, (model, e) in product(TREES, L, models)  # noqa: E741
    }
    measured = study.repeat(measure_similarity, arguments)
    return {setting: _summarize(runs) for setting, runs in measured.items()}


def _summarize(runs: Sequence[Mapping[str, str]]) -> Setting:
    rows = sum(int(run["rows"]) for run in runs)
    gone = sum((Fraction(run["suppressed"]) for run in runs), Fraction(0))
    most = sum((Fraction(run["most"]) * int(run["rows"]) for run in runs), Fraction(0))
    return Setting(
        1 - gone / rows,
        most / rows,
        fmean(float(Fraction(run["loss"])) for run in runs),
        fmean(float(Fraction(run["mean_distance"])) for run in runs),
    )


def _nest(tree: Any) -> dict[str, Any]:
    """Return a tree with its lists of leaves as nodes without children."""
    return {node: _nest(tree[node]) if isinstance(tree, Mapping) else {} for node in tree}


def _percent(share: Fraction) -> Cell:
    return round(float(100 * share), 1)
