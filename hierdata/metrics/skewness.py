"""Skewness: by how much generalization lowered the discrimination rate (DR, section 6.1)."""

from __future__ import annotations

from fractions import Fraction

from hierdata.metrics.joint_counts import JointTally
from hierdata.metrics.risk import Known, Risk, Usual


class Skewness(Risk):
    """DR_X(O) - DR_X(Y): the rate of the original keys O, less that of the published keys Y, -1..1.

    Higher is better: it is what generalization took away, though the paper calls it the attacker's gain
    (erratum DR-10); skewness_distance and skewness_divergence measure the gain. DR_X(O) is over the whole
    original collection, so no vertex needs to be linked. Without suppression it is not negative: coarser keys
    never reveal more. See Risk for keys, X and weights.
    """

    symbol = "DR(O) - DR"
    heading = "skewness"
    explanation = (
        "By how much generalizing lowered the discrimination rate; it says nothing of how far the odds in a "
        "class are from those of the collection."
    )
    low = -1
    better = "higher"
    asks = (Known, Usual)

    def compute_figure(self, known: JointTally, usual: JointTally) -> Fraction | float:
        """See Risk.compute_figure."""
        return usual.rate - known.rate
