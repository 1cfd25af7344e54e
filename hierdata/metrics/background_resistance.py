"""Resistance to homogeneity and background knowledge together (DR, table 8)."""

from __future__ import annotations

from fractions import Fraction

from hierdata.metrics.joint_counts import JointTally
from hierdata.metrics.risk import Known, Risk


class BackgroundResistance(Risk):
    """What is left to background knowledge: 1 - DR_X(Y), 0..1, higher is better.

    DR_X(Y) is the discrimination rate; 1: the published keys tell nothing, so that all must be known from
    elsewhere. For what keys, X and weights are, see Risk.
    """

    symbol = "1 - DR"
    heading = "resistance"
    explanation = "One less the discrimination rate: what somebody still has to know from elsewhere."
    better = "higher"
    asks = (Known,)

    def learned(self, known: JointTally) -> Fraction | float:
        """See Risk.learned."""
        return 1 - known.rate
