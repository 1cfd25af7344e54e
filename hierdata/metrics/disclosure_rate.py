"""Disclosure rate: how often a guess from the class is right (TC section 5, erratum TC-10)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.metrics.base import Figure, Metric, Question, Tallies
from hierdata.metrics.columns import columns
from hierdata.metrics.sums import Added, Site, Sums, quotients, sum_by_divisor


class DisclosureRate(Metric):
    """The share of right guesses if each person's value is drawn at random from the class.

    TC reports a disclosure rate but does not define it (TC-10); this is our definition. At a position with n
    values, c of them equal to a vertex's own, that vertex counts c / n. The figure is the mean over the
    published vertices that have a value, for each sensitive attribute under its path, and ``largest`` of
    them; 0..1, lower is better, 0 if nothing is published. Positions of l equally frequent values have 1 / l.

    It is a mean, so a few classes that reveal everything hardly change it; such classes are bounded by the
    models. It includes what the whole table reveals, so it cannot fall far below the sum of the squared
    shares of the values. Other attributes and similar values are ignored.
    """

    symbol = "DIS"
    better = "lower"
    gated = ("largest",)
    explanation = (
        "The share of right guesses if each person's sensitive value is drawn at random from the class."
    )

    def questions(self, forest: Forest) -> tuple[Question, ...]:
        """See Metric.questions."""
        return (_guesses,)

    def figures(self, tallies: Tallies) -> tuple[Figure, ...]:
        """See Metric.figures; empty if no sensitive attribute has values."""
        guesses: Sums[Site, _Guesses] = tallies[_guesses]
        rates = {
            site.path: quotients(guesses[site].right) / max(1, guesses[site].values)
            for site in sorted(guesses)
        }
        found = {"largest": max(rates.values()), **rates} if rates else {}
        return tuple(Figure(name, rate, "share", 0, 1, "lower") for name, rate in found.items())


@dataclass(frozen=True)
class _Guesses(Added):
    """The sum over positions of sum c^2 / n, by n, and the number of published values."""

    right: Sums[int, int]
    values: int


def _guesses(publication: Publication, forest: Forest) -> Sums[Site, _Guesses]:
    found: Sums[Site, _Guesses] = Sums()
    for own in columns(publication, forest):
        sizes, places, counts = own.count_places()
        squares = np.zeros(len(sizes), np.int64)
        np.add.at(squares, places, counts**2)
        found[own.site] = _Guesses(sum_by_divisor(squares, sizes), int(sizes.sum()))
    return found
