"""The formulas of TC with its examples: the earth mover's distance (1 to 5), and the losses (8, 9)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from hierdata.metrics.additional_information_loss import additional
from hierdata.privacy import TCloseness
from hierdata.privacy.base import ClassView
from hierdata.privacy.wording import number
from hierdata.reproduction.exhibit import Cell, Exhibit, Grid
from hierdata.reproduction.tc.printed import disease_domain, diseases, facts

_LEAVES = ("SARS", "pneumonia", "bronchitis")
"""The class of the worked example."""
_GROUPS = ((3, 3, 4), (5, 5))
_L = 3


def trace() -> Exhibit:
    """Equations 1 to 5 on the worked example, node by node."""
    costs: dict[str, tuple[Fraction, ...]] = {}
    _follow(facts()["tree"], costs)
    stated = facts()["trace"]
    columns = tuple(stated["columns"])
    printed = tuple((row[0], *(_exact(cell) for cell in row[1:])) for row in stated["rows"])
    derived: tuple[tuple[Cell, ...], ...] = tuple((node, *costs[str(node)]) for node, *_ in printed)
    total = sum((cost for *_, cost in costs.values()), Fraction(0))
    found = _distance(_LEAVES)
    slips = [
        f"{name} of {node}"
        for (node, *own), (_, *other) in zip(printed, derived, strict=True)
        for name, cell, right in zip(columns[1:], own, other, strict=True)
        if cell is not None and cell != right
    ]
    ends = Fraction(stated["distance"])
    said = f"By its own formulas the paper is wrong in {' and '.join(slips)}. " if slips else ""
    agree = (
        f"The distance is {number(found)} in all."
        if ends == total == found
        else (
            f"The paper ends with {number(ends)}, its formulas with {number(total)}, our model with "
            f"{number(found)}."
        )
    )
    return Exhibit(
        "Equations 1 to 5",
        "the distance of a class from the table, from the leaves up",
        "P is the table, Q the class of the three diseases of the lungs. R and D are the two branches of "
        "the tree, "
        "RD its root.",
        printed=Grid(
            (*columns, "distance"), tuple((*row, ends if row[0] == "RD" else None) for row in printed)
        ),
        derived=Grid(
            (*columns, "distance"), tuple((*row, total if row[0] == "RD" else None) for row in derived)
        ),
        ours=Grid(("class", "distance"), ((", ".join(_LEAVES), found),)),
        differs=f"{said}{agree}" if slips or not ends == total == found else "",
        errata=("TC-1", "TC-3"),
    )


def hierarchy() -> Exhibit:
    """Figure 3: the tree, and the distances of two diseases that follow from it."""
    tree: Mapping[str, Mapping[str, Sequence[str]]] = facts()["tree"]
    ((root, branches),) = tree.items()
    lines = [root]
    for at, (branch, leaves) in enumerate(branches.items(), 1):
        last = at == len(branches)
        lines.append(f"{'└' if last else '├'}── {branch}")
        for place, leaf in enumerate(leaves, 1):
            lines.append(f"{' ' if last else '│'}   {'└' if place == len(leaves) else '├'}── {leaf}")
    domain = disease_domain()
    assert domain.heights is not None
    assert domain.paths is not None
    pairs = Counter(
        Fraction(domain.heights[_last_common(domain.paths[one], domain.paths[other])], domain.heights[0])
        for one, other in combinations(range(len(domain.values)), 2)
    )
    return Exhibit(
        "Figure 3",
        "the tree of diseases, and how far two of them are apart",
        "Diseases of the lungs and of the digestion. Two diseases are as far apart as the height of their "
        "lowest "
        "common ancestor, over that of the root.",
        ours=Grid(("distance of two diseases", "pairs"), tuple((own, pairs[own]) for own in sorted(pairs))),
        drawing="\n".join(lines),
        errata=("TC-3",),
    )


def additional_loss() -> Exhibit:
    """Equation 8: its b belongs to one table, and it sums over several."""
    least = Fraction(_L)
    rows: list[tuple[Cell, ...]] = []
    for name, counts in (
        ("b of the first table", (len(_GROUPS[0]),) * 2),
        ("b of the second table", (len(_GROUPS[1]),) * 2),
        ("b of each table", tuple(map(len, _GROUPS))),
    ):
        tables = [
            sum((Fraction(size) - least for size in sizes), Fraction(0)) / (count * least)
            for sizes, count in zip(_GROUPS, counts, strict=True)
        ]
        rows.append((name, sum(tables, Fraction(0)) / len(tables)))
    found = additional([Counter(sizes) for sizes in _GROUPS], least)
    values = [row[1] for row in rows]
    return Exhibit(
        "Equation 8",
        "additional information loss of groups of 3, 3, 4 and of 5, 5, for l = 3",
        "The formula divides by the number of groups b, which two tables have of their own. No example is "
        "printed.",
        derived=Grid(("reading", "loss"), tuple(rows)),
        ours=Grid(("metric", "loss"), (("additional_information_loss", found),)),
        differs=f"As printed it has {len(set(values))} values here, depending on whose b is meant; we "
        f"take that of "
        f"each table, {number(found)}."
        if len(set(values)) > 1
        else "",
        errata=("TC-7",),
    )


def _follow(
    tree: Mapping[str, Any], costs: dict[str, tuple[Fraction, ...]], root: int | None = None
) -> Fraction:
    """Note extra, pos_e, neg_e and cost of the inner nodes; return the extra of the first node."""
    total = Fraction(0)
    for node, below in tree.items():
        height = _height(below)
        top = height if root is None else root
        extras = (
            [_follow({name: inner}, costs, top) for name, inner in below.items()]
            if isinstance(below, Mapping)
            else [_extra(leaf) for leaf in below]
        )
        pos = sum((own for own in extras if own > 0), Fraction(0))
        neg = -sum((own for own in extras if own < 0), Fraction(0))
        total = sum(extras, Fraction(0))
        costs[node] = total, pos, neg, Fraction(height, top) * min(pos, neg)
    return total


def _height(below: Any) -> int:
    return 1 + max(map(_height, below.values())) if isinstance(below, Mapping) else 1


def _extra(leaf: str) -> Fraction:
    """Return q - p of a disease."""
    share = Fraction(1, len(_LEAVES)) if leaf in _LEAVES else Fraction(0)
    return share - Fraction(diseases().count(leaf), len(diseases()))


def _distance(values: Sequence[str]) -> Fraction:
    domain = disease_domain()
    codes = Counter(domain.code_of(value) for value in values)
    return TCloseness(t=Fraction(1)).bind(domain).achieved_parameters(ClassView(len(values), codes))["t"]


def _last_common(one: Sequence[int], other: Sequence[int]) -> int:
    return next(node for node in reversed(one) if node in other)


def _exact(text: str | None) -> Fraction | None:
    return None if text is None else Fraction(text)
