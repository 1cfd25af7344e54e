"""Relative entropy of the distribution given one key to that of the original, in bits (erratum DR-10)."""

from __future__ import annotations

from fractions import Fraction

from hierdata.metrics.joint_counts import JointTally
from hierdata.metrics.risk import Known, Risk, Usual
from hierdata.metrics.skew import skew


class SkewnessDivergence(Risk):
    """The greatest relative entropy of X given any published key y from X in the original collection.

    The sum of p(x|y) log2 (p(x|y) / p(x)), in bits, 0 and more, lower is better. p(x) is over the whole
    original collection. See Risk for keys, X and weights.
    """

    symbol = "D"
    heading = "divergence"
    explanation = "The same difference as relative entropy, in bits."
    unit = "bits"
    high = None
    asks = (Known, Usual)

    def compute_figure(self, known: JointTally, usual: JointTally) -> Fraction | float:
        """See Risk.compute_figure."""
        return skew(known, usual)[1]
