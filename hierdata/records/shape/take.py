"""Some items by a rule: ``take: {path: ..., last: 10, by: start}``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from typing import Any, ClassVar

from pydantic import Field, model_validator

from hierdata.documents.document import Document, Scalar, Value, field_at
from hierdata.documents.scalars import DateTime
from hierdata.domains.base import Uncovered
from hierdata.domains.bounds import Count, Name
from hierdata.domains.number import exact
from hierdata.ground.escaping import quote
from hierdata.records.shape.base import Choose, ListStep, StatedProblem, StepContext, StepTally
from hierdata.records.shape.places import ShapeNotation, digest_value, is_scalar, scalar_of

MISSING = "an item has no value in the field of `by`"
NOT_ONE = "the field of `by` is a list or an object"
MIXED = "a list has values of several kinds in the field of `by`, which have no common order"


class Take(ListStep):
    """Each list keeps the ``first`` or ``last`` items by a field, or a random ``sample`` of items.

    Values are ordered as numbers, times with a zone, or texts by their characters (which is right for ISO
    dates), whatever all values of a list are. Equal values are ordered by the content of their items. A
    sample depends on the seed and on the content of the object that holds the list. So what is taken does
    not depend on the order of items and records.
    """

    kind: ClassVar[str] = "take"

    first: Count | None = Field(default=None, description="how many items with the smallest values")
    last: Count | None = Field(default=None, description="how many items with the largest values")
    sample: Count | None = Field(default=None, description="how many items at random")
    by: Name | None = Field(default=None, description="with first or last: the field that orders items")

    @model_validator(mode="after")
    def _one(self) -> Take:
        if sum(number is not None for number in (self.first, self.last, self.sample)) != 1:
            raise ValueError("state exactly one of first, last, sample")
        if (self.by is None) != (self.sample is not None):
            due = "`by` has no meaning with `sample`" if self.by else "state `by`: which field orders items"
            raise ValueError(due)
        return self

    @property
    def needs_secret(self) -> bool:
        """Whether items are drawn at random."""
        return self.sample is not None

    @property
    def count(self) -> int:
        """How many items each list keeps at most."""
        return self.first or self.last or self.sample or 0

    def choose(self, context: StepContext) -> Choose:
        """Return the function that keeps the items."""
        return self._choose_by_field(context) if self.sample is None else self._choose_sample(context)

    def _choose_by_field(self, context: StepContext) -> Choose:
        by = self.field_keys(context, self.by)
        newest = self.last is not None

        def extreme(items: Sequence[Value], holder: Document, tally: StepTally) -> Sequence[Value] | None:
            values = [field_at(item, by) for item in items]
            misfit = MISSING if None in values else None if all(map(is_scalar, values)) else NOT_ONE
            if misfit is not None:
                tally.misfits[misfit] += sum(
                    value is None if misfit is MISSING else not is_scalar(value) for value in values
                )
                return None
            ranks = order_values([scalar_of(value) for value in values])
            if ranks is None:
                tally.misfits[MIXED] += 1
                return None
            keys = [(rank, digest_value(item)) for rank, item in zip(ranks, items, strict=True)]
            order = sorted(range(len(items)), key=keys.__getitem__, reverse=newest)
            return [items[position] for position in sorted(order[: self.count])]

        return extreme

    def _choose_sample(self, context: StepContext) -> Choose:
        def draw(items: Sequence[Value], holder: Document, tally: StepTally) -> Sequence[Value]:
            keyed = blake2b(digest_value(holder), key=context.secret, person=b"sample")
            keyed.update(self.path.encode("utf-8", "surrogatepass"))
            times: dict[bytes, int] = {}
            ranks = []
            for position, item in enumerate(items):
                content = digest_value(item)
                times[content] = times.get(content, 0) + 1
                drawn = keyed.copy()
                drawn.update(content + times[content].to_bytes(8))
                ranks.append((drawn.digest(), position))
            chosen = sorted(position for _, position in sorted(ranks)[: self.count])
            return [items[position] for position in chosen]

        return draw

    def describe(self) -> str:
        """Return one sentence for the readers of the release."""
        used = f"Of each list {quote(self.path)} at most {self.count} items were used"
        if self.by is None:
            return f"{used}, drawn at random."
        return f"{used}, the {'first' if self.first is not None else 'last'} by {quote(self.by)}."

    def problems(self, notation: ShapeNotation) -> Iterator[StatedProblem]:
        """Yield what is wrong with the parameters."""
        yield from super().problems(notation)
        if self.by is not None:
            notation.read_field(self.path, self.by)


def order_values(values: Sequence[Scalar]) -> list[Any] | None:
    """Return what orders the values of a list, one for each; None if they are of several kinds.

    >>> order_values(["10", "9"]), order_values(["2001-02", "2001"]), order_values([1, "x"])
    ([Fraction(10, 1), Fraction(9, 1)], ['2001-02', '2001'], None)
    """
    for kind in _KINDS:
        ranks = [kind(value) for value in values]
        if None not in ranks:
            return ranks
    return None


def _number(value: Scalar) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        return None
    try:
        return Fraction(exact(value))
    except Uncovered:
        return None


def _moment(value: Scalar) -> int | None:
    try:
        return DateTime.read(value).milliseconds if isinstance(value, str) else None
    except ValueError:
        return None


def _text(value: Scalar) -> str | None:
    return str.__str__(value) if isinstance(value, str) else None


_KINDS: tuple[Callable[[Scalar], object], ...] = (_number, _moment, _text)
