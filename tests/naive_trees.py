"""What the twin works on: taxonomies, trees, class representatives, and the models it can hold.

Plain Python and exact numbers; memos only remember what never changes. Same sources as tests/naive.py.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import Any

Label = Any
Number = Fraction | int
ALPHA = tuple(Fraction(tenths, 10) for tenths in (8, 6, 4, 2, 1))  # definition 5, sensitivity levels 1 to 5


class Taxonomy:
    """A value domain as child -> parent; the root's parent is None.

    `missing`: a node right under the root that is no leaf. `scale`: losses are the integers scale * LM.
    `losses`: LM by node where leaves do not tell it, as with ranges of numbers.
    """

    def __init__(
        self,
        parent: dict[Label, Label | None],
        *,
        missing: Label | None = None,
        scale: int | None = None,
        losses: dict[Label, Fraction] | None = None,
    ):
        self.root = next(node for node in parent if parent[node] is None)
        self.parent = dict(parent) if missing is None else {**parent, missing: self.root}
        self.missing = missing
        self.unit: Number = Fraction(1) if scale is None else scale  # what a suppressed value costs
        self._losses = losses
        self._joins: dict[tuple[Label, Label], Label] = {}
        self._lms: dict[Label, Number] = {}

    def ancestors(self, node: Label) -> list[Label]:
        """From the node itself up to the root."""
        above = self.parent[node]
        return [node] if above is None else [node, *self.ancestors(above)]

    def leaves(self, node: Label) -> int:
        """How many leaves the node covers; a leaf covers itself."""
        children = [x for x in self.parent if self.parent[x] == node and x != self.missing]
        return sum(self.leaves(child) for child in children) if children else 1

    def join(self, a: Label, b: Label) -> Label:
        """Lowest common ancestor: the generalized value of two values."""
        if (a, b) not in self._joins:
            above_b = self.ancestors(b)
            self._joins[a, b] = next(node for node in self.ancestors(a) if node in above_b)
        return self._joins[a, b]

    def lm(self, node: Label) -> Number:
        """LM' of publishing the node: (leaves - 1) / (all leaves - 1), 0 for a domain of one leaf (ML-14)."""
        if node not in self._lms:
            self._lms[node] = self._scaled(self._lm(node))
        return self._lms[node]

    def _lm(self, node: Label) -> Fraction:
        if self._losses is not None:
            return self._losses[node]
        all_leaves = self.leaves(self.root)
        if all_leaves == 1:
            return Fraction(0)
        return Fraction(self.leaves(node) - 1, all_leaves - 1)

    def _scaled(self, lm: Fraction) -> Number:
        if isinstance(self.unit, Fraction):
            return lm
        if (lm * self.unit).denominator != 1:
            raise ValueError(f"scale {self.unit} does not make every loss an integer")
        return int(lm * self.unit)


@dataclass(frozen=True)
class Schema:
    """Per vertex type the taxonomies of its quasi-identifiers; all of one scale.

    ``weights`` are those of the quasi-identifiers, 1 each where a type has none; ``constants`` what a vertex
    is worth beside them, 0 where a type has none.
    """

    taxonomies: dict[str, list[Taxonomy]]
    weights: dict[str, list[int]] = field(default_factory=dict)
    constants: dict[str, int] = field(default_factory=dict)

    @cached_property
    def unit(self) -> Number:
        """The cost of one suppressed quasi-identifier: 1, or the scale."""
        (unit,) = {taxonomy.unit for of_type in self.taxonomies.values() for taxonomy in of_type} or {1}
        return unit

    def join(self, kind: str, a: Sequence[Label], b: Sequence[Label]) -> list[Label]:
        return [t.join(x, y) for t, x, y in zip(self.taxonomies[kind], a, b, strict=True)]

    def lm(self, kind: str, labels: Sequence[Label]) -> Number:
        lost = [t.lm(x) for t, x in zip(self.taxonomies[kind], labels, strict=True)]
        weights = self.weights.get(kind, [1] * len(lost))
        return sum(weight * own for weight, own in zip(weights, lost, strict=True))

    def own_cost(self, kind: str) -> Number:
        """What suppressing a vertex of this type costs, without those below it."""
        weights = self.weights.get(kind, [1] * len(self.taxonomies[kind]))
        return self.unit * (sum(weights) + self.constants.get(kind, 0))

    def cost(self, vertex: Vertex) -> Number:
        """What suppressing a subtree costs."""
        if not self.weights and not self.constants:
            return self.unit * vertex.quasi_count
        return self.own_cost(vertex.type) + sum(self.cost(child) for child in vertex.children)


