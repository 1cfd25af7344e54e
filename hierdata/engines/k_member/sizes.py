"""Which class sizes are worth a try."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import TypeVar

from hierdata.engines.base import Constraints, Trial

Way = TypeVar("Way", bound=Hashable)
"""What an engine chooses between."""

Choice = tuple[int, bool]
"""A class size, and whether larger classes come first, for records that need them."""

Plan = tuple[int, ...]
"""Class sizes, the largest first: all but the last only for records that no smaller class can publish."""

_NEAR = Fraction(101, 100)
"""Trials lose more or less by about this much, by the records on which they are made."""


def useful_sizes(constraints: Constraints, least: int, largest: int, asked: bool) -> list[int]:
    """The sizes from the least to the largest in which a class may hold more than in any smaller.

    What it may hold is the sum, over all groups of the share caps that decide alone, of their whole shares
    floor(size * share) / size. Where models are ``asked`` that have no such form, the least size doubled
    again and again counts too: the larger a class, the easier they hold.
    """
    deciding = [one.caps for one in constraints.all() if one.caps is not None and one.caps.sufficient]
    best = Fraction(-1)
    found = []
    for size in range(least, max(least, largest) + 1):
        held = sum(sum(caps.largest_counts(size)) for caps in deciding)
        ratio = size // least
        doubled = asked and size % least == 0 and ratio & (ratio - 1) == 0
        if size == least or doubled or Fraction(held, size) > best:
            found.append(size)
        best = max(best, Fraction(held, size))
    return found


def choices(sizes: Sequence[int]) -> list[Choice]:
    """What is tried, in order: each size by itself, and after the larger ones that some records need."""
    return list(product(sizes, (False, True)))


def plan_of(choice: Choice, needs: Sequence[int]) -> Plan:
    """What a choice comes to for records of which single ones need these sizes."""
    size, larger_first = choice
    return (*(sorted({need for need in needs if need > size}, reverse=True) if larger_first else ()), size)


def best(trials: Mapping[Way, Trial]) -> Way:
    """The choice that suppresses fewest records, of those that lose hardly more than the least.

    Of equals the one that loses less, then the first.
    """
    least = min(trial.loss for trial in trials.values())
    near = (choice for choice, trial in trials.items() if trial.loss <= _NEAR * least)
    return min(near, key=lambda choice: (trials[choice].suppressed, trials[choice].loss))
