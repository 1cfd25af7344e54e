"""k-anonymity: a class has at least k records."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import ClassVar, Literal

from hierdata.domains.bounds import Count
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy.base import ClassView, Constraint, PrivacyModel
from hierdata.privacy.wording import among


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
        return _AtLeast(self.k)

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        return among(self.k, apart)


class _AtLeast(Constraint):
    closed_under_union = True
    closed_under_pooling = True

    def __init__(self, k: int) -> None:
        self.min_class_size = k

    def holds(self, view: ClassView) -> bool:
        return view.records >= self.min_class_size

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        return {"k": Fraction(view.records)}

    def summary(self, counts: Mapping[int, int]) -> Hashable:
        return None
