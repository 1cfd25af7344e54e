"""What values and vertices are worth: the weights of losses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Weights = tuple[tuple[int, ...], ...]
"""Weights by vertex type and attribute."""


@dataclass(frozen=True)
class Worth:
    """The weights of a policy in whole numbers, with a unit common to all.

    ``quasi`` and ``sensitive`` are by vertex type and attribute, ``presence`` is by vertex type. A published
    quasi-identifier loses its weight times LM'. A suppressed vertex loses the weights of all its
    quasi-identifiers and sensitive attributes, and that of its presence.
    """

    quasi: Weights
    sensitive: Weights
    presence: tuple[int, ...]

    @classmethod
    def of_lm(cls, quasi: Sequence[Sequence[object]], sensitive: Sequence[Sequence[object]]) -> Worth:
        """Return the weights of the papers' LM: quasi-identifiers count the same, and nothing else counts."""
        ones = tuple((1,) * len(attributes) for attributes in quasi)
        zeros = tuple((0,) * len(attributes) for attributes in sensitive)
        return cls(ones, zeros, (0,) * len(ones))

    @classmethod
    def by_default(cls, quasi: Sequence[Sequence[object]], sensitive: Sequence[Sequence[object]]) -> Worth:
        """Return the weights of a policy that states none: each value counts the same."""
        ones = tuple((1,) * len(attributes) for attributes in quasi)
        return cls(ones, tuple((1,) * len(attributes) for attributes in sensitive), (0,) * len(ones))

    @property
    def constants(self) -> tuple[int, ...]:
        """By vertex type the weights of presence and of sensitive attributes: lost by suppression only."""
        by_type = zip(self.presence, self.sensitive, strict=True)
        return tuple(presence + sum(values) for presence, values in by_type)

    @cached_property
    def by_type(self) -> NDArray[np.int64]:
        """The weight of a vertex of each type, without those below it."""
        pairs = zip(self.quasi, self.constants, strict=True)
        return np.array([sum(quasi) + constant for quasi, constant in pairs], np.int64)

    def in_lowest_terms(self) -> Worth:
        """Return the same weights in the largest unit in which all are whole numbers."""
        every = chain(self.presence, *self.quasi, *self.sensitive)
        unit = math.gcd(*every) or 1

        def shorten(weights: Weights) -> Weights:
            return tuple(tuple(weight // unit for weight in of_type) for of_type in weights)

        (presence,) = shorten((self.presence,))
        return Worth(shorten(self.quasi), shorten(self.sensitive), presence)


class Heaviest(NamedTuple):
    """The most of any record of a collection: together they decide the scale of losses in all its parts.

    ``quasi`` is the largest number of quasi-identifiers, ``weight`` the largest sum of weights, ``children``
    the largest number of children of one vertex.
    """

    quasi: int = 0
    weight: int = 0
    children: int = 0

    def most(self, other: Heaviest) -> Heaviest:
        """Return the larger of each."""
        return Heaviest(*map(max, self, other))


NOTHING = Heaviest()
"""The heaviest of no records."""
UNKNOWN = Heaviest(2**62, 2**62, 2**62)
"""Stands for the heaviest of a collection before it is known: all parts have the least scale."""
