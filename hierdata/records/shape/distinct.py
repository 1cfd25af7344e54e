"""Equal items once: ``distinct: {path: ..., fields: [code], count: times}``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from hierdata.documents.document import Document, Value
from hierdata.domains.bounds import MOST_PARTS, Name
from hierdata.ground.escaping import quote
from hierdata.records.shape.base import Choose, ListStep, StatedProblem, StepContext, StepTally
from hierdata.records.shape.digests import digest_value
from hierdata.records.shape.places import ShapeNotation, field_at
from hierdata.records.shape.tables import ShapedTables, add_column

NO_OBJECT = "an item is not an object, so that `count` has no place in it"
TAKEN = "an item has the field of `count` already"


class Distinct(ListStep):
    """Of the items of a list that agree in ``fields`` one stays, the first by its content.

    Without ``fields`` items are equal as a whole. ``count`` is a new field of the item that stays: how many
    items it stands for. Which item stays does not depend on their order.
    """

    kind: ClassVar[str] = "distinct"

    fields: Annotated[tuple[Name, ...], Field(max_length=MOST_PARTS)] = Field(
        default=(), description="fields of an item that are compared, by default all that it holds"
    )
    count: Name | None = Field(default=None, description="a new field for the number of equal items")

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of fields that the step reads."""
        return self.fields

    def choose(self, context: StepContext) -> Choose:
        """Return the function that keeps one of equal items."""
        compared = [(name, self.field_keys(context, name)) for name in self.fields]
        count = None if self.count is None else self.field_keys(context, self.count)[0]

        def differ(items: Sequence[Value], holder: Document, tally: StepTally) -> Sequence[Value] | None:
            found: dict[bytes, list[tuple[bytes, int]]] = {}
            for place, item in enumerate(items):
                content = digest_value(item)
                values = [(name, field_at(item, keys)) for name, keys in compared]
                tally.seen.update(name for name, value in values if value is not None)
                equal = b"".join(digest_value(value) for _, value in values) or content
                found.setdefault(equal, []).append((content, place))
            chosen = {min(own)[1]: len(own) for own in found.values()}
            if count is not None and not _can_count(items, chosen, count, tally):
                return None
            return [
                _add_count(items[place], count, chosen[place], context.notation) for place in sorted(chosen)
            ]

        return differ

    def describe(self) -> str:
        """Return one sentence for the readers of the release."""
        by = f" that agree in {', '.join(map(quote, self.fields))}" if self.fields else " that are equal"
        told = "" if self.count is None else f"; {quote(self.count)} is how many there were"
        return f"Of the items of each list {quote(self.path)}{by} one was used{told}."

    def change_tables(self, tables: ShapedTables, notation: ShapeNotation) -> ShapedTables:
        """Return the tables that hold the records after the step: `count` is a new column."""
        if self.count is None:
            return tables
        return add_column(tables, notation.read(self.path), notation.read_field(self.path, self.count)[0])

    def problems(self, notation: ShapeNotation) -> Iterator[StatedProblem]:
        """Yield what is wrong with the parameters."""
        yield from super().problems(notation)
        for name in self.fields:
            notation.read_field(self.path, name)
        if self.count is not None and len(notation.read_field(self.path, self.count)) != 1:
            yield "count", f"{self.count} must be the name of one new field of the item"


def _can_count(items: Sequence[Value], chosen: dict[int, int], count: str, tally: StepTally) -> bool:
    """Return whether each item that stays has a place for the count."""
    strangers = sum(not isinstance(items[place], dict) for place in chosen)
    taken = sum(isinstance(item := items[place], dict) and count in item for place in chosen)
    tally.misfits.update({NO_OBJECT: strangers, TAKEN: taken})
    return not strangers and not taken


def _add_count(item: Value, count: str | None, times: int, notation: ShapeNotation) -> Value:
    """Return an item with the number of items that it stands for."""
    if count is None:
        return item
    assert isinstance(item, dict)
    return {**item, count: notation.write_value(times, count)}
