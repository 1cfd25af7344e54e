"""The worked example, Example 1 and the three arguments of section 6.3 of DR, with both keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2

from hierdata.ground.errors import PolicyError
from hierdata.pipeline.measure import measure
from hierdata.release.charts import BarChart, Bars
from hierdata.reproduction.dr import formulas
from hierdata.reproduction.dr.printed import RateBlock, facts, rows_of
from hierdata.reproduction.dr.rates import compare_figures, measure_keys
from hierdata.reproduction.exhibit import Cell, Exhibit, Grid

_TABLES = {"l-diverse": ("3", ("Age*", "ZIP Code*")), "t-close": ("9", ("Age**", "ZIP Code*"))}
_GOALS = (
    ("single salaries", "Salary", None),
    ("SP2", "Salary", "SP2"),
    ("SP3", "Salary", "SP3"),
    ("SP3 from the classes of the l-diverse table", "Salary", "SP3_mirror"),
    ("SP4", "Disease", "SP4"),
)


def worked_example() -> Exhibit:
    """Equations 3 to 5: the rate of the age for the disease."""
    rows = rows_of("4")
    xs, ys = [row["Disease"] for row in rows], [row["Age"] for row in rows]
    left = sum(ys.count(y) / len(ys) * formulas.entropy_given(xs, ys, y) for y in set(ys))
    derived = (("H(X)", formulas.entropy(xs)), ("H(X|Y)", left), ("DR", formulas.rate(xs, ys)))
    found = measure(rows, keys=["Age"], sensitive="Disease")
    ours = (("H(X)", found.entropy), ("H(X|Y)", found.keys[0].entropy), ("DR", found.keys[0].rate))
    other = 1 - (log2(3) / 3 + 2 / 9 * log2(9 / 2)) / found.entropy
    heads = ("figure", "bits or rate")
    return Exhibit(
        "Equations 3 to 5",
        "the rate of the age for the disease in Table 4, step by step",
        "The equation has log2(1/2), and prints 0.70. A sentence below it has log2(2/9) instead, which "
        f"would give {other:.2f}.",
        printed=Grid(heads, (("DR", "0.70"),)),
        derived=Grid(heads, derived),
        ours=Grid(heads, ours),
        differs=compare_figures(["DR"], ["0.70"], [derived[2][1]], [ours[2][1]]),
        errata=("DR-4",),
    )


def skewness_example() -> Exhibit:
    """Example 1: a class of one positive and one negative in a table with ten positives of a thousand."""
    rows = [
        {"row": "class" if at in (9, 10) else "rest", "cancer": "yes" if at < 10 else "no"}
        for at in range(1000)
    ]
    xs, ys = [row["cancer"] for row in rows], [row["row"] for row in rows]
    found = measure(rows, keys=["row"], sensitive="cancer")
    together = found.keys[0]
    own = next(value for label, value in together.values.items() if found.names["row"][label] == "class")
    columns = ("figure", "value")
    derived: tuple[tuple[Cell, ...], ...] = (
        ("H(X) in bits", formulas.entropy(xs)),
        ("H(X|y) of the class", formulas.entropy_given(xs, ys, "class")),
        ("DR of the class", formulas.rate_of_value(xs, ys, "class")),
    )
    ours = (
        ("H(X) in bits", found.entropy),
        ("H(X|y) of the class", own.entropy),
        ("DR of the class", own.rate),
        ("1 - H(X|y)/H(X) of the class", own.refinement),
        ("distance of the class from the table", own.distance),
        ("divergence of the class from the table in bits", own.divergence),
        ("classes of a 2-diverse table at most", sum(x == "yes" for x in xs)),
    )
    return Exhibit(
        "Example 1",
        "skewness: from 1 % to 50 %",
        "Of 1,000 patients ten have cancer; a 2-diverse table in classes of two is said to tell 50 % of each "
        "patient. Each class needs a positive, so there are at most ten such classes.",
        derived=Grid(columns, derived),
        ours=Grid(columns, ours),
        differs=_skew_sentence(float(own.refinement), float(own.distance)),
        errata=("DR-10",),
    )


def _skew_sentence(refinement: float, distance: float) -> str:
    if refinement >= 0:
        return ""
    return (
        "No rate detects this skew, since less is certain in the class than in the table "
        f"({refinement:.3f}); its distance from the table, {distance:.2f}, does."
    )


def both_keys() -> Exhibit:
    """Section 6.3: what somebody who knows both keys learns of each goal."""
    found: list[tuple[Cell, ...]] = []
    derived: list[tuple[Cell, ...]] = []
    for name, sensitive, partition in _GOALS:
        measured, computed = [], []
        for table, keys in _TABLES.values():
            block = RateBlock("", table, sensitive, partition, ())
            rows = rows_of(table)
            xs = formulas.transform([row[sensitive] for row in rows], block.blocks)
            measured.append(measure_keys(block, keys)[0].rate)
            computed.append(formulas.rate(xs, [tuple(row[key] for key in keys) for row in rows]))
        found.append((name, *measured))
        derived.append((name, *computed))
    columns = ("goal", *_TABLES)
    return Exhibit(
        "Section 6.3",
        "both keys together, which form the classes",
        "The paper compares single keys and concludes that the t-close table protects less. An attacker who "
        "knows one key knows the other.",
        derived=Grid(columns, tuple(derived)),
        ours=Grid(columns, tuple(found)),
        charts=(_chart(found),),
        differs=_verdict(found),
        errata=("DR-7", "DR-8"),
    )


def _chart(found: Sequence[tuple[Cell, ...]]) -> BarChart:
    return BarChart(
        "Rates of both keys",
        "For each goal of an attacker, the rate of both keys in the l-diverse and in the t-close table.",
        "what the attacker wants to learn",
        "rate",
        tuple("mirrored SP3" if str(own[0]).startswith("SP3 from") else str(own[0]) for own in found),
        tuple(Bars(name, tuple(float(own[at] or 0) for own in found)) for at, name in enumerate(_TABLES, 1)),
    )


def _verdict(found: Sequence[tuple[Cell, ...]]) -> str:
    """Say where the t-close table discloses less, equally much, and more."""
    said = []
    for words, sign in (("less", -1), ("equally much", 0), ("more", 1)):
        names = [str(own[0]) for own in found if _sign(own) == sign]
        if names:
            said.append(f"{words} for {', '.join(names)}")
    return f"With both keys the t-close table discloses {'; '.join(said)}."


def _sign(own: tuple[Cell, ...]) -> int:
    apart = float(own[2] or 0) - float(own[1] or 0)
    return 0 if abs(apart) < 1e-9 else 1 if apart > 0 else -1


def undefined_cases() -> Exhibit:
    """Definitions 3 and 5 at their edges: a constant attribute, and partitions that are none."""
    rows = [{"y": str(at), "x": "flu"} for at in range(3)]
    constant = measure(rows, keys=["y"], sensitive="x").keys[0].rate
    few = {"blocks": {"cancers": facts()["partitions"]["SP4"][1]}}
    both = {"blocks": {str(at): own for at, own in enumerate([*facts()["partitions"]["SP4"], ["flu"]])}}
    return Exhibit(
        "Definitions 3 and 5",
        "cases that the definitions leave open",
        "The rate of a constant attribute is 0/0. A partition must cover every value, and its domains are "
        "supposed to be disjoint.",
        derived=Grid(
            ("case", "result"), (("DR of a constant attribute", formulas.rate(["flu"] * 3, [0, 1, 2])),)
        ),
        ours=Grid(
            ("case", "result"),
            (
                ("DR of a constant attribute", constant),
                ("a partition that misses values", _answer(few)),
                ("domains that overlap, stated as a partition", _answer(both)),
                ("domains that overlap, stated so", _answer({**both, "overlapping": True})),
            ),
        ),
        differs="" if constant else "Where the paper has 0/0 we say 0: there is nothing to refine.",
        errata=("DR-11",),
    )


def _answer(partition: Mapping[str, object]) -> Cell:
    """Return the rate of the age in Table 4 under a partition, or that it is refused."""
    try:
        return measure(rows_of("4"), keys=["Age"], sensitive="Disease", partition=partition).keys[0].rate
    except PolicyError:
        return "refused"
