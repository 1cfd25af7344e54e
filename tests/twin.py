"""An encoded collection in the form of the twin: labels are node numbers, values are codes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from hierdata.domains.base import Hierarchy
from hierdata.engines import Constraints
from hierdata.forest.forest import Forest
from hierdata.forest.partition import Partition
from tests import naive
from tests.random_collections import Collection


class HierarchyTaxonomy(naive.Taxonomy):
    """A compiled hierarchy, which need not be a tree (bins of 2 and 5 years), asked for joins and losses."""

    def __init__(self, hierarchy: Hierarchy, scale: int | None):
        parent = {node: None if node == 0 else 0 for node in range(len(hierarchy.labels))}
        super().__init__(parent, scale=scale, losses=dict(enumerate(hierarchy.lm)))
        self._hierarchy = hierarchy

    def join(self, a: Any, b: Any) -> Any:
        if (a, b) not in self._joins:
            self._joins[a, b] = a if a == b else self._hierarchy.join(a, b)
        return self._joins[a, b]


def schema_of(forest: Forest, scale: int | None = None) -> naive.Schema:
    """The twin's schema; with a scale its losses are integers."""
    return naive.Schema(
        {
            str(kind): [HierarchyTaxonomy(tree, scale) for tree in own]
            for kind, own in enumerate(forest.hierarchies)
        }
    )


def trees_of(forest: Forest) -> list[naive.Tree]:
    """Every record as a tree."""

    def tree(v: int) -> naive.Tree:
        kind = int(forest.type[v])
        node, value = int(forest.first_node[v]), int(forest.first_sensitive[v])
        codes = forest.sensitive[value : value + len(forest.domains[kind])].tolist()
        first = int(forest.first_child[v])
        return naive.Tree(
            str(kind),
            forest.nodes[node : node + len(forest.hierarchies[kind])].tolist(),
            [code if code >= 0 else None for code in codes],
            [tree(child) for child in range(first, first + int(forest.child_count[v]))],
        )

    return [tree(int(root)) for root in forest.roots[:-1]]


def weighted_loss(built: Collection, partition: Partition) -> Fraction:
    """The loss of a partition by the collection's weights, vertex by vertex."""
    forest, schema, lost = built.forest, built.naive_schema, Fraction(0)
    for kind, shown in zip(forest.type.tolist(), partition.representative.tolist(), strict=True):
        if shown < 0:
            lost += schema.own_cost(str(kind))
            continue
        weights = schema.weights.get(str(kind), [1] * len(forest.hierarchies[kind]))
        nodes = partition.nodes[forest.first_node[shown] :]
        for weight, tree, node in zip(weights, forest.hierarchies[kind], nodes, strict=False):
            lost += weight * tree.lm[node]
    return lost


def caps_of(constraints: Constraints) -> list[naive.ShareCap]:
    """The share caps of bound models; groups, shares and reach are those of the models' definitions."""
    return [
        naive.ShareCap(
            str(kind),
            position,
            bound.caps.group_of.__getitem__,
            bound.caps.share.__getitem__,
            bound.caps.most,
            None if bound.caps.reach is None else partial(_within, bound.caps.reach),
        )
        for kind, attributes in enumerate(constraints.on_values)
        for position, constraints_here in enumerate(attributes)
        for bound in constraints_here
        if bound.caps is not None
    ]


def _within(reach: Sequence[tuple[int, int]], group: int, other: int) -> bool:
    low, high = reach[group]
    return low <= other <= high
