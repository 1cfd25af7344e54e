"""What a policy states about sensitivity levels: ``levels: {domain: [0, 4], sensitive: low}`` and others."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from hierdata.domains.base import Observed, Uncovered
from hierdata.domains.bounds import MOST_ENTRIES, MOST_LEVELS, Level, Spelling
from hierdata.domains.membership import Trapezoid
from hierdata.domains.number import Exact, Number, exact, identity, parameter, plain
from hierdata.domains.scales import (
    DomainScale,
    FrequencyScale,
    LevelScale,
    MapScale,
    SetScale,
    scale_from_facts,
)
from hierdata.domains.sensitive import ALL_DIFFER, Sameness
from hierdata.ground.errors import PolicyError

__all__ = ["FuzzySet", "LevelScale", "Levels", "scale_from_facts"]


class FuzzySet(BaseModel):
    """A fuzzy set of the policy: a trapezoid of four ascending corners or a triangle of three."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    level: Level
    shape: tuple[Exact, ...] = Field(min_length=3, max_length=4)

    @field_validator("shape")
    @classmethod
    def _ascending(cls, shape: tuple[Any, ...]) -> tuple[Any, ...]:
        if any(a > b for a, b in pairwise(shape)):
            raise ValueError("the corners of a shape must ascend")
        return shape

    def trapezoid(self) -> Trapezoid:
        """Return the set as a trapezoid of four corners."""
        corners = self.shape if len(self.shape) == 4 else (*self.shape[:2], *self.shape[1:])
        return Trapezoid(*corners)


class Levels(BaseModel):
    """Sensitivity levels in one of four forms (ML section 3.3), with or without fuzzy sets.

    - ``domain`` and ``sensitive: low | high``: numbers by the paper's five membership functions;
    - ``by: frequency`` and ``sensitive: rare | common``: categories by their number of occurrences;
    - ``by: {A: 1, B: 2}``: a level for each value;
    - ``sets``: fuzzy sets of the policy, each with its level.

    ``outside: clamp`` gives a number beyond the domain or the sets the level of the nearest end or set.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    domain: tuple[Exact, Exact] | None = None
    by: Literal["frequency"] | Annotated[dict[Spelling, Level], Field(max_length=MOST_ENTRIES)] | None = None
    sets: Annotated[tuple[FuzzySet, ...], Field(max_length=MOST_LEVELS)] | None = None
    sensitive: Literal["low", "high", "rare", "common"] | None = None
    outside: Literal["refuse", "clamp"] = "refuse"

    @field_validator("by", mode="before")
    @classmethod
    def _text_keys(cls, by: Any) -> Any:
        if not isinstance(by, dict):
            return by
        keys = [_key(key) for key in by]
        if len({_value(key) for key in keys}) < len(keys):
            raise ValueError("two keys are the same value")
        return dict(zip(keys, by.values(), strict=True))

    @model_validator(mode="after")
    def _one_form(self) -> Levels:
        if sum(form is not None for form in (self.domain, self.by, self.sets)) != 1:
            raise ValueError("state levels by exactly one of domain, by, sets")
        words = ("low", "high") if self.domain else ("rare", "common") if self.by == "frequency" else (None,)
        if self.sensitive not in words:
            wanted = " or ".join(word for word in words if word)
            raise ValueError(
                f"sensitive must be {wanted}" if wanted else "sensitive belongs to domain or frequency"
            )
        if self.domain is not None and self.domain[0] > self.domain[1]:
            raise ValueError("domain must be [least, greatest]")
        if self.outside == "clamp" and self.by is not None:
            raise ValueError("outside: clamp belongs to domain or sets")
        if self.by == {} or self.sets == ():
            raise ValueError("no value has a level")
        return self

    def compile(self, observed: Observed, number: bool = False, same: Sameness = ALL_DIFFER) -> LevelScale:
        """Build the scale for one collection; only levels by frequency use ``observed``.

        With ``number`` text is read as numbers when values are counted, so that ``1`` and ``1.0`` are one
        value in XML too. Raises PolicyError if keys that are the ``same`` have different levels.
        """
        if self.domain is not None:
            return DomainScale(*self.domain, falling=self.sensitive == "low", clamp=self.outside == "clamp")
        if self.sets is not None:
            shapes = tuple((fuzzy.level, fuzzy.trapezoid()) for fuzzy in self.sets)
            return SetScale(shapes, clamp=self.outside == "clamp")
        if isinstance(self.by, dict):
            return MapScale(_unite_keys(self.by, same))
        counts: dict[str | Number, int] = {}
        for value, count in observed.items():
            if value is None:
                continue
            try:
                key = identity(same.value_of(value), number)
            except Uncovered:
                continue
            counts[key] = counts.get(key, 0) + count
        return FrequencyScale(counts, rare=self.sensitive == "rare", number=number)


def _unite_keys(by: Mapping[str, int], same: Sameness) -> dict[str, int]:
    """Return the levels by the texts that stand for the keys."""
    levels: dict[str, int] = {}
    for key, level in by.items():
        if levels.setdefault(same.text_of(key), level) != level:
            raise PolicyError("levels gives two levels to keys that are one value under `same`")
    return levels


def _key(key: Any) -> Any:
    """Return the text of a key that YAML read as something else."""
    if isinstance(key, bool):
        return "true" if key else "false"
    return plain(parameter(key)) if isinstance(key, int | float | Decimal) else key


def _value(key: Any) -> Any:
    """Return the number that a key spells, else the key itself."""
    try:
        return exact(key)
    except Uncovered:
        return key
