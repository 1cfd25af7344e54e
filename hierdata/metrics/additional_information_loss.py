"""Additional information loss: how much larger groups are than diversity requires (TC formula 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.metrics.base import Figure, Metric, Question, Tallies
from hierdata.metrics.sums import Sums


class AdditionalInformationLoss(Metric):
    """The mean over sensitive tables of the mean over groups G of (|G| - l) / l.

    As TC formula 8 with erratum TC-7: each table is divided by the number of its own groups. A table is a
    vertex type with sensitive attributes (tables of one type have the same groups) or, with slicing by table,
    a sensitive table; a group the vertices whose values cannot be told apart. ``l`` is the largest that the
    models ask for; without one, the size of the smallest group. 0 or more, without upper bound; lower is
    better; 0 for a table without groups.
    Suppression is not included: see ``suppression_ratio``.
    """

    symbol = "AIL"
    better = "lower"
    gated = ("total",)
    explanation = "By how much groups are larger than the l of diversity, as a share of it."

    def __init__(self, l: Fraction | None = None) -> None:  # noqa: E741  (the paper's letter)
        self._l = l

    @classmethod
    def under(cls, diversity: Fraction | None) -> AdditionalInformationLoss:
        """Build the metric with the l that the models ask for."""
        return cls(diversity)

    def questions(self, forest: Forest) -> tuple[Question, ...]:
        """See Metric.questions."""
        return (_groups,)

    def figures(self, tallies: Tallies) -> tuple[Figure, ...]:
        """See Metric.figures; empty without sensitive attributes, or if a group is smaller than l."""
        groups: Sums[int, Sums[int, int]] = tallies[_groups]
        tables = [*groups.values()]
        least = min((min(sizes) for sizes in tables if sizes), default=1)
        floor = Fraction(least) if self._l is None else self._l
        if not tables or floor > least:
            return ()
        return (Figure("total", additional(tables, floor), "share of l", 0, None, "lower"),)


def additional(tables: Sequence[Mapping[int, int]], l: Fraction) -> Fraction:  # noqa: E741
    """Compute the figure from the number of groups of each size, by table.

    >>> additional([{3: 2, 4: 1}, {5: 2}], Fraction(3))
    Fraction(7, 18)
    """
    means = [
        sum((count * (size - l) / l for size, count in sizes.items()), Fraction(0))
        / max(1, sum(sizes.values()))
        for sizes in tables
    ]
    return sum(means, Fraction(0)) / max(1, len(means))


def _groups(publication: Publication, forest: Forest) -> Sums[int, Sums[int, int]]:
    """Count the groups of each size, by vertex type with sensitive attributes, or by table."""
    if publication.table_positions:
        return Sums({at: _sizes(own) for at, own in enumerate(publication.table_positions.values())})
    positions = publication.equivalence_position
    return Sums(
        {kind: _sizes(positions[forest.type == kind]) for kind, own in enumerate(forest.domains) if own}
    )


def _sizes(places: NDArray[np.int64]) -> Sums[int, int]:
    _, sizes = np.unique(places[places >= 0], return_counts=True)
    found, counts = np.unique(sizes, return_counts=True)
    return Sums(zip(found.tolist(), counts.tolist(), strict=True))
