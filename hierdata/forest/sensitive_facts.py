"""Sensitive values that somebody may know, as quasi-identifiers of a flat domain: published, or left out.

A search that deletes facts deletes these like others. What is published of a forest has the values that
were left out as missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Scalar
from hierdata.domains.base import ROOT_LABEL, Hierarchy, Uncovered
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.forest.forest import MISSING, Forest, concatenate_ranges
from hierdata.forest.partition import Partition
from hierdata.forest.worth import Worth

Positions: TypeAlias = "tuple[tuple[int, ...], ...]"
"""By vertex type, which of its sensitive attributes somebody may know values of."""


def add_sensitive_facts(forest: Forest, positions: Positions, *, published: bool = False) -> Forest:
    """Return the forest in which these attributes are also the last quasi-identifiers of their types.

    Node 0 is a value that is left out, node c + 1 the value of code c, and the last node a missing value. In
    a ``published`` forest what is missing may have been left out.
    """
    if not any(positions):
        return forest
    worth = forest.worth or Worth.by_default(forest.hierarchies, forest.domains)
    sought = forest.sought or Worth.of_lm(forest.hierarchies, forest.domains)
    hierarchies = tuple(
        (*trees, *(_flatten(domains[position]) for position in added))
        for trees, domains, added in zip(forest.hierarchies, forest.domains, positions, strict=True)
    )
    before = np.array([len(trees) for trees in forest.hierarchies], np.int64)[forest.type]
    width = np.array([len(trees) for trees in hierarchies], np.int64)[forest.type]
    first = np.cumsum(width) - width
    nodes = np.zeros(int(width.sum()), np.int32)
    nodes[concatenate_ranges(first, before)] = forest.nodes
    for kind, added in enumerate(positions):
        vertices = np.flatnonzero(forest.type == kind)
        for order, position in enumerate(added):
            codes = forest.sensitive[forest.first_sensitive[vertices] + position]
            missing = 0 if published else len(forest.domains[kind][position].values) + 1
            nodes[first[vertices] + before[vertices] + order] = np.where(codes == MISSING, missing, codes + 1)
    return replace(
        forest,
        hierarchies=hierarchies,
        first_node=first,
        nodes=nodes,
        worth=_move_weights(worth, positions),
        sought=_move_weights(sought, positions),
        facts=positions,
    )


def take_out_facts(forest: Forest, partition: Partition) -> Partition:
    """Return a partition of such a forest as one of the forest before; what it leaves out is ``hidden``.

    Values of vertices that are removed are not: nothing is published of these.
    """
    if not any(forest.facts):
        return partition
    entries = np.diff(np.append(forest.first_sensitive, len(forest.sensitive)))
    hidden = find_hidden(forest, partition.nodes) & np.repeat(partition.representative >= 0, entries)
    kept = np.array(forest.own_widths, np.int64)[forest.type]
    nodes = partition.nodes[concatenate_ranges(forest.first_node, kept)]
    return replace(partition, nodes=nodes, hidden=hidden)


def find_hidden(forest: Forest, nodes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which sensitive values are left out by the published nodes of all vertices."""
    hidden = np.zeros(len(forest.sensitive), np.bool_)
    for kind, added in enumerate(forest.facts):
        vertices = np.flatnonzero(forest.type == kind)
        for quasi, position in enumerate(added, forest.own_widths[kind]):
            entries = forest.first_sensitive[vertices] + position
            hidden[entries] = (nodes[forest.first_node[vertices] + quasi] == 0) & (
                forest.sensitive[entries] != MISSING
            )
    return hidden


def hide(forest: Forest, partitions: Sequence[Partition]) -> Forest:
    """Return the forest as it is published: values that were left out are missing in ``sensitive``."""
    hidden = next((partition.hidden for partition in partitions if partition.hidden is not None), None)
    if hidden is None:
        return forest
    return replace(
        forest,
        sensitive=np.where(hidden, np.int32(MISSING), forest.sensitive),
        spelling=np.where(hidden, np.int32(MISSING), forest.spelling),
        input_sensitive=forest.sensitive,
    )


def _flatten(domain: SensitiveDomain) -> Hierarchy:
    """Return the flat hierarchy of an attribute's values, with what their published form has lost."""
    count = len(domain.values)
    losses = domain.losses or (Fraction(0),) * count

    def refuse(value: Scalar) -> int:
        raise Uncovered

    return Hierarchy(
        labels=(ROOT_LABEL, *domain.values, None),
        ancestors=((0, -1), *((0, node) for node in range(1, count + 2))),
        lm=(Fraction(1), *losses, Fraction(0)),
        node_of=refuse,
        typed=True,
    )


def _move_weights(worth: Worth, positions: Positions) -> Worth:
    """Return weights in which these attributes are weighed as quasi-identifiers, and no longer besides."""
    moved = zip(worth.quasi, worth.sensitive, positions, strict=True)
    quasi = tuple(
        (*weights, *(sensitive[position] for position in added)) for weights, sensitive, added in moved
    )
    remaining = tuple(
        tuple(0 if position in added else weight for position, weight in enumerate(weights))
        for weights, added in zip(worth.sensitive, positions, strict=True)
    )
    return Worth(quasi, remaining, worth.presence)
