"""Swap records of two classes to reach closeness, then to lower the loss; repair classes that stay apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.reassignment.arrangement import Arrangement
from hierdata.engines.reassignment.kernel import best_swaps, refresh
from hierdata.engines.rows.constraints import ClassConstraints, Contents, check_classes, one_of_each_record
from hierdata.engines.rows.leftovers import attach
from hierdata.engines.rows.table import (
    class_sizes,
    codes_of,
    dense,
    dissolve_failing,
    joins,
    mark_repeated,
    members_of,
    nodes_of,
    partition_of,
    summable,
    unaccepted_cost,
)
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import SUPPRESSED, Partition

_TRIED = 64
"""The number of unions of a class that are checked by the models, the one of least loss first."""
_KEPT = 256
"""The number of roots whose losses are kept."""


def publish_classes(
    forest: Forest,
    scope: Scope,
    constraints: Constraints,
    classes: NDArray[np.int64],
    before: Partition,
    united: int,
    rng: np.random.Generator,
) -> Partition:
    """Repair classes until each satisfies all constraints, and build their partition, with the costs.

    A failing class is united with the class of least loss with which all constraints hold, or else with the
    nearest class, and so on. If other models forbid that, its rows join the nearest classes that accept them
    (``rows.leftovers``); the other rows are suppressed. If no class is left, all rows are tried as one class.
    ``united`` is the number of classes that the search has united.
    """
    costs = Counter(before.costs)
    reached = _smallest(forest, scope, constraints, classes)
    start = np.count_nonzero(classes == SUPPRESSED)
    classes, more = _unite_all(forest, scope, constraints, dense(classes))
    failing = _find_failing(forest, scope, constraints, classes)
    dissolved_rows = int(failing[classes[classes >= 0]].sum()) if len(failing) else 0
    classes = dissolve_failing(classes, failing) if len(failing) else classes
    if not (classes != SUPPRESSED).any() and start < len(classes):
        whole = _whole(forest, scope, constraints)
        classes = whole if whole is not None else classes
    leftovers = np.flatnonzero(classes == SUPPRESSED)
    classes = attach(forest, scope, constraints, classes, leftovers, rng)
    gone = int((classes == SUPPRESSED).sum())
    costs[unaccepted_cost(scope)] = gone
    costs["rows_in_the_nearest_class"] += len(leftovers) - gone
    costs["classes_united"] += united + more
    costs["rows_of_classes_dissolved"] += dissolved_rows
    reason = ""
    if gone == len(classes):
        bound = min(
            (closeness.bound for _, closeness in constraints.closeness(scope.kind)), default=Fraction(1)
        )
        reason = before.reason if reached is None or reached <= bound else _unreachable(reached)
    return partition_of(forest, scope, classes, costs, reason)


def _find_failing(
    forest: Forest, scope: Scope, constraints: Constraints, classes: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Mark failing classes, also those that are too small: a class without values may satisfy every model."""
    small = class_sizes(classes) < constraints.min_class_size
    return small | ~check_classes(forest, scope, constraints, classes)


