"""Figures of classes against slow twins: additional information loss, disclosure, classification."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np

from hierdata.forest.partition import Partition
from hierdata.metrics import METRICS
from hierdata.metrics.losses import AdditionalInformationLoss
from tests.cases import for_each
from tests.publications import publication_of
from tests.small_tables import table

Column = list[int | None]


def disclosure(column: Column, classes: list[list[int]]) -> Fraction:
    """The mean, over published rows with a value, of the share of their own value in their class."""
    chances = []
    for rows in classes:
        held = [column[row] for row in rows if column[row] is not None]
        chances += [Fraction(held.count(own), len(held)) for own in held]
    return sum(chances, Fraction(0)) / max(1, len(chances))


def disagreement(column: Column, classes: list[list[int]]) -> Fraction:
    """The share of the rows with a value that are suppressed or do not have the majority's."""
    agree = 0
    for rows in classes:
        held = [column[row] for row in rows if column[row] is not None]
        agree += max((held.count(own) for own in held), default=0)
    return 1 - Fraction(agree, sum(own is not None for own in column))


@for_each("seed", range(20))
def test_figures_are_those_of_the_twins(seed: int) -> None:
    rng = random.Random(seed)
    rows = [[rng.choice((1, 1, 2, None)), rng.choice((5, 6, 7))] for _ in range(rng.randint(3, 20))]
    rows[0] = [1, 5]
    built = table([], [[] for _ in rows], rows)
    # Without quasi-identifiers all classes would look alike: places are told apart by hand.
    class_of = np.array([rng.randrange(-1, 4) for _ in rows])
    first = np.array([-1 if own < 0 else int(np.flatnonzero(class_of == own)[0]) for own in class_of])
    whole = publication_of(built.forest, Partition(class_of, first, built.forest.nodes))
    publication = type(whole)(whole.parts, whole.shown, whole.nodes, first, class_of)
    classes = [np.flatnonzero(class_of == own).tolist() for own in range(4) if (class_of == own).any()]
    columns: list[Column] = [[own[at] for own in rows] for at in range(2)]
    rates = [disclosure(column, classes) for column in columns]
    shares = [disagreement(column, classes) for column in columns]
    figures = [
        [one.value for one in METRICS[name]().of(publication, built.forest)]
        for name in ("disclosure_rate", "classification_metric")
    ]
    assert figures == [[max(rates), *rates], [sum(shares, Fraction(0)) / 2, *shares]]
    least = Fraction(1, 2)
    extra = [(len(own) - least) / least for own in classes]
    (found,) = AdditionalInformationLoss(least).of(publication, built.forest)
    assert found.value == sum(extra, Fraction(0)) / max(1, len(extra))
