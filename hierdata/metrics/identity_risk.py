"""Identity risk: how far published keys narrow down the original ones (DR, table 6)."""

from __future__ import annotations

from fractions import Fraction

from hierdata.metrics.joint_counts import JointTally
from hierdata.metrics.risk import Linked, Risk


class IdentityRisk(Risk):
    """The rate of the original keys O given the published ones Y: DR_O(Y) = 1 - H(O|Y) / H(O).

    Over all published vertices of the attribute's type; 0..1, lower is better. 1: the keys are published as
    they were; 0: Y reveals nothing of them. Constant keys have 0 (erratum DR-11). O is the combination of
    values of the known keys; for the whole record, its original form and the position in it. It depends on
    keys and weight, not on the values of X, so all attributes of a type have the same figure. It does not
    say whom of a population a key singles out; k-map bounds that.
    """

    symbol = "DR(O)"
    heading = "identity"
    explanation = (
        "How far the published quasi-identifiers narrow down what they were: 0 where they tell nothing of it,"
        " 1 where they are published as they were."
    )
    linked = True
    asks = (Linked.of,)

    def compute_figure(self, linked: JointTally) -> Fraction | float:
        """See Risk.compute_figure."""
        return linked.rate
