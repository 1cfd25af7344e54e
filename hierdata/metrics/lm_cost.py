"""LM cost: the loss by generalization and suppression (ML section 5.1; Iyengar, KDD 2002)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.metrics.base import Figure, Metric, Question, Tallies
from hierdata.metrics.sums import Added


class LMCost(Metric):
    """The sum of LM' over the published quasi-identifier values, and 1 for each suppressed one.

    LM' of a category is (leaves below - 1) / (all leaves - 1), of a number or date the width of what is
    published over the width of the domain; 0 for an original value, 1 for the root. ``total`` is over all
    original records, ``per_record`` divides by their number, ``per_value`` by the number of their
    quasi-identifier values (0..1). Lower is better. Suppressed records count in full, which the paper
    leaves open.
    """

    symbol = "LM"
    better = "lower"
    gated = (
        "total",
        "per_record",
        "per_value",
    )
    explanation = (
        "The loss metric: 0 for an unchanged quasi-identifier, 1 for one that is suppressed or *, in between "
        "the share of the domain that a published value covers."
    )

    def questions(self, forest: Forest) -> tuple[Question, ...]:
        """See Metric.questions."""
        return (_sum_losses,)

    def figures(self, tallies: Tallies) -> tuple[Figure, ...]:
        """See Metric.figures."""
        lost: _Lost = tallies[_sum_losses]
        unit, total = "quasi-identifier values", lost.total
        return (
            Figure("total", total, unit, 0, lost.values, "lower"),
            Figure("per_record", total / max(lost.records, 1), unit, 0, None, "lower"),
            Figure("per_value", total / max(lost.values, 1), "share", 0, 1, "lower"),
        )


@dataclass(frozen=True)
class _Lost(Added):
    total: Fraction
    records: int
    values: int


def _sum_losses(publication: Publication, forest: Forest) -> _Lost:
    kept = publication.shown >= 0
    scaled = 0
    for kind, own in enumerate(forest.lm):
        vertices = np.flatnonzero(kept & (forest.type == kind))
        first = forest.first_node[publication.shown[vertices]]
        for position, losses in enumerate(own):
            counts = np.bincount(publication.measured_nodes[first + position], minlength=len(losses))
            # Python integers, since the sum over all records may exceed 64 bits.
            scaled += sum(count * loss for count, loss in zip(counts.tolist(), losses.tolist(), strict=True))
    total = Fraction(scaled, forest.lm_scale) + int(forest.quasi_count[~kept].sum())
    return _Lost(total, forest.record_count, len(forest.nodes))