def present(values: Sequence[Any]) -> list[Any]:
    return [value for value in values if value is not None]


def quasi_count(vertex: Vertex) -> int:
    """Quasi-identifiers in the subtree; every vertex remembers it."""
    return len(vertex.qi) + sum(child.quasi_count for child in vertex.children)


@dataclass
class Tree:
    """A record, or a subtree of one. None is a missing sensitive value. No vertex may be in two records.

    A record is also the representative of the class it forms alone: `values` and `members`.
    """

    type: str
    qi: list[Label]
    sensitive: list[Any | None] = field(default_factory=list)
    children: list[Tree] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.values = [present([value]) for value in self.sensitive]
        self.members = [self]
        self.quasi_count = quasi_count(self)


@dataclass
class Representative:
    """A vertex of a class representative (definition 4), with the original vertices it stands for.

    `values`: per sensitive attribute the multiset of the members' values, missing ones left out.
    `children` keep the order of the seed record's.
    """

    type: str
    qi: list[Label]
    values: list[list[Any]]
    members: list[Tree] = field(repr=False)
    children: list[Representative] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.quasi_count = quasi_count(self)


Vertex = Tree | Representative


def pre_order(vertex: Vertex) -> Iterator[Any]:
    yield vertex
    for child in vertex.children:
        yield from pre_order(child)


@dataclass(frozen=True)
class ShareCap:
    """The members of a group hold at most a share of the values of one sensitive attribute.

    They are ``most`` at most, where that is given. With ``near`` what is counted around each value present is
    not its group but all values whose groups are near its own, itself included.
    """

    type: str
    attribute: int
    group: Callable[[Any], Any]
    share: Callable[[Any], Fraction]
    most: int | None = None
    near: Callable[[Any, Any], bool] | None = None
    of_records: bool = False  # over siblings that look alike, it counts the records that have such a value
    _limits: dict[tuple[Any, int], int] = field(default_factory=dict, repr=False, compare=False)

    def fits(self, values: Sequence[Any], size: int) -> bool:
        """count <= size * share for every group: size is k while a class grows, len(values) at its end."""
        counts: dict[Any, int] = {}
        for value in values:
            group = self.group(value)
            counts[group] = counts.get(group, 0) + 1
            if self.near is None and counts[group] > self._limit(group, size):
                return False
        near = self.near
        return near is None or all(
            sum(counts[other] for other in counts if near(group, other)) <= self._limit(group, size)
            for group in counts
        )

    def fits_records(self, records: Sequence[Sequence[Any]], own: Sequence[Any], size: int) -> bool:
        """Each group of a value of the last record, or an ``own`` one, is shown by count <= size * share."""
        near = self.near or operator.eq
        groups = [{self.group(value) for value in record} for record in records]
        asked = {self.group(value) for value in own} | groups[-1]
        asked |= {other for shown in groups for other in shown if any(near(one, other) for one in groups[-1])}
        return all(
            sum(any(near(one, other) for other in shown) for shown in groups) <= self._limit(one, size)
            for one in asked
        )

    def _limit(self, group: Any, size: int) -> int:
        if (group, size) not in self._limits:
            share = floor(size * self.share(group))
            self._limits[group, size] = share if self.most is None else min(share, self.most)
        return self._limits[group, size]


@dataclass(frozen=True)
class Closing:
    """A model that is asked only when the class closes, about the values present in a vertex."""

    type: str
    attribute: int
    holds: Callable[[list[Any]], bool]


def level_alpha(
    kind: str,
    attribute: int,
    alpha: Sequence[Fraction] = ALPHA,
    level: Callable[[Any], int] = lambda value: value,
) -> ShareCap:
    """Definition 5: values of sensitivity level i hold at most alpha[i] of the values."""
    return ShareCap(kind, attribute, level, lambda i: alpha[i - 1])


def frequency_l(kind: str, attribute: int, l: Number) -> ShareCap:  # noqa: E741 (the paper's name)
    """l-diversity as ML section 3.2 has it: every value holds at most 1/l of the values."""
    return ShareCap(kind, attribute, lambda value: value, lambda _: 1 / Fraction(l))
