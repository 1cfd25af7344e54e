"""Classes of whole trees: they keep bounded knowledge too, for any m, and sometimes lose less."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from hierdata.engines.base import Constraints, Engine, StepInput, silent
from hierdata.engines.guarding.contents import count_groups
from hierdata.engines.k_member.engine import KMember
from hierdata.engines.k_member.sizes import SAMPLE
from hierdata.engines.local_search.engine import LocalSearch
from hierdata.forest.forest import Forest
from hierdata.forest.partition import SUPPRESSED, Partition
from hierdata.forest.publication import group_by_root

_MOST_WORK = 5 * 10**8
"""The most pairs of vertices that are aligned before it is known what they must not lose: some seconds."""
_LITTLE_WORK = 5 * 10**7
"""With up to so many pairs, whole trees are searched to the end, whatever the beginning loses."""
_SAMPLED_LOSS = 2
"""They are given up if classes of a sample lose so many times what they must not lose; a sample of a fifth
loses about a quarter more than the whole."""
_LEAST_LEFT = Fraction(19, 20)
"""They are given up too if classes would have to lose less than this share after exchanges, which was 0.96 to
0.99 on five collections."""


def draft_whole_trees(given: StepInput, most: int | None) -> Partition | None:
    """Return classes of whole trees by `k-member`, before exchanges; None where they do not serve.

    They are searched where neither alpha nor counts are asked for, and root values are known. ``most`` is
    what they must not lose, times the scale. With more than a little estimated work they are given up if a
    sample seems to lose more; without ``most``, with much work at once.
    """
    if not _may_serve(given.constraints):
        return None
    forest, scope, constraints = given.problem
    engine: Engine = KMember()
    work = _estimate_work(given)
    if most is None and work > _MOST_WORK:
        return None
    if most is not None and work > _LITTLE_WORK:
        trials = engine.run_trials(forest, scope, constraints, given.rng)
        sampled = min(SAMPLE, forest.record_count) / forest.record_count
        if min(one.loss for one in trials.values()) > _SAMPLED_LOSS * sampled * most:
            return None
        engine = engine.choose_by_trials(trials)
    return engine.step(forest, scope, constraints, None, given.rng, silent)


def search_whole_trees(given: StepInput) -> Partition | None:
    """Return classes of whole trees after exchanges, whatever the work; None where they do not serve."""
    if not _may_serve(given.constraints):
        return None
    return align_whole_trees(given, KMember().step(*given.problem, None, given.rng, given.progress), None)


def _may_serve(constraints: Constraints) -> bool:
    """Return whether classes of whole trees keep what is asked: known root values, no alpha, no counts."""
    knowledge = constraints.knowledge
    assert knowledge is not None
    return knowledge.alpha is None and knowledge.root == "known" and not constraints.counts


def _estimate_work(given: StepInput) -> float:
    """Return about how many pairs of vertices are aligned."""
    forest, _, constraints = given.problem
    engines: tuple[Engine, ...] = (KMember(), LocalSearch())
    pairs = sum(
        engine.estimate_work(forest.record_count, forest.vertex_count, constraints) for engine in engines
    )
    return pairs * (forest.vertex_count / forest.record_count) ** 2


def align_whole_trees(given: StepInput, drafted: Partition, most: int | None) -> Partition | None:
    """Return ``drafted`` classes after exchanges by `local-search`, published by root.

    All records of a class have one form, so at least k match whatever pattern one of them matches. Records
    that are in no class join the one that loses least by it. None if one would still be left out, or a vertex
    that must stay, or if a model fails in a root class; and, with more than a little work, if exchanges would
    have to save too much for less than ``most`` to be lost.
    """
    forest, scope, constraints = given.problem
    if most is not None and _estimate_work(given) > _LITTLE_WORK:
        lost = lose_whole_trees(forest, drafted)
        if lost * _LEAST_LEFT > most:
            return None
    engine = LocalSearch()
    partition = engine.step(forest, scope, constraints, drafted, given.rng, silent)
    taken = engine.take_in(replace(given, partition=partition))
    partition = partition if taken is None else taken
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


def lose_whole_trees(forest: Forest, partition: Partition) -> int:
    """Return what classes of whole trees lose published by root, times the scale."""
    return loss_by_root(forest, _publish_by_root(forest, partition))


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
