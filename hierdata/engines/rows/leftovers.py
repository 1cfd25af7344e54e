"""Rows without a class join the nearest class that accepts them (LE algorithm 1, step 3; erratum LE-4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hierdata.domains.base import Hierarchy
from hierdata.engines.base import Constraints
from hierdata.engines.rows.contents import Contents, accepted, satisfied
from hierdata.engines.rows.table import class_sizes, codes_of, joins, nodes_of
from hierdata.forest import MISSING, Forest, Scope
from hierdata.partition import SUPPRESSED
from hierdata.privacy.base import ClassView, Constraint

_COMPARED = 64
"""How many distances are computed for each row of the scope, however many leftovers there are."""
_AFFORDED = 2**24
"""So many are computed in any case: tables up to some ten thousand rows are searched in full."""


def attach(
    forest: Forest,
    scope: Scope,
    constraints: Constraints,
    classes: NDArray[np.int64],
    leftovers: NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """The classes, with each leftover in the nearest class that accepts it; what none accepts stays out.

    A class accepts a row if every constraint still holds with it and it has no row of the same record. The
    distance is the sum of LM' of the joins of the row's nodes and the class's; ties go to the smaller class,
    then to the lower number. Every class is asked whether it accepts. In large tables with very many
    leftovers the nearest is taken among a random part of those that do, so that no more than 64 x rows
    distances are computed (2^24 in small ones).
    """
    if not len(leftovers) or not (classes != SUPPRESSED).any():
        return classes
    joined = _Attachment(forest, scope, constraints, classes, len(leftovers)).run(leftovers, rng)
    if constraints.population is not None:
        # Where the steps of a hierarchy do not nest, the join of all members can lie below that of the steps.
        failing = ~satisfied(forest, scope, constraints, joined)
        joined[failing[joined] & (classes == SUPPRESSED)] = SUPPRESSED
    return joined


class _Attachment:
    """The classes while leftovers join them."""

    def __init__(
        self,
        forest: Forest,
        scope: Scope,
        constraints: Constraints,
        classes: NDArray[np.int64],
        leftovers: int,
    ) -> None:
        hierarchies = forest.hierarchies[scope.kind]
        self._classes = classes.copy()
        self._records = scope.records
        self._record_count = forest.record_count
        self._constraints = constraints
        self._codes = codes_of(forest, scope)
        self._sizes = class_sizes(classes)
        self._first, self._ancestors = _numbered(hierarchies)
        self._losses = np.concatenate([np.zeros(0, np.int64), *forest.losses[scope.kind]])
        nodes = nodes_of(forest, scope)
        self._joins = joins(hierarchies, nodes, classes) + self._first
        self._nodes = nodes + self._first
        self._attributes = [
            _Attribute(bound, classes, self._codes[:, position])
            for position, bound in enumerate(constraints.on_values[scope.kind])
        ]
        # At the root a record has one row, so nobody can meet himself.
        self._members = None if scope.kind == 0 else set(self._keys(classes, np.flatnonzero(classes >= 0)))
        self._window = max(_AFFORDED, _COMPARED * len(classes)) // leftovers

    def run(self, leftovers: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Attach the leftovers: those of equal values one after the other, in random order."""
        mixed = rng.permutation(leftovers)
        vectors, which = np.unique(self._codes[mixed], axis=0, return_inverse=True)
        order = np.argsort(which.ravel(), kind="stable")
        bounds = np.searchsorted(which.ravel()[order], np.arange(len(vectors) + 1))
        for at, vector in enumerate(vectors.tolist()):
            accepting = rng.permutation(np.flatnonzero(self._accepting(vector)))
            for row in mixed[order[bounds[at] : bounds[at + 1]]].tolist():
                chosen = self._nearest(row, accepting, rng)
                if chosen is None:
                    continue
                own = int(accepting[chosen])
                self._join(row, own, vector)
                if not self._accepts(own, vector):
                    accepting[chosen] = accepting[-1]
                    accepting = accepting[:-1]
        return self._classes

    def _accepting(self, vector: list[int]) -> NDArray[np.bool_]:
        """Which classes may take a row with these values."""
        accepting = np.ones(len(self._sizes), np.bool_)
        if self._constraints.population is None:
            for size in np.unique(self._sizes).tolist():
                view = ClassView(size + 1, {})
                accepting[self._sizes == size] = accepted(self._constraints.on_records, view)
        for attribute, code in zip(self._attributes, vector, strict=True):
            accepting &= attribute.accepting(code)
        return accepting

    def _accepts(self, own: int, vector: list[int]) -> bool:
        view = ClassView(int(self._sizes[own]) + 1, {})
        by_size = self._constraints.population is not None or accepted(self._constraints.on_records, view)
        return by_size and all(
            attribute.accepts(own, code) for attribute, code in zip(self._attributes, vector, strict=True)
        )

    def _nearest(self, row: int, accepting: NDArray[np.int64], rng: np.random.Generator) -> int | None:
        """The position of the nearest class among those that accept the row's values; None without one."""
        first = int(rng.integers(len(accepting) - self._window + 1)) if len(accepting) > self._window else 0
        at = self._without(row, accepting, np.arange(first, min(first + self._window, len(accepting))))
        if not len(at) and len(accepting) > self._window:
            at = self._without(row, accepting, np.arange(len(accepting)))
        if not len(at):
            return None
        numbers = accepting[at]
        order = np.lexsort((numbers, self._sizes[numbers], self._distances(row, numbers)))
        return next(
            (int(at[best]) for best in order.tolist() if self._enough_like(row, int(numbers[best]))), None
        )

    def _enough_like(self, row: int, own: int) -> bool:
        """Whether enough of the population fits the class with this row in it."""
        constraints = self._constraints
        if constraints.population is None:
            return True
        root = (self._joined(row, np.array([own]))[0] - self._first).tolist()
        return accepted(constraints.on_records, constraints.view(int(self._sizes[own]) + 1, {}, root))

    def _without(self, row: int, accepting: NDArray[np.int64], at: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those positions whose class has no row of the same record."""
        if self._members is None:
            return at
        record = int(self._records[row])
        free = [own * self._record_count + record not in self._members for own in accepting[at].tolist()]
        return at[np.array(free, np.bool_)]

    def _distances(self, row: int, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        distances: NDArray[np.int64] = self._losses[self._joined(row, numbers)].sum(axis=1)
        return distances

    def _joined(self, row: int, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The nodes of these classes with a row in them: the deepest entries that both have."""
        own = self._ancestors[self._nodes[row]]
        shared = (self._ancestors[self._joins[numbers]] == own) & (own >= 0)
        depth = own.shape[1] - 1 - np.argmax(shared[:, :, ::-1], axis=2)
        joined: NDArray[np.int64] = own[np.arange(len(own)), depth]
        return joined

    def _join(self, row: int, own: int, vector: list[int]) -> None:
        self._classes[row] = own
        self._sizes[own] += 1
        self._joins[own] = self._joined(row, np.array([own]))[0]
        for attribute, code in zip(self._attributes, vector, strict=True):
            attribute.add(own, code)
        if self._members is not None:
            self._members.add(own * self._record_count + int(self._records[row]))

    def _keys(self, classes: NDArray[np.int64], rows: NDArray[np.int64]) -> list[int]:
        keys: list[int] = (classes[rows] * self._record_count + self._records[rows]).tolist()
        return keys


class _Attribute:
    """The classes' contents of one sensitive attribute, and who would still be welcome."""

    def __init__(
        self, constraints: tuple[Constraint, ...], classes: NDArray[np.int64], codes: NDArray[np.int32]
    ) -> None:
        contents = Contents(classes, codes)
        self._constraints = constraints
        self._of_class = contents.of_class
        self._views = contents.views
        self._grown: dict[tuple[int, int], int] = {}

    def accepting(self, code: int) -> NDArray[np.bool_]:
        """For each class, whether the constraints hold with one more value."""
        answers = np.zeros(len(self._views), np.bool_)
        for number in np.flatnonzero(np.bincount(self._of_class)).tolist():
            answers[number] = self._would_hold(number, code)
        return answers[self._of_class]

    def accepts(self, own: int, code: int) -> bool:
        return self._would_hold(int(self._of_class[own]), code)

    def add(self, own: int, code: int) -> None:
        number = int(self._of_class[own])
        grown = self._grown.get((number, code))
        if grown is None:
            grown = self._grown[number, code] = len(self._views)
            self._views.append(_with(self._views[number], code))
        self._of_class[own] = grown

    def _would_hold(self, number: int, code: int) -> bool:
        return accepted(self._constraints, _with(self._views[number], code))


def _with(view: ClassView, code: int) -> ClassView:
    counts = dict(view.counts)
    if code != MISSING:
        counts[code] = counts.get(code, 0) + 1
    return ClassView(view.records + 1, counts)


def _numbered(hierarchies: Sequence[Hierarchy]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ancestors of the nodes of all hierarchies under one numbering, and each one's first number."""
    counts = [len(tree.ancestors) for tree in hierarchies]
    first = np.cumsum([0, *counts])[:-1].astype(np.int64)
    depth = max((len(tree.ancestors[0]) for tree in hierarchies), default=1)
    ancestors = np.full((sum(counts), depth), -1, np.int64)
    for at, tree in zip(first.tolist(), hierarchies, strict=True):
        own = np.array(tree.ancestors, np.int64)
        ancestors[at : at + len(own), : own.shape[1]] = np.where(own >= 0, own + at, -1)
    return first, ancestors
