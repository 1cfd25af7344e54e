"""Metrics of information loss: generalized values, suppressed ones, and groups larger than they must be.

- ``LMCost``: the loss metric (ML section 5.1; Iyengar, KDD 2002).
- ``CertaintyPenalty``: the share of its domain that a published value may stand for (NCP and GCP).
- ``SuppressionRatio``: the share of records and vertices that is not published.
- ``AdditionalInformationLoss``: how much larger groups are than diversity requires (TC formula 8).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from hierdata.domains.base import Hierarchy
from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.metrics.base import (
    Added,
    Figure,
    Metric,
    Question,
    Same,
    Site,
    Sums,
    Tallies,
    collect_sums,
    count_numbers,
    quotients,
)


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
    for kind, trees in enumerate(forest.lm):
        vertices = np.flatnonzero(kept & (forest.type == kind))
        first = forest.first_node[publication.shown[vertices]]
        for position, losses in enumerate(trees):
            # Python integers, since the sum over all records may exceed 64 bits.
            counts = count_numbers(publication.measured_nodes[first + position])
            scaled += sum(count * int(losses[node]) for node, count in counts)
    total = Fraction(scaled, forest.lm_scale) + int(forest.quasi_count[~kept].sum())
    return _Lost(total, forest.record_count, len(forest.nodes))


class CertaintyPenalty(Metric):
    """NCP of each quasi-identifier and their mean over the table, GCP; 0..1, lower is better.

    NCP of a number or date is the width of what is published over the width of the domain, in all papers. Of
    a category it is leaves / all leaves, 0 for a leaf (Xu et al., KDD 2006; Ghinita et al., VLDB 2007), or
    (leaves - 1) / (all leaves - 1), which is LM' (``lm_cost``): figures of the second kind are named
    ``less_one``, and exist where there are categories. Suppressed values have NCP 1.

    ``gcp`` is the mean over all quasi-identifier values of the original, each of weight 1; for a table that
    is the sum over classes of size x NCP, divided by rows x quasi-identifiers. Each quasi-identifier has its
    mean under its path. All leaves are those of the hierarchy, whether or not they occur. A missing value is
    not a leaf and has NCP 0; in a set with other values it counts as a leaf. Figures are exact.
    """

    symbol = "NCP"
    better = "lower"
    gated = (
        "gcp",
        "gcp_less_one",
    )
    explanation = (
        "The share of its domain that a published value may stand for, for each quasi-identifier and over all"
        " (gcp): leaves divided by all leaves, or both less one."
    )

    def questions(self, forest: Forest) -> tuple[Question, ...]:
        """See Metric.questions."""
        return (_penalties,)

    def figures(self, tallies: Tallies) -> tuple[Figure, ...]:
        """See Metric.figures."""
        penalties: Sums[Site, _Penalty] = tallies[_penalties]
        by_path = [(site.path, penalties[site]) for site in sorted(penalties)]
        count = max(sum(penalty.values for _, penalty in by_path), 1)
        overall = sum((quotients(penalty.of_leaves) for _, penalty in by_path), Fraction(0))
        less_one = sum((quotients(penalty.less_one) for _, penalty in by_path), Fraction(0))
        figures = [_figure("gcp", overall / count), _figure("gcp_less_one", less_one / count)]
        for path, penalty in by_path:
            values = max(penalty.values, 1)
            figures.append(_figure(path, quotients(penalty.of_leaves) / values))
            if penalty.category.value:
                figures.append(_figure(f"{path} less_one", quotients(penalty.less_one) / values))
        return tuple(figures)


def _figure(name: str, value: Fraction) -> Figure:
    return Figure(name, value, "share of the domain", 0, 1, "lower")


@dataclass(frozen=True)
class _Penalty(Added):
    """For a quasi-identifier: number of values, sums of both NCP by divisor, whether it has categories."""

    values: int
    of_leaves: Sums[int, int]
    less_one: Sums[int, int]
    category: Same[bool]


def _penalties(publication: Publication, forest: Forest) -> Sums[Site, _Penalty]:
    penalties: Sums[Site, _Penalty] = Sums()
    for kind, trees in zip(forest.schema.types, forest.hierarchies, strict=True):
        vertices = np.flatnonzero(forest.type == kind.index)
        shown = publication.shown[vertices]
        first = forest.first_node[shown[shown >= 0]]
        gone = int((shown < 0).sum())
        for position, (attribute, tree) in enumerate(zip(kind.quasi, trees, strict=True)):
            counts = count_numbers(publication.measured_nodes[first + position])
            penalties[Site(kind.index, position, attribute.path)] = _Penalty(
                len(vertices),
                _sum_penalties(((count, _of_leaves(tree, node)) for node, count in counts), gone),
                _sum_penalties(((count, tree.lm[node]) for node, count in counts), gone),
                Same(tree.axis is None and tree.leaves > 0),
            )
    return penalties


def _sum_penalties(penalties: Iterable[tuple[int, Fraction]], gone: int) -> Sums[int, int]:
    """Sum counted penalties by divisor; each suppressed value adds 1."""
    return collect_sums(
        chain([(1, gone)], ((lost.denominator, count * lost.numerator) for count, lost in penalties))
    )


def _of_leaves(tree: Hierarchy, node: int) -> Fraction:
    """Return NCP as leaves / all leaves, 0 for a leaf; LM' gives the leaves of a node."""
    if tree.axis is not None or not tree.leaves or not tree.lm[node]:
        return tree.lm[node]
    return (tree.lm[node] * (tree.leaves - 1) + 1) / tree.leaves


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
        return Sums(enumerate(map(_sizes, publication.table_positions.values())))
    positions = publication.equivalence_position
    kinds = [kind for kind, domains in enumerate(forest.domains) if domains]
    return Sums({kind: _sizes(positions[forest.type == kind]) for kind in kinds})


def _sizes(places: NDArray[np.int64]) -> Sums[int, int]:
    _, sizes = np.unique(places[places >= 0], return_counts=True)
    return Sums(count_numbers(sizes))
