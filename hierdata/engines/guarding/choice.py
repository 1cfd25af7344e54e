"""Which classes are dissolved so that the suppressed as a whole satisfy the models."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, TypeAlias

from hierdata.engines.base import Constraints
from hierdata.engines.guarding.contents import GroupContents
from hierdata.engines.guarding.relief import Relief


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
    by_loss: Sequence[Candidate], one: list[int] | None, other: list[int] | None
) -> list[int] | None:
    """Return the choice that loses less, the first of equal ones."""
    if one is None or other is None:
        return other if one is None else one
    return min(one, other, key=lambda chosen: _loss(by_loss, chosen))


def _loss(by_loss: Sequence[Candidate], chosen: Collection[int]) -> int:
    return sum(by_loss[own].loss for own in chosen)
