"""Discrimination rate: how far published keys narrow down a sensitive attribute (DR, definitions 3, 4, 7)."""

from __future__ import annotations

from fractions import Fraction

from hierdata.metrics.joint_counts import JointTally
from hierdata.metrics.risk import Known, Risk


class DiscriminationRate(Risk):
    """The rate of each sensitive attribute X given the published keys Y together (erratum DR-8).

    DR_X(Y) = 1 - H(X|Y) / H(X), over the published vertices that have X. 0: the keys reveal nothing, 1: they
    reveal everything; lower is better. It is the paper's homogeneity risk (table 7). The rate never falls
    when keys are added. See Risk for keys, X and weights.

    The paper also has rates of single values, which depend on how frequent a value is (erratum DR-7); they
    are not figures of a release: see ``rates.ValueRate``.
    """

    symbol = "DR"
    heading = "rate"
    explanation = (
        "How far the published quasi-identifiers together narrow down a sensitive value: 0 where they tell "
        "nothing of it, 1 where they tell it."
    )
    asks = (Known,)

    def compute_figure(self, known: JointTally) -> Fraction | float:
        """See Risk.compute_figure."""
        return known.rate
