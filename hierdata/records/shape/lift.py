"""A nested list becomes one of an ancestor: ``lift: {from: $.visits[*].codes, to: $.codes}``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import ConfigDict, Field, field_validator

from hierdata.documents.document import Document, Value, field_at
from hierdata.domains.bounds import MOST_PARTS, Name, PathName
from hierdata.ground.errors import PolicyError
from hierdata.ground.escaping import quote
from hierdata.records.shape.base import ChangeDocument, ShapeStep, StatedProblem, StepContext, StepTally
from hierdata.records.shape.places import (
    NOT_A_LIST,
    ShapeNotation,
    children_of,
    is_scalar,
    objects_at,
    scalar_of,
)
from hierdata.records.shape.tables import ShapedTables, lift_table
from hierdata.records.survey import Keys

EXISTS = "there is a value already where the list would go"
AMBIGUOUS = "several of the objects around an item have a field that is carried"
NOT_SCALAR = "a field that is carried is a list or an object"
NO_OBJECT = "an item is not an object, so that nothing can be carried into it"
TAKEN = "an item already has a field of the name under which one is carried"


class Lift(ShapeStep):
    """The items of the lists at ``from`` become one list at ``to``, of an object further out.

    Where an item was is forgotten but for the fields that are carried: ``carry`` names fields of the objects
    between the two lists, which are copied into the item, or maps new names to such fields.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, populate_by_name=True)
    kind: ClassVar[str] = "lift"

    from_: PathName = Field(alias="from", description="path of the nested list")
    to: PathName = Field(description="path of the new list")
    carry: (
        Annotated[tuple[Name, ...], Field(max_length=MOST_PARTS)]
        | Annotated[dict[Name, Name], Field(max_length=MOST_PARTS)]
    ) = Field(default=(), description="fields around an item that are copied into it; or new name: field")

    @field_validator("carry")
    @classmethod
    def _each_once(cls, carry: Any) -> Any:
        if len(set(carry)) < len(carry):
            raise ValueError("a field is carried twice")
        return carry

    @property
    def source(self) -> str:
        """The path of the list that is read."""
        return self.from_

    @property
    def target(self) -> str:
        """The path of the new list."""
        return self.to

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of fields that the step reads."""
        return tuple(self.carry_by_name.values())

    @property
    def carry_by_name(self) -> dict[str, str]:
        """The fields that are carried, by their names in an item."""
        return (
            dict(self.carry)
            if isinstance(self.carry, dict)
            else dict(zip(self.carry, self.carry, strict=True))
        )

    def problems(self, notation: ShapeNotation) -> Iterator[StatedProblem]:
        """Yield what is wrong with the parameters."""
        source, target = notation.read(self.from_), notation.read(self.to)
        inner = source[:-1]
        if not target or target[:-1] != source[: len(target) - 1] or len(target) > len(inner):
            yield (
                "to",
                f"{self.to} must be a list of the record, or of an object on the way to {self.from_}",
            )
        elif target == source[: len(target)]:
            yield "to", f"{self.to} leads to {self.from_}: name a list that does not exist"
        for name, field in self.carry_by_name.items():
            notation.read_field(self.to, field)
            if len(notation.read_field(self.to, name)) != 1:
                yield "carry", f"{name} must be the name of one new field of the item"

    def bind(self, context: StepContext) -> ChangeDocument:
        """Return the function that changes documents."""
        notation = context.notation
        source, target = notation.read(self.from_), notation.read(self.to)
        names = {notation.read_field(self.to, name)[0]: field for name, field in self.carry_by_name.items()}
        carried = {name: notation.read_field(self.to, field) for name, field in names.items()}
        below = source[len(target) - 1 :]

        def change(document: Document, tally: StepTally) -> None:
            for holder in objects_at(document, target[:-1]):
                if holder.get(target[-1]) is not None:
                    tally.misfits[EXISTS] += 1
                    continue
                lifting = _Lifting(below, carried, names, notation, tally, [])
                if not lifting.can_lift(holder):
                    continue
                lifting.lift_from(holder, ())
                holder[target[-1]] = notation.make_list(lifting.items)

        return change

    def change_tables(self, tables: ShapedTables, notation: ShapeNotation) -> ShapedTables:
        """Return the tables that hold the records after the step: the lifted one has another parent.

        Raises PolicyError for a step that has a problem, and where that is not possible.
        """
        for key, reason in self.problems(notation):
            raise PolicyError(f"{self.kind}: {key}: {reason}")
        carried = [
            (notation.read_field(self.to, name)[0], notation.read_field(self.to, field)[-1])
            for name, field in self.carry_by_name.items()
        ]
        return lift_table(tables, notation.read(self.from_), notation.read(self.to), carried)

    def describe(self) -> str:
        """Return one sentence for the readers of the release."""
        carried = [(quote(name), quote(field)) for name, field in self.carry_by_name.items()]
        names = [name if name == field else f"{field} as {name}" for name, field in carried]
        kept = f", with {', '.join(names)} of what was around them" if names else ""
        moved = f"The items of {quote(self.from_)} were made items of {quote(self.to)}"
        return f"{moved}{kept}; where each was is not kept."


@dataclass
class _Lifting:
    """The lists below one object, at the keys ``below``, whose items are moved to ``items``."""

    below: Keys
    carried: Mapping[str, Keys]
    names: Mapping[str, str]
    notation: ShapeNotation
    tally: StepTally
    items: list[Value]

    def can_lift(self, holder: Document) -> bool:
        """Return whether there is a list, and all that are there are lists."""
        values = [
            value
            for inner in objects_at(holder, self.below[:-1])
            if (value := inner.get(self.below[-1])) is not None
        ]
        strangers = sum(not isinstance(value, list) for value in values)
        self.tally.misfits[NOT_A_LIST] += strangers
        return bool(values) and not strangers

    def lift_from(self, vertex: Document, passed: tuple[Document, ...]) -> None:
        """Move the items of the lists below an object; ``passed`` are the objects on the way to it."""
        if len(passed) < len(self.below) - 1:
            for child in children_of(vertex, self.below[len(passed)]):
                self.lift_from(child, (*passed, child))
            return
        items = vertex.pop(self.below[-1], None)
        if items is None:
            return
        assert isinstance(items, list)
        self.tally.lists += 1
        self.tally.before += len(items)
        self.tally.after += len(items)
        copied = self._carry(passed)
        self.items += [self._add(item, copied) for item in items]

    def _carry(self, passed: Sequence[Document]) -> dict[str, Value]:
        """Return the fields of the passed objects that are carried."""
        copied: dict[str, Value] = {}
        for name, keys in self.carried.items():
            values = [value for vertex in passed if (value := field_at(vertex, keys)) is not None]
            if len(values) > 1:
                self.tally.misfits[AMBIGUOUS] += 1
            elif values and not is_scalar(values[0]):
                self.tally.misfits[NOT_SCALAR] += 1
            elif values:
                self.tally.with_value[self.names[name]] += 1
                copied[name] = self.notation.write_value(scalar_of(values[0]), name)
        return copied

    def _add(self, item: Value, copied: dict[str, Value]) -> Value:
        """Return an item with the fields that are carried into it."""
        if not copied:
            return item
        if not isinstance(item, dict):
            self.tally.misfits[NO_OBJECT] += 1
            return item
        if any(item.get(name) is not None for name in copied):
            self.tally.misfits[TAKEN] += 1
            return item
        return {**item, **copied}
