"""DL's figures 1 and 2 and examples 1 to 3: by its definitions as printed, and by the models of hierdata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

from hierdata.domains.number import Number, plain
from hierdata.domains.proximity import Neighbourhoods, fullest_window
from hierdata.privacy import DeltaLDiversity, DistinctLDiversity, EpsilonMAnonymity, FrequencyLDiversity
from hierdata.reproduction.exhibit import Cell, Exhibit, Grid, describe_differences, read_grid, yes_or_no
from hierdata.reproduction.small_data import judge_class


def count_similar(values: Sequence[Number], delta: Fraction) -> list[int]:
    """Return n(v) of equation 2: how many intervals [u - delta, u + delta] overlap with that of v.

    Intervals are closed (definition 3), so those that touch overlap (erratum DL-6).

    >>> count_similar([40, 50, 60], Fraction(15, 2))
    [2, 3, 2]
    """
    ends = [(Fraction(v) - delta, Fraction(v) + delta) for v in values]
    return [sum(low <= top and bottom <= high for bottom, top in ends) for low, high in ends]


def count_near(values: Sequence[Number], epsilon: Fraction) -> list[int]:
    """Return n(x) of equation 1: how many values y have |y - x| <= epsilon (definition 2)."""
    return [sum(abs(Fraction(y) - x) <= epsilon for y in values) for x in values]


def count_relatively_near(values: Sequence[Number], epsilon: Fraction) -> list[int]:
    """Return how many values y have |y - x| <= epsilon |x|, for each x (section 1: relative nearness).

    >>> count_relatively_near([10, 15], Fraction(2, 5))
    [1, 2]
    """
    return [sum(abs(Fraction(y) - x) <= epsilon * abs(Fraction(x)) for y in values) for x in values]


def largest_l(values: Sequence[Number], delta: Fraction) -> Fraction:
    """Return the largest l for which a class is (delta,l)-diverse: |E| / max n(v).

    >>> largest_l([40, 50, 60, 80], Fraction(15, 2))
    Fraction(4, 3)
    """
    return Fraction(len(values), max(count_similar(values, delta)))


def largest_m(values: Sequence[Number], epsilon: Fraction) -> Fraction:
    """Return the largest m for which a class is (epsilon,m)-anonymous: |G| / max n(x)."""
    return Fraction(len(values), max(count_near(values, epsilon)))


def bound_of_union(first: int, second: int, l: Fraction) -> Fraction:  # noqa: E741  (the paper's letter)
    """Return what is left of l in the union of two (delta,l)-diverse classes of these sizes (DL-2).

    >>> bound_of_union(2, 2, Fraction(2))
    Fraction(4, 3)
    """
    return l * (first + second) / max(first + 2 * second, 2 * first + second)


def run_printed_check(values: Sequence[Number], delta: Fraction) -> Fraction | None:
    """Return the l that the procedure of figure 3 finds, slip for slip (DL-3); None is infinity.

    The right end of the window is measured from t_i, its left end, not from t_x, the value in question.

    >>> run_printed_check([0, 1, 2, 3], Fraction(1, 2)), run_printed_check([5], Fraction(1))
    (Fraction(2, 1), None)
    """
    t = sorted(values)
    i, j, x = 0, 1, 0
    least: Fraction | None = None
    while j < len(t):
        while t[i] + delta < t[x] - delta:
            i += 1
        while j < len(t) and t[j] - delta <= t[i] + delta:
            j += 1
        following = Fraction(len(t), j - i)
        if least is None or following < least:
            least = following
        x += 1
    return least


Values = Sequence[int]
WIDTH = 15
"""Both epsilon of examples 1 and 2, and delta of example 3."""
CLASSES = ((40, 60), (50, 80), (40, 50, 60), (40, 50, 60, 80))
"""The classes of sections 3.1 and 3.2; the last is the union of the first two."""
GROUPS = {"G1": (40, 60), "G2": (40, 50, 60)}
LOW, HIGH = 490, 510
"""The interval that section 1 says a salary of the first class lies in."""


def show_examples() -> list[Exhibit]:
    """Return figure 1 with the text to it, example 1, and figure 2 with examples 2 and 3."""
    return [_show_figure_1(), _show_section_1(), show_relative(), _show_example_1(), _show_figure_2()]


def classes_of_figure_1() -> dict[str, list[int]]:
    """Return the salaries of each class of figure 1, by its ages."""
    salaries: dict[str, list[int]] = {}
    for age, _, salary in read_grid("DL", "figure 1").rows:
        salaries.setdefault(str(age), []).append(int(str(salary)))
    return salaries


def achieved_m(values: Values, epsilon: Fraction) -> Fraction:
    """Return the largest m of a class, by hierdata's model."""
    return judge_class(EpsilonMAnonymity(epsilon=epsilon, m=1), values).achieved["m"]


def achieved_l(values: Values, delta: Fraction) -> Fraction:
    """Return the largest l of a class, by hierdata's model."""
    return judge_class(DeltaLDiversity(delta=delta, l=1), values).achieved["l"]


