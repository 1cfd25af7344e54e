"""How many items a record has: ``count: {path: $.visits[*], to: $.visits_count, bins: [1, 2, 5]}``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, ClassVar

from pydantic import Field, field_validator

from hierdata.documents.document import Document
from hierdata.domains.bounds import MOST_PARTS, Count, PathName
from hierdata.domains.count_bins import label_count
from hierdata.ground.escaping import quote
from hierdata.records.shape.base import ChangeDocument, ShapeStep, StatedProblem, StepContext, StepTally
from hierdata.records.shape.places import NOT_A_LIST, ShapeNotation, lists_at
from hierdata.records.shape.tables import ShapedTables, add_column

TAKEN = "the record has the field of `to` already"
UNORDERED = "the edges must increase"


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
                tally.misfits[TAKEN] += 1
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
            told = number if self.bins is None else label_count(number, self.bins)
            document[name] = notation.write_value(told, name)

        return change

    def describe(self) -> str:
        """Return one sentence for the readers of the release."""
        what = "the number" if self.bins is None else "the bin of the number"
        return f"{quote(self.to)} is {what} of items that a record has at {quote(self.path)}."

    def change_tables(self, tables: ShapedTables, notation: ShapeNotation) -> ShapedTables:
        """Return the tables that hold the records after the step: the number is a new column of the root."""
        return add_column(tables, (), notation.read(self.to)[0])

    def problems(self, notation: ShapeNotation) -> Iterator[StatedProblem]:
        """Yield what is wrong with the parameters."""
        yield from super().problems(notation)
        if len(notation.read(self.to)) != 1:
            yield "to", f"{self.to} must be a new field directly in the record"
