"""Tables 1 and 2 and Figure 3 of ML: fuzzy sets of value levels, and the sensitivity levels they give.

The formulas are those of section 3.3, as printed but for errata ML-1 and ML-3, and equation 5 for two
records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

from hierdata.domains.levels import Levels
from hierdata.domains.membership import breakpoints, value_sets
from hierdata.privacy import LevelAlphaK
from hierdata.privacy.base import number
from hierdata.release.charts import Line, LineChart, Point
from hierdata.reproduction.exhibit import (
    Cell,
    Exhibit,
    Grid,
    describe_differences,
    read_grid,
    read_printed,
    write_sentence,
)
from hierdata.synth.vocabulary import GRADES

Interval = tuple[Fraction, Fraction]


def divide_domain(low: int, high: int) -> tuple[Fraction, ...]:
    """Return min, a1..a5, max: a3 is the middle, the others divide its halves in three."""
    least, most = Fraction(low), Fraction(high)
    a3 = (least + most) / 2
    a1, a2 = least + (a3 - least) / 3, least + 2 * (a3 - least) / 3
    a4, a5 = a3 + (most - a3) / 3, a3 + 2 * (most - a3) / 3
    return least, a1, a2, a3, a4, a5, most


def degree_in(number: int, u: Fraction, low: int, high: int) -> Fraction:
    """Return the degree of membership of u in A1..A5, by its number."""
    if number == 1:
        start, (peak, end) = Fraction(low), (Fraction(low), divide_domain(low, high)[2])
    elif number == 5:
        start, peak, end = divide_domain(low, high)[4], Fraction(high), Fraction(high)
    else:
        start, peak, end = divide_domain(low, high)[number - 1 : number + 2]
    if u == peak:
        return Fraction(1)
    if not start < u < end:
        return Fraction(0)
    return (u - start) / (peak - start) if u < peak else (end - u) / (end - peak)


def crossings(low: int, high: int) -> tuple[Fraction, ...]:
    """Return p1..p4, where the falling edge of A1..A4 meets the rising edge of the next set."""
    least, a1, a2, a3, a4, a5, most = divide_domain(low, high)
    falling = ((least, a2), (a2, a3), (a3, a4), (a4, a5))
    rising = ((a1, a2), (a2, a3), (a3, a4), (a4, most))
    return tuple(_cross(fall, rise) for fall, rise in zip(falling, rising, strict=True))


def _cross(falling: Interval, rising: Interval) -> Fraction:
    """Return where the line from 1 to 0 over one interval meets that from 0 to 1 over another."""
    (down, zero), (up, full) = falling, rising
    return (zero * (full - up) + up * (zero - down)) / (full - up + zero - down)


def intervals(points: tuple[Fraction, ...], low: int, high: int) -> list[Interval]:
    """Return the five intervals that four points cut out of a domain."""
    return [*pairwise((Fraction(low), *points, Fraction(high)))]


def loss_of(
    originals: list[dict[str, Any]], published: dict[str, Any], policy: Mapping[str, Any]
) -> Fraction:
    """Return the loss of equation 5 for records that are published in one form.

    LM' of each published quasi-identifier, for each record, and 1 for each that is suppressed.
    """
    shown = [*_quasi(published, policy)]
    losses = sum((loss_of_value(policy["fields"][path], value) for path, value in shown), Fraction(0))
    return len(originals) * losses + sum(len([*_quasi(record, policy)]) - len(shown) for record in originals)


def _quasi(node: Mapping[str, Any], policy: Mapping[str, Any], path: str = "$") -> Iterator[tuple[str, Any]]:
    for key, value in node.items():
        below = f"{path}.{key}"
        if isinstance(value, list) and value and isinstance(value[0], dict):
            for child in value:
                yield from _quasi(child, policy, f"{below}[*]")
        elif policy["fields"][below]["role"] == "quasi":
            yield below, value


def loss_of_value(field: Mapping[str, Any], value: Any) -> Fraction:
    """Return (|u_q| - 1) / (|u| - 1); for a number range width by domain width (erratum ML-14)."""
    if "interval" in field:
        low, high = field["interval"]["domain"]
        if value == "*":
            return Fraction(1)
        first, last = (
            map(int, str(value).strip("[]").split(", ")) if isinstance(value, str) else (value, value)
        )
        return Fraction(last - first, high - low)
    tree = field["taxonomy"]["tree"]
    return Fraction(len(_leaves(_below(tree, value))) - 1, len(_leaves(tree)) - 1)


def level_of(field: Mapping[str, Any], value: Any) -> int:
    """Return the sensitivity level of a value, by the ``levels`` of its field; numbers may be texts."""
    stated = field["levels"]
    level: int = (
        Levels.model_validate(stated).compile({}).level(Decimal(str(value)) if "domain" in stated else value)
    )
    return level


def _below(tree: Mapping[str, Any], label: str) -> Mapping[str, Any]:
    """Return the part of a nested tree that begins with a label."""
    for name, inner in tree.items():
        if name == label:
            return {name: inner}
        if inner and (part := _below(inner, label)):
            return part
    return {}


def _leaves(tree: Mapping[str, Any]) -> list[str]:
    return [leaf for name, inner in tree.items() for leaf in (_leaves(inner) if inner else [name])]


SETS = ("low", "very low", "middle", "very high", "high")
"""The paper's names of A1..A5."""
_GPA, _SCORE = (0, 4), (0, 1)


