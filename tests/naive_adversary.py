"""The adversary, slowly and on documents: every way to lay what is known into every published record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

Label = Any
Parents = Mapping[Label, Label]


@dataclass(eq=False)
class Node:
    """A vertex: its type, quasi-identifiers, sensitive values, and children."""

    kind: str
    quasi: tuple[Label, ...]
    sensitive: tuple[Any, ...]
    children: list[Node] = field(default_factory=list)
    above: Node | None = None

    def all(self) -> list[Node]:
        """The vertices of the tree, breadth first."""
        found = [self]
        for one in found:
            found += one.children
        return found

    @property
    def form(self) -> Any:
        """What is seen of the quasi-identifiers."""
        return (self.kind, self.quasi, tuple(sorted((one.form for one in self.children), key=repr)))

    @property
    def place(self) -> Any:
        """The forms from the root to here."""
        return (*(() if self.above is None else self.above.place), self.form)


@dataclass(frozen=True)
class Shape:
    """How documents become vertices: by type its quasi-identifiers, sensitive fields and lists."""

    quasi: Mapping[str, Sequence[str]]
    sensitive: Mapping[str, Sequence[str]]
    lists: Mapping[str, Sequence[str]]

    def tree(self, document: Mapping[str, Any], kind: str = "", above: Node | None = None) -> Node:
        quasi = tuple(document.get(name) for name in self.quasi[kind])
        node = Node(kind, quasi, tuple(document.get(name) for name in self.sensitive[kind]), above=above)
        for name in self.lists[kind]:
            node.children += [self.tree(item, name, node) for item in document.get(name, [])]
        return node


def covers(published: Label, value: Label, parents: Parents) -> bool:
    """Whether a value may have been published as a label."""
    while value != published:
        if value not in parents:
            return False
        value = parents[value]
    return True


@dataclass(frozen=True)
class Known:
    """The victim's tree, and facts: vertices with the position of a quasi-identifier, None for presence."""

    root: Node
    facts: Sequence[tuple[Node, int | None]]


def embeddings(
    mine: Node, theirs: Node, facts: Sequence[tuple[Node, int | None]], parents: Parents
) -> Iterator[dict[Node, Node]]:
    """Yield every way to lay a vertex of the victim, with what is known below it, on a published one."""
    for vertex, position in facts:
        if vertex is mine and position is not None:
            shown = theirs.quasi[position]
            if shown is None or not covers(shown, mine.quasi[position], parents):
                return
    needed = [one for one in mine.children if any(vertex in one.all() for vertex, _ in facts)]
    for chosen in permutations(theirs.children, len(needed)):
        if any(one.kind != other.kind for one, other in zip(needed, chosen, strict=True)):
            continue
        partial: list[dict[Node, Node]] = [{mine: theirs}]
        for one, other in zip(needed, chosen, strict=True):
            below = list(embeddings(one, other, facts, parents))
            partial = [own | more for own in partial for more in below]
        yield from partial


def agreement(known: Known, record: Node, parents: Parents) -> tuple[int, list[dict[Node, Node]]]:
    """The largest number of facts that agree with a record, -1 if the root does not, and all ways."""
    for value, shown in zip(known.root.quasi, record.quasi, strict=True):
        if not covers(shown if shown is not None else value, value, parents):
            return -1, []
    for size in range(len(known.facts), -1, -1):
        ways = [
            way
            for facts in combinations(known.facts, size)
            for way in embeddings(known.root, record, facts, parents)
        ]
        if ways:
            return size, ways
    raise AssertionError("no facts always agree")


def candidates(
    known: Known, records: Sequence[Node], parents: Parents
) -> list[tuple[Node, list[dict[Node, Node]]]]:
    """The records that agree with the most facts."""
    found = [(one, *agreement(known, one, parents)) for one in records]
    best = max((size for _, size, _ in found), default=-1)
    return [(one, ways) for one, size, ways in found if size == best >= 0]


def guess(
    known: Known,
    found: Sequence[tuple[Node, list[dict[Node, Node]]]],
    records: Sequence[Node],
    kind: str,
    position: int,
) -> dict[Any, Fraction]:
    """The share of each value of an attribute, at or below the deepest known vertex that can have it."""
    told: dict[Any, Counter[Any]] = {}
    shown: Counter[Any] = Counter()
    for record in records:
        for one in record.all():
            if one.kind == kind:
                shown[one.place] += 1
                if one.sensitive[position] is not None:
                    told.setdefault(one.place, Counter())[one.sensitive[position]] += 1
    weights: dict[Any, Fraction] = {}
    for _, ways in found:
        images = {way[_anchor(known, way, kind)] for way in ways}
        places = [one.place for image in images for one in image.all() if one.kind == kind]
        for place in places:
            for value, count in told.get(place, Counter()).items():
                weights[value] = weights.get(value, Fraction(0)) + Fraction(count, shown[place]) / len(places)
    total = sum(weights.values(), Fraction(0))
    return {value: weight / total for value, weight in weights.items()} if total else {}


def _anchor(known: Known, way: dict[Node, Node], kind: str) -> Node:
    """The deepest vertex that is laid on another, on the path of the first fact that leads deepest."""
    best = [known.root]
    for vertex, _ in known.facts:
        path: list[Node] = []
        one: Node | None = vertex
        while one is not None:
            path.insert(0, one)
            one = one.above
        path = [one for one in path if any(below.kind == kind for below in _all_kinds(one))]
        best = max(best, path, key=len)
    return next(one for one in reversed(best) if one in way)


KINDS_BELOW: dict[str, set[str]] = {}
"""By type the types at and below it; the test states them."""


def _all_kinds(vertex: Node) -> list[Node]:
    return [Node(kind, (), ()) for kind in KINDS_BELOW[vertex.kind]]
