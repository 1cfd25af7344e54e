"""Basic beta-likeness: no value is much more frequent in a class than in the original collection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy.base import Constraint, NotNegative, PrivacyModel
from hierdata.privacy.reference import Likeness, require_original


class BasicBetaLikeness(PrivacyModel):
    """No share grows by more than beta of itself: q <= (1 + beta) p (Cao and Karras, VLDB 2012, def. 2).

    p is a value's share in the original collection, including suppressed records, q its share among the
    values present at a vertex of a class. Shares that shrink are not limited. A value that the original lacks
    has p = 0 and may not occur. ``achieved_parameters`` gives the largest (q - p) / p, at least 0.

    >>> from hierdata.privacy.base import ClassView
    >>> domain = SensitiveDomain("$.a", ("flu", "HIV"), reference=(9, 1))
    >>> bound = BasicBetaLikeness(beta=1).bind(domain)
    >>> bound.holds(ClassView(5, {0: 4, 1: 1})), bound.holds(ClassView(4, {0: 3, 1: 1}))
    (True, False)
    """

    needs_reference: ClassVar[bool] = True
    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"beta": "max"}
    letters: ClassVar[Mapping[str, str]] = {
        "beta": "by how much of itself a value's share may grow from the whole collection to a class",
    }

    kind: Literal["basic-beta-likeness"] = "basic-beta-likeness"
    beta: NotNegative

    def bind(self, domain: SensitiveDomain | None) -> Constraint:
        """Build the constraint for one attribute. Raises PolicyError without a reference."""
        reference = require_original(domain, self.kind)
        return Likeness(reference, (1 + self.beta,) * len(reference), None)

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        return (
            f"No sensitive value is more than {float(1 + self.beta):g} times as frequent in a class as in "
            "the whole collection."
        )
