"""Dissolve classes that fail; rows without a class join the nearest that accepts them.

LE algorithm 1, step 3, with erratum LE-4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.rows.constraints import Question, check_classes, pack_row_caps, row_caps
from hierdata.engines.rows.kernel import AttachedClasses, AttachedRows, join_row, nearest
from hierdata.engines.rows.table import (
    class_sizes,
    codes_of,
    dissolve_failing,
    joins,
    nodes_of,
    number_hierarchies,
    partition_of,
    unaccepted_cost,
)
from hierdata.forest.forest import MISSING, Forest, Scope
from hierdata.forest.partition import SUPPRESSED, Partition
from hierdata.privacy.base import ClassView

_COMPARED = 64
"""The number of distances computed per row of the scope, whatever the number of leftovers."""
_AFFORDED = 2**24
"""The number of distances allowed in any case: tables up to about ten thousand rows are searched in full."""
_ASKED = 2**26
"""The number of further classes tried, in total, for leftovers that find no class among those."""


def attach(
    forest: Forest,
    scope: Scope,
    constraints: Constraints,
    classes: NDArray[np.int64],
    leftovers: NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Return the classes with each leftover in the nearest class that accepts it; other leftovers stay out.

    A class accepts a row if every constraint still holds with the row and it has no row of the same record.
    The distance is the sum of LM' of the joins of the row's nodes with those of the class; ties go to the
    smaller class, then to the lower number. Necessary caps are tested in compiled code; the classes that keep
    them are checked against all constraints, the nearest first. In large tables with very many leftovers only
    a random part of the classes is searched, so that at most 64 x rows distances are computed (2^24 in small
    tables). A row that none of those accepts tries all other classes, until 2^26 of them have been tried.
    """
    if not len(leftovers) or not (classes != SUPPRESSED).any():
        return classes
    kept = classes != SUPPRESSED
    numbers = rng.permutation(int(classes.max()) + 1)  # so that consecutive numbers are a random part
    result = classes.copy()
    result[kept] = np.argsort(numbers)[classes[kept]]
    result = _Attachment(forest, scope, constraints, result, numbers, len(leftovers)).run(leftovers, rng)
    result[result != SUPPRESSED] = numbers[result[result != SUPPRESSED]]
    if constraints.population is not None:
        # If levels of a hierarchy do not nest, the join of all members can be below that built row by row.
        failing = ~check_classes(forest, scope, constraints, result)
        result[failing[result] & (classes == SUPPRESSED)] = SUPPRESSED
    return result


