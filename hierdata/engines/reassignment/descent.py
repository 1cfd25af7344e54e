"""Swap records of two classes, first to reach closeness, then to lower the loss."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.reassignment.arrangement import Arrangement
from hierdata.engines.reassignment.kernel import best_swaps, refresh
from hierdata.engines.reassignment.repair import enlarge_classes, may_stay
from hierdata.forest.forest import Forest, Scope

_PATIENCE = 16
"""The number of windows searched before a class is given up."""
_ASKED = 64
"""The number of swaps of a class that are checked by the other models, the best first."""


class Descent:
    """Swaps that improve an arrangement in place; ``window`` pairs of rows are compared for each."""

    def __init__(self, arrangement: Arrangement, window: int) -> None:
        self._at = arrangement
        self._window = window
        sets = int(arrangement.ground.first[-1])
        self._memory = np.zeros(sets, np.int64), np.zeros((5, sets), np.int64)
        self.made = 0

    def towards_closeness(self, progress: Callable[[int], None]) -> None:
        """Swap until every class is within its bounds, or a pass brings no further class within them.

        The class farthest from its bounds comes first, and is swapped until it is within them.
        """
        beyond = self._at.classes.beyond
        while True:
            failing = np.argsort(-beyond, kind="stable")[: np.count_nonzero(beyond)]
            for own in failing.tolist():
                while beyond[own] and self.swap(own, 1):
                    pass
                progress(self.made)
            if not beyond.any() or np.count_nonzero(beyond) >= len(failing):
                return

    def reduce_loss(self, passes: int, progress: Callable[[int], None]) -> None:
        """Make swaps that lower the loss and take no class farther, until a pass changes nothing."""
        for _ in range(passes):
            before = self.made
            for own in range(len(self._at.classes.beyond)):
                while self.swap(own, 0):
                    pass
                progress(self.made)
            if self.made == before:
                return

    def swap(self, own: int, least: int) -> bool:
        """Make the best swap of a class that all models allow; return whether there was one.

        ``least`` is how much nearer to its bounds the swap must bring the two classes; 0 also allows swaps
        that only lower the loss.
        """
        at = self._at
        wanted = 1
        while True:
            found = np.empty((wanted, 4), np.int64)
            count = best_swaps(
                own, least, self._window, _PATIENCE * self._window,
                at.classes, at.ground, at.line, at.caps, at.foreseen, found,
            )  # fmt: skip
            for one, other in found[wanted // 4 : count, :2].tolist():  # the first quarter was refused before
                if self._try_exchange(one, other):
                    return True
            if count < wanted or wanted >= _ASKED:
                return False
            wanted *= 4

    def _try_exchange(self, one: int, other: int) -> bool:
        """Swap two entries if all models allow it; return whether they do."""
        at = self._at
        members, starts = at.classes.members, at.classes.starts
        members[[one, other]] = members[[other, one]]
        classes = np.searchsorted(starts, [one, other], side="right") - 1
        if at.asked.has_constraints:
            runs = (members[starts[own] : starts[own + 1]] for own in classes.tolist())
            if not all(map(at.asked, runs)):
                members[[one, other]] = members[[other, one]]
                return False
        for own in classes.tolist():
            at.foreseen.kept[:, starts[own] : starts[own + 1]] = 0
            refresh(own, at.classes, at.ground, at.line, *self._memory)
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
