"""Identity risk: how far published keys narrow down what they were (DR, table 6)."""

from __future__ import annotations

from fractions import Fraction

from hierdata.metrics.joint_counts import JointTally
from hierdata.metrics.risk import Linked, Risk


class IdentityRisk(Risk):
    """The rate of the original keys O given the published ones Y: DR_O(Y) = 1 - H(O|Y) / H(O).

    Over all published vertices of the attribute's type; 0..1, lower is better. 1: the keys are published as
    they were; 0: Y tells nothing of them. Keys that are the same everywhere have 0 (erratum DR-11). O are
    the values of the known keys together; of the whole record its original form and the place in it. It
    asks for keys and weight, not for values of X, so attributes of one type have one figure. Whom
    of a population a key singles out it does not say: that is what k-map bounds.
    """

    symbol = "DR(O)"
    heading = "identity"
    explanation = (
        "How far the published quasi-identifiers narrow down what they were: 0 where they tell nothing of it,"
        " 1 where they are published as they were."
    )
    linked = True
    asks = (Linked.of,)

    def learned(self, linked: JointTally) -> Fraction | float:
        """See Risk.learned."""
        return linked.rate
