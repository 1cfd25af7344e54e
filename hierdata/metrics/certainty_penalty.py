"""Certainty penalty: which share of its domain a published value may stand for (NCP and GCP)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from hierdata.domains.base import Hierarchy
from hierdata.forest import Forest
from hierdata.metrics.base import Figure, Metric
from hierdata.publication import Publication
from hierdata.records.schema import Role


class CertaintyPenalty(Metric):
    """NCP of each quasi-identifier and their mean over the table, GCP; 0..1, lower is better.

    NCP of a number or date is the width of what is published over the width of the domain, in all papers. Of
    a category it is leaves / all leaves, 0 for a leaf (Xu et al., KDD 2006; Ghinita et al., VLDB 2007), or
    (leaves - 1) / (all leaves - 1), which is LM' (``lm_cost``): the figures of the second kind are called
    ``less_one``, and are given where there is a category. Suppressed values have NCP 1 (DECISIONS 18).

    ``gcp`` is the mean over all quasi-identifier values of the original, each of weight 1; of a table that is
    the sum over classes of size x NCP, over rows x quasi-identifiers. Under its path stands the mean of one
    quasi-identifier. All leaves are those of the hierarchy, whether or not they occur; a missing value is no
    leaf and has NCP 0, beside others in a set it counts as one. Figures are exact.
    """

    symbol = "NCP"

    def figures(self, publication: Publication, forest: Forest) -> tuple[Figure, ...]:
        """See Metric.figures."""
        by_path = list(_penalties(publication, forest))
        count = max(sum(values for _, values, *_ in by_path), 1)
        overall = sum((lost for *_, lost, _ in by_path), Fraction(0))
        less_one = sum((lost for *_, lost in by_path), Fraction(0))
        found = [_figure("gcp", overall / count), _figure("gcp_less_one", less_one / count)]
        for path, values, category, own, own_less_one in by_path:
            found.append(_figure(path, own / max(values, 1)))
            if category:
                found.append(_figure(f"{path} less_one", own_less_one / max(values, 1)))
        return tuple(found)


def _figure(name: str, value: Fraction) -> Figure:
    return Figure(name, value, "share of the domain", 0, 1, "lower")


def _penalties(
    publication: Publication, forest: Forest
) -> Iterator[tuple[str, int, bool, Fraction, Fraction]]:
    """Of each quasi-identifier its path, its values, whether it has categories, and the sums of both NCP."""
    for kind, own in zip(forest.schema.types, forest.hierarchies, strict=True):
        vertices = np.flatnonzero(forest.type == kind.index)
        shown = publication.shown[vertices]
        first = forest.first_node[shown[shown >= 0]]
        gone = int((shown < 0).sum())
        for position, (attribute, tree) in enumerate(zip(kind.of_role(Role.QUASI), own, strict=True)):
            counts = np.bincount(publication.nodes[first + position]).tolist()
            held = [(node, count) for node, count in enumerate(counts) if count and tree.lm[node]]
            of_leaves = sum((count * _of_leaves(tree, node) for node, count in held), Fraction(gone))
            less_one = sum((count * tree.lm[node] for node, count in held), Fraction(gone))
            yield attribute.path, len(vertices), tree.axis is None, of_leaves, less_one


def _of_leaves(tree: Hierarchy, node: int) -> Fraction:
    """NCP by leaves / all leaves, 0 for a leaf: LM' tells the leaves of a node."""
    if tree.axis is not None or not tree.lm[node]:
        return tree.lm[node]
    return (tree.lm[node] * (tree.leaves - 1) + 1) / tree.leaves