class _Attachment:
    """The classes while leftovers join them; ``numbers`` break ties."""

    def __init__(
        self,
        forest: Forest,
        scope: Scope,
        constraints: Constraints,
        classes: NDArray[np.int64],
        numbers: NDArray[np.int64],
        leftovers: int,
    ) -> None:
        hierarchies = forest.hierarchies[scope.kind]
        self._classes = classes
        self._codes = codes_of(forest, scope)
        self._population = constraints.population
        self._on_records = [*map(Question, constraints.on_records)]
        self._on_values = [[*map(Question, models)] for models in constraints.on_values[scope.kind]]
        self._contents: dict[int, list[dict[int, int]]] = {}
        sizes = class_sizes(classes)
        self._window = max(_AFFORDED, _COMPARED * len(classes)) // leftovers
        self._spare = _ASKED
        self._first, ancestors = number_hierarchies(hierarchies)
        nodes = nodes_of(forest, scope)
        losses = np.concatenate([np.zeros(0, np.int64), *forest.losses[scope.kind]])
        self._rows = AttachedRows(nodes + self._first, scope.records, ancestors, losses)
        # A class that refused a row is not tried again under the same stamp.
        self._stamp = 0
        self._made = AttachedClasses(
            joins(hierarchies, nodes, classes) + self._first,
            sizes,
            numbers,
            np.zeros(len(sizes), np.int64),
            *_link_members(classes),
        )
        bound = [
            row_caps(self._codes[:, position], caps)
            for position, caps in constraints.caps(scope.kind)
            if caps.necessary
        ]
        self._caps = pack_row_caps([cap for cap in bound if cap.fits()], len(classes))
        self._members = np.empty(len(classes) + 1, np.int64)
        self._recurring = scope.kind > 0  # at the root a record has one row
        self._alike = constraints.population is None and not self._recurring

    def run(self, leftovers: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Attach the leftovers in random order, those with equal values one after the other."""
        mixed = rng.permutation(leftovers)
        starts = rng.integers(len(self._made.sizes), size=len(mixed))
        vectors = np.unique(self._codes[mixed], axis=0, return_inverse=True)[1].ravel()
        order = np.argsort(vectors, kind="stable")
        for alike in np.split(order, np.flatnonzero(np.diff(vectors[order])) + 1):
            self._stamp += 1
            for row, start in zip(mixed[alike].tolist(), starts[alike].tolist(), strict=True):
                this_class = self._nearest(row, start)
                if this_class is not None:
                    self._join(row, this_class)
                elif self._alike and self._window + self._spare >= len(self._made.sizes):
                    break  # all classes refused the row, and would refuse equal ones
        return self._classes

    def _nearest(self, row: int, start: int) -> int | None:
        """Return the nearest class that accepts the row; None if none does."""
        if self._population is not None:
            self._stamp += 1  # a class that refuses this row may accept a similar one
        wanted = 1
        while True:
            near, distances = np.empty((2, wanted), np.int64)
            at_most = min(self._window + self._spare, len(self._made.sizes))
            count, compared = nearest(
                row, start, self._window, at_most, self._stamp, self._recurring, near, distances,
                self._rows, self._made, self._caps, self._members,
            )  # fmt: skip
            self._spare -= max(0, compared - self._window)
            for this_class in near[:count].tolist():
                if self._accepts(row, this_class):
                    return int(this_class)
                self._made.refused[this_class] = self._stamp
            if not count:
                return None
            wanted *= 4

    def _accepts(self, row: int, this_class: int) -> bool:
        """Whether all constraints hold for the class with the row added."""
        records = int(self._made.sizes[this_class]) + 1
        population = None
        if self._population is not None:
            population = self._population((self._join_row(row, this_class) - self._first).tolist())
        view = ClassView(records, {}, population)
        if not all(question.holds(view) for question in self._on_records):
            return False
        for asked, held, code in zip(
            self._on_values, self._class_counts(this_class), self._codes[row].tolist(), strict=True
        ):
            counts = held if code == MISSING else held | {code: held.get(code, 0) + 1}
            view = ClassView(records, counts)
            if not all(question.holds(view) for question in asked):
                return False
        return True

    def _class_counts(self, this_class: int) -> list[dict[int, int]]:
        """Return how often each value occurs in a class, by sensitive attribute; counted once."""
        if this_class not in self._contents:
            rows = list(self._members_of(this_class))
            counted = (Counter(column) for column in self._codes[rows].T.tolist())
            self._contents[this_class] = [
                {code: count for code, count in counts.items() if code != MISSING} for counts in counted
            ]
        return self._contents[this_class]

    def _members_of(self, this_class: int) -> Iterator[int]:
        row = int(self._made.latest[this_class])
        while row >= 0:
            yield row
            row = int(self._made.earlier[row])

    def _join_row(self, row: int, this_class: int) -> NDArray[np.int32]:
        return join_row(row, this_class, self._rows, self._made)

    def _join(self, row: int, this_class: int) -> None:
        for held, code in zip(self._class_counts(this_class), self._codes[row].tolist(), strict=True):
            if code != MISSING:
                held[code] = held.get(code, 0) + 1
        classes = self._made
        classes.joins[this_class] = self._join_row(row, this_class)
        self._classes[row] = this_class
        classes.sizes[this_class] += 1
        classes.earlier[row], classes.latest[this_class] = classes.latest[this_class], row


def _link_members(classes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the last member of each class, and the member before each row; -1 for none."""
    order = np.argsort(classes, kind="stable")
    order = order[np.searchsorted(classes[order], 0) :]
    before = np.append(-1, order[:-1])
    alone = np.append(True, np.diff(classes[order]) > 0)
    earlier = np.full(len(classes), -1)
    earlier[order] = np.where(alone, -1, before)
    latest: NDArray[np.int64] = order[np.append(alone[1:], True)]
    return latest, earlier


def finish_partition(
    forest: Forest,
    scope: Scope,
    constraints: Constraints,
    classes: NDArray[np.int64],
    rng: np.random.Generator,
    reason: Callable[[int], str],
) -> Partition:
    """Build the partition into these classes; rows without a class join the nearest that accepts them.

    Classes that violate a constraint are dissolved first. ``reason`` is called with the number of published
    rows if rows are suppressed, and explains why no more are published.
    """
    failing = ~check_classes(forest, scope, constraints, classes)
    costs: Counter[str] = Counter()
    if failing.any():
        costs["classes_dissolved"] = int(failing.sum())
        classes = dissolve_failing(classes, failing)
    classes = attach(forest, scope, constraints, classes, np.flatnonzero(classes == SUPPRESSED), rng)
    published = int((classes != SUPPRESSED).sum())
    gone = costs[unaccepted_cost(scope)] = len(classes) - published
    why = reason(published) if gone else ""
    return partition_of(forest, scope, classes, costs, why)
