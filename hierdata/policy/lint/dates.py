"""Moved dates: what the policy lets a release tell about by how much they were moved, and whose they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hierdata.records.survey import Keys

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy

_FEW = 9
"""With fewer moves than this, the true date is guessed too easily."""


def moved_dates(policy: Policy) -> Iterator[tuple[Keys, str]]:
    """Yield what is doubtful about each field with moved dates."""
    for keys, shift in policy.date_shifts.items():
        if shift.weekdays is not None:
            yield keys, "dates move by days: the weekdays of a record with many dates tell the move modulo 7"
        elif shift.moves < _FEW:
            yield (
                keys,
                f"only {shift.moves} moves are possible, and not to move is one of them: state more days",
            )
        if shift.time is not None:
            yield keys, "the time of day is published as it is written: it identifies almost like a name"
