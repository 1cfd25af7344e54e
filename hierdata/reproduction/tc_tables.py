"""TC's tables I and II and its formulas with their examples: closeness (1 to 5), and the losses (8, 9)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

from hierdata.domains.sensitive import SensitiveDomain, heights_in, path_in
from hierdata.domains.taxonomy import Taxonomy
from hierdata.engines import Engine
from hierdata.engines.kaca.engine import KACA
from hierdata.engines.reassignment.engine import Swap, Swarm
from hierdata.metrics.losses import additional
from hierdata.pipeline.anonymize import anonymize
from hierdata.privacy import DistinctLDiversity, FrequencyLDiversity, TCloseness
from hierdata.privacy.base import ClassView, number
from hierdata.reproduction.exhibit import (
    Cell,
    Exhibit,
    Grid,
    describe_differences,
    read_grid,
    read_printed,
    write_cell,
)


def facts() -> Mapping[str, Any]:
    """Return the data of the paper."""
    return read_printed("TC")


def diseases() -> list[str]:
    """Return the disease of each record of table I, in order."""
    return [str(row[-1]) for row in read_grid("TC", "table I").rows]


def disease_domain() -> SensitiveDomain:
    """Return the diseases of table I in the tree of figure 3; codes are places in the table."""
    tree = Taxonomy(tree=facts()["tree"]).compile({}, Path())
    values = diseases()
    paths = tuple(path_in(tree, value) for value in values)
    return SensitiveDomain(
        "$.Disease", tuple(values), paths=paths, reference=(1,) * len(values), heights=heights_in(tree)
    )


_SEED = bytes(16)
Split = tuple[tuple[int, ...], ...]


def table_one() -> Exhibit:
    """Table I: the original."""
    printed = read_grid("TC", "table I")
    distinct = len({(row[1], row[2]) for row in printed.rows})
    return Exhibit(
        "Table I",
        "six records with weight, age and disease",
        "The table that is anonymized. Weight and age are quasi-identifiers, the disease is sensitive.",
        printed=printed,
        ours=Grid(
            ("of the table", "number"),
            (
                ("records", len(printed.rows)),
                ("combinations of weight and age", distinct),
                ("different diseases", len({*diseases()})),
            ),
        ),
    )


def table_two() -> Exhibit:
    """Table II: the classes called t-close, beside all other splits, and what our engine finds."""
    printed_split = _split_as_printed()
    distances = {split: _largest_distance(split) for split in _halves(len(diseases()))}
    stated = distances[printed_split]
    nearer = sum(distance < stated for distance in distances.values())
    rows = [
        (" | ".join(_names(rows) for rows in split), distance, "printed" if split == printed_split else "")
        for split, distance in sorted(distances.items(), key=lambda item: (-item[1], item[0]))
    ]
    best = min(distances.values())
    searched = {"swaps": _search(best, Swap()), "a swarm": _search(best, Swarm())}
    rows += [
        (f"by {name}: {' | '.join(map(_names, split))}", t, "found") for name, (split, t) in searched.items()
    ]
    return Exhibit(
        "Table II",
        "two classes of three that are called t-close",
        "The classes of the records 1, 3, 4 and 2, 5, 6. The text has 1/2 as the distance of the first.",
        printed=read_grid("TC", "table II"),
        ours=Grid(("classes", "largest distance", ""), tuple(rows)),
        differs=f"{nearer} of the {len(distances)} splits into three and three are nearer to the table "
        f"than the printed one, which has {number(stated)}; the best have {number(min(distances.values()))}."
        if nearer
        else "",
        errata=("TC-2", "TC-4", "TC-6"),
    )


def _split_as_printed() -> Split:
    classes: dict[str, list[int]] = {}
    for class_, *_, disease in read_grid("TC", "table II").rows:
        classes.setdefault(str(class_), []).append(diseases().index(str(disease)))
    return tuple(tuple(sorted(rows)) for rows in classes.values())


def _halves(records: int) -> Iterator[Split]:
    """Yield every split into two classes of equal size, the first with the first record."""
    for first in combinations(range(records), records // 2):
        if first[0] == 0:
            yield first, tuple(row for row in range(records) if row not in first)


def _largest_distance(split: Sequence[Sequence[int]]) -> Fraction:
    bound = TCloseness(t=Fraction(1)).bind(disease_domain())
    return max(bound.achieved_parameters(ClassView(len(rows), dict.fromkeys(rows, 1)))["t"] for rows in split)


def _search(t: Fraction, step: Engine) -> tuple[Split, Fraction]:
    """Return the classes that a run of two steps publishes, and the largest distance that it states."""
    names = ("ID", "Weight", "Age", "Disease")
    records = [dict(zip(names, row, strict=True)) for row in read_grid("TC", "table I").rows]
    policy = {
        "version": 1,
        "suppressed": "as_published",
        "models": [{"kind": "k-anonymity", "k": 3}, {"kind": "t-closeness", "t": str(t)}],
        "engine": {"steps": [KACA(), step]},
        "fields": {
            "$.ID": {"role": "insensitive", "exempt": "the page shows which record is where"},
            "$.Weight": {"role": "quasi", "interval": {"steps": [10, 20], "domain": [50, 90]}},
            "$.Age": {"role": "quasi", "interval": {"steps": [10, 20], "domain": [40, 80]}},
            "$.Disease": {"role": "sensitive", "taxonomy": {"tree": facts()["tree"]}},
        },
    }
    release = anonymize(records, policy, seed=_SEED)
    classes: dict[tuple[str, str], list[int]] = {}
    for record in release.records():
        shown = str(record["Weight"]), str(record["Age"])
        classes.setdefault(shown, []).append(int(str(record["ID"])) - 1)
    (close,) = (promise for promise in release.report.promises if "t" in promise.achieved)
    split = tuple(sorted(tuple(sorted(rows)) for rows in classes.values()))
    return split, close.achieved["t"].fraction


def _names(rows: Sequence[int]) -> str:
    """Return the records of a class by their IDs."""
    return ", ".join(str(row + 1) for row in rows)


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
    printed = tuple((name, *(cell and Fraction(cell) for cell in cells)) for name, *cells in stated["rows"])
    derived: tuple[tuple[Cell, ...], ...] = tuple((node, *costs[str(node)]) for node, *_ in printed)
    total = sum((cost for *_, cost in costs.values()), Fraction(0))
    distance = _distance(_LEAVES)
    slips = [
        f"{name} of {node}"
        for (node, *cells), (_, *other) in zip(printed, derived, strict=True)
        for name, cell, right in zip(columns[1:], cells, other, strict=True)
        if cell is not None and cell != right
    ]
    ends = Fraction(stated["distance"])
    said = f"By its own formulas the paper is wrong in {' and '.join(slips)}. " if slips else ""
    agree = (
        f"The distance is {number(distance)} in all."
        if ends == total == distance
        else (
            f"The paper ends with {number(ends)}, its formulas with {number(total)}, our model with "
            f"{number(distance)}."
        )
    )
    return Exhibit(
        "Equations 1 to 5",
        "the distance of a class from the table, from the leaves up",
        "P is the table, Q the class of the three diseases of the lungs. R and D are the two branches of the "
        "tree, RD its root.",
        printed=Grid(
            (*columns, "distance"), tuple((*row, ends if row[0] == "RD" else None) for row in printed)
        ),
        derived=Grid(
            (*columns, "distance"), tuple((*row, total if row[0] == "RD" else None) for row in derived)
        ),
        ours=Grid(("class", "distance"), ((", ".join(_LEAVES), distance),)),
        differs=f"{said}{agree}" if slips or not ends == total == distance else "",
        errata=("TC-1", "TC-3"),
    )


def hierarchy() -> Exhibit:
    """Figure 3: the tree, and the distances of two diseases that follow from it."""
    tree: Mapping[str, Mapping[str, Sequence[str]]] = facts()["tree"]
    ((root, branches),) = tree.items()
    lines = [root]
    for ordinal, (branch, leaves) in enumerate(branches.items(), 1):
        last = ordinal == len(branches)
        lines.append(f"{'└' if last else '├'}── {branch}")
        for position, leaf in enumerate(leaves, 1):
            lines.append(f"{' ' if last else '│'}   {'└' if position == len(leaves) else '├'}── {leaf}")
    domain = disease_domain()
    assert domain.heights is not None
    assert domain.paths is not None
    pairs: Counter[Fraction] = Counter()
    for first, other in combinations(domain.paths, 2):
        common = next(node for node in reversed(first) if node in other)
        pairs[Fraction(domain.heights[common], domain.heights[0])] += 1
    return Exhibit(
        "Figure 3",
        "the tree of diseases, and how far two of them are apart",
        "Diseases of the lungs and of the digestion. Two diseases are as far apart as the height of their "
        "lowest common ancestor, over that of the root.",
        ours=Grid(("distance of two diseases", "pairs"), tuple(sorted(pairs.items()))),
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
    loss = additional([Counter(sizes) for sizes in _GROUPS], least)
    values = [row[1] for row in rows]
    return Exhibit(
        "Equation 8",
        "additional information loss of groups of 3, 3, 4 and of 5, 5, for l = 3",
        "The formula divides by the number of groups b, which two tables have of their own. No example is "
        "printed.",
        derived=Grid(("reading", "loss"), tuple(rows)),
        ours=Grid(("metric", "loss"), (("additional_information_loss", loss),)),
        differs=f"As printed it has {len(set(values))} values here, depending on whose b is meant; we "
        f"take that of each table, {number(loss)}."
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
        pos = sum((extra for extra in extras if extra > 0), Fraction(0))
        neg = -sum((extra for extra in extras if extra < 0), Fraction(0))
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


_CLASSES = ((25, 25), (49, 1))
"""Positive and negative records of the two classes of section 2.5; it says "equal number" of the first."""
_POSITIVE = Fraction(1, 100)
"""The share of positive records in the whole table, which the section calls skewed and does not print."""


def inference() -> Exhibit:
    """Section 2.5: what l-diversity says of two classes of a skewed table, and what t-closeness does."""
    columns = ("class", "distinct l", "frequency l", "chance of positive", "distance from the table")
    derived = Grid(columns, tuple(_infer(*counts) for counts in _CLASSES))
    ours = Grid(columns, tuple(_judge_both(*counts) for counts in _CLASSES))
    return Exhibit(
        "Section 2.5",
        "the probabilistic inference attack on two 2-diverse classes",
        "A class with as many positive as negative records, and one with 49 positive and one negative: where "
        "the table is skewed, both are said to disclose the attribute although the first satisfies "
        "2-diversity. The "
        f"share of positive records in the table is not printed; {number(100 * _POSITIVE)} % is ours.",
        printed=Grid(("class", "distinct l"), ((_name_class(*_CLASSES[0]), 2),)),
        derived=derived,
        ours=ours,
        differs=f"{describe_differences(derived, ours)} {describe_inference(ours)}".strip(),
        errata=("TC-4",),
    )


def describe_inference(grid: Grid) -> str:
    """Say which models tell the two classes apart from a harmless one, from their figures."""
    distinct, frequency, chance, distance = zip(*(row[1:] for row in grid.rows), strict=True)
    sees = "sees no" if len({*distinct}) == 1 else "sees a"
    sentences = [
        f"Distinct l-diversity {sees} difference between the classes",
        f"frequency l-diversity has l = {' and '.join(map(write_cell, frequency))}",
    ]
    near = min(value for value in distance if isinstance(value, Fraction))
    most = max(value for value in chance if isinstance(value, Fraction))
    return (
        f"{'; '.join(sentences)}. A guess is right with a chance of up to {number(most)}. "
        f"No t below {number(near)} allows either class."
    )


def _name_class(positive: int, negative: int) -> str:
    return f"{positive} positive, {negative} negative"


def _infer(positive: int, negative: int) -> tuple[Cell, ...]:
    """Return the figures of a class by the definitions."""
    records = positive + negative
    share = Fraction(positive, records)
    distinct = (positive > 0) + (negative > 0)
    largest = Fraction(records, max(positive, negative))
    return _name_class(positive, negative), distinct, largest, share, abs(share - _POSITIVE)


def _judge_both(positive: int, negative: int) -> tuple[Cell, ...]:
    """Return the figures of a class by our models."""
    table = _POSITIVE.numerator, _POSITIVE.denominator - _POSITIVE.numerator
    domain = SensitiveDomain("$.test", ("positive", "negative"), reference=table)
    view = ClassView(positive + negative, {0: positive, 1: negative})
    distinct = DistinctLDiversity(l=1).bind(domain).achieved_parameters(view)["l"]
    frequency = FrequencyLDiversity(l=1).bind(domain).achieved_parameters(view)["l"]
    distance = TCloseness(t=Fraction(1), distance="equal").bind(domain).achieved_parameters(view)["t"]
    guess = 1 / frequency if positive >= negative else 1 - 1 / frequency
    return _name_class(positive, negative), distinct, frequency, guess, distance
