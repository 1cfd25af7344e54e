"""A part of a publication (see hierdata.testing.metrics) whose nodes have other numbers."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from hierdata.domains.base import Hierarchy
from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.testing.metrics import Part, cut

__all__ = ["cut", "renumbered"]


def renumbered(publication: Publication, forest: Forest, rng: random.Random) -> Part:
    """The same part where of the nodes that were made for a publication it has its own, in any order."""
    nodes = publication.nodes.copy()
    shown = np.unique(publication.shown[publication.shown >= 0])
    trees: list[list[Hierarchy]] = []
    for kind, own in enumerate(forest.hierarchies):
        trees.append([])
        first = forest.first_node[shown[forest.type[shown] == kind]]
        for position, tree in enumerate(own):
            shared = len(tree.labels) - (tree.made or 0)
            at = first + position
            used = [node for node in set(nodes[at].tolist()) if node >= shared]
            kept = [*range(shared), *rng.sample(used, len(used))]
            number = np.full(len(tree.labels), -1, np.int32)
            number[kept] = np.arange(len(kept))
            nodes[at] = number[nodes[at]]
            made = None if tree.made is None else len(used)
            labels, ancestors, lm = (
                tuple(column[node] for node in kept) for column in (tree.labels, tree.ancestors, tree.lm)
            )
            trees[kind].append(replace(tree, labels=labels, ancestors=ancestors, lm=lm, made=made))
    own_forest = replace(forest, hierarchies=tuple(map(tuple, trees)))
    vars(own_forest)["_scale"] = (forest.lm_scale, forest.exact)
    return replace(publication, nodes=nodes), own_forest
