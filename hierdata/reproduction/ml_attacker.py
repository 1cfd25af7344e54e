"""Section 3.1 of ML: what an attacker knows of a student, and what then fits among published records.

The records are those that Algorithm 2 publishes in the example of its exhibit. Every student is a victim,
and everything of a sort that may be known is tried. The plain code matches documents; ours is the adversary
of ``hierdata attack``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierdata.forest.forest import Forest
from hierdata.forest.partition import Partition
from hierdata.measurement.adversary.attack import Adversary
from hierdata.measurement.adversary.forms import Forms
from hierdata.measurement.adversary.knowledge import Absence, Fact, Knowledge
from hierdata.privacy import LevelAlphaK
from hierdata.privacy.base import number
from hierdata.reproduction.exhibit import Cell, Exhibit, Grid, describe_differences, read_printed
from hierdata.reproduction.ml_clustering import (
    EngineRun,
    PlainTree,
    is_above,
    policy_of_example,
    read_tree,
    run_example,
)
from hierdata.reproduction.small_data import publish_classes

Place = tuple[int, ...]
"""A vertex of a tree: the positions of children from the root on; () is the root."""


@dataclass(frozen=True)
class KnownLabels:
    """What is known of a student: labels at some vertices of the record and how these hang together.

    ``labels`` are (vertex, path); ``counted`` says that the number of vertices of each type is known too,
    ``absent`` is a (path, label) that the student does not have.
    """

    student: int
    labels: tuple[tuple[Place, str], ...]
    counted: bool = False
    absent: tuple[str, str] | None = None


def walk(tree: PlainTree, place: Place = ()) -> Iterator[tuple[Place, PlainTree]]:
    """Yield the vertices of a tree with their places."""
    yield place, tree
    for position, child in enumerate(tree.below):
        yield from walk(child, (*place, position))


def count_types(tree: PlainTree) -> Counter[str]:
    """Return the number of vertices by type."""
    return Counter(vertex.path for _, vertex in walk(tree))


def agree(known: KnownLabels, tree: PlainTree, published: PlainTree, fields: Mapping[str, Any]) -> int:
    """Return how many of the known things a published record may have, at best.

    Known vertices are laid on published ones of their type, children below their parents; a label agrees
    with itself and what is above it. Vertices without a counterpart may have been suppressed.
    """

    def lay(place: Place, vertex: PlainTree, shown: PlainTree) -> int:
        here = sum(
            is_above(fields[path], shown.quasi[path], vertex.quasi[path])
            for labelled, path in known.labels
            if labelled == place
        )
        below = [(*place, position) for position, _ in enumerate(vertex.below)]
        asked = [child for child in below if any(other[: len(child)] == child for other, _ in known.labels)]
        slots: list[PlainTree | None] = [*shown.below, *(None for _ in asked)]
        return here + max(
            sum(
                lay(child, vertex.below[child[-1]], slot)
                for child, slot in zip(asked, chosen, strict=True)
                if slot is not None and slot.path == vertex.below[child[-1]].path
            )
            for chosen in permutations(slots, len(asked))
        )

    agreeing = lay((), tree, published)
    if known.counted:
        mine, theirs = count_types(tree), count_types(published)
        types = {path.rpartition(".")[0] for path in fields}
        agreeing += sum(mine[kind] == theirs[kind] for kind in types)
    if known.absent is not None:
        path, label = known.absent
        agreeing += not any(vertex.quasi.get(path) == label for _, vertex in walk(published))
    return agreeing


def count_candidates(
    known: KnownLabels,
    tree: PlainTree,
    published: Sequence[PlainTree],
    sizes: Sequence[int],
    fields: Mapping[str, Any],
) -> int:
    """Return how many published records agree with the most; ``sizes`` are the records of each form."""
    agreeing = [agree(known, tree, form, fields) for form in published]
    return sum(size for size, count in zip(sizes, agreeing, strict=True) if count == max(agreeing))


def _labels(tree: PlainTree, places: Iterable[Place]) -> tuple[tuple[Place, str], ...]:
    chosen = set(places)
    return tuple((place, path) for place, vertex in walk(tree) if place in chosen for path in vertex.quasi)


def list_knowledge(trees: Sequence[PlainTree]) -> dict[str, list[KnownLabels]]:
    """Return all that may be known of any of the students, by its sort in section 3.1."""
    knowledge: dict[str, list[KnownLabels]] = {
        "any values of one vertex": [],
        "all values of any two vertices, and their link": [],
        "all values of all vertices, and all links": [],
        "the same, and how many vertices there are": [],
        "the same, and a course that was not taken": [],
    }
    single, double, whole, counted, negative = knowledge.values()
    walked = [[vertex.quasi for _, vertex in walk(tree)] for tree in trees]
    codes_of = [{str(labels[_COURSE]) for labels in vertices if _COURSE in labels} for vertices in walked]
    for student, tree in enumerate(trees):
        places = [place for place, _ in walk(tree)]
        for place in places:
            labels = _labels(tree, [place])
            for size in range(1, len(labels) + 1):
                single += [KnownLabels(student, chosen) for chosen in combinations(labels, size)]
        double += [KnownLabels(student, _labels(tree, pair)) for pair in combinations(places, 2)]
        every = _labels(tree, places)
        whole.append(KnownLabels(student, every))
        counted.append(KnownLabels(student, every, counted=True))
        for code in sorted(set().union(*codes_of) - codes_of[student]):
            negative.append(KnownLabels(student, every, counted=True, absent=(_COURSE, code)))
    return knowledge


_COURSE = "$.courses[*].code"


class EngineAdversary:
    """The adversary of ``hierdata attack`` on what our engine publishes of the students."""

    def __init__(self, run: EngineRun, *, raw: bool = False) -> None:
        self._forest = run.data.forest
        if raw:
            forms = Forms.of_original(self._forest)
        else:
            publication = publish_classes(self._forest, run.partition)
            publication = replace(publication, nodes=_nodes_shown(self._forest, run.partition))
            forms = Forms.of(self._forest, publication, run.partition.representative)
        self._adversary = Adversary(self._forest, forms)
        self._vertices = [
            _number_vertices(self._forest, student) for student in range(self._forest.record_count)
        ]

    def count_candidates(self, known: KnownLabels) -> int:
        """Return how many records agree with the most of what is known."""
        facts = tuple(self._fact(known.student, *label) for label in known.labels)
        absences = () if known.absent is None else (self._absence(*known.absent),)
        counts = None
        if known.counted:
            types = self._forest.type[[*self._vertices[known.student].values()]]
            counts = tuple(np.bincount(types, minlength=len(self._forest.hierarchies)).tolist())
        victim = Knowledge(known.student, (), facts, absences, counts)
        return int(self._adversary.attack([victim], len(facts)).sizes[-1, 0])

    def _fact(self, student: int, place: Place, path: str) -> Fact:
        vertex = self._vertices[student][place]
        kind = int(self._forest.type[vertex])
        position = self._position(kind, path)
        return Fact(
            vertex, kind, position, int(self._forest.nodes[self._forest.first_node[vertex] + position])
        )

    def _absence(self, path: str, label: str) -> Absence:
        kind = next(
            type_.index for type_ in self._forest.schema.types if path in [each.path for each in type_.quasi]
        )
        position = self._position(kind, path)
        return Absence(kind, position, self._forest.hierarchies[kind][position].labels.index(label))

    def _position(self, kind: int, path: str) -> int:
        return [attribute.path for attribute in self._forest.schema.types[kind].quasi].index(path)


def _nodes_shown(forest: Forest, partition: Partition) -> NDArray[np.int32]:
    """Return for every published vertex the nodes of the vertex that represents it."""
    nodes = partition.nodes.copy()
    for vertex, shown in enumerate(partition.representative.tolist()):
        if shown >= 0:
            width = len(forest.hierarchies[int(forest.type[vertex])])
            target, other = int(forest.first_node[vertex]), int(forest.first_node[shown])
            nodes[target : target + width] = partition.nodes[other : other + width]
    return nodes


def _number_vertices(forest: Forest, student: int) -> dict[Place, int]:
    """Return the vertex of each place of a record."""
    vertices: dict[Place, int] = {}

    def enter(place: Place, vertex: int) -> None:
        vertices[place] = vertex
        first = int(forest.first_child[vertex])
        for position in range(int(forest.child_count[vertex])):
            enter((*place, position), first + position)

    enter((), int(forest.roots[student]))
    return vertices


def show_attack_model() -> Exhibit:
    """Return section 3.1: how many records fit what is known, in the collection and as published."""
    example, policy, run = read_printed("ML")["algorithm 2"], policy_of_example(), run_example()
    fields, k = policy["fields"], example["k"]
    students = [read_tree(student, fields) for student in example["students"]]
    published = [read_tree(form, fields) for form in run.representatives]
    sizes = [len(run.members_of(class_)) for class_ in range(len(published))]
    raw, engine = EngineAdversary(run, raw=True), EngineAdversary(run)
    columns = ("known of a student", "cases", "fewest students that fit", "fewest published records that fit")
    derived: list[tuple[Cell, ...]] = []
    ours: list[tuple[Cell, ...]] = []
    fewest = k
    for sort, cases in list_knowledge(students).items():
        trees = [students[known.student] for known in cases]
        plain = [
            [count_candidates(*case, forms, counts, fields) for case in zip(cases, trees, strict=True)]
            for forms, counts in ((students, [1] * len(students)), (published, sizes))
        ]
        fitting = [[adversary.count_candidates(known) for known in cases] for adversary in (raw, engine)]
        derived.append((sort, len(cases), *map(min, plain)))
        ours.append((sort, len(cases), *map(min, fitting)))
        fewest = min(fewest, *fitting[1])
    grids = Grid(columns, tuple(derived)), Grid(columns, tuple(ours))
    return Exhibit(
        "Section 3.1",
        "the attack model: what an attacker knows, and what fits it",
        "The attacker knows any combination of quasi-identifiers at one vertex or several, how they hang"
        " together, such as two courses, and what the victim does not have. Here all of these are tried on"
        " every student of the example of Algorithm 2. Records that agree with the most fit, since anything"
        " may have been suppressed.",
        derived=grids[0],
        ours=grids[1],
        differs=" ".join(
            (
                describe_differences(*grids) or "All agree.",
                describe_protection(fewest, k, published),
            )
        ),
        errata=("ML-7", "ML-16"),
    )


def describe_protection(fewest: int, k: int, published: Sequence[PlainTree]) -> str:
    """Return how many records fit at least, and the largest shares of levels at a vertex beside alpha."""
    shares = largest_shares(published)
    alpha = LevelAlphaK(k=k).alpha
    held = fewest >= k and all(share <= cap for share, cap in zip(shares, alpha, strict=True))
    shown = ", ".join(map(number, shares))
    return (
        f"At least {fewest} published records fit, k is {k}. At one vertex the levels 1 to 5 have shares of"
        f" at most {shown}; alpha is {', '.join(map(number, alpha))}. The promise"
        f" {'holds' if held else 'does not hold'}."
    )


def largest_shares(published: Sequence[PlainTree]) -> list[Fraction]:
    """Return for the levels 1 to 5 the largest share of each at a vertex of a representative."""
    vertices = [vertex for tree in published for _, vertex in walk(tree)]
    multisets = [levels for vertex in vertices for levels in vertex.levels.values() if levels]
    return [
        max((Fraction(levels.count(level), len(levels)) for levels in multisets), default=Fraction(0))
        for level in range(1, 6)
    ]
