"""The sensitive values of classes, and whether they satisfy the constraints."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.rows.table import class_sizes, codes_of, joins, nodes_of
from hierdata.forest.forest import Forest, Scope
from hierdata.privacy.base import ClassView, Constraint

_FEW = 32


class Contents:
    """The views of all classes at one sensitive attribute; classes with equal contents share a view.

    ``of_class[class]`` is a position in ``views``. A class with more than 32 different values has a view of
    its own. O(rows log rows).
    """

    def __init__(self, classes: NDArray[np.int64], codes: NDArray[np.int32]) -> None:
        sizes = class_sizes(classes)
        there = (classes >= 0) & (codes >= 0)
        base = int(codes.max(initial=0)) + 1
        entries, counts = np.unique(classes[there] * base + codes[there], return_counts=True)
        owners, values = np.divmod(entries, base)
        lengths = np.bincount(owners, minlength=len(sizes))
        starts = np.cumsum(lengths) - lengths
        self.views: list[ClassView] = []
        self.of_class = np.empty(len(sizes), np.int64)
        for alike in _group_alike(sizes, lengths, starts, values, counts):
            one = alike[0]
            own = slice(starts[one], starts[one] + lengths[one])
            held = dict(zip(values[own].tolist(), counts[own].tolist(), strict=True))
            self.of_class[alike] = len(self.views)
            self.views.append(ClassView(int(sizes[one]), held))


def _group_alike(
    sizes: NDArray[np.int64],
    lengths: NDArray[np.int64],
    starts: NDArray[np.int64],
    values: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> Iterator[NDArray[np.int64]]:
    """Iterate over groups of classes of equal size that hold the same values equally often."""
    for length in np.unique(lengths).tolist():
        classes = np.flatnonzero(lengths == length)
        if length > _FEW:
            yield from classes[:, None]
            continue
        keys = sizes[classes]
        for at in range(length):
            for column in (values, counts):
                entries = column[starts[classes] + at]
                keys = np.unique(keys, return_inverse=True)[1] * (int(entries.max()) + 1) + entries
        order = np.argsort(keys, kind="stable")
        yield from np.split(classes[order], np.flatnonzero(np.diff(keys[order])) + 1)


def check_classes(
    forest: Forest,
    scope: Scope,
    constraints: Constraints,
    classes: NDArray[np.int64],
    published: NDArray[np.int32] | None = None,
) -> NDArray[np.bool_]:
    """Decide, exactly, whether each class satisfies all constraints.

    A constraint is checked once for classes with equal contents. ``published`` are the nodes of the classes,
    by default the lowest nodes above all members.
    """
    sizes = class_sizes(classes)
    holds = np.ones(len(sizes), np.bool_)
    if not len(sizes):
        return holds
    if constraints.population is None:
        for size in np.unique(sizes).tolist():
            holds[sizes == size] = accepts_all(constraints.on_records, ClassView(size, {}))
    else:
        roots = published
        if roots is None:
            roots = joins(forest.hierarchies[scope.kind], nodes_of(forest, scope), classes)
        views = map(constraints.view, sizes.tolist(), repeat({}), roots.tolist())
        holds &= np.array([accepts_all(constraints.on_records, view) for view in views], np.bool_)
    codes = codes_of(forest, scope)
    for position, bound in enumerate(constraints.on_values[scope.kind]):
        if bound:
            contents = Contents(classes, codes[:, position])
            answers = [accepts_all(bound, view) for view in contents.views]
            holds &= np.array(answers, np.bool_)[contents.of_class]
    return holds


def accepts_all(constraints: tuple[Constraint, ...], view: ClassView) -> bool:
    """Whether all constraints hold for a view."""
    return all(constraint.holds(view) for constraint in constraints)


class Question:
    """A constraint that is checked once for each summary of a view."""

    def __init__(self, constraint: Constraint) -> None:
        self._constraint = constraint
        self._answers: dict[Hashable, bool] = {}

    def holds(self, view: ClassView) -> bool:
        """Whether the constraint holds for a view."""
        key = view.records, view.population, self._constraint.summary(view.counts)
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = self._constraint.holds(view)
        return answer
