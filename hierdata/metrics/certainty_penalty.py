"""Certainty penalty: the share of its domain that a published value may stand for (NCP and GCP)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

import numpy as np

from hierdata.domains.base import Hierarchy
from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.metrics.base import Figure, Metric, Question, Tallies
from hierdata.metrics.sums import Added, Same, Site, Sums, collect_sums, quotients


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
        count = max(sum(own.values for _, own in by_path), 1)
        overall, less_one = (
            sum((quotients(lost) for lost in column), Fraction(0))
            for column in ([own.of_leaves for _, own in by_path], [own.less_one for _, own in by_path])
        )
        found = [_figure("gcp", overall / count), _figure("gcp_less_one", less_one / count)]
        for path, own in by_path:
            found.append(_figure(path, quotients(own.of_leaves) / max(own.values, 1)))
            if own.category.value:
                found.append(_figure(f"{path} less_one", quotients(own.less_one) / max(own.values, 1)))
        return tuple(found)


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
    found: Sums[Site, _Penalty] = Sums()
    for kind, own in zip(forest.schema.types, forest.hierarchies, strict=True):
        vertices = np.flatnonzero(forest.type == kind.index)
        shown = publication.shown[vertices]
        first = forest.first_node[shown[shown >= 0]]
        gone = int((shown < 0).sum())
        for position, (attribute, tree) in enumerate(zip(kind.quasi, own, strict=True)):
            counts = np.bincount(publication.measured_nodes[first + position])
            nodes = np.flatnonzero(counts)
            held = [*zip(nodes.tolist(), counts[nodes].tolist(), strict=True)]
            found[Site(kind.index, position, attribute.path)] = _Penalty(
                len(vertices),
                _sum_penalties(((count, _of_leaves(tree, node)) for node, count in held), gone),
                _sum_penalties(((count, tree.lm[node]) for node, count in held), gone),
                Same(tree.axis is None),
            )
    return found


def _sum_penalties(penalties: Iterable[tuple[int, Fraction]], gone: int) -> Sums[int, int]:
    """Sum counted penalties by divisor; each suppressed value adds 1."""
    return collect_sums(
        chain([(1, gone)], ((lost.denominator, count * lost.numerator) for count, lost in penalties))
    )


def _of_leaves(tree: Hierarchy, node: int) -> Fraction:
    """Return NCP as leaves / all leaves, 0 for a leaf; LM' gives the leaves of a node."""
    if tree.axis is not None or not tree.lm[node]:
        return tree.lm[node]
    return (tree.lm[node] * (tree.leaves - 1) + 1) / tree.leaves
