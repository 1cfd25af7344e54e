"""Move all dates of a record by one number of days: ``action: {shift: {days: 30}}``."""

from __future__ import annotations

import hmac
import re
from datetime import date
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from hierdata.document import Scalar
from hierdata.identifiers.base import Action, RefusedError, Replace
from hierdata.identifiers.key import Key
from hierdata.records.schema import Role

_DATE = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"((?:[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]{1,9})?)?)?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?)"
)
_NO_DATE = (
    "the value is no ISO date such as 2001-03-04, or leaves the years 1 to 9999: list the spellings that "
    "mean no value under `missing`"
)
_PARTIAL = re.compile(r"[0-9]{4}(?:-[0-9]{2})?")


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

    def offset(self, key: Key, identity: str) -> int:
        """The days by which a record's dates are moved: each number between the limits as likely as any.

        ``identity`` tells records apart.
        """
        text = identity.encode("utf-8", "surrogatepass")
        drawn = int.from_bytes(hmac.digest(key.derived("shift", "days"), text, "sha256"))
        return drawn % (2 * self.days + 1) - self.days

    def replace(self, path: str, key: Key | None) -> Replace | None:
        """The date, moved."""

        def replaced(value: Scalar, days: int) -> Scalar:
            if not isinstance(value, str):
                raise RefusedError(_NO_DATE)
            text = str.__str__(value)
            if _PARTIAL.fullmatch(text):
                if self.partial == "drop":
                    return None
                raise RefusedError(
                    "a year or a month alone cannot be moved by days: say `partial: drop`, or generalize it "
                    "without a shift"
                )
            moved = _moved(text, days)
            if moved is None:
                raise RefusedError(_NO_DATE)
            return type(value)(moved)  # a text that knows its type keeps it

        return replaced


def _moved(text: str, days: int) -> str | None:
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    try:
        ordinal = date(int(match[1]), int(match[2]), int(match[3])).toordinal() + days
        return date.fromordinal(ordinal).isoformat() + match[4]
    except (ValueError, OverflowError):
        return None
