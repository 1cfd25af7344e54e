"""Records as facts: which attribute has which label below a record; and the records that a predicate matches.

A fact is one published label of one attribute somewhere below a record. A predicate is several facts: it
matches the records that have, for each fact, a vertex that satisfies it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Scalar
from hierdata.domains.base import Hierarchy
from hierdata.forest.forest import MISSING, Forest
from hierdata.forest.isomorphism import first_alike
from hierdata.measurement.adversary.forms import find_covering

Ints: TypeAlias = NDArray[np.int64]
_FEW = 64
"""LabelMeanings whose records are looked up one by one; with more, all vertices are looked at."""
_MANY = 10_000
"""Vertices that are not listed to find out whether one record has them."""
_KEPT = 4096
"""Facts whose labels are remembered, of each attribute."""

COMPARE: dict[str, Callable[[NDArray[np.float64], float], NDArray[np.bool_]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


class PublishedFact(NamedTuple):
    """A published label of an attribute, by their numbers, and how a value must compare with it."""

    attribute: int
    sign: str
    label: int


class FactField(NamedTuple):
    """A quasi-identifier or sensitive attribute of a vertex type."""

    kind: int
    position: int
    is_quasi: bool
    path: str


def list_attributes(forest: Forest) -> tuple[FactField, ...]:
    """List all attributes of a collection, quasi-identifiers of each type first."""
    return tuple(
        FactField(kind.index, position, is_quasi, one.path)
        for kind in forest.schema.types
        for is_quasi, own in ((True, kind.quasi), (False, kind.sensitive))
        for position, one in enumerate(own)
    )


class LabelColumn:
    """The labels of one attribute, one for each vertex, by record; vertices are in the order of records."""

    def __init__(self, records: Ints, labels: Ints, record_count: int) -> None:
        self.records, self.labels = records, labels
        self.starts = np.searchsorted(records, np.arange(record_count + 1))
        self.is_flat = len(records) == record_count and bool((np.diff(self.starts) == 1).all())

    @cached_property
    def counts(self) -> Ints:
        """The number of vertices with each label."""
        return np.bincount(self.labels + 1, minlength=1)[1:]

    @cached_property
    def _postings(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.labels, kind="stable")
        return order, np.searchsorted(self.labels[order], np.arange(len(self.counts) + 1))

    def count_vertices(self, labels: Ints) -> int:
        """Return how many vertices have one of these labels."""
        return int(self.counts[labels[labels < len(self.counts)]].sum())

    def find(self, labels: Ints) -> Ints:
        """Return the records with one of these labels, ascending, each once."""
        if len(labels) <= _FEW:
            order, starts = self._postings
            own = labels[labels < len(self.counts)].tolist()
            rows = [order[starts[label] : starts[label + 1]] for label in own]
            if len(rows) == 1:
                found = self.records[rows[0]]
                return found if self.is_flat else _drop_repeated(found)
            marks = np.zeros(len(self.starts) - 1, np.bool_)
            for row in rows:
                marks[self.records[row]] = True
            return np.flatnonzero(marks)
        mask = np.zeros(max(len(self.counts), int(labels.max()) + 1) + 1, np.bool_)
        mask[labels] = True  # the last stands for no label, -1
        return _drop_repeated(self.records[np.flatnonzero(mask[self.labels])])

    def keep(self, records: Ints, labels: Ints) -> Ints:
        """Return those of some records that have one of these labels."""
        if self.is_flat:
            return records[_is_among(self.labels[records], labels)]
        sizes = self.starts[records + 1] - self.starts[records]
        ends = np.cumsum(sizes)
        at = np.arange(int(sizes.sum())) + np.repeat(self.starts[records] - (ends - sizes), sizes)
        owner = np.repeat(np.arange(len(records)), sizes)
        return records[_drop_repeated(owner[_is_among(self.labels[at], labels)])]

    def list_rare(self) -> list[int]:
        """List the labels that one record alone has."""
        own = np.unique(np.stack((self.labels, self.records)), axis=1)[0]
        labels, counts = np.unique(own, return_counts=True)
        return [label for label in labels[counts == 1].tolist() if label != MISSING]

    def of_record(self, record: int) -> list[int]:
        """Return the labels of a record, each once, without vertices that have none."""
        own = self.labels[self.starts[record] : self.starts[record + 1]]
        return sorted({*own.tolist()} - {MISSING})


def _drop_repeated(records: Ints) -> Ints:
    """Drop repetitions from ascending numbers."""
    if len(records) < 2:
        return records
    return records[np.concatenate(([True], records[1:] != records[:-1]))]


def _is_among(labels: Ints, wanted: Ints) -> NDArray[np.bool_]:
    return labels == wanted[0] if len(wanted) == 1 else np.isin(labels, wanted)


def find_records(columns: Sequence[LabelColumn], wanted: Sequence[tuple[int, Ints]]) -> Ints:
    """Return the records that have, for each (attribute, labels), a vertex with one of the labels."""
    ordered = sorted(wanted, key=lambda own: columns[own[0]].count_vertices(own[1]))
    found = columns[ordered[0][0]].find(ordered[0][1])
    for attribute, labels in ordered[1:]:
        if not len(found):
            break
        found = columns[attribute].keep(found, labels) if len(labels) else found[:0]
    return found


def is_single(columns: Sequence[LabelColumn], wanted: Sequence[tuple[int, Ints]]) -> bool:
    """Return whether ``find_records`` would find one record; looks no further than the second.

    Records are looked at in growing parts, since most predicates match many.
    """
    if any(not len(labels) for _, labels in wanted):
        return False
    ordered = sorted(wanted, key=lambda own: columns[own[0]].count_vertices(own[1]))
    attribute, labels = ordered[0]
    column = columns[attribute]
    if column.count_vertices(labels) <= _MANY:
        candidates, rest = column.find(labels), ordered[1:]
    else:
        candidates, rest = np.arange(len(column.starts) - 1), ordered
    count, first, size = 0, 0, _FEW
    while first < len(candidates) and count < 2:
        found = candidates[first : first + size]
        for own, some in rest:
            if not len(found):
                break
            found = columns[own].keep(found, some)
        count += len(found)
        first, size = first + size, 8 * size
    return count == 1


def observe(
    forest: Forest, attributes: Sequence[FactField], records: NDArray[np.bool_]
) -> tuple[LabelColumn, ...]:
    """Return the columns of the marked records of an input; they are numbered anew."""
    number = np.cumsum(records) - 1
    inside = records[forest.record_of]
    found = []
    for own in attributes:
        vertices = np.flatnonzero(inside & (forest.type == own.kind))
        found.append(
            LabelColumn(
                number[forest.record_of[vertices]],
                _codes_of(forest, own, vertices, forest.nodes),
                int(records.sum()),
            )
        )
    return tuple(found)


def _codes_of(forest: Forest, own: FactField, vertices: Ints, nodes: NDArray[np.int32]) -> Ints:
    if own.is_quasi:
        return nodes[forest.first_node[vertices] + own.position].astype(np.int64)
    return forest.sensitive[forest.first_sensitive[vertices] + own.position].astype(np.int64)


@dataclass(frozen=True)
class LabelMeanings:
    """What the published labels of one attribute mean, by their numbers.

    The first ``values`` of them are the values of the input, by their codes. ``texts`` are the labels as
    published, None for a missing value and for sets of ``members``. ``tree`` is the hierarchy of a
    quasi-identifier. ``numbers`` are the numbers that labels spell, NaN for others; ``is_ordered`` says
    whether each published label is one, so that readers compare by size, and ``median`` is theirs.
    """

    values: int
    texts: tuple[Scalar, ...]
    tree: Hierarchy | None = None
    members: dict[int, Ints] = field(default_factory=dict)
    is_ordered: bool = False
    median: float = 0.0
    numbers: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    _known: dict[tuple[str, int, bool], Ints] = field(default_factory=dict)

    def sign_of(self, label: int) -> str:
        """Return how readers compare with a published label: a number so that fewer values satisfy it."""
        if not self.is_ordered or np.isnan(self.numbers[label]):
            return "="
        return ">=" if self.numbers[label] > self.median else "<="

    def list_covered(self, sign: str, label: int, as_strings: bool = False) -> Ints:
        """List the values of the input that satisfy a fact: labels as sets of leaves, or as strings."""
        key = sign, label, as_strings
        if key not in self._known:
            if len(self._known) > _KEPT:
                self._known.clear()
            self._known[key] = self._find_covered(sign, label, as_strings)
        return self._known[key]

    def list_alike(self, sign: str, label: int, count: int) -> Ints:
        """List the published labels that satisfy a fact in the release itself; ``count`` is their number."""
        if sign == "=":
            return np.array([label], np.int64)
        if sign == "!=":
            return self._without_missing(np.delete(np.arange(count), label))
        return np.flatnonzero(COMPARE[sign](self.numbers[:count], float(self.numbers[label])))

    def _find_covered(self, sign: str, label: int, as_strings: bool) -> Ints:
        if sign == "=":
            return self._find_leaves(label, as_strings)
        if sign == "!=":
            return self._without_missing(
                np.setdiff1d(np.arange(self.values), self._find_leaves(label, as_strings))
            )
        return np.flatnonzero(COMPARE[sign](self.numbers[: self.values], float(self.numbers[label])))

    def _without_missing(self, labels: Ints) -> Ints:
        lacking = self.tree is not None and None in self.tree.labels
        return labels[labels != self.texts.index(None)] if lacking else labels

    def _find_leaves(self, label: int, as_strings: bool) -> Ints:
        if label in self.members:
            own = self.members[label]
            return own if not as_strings or len(own) == 1 else own[:0]
        if self.tree is None:
            return np.array([label] if label < self.values else [], np.int64)
        if as_strings:
            return np.flatnonzero((self.first == label)[: self.values] & self.is_exact[: self.values])
        return np.flatnonzero(self._below(label)[: self.values])

    @cached_property
    def first(self) -> Ints:
        """The first label that is spelled as each is."""
        return np.array(first_alike(self.texts), np.int64)

    @cached_property
    def is_exact(self) -> NDArray[np.bool_]:
        """Whether a label of a quasi-identifier is a value itself."""
        assert self.tree is not None
        return np.array([not loss for loss in self.tree.lm], np.bool_)

    @cached_property
    def is_finest(self) -> NDArray[np.bool_]:
        """Whether no other label is below a node, and it is not the missing value."""
        found = np.ones(len(self.texts), np.bool_)
        for depth in range(self._ancestors.shape[1]):
            above = self._ancestors[:, depth]
            found[above[(above >= 0) & (self.first[above] != self.first)]] = False
        there: NDArray[np.bool_] = found & np.array([text is not None for text in self.texts], np.bool_)
        return there

    @cached_property
    def _ancestors(self) -> Ints:
        assert self.tree is not None
        return np.array(self.tree.ancestors, np.int64)

    def _below(self, label: int) -> NDArray[np.bool_]:
        """Return which nodes are at or below a label."""
        tree = self.tree
        assert tree is not None
        first = len(tree.labels) - len(tree.made_of)
        below = (self._ancestors == label).any(axis=1)
        below[label] = True
        if label >= first:
            own = [node for nodes in tree.made_of[label - first] for node in nodes]
            below |= np.isin(self._ancestors, own).any(axis=1)
        found: NDArray[np.bool_] = below
        return found

    def list_covering(self, code: int) -> Ints:
        """List the labels that may be published for a value."""
        key = "cover", code, False
        if key not in self._known:
            if self.tree is None:
                found = np.array([code, *self._sets.get(code, ())], np.int64)
            else:
                found = np.unique(self.first[find_covering(self.tree, code)])
            self._known[key] = found
        return self._known[key]

    @cached_property
    def _sets(self) -> dict[int, list[int]]:
        """The sets that have each code."""
        found: dict[int, list[int]] = {}
        for label, codes in self.members.items():
            for code in codes.tolist():
                found.setdefault(code, []).append(label)
        return found


def read_number(value: Scalar) -> float:
    """Return the number that a value is or spells; NaN for others."""
    if value is None or isinstance(value, bool):
        return float("nan")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")
