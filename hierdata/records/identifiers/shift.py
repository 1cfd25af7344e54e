"""Move all dates of a record by one number of days: ``action: {shift: {days: 30}}``."""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from hierdata.documents.document import Scalar
from hierdata.documents.scalars.days import spell_day
from hierdata.domains.base import Uncovered
from hierdata.domains.date import parse_day
from hierdata.records.identifiers.base import Action, DateShift, RefusedValueError, Replace
from hierdata.records.identifiers.key import Key
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


class Shift(Action):
    """All dates of a record are shifted by the same number of days, up to ``days`` back or forward.

    So the intervals between the dates of a record are preserved. The key derives the number from the content
    of the record, or from the value ``by`` (a person's id, so that all records of a person are shifted
    alike). Time of day and time zone stay as written. A year or month alone cannot be shifted by days: it is
    refused, or dropped with ``partial: drop``. A shifted date is still a quasi-identifier or sensitive: one
    true date that an adversary knows reveals the others.
    """

    kind: ClassVar[str] = "shift"
    roles: ClassVar[tuple[str, ...]] = ("quasi", "sensitive")
    keyed: ClassVar[bool] = True

    days: Annotated[int, Field(strict=True, ge=1, le=36500)] = Field(
        description="the most days by which a date is moved"
    )
    by: Annotated[str, Field(min_length=1)] | None = Field(
        default=None,
        description="the field of the record that determines the shift, by default all its content",
    )
    partial: Literal["refuse", "drop"] = Field(
        default="refuse", description="what happens to a year or month alone"
    )

    def published_as(self, role: str) -> Role | None:
        """Return the field's own role."""
        return Role(role)

    def date_shift(self) -> DateShift:
        """Return how far dates are moved, and what determines it."""
        return DateShift(self.days, self.by)

    def offsets(self, key: Key) -> Callable[[str], int]:
        """Return the function from a record's identifying text to the days by which its dates are moved.

        All numbers between the limits are equally likely.
        """
        own, numbers = key.derive_key("shift", "days"), 2 * self.days + 1

        def offset(identity: str) -> int:
            text = identity.encode("utf-8", "surrogatepass")
            return int.from_bytes(hmac.digest(own, text, "sha256")) % numbers - self.days

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
            moved = _shift_date(value, days)
            if moved is None:
                raise RefusedValueError(_NO_DATE)
            return type(value)(moved)  # typed text keeps its type

        return replace_value

    def describe(self, role: str) -> str:
        """Return the description for the report."""
        return f"moved by days; {role}"


def _shift_date(value: str, days: int) -> str | None:
    """Return the text with its date moved, in the same format; None if it is not a date."""
    written = _WRITTEN.fullmatch(value)
    try:
        day = parse_day(value) + days
    except Uncovered:
        return None
    if written is None:
        return None
    text, rest = written.groups()
    moved = spell_day(day)
    return (moved if "-" in text else moved.replace("-", "")) + rest