def _show_figure_1() -> Exhibit:
    near = Fraction(HIGH - LOW, 2)
    columns = (
        "class",
        "salaries",
        "distinct l",
        "frequency l",
        f"l at delta = {near}",
        f"m at epsilon = {near}",
    )

    def rows(
        distinct: Callable[[Values], Cell], frequency: Callable[[Values], Cell],
        of_l: Callable[[Values, Fraction], Cell], of_m: Callable[[Values, Fraction], Cell],
    ) -> tuple[tuple[Cell, ...], ...]:  # fmt: skip
        return tuple(
            (
                age,
                ", ".join(map(str, paid)),
                distinct(paid),
                frequency(paid),
                of_l(paid, near),
                of_m(paid, near),
            )
            for age, paid in classes_of_figure_1().items()
        )

    derived = rows(lambda salaries: len({*salaries}), _frequency, largest_l, largest_m)
    ours = rows(_achieved_distinct, _achieved_frequency, achieved_l, achieved_m)
    return Exhibit(
        "Figure 1",
        "Salaries that are 3-diverse and near each other",
        "Ten employees in three classes. Each class has at least three different salaries, none of them "
        "twice.",
        read_grid("DL", "figure 1"),
        Grid(columns, derived),
        Grid(columns, ours),
        differs=describe_differences(Grid(columns, derived), Grid(columns, ours)),
    )


def _show_section_1() -> Exhibit:
    printed = read_grid("DL", "section 1")
    classes = list(classes_of_figure_1().values())
    first = classes[0]
    inside = sum(LOW <= salary <= HIGH for salary in first)
    names = [row[0] for row in printed.rows]
    derived: tuple[Cell, ...] = (
        min(len({*salaries}) for salaries in classes),
        min(map(_frequency, classes)),
        1 / _frequency(first),
        Fraction(inside, len(first)),
    )
    ours: tuple[Cell, ...] = (
        min(map(_achieved_distinct, classes)),
        min(map(_achieved_frequency, classes)),
        1 / _achieved_frequency(first),
        Fraction(fullest_window(first, Fraction(HIGH - LOW)), len(first)),
    )
    grid = Grid(printed.columns, tuple(zip(names, derived, strict=True)))
    return Exhibit(
        "Section 1",
        "What figure 1 is said to show",
        "By either kind of l-diversity the table is 3-diverse; the salary of somebody in the first class "
        f"is said to be known within {LOW} to {HIGH} with certainty.",
        printed,
        grid,
        Grid(printed.columns, tuple(zip(names, ours, strict=True))),
        differs=describe_differences(printed, grid),
        errata=("DL-4", "DL-5"),
    )


RELATIVE = Fraction(2, 5)
"""Epsilon of the relative neighbourhood: 10 is near 15 by it, and 15 is not near 10."""


def show_relative() -> Exhibit:
    """Return the relative neighbourhood of section 1 on the classes of figure 1, and on a pair."""
    by_epsilon = [(f"{age}, {', '.join(map(str, salaries))}", salaries, Fraction(HIGH - LOW, LOW + HIGH))
                  for age, salaries in classes_of_figure_1().items()]  # fmt: skip
    asked = [*by_epsilon, ("a pair, 10, 15", [10, 15], RELATIVE)]
    columns = ("class", "epsilon", "n(x) of each", "largest m")

    def grid(
        count: Callable[[Values, Fraction], list[int]], best: Callable[[Values, Fraction], Fraction]
    ) -> Grid:
        return Grid(
            columns,
            tuple(
                (label, epsilon, ", ".join(map(str, count(values, epsilon))), best(values, epsilon))
                for label, values, epsilon in asked
            ),
        )

    derived = grid(
        count_relatively_near,
        lambda values, epsilon: Fraction(len(values), max(count_relatively_near(values, epsilon))),
    )
    ours = grid(_relative_neighbours, achieved_relative_m)
    return Exhibit(
        "Section 1, relative",
        "The relative neighbourhood of (epsilon,m)-anonymity",
        "A value y is near x if |y - x| <= epsilon x, with epsilon from 0 to 1. The paper prints no "
        f"example; the classes are those of figure 1 with the epsilon of {LOW} to {HIGH} around the middle, "
        "and one pair is ours.",
        derived=derived,
        ours=ours,
        differs=f"{describe_differences(derived, ours)} {describe_symmetry(10, 15, RELATIVE)}".strip(),
        errata=("DL-1",),
    )


def describe_symmetry(low: int, high: int, epsilon: Fraction) -> str:
    """Return whether each of two values is near the other by the relative neighbourhood."""
    near = abs(high - low) <= epsilon * high, abs(high - low) <= epsilon * low
    if near[0] == near[1]:
        answer = "near" if near[0] else "not near"
        return f"{low} and {high} are {answer} each other at epsilon = {plain(epsilon)}."
    return (
        f"At epsilon = {plain(epsilon)}, {low} is near {high} and {high} is not near {low}: the relation "
        "is not symmetric, so no delta of (delta,l)-diversity asks the same."
    )


