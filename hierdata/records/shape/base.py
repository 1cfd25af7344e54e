"""Steps of a shape, and all steps of a policy, done to documents.

Each step changes the lists at one path of a document, and invents no value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from hierdata.documents.document import Document, Value
from hierdata.domains.bounds import PathName
from hierdata.ground.errors import InputError
from hierdata.ground.escaping import quote
from hierdata.records.shape.places import NOT_A_LIST, ShapeNotation, lists_at
from hierdata.records.shape.tables import ShapedTables
from hierdata.records.survey import Keys

StatedProblem: TypeAlias = "tuple[str, str]"
"""The key of a step that is wrong, and the reason."""
NOTHING = "no record has a list here: correct the path, or state `optional: true`"


@dataclass
class StepTally:
    """What a step met in some documents.

    ``lists`` is the number of lists that it read, ``before`` and ``after`` the number of their items;
    ``with_value`` counts, by name, the values of the fields that it names; ``misfits`` counts what keeps the
    step from being done, by the reason.
    """

    lists: int = 0
    before: int = 0
    after: int = 0
    with_value: Counter[str] = field(default_factory=Counter)
    misfits: Counter[str] = field(default_factory=Counter)

    def merge(self, other: StepTally) -> None:
        """Add what the step met in other documents."""
        self.lists += other.lists
        self.before += other.before
        self.after += other.after
        self.with_value.update(other.with_value)
        self.misfits.update(other.misfits)


@dataclass(frozen=True)
class StepContext:
    """What a step needs besides its own parameters.

    ``notation`` reads paths. ``secret`` keys what is drawn at random. ``frequent`` are the digests of the
    values that enough individuals have, for a step that counts them.
    """

    notation: ShapeNotation = field(default_factory=ShapeNotation)
    secret: bytes = b""
    frequent: frozenset[bytes] = frozenset()


ChangeDocument: TypeAlias = Callable[[Document, StepTally], None]
"""Changes a document in place, and counts what it met."""
Choose: TypeAlias = Callable[[Sequence[Value], Document, StepTally], "Sequence[Value] | None"]
"""Returns the items of a list that stay, given the object that holds it; None where it cannot choose."""


class ShapeStep(BaseModel, ABC):
    """A step of ``shape``. Each member has its own file and its key in the policy."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    kind: ClassVar[str]
    changes_lists: ClassVar[bool] = True
    """Whether items are moved or left out."""

    optional: bool = Field(default=False, description="whether no record needs to have the list")

    @property
    @abstractmethod
    def source(self) -> str:
        """The path of the list that is read."""

    @property
    def target(self) -> str | None:
        """The path of a list that is new, None if there is none."""
        return None

    @property
    def new_field(self) -> str | None:
        """The path of a field that is new in the record, None if there is none."""
        return None

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of fields that the step reads; each must be there in some record (see StepTally)."""
        return ()

    @property
    def needs_secret(self) -> bool:
        """Whether something is drawn at random."""
        return False

    @property
    def fewest_individuals(self) -> int | None:
        """The fewest individuals that must have a value of ``values``, None if these are not counted."""
        return None

    @property
    def limitation(self) -> str | None:
        """A sentence on what the step does not promise, None if there is nothing of its own to say."""
        return None

    def values(self, document: Document, context: StepContext) -> set[bytes]:
        """Return the digests of the values that an individual has, of which individuals are counted."""
        return set()

    @abstractmethod
    def bind(self, context: StepContext) -> ChangeDocument:
        """Return the function that changes documents."""

    @abstractmethod
    def describe(self) -> str:
        """Return one sentence for the readers of the release."""

    def change_tables(self, tables: ShapedTables, notation: ShapeNotation) -> ShapedTables:
        """Return the tables that hold the records after the step. Raises PolicyError if none can."""
        return tables

    def problems(self, notation: ShapeNotation) -> Iterator[StatedProblem]:
        """Yield what is wrong with the parameters. Raises PolicyError for a path that cannot be read."""
        if not notation.read(self.source):
            yield "path", f"{self.source} is the record itself: name a list"


class ListStep(ShapeStep):
    """A step that leaves some items of each list at ``path``, in their order."""

    path: PathName = Field(description="path of the list")

    @property
    def source(self) -> str:
        """The path of the list that is read."""
        return self.path

    @abstractmethod
    def choose(self, context: StepContext) -> Choose:
        """Return the function that chooses the items of a list that stay."""

    def bind(self, context: StepContext) -> ChangeDocument:
        """Return the function that changes documents."""
        keys = context.notation.read(self.path)
        choose = self.choose(context)

        def change(document: Document, tally: StepTally) -> None:
            for holder, items in lists_at(document, keys):
                if items is None:
                    tally.misfits[NOT_A_LIST] += 1
                    continue
                chosen = choose(items, holder, tally)
                if chosen is None:
                    continue
                tally.lists += 1
                tally.before += len(items)
                tally.after += len(chosen)
                items[:] = chosen

        return change

    def problems(self, notation: ShapeNotation) -> Iterator[StatedProblem]:
        """Yield what is wrong with the parameters; each field that the step reads must have a path."""
        yield from super().problems(notation)
        for name in self.reads:
            notation.read_field(self.path, name)

    def field_keys(self, context: StepContext, name: str | None) -> Keys:
        """Return the keys of a field of an item; the item itself without a name."""
        return () if name is None else context.notation.read_field(self.path, name)


@dataclass
class ShapeTally:
    """What each step of a shape met."""

    steps: list[StepTally] = field(default_factory=list)

    def merge(self, other: ShapeTally) -> None:
        """Add what the steps met in other documents."""
        if not self.steps:
            self.steps = [StepTally() for _ in other.steps]
        for tally, more in zip(self.steps, other.steps, strict=True):
            tally.merge(more)

    def check(self, steps: Sequence[ShapeStep]) -> None:
        """Raise InputError for the first step that could not be done everywhere, or met nothing."""
        for step, tally in zip(steps, self.steps, strict=False):
            misfits = [(reason, count) for reason, count in sorted(tally.misfits.items()) if count]
            if misfits:
                lines = (f"{reason} (in {count} cases)" for reason, count in misfits)
                raise InputError(f"{step.kind}: {'; '.join(lines)}", path=step.source)
            if not tally.lists and not step.optional:
                raise InputError(f"{step.kind}: {NOTHING}", path=step.source)
            unseen = [name for name in step.reads if tally.before and not tally.with_value[name]]
            if unseen:
                message = f"the field {quote(unseen[0])} has no value at any of {tally.before} items"
                raise InputError(f"{step.kind}: {message}", path=step.source)


@dataclass(frozen=True)
class Shaping:
    """The steps of a policy's ``shape``, with what they need (see StepContext).

    ``frequent`` are, for the first steps, the digests of the values that enough individuals have.
    """

    steps: tuple[ShapeStep, ...] = ()
    notation: ShapeNotation = field(default_factory=ShapeNotation)
    secret: bytes = b""
    frequent: tuple[frozenset[bytes], ...] = ()

    def first(self, count: int) -> Shaping:
        """Return the first steps alone."""
        return replace(self, steps=self.steps[:count])

    def context(self, number: int) -> StepContext:
        """Return what a step needs."""
        frequent = self.frequent[number] if number < len(self.frequent) else frozenset()
        return StepContext(self.notation, self.secret, frequent)

    def documents(self, documents: Iterable[Document], tally: ShapeTally) -> Iterator[Document]:
        """Shape documents in place, and count what was met."""
        changes = [step.bind(self.context(number)) for number, step in enumerate(self.steps)]
        tally.steps = tallies = [StepTally() for _ in changes]
        for document in documents:
            for change, step_tally in zip(changes, tallies, strict=True):
                change(document, step_tally)
            yield document

    def values(self, documents: Iterable[Document], number: int) -> Iterator[set[bytes]]:
        """Yield for each document the digests of the values that a step counts individuals of."""
        step = self.steps[number]
        context = self.context(number)
        for document in self.first(number).documents(documents, ShapeTally()):
            yield step.values(document, context)
