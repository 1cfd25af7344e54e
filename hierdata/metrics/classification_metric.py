"""Classification metric: how many disagree with the majority of their class (Iyengar, KDD 2002)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.metrics.base import Figure, Metric, Question, Tallies
from hierdata.metrics.columns import Column, columns
from hierdata.metrics.sums import Added, Site, Sums


class ClassificationMetric(Metric):
    """The share of vertices whose sensitive value is not the most frequent one at their place.

    Of n vertices with a value of the attribute, those count that are suppressed, and those whose value is not
    the majority's among the vertices that cannot be told apart; of equally frequent values one is the
    majority. 0..1, for each sensitive attribute under its path, and their ``mean``. Lower is better, for who
    learns a rule from the classes (Iyengar, KDD 2002, with the sensitive value as the label); low figures go
    with classes of one value, so it is no measure of privacy.
    """

    symbol = "CM"
    better = "lower"
    gated = ("mean",)
    explanation = (
        "The share of vertices that are suppressed, or whose sensitive value is not the most frequent at its "
        "place: lower serves who learns a rule from the data, not who protects it."
    )

    def questions(self, forest: Forest) -> tuple[Question, ...]:
        """See Metric.questions."""
        return (_agreeing,)

    def figures(self, tallies: Tallies) -> tuple[Figure, ...]:
        """See Metric.figures; none where no sensitive attribute has values."""
        agreeing: Sums[Site, _Agreeing] = tallies[_agreeing]
        shares = {
            site.path: 1 - Fraction(agreeing[site].vertices, agreeing[site].all) for site in sorted(agreeing)
        }
        found = {"mean": sum(shares.values(), Fraction(0)) / len(shares), **shares} if shares else {}
        return tuple(Figure(name, share, "share", 0, 1, "lower") for name, share in found.items())


@dataclass(frozen=True)
class _Agreeing(Added):
    """How many vertices have the most frequent value of their place, of all that have a value."""

    vertices: int
    all: int


def _agreeing(publication: Publication, forest: Forest) -> Sums[Site, _Agreeing]:
    return Sums(
        {own.site: _Agreeing(_majorities(own), len(own.codes)) for own in columns(publication, forest)}
    )


def _majorities(own: Column) -> int:
    """How many vertices have the most frequent value of their place."""
    sizes, places, counts = own.counted()
    most = np.zeros(len(sizes), np.int64)
    np.maximum.at(most, places, counts)
    return int(most.sum())
