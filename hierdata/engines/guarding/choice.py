"""Which classes are dissolved so that the suppressed as a whole satisfy the models."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, TypeAlias

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


class Candidate(NamedTuple):
    """A class that could be dissolved: the loss of that, times the scale, and what its records hold."""

    loss: int
    contents: GroupContents


Enough: TypeAlias = Callable[[GroupContents, Collection[int]], bool]


def choose_classes(
    left: GroupContents,
    candidates: Sequence[Candidate],
    constraints: Constraints,
    accept: Enough,
) -> list[int] | None:
    """Return the classes to dissolve, None if no choice that was tried is enough.

    ``left`` are the suppressed records, at least one. A choice is enough if all constraints hold for the
    whole and ``accept`` agrees; it is given the contents and the chosen classes.

    Classes are added by rising loss, the first of equal ones, until they are enough. If all together are not,
    ``Relief`` picks them: while the whole has too much of some values, the class that leaves least of what
    there was ever too much of, else the cheapest one; again from the start as long as more is met that there
    can be too much of. Then classes without which the rest is enough are given back, the greatest loss first,
    until every class that remains is needed. A single class that is enough is chosen if it is cheaper.
    """
    order = sorted(range(len(candidates)), key=lambda own: (candidates[own].loss, own))
    by_loss = [candidates[own] for own in order]

    def is_enough(whole: GroupContents, chosen: Collection[int]) -> bool:
        return whole.satisfies(constraints) and accept(whole, [order[at] for at in chosen])

    rest = iter(range(len(order)))
    found = _add_classes(left, by_loss, is_enough, lambda _: next(rest, None))
    if found is None:
        relief = Relief([one.contents for one in by_loss], constraints)
        while relief.restart():
            found = _cheaper(by_loss, found, _add_classes(left, by_loss, is_enough, relief.pick))
    for at, one in enumerate(by_loss):
        if found is not None and one.loss >= _loss(by_loss, found):
            break
        if is_enough(left + one.contents, [at]):
            found = [at]
    return None if found is None else sorted(order[at] for at in found)


def _add_classes(
    left: GroupContents,
    by_loss: Sequence[Candidate],
    is_enough: Enough,
    pick: Callable[[GroupContents], int | None],
) -> list[int] | None:
    """Return the classes that ``pick`` adds until they are enough, without those that are not needed."""
    chosen = set[int]()
    while not is_enough(left, chosen):
        following = pick(left)
        if following is None:
            return None
        left += by_loss[following].contents
        chosen.add(following)
    needed = 0
    while needed != len(chosen):
        needed = len(chosen)
        for own in sorted(chosen, reverse=True):
            without = left - by_loss[own].contents
            chosen.remove(own)
            if is_enough(without, chosen):
                left = without
            else:
                chosen.add(own)
    return sorted(chosen)


def _cheaper(
    by_loss: Sequence[Candidate], choice: list[int] | None, other: list[int] | None
) -> list[int] | None:
    """Return the choice that loses less, the first of equal ones."""
    if choice is None or other is None:
        return other if choice is None else choice
    return min(choice, other, key=lambda chosen: _loss(by_loss, chosen))


def _loss(by_loss: Sequence[Candidate], chosen: Collection[int]) -> int:
    return sum(by_loss[own].loss for own in chosen)
