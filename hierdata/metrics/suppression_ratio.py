"""Suppression ratio: the share of records and vertices that is not published."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.metrics.base import Figure, Metric, Question, Tallies
from hierdata.metrics.sums import Added


class SuppressionRatio(Metric):
    """Suppressed records over all, and suppressed vertices over all; 0..1, lower is better."""

    symbol = "SR"
    better = "lower"
    gated = (
        "records",
        "vertices",
    )
    explanation = "The share of the input's records, or vertices, that is not published."
    counts_exempt = True

    def questions(self, forest: Forest) -> tuple[Question, ...]:
        """See Metric.questions."""
        return (_count_suppressed,)

    def figures(self, tallies: Tallies) -> tuple[Figure, ...]:
        """See Metric.figures."""
        gone: _Gone = tallies[_count_suppressed]
        return (
            Figure("records", Fraction(gone.records, max(gone.all_records, 1)), "share", 0, 1, "lower"),
            Figure("vertices", Fraction(gone.vertices, max(gone.all_vertices, 1)), "share", 0, 1, "lower"),
        )


@dataclass(frozen=True)
class _Gone(Added):
    records: int
    all_records: int
    vertices: int
    all_vertices: int


def _count_suppressed(publication: Publication, forest: Forest) -> _Gone:
    gone = publication.shown < 0
    records = int(gone[forest.roots[:-1]].sum())
    return _Gone(records, forest.record_count, int(gone.sum()), forest.vertex_count)
