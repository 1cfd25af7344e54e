"""(alpha,k)-anonymity: k records, and no protected value with a share above alpha."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from math import ceil
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from hierdata.domains.bounds import MOST_ENTRIES, Count
from hierdata.domains.number import plain
from hierdata.domains.semantic_partition import StatedValue
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy.base import (
    ClassView,
    Constraint,
    FrequencyCaps,
    Share,
    require_domain,
)
from hierdata.privacy.grouping import GroupingModel, protected_codes
from hierdata.privacy.presence import GroupPresence, Within, persons_who_show
from hierdata.privacy.wording import among


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
            return groups.wrap_constraint(
                _AlphaK(self.k, self.alpha, (True,) * groups.count, everything=True)
            )
        protected = protected_codes(domain, self.values)
        marks = tuple(code in protected for code, _ in enumerate(domain.values))
        return _AlphaK(self.k, self.alpha, marks, everything=False)

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

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        which = f"No {self.count_noun()}" if self.values is None else "No protected value"
        return (
            f"{among(self.k, apart)} "
            f"{which} can be guessed with a probability above {float(self.alpha):g} from a class."
        )

    def promise_presence(self, within: Within, *, apart: bool = False, tied: bool = True) -> str:
        """Return one sentence for the reader."""
        which = f"No {self.count_noun()}" if self.values is None else "No protected value"
        return (
            f"{among(self.k, apart)} "
            f"{which} is among those of more than {plain(self.alpha)} of {persons_who_show(within, tied)}."
        )


class _AlphaK(Constraint):
    closed_under_union = True
    closed_under_pooling = True

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