def table_1() -> Exhibit:
    """Return Table 1, with the sensitivity levels that the text adds."""
    printed = read_grid("ML", "table 1")
    gpas = [Fraction(column) for column in printed.columns[1:]]
    sets, scale = value_sets(*_GPA), Levels(domain=_GPA, sensitive="low").compile({})
    derived = [[degree_in(number, gpa, *_GPA) for gpa in gpas] for number in range(1, 6)]
    ours = [[set_.degree(gpa) for gpa in gpas] for set_ in sets]
    by_formula = [
        6 - max(zip(degrees, range(1, 6), strict=True))[1] for degrees in zip(*derived, strict=True)
    ]
    by_scale = [scale.level(_decimal(gpa)) for gpa in gpas]
    table = _degrees(printed.columns, ours, by_scale)
    return Exhibit(
        "Table 1",
        "degrees of membership of six GPAs in the five value levels",
        "GPAs from 0 to 4 in the fuzzy sets of section 3.3; the text adds the levels in the last row.",
        printed=printed,
        derived=_degrees(printed.columns, derived, by_formula),
        ours=table,
        differs=describe_differences(printed, table),
        errata=("ML-1",),
    )


def _degrees(columns: tuple[str, ...], degrees: list[list[Fraction]], levels: list[int]) -> Grid:
    rows: list[tuple[Cell, ...]] = [(name, *row) for name, row in zip(SETS, degrees, strict=True)]
    return Grid(columns, (*rows, ("sensitivity level", *levels)))


def table_2() -> Exhibit:
    """Return Table 2: what is of which level."""
    printed = read_printed("ML")["table 2"]
    print_bounds = {name: [Fraction(bound) for bound in printed[name]] for name in ("gpa", "score")}
    alphas = [Fraction(alpha) for alpha in printed["alpha"]]
    ours = [(breakpoints(*domain), domain) for domain in (_GPA, _SCORE)]
    levels = [_level_between(*cut) for cut in intervals(breakpoints(*_GPA), *_GPA)]
    capped = LevelAlphaK(k=2).alpha
    grades = [[grade for grade, grade_level in GRADES.items() if grade_level == level] for level in levels]
    return Exhibit(
        "Table 2",
        "value levels, sensitivity levels and alphas of three sensitive attributes",
        "Which GPAs, grades and scores are of which level, rounded to two digits.",
        printed=_level_table(
            [[*pairwise(bounds)] for bounds in print_bounds.values()],
            printed["grades"],
            printed["levels"],
            alphas,
        ),
        derived=_level_table(
            [intervals(crossings(*domain), *domain) for domain in (_GPA, _SCORE)],
            [[]] * 5,
            [5, 4, 3, 2, 1],
            [None] * 5,
        ),
        ours=_level_table(
            [intervals(points, *domain) for points, domain in ours],
            grades,
            levels,
            [capped[level - 1] for level in levels],
        ),
        differs=_compare_levels(print_bounds, printed["grades"], grades, alphas, capped),
        errata=("ML-2", "ML-3"),
    )


