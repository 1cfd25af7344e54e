"""DL section 4, on random classes: is (delta,l)-diversity another principle, is it monotone; and figure 3."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from hierdata.domains.proximity import fullest_window
from hierdata.pipeline.points import JSON
from hierdata.privacy import FrequencyLDiversity
from hierdata.release.charts import Line, LineChart, Point
from hierdata.reproduction.dl_examples import (
    achieved_l,
    achieved_m,
    bound_of_union,
    classes_of_figure_1,
    largest_l,
    largest_m,
    run_printed_check,
)
from hierdata.reproduction.exhibit import Cell, Exhibit, Grid, read_grid, yes_or_no
from hierdata.reproduction.small_data import judge_class
from hierdata.reproduction.study import Study

LARGEST = 20
"""Values are whole, from 0 to this."""
_DELTAS = tuple(Fraction(half, 2) for half in range(1, 9))
_SIZES = range(2, 11)
L = 2
"""The l of the claims on unions and of the procedure's decisions."""


def draw_class(rng: random.Random, size: int) -> list[int]:
    """Return random values, which may repeat."""
    return [rng.randint(0, LARGEST) for _ in range(size)]


def compare_principles(seed: int, count: int) -> JSON:
    """Count over random classes how often both principles agree, and how often the drawback is seen.

    ``definitions`` and ``models``: l at delta is m at epsilon = 2 delta. ``same_width``: l at delta is m at
    epsilon = delta. ``frequency``: l at delta = 0 is that of frequency l-diversity. ``drawback``: some value
    less gives a larger l, as {40, 60} against {40, 50, 60}.
    """
    rng = random.Random(seed)  # noqa: S311
    counts: Counter[str] = Counter()
    for _ in range(count):
        values, delta = draw_class(rng, rng.choice(_SIZES)), rng.choice(_DELTAS)
        best = largest_l(values, delta)
        frequency = judge_class(FrequencyLDiversity(l=1), values).achieved["l"]
        answers = {
            "classes": True,
            "definitions": best == largest_m(values, 2 * delta),
            "models": achieved_l(values, delta) == achieved_m(values, 2 * delta) == best,
            "same_width": best == largest_m(values, delta),
            "frequency": achieved_l(values, Fraction(0)) == frequency,
            "drawback": any(largest_l(rest, delta) > best for rest in combinations(values, len(values) - 1)),
        }
        counts.update(answers)
    return dict(counts)


def unite_classes(seed: int, count: int) -> JSON:
    """Count over pairs of (delta,2)-diverse classes how often their union is not, and the least l of one.

    ``below_bound`` counts unions with less than the bound of erratum DL-2.
    """
    rng = random.Random(seed)  # noqa: S311
    failing = below = 0
    least = Fraction(LARGEST)
    for _ in range(count):
        delta = rng.choice(_DELTAS)
        first, second = (_draw_diverse(rng, delta) for _ in range(2))
        united = achieved_l(first + second, delta)
        failing += united < L
        below += united < bound_of_union(len(first), len(second), Fraction(L))
        least = min(least, united)
    return {"pairs": count, "failing": failing, "below_bound": below, "least": str(least)}


def run_checks(seed: int, size: int, count: int) -> JSON:
    """Count over random classes of a size how the printed procedure's l compares with the exact one.

    ``too_high`` and ``too_low`` compare l, ``accepted`` and ``refused`` count wrong decisions on l = 2, and
    ``windows`` how often it is that of the fullest window of width 2 delta.
    """
    rng = random.Random(seed)  # noqa: S311
    counts: Counter[str] = Counter()
    for _ in range(count):
        values, delta = draw_class(rng, size), rng.choice(_DELTAS)
        printed, exact = run_printed_check(values, delta), achieved_l(values, delta)
        answers = {
            "too_high": printed is None or printed > exact,
            "too_low": printed is not None and printed < exact,
            "accepted": (printed is None or printed >= L) and exact < L,
            "refused": printed is not None and printed < L <= exact,
            "windows": printed == Fraction(size, fullest_window(values, 2 * delta)),
        }
        counts.update(answers)
    return dict(counts)


def _draw_diverse(rng: random.Random, delta: Fraction) -> list[int]:
    """Return a random class that is (delta,2)-diverse."""
    while True:
        values = draw_class(rng, rng.choice(_SIZES))
        if achieved_l(values, delta) >= L:
            return values


