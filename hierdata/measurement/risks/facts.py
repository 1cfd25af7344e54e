"""Facts: which attribute has which label below a record, and what labels mean.

A fact is one published label of one attribute somewhere below a record. A predicate is several facts: it
matches the records that have, for each fact, a vertex that satisfies it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Scalar
from hierdata.domains.base import Hierarchy
from hierdata.forest.forest import Forest
from hierdata.forest.isomorphism import first_alike
from hierdata.measurement.adversary.forms import find_covering

Ints: TypeAlias = NDArray[np.int64]
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
        FactField(kind.index, position, is_quasi, attribute.path)
        for kind in forest.schema.types
        for is_quasi, attributes in ((True, kind.quasi), (False, kind.sensitive))
        for position, attribute in enumerate(attributes)
    )


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
            members = self.members[label]
            return members if not as_strings or len(members) == 1 else members[:0]
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
        is_finest = np.ones(len(self.texts), np.bool_)
        for depth in range(self._ancestors.shape[1]):
            above = self._ancestors[:, depth]
            is_finest[above[(above >= 0) & (self.first[above] != self.first)]] = False
        there: NDArray[np.bool_] = is_finest & np.array([text is not None for text in self.texts], np.bool_)
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
            nodes_inside = [node for nodes in tree.made_of[label - first] for node in nodes]
            below |= np.isin(self._ancestors, nodes_inside).any(axis=1)
        is_below: NDArray[np.bool_] = below
        return is_below

    def list_covering(self, code: int) -> Ints:
        """List the labels that may be published for a value."""
        key = "cover", code, False
        if key not in self._known:
            if self.tree is None:
                labels = np.array([code, *self._sets.get(code, ())], np.int64)
            else:
                labels = np.unique(self.first[find_covering(self.tree, code)])
            self._known[key] = labels
        return self._known[key]

    @cached_property
    def _sets(self) -> dict[int, list[int]]:
        """The sets that have each code."""
        sets: dict[int, list[int]] = {}
        for label, codes in self.members.items():
            for code in codes.tolist():
                sets.setdefault(code, []).append(label)
        return sets


def read_number(value: Scalar) -> float:
    """Return the number that a value is or spells; NaN for others."""
    if value is None or isinstance(value, bool):
        return float("nan")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")
