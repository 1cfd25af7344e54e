"""p-sensitive k-anonymity: k records, and p different sensitive values."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import ClassVar, Literal

from hierdata.domains.bounds import Count
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy.base import ClassView, Constraint, PrivacyModel, require_domain
from hierdata.privacy.wording import among


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
        return _PSensitive(self.p, self.k)

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        return (
            f"{among(self.k, apart)} "
            f"Wherever a class shows sensitive values, it shows at least {self.p} different ones."
        )


class _PSensitive(Constraint):
    closed_under_union = True
    closed_under_pooling = True

    def __init__(self, least: int, k: int) -> None:
        self._least = least
        self._k = k
        self.min_class_size = max(k, least)

    def holds(self, view: ClassView) -> bool:
        different = len(view.sizes)
        return view.records >= self._k and (not different or min(different, view.records) >= self._least)

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        reached = {"k": Fraction(view.records)}
        if different := len(view.sizes):
            reached["p"] = Fraction(min(different, view.records))
        return reached

    def summary(self, counts: Mapping[int, int]) -> Hashable:
        return sum(1 for count in counts.values() if count)
