"""DR's tables of records (1 to 4 and 9), its worked example, Example 1, and the arguments of section 6.3."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import log2
from pathlib import Path
from typing import Any

from hierdata.domains.codes import Prefix
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.domains.taxonomy import Taxonomy
from hierdata.ground.errors import PolicyError
from hierdata.pipeline.measure import measure
from hierdata.privacy import DistinctLDiversity, KAnonymity, TCloseness
from hierdata.privacy.base import ClassView, PrivacyModel
from hierdata.release.charts import BarChart, Bars
from hierdata.reproduction.dr_rates import (
    RateBlock,
    Row,
    compare_figures,
    discrimination_rate,
    entropy,
    entropy_given,
    facts,
    measure_keys,
    printed_table,
    rate_of_value,
    remaining_entropy,
    rows_of,
    transform,
)
from hierdata.reproduction.exhibit import Cell, Exhibit, Grid

_CANCERS = ("colon cancer", "stomach cancer", "lung cancer")
_OTHERS = ("diabetes", "aids", "flu")
_TREES: Mapping[str, Mapping[str, Any]] = {
    "two levels": {"cancers": list(_CANCERS), "others": list(_OTHERS)},
    "three levels": {"cancer": {"cancers": list(_CANCERS)}, "other": {"others": list(_OTHERS)}},
}
"""Trees that keep the cancers apart; the paper gives none (erratum DR-9)."""


def generalization() -> Exhibit:
    """Table 1: zip codes and ages, generalized."""
    rows = rows_of("1")
    codes = Prefix(keep=(5, 4, 3)).compile(Counter(row["ZIP Code"] for row in rows), Path())
    shown: list[tuple[Cell, ...]] = []
    for row in rows:
        above = codes.ancestors[codes.node_of(row["ZIP Code"])]
        labels = [str(codes.labels[node]) for node in above if node >= 0]
        shown.append((row["row"], row["ZIP Code"], next((o for o in labels if o == row["ZIP Code*"]), None)))
    missing = [str(row[0]) for row in shown if row[2] is None]
    return Exhibit(
        "Table 1",
        "zip codes and ages, generalized",
        "Nine records. Age** has the labels < 40 and ≤ 40 beside ≥ 40, so 40 would fit two of them.",
        printed=printed_table("1"),
        ours=Grid(("row", "ZIP Code", "our prefix domain"), tuple(shown)),
        differs=f"Our prefix domain has no such label for rows {', '.join(missing)}." if missing else "",
        errata=("DR-3",),
    )


def anonymous_tables() -> list[Exhibit]:
    """Tables 2 and 3: a k-anonymous and an l-diverse table."""
    return [
        _anonymous(
            "2",
            "a 3-anonymous table of diseases",
            "Three classes of three. Everybody in the first has lung cancer.",
            ("Age*",),
            {"k": 3},
        ),
        _anonymous(
            "3",
            "a 3-diverse table of salaries and diseases",
            "Three classes of three, with three different values of each attribute.",
            ("ZIP Code*", "Age*"),
            {"k": 3, "distinct l of Salary": 3, "distinct l of Disease": 3},
        ),
    ]


def _anonymous(
    number: str, title: str, says: str, keys: Sequence[str], promised: Mapping[str, int]
) -> Exhibit:
    """Tables 2 and 3: classes with their size and the number of their sensitive values, by our models.

    ``promised`` has the least size, or number of values of an attribute, that the paper states.
    """
    rows = rows_of(number)
    classes = _classes(rows, keys)
    attributes = [name for name in ("Salary", "Disease") if name in rows[0]]
    figures: list[tuple[Cell, ...]] = []
    for shown, members in classes.items():
        size = _count(KAnonymity(k=2), rows, members, None, "k")
        values = [_count(DistinctLDiversity(l=2), rows, members, name, "l") for name in attributes]
        figures.append((", ".join(shown), size, *values))
    heads = ("class", "k", *(f"distinct l of {name}" for name in attributes))
    least = {name: min(row[column] for row in figures) for column, name in enumerate(heads) if column}  # type: ignore[type-var]
    wrong = [f"{name} is {least[name]}, not {most}" for name, most in promised.items() if least[name] != most]
    return Exhibit(
        f"Table {number}",
        title,
        says,
        printed=printed_table(number),
        ours=Grid(heads, tuple(figures)),
        differs="; ".join(wrong) + "." if wrong else "",
    )


def original() -> Exhibit:
    """Table 4: the records before anything is generalized."""
    rows = rows_of("4")
    figures = [
        (name, len({row[name] for row in rows}), measure(rows, keys=["row"], sensitive=name).entropy)
        for name in ("ZIP Code", "Age", "Salary", "Disease")
    ]
    return Exhibit(
        "Table 4",
        "the original records",
        "Nine records. The entropy of an attribute is what a rate divides by.",
        printed=printed_table("4"),
        ours=Grid(("attribute", "different values", "H in bits"), tuple(figures)),
    )


def closeness() -> list[Exhibit]:
    """Table 9: the records, and the two distances of its caption."""
    rows, keys = rows_of("9"), ("ZIP Code*", "Age**")
    number = [{**row, "Salary": row["Salary"].removesuffix("K")} for row in rows]
    ordered = _farthest(number, keys, "Salary", "ordered", None)
    equal = _farthest(rows, keys, "Disease", "equal", None)
    trees = {name: _farthest(rows, keys, "Disease", "hierarchical", tree) for name, tree in _TREES.items()}
    (salary, stated), (disease, other) = facts()["closeness"]
    heads = ("attribute", "t")
    distances = (
        (f"{salary}, ordered", ordered),
        (f"{disease}, all values equally far apart", equal),
        *((f"{disease}, cancers apart in a tree of {name}", t) for name, t in trees.items()),
    )
    nearest = min([equal, *trees.values()], key=lambda t: abs(t - Fraction(other)))
    same = f"{float(nearest):.3f}" == other
    return [
        Exhibit(
            "Table 9",
            "the t-close table",
            "The records of Table 4 in classes of three by zip code, age below or from 40.",
            printed=printed_table("9"),
            ours=Grid(
                ("class", "records"),
                tuple((", ".join(class_), len(members)) for class_, members in _classes(rows, keys).items()),
            ),
            errata=("DR-3",),
        ),
        Exhibit(
            "Table 9, caption",
            "how close the classes are to the table",
            "The caption states one distance for each attribute, and no tree of diseases.",
            printed=Grid(heads, ((salary, stated), (disease, other))),
            ours=Grid(heads, distances),
            differs=" ".join(
                sentence
                for sentence in (
                    compare_figures([salary], [stated], [ordered], [ordered]),
                    ""
                    if same
                    else f"No distance with the table's own frequencies gives {other} for {disease}; the "
                    f"nearest is {float(nearest):.3f}.",
                )
                if sentence
            ),
            errata=("DR-9",),
        ),
    ]


def _classes(rows: Sequence[Row], keys: Sequence[str]) -> dict[tuple[str, ...], list[Row]]:
    classes: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        classes.setdefault(tuple(row[key] for key in keys), []).append(row)
    return classes


def _count(
    model: PrivacyModel, rows: Sequence[Row], members: Sequence[Row], name: str | None, letter: str
) -> int:
    """Return what a model achieves at one class."""
    domain = None if name is None else SensitiveDomain.build(name, Counter(row[name] for row in rows))
    counts = {} if domain is None else Counter(domain.code_of(row[name or ""]) for row in members)
    return int(model.bind(domain).achieved_parameters(ClassView(len(members), counts))[letter])


def _farthest(
    rows: Sequence[Row], keys: Sequence[str], name: str, distance: str, tree: Mapping[str, Any] | None
) -> Fraction:
    values: Counter[Any] = Counter(row[name] for row in rows)
    taxonomy = None if tree is None else Taxonomy(tree={"*": tree}).compile({}, Path())
    domain = SensitiveDomain.build(name, values, number=distance == "ordered", taxonomy=taxonomy)
    model = TCloseness.model_validate({"t": 1, "distance": distance}).bind(domain)
    views = (
        ClassView(len(members), Counter(domain.code_of(row[name]) for row in members))
        for members in _classes(rows, keys).values()
    )
    return max(model.achieved_parameters(view)["t"] for view in views)


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
    derived = (
        ("H(X)", entropy(xs)),
        ("H(X|Y)", remaining_entropy(xs, ys)),
        ("DR", discrimination_rate(xs, ys)),
    )
    measured = measure(rows, keys=["Age"], sensitive="Disease")
    ours = (("H(X)", measured.entropy), ("H(X|Y)", measured.keys[0].entropy), ("DR", measured.keys[0].rate))
    other = 1 - (log2(3) / 3 + 2 / 9 * log2(9 / 2)) / measured.entropy
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
        {"row": "class" if record in (9, 10) else "rest", "cancer": "yes" if record < 10 else "no"}
        for record in range(1000)
    ]
    xs, ys = [row["cancer"] for row in rows], [row["row"] for row in rows]
    measured = measure(rows, keys=["row"], sensitive="cancer")
    labels = {value: label for label, value in measured.names["row"].items()}
    of_class = measured.keys[0].values[labels["class"]]
    columns = ("figure", "value")
    derived: tuple[tuple[Cell, ...], ...] = (
        ("H(X) in bits", entropy(xs)),
        ("H(X|y) of the class", entropy_given(xs, ys, "class")),
        ("DR of the class", rate_of_value(xs, ys, "class")),
    )
    ours = (
        ("H(X) in bits", measured.entropy),
        ("H(X|y) of the class", of_class.entropy),
        ("DR of the class", of_class.rate),
        ("1 - H(X|y)/H(X) of the class", of_class.refinement),
        ("distance of the class from the table", of_class.distance),
        ("divergence of the class from the table in bits", of_class.divergence),
        ("classes of a 2-diverse table at most", sum(x == "yes" for x in xs)),
    )
    return Exhibit(
        "Example 1",
        "skewness: from 1 % to 50 %",
        "Of 1,000 patients ten have cancer; a 2-diverse table in classes of two is said to tell 50 % of each "
        "patient. Each class needs a positive, so there are at most ten such classes.",
        derived=Grid(columns, derived),
        ours=Grid(columns, ours),
        differs=_skew_sentence(float(of_class.refinement), float(of_class.distance)),
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
    ours: list[tuple[Cell, ...]] = []
    derived: list[tuple[Cell, ...]] = []
    for name, sensitive, partition in _GOALS:
        measured, computed = [], []
        for table, keys in _TABLES.values():
            block = RateBlock("", table, sensitive, partition, ())
            rows = rows_of(table)
            xs = transform([row[sensitive] for row in rows], block.blocks)
            measured.append(measure_keys(block, keys)[0])
            computed.append(discrimination_rate(xs, [tuple(row[key] for key in keys) for row in rows]))
        ours.append((name, *measured))
        derived.append((name, *computed))
    columns = ("goal", *_TABLES)
    return Exhibit(
        "Section 6.3",
        "both keys together, which form the classes",
        "The paper compares single keys and concludes that the t-close table protects less. An attacker who "
        "knows one key knows the other.",
        derived=Grid(columns, tuple(derived)),
        ours=Grid(columns, tuple(ours)),
        charts=(_chart(ours),),
        differs=_verdict(ours),
        errata=("DR-7", "DR-8"),
    )


def _chart(rows: Sequence[tuple[Cell, ...]]) -> BarChart:
    tables = enumerate(_TABLES, 1)
    return BarChart(
        "Rates of both keys",
        "For each goal of an attacker, the rate of both keys in the l-diverse and in the t-close table.",
        "what the attacker wants to learn",
        "rate",
        tuple("mirrored SP3" if str(row[0]).startswith("SP3 from") else str(row[0]) for row in rows),
        tuple(Bars(name, tuple(float(row[column] or 0) for row in rows)) for column, name in tables),
    )


def _verdict(rows: Sequence[tuple[Cell, ...]]) -> str:
    """Say where the t-close table discloses less, equally much, and more."""
    said = []
    for words, sign in (("less", -1), ("equally much", 0), ("more", 1)):
        names = [str(row[0]) for row in rows if _sign(row) == sign]
        if names:
            said.append(f"{words} for {', '.join(names)}")
    return f"With both keys the t-close table discloses {'; '.join(said)}."


def _sign(row: tuple[Cell, ...]) -> int:
    apart = float(row[2] or 0) - float(row[1] or 0)
    return 0 if abs(apart) < 1e-9 else 1 if apart > 0 else -1


def undefined_cases() -> Exhibit:
    """Definitions 3 and 5 at their edges: a constant attribute, and partitions that are none."""
    rows = [{"y": str(number), "x": "flu"} for number in range(3)]
    constant = measure(rows, keys=["y"], sensitive="x").keys[0].rate
    few = {"blocks": {"cancers": facts()["partitions"]["SP4"][1]}}
    domains = [*facts()["partitions"]["SP4"], ["flu"]]
    both = {"blocks": {str(number): domain for number, domain in enumerate(domains)}}
    return Exhibit(
        "Definitions 3 and 5",
        "cases that the definitions leave open",
        "The rate of a constant attribute is 0/0. A partition must cover every value, and its domains are "
        "supposed to be disjoint.",
        derived=Grid(
            ("case", "result"), (("DR of a constant attribute", discrimination_rate(["flu"] * 3, [0, 1, 2])),)
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