CLASSES = 2_000
"""Random classes, or pairs of them, of one repeat."""
SIZES = range(1, 11)
"""Sizes of the random classes of figure 3."""
UNIONS = (((40, 60), (50, 80), Fraction(15, 2)), ((0, 2), (1, 3), Fraction(1, 2)))
"""Two classes that satisfy l = 2 at this delta: that of section 3.2, and the smallest of whole numbers."""
CHECKED: tuple[tuple[tuple[int, ...], Fraction], ...] = (
    ((5,), Fraction(1)),
    ((40, 60), Fraction(15)),
    ((40, 50, 60), Fraction(15, 2)),
    ((40, 50, 60, 80), Fraction(15, 2)),
    ((0, 1, 2, 3), Fraction(1, 2)),
    ((0, 0, 2, 3, 4), Fraction(1, 2)),
    ((1, 4, 5, 10, 12, 15), Fraction(7, 2)),
)
"""Classes with the delta of their check: DL's own, and some in which the procedure errs."""


def show_identity(study: Study) -> Exhibit:
    """Return definition 5 against definition 2, on random classes."""
    counts = _add_up(_measure(study, compare_principles))
    count = counts["classes"]
    names = {
        "definitions": "by the definitions, l at delta is m at epsilon = 2 delta",
        "models": "by hierdata's models, l at delta is m at epsilon = 2 delta",
        "same_width": "by the definitions, l at delta is m at epsilon = delta",
        "frequency": "by hierdata's models, l at delta = 0 is that of frequency l-diversity",
        "drawback": "one value less gives a larger l",
    }
    rows = tuple((text, counts[name], Fraction(counts[name], count)) for name, text in names.items())
    return Exhibit(
        "Definition 5",
        "(delta,l)-diversity against (epsilon,m)-anonymity",
        "Values count as similar if their intervals overlap, instead of if one lies in the other's "
        "interval. That is said to be another principle, without the drawback that one more value can "
        "lower the figure.",
        _claim("another principle"),
        ours=Grid((f"of {count:,} random classes", "classes", "share"), rows),
        charts=(_chart_of_widths(),),
        differs=describe_identity(counts),
        errata=("DL-1", "DL-6", "DL-7"),
    )


def describe_identity(counts: Mapping[str, int]) -> str:
    """Return whether the two principles are one, and whether the drawback is gone, by the counts."""
    count = counts["classes"]
    if counts["definitions"] == counts["models"] == count:
        same = (
            f"In all {count:,} classes l at delta is m at epsilon = 2 delta: one principle under two names."
        )
    else:
        other = count - min(counts["definitions"], counts["models"])
        same = f"In {other:,} of {count:,} classes l at delta is not m at epsilon = 2 delta."
    if not counts["drawback"]:
        return f"{same} No class gets a larger l by one value less."
    share = counts["drawback"] / count
    return f"{same} The drawback is not gone: {share:.0%} of the classes get a larger l by one value less."


def show_monotonicity(study: Study) -> Exhibit:
    """Return the claim of section 4 that unions keep (delta,l)-diversity."""
    columns = ("classes and delta", "l of the first", "l of the second", "l of the union", "bound of DL-2")
    derived, ours = (
        tuple(_union_row(first, second, delta, of) for first, second, delta in UNIONS)
        for of in (largest_l, achieved_l)
    )
    points = _measure(study, unite_classes)
    pairs, failing, below = (
        sum(point[name] for point in points) for name in ("pairs", "failing", "below_bound")
    )
    least = min(Fraction(point["least"]) for point in points)
    counted: tuple[Cell, ...] = (
        f"the least of {pairs:,} random pairs with l of at least {L}", None, None, least, None,
    )  # fmt: skip
    return Exhibit(
        "Section 4, monotonicity",
        "Unions of two classes that satisfy the principle",
        "The union of two (delta,l)-diverse classes is said to be (delta,l)-diverse, unlike with "
        "(epsilon,m)-anonymity.",
        _claim("monotone"),
        Grid(columns, derived),
        Grid(columns, (*ours, counted)),
        differs=describe_unions([row[3] for row in derived], pairs, failing, below),
        errata=("DL-2", "DL-8"),
    )


def describe_unions(united: Sequence[Cell], pairs: int, failing: int, below: int) -> str:
    """Return whether the principle is monotone, by the examples' unions and by counts of random pairs."""
    examples = sum(isinstance(best, int | Fraction) and best < L for best in united)
    if not failing and not examples:
        return ""
    limit = (
        "none has less than the bound of DL-2"
        if not below
        else f"{below:,} have less than the bound of DL-2, which is wrong"
    )
    return (
        f"It is not monotone: l of the union is below {L} in {examples} of {len(united)} examples and in "
        f"{failing:,} of {pairs:,} random pairs ({failing / max(pairs, 1):.0%}); {limit}."
    )


