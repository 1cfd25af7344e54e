"""Actions: they replace the values of a field before anything else sees them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from hierdata.documents.document import Scalar
from hierdata.domains.base import Uncovered
from hierdata.domains.number import exact, plain
from hierdata.ground.secrets import Key
from hierdata.records.schema import Role

Replace: TypeAlias = "Callable[[Scalar, int], Scalar]"
"""Maps a value that is not missing, and the days by which its record's dates are moved, to its replacement.

Raises RefusedValueError.
"""

DAYS_OF_WEEK = 7


class RefusedValueError(Exception):
    """A value cannot be replaced; the message says why and does not quote it."""


@dataclass(frozen=True)
class PseudonymSpec:
    """The pseudonyms of a field: hexadecimal digits, equal for equal values of one ``domain``.

    ``links`` is the reason why one may occur in more than one record, None if it must not. In a domain with a
    field that ``is_identity``, the others are references to the vertices that it identifies; one whose target
    is not published is dropped, unless the field ``keeps_references``. One that ``keeps_form`` looks like its
    value.
    """

    domain: str
    length: int
    links: str | None
    is_identity: bool = False
    keeps_references: bool = False
    keeps_form: bool = False


@dataclass(frozen=True)
class DateShift:
    """How dates are moved: by up to ``days`` days, alike for records with the same value at the path ``by``.

    If ``by`` is None, the whole content of a record decides. Dates move by whole weeks; ``weekdays`` is the
    reason why they may move by days instead. ``time`` is the reason why the time of day stays, None if it is
    dropped.
    """

    days: int
    by: str | None
    weekdays: str | None = None
    time: str | None = None

    @property
    def step(self) -> int:
        """The days of the smallest move: 7, or 1."""
        return DAYS_OF_WEEK if self.weekdays is None else 1

    @property
    def moves(self) -> int:
        """How many moves of a date are possible, to not move it included; all are equally likely."""
        return 2 * (self.days // self.step) + 1


class Action(BaseModel, ABC):
    """What happens to the values of a field. Each member has its own file and its key in the policy.

    ``roles`` are those that a field may have; ``keyed`` says that a key is needed. An action that ``drops``
    leaves the field out; one that ``makes_constant`` replaces every value by the same text. With
    ``takes_exempt`` the rule may say under ``exempt`` why the absence of a value cannot identify anybody.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    kind: ClassVar[str]
    roles: ClassVar[tuple[str, ...]] = ("quasi", "sensitive", "insensitive", "identifier", "free_text")
    keyed: ClassVar[bool] = False
    drops: ClassVar[bool] = False
    makes_constant: ClassVar[bool] = False
    takes_exempt: ClassVar[bool] = False

    @abstractmethod
    def published_as(self, role: str) -> Role | None:
        """Return the role of a field in the published records, None if it is not published."""

    def replace(self, path: str, key: Key | None) -> Replace | None:
        """Return the replacement function, None if values stay unchanged. A keyed action is given a key."""
        return None

    def pattern(self, role: str) -> str | None:
        """Return the regular expression that all published values of a role match, None if any may occur."""
        return None

    def tokens(self, path: str) -> PseudonymSpec | None:
        """Return the pseudonyms that replace the values of a field, None for other actions."""
        return None

    def reading(self, formats: tuple[str, ...], missing: Literal["impossible"] | None) -> Action:
        """Return this action on values as the field's date domain reads them; most stay as they are."""
        return self

    def date_shift(self) -> DateShift | None:
        """Return how dates are moved, None if they are not."""
        return None

    def form_of(self, value: Scalar) -> str:
        """Name the form in which a replacement is written, where values of one field may differ in it."""
        return ""

    def in_one_form(self, value: Scalar) -> Scalar:
        """Return a replacement in the form that all values have if those of a field differ in it."""
        return value

    def offsets(self, key: Key) -> Callable[[str], int] | None:
        """Return the function from a record's identifying text to the days by which its dates are moved."""
        return None

    def describe(self, role: str) -> str:
        """Describe what is published of a field, for the report; ``role`` is its role in the promise."""
        return role


def text_of(value: Scalar) -> str:
    """Return the text by which values are compared: 5, "5" and 5.0 are equal (CSV has only text).

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
