"""Classes of whole trees: they keep bounded knowledge too, for any m, and sometimes lose less."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hierdata.engines.base import Engine, StepInput, silent
from hierdata.engines.guarding.contents import count_groups
from hierdata.engines.k_member.engine import KMember
from hierdata.engines.local_search.engine import LocalSearch
from hierdata.forest.forest import Forest
from hierdata.forest.partition import SUPPRESSED, Partition
from hierdata.forest.publication import group_by_root

_MOST_WORK = 5 * 10**8
"""The most pairs of vertices that are aligned: some seconds."""


def align_whole_trees(given: StepInput) -> Partition | None:
    """Return the classes of the engines for whole trees, published by root; None where they do not serve.

    They are searched where the estimated work is small, neither alpha nor counts are asked for, and root
    values are known.
    All records of a class have one form, so at least k match whatever pattern one of them matches. None too
    if a record would be left out, or a vertex that must stay, or if a model fails in a root class.
    """
    forest, scope, constraints = given.problem
    knowledge = constraints.knowledge
    assert knowledge is not None
    if knowledge.alpha is not None or knowledge.root == "counted" or constraints.counts:
        return None
    engines: tuple[Engine, ...] = (KMember(), LocalSearch())
    pairs = sum(
        engine.estimate_work(forest.record_count, forest.vertex_count, constraints) for engine in engines
    )
    if pairs * (forest.vertex_count / forest.record_count) ** 2 > _MOST_WORK:
        return None
    partition: Partition | None = None
    for engine in engines:
        partition = engine.step(forest, scope, constraints, partition, given.rng, silent)
    assert partition is not None
    gone = partition.representative == SUPPRESSED
    stays = np.array([not kind.many for kind in forest.schema.types], np.bool_)
    stays[0] = True
    above = np.where(forest.parent >= 0, gone[forest.parent], False)
    if (gone & stays[forest.type] & ~above).any():
        return None
    partition = _publish_by_root(forest, partition)
    classes = partition.class_count
    contents = count_groups(forest, constraints, 0, partition.equivalence_class, classes)
    return partition if all(one.satisfies(constraints) for one in contents) else None


def _publish_by_root(forest: Forest, partition: Partition) -> Partition:
    """Return the same forms, each vertex its own representative; missing values are like deleted ones."""
    nodes = np.zeros_like(forest.nodes)
    kept = partition.representative >= 0
    for kind, own in enumerate(forest.hierarchies):
        vertices = np.flatnonzero((forest.type == kind) & kept)
        first, shown = forest.first_node[vertices], forest.first_node[partition.representative[vertices]]
        for position, tree in enumerate(own):
            found = partition.nodes[shown + position]
            if None in tree.labels:
                found = np.where(found == tree.labels.index(None), 0, found)
            nodes[first + position] = found
    every = np.arange(forest.vertex_count)
    return replace(
        partition,
        equivalence_class=group_by_root(forest, nodes),
        representative=np.where(kept, every, SUPPRESSED),
        nodes=nodes,
        by_root=True,
    )


def loss_by_root(forest: Forest, partition: Partition) -> int:
    """Return what a partition by root loses, times the scale; a value that is missing loses nothing."""
    kept = partition.representative >= 0
    lost = int(forest.own_weight[~kept].sum()) * forest.scale
    for kind, own in enumerate(forest.losses):
        vertices = np.flatnonzero((forest.type == kind) & kept)
        first = forest.first_node[vertices]
        for position, (losses, tree) in enumerate(zip(own, forest.hierarchies[kind], strict=True)):
            there = first + position
            if None in tree.labels:
                there = there[forest.nodes[there] != tree.labels.index(None)]
            lost += int(losses[partition.nodes[there]].sum())
    return lost
