"""A metric: how many records a class has on average."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.metrics.base import Added, Figure, Metric, Question, Tallies


class MeanClassSize(Metric):
    """Published records over classes, at least 1; none where nothing is published."""

    symbol = "MCS"
    better = "lower"
    gated = ("records",)
    explanation = "How many records a class has on average."

    def questions(self, forest: Forest) -> tuple[Question, ...]:
        return (_sizes,)

    def figures(self, tallies: Tallies) -> tuple[Figure, ...]:
        sizes: _Sizes = tallies[_sizes]
        if not sizes.classes:
            return ()
        return (Figure("records", Fraction(sizes.records, sizes.classes), "records", 1, None, "lower"),)


@dataclass(frozen=True)
class _Sizes(Added):
    records: int
    classes: int


def _sizes(publication: Publication, forest: Forest) -> _Sizes:
    classes = publication.equivalence_class[forest.roots[:-1]]
    published = classes[classes >= 0]
    return _Sizes(len(published), len(set(published.tolist())))
