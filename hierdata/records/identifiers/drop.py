"""Leave a field out: ``action: drop``."""

from __future__ import annotations

from typing import ClassVar

from hierdata.records.identifiers.base import Action
from hierdata.records.schema import Role


class Drop(Action):
    """The field is not published."""

    kind: ClassVar[str] = "drop"
    drops: ClassVar[bool] = True

    def published_as(self, role: str) -> Role | None:
        """Return None."""
        return None
