"""delta-presence: bounds on the chance that a person of a population is in the collection."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import ClassVar, Literal

from pydantic import model_validator

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy.base import ClassView, Constraint, PrivacyModel, Share


class DeltaPresence(PrivacyModel):
    """delta_min <= records / population <= delta_max for each class (Nergiz, Atzori, Clifton, SIGMOD 2007).

    ``population`` is the number of rows of the population table that fit the class's published
    quasi-identifiers, so the quotient is the chance that one of those people is in the collection. If fewer
    rows than records fit, the table is not a population of this collection: the quotient is above 1 and
    fails, as it does without any row. The definition requires delta_min for every row of the table; we
    require it for rows that fit some class, since local recoding leaves gaps, and judge each class separately
    where several fit.

    >>> bound = DeltaPresence(delta_max="1/2").bind(None)
    >>> bound.holds(ClassView(2, {}, population=4)), bound.holds(ClassView(2, {}, population=3))
    (True, False)
    """

    per_attribute: ClassVar[bool] = False
    needs_population: ClassVar[bool] = True
    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"delta_min": "min", "delta_max": "max"}
    letters: ClassVar[Mapping[str, str]] = {
        "delta_min": "the least chance that somebody of the population who fits a class is in the collection",
        "delta_max": "the largest such chance",
    }
    limitation: ClassVar[str] = (
        "delta-presence looks at one class at a time: where several classes fit a person of the population "
        "table, the chances add up, and a person whom none fits is known not to be in the collection. It "
        "promises nothing against a reader who knows that a person is in the collection."
    )

    kind: Literal["delta-presence"] = "delta-presence"
    delta_min: Share = Fraction(0)
    delta_max: Share

    @model_validator(mode="after")
    def _check_order(self) -> DeltaPresence:
        if self.delta_min > self.delta_max:
            raise ValueError("delta_min cannot be above delta_max")
        return self

    def bind(self, domain: SensitiveDomain | None = None) -> Constraint:
        """Build the constraint; it needs no domain."""
        return _Presence(self.delta_min, self.delta_max)

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        least = f"at least {float(self.delta_min):g} and " if self.delta_min else ""
        return (
            "For each person of the population whom a class fits, the chance to be in the collection is "
            f"{least}at most {float(self.delta_max):g}."
        )


class _Presence(Constraint):
    # A union may fit more people than its classes do, or hardly more than one class.
    closed_under_union = False
    closed_under_pooling = True
    min_class_size = 1
    needs_population = True

    def __init__(self, least: Fraction, most: Fraction) -> None:
        self._least = least
        self._most = most

    def holds(self, view: ClassView) -> bool:
        if not view.population:
            return False
        return self._least <= Fraction(view.records, view.population) <= self._most

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        if not view.population or view.records > view.population:
            return {}
        presence = Fraction(view.records, view.population)
        return {"delta_min": presence, "delta_max": presence}

    def summary(self, counts: Mapping[int, int]) -> Hashable:
        return None
