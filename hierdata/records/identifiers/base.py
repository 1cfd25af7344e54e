"""What an action is: it replaces the values of a field before anything else sees them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
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


class Action(BaseModel, ABC):
    """What becomes of the values of a field. Members are one file each, under the key of the policy.

    ``roles`` are those that a field may have, ``keyed`` tells that a key is needed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: ClassVar[str]
    roles: ClassVar[tuple[str, ...]] = ("quasi", "sensitive", "insensitive", "identifier", "free_text")
    keyed: ClassVar[bool] = False

    @abstractmethod
    def published_as(self, role: str) -> Role | None:
        """What a field of a role is in the published records, None where it is not there."""

    def replace(self, path: str, key: Key | None) -> Replace | None:
        """How values are replaced, None where they stay as they are. A keyed action is given a key."""
        return None

    def pattern(self) -> str | None:
        """The regular expression that all published values match, None where any value may stand."""
        return None


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
