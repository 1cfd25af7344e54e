"""One depth of its hierarchy for all values of a quasi-identifier (Samarati, TKDE 2001)."""

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


class FullDomainRecoding(ByRecord):
    """Every value of a quasi-identifier is published as its node at one depth, the same for all records.

    The depth is the greatest at which the members of every class are published alike, whatever engine found
    the classes, and no greater than that for which the engine judged them: how many of a population fit a
    class depends on it, even where the class is the same. A value whose path ends above it is published as it
    is (``Hierarchy.at_depth``). Classes that come out alike are judged as one. Children are written as
    ``ByRecord`` says.
    """

    traits: ClassVar[RecodingTraits] = TRAITS["full_domain"]

    def prepare(self, forest: Forest, partition: Partition) -> tuple[Forest, Partition]:
        """See Recoding.prepare; chooses the nodes at the common depths."""
        nodes = partition.nodes.copy()
        for kind, own in enumerate(forest.hierarchies):
            members = np.flatnonzero((forest.type == kind) & (partition.representative >= 0))
            first = forest.first_node[members]
            of_class = forest.first_node[partition.representative[members]]
            for position, tree in enumerate(own):
                found, judged = forest.nodes[of_class + position], partition.nodes[of_class + position]
                nodes[first + position] = _uniform(tree, forest.nodes[first + position], found, judged)
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
