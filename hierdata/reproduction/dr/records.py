"""Tables 1 to 4 and 9 of DR, which hold records, and what our models and domains say of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from hierdata.documents.document import Scalar
from hierdata.domains.prefix import Prefix
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.domains.taxonomy import Taxonomy
from hierdata.pipeline.measure import measure
from hierdata.privacy import DistinctLDiversity, KAnonymity, TCloseness
from hierdata.privacy.base import ClassView, PrivacyModel
from hierdata.reproduction.dr.printed import Row, facts, printed_table, rows_of
from hierdata.reproduction.dr.rates import compare_figures
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
    found: list[tuple[Cell, ...]] = []
    for row in rows:
        above = codes.ancestors[codes.node_of(row["ZIP Code"])]
        labels = [str(codes.labels[node]) for node in above if node >= 0]
        found.append((row["row"], row["ZIP Code"], next((o for o in labels if o == row["ZIP Code*"]), None)))
    missing = [str(row[0]) for row in found if row[2] is None]
    return Exhibit(
        "Table 1",
        "zip codes and ages, generalized",
        "Nine records. Age** has the labels < 40 and ≤ 40 beside ≥ 40, so 40 would fit two of them.",
        printed=printed_table("1"),
        ours=Grid(("row", "ZIP Code", "our prefix domain"), tuple(found)),
        differs=f"Our prefix domain has no such label for rows {', '.join(missing)}." if missing else "",
        errata=("DR-3",),
    )


def anonymous(
    number: str, title: str, says: str, keys: Sequence[str], promised: Mapping[str, int]
) -> Exhibit:
    """Tables 2 and 3: classes with their size and the number of their sensitive values, by our models.

    ``promised`` has the least size, or number of values of an attribute, that the paper states.
    """
    rows = rows_of(number)
    classes = _classes(rows, keys)
    attributes = [name for name in ("Salary", "Disease") if name in rows[0]]
    found: list[tuple[Cell, ...]] = []
    for shown, members in classes.items():
        size = _count(KAnonymity(k=2), rows, members, None, "k")
        values = [_count(DistinctLDiversity(l=2), rows, members, own, "l") for own in attributes]
        found.append((", ".join(shown), size, *values))
    heads = ("class", "k", *(f"distinct l of {own}" for own in attributes))
    least = {name: min(row[at] for row in found) for at, name in enumerate(heads) if at}  # type: ignore[type-var]
    wrong = [f"{name} is {least[name]}, not {own}" for name, own in promised.items() if least[name] != own]
    return Exhibit(
        f"Table {number}",
        title,
        says,
        printed=printed_table(number),
        ours=Grid(heads, tuple(found)),
        differs="; ".join(wrong) + "." if wrong else "",
    )


def original() -> Exhibit:
    """Table 4: the records before anything is generalized."""
    rows = rows_of("4")
    found = [
        (name, len({row[name] for row in rows}), measure(rows, keys=["row"], sensitive=name).entropy)
        for name in ("ZIP Code", "Age", "Salary", "Disease")
    ]
    return Exhibit(
        "Table 4",
        "the original records",
        "Nine records. The entropy of an attribute is what a rate divides by.",
        printed=printed_table("4"),
        ours=Grid(("attribute", "different values", "H in bits"), tuple(found)),
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
    found = (
        (f"{salary}, ordered", ordered),
        (f"{disease}, all values equally far apart", equal),
        *((f"{disease}, cancers apart in a tree of {name}", own) for name, own in trees.items()),
    )
    nearest = min([equal, *trees.values()], key=lambda own: abs(own - Fraction(other)))
    same = f"{float(nearest):.3f}" == other
    return [
        Exhibit(
            "Table 9",
            "the t-close table",
            "The records of Table 4 in classes of three by zip code, age below or from 40.",
            printed=printed_table("9"),
            ours=Grid(
                ("class", "records"),
                tuple((", ".join(own), len(members)) for own, members in _classes(rows, keys).items()),
            ),
            errata=("DR-3",),
        ),
        Exhibit(
            "Table 9, caption",
            "how close the classes are to the table",
            "The caption states one distance for each attribute, and no tree of diseases.",
            printed=Grid(heads, ((salary, stated), (disease, other))),
            ours=Grid(heads, found),
            differs=" ".join(
                own
                for own in (
                    compare_figures([salary], [stated], [ordered], [ordered]),
                    ""
                    if same
                    else f"No distance with the table's own frequencies gives {other} for {disease}; the "
                    f"nearest is {float(nearest):.3f}.",
                )
                if own
            ),
            errata=("DR-9",),
        ),
    ]


def _classes(rows: Sequence[Row], keys: Sequence[str]) -> dict[tuple[str, ...], list[Row]]:
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in keys), []).append(row)
    return found


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
    """Return the greatest distance of a class from the table."""
    values: Counter[Scalar] = Counter(row[name] for row in rows)
    taxonomy = None if tree is None else Taxonomy(tree={"*": tree}).compile({}, Path())
    domain = SensitiveDomain.build(name, values, number=distance == "ordered", taxonomy=taxonomy)
    model = TCloseness.model_validate({"t": 1, "distance": distance}).bind(domain)
    views = (
        ClassView(len(members), Counter(domain.code_of(row[name]) for row in members))
        for members in _classes(rows, keys).values()
    )
    return max(model.achieved_parameters(view)["t"] for view in views)
