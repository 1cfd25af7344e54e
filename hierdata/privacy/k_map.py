"""k-map: at least k people of a population fit what is published of a record."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import ClassVar, Literal

from hierdata.domains.bounds import Count
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy.base import ClassView, Constraint, PrivacyModel


class KMap(PrivacyModel):
    """At least k rows of the population table fit the published quasi-identifiers of each class.

    Sweeney 2002. Classes may be small: the adversary knows a population, but not which of its people are in
    the collection. ``ClassView.population`` counts the rows; if it is None, the model does not hold.

    >>> bound = KMap(k=3).bind(None)
    >>> bound.holds(ClassView(1, {}, population=3)), bound.holds(ClassView(9, {}))
    (True, False)
    """

    per_attribute: ClassVar[bool] = False
    needs_population: ClassVar[bool] = True
    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"k": "min"}
    letters: ClassVar[Mapping[str, str]] = {
        "k": "the least number of persons of the population who fit a class",
    }
    limitation: ClassVar[str] = (
        "k-map counts people of the population table, not records: it promises nothing against a reader who"
        " knows that a person is in the collection, and nothing about people whom the table lacks."
    )

    kind: Literal["k-map"] = "k-map"
    k: Count

    @property
    def least_population(self) -> int:
        """The k people who must fit each class."""
        return self.k

    def bind(self, domain: SensitiveDomain | None = None) -> Constraint:
        """Build the constraint; it needs no domain."""
        return _KMap(self.k)

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        return f"What is published of a record as a whole fits at least {self.k} people of the population."


class _KMap(Constraint):
    closed_under_union = True  # everyone who fits one of the classes fits what is published of their union
    closed_under_pooling = True
    min_class_size = 1
    needs_population = True

    def __init__(self, k: int) -> None:
        self._k = k

    def holds(self, view: ClassView) -> bool:
        return view.population is not None and view.population >= self._k

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        return {} if view.population is None else {"k": Fraction(view.population)}

    def summary(self, counts: Mapping[int, int]) -> Hashable:
        return None
