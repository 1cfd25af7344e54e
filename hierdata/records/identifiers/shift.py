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
from hierdata.domains.date import MIDNIGHT, DateFormats
from hierdata.domains.date_formats import ISO, NoSuchDay, check_formats, find_format, format_of
from hierdata.ground.secrets import Key
from hierdata.records.identifiers.base import DAYS_OF_WEEK, Action, DateShift, RefusedValueError, Replace
from hierdata.records.schema import Role

_NO_DATE = (
    "the value is not an ISO date such as 2001-03-04, and only dates can be shifted: state the form of "
    "others under `format`, such as '%d.%m.%Y', and list the spellings of a missing value under `missing`"
)
_NO_FORM = (
    "the value has none of the forms under `format`, and only dates can be shifted: state its form, or list "
    "the spellings of a missing value under `missing`"
)
_NO_SUCH_DAY = "the calendar does not have this day: with `missing: impossible` such values are missing"
_UNWRITABLE = (
    "the moved date cannot be written in the form of the value, which has no such year: state fewer days, or "
    "generalize it without a shift"
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
    alone cannot be shifted: it is refused, or dropped with ``partial: drop``. Dates are ISO text or have one
    of the forms under ``format``; a moved date has the form of its value, with the time of midnight where the
    form asks for one. If the values of a field have several forms, all are written in the first that names a
    day. A shifted date is still a quasi-identifier or sensitive: one true date that an adversary knows
    reveals the others.
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
    format: DateFormats = Field(
        default=(), description="how dates are written, as in a date domain, which states it for both"
    )
    missing: Literal["impossible"] | None = Field(
        default=None, description="impossible: dates that the calendar does not have are missing"
    )

    @model_validator(mode="after")
    def _a_week(self) -> Shift:
        if self.unit == "week" and self.days < DAYS_OF_WEEK:
            raise ValueError(
                "dates move by whole weeks: days must be at least 7, or say why they may move by days, "
                "`unit: {day: reason}`"
            )
        check_formats(self.format)
        if self.format and self._day_format is None:
            raise ValueError("at least one format must name a day: a year or month alone cannot be shifted")
        return self

    @property
    def _day_format(self) -> str | None:
        """The first format that names a day."""
        return next((name for name in self.format if name == ISO or format_of(name).precision > 2), None)

    def reading(self, formats: tuple[str, ...], missing: Literal["impossible"] | None) -> Shift:
        """Return this shift, of values in the forms that the field's date domain states."""
        stated = (self.format or formats, self.missing or missing)
        if stated == (self.format, self.missing):
            return self
        return self.model_copy(update=dict(zip(("format", "missing"), stated, strict=True)))

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
        derived, shift = key.derive_key("shift", "days"), self.date_shift()

        def offset(identity: str) -> int:
            text = identity.encode("utf-8", "surrogatepass")
            drawn = int.from_bytes(hmac.digest(derived, text, "sha256")) % shift.moves
            return (drawn - shift.moves // 2) * shift.step

        return offset

    def replace(self, path: str, key: Key | None) -> Replace | None:
        """Return the function that moves a date."""

        def replace_value(value: Scalar, days: int) -> Scalar:
            refused, read = _NO_FORM if self.format else _NO_DATE, None
            try:
                read = find_format(value, self.format)
            except NoSuchDay:
                if self.missing is not None:
                    return None
                refused = _NO_SUCH_DAY
            except Uncovered:
                pass
            if self._is_partial(value, read):
                if self.partial == "drop":
                    return None
                raise RefusedValueError(_NO_DAY)
            if read is None:
                raise RefusedValueError(refused)
            name, (day, _) = read
            timed = self.time != "drop"
            if name == ISO:
                moved: Scalar = _shift_date(value, day + days, timed=timed)
            else:
                moved = _write_day(value, name, day + days, timed=timed)
            if moved is None:
                raise RefusedValueError(_UNWRITABLE)
            return moved

        return replace_value

    def _is_partial(self, value: Scalar, read: tuple[str, tuple[int, int]] | None) -> bool:
        """Whether a value is a year or a month."""
        if read is not None:
            return read[1][0] != read[1][1]
        iso = not self.format or ISO in self.format
        return iso and isinstance(value, str) and _PARTIAL.fullmatch(value) is not None

    def form_of(self, value: Scalar) -> str:
        """Name the type and format of a moved date. A field with the time of day is published as written."""
        if value is None or self.time != "drop":
            return ""
        name = type(value).__name__
        return f"{name} {find_format(value, self.format)[0]}" if self.format else name

    def in_one_form(self, value: Scalar) -> Scalar:
        """Return a moved date as text in the first format that names a day, else in that of ISO."""
        if value is None:
            return None
        name, (day, _) = find_format(value, self.format)
        if self._day_format in (None, ISO):
            return spell_day(day)
        text = _write_day("", self._day_format or name, day, timed=False)
        if text is None:
            raise RefusedValueError(_UNWRITABLE)
        return text

    def pattern(self, role: str) -> str | None:
        """Return the pattern of days without a time of day; None if it stays, or a domain has the labels."""
        if self.time != "drop" or role != "sensitive":
            return None
        days = (format_of(name) for name in self.format if name != ISO)
        return "|".join((_TIMELESS, *(form.days_pattern for form in days if form.precision > 2)))

    def describe(self, role: str) -> str:
        """Return the description for the report."""
        unit = "whole weeks" if self.unit == "week" else "days"
        return f"moved by {unit}, {'without' if self.time == 'drop' else 'with'} the time of day; {role}"


def _shift_date(value: Scalar, day: int, *, timed: bool) -> str | None:
    """Return an ISO text with another day, in the same type; None if it is not written like a date.

    With the time of day it has the same format too, else that of ISO dates.
    """
    written = _WRITTEN.fullmatch(value) if isinstance(value, str) else None
    if written is None:
        return None
    text, rest = written.groups()
    moved = spell_day(day)
    if not timed:
        rest = MIDNIGHT.get(type(value), "")
    elif "-" not in text and moved[0] not in "+-":
        moved = moved.replace("-", "")
    return type(written.string)(moved + rest)  # typed text keeps its type


def _write_day(value: Scalar, name: str, day: int, *, timed: bool) -> str | int | None:
    """Return a day in the format and type of a value; None if the format cannot write it."""
    form = format_of(name)
    text = str(value)
    written = form.write(day, form.times_of(text)) if timed else form.write(day)
    if written is None or type(value) is not int:
        return written
    return int(written) if str(int(written)) == written else None
