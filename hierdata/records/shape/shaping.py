"""All steps of a shape, done to documents one after the other, and what they met."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from hierdata.documents.document import Document
from hierdata.ground.errors import InputError
from hierdata.ground.escaping import quote
from hierdata.records.shape.base import ShapeStep, StepContext, StepTally
from hierdata.records.shape.places import ShapeNotation

NOTHING = "no record has a list here: correct the path, or state `optional: true`"


@dataclass
class ShapeTally:
    """What each step of a shape met."""

    steps: list[StepTally] = field(default_factory=list)

    def merge(self, other: ShapeTally) -> None:
        """Add what the steps met in other documents."""
        if not self.steps:
            self.steps = [StepTally() for _ in other.steps]
        for own, found in zip(self.steps, other.steps, strict=True):
            own.merge(found)

    def check(self, steps: Sequence[ShapeStep]) -> None:
        """Raise InputError for the first step that could not be done everywhere, or met nothing."""
        for step, tally in zip(steps, self.steps, strict=False):
            found = [(reason, count) for reason, count in sorted(tally.misfits.items()) if count]
            if found:
                lines = (f"{reason} (in {count} cases)" for reason, count in found)
                raise InputError(f"{step.kind}: {'; '.join(lines)}", path=step.source)
            if not tally.lists and not step.optional:
                raise InputError(f"{step.kind}: {NOTHING}", path=step.source)
            unseen = [name for name in step.reads if tally.before and not tally.seen[name]]
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
            for change, own in zip(changes, tallies, strict=True):
                change(document, own)
            yield document

    def values(self, documents: Iterable[Document], number: int) -> Iterator[set[bytes]]:
        """Yield for each document the digests of the values that a step counts individuals of."""
        step = self.steps[number]
        context = self.context(number)
        for document in self.first(number).documents(documents, ShapeTally()):
            yield step.values(document, context)
