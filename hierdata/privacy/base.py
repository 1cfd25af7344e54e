"""What a privacy model is: a predicate on the sensitive values of one class at one vertex."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.functional_serializers import PlainSerializer

from hierdata.domains.sensitive import SensitiveDomain

_SPELLING = r"[0-9]{1,30}(\.[0-9]{1,30})?|[0-9]{1,30}/0*[1-9][0-9]{0,29}"
_NUMBER = re.compile(_SPELLING)


def exact(number: object) -> Fraction:
    """The exact value of a number as a policy spells it. Raises ValueError for anything else.

    Floats count as the decimal that prints them, so that 0.8 is 4/5.

    >>> exact("2.5"), exact("1/3"), exact(0.8), exact(Decimal("0.10"))
    (Fraction(5, 2), Fraction(1, 3), Fraction(4, 5), Fraction(1, 10))
    """
    if isinstance(number, Fraction):
        return number
    if isinstance(number, int | float | str | Decimal) and not isinstance(number, bool):
        text = format(Decimal(str(number)), "f") if isinstance(number, float) else str(number)
        if _NUMBER.fullmatch(text):
            return Fraction(text)
    raise ValueError("must be a number such as 3, 0.25 or '1/3', not negative")


def _share(number: Fraction) -> Fraction:
    if number > 1:
        raise ValueError("must lie between 0 and 1")
    return number


def _positive(number: Fraction) -> Fraction:
    if number == 0:
        raise ValueError("must be above 0")
    return number


def _at_least_one(number: Fraction) -> Fraction:
    if number < 1:
        raise ValueError("must be at least 1")
    return number


def _written(number: Fraction) -> str:
    return str(number)


def _json(**bounds: float) -> WithJsonSchema:
    text = {"type": "string", "pattern": f"^({_SPELLING})$"}
    return WithJsonSchema({"anyOf": [{"type": "number", **bounds}, text]})


Share = Annotated[
    Fraction,
    AfterValidator(_share),
    BeforeValidator(exact),
    PlainSerializer(_written),
    _json(minimum=0, maximum=1),
]
"""A share of the values, 0..1, exact."""
Positive = Annotated[
    Fraction,
    AfterValidator(_positive),
    BeforeValidator(exact),
    PlainSerializer(_written),
    _json(exclusiveMinimum=0),
]
"""A number above 0, exact."""
Diversity = Annotated[
    Fraction,
    AfterValidator(_at_least_one),
    BeforeValidator(exact),
    PlainSerializer(_written),
    _json(minimum=1),
]
"""A number of well-represented values, at least 1, exact."""
Count = Annotated[int, Field(strict=True, ge=1)]
"""A whole number, at least 1."""


@dataclass(frozen=True)
class ClassView:
    """What a model may see of a class at one vertex of its representative.

    ``records`` is the number of distinct records in the class; ``counts`` maps the code of a sensitive value
    (of the one attribute the constraint is bound to) to how often it occurs there, pooled over identical
    siblings, missing values left out (erratum ML-7).
    """

    records: int
    counts: Mapping[int, int]

    @property
    def present(self) -> int:
        """Sensitive values present, with multiplicity."""
        return sum(self.counts.values())

    @property
    def sizes(self) -> list[int]:
        """How often each value that occurs does, most frequent first."""
        return sorted((count for count in self.counts.values() if count), reverse=True)


@dataclass(frozen=True)
class ShareCaps:
    """A model in the form "no group has more than its share": ``group_of[code]``, ``share[group]``."""

    group_of: tuple[int, ...]
    share: tuple[Fraction, ...]


class Constraint(ABC):
    """A model bound to one sensitive attribute's domain (or to none, for models on records). Immutable.

    ``monotone``: the union of two classes that satisfy it satisfies it (tested, never assumed).
    ``min_class_size``: no smaller class can satisfy it at a vertex with values, one a record.
    ``caps``: its ShareCaps when it has that form; the alignment then enforces it while a class grows.
    """

    monotone: ClassVar[bool]
    min_class_size: int
    caps: ShareCaps | None = None

    @abstractmethod
    def holds(self, view: ClassView) -> bool:
        """Decide exactly. A vertex without any sensitive value passes (erratum ML-7), but for k."""

    @abstractmethod
    def achieved(self, view: ClassView) -> dict[str, Fraction]:
        """The strongest parameters that hold at this vertex, by the papers' letters.

        ``alpha_2`` is the alpha of level 2. Empty when nothing is there to judge.
        """

    def summary(self, counts: Mapping[int, int]) -> Hashable:
        """What the answers depend on beside the number of records: equal summaries, equal answers.

        Whoever asks about many vertices asks once for each summary.
        """
        return tuple(sorted(counts.values()))


class PrivacyModel(ABC, BaseModel):
    """A model's parameters as the policy states them.

    ``kind`` names the model. ``on`` limits it to some sensitive attributes (their paths); None means all.
    ``per_attribute`` is False for models on records alone (k-anonymity), which bind to no domain.
    ``combine`` tells for each achieved letter whether the collection's figure is the least (k, l) or the
    largest (alpha) over all vertices.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    per_attribute: ClassVar[bool] = True
    combine: ClassVar[Mapping[str, Literal["min", "max"]]]

    kind: str
    on: Annotated[tuple[str, ...], Field(min_length=1)] | None = None

    @abstractmethod
    def bind(self, domain: SensitiveDomain | None) -> Constraint:
        """The constraint for one attribute. Raises PolicyError when the domain lacks levels it needs."""

    @abstractmethod
    def promise(self) -> str:
        """One sentence, in the reader's words, of what is promised."""

    def weakest(self, left: Mapping[str, Fraction], right: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """What is achieved at both of two vertices, from what is achieved at each.

        >>> from hierdata.privacy import KAnonymity
        >>> KAnonymity(k=2).weakest({"k": Fraction(5)}, {"k": Fraction(3)})
        {'k': Fraction(3, 1)}
        """
        merged = dict(left)
        for letter, value in right.items():
            pick = min if self.combine[letter.partition("_")[0]] == "min" else max
            merged[letter] = pick(merged.get(letter, value), value)
        return merged


def needed(domain: SensitiveDomain | None) -> SensitiveDomain:
    """The domain of a model that is bound per attribute: to bind it to none is a mistake of the caller."""
    if domain is None:
        raise TypeError("this model binds to a sensitive attribute's domain")
    return domain
