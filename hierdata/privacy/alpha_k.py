"""(alpha,k)-anonymities: k records, and no value, or no sensitivity level, with a share above its cap."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from math import ceil, floor
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from hierdata.domains.bounds import MOST_ENTRIES, MOST_LEVELS, Count
from hierdata.domains.semantic_partition import StatedValue
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.ground.errors import PolicyError
from hierdata.privacy.base import (
    ClassView,
    Constraint,
    FrequencyCaps,
    PrivacyModel,
    Share,
    among,
    chance,
    finder,
    guess,
    require_domain,
    share_at_place,
)
from hierdata.privacy.grouping import GroupingModel, protected_codes
from hierdata.privacy.presence import GroupPresence, Within, limit_persons


class AlphaK(GroupingModel):
    """At least k records, and each protected value has a share of at most alpha of the values present.

    ``values`` are the protected values, by default all. Spellings of the same number are one value here (3,
    3.0 and "3"), because XML has only text. A share of exactly alpha is allowed.
    ``values`` cannot be combined with groups of values: ``by`` must be ``value``.

    >>> bound = AlphaK(k=2, alpha="0.25", values=["HIV"]).bind(SensitiveDomain("$.a", ("flu", "HIV")))
    >>> bound.holds(ClassView(4, {0: 3, 1: 1})), bound.holds(ClassView(3, {0: 2, 1: 1}))
    (True, False)
    """

    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"k": "min", "alpha": "max"}
    letters: ClassVar[Mapping[str, str]] = {
        "alpha": "the largest share that a sensitive value may have at a vertex of a class",
        "k": "the least number of records in a class",
    }

    kind: Literal["alpha-k"] = "alpha-k"
    k: Count
    alpha: Share
    values: Annotated[tuple[StatedValue, ...], Field(min_length=1, max_length=MOST_ENTRIES)] | None = None

    @model_validator(mode="after")
    def _single_values_or_groups(self) -> AlphaK:
        if self.values is not None and self.by != "value":
            raise ValueError(f"`values` are single values and cannot be combined with by: {self.by}")
        return self

    def bind(self, domain: SensitiveDomain | None) -> Constraint:
        """Build the constraint for one attribute."""
        domain = require_domain(domain)
        if self.values is None:
            groups = self.groups(domain)
            protected = (True,) * groups.count
            return groups.wrap_constraint(_AlphaK(self.k, self.alpha, protected, everything=True))
        codes = protected_codes(domain, self.values)
        protected = tuple(code in codes for code in range(len(domain.values)))
        return _AlphaK(self.k, self.alpha, protected, everything=False)

    @property
    def limits_presence(self) -> bool:
        """See PrivacyModel."""
        return True

    def bind_presence(
        self, domain: SensitiveDomain, within: Within = "place", *, tied: bool = True
    ) -> Constraint:
        """Build the constraint on the share of the records that show a protected value or group."""
        bound = self.bind(domain)
        assert bound.caps is not None
        bounded = len(bound.caps.share) - 1  # the last group is that of values that are not protected
        return GroupPresence("alpha", self.k, bound, within, tied, bounded=bounded)

    def promise_finding(self, *, apart: bool = False) -> str:
        """Return the sentence on who could find a person."""
        return among(self.k, apart)

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        which = self.count_noun() if self.values is None else "protected value"
        return f"{among(self.k, apart)} {guess(which, self.alpha, apart)} {share_at_place(which)}"

    def promise_presence(self, within: Within, *, apart: bool = False, tied: bool = True) -> str:
        """Return one sentence for the reader."""
        which = self.count_noun() if self.values is None else "protected value"
        limited = limit_persons(self.alpha, f"have the same {which}", within, tied, apart)
        return f"{among(self.k, apart)} {limited}"


class _AlphaK(Constraint):
    closed_under_union = closed_under_pooling = True

    def __init__(self, k: int, alpha: Fraction, protected: tuple[bool, ...], *, everything: bool) -> None:
        self._k = k
        self._alpha = alpha
        self._protected = protected
        # If every value is protected, even one occurrence exceeds alpha in a class below 1/alpha records.
        self.min_class_size = max(k, ceil(1 / alpha)) if everything and alpha else k
        others = len(protected)
        self.caps = FrequencyCaps(
            tuple(code if is_protected else others for code, is_protected in enumerate(protected)),
            (alpha,) * others + (Fraction(1),),
        )

    def _most(self, counts: Mapping[int, int]) -> int:
        protected = self._protected
        return max((count for code, count in counts.items() if protected[code]), default=0)

    def holds(self, view: ClassView) -> bool:
        if view.records < self._k:
            return False
        return self._most(view.counts) * self._alpha.denominator <= self._alpha.numerator * view.present

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        reached = {"k": Fraction(view.records)}
        if present := view.present:
            reached["alpha"] = Fraction(self._most(view.counts), present)
        return reached

    def summary(self, counts: Mapping[int, int]) -> Hashable:
        return self._most(counts), sum(counts.values())


_PAPER = tuple(Fraction(tenths, 10) for tenths in (8, 6, 4, 2, 1))


class LevelAlphaK(PrivacyModel):
    """At least k records, and level i has a share of at most alpha_i of the values present (ML definition 5).

    ``alpha[i - 1]`` is the cap of sensitivity level i, level 1 being the least sensitive; the default is the
    paper's 0.8, 0.6, 0.4, 0.2, 0.1. A share of exactly alpha_i is allowed. Missing values do not count, and a
    vertex without values passes (erratum ML-7). The model bounds levels, not values: a class may show one
    value with a share of alpha_1 (erratum ML-16); add alpha-k or frequency-l-diversity where that matters.

    >>> domain = SensitiveDomain("$.grade", ("A", "E"), levels=(1, 5))
    >>> bound = LevelAlphaK(k=10).bind(domain)
    >>> bound.holds(ClassView(10, {0: 8})), bound.holds(ClassView(10, {0: 8, 1: 1}))
    (False, False)
    """

    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"k": "min", "alpha": "max"}
    letters: ClassVar[Mapping[str, str]] = {
        "alpha": "the largest share that each sensitivity level may have at a vertex of a class",
        "k": "the least number of records in a class",
    }
    limitation: ClassVar[str] = (
        "level-alpha-k limits what can be guessed of sensitivity levels, not of single values: one value "
        "may have the whole share of its level."
    )

    kind: Literal["level-alpha-k"] = "level-alpha-k"
    k: Count
    alpha: Annotated[tuple[Share, ...], Field(min_length=1, max_length=MOST_LEVELS)] = _PAPER

    def bind(self, domain: SensitiveDomain | None) -> Constraint:
        """Build the constraint for one attribute. Raises PolicyError without levels or for too few alphas."""
        domain = require_domain(domain)
        if domain.levels is None:
            raise PolicyError(
                "level-alpha-k needs 'levels' on this sensitive attribute: add them, or let the model's `on` "
                "name others",
                path=domain.path,
            )
        if len(self.alpha) < domain.level_count:
            raise PolicyError(
                f"level-alpha-k has {len(self.alpha)} alphas, but the attribute {domain.level_count} levels",
                path=domain.path,
            )
        return _LevelAlphaK(self.k, self.alpha, domain.levels)

    @property
    def limits_presence(self) -> bool:
        """Whether the policy writes the alphas out; the paper's are for values."""
        return "alpha" in self.model_fields_set

    def bind_presence(
        self, domain: SensitiveDomain, within: Within = "place", *, tied: bool = True
    ) -> Constraint:
        """Build the constraint on the share of the records that show a value of each level."""
        return GroupPresence("levels", self.k, self.bind(domain), within, tied)

    def capacities(self, size: int) -> tuple[int, ...]:
        """Return how many of ``size`` values may be of each level: floor(size alpha) (erratum ML-6).

        >>> LevelAlphaK(k=5).capacities(5)
        (4, 3, 2, 1, 0)
        """
        return tuple(floor(size * share) for share in self.alpha)

    def smallest_sizes(self) -> tuple[int | None, ...]:
        """Return the fewest values among which a level may occur: ceil(1 / alpha), None for never (ML-6).

        >>> LevelAlphaK(k=5).smallest_sizes()
        (2, 2, 3, 5, 10)
        """
        return tuple(ceil(1 / share) if share else None for share in self.alpha)

    def promise_finding(self, *, apart: bool = False) -> str:
        """Return the sentence on who could find a person."""
        return among(self.k, apart)

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        return (
            f"{among(self.k, apart)} {finder(apart)} can guess one entry's level with a chance of at "
            f"most {self._by_level()}. {share_at_place('level')}"
        )

    def promise_presence(self, within: Within, *, apart: bool = False, tied: bool = True) -> str:
        """Return one sentence for the reader."""
        (most, share), *_ = reversed([*enumerate(self.alpha, 1)])
        have = f"have one of level {most}, the most sensitive"
        limited = limit_persons(share, have, within, tied, apart)
        return f"{among(self.k, apart)} {limited} By level it is at most {self._by_level()}."

    def _by_level(self) -> str:
        """Return the share of each level, from the most sensitive one."""
        (most, share), *others = reversed([*enumerate(self.alpha, 1)])
        rest = "".join(f", {chance(lower)} ({level})" for level, lower in others)
        return f"{chance(share)} (level {most}, most sensitive){rest}"


class _LevelAlphaK(Constraint):
    closed_under_union = closed_under_pooling = True

    def __init__(self, k: int, alpha: tuple[Fraction, ...], levels: tuple[int, ...]) -> None:
        self.min_class_size = k
        self._group_of = tuple(level - 1 for level in levels)
        self._bounds = tuple(share.as_integer_ratio() for share in alpha)
        self.caps = FrequencyCaps(self._group_of, alpha)

    def _by_level(self, counts: Mapping[int, int]) -> list[int]:
        tally = [0] * len(self._bounds)
        group_of = self._group_of
        for code, count in counts.items():
            tally[group_of[code]] += count
        return tally

    def holds(self, view: ClassView) -> bool:
        if view.records < self.min_class_size:
            return False
        tally = self._by_level(view.counts)
        present = sum(tally)
        return all(
            count * denominator <= numerator * present
            for count, (numerator, denominator) in zip(tally, self._bounds, strict=True)
        )

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        reached = {"k": Fraction(view.records)}
        if present := view.present:
            for level, count in enumerate(self._by_level(view.counts), start=1):
                reached[f"alpha_{level}"] = Fraction(count, present)
        return reached

    def summary(self, counts: Mapping[int, int]) -> Hashable:
        return tuple(self._by_level(counts))