def enlarge_classes(
    forest: Forest, scope: Scope, classes: NDArray[np.int64], failing: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Unite each failing class with the class where that loses least; no class takes part twice."""
    unions = Unions(forest, scope, classes)
    members = members_of(classes)
    result = classes.copy()
    for this_class in np.flatnonzero(failing).tolist():
        if unions.free[this_class]:
            other = unions.nearest_one(this_class)
            if other is not None:
                unions.free[[this_class, other]] = False
                result[members[this_class]] = other
    return dense(result)


def may_stay(forest: Forest, scope: Scope, constraints: Constraints, classes: NDArray[np.int64]) -> bool:
    """Whether all models without a closeness hold in every class, and no record is in one twice."""
    others = constraints.without_mended({"closeness"})
    return not mark_repeated(scope, classes).any() and bool(
        check_classes(forest, scope, others, classes).all()
    )


def _unite_all(
    forest: Forest, scope: Scope, constraints: Constraints, classes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], int]:
    """Unite classes until none fails or the other models forbid it; return also how many were united."""
    united = 0
    while True:
        classes, more = _unite_failing(forest, scope, constraints, classes)
        united += more
        failing = _find_failing(forest, scope, constraints, classes)
        if not failing.any() or len(failing) < 2:
            return classes, united
        larger = enlarge_classes(forest, scope, classes, failing)
        if not may_stay(forest, scope, constraints, larger):
            return classes, united
        united += len(failing) - 1 - int(larger.max())
        classes = larger


def _unite_failing(
    forest: Forest, scope: Scope, constraints: Constraints, classes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], int]:
    """Unite failing classes with others if all constraints then hold; return also how many were united."""
    asked = ClassConstraints(forest, scope, constraints)
    unions = Unions(forest, scope, classes)
    members = members_of(classes)
    result, united = classes.copy(), 0
    for this_class in np.flatnonzero(_find_failing(forest, scope, constraints, classes)).tolist():
        mine = members[this_class]
        for other in unions.nearest(this_class)[:_TRIED] if unions.free[this_class] else ():
            rows = np.concatenate([mine, members[other]])
            if len(np.unique(scope.records[rows])) < len(rows):
                continue
            if len(rows) >= constraints.min_class_size and asked(rows):
                unions.free[[this_class, other]] = False
                result[mine] = other
                united += 1
                break
    return dense(result), united


class Unions:
    """The loss of unions of two classes; ``free`` marks the classes that are not united yet."""

    def __init__(self, forest: Forest, scope: Scope, classes: NDArray[np.int64]) -> None:
        trees = forest.hierarchies[scope.kind]
        roots = joins(trees, nodes_of(forest, scope), classes)
        losses = summable(forest.losses[scope.kind], len(classes))
        self._sizes = class_sizes(classes)
        self._joined = [
            _JoinedLosses(np.array(tree.ancestors, np.int32), of_nodes, roots[:, column])
            for column, (tree, of_nodes) in enumerate(zip(trees, losses, strict=True))
        ]
        self._alone = self._sizes * sum(
            (of_nodes[roots[:, column]] for column, of_nodes in enumerate(losses)),
            np.zeros(len(self._sizes), np.int64),
        )
        self.free = np.ones(len(self._sizes), np.bool_)

    def nearest(self, this_class: int) -> list[int]:
        """Return the other free classes, ordered by how much the union raises the loss, then by number."""
        order = np.argsort(self._weigh_unions(this_class), kind="stable")
        nearest_classes: list[int] = order[self.free[order] & (order != this_class)].tolist()
        return nearest_classes

    def nearest_one(self, this_class: int) -> int | None:
        """Return the first of ``nearest``, None if no other class is free."""
        others = np.flatnonzero(self.free)
        others = others[others != this_class]
        return int(others[np.argmin(self._weigh_unions(this_class)[others])]) if len(others) else None

    def _weigh_unions(self, this_class: int) -> NDArray[np.int64]:
        """Return by how much the union with each class raises the loss, up to a constant."""
        joined = sum(
            (each.with_class(this_class) for each in self._joined), np.zeros(len(self._sizes), np.int64)
        )
        raised: NDArray[np.int64] = joined * (self._sizes + self._sizes[this_class]) - self._alone
        return raised


class _JoinedLosses:
    """The losses of the nodes at one quasi-identifier where the roots of two classes meet.

    They are computed once for each two different roots, as far as those last asked for are kept.
    """

    def __init__(
        self, ancestors: NDArray[np.int32], losses: NDArray[np.int64], roots: NDArray[np.int32]
    ) -> None:
        different, self._root_of = np.unique(roots, return_inverse=True)
        self._ancestors, self._losses = ancestors[different], losses
        self._of_root = lru_cache(maxsize=_KEPT)(self._compute)

    def with_class(self, this_class: int) -> NDArray[np.int64]:
        """Return the loss of a class joined with each class."""
        return self._of_root(int(self._root_of[this_class]))[self._root_of]

    def _compute(self, root: int) -> NDArray[np.int64]:
        """Return the loss of the node where a root meets each of the different roots."""
        here = self._ancestors[root]
        shared = (self._ancestors == here) & (here >= 0)
        deepest = shared.shape[1] - 1 - np.argmax(shared[:, ::-1], axis=1)
        losses: NDArray[np.int64] = self._losses[here[deepest]]
        return losses


def _whole(forest: Forest, scope: Scope, constraints: Constraints) -> NDArray[np.int64] | None:
    """Return all rows as one class; None if that class fails."""
    classes = np.zeros(len(scope.rows), np.int64)
    if one_of_each_record(scope) or _find_failing(forest, scope, constraints, classes).any():
        return None
    return classes


def _smallest(
    forest: Forest, scope: Scope, constraints: Constraints, classes: NDArray[np.int64]
) -> Fraction | None:
    """Return the smallest t that any class satisfies; None without classes or closeness."""
    codes = codes_of(forest, scope)
    classes = dense(classes)
    distances: list[Fraction] | None = None
    for position, bound in enumerate(constraints.on_values[scope.kind]):
        close = [constraint for constraint in bound if constraint.closeness is not None]
        if not close or not (classes != SUPPRESSED).any():
            continue
        contents = Contents(classes, codes[:, position])
        reached = [
            max(constraint.achieved_parameters(view).get("t", Fraction(0)) for constraint in close)
            for view in contents.views
        ]
        of_class = [reached[number] for number in contents.of_class.tolist()]
        distances = of_class if distances is None else list(map(max, distances, of_class))
    return min(distances) if distances else None


def _unreachable(reached: Fraction) -> str:
    return (
        f"no class satisfies the t of the policy, and the smallest t that a class reached is "
        f"{float(reached):.6g} ({reached}): set t to at least that, or ask for larger classes"
    )


_PATIENCE = 16
"""The number of windows searched before a class is given up."""
_ASKED = 64
"""The number of swaps of a class that are checked by the other models, the best first."""


class Descent:
    """Swaps that improve an arrangement in place; ``window`` pairs of rows are compared for each."""

    def __init__(self, arrangement: Arrangement, window: int) -> None:
        self._arrangement = arrangement
        self._arrays = (
            arrangement.classes,
            arrangement.closeness,
            arrangement.line,
            arrangement.caps,
            arrangement.foreseen,
        )
        self._window = window
        sets = int(arrangement.closeness.first[-1])
        self._memory = np.zeros(sets, np.int64), np.zeros((5, sets), np.int64)
        self.made = 0

    def towards_closeness(self, progress: Callable[[int], None]) -> None:
        """Swap until every class is within its bounds, or a pass brings no further class within them.

        The class farthest from its bounds comes first, and is swapped until it is within them.
        """
        beyond = self._arrangement.classes.beyond
        while True:
            failing = np.argsort(-beyond, kind="stable")[: np.count_nonzero(beyond)]
            for this_class in failing.tolist():
                while beyond[this_class] and self.swap(this_class, 1):
                    pass
                progress(self.made)
            if not beyond.any() or np.count_nonzero(beyond) >= len(failing):
                return

    def reduce_loss(self, passes: int, progress: Callable[[int], None]) -> None:
        """Make swaps that lower the loss and take no class farther, until a pass changes nothing."""
        for _ in range(passes):
            before = self.made
            for this_class in range(len(self._arrangement.classes.beyond)):
                while self.swap(this_class, 0):
                    pass
                progress(self.made)
            if self.made == before:
                return

    def swap(self, this_class: int, least: int) -> bool:
        """Make the best swap of a class that all models allow; return whether there was one.

        ``least`` is how much nearer to its bounds the swap must bring the two classes; 0 also allows swaps
        that only lower the loss.
        """
        wanted = 1
        while True:
            swaps = np.empty((wanted, 4), np.int64)
            count = best_swaps(
                this_class, least, self._window, _PATIENCE * self._window, *self._arrays, swaps
            )
            untried = swaps[wanted // 4 : count, :2]  # the first quarter was refused before
            for position, other in untried.tolist():
                if self._try_exchange(position, other):
                    return True
            if count < wanted or wanted >= _ASKED:
                return False
            wanted *= 4

    def _try_exchange(self, position: int, other: int) -> bool:
        """Swap two entries if all models allow it; return whether they do."""
        arrangement = self._arrangement
        members, starts = arrangement.classes.members, arrangement.classes.starts
        members[[position, other]] = members[[other, position]]
        classes = np.searchsorted(starts, [position, other], side="right") - 1
        if arrangement.asked.has_constraints:
            runs = (members[starts[this_class] : starts[this_class + 1]] for this_class in classes.tolist())
            if not all(map(arrangement.asked, runs)):
                members[[position, other]] = members[[other, position]]
                return False
        for this_class in classes.tolist():
            arrangement.foreseen.kept[:, starts[this_class] : starts[this_class + 1]] = 0
            refresh(this_class, arrangement.classes, arrangement.closeness, arrangement.line, *self._memory)
        self.made += 1
        return True


def descend_classes(
    forest: Forest,
    scope: Scope,
    constraints: Constraints,
    classes: NDArray[np.int64],
    window: int,
    passes: int,
    progress: Callable[[int], None],
) -> tuple[NDArray[np.int64], int]:
    """Return the classes after all swaps, and how many were united because their size allowed no closeness.

    Larger classes are nearer to the original, so this ends, with one class at the latest.
    """
    before = int(classes.max(initial=-1))
    while True:
        arrangement = Arrangement.of(forest, scope, constraints, classes)
        descent = Descent(arrangement, window)
        descent.towards_closeness(progress)
        failing = arrangement.classes.beyond > 0
        if not failing.any() or len(failing) < 2:
            break
        larger = enlarge_classes(forest, scope, arrangement.numbers(), failing)
        if not may_stay(forest, scope, constraints, larger):
            break
        classes = larger
    descent.reduce_loss(passes, progress)
    classes = arrangement.numbers()
    return classes, before - int(classes.max(initial=-1))
