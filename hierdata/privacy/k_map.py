"""k-map: what is published of a record fits at least k people of a population."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import ClassVar, Literal

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy.base import ClassView, Constraint, Count, PrivacyModel


class KMap(PrivacyModel):
    """The published quasi-identifiers of each class fit at least k rows of the population table.

    Sweeney 2002. Classes may be small: the adversary knows a population, and does not know who of it is in
    the collection. ``ClassView.population`` counts the rows; where nobody counted, it does not hold.

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
        """The k people whom each class fits."""
        return self.k

    def bind(self, domain: SensitiveDomain | None = None) -> Constraint:
        """The constraint; it needs no domain."""
        return _KMap(self.k)

    def promise(self, *, apart: bool = False) -> str:
        """One sentence for the reader."""
        return f"What is published of a record as a whole fits at least {self.k} people of the population."


class _KMap(Constraint):
    monotone = True  # what is published of a union fits everybody whom one of the classes fits
    min_class_size = 1

    def __init__(self, k: int) -> None:
        self._k = k

    def holds(self, view: ClassView) -> bool:
        return view.population is not None and view.population >= self._k

    def achieved(self, view: ClassView) -> dict[str, Fraction]:
        return {} if view.population is None else {"k": Fraction(view.population)}

    def summary(self, counts: Mapping[int, int]) -> Hashable:
        return None
