"""What the judgements of a draft see of a field, and what they answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hierdata.drafting.fields import Field
from hierdata.drafting.values import Looks

K = 5
"""The k of a draft."""
FEW = 50
"""Maximum number of distinct values of a category that a person can review."""
ENOUGH = 20
"""Minimum number of records for which unique values are significant."""
_NEARLY_ALL = 0.9
_FEWEST = 10
"""With fewer different values, values that occur once say nothing."""


@dataclass(frozen=True)
class Proposal:
    """The rule for a field in the form of a policy, and the reason; ``confirm`` is the user's decision."""

    rule: dict[str, Any]
    reason: str
    confirm: str = ""

    @property
    def role(self) -> str:
        """The role; ``derived``, ``map`` or ``drop`` if there is none."""
        without = next((key for key in ("derived", "map") if key in self.rule), "drop")
        return str(self.rule.get("role", without))

    @property
    def is_published(self) -> bool:
        """Whether the field is in a release."""
        return self.role in ("quasi", "sensitive", "insensitive")


@dataclass(frozen=True)
class FieldFacts:
    """A field with the properties that the judgements use."""

    field: Field
    records: int
    textual: bool
    looks: Looks
    distinct: int
    unique: float
    """Share of the field's values that occur only once."""
    owned: float
    """Share of the values that only one record has, each counted once for each record that has it."""

    @property
    def present(self) -> int:
        """The number of values."""
        return 0 if self.field.attribute is None else self.field.attribute.present

    @property
    def hint(self) -> str | None:
        """The hint of the name."""
        return None if self.field.hint is None else self.field.hint[0]

    @property
    def is_listed(self) -> bool:
        """Whether a schema lists the values: numbers that are listed are categories."""
        return self.field.stated is not None and self.field.stated.choices is not None

    @property
    def word(self) -> str:
        """The word of the name that gives the hint."""
        return "" if self.field.hint is None else self.field.hint[1]

    @property
    def outer(self) -> str | None:
        """The hint of the nearest ancestor's name with one, if its own name has none."""
        return None if self.field.outer_hint is None else self.field.outer_hint[0]

    @property
    def by_outer_name(self) -> str:
        """The reason for a proposal by that name."""
        hint = self.field.outer_hint
        return "" if hint is None else f"the name around it says so ({hint[1]})"

    @property
    def by_name(self) -> str:
        """The reason for a proposal by the name."""
        return f"its name says so ({self.word})" if self.word else ""

    @property
    def nearly_unique(self) -> bool:
        """Whether hardly any value occurs twice."""
        return self.unique >= _NEARLY_ALL

    @property
    def is_telling(self) -> bool:
        """Whether knowing a value often identifies the record: half of the values occur once."""
        return self.distinct >= _FEWEST and 2 * self.unique >= 1

    @property
    def belongs_to_one(self) -> bool:
        """Whether nearly every value belongs to one record, though a record may have several."""
        return self.records >= ENOUGH and self.distinct >= ENOUGH and self.owned >= _NEARLY_ALL