def show_procedure(study: Study) -> Exhibit:
    """Return figure 3: the procedure as printed against the exact test."""
    columns = (
        "values and delta",
        "l as printed",
        f"answers l = {L}",
        "exact l",
        "right answer",
        "l of windows 2 delta",
    )
    derived = tuple(_check_row(values, delta, largest_l(values, delta)) for values, delta in CHECKED)
    ours = tuple(_check_row(values, delta, achieved_l(values, delta)) for values, delta in CHECKED)
    each = _count(study) // len(SIZES)
    settings = {size: {"size": size, "count": each} for size in SIZES}
    runs_by_size = study.repeat(run_checks, settings, on_adult=False)
    by_size = {size: _add_up(runs) for size, runs in runs_by_size.items()}
    count = each * study.effort.repeats
    return Exhibit(
        "Figure 3",
        "The procedure that checks (delta,l)-diversity",
        "A procedure that passes once over the sorted values. It measures the right end of a window from "
        "the window's left end instead of from the value in question.",
        derived=Grid(columns, derived),
        ours=Grid(columns, ours),
        charts=(_chart_of_errors(by_size, count),),
        differs=describe_procedure(by_size, count),
        errata=("DL-3",),
    )


def describe_procedure(by_size: Mapping[int, Mapping[str, int]], each: int) -> str:
    """Return how often the printed procedure errs, by size of the class; ``each`` classes have a size."""
    total = _add_up([*by_size.values()])
    count = each * len(by_size)
    if not total["too_high"] and not total["too_low"]:
        return ""
    larger = {size: counts for size, counts in by_size.items() if size > 1}
    windows = sum(counts["windows"] for counts in larger.values())
    alone = (
        " It accepts every class of one record." if 1 in by_size and by_size[1]["accepted"] == each else ""
    )
    return (
        f"Of {count:,} random classes it gives too large an l in {total['too_high']:,} and too small a one "
        f"in {total['too_low']:,}; it accepts {total['accepted']:,} that fail l = {L} and refuses "
        f"{total['refused']:,} that satisfy it.{alone} In {windows:,} of the {each * len(larger):,} classes "
        "of two records or more its answer is that of the fullest window of width 2 delta, a weaker test."
    )


def _union_row(
    first: tuple[int, ...], second: tuple[int, ...], delta: Fraction, of: Callable[..., Fraction]
) -> tuple[Cell, ...]:
    best = [of(values, delta) for values in (first, second, first + second)]
    return (
        f"{_set(first)} and {_set(second)}, {delta}",
        *best,
        bound_of_union(len(first), len(second), min(best[:2])),
    )


def _check_row(values: Sequence[int], delta: Fraction, exact: Fraction) -> tuple[Cell, ...]:
    printed = run_printed_check(values, delta)
    accepts = printed is None or printed >= L
    return (
        f"{_set(values)}, {delta}",
        "infinite" if printed is None else printed,
        yes_or_no(accepts),
        exact,
        yes_or_no(exact >= L),
        Fraction(len(values), fullest_window(values, 2 * delta)),
    )


def _chart_of_widths() -> LineChart:
    values = sorted(salary for salaries in classes_of_figure_1().values() for salary in salaries)
    widths = [Fraction(width) for width in range(0, 261)]

    def line(name: str, of: Callable[[Sequence[int], Fraction], Fraction], factor: int) -> Line:
        return Line(name, tuple(Point(float(width), float(of(values, factor * width))) for width in widths))

    return LineChart(
        "One class under both principles",
        f"The salaries of figure 1 as one class: {', '.join(map(str, values))}. Largest l and m over delta.",
        "delta",
        "l or m",
        (
            line("l at delta", achieved_l, 1),
            line("m at epsilon = 2 delta", largest_m, 2),
            line("m at epsilon = delta", achieved_m, 1),
        ),
        marked=False,
    )


def _chart_of_errors(by_size: Mapping[int, Mapping[str, int]], each: int) -> LineChart:
    named = {"too_high": "l too large", "accepted": f"accepts l = {L} wrongly"}
    return LineChart(
        "Errors of the printed procedure",
        f"Share of {each:,} random classes of each size in which the printed procedure errs.",
        "records in the class",
        "share of classes",
        tuple(
            Line(text, tuple(Point(size, counts[name] / each) for size, counts in by_size.items()))
            for name, text in named.items()
        ),
    )


def _claim(text: str) -> Grid:
    printed = read_grid("DL", "section 4")
    return Grid(printed.columns, tuple(row for row in printed.rows if text in str(row[0])))


def _count(study: Study) -> int:
    """Return the random classes, or pairs of them, of one repeat."""
    return study.effort.scale_records(CLASSES, len(SIZES))


def _measure(study: Study, function: Callable[[int, int], JSON]) -> list[JSON]:
    """Return what a function counts over random classes, or pairs of them, in each repeat."""
    return study.repeat(function, {None: {"count": _count(study)}}, on_adult=False)[None]


def _add_up(runs: Sequence[Mapping[str, int]]) -> dict[str, int]:
    return {name: sum(run[name] for run in runs) for name in runs[0]}


def _set(values: Sequence[int]) -> str:
    return f"{{{', '.join(map(str, values))}}}"
