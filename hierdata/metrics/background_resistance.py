"""Resistance to homogeneity and background knowledge together (DR, table 8)."""

from __future__ import annotations

from fractions import Fraction

from hierdata.metrics.risk import Learned, Risk


class BackgroundResistance(Risk):
    """What is left to background knowledge: 1 - DR_X(Y), 0..1, higher is better.

    DR_X(Y) is the discrimination rate; 1: the published keys tell nothing, so that all must be known from
    elsewhere. For what keys, X and weights are, see Risk.
    """

    symbol = "1 - DR"
    better = "higher"

    def of(self, learned: Learned) -> Fraction | float:
        """See Risk.of."""
        return 1 - learned.rate
