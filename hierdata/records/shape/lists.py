"""Steps that make lists, shorten them or count their items.

- ``cap: {path: ..., n: 20}``: at most so many items.
- ``distinct: {path: ..., fields: [code], count: times}``: equal items once.
- ``drop_below: {path: ..., by: code, k: 5}``: rare items are left out.
- ``listed: $.codes``: a single value is a list of one.
- ``count: {path: $.visits[*], to: $.visits_count, bins: [1, 2, 5]}``: how many items a record has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Annotated, Any, ClassVar

from pydantic import Field, GetJsonSchemaHandler, field_validator, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from hierdata.documents.document import Document, Value, field_at
from hierdata.domains.bins import label_count
from hierdata.domains.bounds import MOST_PARTS, Count, Name, PathName
from hierdata.ground.escaping import quote
from hierdata.records.shape.base import (
    ChangeDocument,
    Choose,
    ListStep,
    ShapeStep,
    StatedProblem,
    StepContext,
    StepTally,
)
from hierdata.records.shape.places import (
    NOT_A_LIST,
    ShapeNotation,
    digest_value,
    lists_at,
    objects_at,
)
from hierdata.records.shape.tables import ShapedTables, add_column

NO_OBJECT = "an item is not an object, so that `count` has no place in it"
ITEM_HAS_FIELD = "an item has the field of `count` already"
RECORD_HAS_FIELD = "the record has the field of `to` already"
UNORDERED = "the edges must increase"


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
            by_content: dict[bytes, list[tuple[bytes, int]]] = {}
            for position, item in enumerate(items):
                content = digest_value(item)
                values = [(name, field_at(item, keys)) for name, keys in compared]
                tally.with_value.update(name for name, value in values if value is not None)
                equal = b"".join(digest_value(value) for _, value in values) or content
                by_content.setdefault(equal, []).append((content, position))
            chosen = {min(copies)[1]: len(copies) for copies in by_content.values()}
            if count is not None and not _can_count(items, chosen, count, tally):
                return None
            return [
                _add_count(items[position], count, times, context.notation)
                for position, times in sorted(chosen.items())
            ]

        return differ

    def describe(self) -> str:
        """Return one sentence for the readers of the release."""
        by = f" that agree in {', '.join(map(quote, self.fields))}" if self.fields else " that are equal"
        counted = "" if self.count is None else f"; {quote(self.count)} is how many there were"
        return f"Of the items of each list {quote(self.path)}{by} one was used{counted}."

    def change_tables(self, tables: ShapedTables, notation: ShapeNotation) -> ShapedTables:
        """Return the tables that hold the records after the step: `count` is a new column."""
        if self.count is None:
            return tables
        return add_column(tables, notation.read(self.path), notation.read_field(self.path, self.count)[0])

    def problems(self, notation: ShapeNotation) -> Iterator[StatedProblem]:
        """Yield what is wrong with the parameters."""
        yield from super().problems(notation)
        if self.count is not None and len(notation.read_field(self.path, self.count)) != 1:
            yield "count", f"{self.count} must be the name of one new field of the item"


def _can_count(items: Sequence[Value], chosen: dict[int, int], count: str, tally: StepTally) -> bool:
    """Return whether each item that stays has a place for the count."""
    strangers = sum(not isinstance(items[position], dict) for position in chosen)
    taken = sum(isinstance(item := items[position], dict) and count in item for position in chosen)
    tally.misfits.update({NO_OBJECT: strangers, ITEM_HAS_FIELD: taken})
    return not strangers and not taken


def _add_count(item: Value, count: str | None, times: int, notation: ShapeNotation) -> Value:
    """Return an item with the number of items that it stands for."""
    if count is None:
        return item
    assert isinstance(item, dict)
    return {**item, count: notation.write_value(times, count)}


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
                tally.with_value[self.by] += len(values) - values.count(None)
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


class Listed(ShapeStep):
    """A single value or object at ``path`` becomes a list of one, where other records have lists."""

    kind: ClassVar[str] = "listed"
    changes_lists: ClassVar[bool] = False

    path: PathName = Field(description="path of the field that is a list in some records only")

    @model_validator(mode="before")
    @classmethod
    def _from_path(cls, spec: Any) -> Any:
        return {"path": spec} if isinstance(spec, str) else spec

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Allow the path alone in a policy."""
        return {"anyOf": [{"type": "string", "maxLength": 2000, "description": "the path"}, handler(core)]}

    @property
    def source(self) -> str:
        """The path of the list that is read."""
        return self.path

    def bind(self, context: StepContext) -> ChangeDocument:
        """Return the function that puts single values into lists."""
        keys = context.notation.read(self.path)

        def change(document: Document, tally: StepTally) -> None:
            for holder in objects_at(document, keys[:-1]):
                value = holder.get(keys[-1])
                if value is None:
                    continue
                if not isinstance(value, list):
                    value = holder[keys[-1]] = context.notation.make_list([value])
                tally.lists += 1
                tally.before += len(value)
                tally.after += len(value)

        return change

    def describe(self) -> str:
        """Return one sentence for the readers of the release."""
        return f"A single value at {quote(self.path)} was read as a list of one."


class CountItems(ShapeStep):
    """The number of items of all lists at ``path`` is a new field of the record, at ``to``.

    With ``bins``, the edges of bins, it is the bin: with 1, 2 and 5 one of ``0``, ``1``, ``[2, 4]`` and ``5
    or more``. The lists themselves stay as they are.
    """

    kind: ClassVar[str] = "count"
    changes_lists: ClassVar[bool] = False

    path: PathName = Field(description="path of the list")
    to: PathName = Field(description="path of the new field, directly in the record")
    bins: Annotated[tuple[Count, ...], Field(min_length=1, max_length=MOST_PARTS)] | None = Field(
        default=None, description="where bins begin, by default the number itself"
    )

    @field_validator("bins")
    @classmethod
    def _increase(cls, bins: tuple[int, ...] | None) -> tuple[int, ...] | None:
        if any(low >= high for low, high in pairwise(bins or ())):
            raise ValueError(UNORDERED)
        return bins

    @property
    def source(self) -> str:
        """The path of the list that is read."""
        return self.path

    @property
    def new_field(self) -> str:
        """The path of the new field."""
        return self.to

    def bind(self, context: StepContext) -> ChangeDocument:
        """Return the function that adds the field."""
        notation = context.notation
        keys, (name,) = notation.read(self.path), notation.read(self.to)

        def change(document: Document, tally: StepTally) -> None:
            if name in document:
                tally.misfits[RECORD_HAS_FIELD] += 1
                return
            number = 0
            for _, items in lists_at(document, keys):
                if items is None:
                    tally.misfits[NOT_A_LIST] += 1
                    return
                tally.lists += 1
                number += len(items)
            tally.before += number
            tally.after += number
            label = number if self.bins is None else label_count(number, self.bins)
            document[name] = notation.write_value(label, name)

        return change

    def describe(self) -> str:
        """Return one sentence for the readers of the release."""
        amount = "the number" if self.bins is None else "the bin of the number"
        return f"{quote(self.to)} is {amount} of items that a record has at {quote(self.path)}."

    def change_tables(self, tables: ShapedTables, notation: ShapeNotation) -> ShapedTables:
        """Return the tables that hold the records after the step: the number is a new column of the root."""
        return add_column(tables, (), notation.read(self.to)[0])

    def problems(self, notation: ShapeNotation) -> Iterator[StatedProblem]:
        """Yield what is wrong with the parameters."""
        yield from super().problems(notation)
        if len(notation.read(self.to)) != 1:
            yield "to", f"{self.to} must be a new field directly in the record"
