"""Suppression ratio: the share of what was there and is not published."""

from __future__ import annotations

from fractions import Fraction

from hierdata.forest import Forest
from hierdata.metrics.base import Figure, Metric
from hierdata.publication import Publication


class SuppressionRatio(Metric):
    """Suppressed records over all, and suppressed vertices over all; 0..1, lower is better."""

    symbol = "SR"
    counts_exempt = True

    def figures(self, publication: Publication, forest: Forest) -> tuple[Figure, ...]:
        """See Metric.figures."""
        records = int((publication.shown[forest.roots[:-1]] < 0).sum())
        vertices = int((publication.shown < 0).sum())
        return (
            Figure("records", Fraction(records, max(forest.record_count, 1)), "share", 0, 1, "lower"),
            Figure("vertices", Fraction(vertices, max(forest.vertex_count, 1)), "share", 0, 1, "lower"),
        )