def _level_between(low: Fraction, high: Fraction) -> int:
    """Return the sensitivity level of a GPA in the middle of an interval."""
    middle = (low + high) / 2
    return Levels(domain=_GPA, sensitive="low").compile({}).level(_decimal(middle))


def _decimal(exact: Fraction) -> Decimal:
    return Decimal(exact.numerator) / exact.denominator


def _level_table(
    bounds: Sequence[Sequence[Interval]],
    grades: Sequence[Sequence[str]],
    levels: Sequence[int],
    alphas: Sequence[Fraction | None],
) -> Grid:
    rows = tuple(
        (
            name,
            _write_interval(bounds[0][position], position == 4),
            ", ".join(sorted(grades[position], key=_sign)) or None,
            _write_interval(bounds[1][position], position == 4),
            levels[position],
            alphas[position],
        )
        for position, name in enumerate(SETS)
    )
    return Grid(("value level", "GPA", "grade", "score", "sensitivity level", "alpha"), rows)


def _write_interval(interval: Interval, closed: bool) -> str:
    return f"[{number(interval[0])}, {number(interval[1])}{']' if closed else ')'}"


def _sign(grade: str) -> int:
    """Order grades of one letter from low to high."""
    return {"-": 0, "+": 2}.get(grade[-1], 1)


def _compare_levels(
    printed: dict[str, list[Fraction]],
    printed_grades: list[list[str]],
    grades: list[list[str]],
    alphas: list[Fraction],
    capped: Sequence[Fraction],
) -> str:
    """Say which bounds are not those of the formulas, rounded, and which grades or alphas differ."""
    sentences = []
    for name, domain in (("gpa", _GPA), ("score", _SCORE)):
        for bound, exact in zip(printed[name][1:-1], breakpoints(*domain), strict=True):
            if round(exact, 2) != bound:
                sentences.append(
                    f"the bound {number(bound)} of {name} is {number(exact)} by the formulas, so values"
                    " between the two are of another level than printed"
                )
    if [*map(sorted, printed_grades)] != [*map(sorted, grades)]:
        sentences.append("the grades differ")
    if alphas != list(reversed(capped)):
        sentences.append("the alphas differ")
    return write_sentence(sentences)


def figure_3() -> Exhibit:
    """Return Figure 3: the membership functions, drawn over GPA."""
    columns = ("point", "of a domain 0 to 4", "of a domain 0 to 1")
    derived, ours = (
        Grid(columns, tuple((f"p{number}", *pair) for number, pair in enumerate(zip(*cuts, strict=True), 1)))
        for cuts in (
            [crossings(*domain) for domain in (_GPA, _SCORE)],
            [breakpoints(*domain) for domain in (_GPA, _SCORE)],
        )
    )
    corners = sorted({*divide_domain(*_GPA), *breakpoints(*_GPA)})
    lines = tuple(
        Line(
            f"A{number}, {name}",
            tuple(Point(float(u), float(set_.degree(u))) for u in corners if set_.a <= u <= set_.d),
        )
        for number, (name, set_) in enumerate(zip(SETS, value_sets(*_GPA), strict=True), 1)
    )
    chart = LineChart(
        "Membership functions over GPA",
        "Five overlapping triangles: the first falls from 0, the last rises to 4; neighbours cross.",
        "GPA",
        "degree of membership",
        lines,
        marked=False,
    )
    return Exhibit(
        "Figure 3",
        "the membership functions of the five value levels",
        "A drawing of five functions; p1 to p4 are where neighbours cross, and so where levels change.",
        derived=derived,
        ours=ours,
        charts=(chart,),
        differs=describe_differences(derived, ours),
        errata=("ML-1", "ML-2"),
    )
