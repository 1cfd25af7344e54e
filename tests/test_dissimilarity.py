"""The dissimilarity degree of trees: the alignment decides at which vertex a value is (ML equations 6, 7)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hierdata
from hierdata.forest.forest import Forest
from hierdata.forest.partition import Partition
from hierdata.metrics import METRICS
from hierdata.privacy import KAnonymity
from hierdata.testing.worlds import find_partition, trees
from tests import naive_levels as levels
from tests.publications import publication_of


@dataclass
class Node:
    """A vertex of a class representative, with the levels of the values of all vertices aligned with it."""

    label: tuple[Any, ...]
    found: list[int] = field(default_factory=list)
    children: list[Node] = field(default_factory=list)

    @property
    def form(self) -> tuple[Any, ...]:
        return self.label, tuple(sorted(child.form for child in self.children))

    def all(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            yield from child.all()

    def unite(self, other: Node) -> None:
        """Align another class of the same form: children of one form in their order."""
        self.found += other.found
        waiting = list(other.children)
        for child in self.children:
            at = next(at for at, one in enumerate(waiting) if one.form == child.form)
            child.unite(waiting.pop(at))


def representatives(forest: Forest, partition: Partition) -> list[Node]:
    """The trees of all classes."""
    nodes: dict[int, Node] = {}
    for v, shown in enumerate(partition.representative.tolist()):
        if v == shown:
            kind, first = int(forest.type[v]), int(forest.first_node[v])
            label = [
                repr(tree.labels[partition.nodes[first + at]])
                for at, tree in enumerate(forest.hierarchies[kind])
            ]
            nodes[v] = Node((kind, *label))
            if forest.parent[v] >= 0:
                nodes[int(forest.parent[v])].children.append(nodes[v])
    for v, shown in enumerate(partition.representative.tolist()):
        code = int(forest.sensitive[forest.first_sensitive[v]])
        if shown >= 0 and code >= 0:
            (domain,) = forest.domains[forest.type[v]]
            assert domain.levels is not None
            nodes[shown].found.append(domain.levels[code])
    return [nodes[v] for v in nodes if forest.parent[v] < 0]


def plain_degree(forest: Forest, partition: Partition) -> Fraction:
    """The mean over classes of the mean over vertices with at least two values."""
    alike = defaultdict(list)
    for root in representatives(forest, partition):
        alike[root.form].append(root)
    means = []
    for first, *others in alike.values():
        for other in others:
            first.unite(other)
        degrees = [levels.dissimilarity(node.found) for node in first.all() if len(node.found) >= 2]
        if degrees:
            means.append(sum(degrees, Fraction(0)) / len(degrees))
    return sum(means, Fraction(0)) / max(len(means), 1)


def test_the_degree_agrees_with_the_plain_one() -> None:
    apart = 0
    for world in trees(8):
        forest = world.forest
        found = find_partition(world, world.bind(KAnonymity(k=2)))
        bare = Partition(found.equivalence_class, found.representative, np.zeros_like(forest.nodes))
        for partition in (found, bare):
            figures = METRICS["dissimilarity_degree"]().of(publication_of(forest, partition), forest)
            degree, pooled, _ = (figure.value for figure in figures)
            assert degree == plain_degree(forest, partition)
            apart += degree != pooled
    assert apart


POLICY = {
    "version": 1,
    "models": [{"kind": "k-anonymity", "k": 2}],
    "fields": {
        "$.courses[*].name": {"role": "quasi", "flat": True},
        "$.courses[*].grade": {
            "role": "sensitive",
            "levels": {"by": {"A": 1, "B": 2, "C": 3, "D": 4, "E": 5}},
        },
    },
}


def students(*grades: str) -> list[dict[str, Any]]:
    """Students with a course X for each grade."""
    return [{"courses": [{"name": "X", "grade": grade} for grade in own]} for own in grades]


@pytest.mark.parametrize(
    ("grades", "printed", "pooled"),
    [
        # At each course the levels are 1 and 2; pooled they are 1, 1, 2 and 2.
        (("AB", "BA"), Fraction(1, 20), Fraction(4, 20)),
        (("AE", "EA"), Fraction(4, 20), Fraction(16, 20)),
        # Two classes that look alike are one, with four values at each course.
        (("AB", "AB", "EB", "EB"), Fraction(16, 20) / 2, Fraction(48, 20)),
    ],
)
def test_equal_siblings_are_apart_as_printed(
    grades: tuple[str, ...], printed: Fraction, pooled: Fraction
) -> None:
    figures = hierdata.anonymize(students(*grades), POLICY).report.metrics["dissimilarity_degree"].figures
    assert (figures["as_printed"], figures["pooled"]) == (float(printed), float(pooled))


def test_files_do_not_tell_which_siblings_were_aligned(tmp_path: Path) -> None:
    people, folder = students("AB", "BA"), tmp_path / "release"
    release = hierdata.anonymize(people, POLICY)
    release.save(folder)
    found = hierdata.measure_release(folder, POLICY, original=people)
    figures = release.report.metrics["dissimilarity_degree"].figures
    own = found.metrics["dissimilarity_degree"].figures
    assert own == {name: figure for name, figure in figures.items() if name != "as_printed"}
    assert found.left_out["dissimilarity_degree as_printed"] == (
        "the files do not tell which siblings that look alike were aligned"
    )
    assert "as_printed" not in (folder / "public" / "release.json").read_text()
