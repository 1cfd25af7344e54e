"""Models of numbers: how many records a class has, and how many people of a population fit it.

- ``KAnonymity``: a class has at least k records.
- ``PSensitiveKAnonymity``: k records, and p different sensitive values.
- ``KMap``: at least k people of a population fit what is published of a record.
- ``DeltaPresence``: bounds on the chance that a person of a population is in the collection.

``population`` reads the table of the population and counts who fits.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar, Literal

from pydantic import model_validator

from hierdata.domains.bounds import Count
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy.base import (
    ClassView,
    Constraint,
    PrivacyModel,
    Share,
    among,
    chance,
    finder,
    require_domain,
)
from hierdata.privacy.counting import AtLeastK, DifferentValues, OfRecords


class KAnonymity(PrivacyModel):
    """Each class has at least k records (ML section 2; for trees ML section 3.2: QI-isomorphic ones).

    >>> KAnonymity(k=3).bind(None).holds(ClassView(2, {}))
    False
    """

    per_attribute: ClassVar[bool] = False
    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"k": "min"}
    letters: ClassVar[Mapping[str, str]] = {
        "k": "the least number of records in a class",
    }

    kind: Literal["k-anonymity"] = "k-anonymity"
    k: Count

    def bind(self, domain: SensitiveDomain | None = None) -> Constraint:
        """Build the constraint; it needs no domain."""
        return AtLeastK(self.k)

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        return self.promise_finding(apart=apart)

    def promise_finding(self, *, apart: bool = False) -> str:
        """Return the sentence on who could find a person."""
        return among(self.k, apart)


class PSensitiveKAnonymity(PrivacyModel):
    """At least k records in a class, and at least p different values wherever it shows any.

    Truta and Vinay, ICDE workshops 2006. In flat tables p values need p records; pooled siblings of one
    record could hold all of them, so p records are required explicitly. A vertex without values passes for p.

    >>> bound = PSensitiveKAnonymity(p=2, k=3).bind(SensitiveDomain("$.a", ("x", "y")))
    >>> bound.holds(ClassView(3, {0: 2, 1: 1})), bound.holds(ClassView(3, {0: 3}))
    (True, False)
    """

    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"p": "min", "k": "min"}
    letters: ClassVar[Mapping[str, str]] = {
        "p": "the least number of different sensitive values wherever a class shows any",
        "k": "the least number of records in a class",
    }

    kind: Literal["p-sensitive-k-anonymity"] = "p-sensitive-k-anonymity"
    p: Count
    k: Count

    def bind(self, domain: SensitiveDomain | None) -> Constraint:
        """Build the constraint for one attribute."""
        require_domain(domain)
        return DifferentValues("p", self.p, self.k)

    def promise_finding(self, *, apart: bool = False) -> str:
        """Return the sentence on who could find a person."""
        return among(self.k, apart)

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        return (
            f"{among(self.k, apart)} "
            f"{finder(apart)} sees at least {self.p} different sensitive values there, or none."
        )


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
        "k-map counts people of the population table, not records. It promises nothing against a reader "
        "who knows that a person is in the collection, and nothing about people whom the table lacks."
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
        return self.promise_finding(apart=apart)

    def promise_finding(self, *, apart: bool = False) -> str:
        """Return the sentence on who could find a person."""
        return f"Every published record, taken as a whole, fits at least {self.k} people of the population."


class _KMap(OfRecords):
    closed_under_union = True  # everyone who fits one of the classes fits what is published of their union
    min_class_size = 1
    needs_population = True

    def __init__(self, k: int) -> None:
        self._k = k

    def holds(self, view: ClassView) -> bool:
        return view.population is not None and view.population >= self._k

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        return {} if view.population is None else {"k": Fraction(view.population)}


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
        "delta-presence looks at one class at a time. Where several classes fit a person of the population"
        " table, the chances add up. A person whom none fits is known not to be in the collection. It "
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
        return _DeltaPresence(self.delta_min, self.delta_max)

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        return self.promise_finding(apart=apart)

    def promise_finding(self, *, apart: bool = False) -> str:
        """Return the sentence on who could find a person."""
        least = f"at least {chance(self.delta_min)} and " if self.delta_min else ""
        return (
            "Someone of the population whom a published record fits is in the collection with a chance of "
            f"{least}at most {chance(self.delta_max)}."
        )


class _DeltaPresence(OfRecords):
    # A union may fit more people than its classes do, or hardly more than one class.
    closed_under_union = False
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
