"""Reproducible draws: the same seed gives the same draws on every platform and Python version."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from random import Random
from typing import TypeVar

Item = TypeVar("Item")


class Draws:
    """A stream of draws from a seed of 0 or more.

    Only ``Random.random`` is used, since Python guarantees the sequence of no other method, and only
    arithmetic that IEEE 754 defines exactly.

    >>> Draws(1).pick("abc") == Draws(1).pick("abc")
    True
    """

    def __init__(self, seed: int) -> None:
        self._random = Random(seed).random  # noqa: S311 - meant to be reproducible, protects nothing

    def share(self) -> float:
        """Return a number from 0 to 1, without 1."""
        return self._random()

    def chance(self, probability: float) -> bool:
        """Return True with this probability; never at 0, always at 1."""
        return self._random() < probability

    def pick(self, items: Sequence[Item]) -> Item:
        """Return one of the items, all equally likely."""
        return items[int(self._random() * len(items))]

    def whole(self, low: int, high: int) -> int:
        """Return a whole number from ``low`` to ``high``, both included."""
        return low + int(self._random() * (high - low + 1))

    def index(self, limits: Sequence[float]) -> int:
        """Return the index of the interval of a draw from 0..1; ``limits`` are the inner ends."""
        return bisect_right(limits, self._random())


def limits(weights: Sequence[float]) -> tuple[float, ...]:
    """Return the inner ends of the intervals of 0..1 whose widths are proportional to the weights.

    >>> limits([2, 1, 1])
    (0.5, 0.75)
    """
    total = sum(weights)
    return tuple(end / total for end in accumulate(weights[:-1]))
