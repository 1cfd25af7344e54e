"""Distance of the distribution given one key from that of the original collection (erratum DR-10)."""

from __future__ import annotations

from fractions import Fraction

from hierdata.metrics.joint_counts import JointTally
from hierdata.metrics.risk import Known, Risk, Usual
from hierdata.metrics.skew import skew


class SkewnessDistance(Risk):
    """The greatest distance of X given any published key y from X in the original collection.

    Half the sum of |p(x|y) - p(x)|, 0..1, lower is better: t-closeness where all values are equally far
    apart, for the classes that the known keys define. p(x) is over the whole original collection.
    See Risk for keys, X and weights.
    """

    symbol = "t"
    heading = "distance"
    explanation = (
        "How far the odds of sensitive values where the published quasi-identifiers tell most are from those "
        "of the whole collection: half the sum of the differences of shares."
    )
    asks = (Known, Usual)

    def compute_figure(self, known: JointTally, usual: JointTally) -> Fraction | float:
        """See Risk.compute_figure."""
        return skew(known, usual)[0]
