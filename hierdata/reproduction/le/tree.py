"""LE figure 1: the tree of diseases, which the text fixes but for one place (LE-12)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from hierdata.domains import similarity
from hierdata.domains.sensitive import path_in
from hierdata.domains.taxonomy import Taxonomy
from hierdata.reproduction.exhibit import Cell, Exhibit, Grid
from hierdata.reproduction.le.formulas import Parents, distance, nest
from hierdata.reproduction.printed import grid_of, read_printed

PAIRS = (
    ("Flu", "pneumonia"),
    ("Flu", "Gastritis"),
    ("Flu", "Cancer"),
    ("Gastritis", "Cancer"),
)


def variants() -> Mapping[str, Parents]:
    """Return the trees that the text allows, by name: each node with its parent."""
    found: Mapping[str, Parents] = read_printed("LE")["figure 1"]["variants"]
    return found


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
        "The tree is drawn only. The text fixes that flu and pneumonia are siblings, 1 apart, that flu "
        "and gastritis are 3 apart, and that diseases are on level 3; it leaves open where the tumours "
        "hang.",
        printed,
        derived,
        ours,
        drawing="\n\n".join(
            "\n".join([f"Tree {name}", *draw({"disease": build_taxonomy(own)["*"]})])
            for name, own in trees.items()
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
