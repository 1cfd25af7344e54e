"""Which classes are dissolved so that the suppressed as a whole satisfy the models."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from hierdata.engines.base import Constraints
from hierdata.engines.guarding.contents import GroupContents


class Candidate(NamedTuple):
    """A class that could be dissolved: the loss of that, times the scale, and what its records hold."""

    loss: int
    contents: GroupContents


def choose_classes(
    left: GroupContents,
    candidates: Sequence[Candidate],
    constraints: Constraints,
    accept: Callable[[GroupContents, Collection[int]], bool],
) -> list[int] | None:
    """Return the classes to dissolve, None if no choice that was tried is enough.

    ``left`` are the suppressed records, at least one. Classes are added by rising loss, the first of equal
    ones, until all constraints hold for the whole and ``accept`` agrees; it is given the contents and the
    chosen classes. Then classes without which this still is so are given back, the greatest loss first, until
    every class that remains is needed.
    """
    order = sorted(range(len(candidates)), key=lambda own: (candidates[own].loss, own))
    chosen: set[int] = set()
    rest = iter(order)
    while not (left.satisfies(constraints) and accept(left, chosen)):
        following = next(rest, None)
        if following is None:
            return None
        left += candidates[following].contents
        chosen.add(following)
    needed = 0
    while needed != len(chosen):
        needed = len(chosen)
        for own in (own for own in reversed(order) if own in chosen):
            without = left - candidates[own].contents
            chosen.remove(own)
            if without.satisfies(constraints) and accept(without, chosen):
                left = without
            else:
                chosen.add(own)
    return sorted(chosen)
