"""What an action is: it replaces the values of a field before anything else sees them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from pydantic import BaseModel, ConfigDict

from hierdata.documents.document import Scalar
from hierdata.domains.base import Uncovered
from hierdata.domains.number import exact, plain
from hierdata.records.identifiers.key import Key
from hierdata.records.schema import Role

Replace: TypeAlias = "Callable[[Scalar, int], Scalar]"
"""What stands for a value that is not missing, in a record whose dates are moved by so many days.

Raises RefusedError.
"""


class RefusedError(Exception):
    """A value cannot be replaced; the message says why and does not quote it."""


@dataclass(frozen=True)
class Tokens:
    """The pseudonyms of a field: hexadecimal digits, equal for equal values of one ``domain``.

    ``links`` gives the reason why one may stand in more than one record, None where it must not.
    """

    domain: str
    length: int
    links: str | None


@dataclass(frozen=True)
class DateShift:
    """How dates are moved: by up to ``days`` days, alike for records with one value at the path ``by``.

    Where ``by`` is None, all that a record holds decides.
    """

    days: int
    by: str | None


class Action(BaseModel, ABC):
    """What becomes of the values of a field. Members are one file each, under the key of the policy.

    ``roles`` are those that a field may have, ``keyed`` tells that a key is needed. An action that ``drops``
    leaves the field out; one that ``makes_constant`` puts the same text in the place of every value. With
    ``takes_exempt`` the rule may say under ``exempt`` why the absence of a value cannot identify anybody.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: ClassVar[str]
    roles: ClassVar[tuple[str, ...]] = ("quasi", "sensitive", "insensitive", "identifier", "free_text")
    keyed: ClassVar[bool] = False
    drops: ClassVar[bool] = False
    makes_constant: ClassVar[bool] = False
    takes_exempt: ClassVar[bool] = False

    @abstractmethod
    def published_as(self, role: str) -> Role | None:
        """What a field of a role is in the published records, None where it is not there."""

    def replace(self, path: str, key: Key | None) -> Replace | None:
        """How values are replaced, None where they stay as they are. A keyed action is given a key."""
        return None

    def pattern(self) -> str | None:
        """The regular expression that all published values match, None where any value may stand."""
        return None

    def tokens(self, path: str) -> Tokens | None:
        """The pseudonyms that replace the values of a field, None where nothing does."""
        return None

    def date_shift(self) -> DateShift | None:
        """How dates are moved, None where they are not."""
        return None

    def offsets(self, key: Key) -> Callable[[str], int] | None:
        """The days by which a record's dates are moved, from the text that tells records apart."""
        return None

    def describe(self, role: str) -> str:
        """What is published of a field, for the report; ``role`` says what it is for the promise."""
        return role


def text_of(value: Scalar) -> str:
    """The text by which values are the same: 5, "5" and 5.0 are one, since CSV and XML have text alone.

    >>> text_of(5), text_of("5"), text_of("05"), text_of(True)
    ('5', '5', '05', 'true')
    """
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        return plain(exact(value))
    except Uncovered:
        return str(value)
