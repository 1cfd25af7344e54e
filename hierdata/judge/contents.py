"""The sensitive values at one place of a class: how often each occurs, and which sets the records show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Tally: TypeAlias = Mapping[int, int]
"""Counts of values, by ``code * attributes + index of the attribute``."""
Sets: TypeAlias = "dict[frozenset[int], int]"
"""The number of records that show each set of an attribute's codes."""


@dataclass(frozen=True)
class PlaceContent:
    """The values at one place, over all records of the class.

    ``tally`` counts them. ``sets`` has, by the index of the attribute, the sets that the records show; an
    attribute is absent where nobody asks for its presence, or the file does not tie values to records.
    """

    tally: Tally
    sets: Mapping[int, Sets] = field(default_factory=dict)


@dataclass(frozen=True)
class RecordContent:
    """The values of the records of a class at all their places together.

    ``anywhere`` counts the records that show each value at least once, or the occurrences of each value where
    the file does not tie them to records. ``sets`` are as in ``PlaceContent``.
    """

    anywhere: Tally
    sets: Mapping[int, Sets] = field(default_factory=dict)


def add_sets(sets: dict[int, Sets], codes: set[int], attributes: int, times: int) -> None:
    """Add what one record, which occurs ``times`` times, shows: its joint codes, by attribute."""
    own: dict[int, list[int]] = {}
    for joint in codes:
        code, index = divmod(joint, attributes)
        own.setdefault(index, []).append(code)
    for index, found in own.items():
        known = sets.setdefault(index, {})
        shown = frozenset(found)
        known[shown] = known.get(shown, 0) + times
