"""At most so many items: ``cap: {path: ..., n: 20}``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from hierdata.documents.document import Document, Value
from hierdata.domains.bounds import Count
from hierdata.ground.escaping import quote
from hierdata.records.shape.base import Choose, ListStep, StepContext, StepTally


class Cap(ListStep):
    """Each list keeps its first ``n`` items, in the order of the input."""

    kind: ClassVar[str] = "cap"

    n: Count = Field(description="the most items of a list")

    def choose(self, context: StepContext) -> Choose:
        """Return the function that keeps the first items."""

        def first(items: Sequence[Value], holder: Document, tally: StepTally) -> Sequence[Value]:
            return items[: self.n]

        return first

    def describe(self) -> str:
        """Return one sentence for the readers of the release."""
        return (
            f"Of each list {quote(self.path)} at most {self.n} items were used, the first ones of the input."
        )
