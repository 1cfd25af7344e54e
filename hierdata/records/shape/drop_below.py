"""Drop rare items: ``drop_below: {path: ..., by: code, k: 5}``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from pydantic import Field

from hierdata.documents.document import Document, Value
from hierdata.domains.bounds import Count, Name
from hierdata.ground.escaping import quote
from hierdata.records.shape.base import Choose, ListStep, StatedProblem, StepContext, StepTally
from hierdata.records.shape.digests import digest_value
from hierdata.records.shape.places import ShapeNotation, field_at, lists_at


class DropBelow(ListStep):
    """Items stay whose value at least ``k`` individuals of the whole input have.

    The value is that of the field ``by``, or the item itself. An individual counts once for each value,
    however many items have it. A missing value is a value of its own.
    """

    kind: ClassVar[str] = "drop_below"

    k: Count = Field(description="the fewest individuals that have the value of an item")
    by: Name | None = Field(default=None, description="field of an item, by default the item itself")

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of fields that the step reads."""
        return () if self.by is None else (self.by,)

    @property
    def fewest_individuals(self) -> int:
        """The fewest individuals that must have a value."""
        return self.k

    @property
    def limitation(self) -> str:
        """A sentence on what the step does not promise."""
        return (
            f"Items of {quote(self.path)} were used only if at least {self.k} individuals of the input have "
            "their value, those left out of the release included. This is no privacy model: whoever knows "
            "all of these individuals but one may learn that the last one has the value."
        )

    def choose(self, context: StepContext) -> Choose:
        """Return the function that keeps items with a frequent value."""
        by = self.field_keys(context, self.by)

        def keep(items: Sequence[Value], holder: Document, tally: StepTally) -> Sequence[Value]:
            values = [field_at(item, by) for item in items]
            if self.by is not None:
                tally.seen[self.by] += len(values) - values.count(None)
            return [
                item
                for item, value in zip(items, values, strict=True)
                if digest_value(value) in context.frequent
            ]

        return keep

    def values(self, document: Document, context: StepContext) -> set[bytes]:
        """Return the digests of the values that an individual has."""
        by = self.field_keys(context, self.by)
        return {
            digest_value(field_at(item, by))
            for _, items in lists_at(document, context.notation.read(self.path))
            for item in items or ()
        }

    def describe(self) -> str:
        """Return one sentence for the readers of the release."""
        value = "" if self.by is None else f" in {quote(self.by)}"
        return (
            f"Items of {quote(self.path)} whose value{value} fewer than {self.k} individuals of the input "
            "have were not used."
        )

    def problems(self, notation: ShapeNotation) -> Iterator[StatedProblem]:
        """Yield what is wrong with the parameters."""
        yield from super().problems(notation)
        if self.by is not None:
            notation.read_field(self.path, self.by)
