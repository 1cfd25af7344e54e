"""Resistance to homogeneity and background knowledge together (DR, table 8)."""

from __future__ import annotations

from fractions import Fraction

from hierdata.metrics.joint_counts import JointTally
from hierdata.metrics.risk import Known, Risk


class BackgroundResistance(Risk):
    """The share that background knowledge must supply: 1 - DR_X(Y), 0..1, higher is better.

    DR_X(Y) is the discrimination rate. 1: the published keys reveal nothing, so that everything must be known
    from elsewhere. See Risk for keys, X and weights.
    """

    symbol = "1 - DR"
    heading = "resistance"
    explanation = "1 minus the discrimination rate: what an attacker still has to know from elsewhere."
    better = "higher"
    asks = (Known,)

    def compute_figure(self, known: JointTally) -> Fraction | float:
        """See Risk.compute_figure."""
        return 1 - known.rate
