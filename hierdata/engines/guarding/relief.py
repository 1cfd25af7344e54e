"""Which class to add next to a group that has too much of some values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.guarding.contents import Excess, GroupContents

_ROUNDING = 1e-6
_SLACK = 1
"""So many values less than allowed are worth having: other classes may bring them."""


class _Met(NamedTuple):
    """Values of which there was too much: the share that is allowed, and how many the classes hold.

    ``relief[c]`` is by how much class c lowers the excess: the values that it may hold, less those it holds.
    """

    share: float
    relief: NDArray[np.float64]


class Relief:
    """Picks classes one by one, those that leave least of what there was ever too much of.

    ``classes`` are in the order in which equally good ones are picked. Shares are rounded: they order the
    classes and decide nothing.
    """

    def __init__(self, classes: Sequence[GroupContents], constraints: Constraints) -> None:
        self._classes = classes
        self._constraints = constraints
        self._waiting = np.ones(len(classes), np.bool_)
        self._met: dict[Excess, _Met] = {}
        self._known = -1

    def restart(self) -> bool:
        """Put all classes back; return whether an excess was met since the last time: others are picked."""
        self._waiting[:] = True
        known, self._known = self._known, len(self._met)
        return known < self._known

    def pick(self, whole: GroupContents) -> int | None:
        """Return the position of the class to add to ``whole``, None if no rest takes an excess away."""
        if not self._waiting.any():
            return None
        found = whole.find_excess(self._constraints)
        if found is not None and found not in self._met:
            self._met[found] = self._meet(found, whole)
        remaining = np.zeros(len(self._classes))
        for excess, (share, relief) in self._met.items() if found is not None else ():
            count, total = whole.count(excess)
            over = count - share * total
            if share == excess.allowed and over > relief[self._waiting & (relief > 0)].sum() + _ROUNDING:
                return None
            remaining += np.maximum(over - relief, -_SLACK)
        remaining[~self._waiting] = np.inf
        at = int(np.argmin(remaining))
        self._waiting[at] = False
        return at

    def _meet(self, excess: Excess, whole: GroupContents) -> _Met:
        """Where the model has no caps, or these are kept, any class with a smaller share than now helps."""
        count, total = whole.count(excess)
        share = min(excess.allowed, count / total)
        held = np.array([own.count(excess) for own in self._classes], np.float64).reshape(-1, 2)
        return _Met(share, share * held[:, 1] - held[:, 0])
