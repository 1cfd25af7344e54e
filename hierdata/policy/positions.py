"""Lines and columns of a policy's file, for error messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

Place: TypeAlias = "tuple[int | str, ...]"
"""The keys and indexes that lead to a part of the data."""


class Position(NamedTuple):
    """A line, and a column if it is known, both from 1."""

    line: int
    column: int | None = None

    @property
    def order(self) -> tuple[int, int]:
        """The sort key."""
        return self.line, self.column or 0

    def __str__(self) -> str:
        return f"line {self.line}" + ("" if self.column is None else f", column {self.column}")


Positions: TypeAlias = "Mapping[Place, Position]"


@dataclass(frozen=True)
class PolicyFile:
    """A policy file as plain data.

    ``find`` returns the position of each key and item in the file; it is called for error messages only.
    ``origins`` maps parts of the data to the places in the file that they were made from, where these differ.
    """

    name: str
    data: Any
    find: Callable[[], Positions] = field(default=dict, compare=False, repr=False)
    origins: Mapping[Place, Place] = field(default_factory=dict, repr=False)

    @cached_property
    def _positions(self) -> Positions:
        return self.find()

    def position(self, place: Place) -> Position:
        """Return the position of a part of the data: that of its key or item, else that of what holds it."""
        for end in range(len(place), 0, -1):
            if (origin := self.origins.get(place[:end])) is not None:
                place = origin + place[end:]
                break
        known = (place[:end] for end in range(len(place), 0, -1))
        return next((self._positions[part] for part in known if part in self._positions), Position(1, 1))

    def describe(self, place: Place) -> str:
        """Return the file with the position of a part of the data."""
        return f"{self.name}, {self.position(place)}"
