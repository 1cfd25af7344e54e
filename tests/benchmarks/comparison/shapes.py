"""The trees of the comparison: what is known of each vertex, and what the published trees keep of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.benchmarks.comparison.labels import ANYTHING, Attribute, of_hierarchy, of_numbers


@dataclass(frozen=True)
class Shape:
    """A vertex type: its quasi-identifiers, its sensitive attribute, and the list of vertices below it."""

    quasi: tuple[str, ...]
    sensitive: str
    child: str = ""
    below: Shape | None = None


_GRADED = Shape(("code",), "grade")
_TAUGHT = Shape(("code",), "grade", "evaluations", Shape(("instructor",), "score"))
SHAPES = {
    name: Shape(("major", "birth_year"), "gpa", "courses", courses)
    for name, courses in {"A": _GRADED, "B": _TAUGHT}.items()
}
BIRTH_YEARS = of_numbers(1985, 1996)


@dataclass(frozen=True)
class Tree:
    """The quasi-identifiers of a vertex and of those below it, sorted, without vertices that show nothing."""

    labels: tuple[str, ...]
    children: tuple[Tree, ...] = ()


def tree(vertex: Mapping[str, Any], shape: Shape) -> Tree:
    """What a reader sees of a record but for sensitive values; a cell that is not there shows nothing."""
    labels = tuple(str(vertex.get(key, "*")) for key in shape.quasi)
    below = [tree(child, shape.below) for child in vertex.get(shape.child, ())] if shape.below else []
    shown = [one for one in below if one.children or not set(one.labels).issubset(ANYTHING)]
    return Tree(labels, tuple(sorted(shown, key=lambda one: (one.labels, str(one.children)))))


def attributes(folder: Path, shape: Shape) -> tuple[tuple[Attribute, ...], ...]:
    """For each depth the quasi-identifiers, from the taxonomies that lie beside the data."""
    names = {"code": "course"}
    found, level = [], shape
    while level is not None:
        found.append(
            tuple(
                BIRTH_YEARS
                if key == "birth_year"
                else of_hierarchy(folder / "taxonomies" / f"{names.get(key, key)}.csv")
                for key in level.quasi
            )
        )
        level = level.below
    return tuple(found)


@dataclass(frozen=True)
class Kept:
    """What trees keep: the sum of 1 - LM over their values, the number of values, and of vertices below."""

    sum: Fraction
    values: int
    vertices: int


def total(parts: Iterable[Kept]) -> Kept:
    """Add up."""
    found = list(parts)
    return Kept(
        sum((one.sum for one in found), Fraction()),
        sum(one.values for one in found),
        sum(one.vertices for one in found),
    )


def kept(one: Tree, levels: tuple[tuple[Attribute, ...], ...]) -> Kept:
    """What a tree keeps."""
    below = total(kept(child, levels[1:]) for child in one.children)
    own = sum((1 - at.loss(label) for at, label in zip(levels[0], one.labels, strict=True)), below.sum)
    return Kept(own, below.values + len(one.labels), below.vertices + len(one.children))
