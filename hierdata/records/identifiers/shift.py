"""Move all dates of a record by one number of weeks: ``action: {shift: {days: 28}}``."""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hierdata.documents.days import spell_day
from hierdata.documents.document import Scalar
from hierdata.domains.base import Uncovered
from hierdata.domains.bounds import PathName, Reason
from hierdata.domains.date import MIDNIGHT
from hierdata.domains.date_formats import parse_day
from hierdata.records.identifiers.base import DAYS_OF_WEEK, Action, DateShift, Key, RefusedValueError, Replace
from hierdata.records.schema import Role

_NO_DATE = (
    "the value is not an ISO date such as 2001-03-04, and only dates can be shifted: list the spellings of a "
    "missing value under `missing`"
)
_NO_DAY = (
    "a year or month alone cannot be shifted by days: say `partial: drop`, or generalize it without a shift"
)
_PARTIAL = re.compile(r"[0-9]{4}(?:-?[0-9]{2})?")
_WRITTEN = re.compile(r"((?:[0-9]{4}|[+-][0-9]{6,9})-[0-9]{2}-[0-9]{2}|[0-9]{8})(.*)", re.DOTALL)
_TIMELESS = r"(?:[0-9]{4}|[+-][0-9]{6,9})-[0-9]{2}-[0-9]{2}(?:T00:00:00Z(?:,0)?)?"
"""What is published without the time of day: a day, in MongoDB's types midnight."""


class ByDay(BaseModel):
    """Dates move by days; the weekdays that the collection knows tell the shift modulo 7."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    day: Reason


class KeepTime(BaseModel):
    """The time of day and the time zone are published as they are written."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    keep: Reason


class Shift(Action):
    """All dates of a record are shifted by the same number of weeks, up to ``days`` back or forward.

    So the intervals between the dates of a record are preserved. The key derives the number from the content
    of the record, or from the value ``by`` (a person's id, so that all records of a person are shifted
    alike). A shift by days would be known modulo 7 to anyone who knows on which weekdays people come, so
    ``unit: {day: reason}`` must be chosen. Time of day, fractions and time zone are dropped: a time to the
    minute identifies a record like a name. ``time: {keep: reason}`` leaves them as written. A year or month
    alone cannot be shifted: it is refused, or dropped with ``partial: drop``. A shifted date is still a
    quasi-identifier or sensitive: one true date that an adversary knows reveals the others.
    """

    kind: ClassVar[str] = "shift"
    roles: ClassVar[tuple[str, ...]] = ("quasi", "sensitive")
    keyed: ClassVar[bool] = True

    days: Annotated[int, Field(strict=True, ge=1, le=36500)] = Field(
        description="the most days by which a date is moved"
    )
    unit: Literal["week"] | ByDay = Field(
        default="week", description="dates move by whole weeks, or by days for a reason"
    )
    time: Literal["drop"] | KeepTime = Field(
        default="drop", description="what happens to the time of day and the time zone; a reason to keep them"
    )
    by: Annotated[PathName, Field(min_length=1)] | None = Field(
        default=None,
        description="the field of the record that determines the shift, by default all its content",
    )
    partial: Literal["refuse", "drop"] = Field(
        default="refuse", description="what happens to a year or month alone"
    )

    @model_validator(mode="after")
    def _a_week(self) -> Shift:
        if self.unit == "week" and self.days < DAYS_OF_WEEK:
            raise ValueError(
                "dates move by whole weeks: days must be at least 7, or say why they may move by days, "
                "`unit: {day: reason}`"
            )
        return self

    def published_as(self, role: str) -> Role | None:
        """Return the field's own role."""
        return Role(role)

    def date_shift(self) -> DateShift:
        """Return how far dates are moved, and what determines it."""
        return DateShift(
            self.days,
            self.by,
            self.unit.day if isinstance(self.unit, ByDay) else None,
            self.time.keep if isinstance(self.time, KeepTime) else None,
        )

    def offsets(self, key: Key) -> Callable[[str], int]:
        """Return the function from a record's identifying text to the days by which its dates are moved.

        All multiples of the unit between the limits are equally likely.
        """
        own, shift = key.derive_key("shift", "days"), self.date_shift()

        def offset(identity: str) -> int:
            text = identity.encode("utf-8", "surrogatepass")
            drawn = int.from_bytes(hmac.digest(own, text, "sha256")) % shift.moves
            return (drawn - shift.moves // 2) * shift.step

        return offset

    def replace(self, path: str, key: Key | None) -> Replace | None:
        """Return the function that moves a date."""

        def replace_value(value: Scalar, days: int) -> Scalar:
            if not isinstance(value, str):
                raise RefusedValueError(_NO_DATE)
            if _PARTIAL.fullmatch(value):
                if self.partial == "drop":
                    return None
                raise RefusedValueError(_NO_DAY)
            moved = _shift_date(value, days, timed=self.time != "drop")
            if moved is None:
                raise RefusedValueError(_NO_DATE)
            return moved

        return replace_value

    def form_of(self, value: Scalar) -> str:
        """Name the form of a moved date: its type. A field with the time of day is published as written."""
        return "" if value is None or self.time != "drop" else type(value).__name__

    def in_one_form(self, value: Scalar) -> Scalar:
        """Return a moved date as ISO text."""
        return None if value is None else spell_day(parse_day(value))

    def pattern(self, role: str) -> str | None:
        """Return the pattern of days without a time of day; None if it stays, or a domain has the labels."""
        return _TIMELESS if self.time == "drop" and role == "sensitive" else None

    def describe(self, role: str) -> str:
        """Return the description for the report."""
        unit = "whole weeks" if self.unit == "week" else "days"
        return f"moved by {unit}, {'without' if self.time == 'drop' else 'with'} the time of day; {role}"


def _shift_date(value: str, days: int, *, timed: bool) -> str | None:
    """Return the text with its date moved, in the same type; None if it is not a date.

    With the time of day it has the same format too, else that of ISO dates.
    """
    written = _WRITTEN.fullmatch(value)
    try:
        day = parse_day(value) + days
    except Uncovered:
        return None
    if written is None:
        return None
    text, rest = written.groups()
    moved = spell_day(day)
    if not timed:
        rest = MIDNIGHT.get(type(value), "")
    elif "-" not in text and moved[0] not in "+-":
        moved = moved.replace("-", "")
    return type(value)(moved + rest)  # typed text keeps its type
