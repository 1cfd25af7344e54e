"""What a recoding is, and the canonical order in which every recoding writes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hierdata.document import Scalar
from hierdata.forest import Forest
from hierdata.forms import ranks
from hierdata.partition import Partition
from hierdata.publication import Publication

RECORDS = "records"
"""The name of the part that holds the records."""


class Recoding(ABC):
    """In what form classes are published."""

    @abstractmethod
    def publish(self, forest: Forest, partitions: Sequence[Partition], order: Sequence[int]) -> Publication:
        """What is published of the partitions; ``order`` lists all record ordinals as they are published."""


def whole(partitions: Sequence[Partition]) -> Partition:
    """The one partition of whole records that a recoding by generalization publishes."""
    (partition,) = partitions
    assert partition.kind == 0, "the policy has made sure of it"
    return partition


class Published:
    """What the published vertices say: labels, spellings, and the rank of every form.

    ``shown`` and ``nodes`` are those of a partition or publication: v is published as ``shown[v]``.
    Two representative vertices have the same rank iff their subtrees are equal in structure and labels; ranks
    follow the hierarchies' nodes, never the order in the input.
    """

    def __init__(self, forest: Forest, shown: NDArray[np.int64], nodes: NDArray[np.int32]) -> None:
        self._forest = forest
        self._shown = shown
        self._nodes = nodes
        self._labels = [[tree.labels for tree in own] for own in forest.hierarchies]

    @cached_property
    def rank(self) -> dict[int, int]:
        """The rank of the form below each representative vertex."""
        return ranks(self._forest, self._shown, self._nodes)

    def labels(self, representative: int) -> list[Scalar]:
        """The published quasi-identifier values of a representative vertex."""
        forest = self._forest
        first = int(forest.first_node[representative])
        own = self._labels[forest.type[representative]]
        nodes = self._nodes[first : first + len(own)].tolist()
        return [labels[node] for labels, node in zip(own, nodes, strict=True)]

    def sensitive(self, vertex: int) -> list[Scalar]:
        """The sensitive values of an original vertex, as the input spells them; None is missing."""
        forest = self._forest
        first = int(forest.first_sensitive[vertex])
        count = len(forest.domains[forest.type[vertex]])
        spellings = forest.spelling[first : first + count].tolist()
        return [forest.spellings[spelling] if spelling >= 0 else None for spelling in spellings]


def in_order(value: Scalar) -> str:
    """The text by which values are put in order: the same only for what is written alike.

    A tie would keep the order of the input: 1 beside "1", 1e2 beside 1E+2.

    >>> sorted(["A+", 1, "A", "1"], key=in_order)
    ['1', 1, 'A', 'A+']
    """
    if isinstance(value, str):
        return value + "\0"
    return f"{value}\0{type(value).__name__}\0{getattr(value, 'text', '')}"


def kept_vertices(forest: Forest, shown: NDArray[np.int64], record: int) -> NDArray[np.int64]:
    """The published vertices of a record, parents before children."""
    start, end = forest.roots[record], forest.roots[record + 1]
    kept: NDArray[np.int64] = start + np.flatnonzero(shown[start:end] >= 0)
    return kept
