"""Classification metric: the share that differs from the majority of its class (Iyengar, KDD 2002)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.metrics.base import Figure, Metric, Question, Tallies
from hierdata.metrics.columns import PublishedColumn, columns
from hierdata.metrics.sums import Added, Site, Sums


class ClassificationMetric(Metric):
    """The share of vertices whose sensitive value is not the most frequent one at their position.

    Of all vertices with a value of the attribute, it counts the suppressed ones, and those whose value is not
    the majority's among the vertices that cannot be told apart; ties have one majority. 0..1, for each
    sensitive attribute under its path, and their ``mean``. Lower is better for learning rules from the
    classes (Iyengar, KDD 2002, with the sensitive value as the label). Classes of one value have low figures,
    so it is no measure of privacy.
    """

    symbol = "CM"
    better = "lower"
    gated = ("mean",)
    explanation = (
        "The share of vertices that are suppressed, or whose sensitive value is not the most frequent at its "
        "place: lower is better for learning rules from the data, not for protecting it."
    )

    def questions(self, forest: Forest) -> tuple[Question, ...]:
        """See Metric.questions."""
        return (_count_agreeing,)

    def figures(self, tallies: Tallies) -> tuple[Figure, ...]:
        """See Metric.figures; empty if no sensitive attribute has values."""
        agreeing: Sums[Site, _Agreeing] = tallies[_count_agreeing]
        shares = {
            site.path: 1 - Fraction(agreeing[site].vertices, agreeing[site].all) for site in sorted(agreeing)
        }
        found = {"mean": sum(shares.values(), Fraction(0)) / len(shares), **shares} if shares else {}
        return tuple(Figure(name, share, "share", 0, 1, "lower") for name, share in found.items())


@dataclass(frozen=True)
class _Agreeing(Added):
    """The number of vertices with the most frequent value of their position, and of all with a value."""

    vertices: int
    all: int


def _count_agreeing(publication: Publication, forest: Forest) -> Sums[Site, _Agreeing]:
    return Sums(
        {own.site: _Agreeing(_majorities(own), len(own.codes)) for own in columns(publication, forest)}
    )


def _majorities(own: PublishedColumn) -> int:
    """Count the vertices that have the most frequent value of their position."""
    sizes, places, counts = own.count_places()
    most = np.zeros(len(sizes), np.int64)
    np.maximum.at(most, places, counts)
    return int(most.sum())
