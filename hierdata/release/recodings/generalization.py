"""Each record with generalized quasi-identifiers and its own sensitive values, by class or by one depth."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hierdata.domains.base import Hierarchy
from hierdata.forest.forest import Forest
from hierdata.forest.partition import Partition
from hierdata.ground.recodings import TRAITS, RecodingTraits
from hierdata.release.recodings.base import ByRecord


class Generalization(ByRecord):
    """Local recoding: each class is published by the nodes that the search gave it, as ByRecord writes it."""

    traits: ClassVar[RecodingTraits] = TRAITS["generalization"]


class FullDomainRecoding(ByRecord):
    """Every value of a quasi-identifier is published as its node at one depth (Samarati, TKDE 2001).

    The depth is the same for all records: the greatest at which the members of every class are published
    alike, whatever engine found the classes, and no greater than that for which the engine judged them: how
    many of a population fit a class depends on it, even where the class is the same. A value whose path ends
    above it is published as it is (``Hierarchy.at_depth``). Classes that come out alike are judged as one.
    Children are written as ``ByRecord`` says.
    """

    traits: ClassVar[RecodingTraits] = TRAITS["full_domain"]

    def prepare(self, forest: Forest, partition: Partition) -> tuple[Forest, Partition]:
        """See Recoding.prepare; chooses the nodes at the common depths."""
        nodes = partition.nodes.copy()
        for kind, trees in enumerate(forest.hierarchies):
            members = np.flatnonzero((forest.type == kind) & (partition.representative >= 0))
            first = forest.first_node[members]
            of_class = forest.first_node[partition.representative[members]]
            for position, tree in enumerate(trees):
                representing, judged = forest.nodes[of_class + position], partition.nodes[of_class + position]
                nodes[first + position] = _uniform(tree, forest.nodes[first + position], representing, judged)
        return forest, replace(partition, nodes=nodes)


def _uniform(
    tree: Hierarchy, nodes: NDArray[np.int32], of_class: NDArray[np.int32], judged: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return the nodes of values at the greatest depth where each equals that of its representative.

    None is below the node for which its class was judged.
    """
    for depth in reversed(range(1, tree.depths)):
        published = np.array(tree.at_depth(depth), np.int32)
        uniform = published[nodes]
        if (uniform == published[of_class]).all() and (uniform == published[judged]).all():
            return uniform
    return np.zeros(len(nodes), np.int32)  # the root
