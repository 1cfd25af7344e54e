"""Move all dates of a record by one number of days: ``action: {shift: {days: 30}}``."""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from hierdata.documents.document import Scalar
from hierdata.documents.scalars.days import spelled
from hierdata.domains.base import Uncovered
from hierdata.domains.date import named_day
from hierdata.records.identifiers.base import Action, DateShift, RefusedError, Replace
from hierdata.records.identifiers.key import Key
from hierdata.records.schema import Role

_NO_DATE = (
    "the value is no ISO date such as 2001-03-04, and only dates are moved: list the spellings that mean no "
    "value under `missing`"
)
_NO_DAY = (
    "a year or a month alone cannot be moved by days: say `partial: drop`, or generalize it without a shift"
)
_PARTIAL = re.compile(r"[0-9]{4}(?:-?[0-9]{2})?")
_WRITTEN = re.compile(r"((?:[0-9]{4}|[+-][0-9]{6,9})-[0-9]{2}-[0-9]{2}|[0-9]{8})(.*)", re.DOTALL)


class Shift(Action):
    """A date becomes one that lies up to ``days`` days before or after it, the same number for a record.

    So the days between two dates of a record stay what they are. The number is drawn by the key from what
    the record holds, or from the value ``by`` (a person's id, so that all records of a person are moved
    alike). A time of day and a time zone stay as they are written. A year or a month alone cannot be moved by
    days: it is refused, or dropped where ``partial`` says so. What is moved is still a quasi-identifier or
    sensitive: one true date that somebody knows tells the others.
    """

    kind: ClassVar[str] = "shift"
    roles: ClassVar[tuple[str, ...]] = ("quasi", "sensitive")
    keyed: ClassVar[bool] = True

    days: Annotated[int, Field(strict=True, ge=1, le=36500)] = Field(
        description="how many days a date is moved at most"
    )
    by: Annotated[str, Field(min_length=1)] | None = Field(
        default=None, description="the field of the record whose value decides, else all that it holds"
    )
    partial: Literal["refuse", "drop"] = Field(
        default="refuse", description="what becomes of a year or a month alone"
    )

    def published_as(self, role: str) -> Role | None:
        """What it was."""
        return Role(role)

    def date_shift(self) -> DateShift:
        """How far dates are moved, and by what."""
        return DateShift(self.days, self.by)

    def offsets(self, key: Key) -> Callable[[str], int]:
        """The days by which a record's dates are moved, from the text that tells records apart.

        Each number between the limits is as likely as any other.
        """
        own, numbers = key.derived("shift", "days"), 2 * self.days + 1

        def offset(identity: str) -> int:
            text = identity.encode("utf-8", "surrogatepass")
            return int.from_bytes(hmac.digest(own, text, "sha256")) % numbers - self.days

        return offset

    def replace(self, path: str, key: Key | None) -> Replace | None:
        """The date, moved."""

        def replaced(value: Scalar, days: int) -> Scalar:
            if not isinstance(value, str):
                raise RefusedError(_NO_DATE)
            if _PARTIAL.fullmatch(value):
                if self.partial == "drop":
                    return None
                raise RefusedError(_NO_DAY)
            moved = _moved(value, days)
            if moved is None:
                raise RefusedError(_NO_DATE)
            return type(value)(moved)  # a text that knows its type keeps it

        return replaced

    def describe(self, role: str) -> str:
        """What it was, with other dates."""
        return f"moved by days; {role}"


def _moved(value: str, days: int) -> str | None:
    """The text with its date moved, spelled as it was; None where it is none."""
    written = _WRITTEN.fullmatch(value)
    try:
        day = named_day(value) + days
    except Uncovered:
        return None
    if written is None:
        return None
    text, rest = written.groups()
    moved = spelled(day)
    return (moved if "-" in text else moved.replace("-", "")) + rest