def achieved_relative_m(values: Values, epsilon: Fraction) -> Fraction:
    """Return the largest m of a class under relative nearness, by hierdata's model."""
    return judge_class(EpsilonMAnonymity(epsilon=epsilon, m=1, relative=True), values).achieved["m"]


def _relative_neighbours(values: Values, epsilon: Fraction) -> list[int]:
    """Return how many values of a class are relatively near each, as hierdata counts them."""
    codes = sorted({*values})
    sizes = Neighbourhoods.relative(codes, epsilon).sizes(Counter(map(codes.index, values)))
    return [sizes[codes.index(value)] for value in values]


def _show_example_1() -> Exhibit:
    printed = read_grid("DL", "example 1")
    width = Fraction(WIDTH)

    def row(values: Values, near: dict[int, int], m: Fraction) -> tuple[Cell, ...]:
        at_50 = near.get(50)
        risk = None if at_50 is None else Fraction(at_50, len(values))
        return (f"{{{', '.join(map(str, values))}}}", at_50, risk, yes_or_no(m >= 2))

    derived = tuple(
        row(values, dict(zip(values, count_near(values, width), strict=True)), largest_m(values, width))
        for values in CLASSES
    )
    ours = tuple(row(values, _neighbours(values, width), achieved_m(values, width)) for values in CLASSES)
    grid = Grid(printed.columns, derived)
    return Exhibit(
        "Example 1",
        "(epsilon,m)-anonymity of two classes, of one more value, and of their union",
        "Two classes satisfy epsilon = 15, m = 2. With 50 between 40 and 60 the first does not, and "
        "neither does the union of both: the paper's two drawbacks of (epsilon,m)-anonymity.",
        printed,
        grid,
        Grid(printed.columns, ours),
        differs=describe_differences(printed, grid),
    )


def _show_figure_2() -> Exhibit:
    printed = read_grid("DL", "figure 2")
    half, width, double = Fraction(WIDTH, 2), Fraction(WIDTH), Fraction(2 * WIDTH)
    asked = [("epsilon", width), ("delta", width), ("epsilon", double), ("delta", half)]
    derived, ours = [], []
    for letter, size in asked:
        for name, values in GROUPS.items():
            label = f"{name}, {letter} = {size}"
            counted = count_near(values, size) if letter == "epsilon" else count_similar(values, size)
            best = largest_m(values, size) if letter == "epsilon" else largest_l(values, size)
            derived.append((label, *_by_value(dict(zip(values, counted, strict=True))), best))
            counts = _neighbours(values, size if letter == "epsilon" else 2 * size)
            best = achieved_m(values, size) if letter == "epsilon" else achieved_l(values, size)
            ours.append((label, *_by_value(counts), best))
    grid = Grid(printed.columns, tuple(derived))
    return Exhibit(
        "Figure 2",
        "Examples 2 and 3: two groups under both principles",
        "By (epsilon,m)-anonymity G1 has m = 2 and G2 m = 1 at epsilon = 15; by (delta,l)-diversity G1 "
        "has l = 1 at delta = 15, which is to show that the new principle sees what the old one does not.",
        printed,
        grid,
        Grid(printed.columns, tuple(ours)),
        differs=f"{describe_differences(printed, grid)} {describe_fair_partner(half)}".strip(),
        errata=("DL-1",),
    )


def describe_fair_partner(delta: Fraction) -> str:
    """Return what the two principles say of figure 2 at epsilon = 2 delta, where they are the same."""
    pairs = [(largest_l(values, delta), largest_m(values, 2 * delta)) for values in GROUPS.values()]
    if any(l != m for l, m in pairs):  # noqa: E741
        return f"At delta = {delta} and epsilon = {2 * delta} the two principles differ."
    smaller, larger = pairs[0][0], pairs[1][0]
    drawback = (
        f"and (delta,l) too gives the group without 50 the larger figure, {smaller} against {larger}"
        if smaller > larger
        else f"and the group without 50 has no larger figure, {smaller} against {larger}"
    )
    return (
        f"The paper compares delta = {WIDTH} with epsilon = {WIDTH}; delta = {delta} and epsilon = "
        f"{2 * delta} ask the same of both groups, {drawback}."
    )


def _by_value(counts: dict[int, int]) -> tuple[Cell, ...]:
    return tuple(counts.get(value) for value in (40, 50, 60))


def _neighbours(values: Values, radius: Fraction) -> dict[int, int]:
    """Return how many values of a class lie within ``radius`` of each, as hierdata counts them."""
    codes = sorted({*values})
    sizes = Neighbourhoods.absolute(codes, radius).sizes(Counter(map(codes.index, values)))
    return {codes[code]: size for code, size in sizes.items()}


def _frequency(values: Values) -> Fraction:
    return Fraction(len(values), max(Counter(values).values()))


def _achieved_distinct(values: Values) -> Fraction:
    return judge_class(DistinctLDiversity(l=1), values).achieved["l"]


def _achieved_frequency(values: Values) -> Fraction:
    return judge_class(FrequencyLDiversity(l=1), values).achieved["l"]
