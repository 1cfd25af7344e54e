"""LE's formulas, its tree of diseases (figure 1), and both on its own tables: diversity, loss, degree.

Trees map each node to its parent. The text fixes the tree but for one place (LE-12).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from hierdata.domains import similarity
from hierdata.domains.sensitive import path_in
from hierdata.domains.taxonomy import Taxonomy
from hierdata.engines.rows.table import partition_of
from hierdata.forest.forest import Scope
from hierdata.forest.publication import publish_grouped
from hierdata.metrics import METRICS
from hierdata.policy.load import from_data
from hierdata.privacy import DistinctLDiversity, LEDiversity
from hierdata.reproduction.exhibit import (
    Cell,
    Exhibit,
    Grid,
    describe_differences,
    grid_of,
    read_grid,
    read_printed,
    yes_or_no,
)
from hierdata.reproduction.small_data import encode_records, judge_class

Parents = Mapping[str, str | None]


def path_up(parents: Parents, node: str) -> list[str]:
    """Return a node and all above it, the root last."""
    above = parents[node]
    return [node] if above is None else [node, *path_up(parents, above)]


def distance(parents: Parents, a: str, b: str) -> Fraction:
    """Return the distance of two values: definition 2, and definition 4 with its sign corrected (LE-7)."""
    level_a, level_b = len(path_up(parents, a)), len(path_up(parents, b))
    above = path_up(parents, b)
    common = next(len(path_up(parents, node)) for node in path_up(parents, a) if node in above)
    return Fraction((level_a - common) + (level_b - common), 2)


def is_l_e_diverse(parents: Parents, values: Sequence[str], l: int, e: Fraction) -> bool:  # noqa: E741
    """Return whether a class satisfies definition 3: l records, any two more than e apart (LE-1)."""
    return len(values) >= l and all(distance(parents, a, b) > e for a, b in combinations(values, 2))


def find_buckets(parents: Parents, values: Sequence[str], e: Fraction) -> list[list[int]]:
    """Return the positions of the values of each bucket of algorithm 1, step 1: at most e apart.

    For trees of uniform depth, where "at most e apart" is transitive (LE-2).
    """
    buckets: list[list[int]] = []
    for position, value in enumerate(values):
        near = [bucket for bucket in buckets if distance(parents, values[bucket[0]], value) <= e]
        if near:
            near[0].append(position)
        else:
            buckets.append([position])
    return buckets


def lose(values: Sequence[str], true: str, *, true_point_only: bool = False) -> Fraction:
    """Return IL of a tuple by formula 5: over all candidate points, or over the true one as in the example.

    >>> lose(["a", "b", "c"], "a"), lose(["a", "b", "c"], "a", true_point_only=True)
    (Fraction(2, 3), Fraction(4, 9))
    """
    points = {true} if true_point_only else set(values)
    shares = {point: Fraction(values.count(point), len(values)) for point in points}
    return sum(((share - (point == true)) ** 2 for point, share in shares.items()), Fraction(0))


def diversity_degree(parents: Parents, values: Sequence[str]) -> Fraction:
    """Return DOD of formula 9: the sum over all pairs divided by the number of values (LE-8)."""
    return _sum_pairs(parents, values) / len(values)


def mean_pair_distance(parents: Parents, values: Sequence[str]) -> Fraction:
    """Return the sum over all pairs divided by their number."""
    return _sum_pairs(parents, values) / Fraction(len(values) * (len(values) - 1), 2)


def _sum_pairs(parents: Parents, values: Sequence[str]) -> Fraction:
    return sum((distance(parents, a, b) for a, b in combinations(values, 2)), Fraction(0))


def nest(parents: Parents, node: str) -> dict[str, Any]:
    """Return the tree below a node, nested, as a policy states a taxonomy."""
    return {child: nest(parents, child) for child, above in parents.items() if above == node}


PAIRS = (
    ("Flu", "pneumonia"),
    ("Flu", "Gastritis"),
    ("Flu", "Cancer"),
    ("Gastritis", "Cancer"),
)


def variants() -> Mapping[str, Parents]:
    """Return the trees that the text allows, by name: each node with its parent."""
    parents_by_name: Mapping[str, Parents] = read_printed("LE")["figure 1"]["variants"]
    return parents_by_name


def build_taxonomy(parents: Parents) -> dict[str, Any]:
    """Return a tree as a policy states it."""
    (root,) = (node for node, above in parents.items() if above is None)
    return {"*": nest(parents, root)}


def show_tree_of_diseases() -> Exhibit:
    """Return figure 1: the three variants, and distances in each."""
    printed = grid_of(read_printed("LE")["figure 1"]["distances"])
    trees = variants()
    columns = ("values", *(f"tree {name}" for name in trees))
    derived = _grid(columns, distance)
    ours = _grid(columns, measure_distance)
    open_pairs = [row[0] for row in derived.rows if len({*row[1:]}) > 1]
    stated = {row[0]: row[1] for row in printed.rows}
    wrong = [row[0] for row in derived.rows if row[0] in stated and {*row[1:]} != {stated[row[0]]}]
    return Exhibit(
        "Figure 1",
        "The semantic tree of diseases",
        "The tree is drawn only. The text fixes that flu and pneumonia are siblings, 1 apart, that flu and "
        "gastritis are 3 apart, and that diseases are on level 3; it leaves open where the tumours hang.",
        printed,
        derived,
        ours,
        drawing="\n\n".join(
            "\n".join([f"Tree {name}", *draw({"disease": build_taxonomy(parents)["*"]})])
            for name, parents in trees.items()
        ),
        differs=_describe(open_pairs, wrong),
        errata=("LE-1", "LE-12"),
    )


def draw(tree: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """Yield the lines of a nested tree, each level two spaces further in."""
    for node, below in tree.items():
        yield f"{indent}{node}"
        yield from draw(below, f"{indent}  ")


def _grid(columns: tuple[str, ...], measure: Callable[[Parents, str, str], Cell]) -> Grid:
    rows: list[tuple[Cell, ...]] = [
        (f"{a}, {b}", *(measure(parents, a, b) for parents in variants().values())) for a, b in PAIRS
    ]
    return Grid(columns, tuple(rows))


def measure_distance(parents: Parents, a: str, b: str) -> Fraction:
    """Return the distance of two values of a tree as hierdata computes it."""
    taxonomy = Taxonomy(tree=build_taxonomy(parents), inner=True).compile({}, Path())
    return similarity.distance(path_in(taxonomy, a), path_in(taxonomy, b))


def _describe(open_pairs: list[Cell], wrong: list[Cell]) -> str:
    sentences = []
    if wrong:
        sentences.append(f"No tree gives the printed distance of {'; '.join(map(str, wrong))}.")
    if open_pairs:
        sentences.append(f"The distance of {'; '.join(map(str, open_pairs))} depends on the tree.")
    return " ".join(sentences)


Classes = Sequence[Sequence[str]]
L, E = 3, 1
TABLES = ("table III", "table V")
UNION = "1 and 2 united"


def show_formulas() -> list[Exhibit]:
    """Return the exhibits of section IV: formulas 2 to 10."""
    return [_show_information_loss(), _show_sign(), _show_diversity_degree()]


def classes_of_table(name: str) -> list[list[str]]:
    """Return the diseases of each group of table III or V."""
    classes: dict[Cell, list[str]] = {}
    for group, value in read_grid("LE", name).rows:
        classes.setdefault(group, []).append(str(value))
    return list(classes.values())


def measure_classes(parents: Parents, classes: Classes, metric: str) -> dict[str, Fraction]:
    """Return the figures of a metric of hierdata for a table that is published in these classes."""
    values = [value for class_ in classes for value in class_]
    policy = from_data(
        {
            "version": 1,
            "fields": {
                "$.row": {"role": "quasi", "interval": {"steps": [1], "domain": [0, max(len(values), 1)]}},
                "$.value": {"role": "sensitive", "taxonomy": {"tree": build_taxonomy(parents)}},
            },
            "models": [{"kind": "l-e-diversity", "l": 1, "e": 0}],
            "engine": {"preset": "MBF"},
        }
    )
    forest = encode_records(({"row": row, "value": value} for row, value in enumerate(values)), policy).forest
    class_of = np.repeat(np.arange(len(classes)), [len(class_) for class_ in classes])
    partition = partition_of(forest, Scope.of(forest), class_of, Counter())
    figures = METRICS[metric]().of(publish_grouped(forest, (partition,), ()), forest)
    return {figure.name: Fraction(figure.value) for figure in figures}


def show_definition() -> Exhibit:
    """Return definition 3, judged on tables III and V."""
    trees = variants()
    columns = ("class", "l of distinct l-diversity", *(f"(3,1)-diverse, tree {name}" for name in trees))
    groups: list[tuple[str, int | str, list[str]]] = []
    for table in TABLES:
        groups += [(table, number, values) for number, values in enumerate(classes_of_table(table), 1)]
    first, second, *_ = classes_of_table("table V")
    groups.append(("table V", UNION, first + second))

    def rows(
        count_distinct: Callable[[list[str]], int], is_diverse: Callable[[Parents, list[str]], bool]
    ) -> tuple[tuple[Cell, ...], ...]:
        return tuple(
            (
                f"{table}, {number}: {', '.join(values)}",
                count_distinct(values),
                *(yes_or_no(is_diverse(tree, values)) for tree in trees.values()),
            )
            for table, number, values in groups
        )

    def achieve_distinct(values: list[str]) -> int:
        judgement = judge_class(DistinctLDiversity(l=1), values, build_taxonomy(trees["A"]))
        return judgement.achieved["l"].numerator

    derived = rows(
        lambda values: len({*values}), lambda tree, values: is_l_e_diverse(tree, values, L, Fraction(E))
    )
    model = LEDiversity(l=L, e=E)
    ours = rows(achieve_distinct, lambda tree, values: judge_class(model, values, build_taxonomy(tree)).holds)
    return Exhibit(
        "Definition 3",
        "Which tables are (3,1)-diverse",
        "The groups of table III are 3-diverse, but all values of the third are diseases of the stomach; "
        "the groups of table V are (3,1)-diverse.",
        derived=Grid(columns, derived),
        ours=Grid(columns, ours),
        differs=describe_diversity(ours),
        errata=("LE-1", "LE-9"),
    )


def describe_diversity(rows: Sequence[tuple[Cell, ...]]) -> str:
    """Return a sentence if more groups of table III fail than the third, or one of table V does."""
    *rows, union = rows
    failing = {
        table: [row for row in rows if str(row[0]).startswith(f"{table},") and "no" in row]
        for table in TABLES
    }
    sentences = []
    if len(failing["table III"]) > 1:
        sentences.append(
            f"The paper speaks of the third group of table III; {len(failing['table III'])} of its groups "
            "show two values at most 1 apart."
        )
    if failing["table V"]:
        sentences.append(f"{len(failing['table V'])} groups of table V are not (3,1)-diverse.")
    if "no" in union and not failing["table V"]:
        sentences.append("The union of groups 1 and 2 of table V fails: the model is not monotone.")
    return " ".join(sentences)


def _show_information_loss() -> Exhibit:
    printed = read_grid("LE", "formula 5")
    first, *_ = classes = classes_of_table("table V")
    (probability, _), (loss, _) = printed.rows
    totals = {
        table: sum((lose(class_, v) for class_ in classes_of_table(table) for v in class_), Fraction(0))
        for table in TABLES
    }
    derived = (
        (probability, Fraction(1, len(first))),
        (loss, lose(first, first[0])),
        ("IL of tuple 1, true point only", lose(first, first[0], true_point_only=True)),
        *((f"IL of the table, {table}", total) for table, total in totals.items()),
    )
    measured = {
        table: measure_classes(variants()["A"], classes_of_table(table), "reconstruction_error")
        for table in TABLES
    }
    ours = (
        (loss, measure_classes(variants()["A"], classes[:1], "reconstruction_error")["per_tuple"]),
        *((f"IL of the table, {table}", figures["total"]) for table, figures in measured.items()),
    )
    grid = Grid(printed.columns, derived)
    equal = totals[TABLES[0]] == totals[TABLES[1]]
    also = " Both tables lose the same, so the measure does not tell them apart." if equal else ""
    return Exhibit(
        "Formulas (2) to (6)",
        "Information loss of tuple 1 and of the tables",
        "Tuple 1 is one of three in its group, so each of three points has probability 1/3. The example "
        "squares the difference at the true point only; formula 5 sums over all points.",
        printed,
        grid,
        Grid(printed.columns, ours),
        differs=f"{describe_differences(printed, grid)}{also}".strip(),
        errata=("LE-5", "LE-6"),
    )


def _show_sign() -> Exhibit:
    tree = variants()["A"]
    columns = ("quantity", "value")
    name = "Dist(Flu, Gastritis)"
    as_printed, right = -distance(tree, "Flu", "Gastritis"), distance(tree, "Flu", "Gastritis")
    derived = (
        ("Dist(Flu, Gastritis) as printed", as_printed),
        (f"{name} with the sign of definition 2", right),
    )
    return Exhibit(
        "Formula (7)",
        "The distance of two values",
        "The formula subtracts the levels of the values from that of their common ancestor, which lies "
        "above them.",
        derived=Grid(columns, derived),
        ours=Grid(columns, ((name, measure_distance(tree, "Flu", "Gastritis")),)),
        differs=f"As printed the distance is {as_printed}, below 0." if as_printed < 0 else "",
        errata=("LE-7",),
    )


def _show_diversity_degree() -> Exhibit:
    columns = ("table and tree", "DOT, formula (10)", "mean distance of a pair")
    derived: list[tuple[Cell, ...]] = []
    ours: list[tuple[Cell, ...]] = []
    for table in TABLES:
        classes = classes_of_table(table)
        for name, tree in variants().items():
            label = f"{table}, tree {name}"
            degree, apart = (_mean(tree, classes, of) for of in (diversity_degree, mean_pair_distance))
            derived.append((label, degree, apart))
            figures = measure_classes(tree, classes, "diversity_degree")
            ours.append((label, figures["as_printed"], figures["mean_pair_distance"]))
    siblings: Parents = {"root": None, **{f"value {number}": "root" for number in range(8)}}
    eight = [value for value, above in siblings.items() if above]
    label = "eight siblings in one class"
    derived.append((label, diversity_degree(siblings, eight), mean_pair_distance(siblings, eight)))
    ours.append((label, *measure_classes(siblings, [eight], "diversity_degree").values()))
    return Exhibit(
        "Formulas (8) to (10)",
        "Diversity degree of tables III and V",
        "The sum of the distances of all pairs of a class is divided by its number of values, and the "
        "mean is taken over classes. A larger degree is said to mean stronger protection.",
        derived=Grid(columns, tuple(derived)),
        ours=Grid(columns, tuple(ours)),
        differs=_describe_degrees(derived),
        errata=("LE-8", "LE-12"),
    )


def _describe_degrees(rows: Sequence[tuple[Cell, ...]]) -> str:
    *tables, (name, degree, mean) = rows
    label = str(name)
    beaten = [str(table) for table, other, _ in tables if _decimal(degree) > _decimal(other)]
    if not beaten:
        return ""
    than = "all of the above" if len(beaten) == len(tables) else "; ".join(beaten)
    return (
        f"{label.capitalize()} have {degree} although any two are only {mean} apart: more than {than}. "
        "The degree grows with the size of a class."
    )


def _decimal(cell: Cell) -> float:
    return float(cell) if isinstance(cell, int | float | Fraction) else 0.0


def _mean(tree: Parents, classes: Classes, measure: Callable[[Parents, Sequence[str]], Fraction]) -> Fraction:
    return sum((measure(tree, class_) for class_ in classes), Fraction(0)) / len(classes)
