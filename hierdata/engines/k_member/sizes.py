"""The class sizes to try, and how much is tried for each."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import ceil
from typing import NamedTuple, TypeVar

from hierdata.engines.base import Constraints, Trial

Way = TypeVar("Way", bound=Hashable)
"""A variant that an engine can choose."""

Choice = tuple[int, bool]
"""A class size, and whether larger classes for records that need them are built first."""

Plan = tuple[int, ...]
"""Class sizes, the largest first; all but the last are only for records that no smaller class can publish."""

SAMPLE = 2000
"""The number of records on which class sizes are tried; samples of 400 chose wrongly in 1 of 4 cases."""

_NEAR = Fraction(101, 100)
"""The losses of trials vary by about this factor with the records they are made on."""

_EFFORT = 400_000
"""The pairs of vertices that a bounded proposal may compare for each record that it stands for."""


class Reach(NamedTuple):
    """The limits of the search for classes.

    A class grows among the ``candidates`` records nearest to its seed, of which at most ``aligned`` are
    aligned for each place in the class. One record in ``stride`` proposes a class; the others propose when
    the first have no class left. At most ``again`` drafts follow the first. Proposals are ``bounded`` under
    models with a closeness: their classes are large, and few of them are accepted. ``vertices`` is the number
    of vertices of a record, on average.
    """

    candidates: int
    aligned: int
    stride: int
    again: int
    vertices: float
    bounded: bool

    def stride_for(self, size: int) -> int:
        """Return the stride for classes of ``size``: larger where proposals are bounded and take long."""
        pairs = (size - 1) * self.aligned * self.vertices**2
        return max(self.stride, ceil(pairs / _EFFORT)) if self.bounded else self.stride


def useful_sizes(constraints: Constraints, least: int, largest: int, asked: bool) -> list[int]:
    """Return the sizes from ``least`` to ``largest`` in which a class may hold more than in any smaller one.

    What a class may hold is the sum of floor(size * share) / size over all groups of the frequency caps that
    decide a model alone. With ``asked``, where models without such caps must be checked, the least size
    doubled again and again is added: the larger a class, the more easily they hold.
    """
    deciding = [
        constraint.caps
        for constraint in constraints.all()
        if constraint.caps is not None and constraint.caps.sufficient
    ]
    best = Fraction(-1)
    sizes = []
    for size in range(least, max(least, largest) + 1):
        held = sum(sum(caps.largest_counts(size)) for caps in deciding)
        ratio = size // least
        doubled = asked and size % least == 0 and ratio & (ratio - 1) == 0
        if size == least or doubled or Fraction(held, size) > best:
            sizes.append(size)
        best = max(best, Fraction(held, size))
    return sizes


def choices(sizes: Sequence[int]) -> list[Choice]:
    """Return the choices in the order of trials: each size by itself, and after the larger sizes needed."""
    return list(product(sizes, (False, True)))


def plan_of(choice: Choice, needs: Sequence[int]) -> Plan:
    """Return the plan of a choice; ``needs`` are the sizes that records need."""
    size, larger_first = choice
    return (*(sorted({need for need in needs if need > size}, reverse=True) if larger_first else ()), size)


def best(trials: Mapping[Way, Trial]) -> Way:
    """Return the choice that suppresses fewest records, of those that lose at most 1 % more than the least.

    Ties go to the choice that loses less, then to the first.
    """
    least = min(trial.loss for trial in trials.values())
    near = (choice for choice, trial in trials.items() if trial.loss <= _NEAR * least)
    return min(near, key=lambda choice: (trials[choice].suppressed, trials[choice].loss))
