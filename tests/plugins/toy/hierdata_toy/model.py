"""A privacy model: no value has more than a share of the values of a class."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil
from typing import ClassVar, Literal

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy.base import ClassView, Constraint, Positive, PrivacyModel, require_domain


class CappedShare(PrivacyModel):
    """No sensitive value has more than ``share`` of the values wherever a class shows any."""

    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"share": "max"}
    letters: ClassVar[Mapping[str, str]] = {
        "share": "the largest share of one value wherever a class shows any"
    }
    limitation: ClassVar[str] = "How much alike two values are does not count in their shares."

    kind: Literal["capped-share"] = "capped-share"
    share: Positive

    def bind(self, domain: SensitiveDomain | None) -> Constraint:
        require_domain(domain)
        return _Capped(self.share)

    def promise(self, *, apart: bool = False) -> str:
        return f"Wherever a class shows sensitive values, no value has more than {self.share} of them."


class _Capped(Constraint):
    closed_under_union = closed_under_pooling = True

    def __init__(self, share: Fraction) -> None:
        self.share = share
        self.min_class_size = ceil(1 / share)

    def holds(self, view: ClassView) -> bool:
        sizes = view.sizes
        return not sizes or (view.records >= self.min_class_size and sizes[0] <= self.share * sum(sizes))

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        sizes = view.sizes
        return {"share": max(Fraction(sizes[0], sum(sizes)), Fraction(1, view.records))} if sizes else {}
