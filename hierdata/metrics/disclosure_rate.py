"""Disclosure rate: how often a guess from the class tells a sensitive value (TC section 5, erratum TC-10)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from hierdata.forest import Forest
from hierdata.metrics.base import Figure, Metric
from hierdata.metrics.columns import Column, columns
from hierdata.publication import Publication


class DisclosureRate(Metric):
    """The share of right guesses of somebody who draws each person's value at random from the class.

    TC reports a disclosure rate and defines none (TC-10); this is our definition. At a place with n values,
    c of them equal to a vertex's own, that vertex counts c / n. The figure is the mean over the published
    vertices that have a value, for each sensitive attribute under its path, and ``largest`` of them; 0..1,
    lower is better, 0 where nothing is published. Places of l equally frequent values come to 1 / l.

    It is a mean: a few classes that tell everything hardly show, which is what the models bound. It counts
    what the whole table tells too, so it cannot fall far below the sum of the squared shares of the values.
    Other attributes and similar values are not looked at.
    """

    symbol = "DIS"

    def figures(self, publication: Publication, forest: Forest) -> tuple[Figure, ...]:
        """See Metric.figures; none where no sensitive attribute has values."""
        rates = {own.path: _rate(own) for own in columns(publication, forest)}
        found = {"largest": max(rates.values()), **rates} if rates else {}
        return tuple(Figure(name, rate, "share", 0, 1, "lower") for name, rate in found.items())


def _rate(own: Column) -> Fraction:
    """The sum over places of sum c^2 / n, over all values; places of one size are added up as integers."""
    sizes, places, counts = own.counted()
    squares = np.zeros(len(sizes), np.int64)
    np.add.at(squares, places, counts**2)
    right = sum(
        (Fraction(int(squares[sizes == size].sum()), size) for size in np.unique(sizes).tolist()),
        Fraction(0),
    )
    return right / max(1, int(sizes.sum()))
