"""The search: root classes, then in each the cut and the deletions that lose least."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from hierdata.engines.alignment.lower_bounds import histograms
from hierdata.engines.base import Constraints, Engine, StepInput, Trial, silent
from hierdata.engines.guarding.contents import count_groups
from hierdata.engines.k_member.engine import KMember
from hierdata.engines.local_search.engine import LocalSearch
from hierdata.engines.specialize.class_search import ClassSearch
from hierdata.engines.specialize.division_search import DivisionSearch
from hierdata.engines.specialize.facts import columns_of, find_facts
from hierdata.engines.specialize.frequent import ForestWithout, find_frequent
from hierdata.engines.specialize.sensitive import SensitiveEntries, find_kept
from hierdata.engines.specialize.splitting import Cutter, RootClasses, Splitter, Supports
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import SUPPRESSED, Partition
from hierdata.forest.publication import group_by_root
from hierdata.forest.sensitive_facts import hide, take_out_facts

_MOST_WORK = 5 * 10**8
"""The most pairs of vertices that are aligned before it is known what they must not lose: some seconds."""
_LITTLE_WORK = 5 * 10**7
"""With at most 5 * 10^7 pairs, drafted classes are exchanged to the end, whatever the draft loses."""
_ESTIMATED = Fraction(11, 10)
"""They are given up if they lose by an estimate 11/10 of what they must not lose. On three collections of 15
to 600 records classes lost after exchanges 0.97 to 1.4 times the estimate."""
_LOOKED_AT = 200
"""The number of records by which it is estimated what classes of whole trees lose."""
_LEAST_LEFT = Fraction(19, 20)
"""They are given up too if classes would have to lose less than this share after exchanges, which was 0.96 to
0.99 on five collections."""


def draft_whole_trees(step: StepInput, most: int | None) -> Partition | None:
    """Return classes of whole trees by `k-member`, before exchanges; None where they do not serve.

    They are searched where neither alpha nor counts are asked for, and root values are known. ``most`` is
    what they must not lose, times the scale: they are given up if they seem to lose more. Without it they are
    given up where they are much work.
    """
    if not _may_serve(step.constraints):
        return None
    if most is None:
        if _estimate_work(step) > _MOST_WORK:
            return None
    elif _estimate_loss(step.forest, step.constraints.min_class_size) > _ESTIMATED * most:
        return None
    return KMember().find_classes(replace(step, partition=None, progress=silent))


def _estimate_loss(forest: Forest, size: int) -> float:
    """Return about what classes of whole trees lose, times the scale.

    A record and those with the least lower bounds of the loss with it make a class. It loses what its members
    have beyond the values, by hierarchy node, that all of them have.
    """
    looked_at = np.unique(np.linspace(0, forest.record_count - 1, _LOOKED_AT).astype(np.int64))
    values = histograms(forest)
    lost = 0
    for record in looked_at.tolist():
        bounds = values.bounds(record)
        bounds[record] = -1
        members = np.argpartition(bounds, size - 1)[:size]
        shared = values.counts[members].min(axis=0).astype(np.int64)
        lost += int(values.totals[members].sum()) - size * int((shared * values.weights).sum())
    return lost / size * forest.record_count / len(looked_at)


def search_whole_trees(step: StepInput) -> Partition | None:
    """Return classes of whole trees after exchanges, whatever the work; None where they do not serve."""
    if not _may_serve(step.constraints):
        return None
    return align_whole_trees(step, KMember().find_classes(replace(step, partition=None)), None)


def _may_serve(constraints: Constraints) -> bool:
    """Return whether classes of whole trees keep what is asked: known root values, no alpha, no counts."""
    knowledge = constraints.knowledge
    assert knowledge is not None
    return knowledge.alpha is None and knowledge.root == "known" and not constraints.counts


def _estimate_work(step: StepInput) -> float:
    """Return about how many pairs of vertices are aligned."""
    forest, _, constraints = step.problem
    engines: tuple[Engine, ...] = (KMember(), LocalSearch())
    pairs = sum(
        engine.estimate_work(forest.record_count, forest.vertex_count, constraints) for engine in engines
    )
    return pairs * (forest.vertex_count / forest.record_count) ** 2


def align_whole_trees(step: StepInput, drafted: Partition, most: int | None) -> Partition | None:
    """Return ``drafted`` classes after exchanges by `local-search`, published by root.

    All records of a class have one form, so at least k match whatever pattern one of them matches. Records
    that are in no class join the one that loses least by it. None if one would still be left out, or a vertex
    that must stay, or if a model fails in a root class; and, with more than a little work, if exchanges would
    have to save too much for less than ``most`` to be lost.
    """
    forest, constraints = step.forest, step.constraints
    if most is not None and _estimate_work(step) > _LITTLE_WORK:
        lost = lose_whole_trees(forest, drafted)
        if lost * _LEAST_LEFT > most:
            return None
    engine = LocalSearch()
    partition = engine.find_classes(replace(step, partition=drafted, progress=silent))
    taken = engine.take_in(replace(step, partition=partition))
    partition = partition if taken is None else taken
    gone = partition.representative == SUPPRESSED
    stays = np.array([not kind.many for kind in forest.schema.types], np.bool_)
    stays[0] = True
    above = np.where(forest.parent >= 0, gone[forest.parent], False)
    if (gone & stays[forest.type] & ~above).any():
        return None
    partition = _publish_by_root(forest, partition)
    classes = partition.class_count
    shown = hide(forest, [take_out_facts(forest, partition)])
    contents = count_groups(shown, constraints, 0, partition.equivalence_class, classes)
    return partition if all(group.satisfies(constraints) for group in contents) else None


def lose_whole_trees(forest: Forest, partition: Partition) -> int:
    """Return what classes of whole trees lose published by root, times the scale."""
    return loss_by_root(forest, _publish_by_root(forest, partition))


def _publish_by_root(forest: Forest, partition: Partition) -> Partition:
    """Return the same forms, each vertex its own representative; missing values are like deleted ones."""
    nodes = np.zeros_like(forest.nodes)
    kept = partition.representative >= 0
    for kind, trees in enumerate(forest.hierarchies):
        vertices = np.flatnonzero((forest.type == kind) & kept)
        first, shown = forest.first_node[vertices], forest.first_node[partition.representative[vertices]]
        for position, tree in enumerate(trees):
            shown_nodes = partition.nodes[shown + position]
            if tree.missing >= 0:
                shown_nodes = np.where(shown_nodes == tree.missing, 0, shown_nodes)
            nodes[first + position] = shown_nodes
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
    for kind, of_kind in enumerate(forest.losses):
        vertices = np.flatnonzero((forest.type == kind) & kept)
        first = forest.first_node[vertices]
        for position, (losses, tree) in enumerate(zip(of_kind, forest.hierarchies[kind], strict=True)):
            there = first + position
            if tree.missing >= 0:
                there = there[forest.nodes[there] != tree.missing]
            lost += int(losses[partition.nodes[there]].sum())
    return lost


DIVISIONS = (1.0, 2.5, 0.4, 0.1)
"""The factors of the support that a node needs, when root classes are split; more effort tries more."""
_MANY_OCCURRENCES = 10**7
"""With more, whole trees are searched first."""
_NEAR = Fraction(101, 100)
"""Ways lose as little as the best one up to this factor: estimates are not more exact."""
IMPOSSIBLE = (
    "bounded knowledge cannot be kept: fewer than k records have a vertex that cannot be left out, as it "
    "does not repeat or is counted; drop it from the policy, leave its count out, or ask for a smaller k"
)
ALPHA_MISSED = (
    "bounded knowledge cannot be kept: even among all records a sensitive value has a share above alpha, or "
    "fewer than k have a vertex that does not repeat; raise alpha, name under `values` those that matter "
    "(lint with --data tells which are too common), or ask for a smaller k"
)


MODELS_MISSED = (
    "bounded knowledge cannot be kept together with the other models: even all records as one class fail a "
    "model of sensitive values; weaken that model, drop the attribute, or state alpha instead"
)
COUNTS_MISSED = (
    "bounded knowledge cannot be kept: fewer than k records have the same bins of counts; state fewer edges "
    "under `counts`, or ask for a smaller k"
)


class Way(NamedTuple):
    """The factors of the split and of the cuts of a search; None: the best cuts, and classes unite."""

    split: float
    cut: float | None


def leave_out_frequent(step: StepInput, effort: int, way: Way | None) -> Partition | None:
    """Return the classes and deletions with too frequent values left out first, or not if that is less.

    None if no value is too frequent.
    """
    forest, _, constraints = step.problem
    frequent, reason = find_frequent(forest, constraints, _removable_types(forest, constraints))
    if not frequent.any():
        return None
    less = ForestWithout.of(forest, frequent)
    rest = replace(step, forest=less.forest, scope=Scope.of(less.forest))
    partition = less.take_back(specialize(rest, effort, way), reason)
    lost = loss_by_root(forest, partition) if partition.class_count else np.inf
    other = specialize(step, effort, way, lost)
    return other if other.class_count and loss_by_root(forest, other) < lost else partition


def specialize(step: StepInput, effort: int, way: Way | None = None, allowed: float = np.inf) -> Partition:
    """Return the classes and deletions that lose least of all divisions tried.

    Divisions that are estimated to lose more than is ``allowed`` are given up.

    With a ``way`` only its division is mended, unless it cannot be. Where records have more occurrences of
    patterns than are judged, none are counted: all are in classes of whole trees, or nothing is found.
    """
    forest, _, constraints = step.problem
    search = _begin(step)
    if too_much := _explain_work(search):
        whole = search_whole_trees(step)
        return _refuse(forest, too_much) if whole is None else whole
    splitters = _splitters(search.classes, effort)
    if _lacks_bins(splitters, constraints):
        return _refuse(forest, COUNTS_MISSED)
    if way is not None:
        partition = _search_one_way(step, search, splitters, way)
        if partition is not None:
            return partition
    divisions = _different([splitter.split() for splitter in splitters])
    if not divisions:
        divisions = [RootClasses(np.zeros(forest.record_count, np.int64), [()])]
    # What takes longer comes last, so that it can be given up.
    first = search.occurrences[-1] > _MANY_OCCURRENCES
    drafted = draft_whole_trees(step, None) if first else None
    limit = np.inf if drafted is None else lose_whole_trees(forest, drafted)
    partition = search.mend_divisions(divisions, min(limit, allowed))
    most = None if partition is None else loss_by_root(forest, partition)
    if drafted is None:
        drafted = draft_whole_trees(step, most)
    whole = None if drafted is None else align_whole_trees(step, drafted, most)
    if first and most is None and whole is None:  # the draft does not serve
        partition = search.mend_divisions(divisions, allowed)
    answers = [
        (loss_by_root(forest, answer), rank, answer)
        for rank, answer in enumerate([partition, whole])
        if answer is not None
    ]
    if not answers:
        missed = IMPOSSIBLE if search.classes.sensitive is None else ALPHA_MISSED
        return _refuse(forest, MODELS_MISSED if search.classes.fails_models else missed)
    return min(answers)[-1]


def _search_one_way(
    step: StepInput, search: DivisionSearch, splitters: Sequence[Splitter], way: Way
) -> Partition | None:
    """Return what one way finds, or whole trees where these lose less; None if the way finds nothing."""
    (division,) = (splitter.split() for splitter in splitters if splitter.factor == way.split)
    partition = search.mend_by(division, way.cut)
    if partition is None:
        return None
    most = loss_by_root(step.forest, partition)
    drafted = draft_whole_trees(step, most)
    whole = None if drafted is None else align_whole_trees(step, drafted, most)
    return partition if whole is None or loss_by_root(step.forest, whole) >= most else whole


def try_ways(step: StepInput, effort: int) -> dict[Way, Trial]:
    """Return what each way loses, those that lose much more than the best one left out; whole trees aside.

    Nothing is tried where too many patterns would be counted.
    """
    search = _begin(step)
    if _explain_work(search):
        return {}
    splitters = _splitters(search.classes, effort)
    if _lacks_bins(splitters, step.constraints):
        return {}
    by_splitter = [splitter.split() for splitter in splitters]
    divisions = _different(by_splitter)
    number_of = {_root_nodes(division): number for number, division in enumerate(divisions)}
    lost = search.lose_by_ways(divisions)
    return {
        Way(splitter.factor, cut): Trial(round(loss), 0)
        for splitter, division in zip(splitters, by_splitter, strict=True)
        for (number, cut), loss in lost.items()
        if number == number_of[_root_nodes(division)]
    }


def choose_way(trials: Mapping[Way, Trial]) -> Way | None:
    """Return the way that loses least; one without uniting, which takes less time, if it loses as little."""
    least = min((trial.loss for trial in trials.values()), default=0)
    near = [way for way, trial in trials.items() if trial.loss <= _NEAR * least]
    return min(near, key=lambda way: (way.cut is None, trials[way].loss), default=None)


def _begin(step: StepInput) -> DivisionSearch:
    """Prepare the search."""
    forest, _, constraints = step.problem
    knowledge = constraints.knowledge
    assert knowledge is not None, "this engine keeps bounded knowledge"
    counted = knowledge.root == "counted"
    kept = find_kept(forest, constraints.bounded)
    columns = columns_of(forest, counted=counted, kept=kept)
    facts = find_facts(forest, columns, _removable_types(forest, constraints))
    cutter = Cutter(Supports(facts), knowledge.k, knowledge.m, knowledge.vertex == "whole")
    sensitive = (
        SensitiveEntries.of(facts, constraints.bounded, knowledge.alpha)
        if constraints.bounded and knowledge.alpha is not None
        else None
    )
    return DivisionSearch(
        ClassSearch(forest, facts, cutter, constraints, knowledge, sensitive, step.progress)
    )


def _explain_work(search: DivisionSearch) -> str:
    """Explain that the records have more occurrences of patterns than are counted; "" if they do not."""
    knowledge, occurrences = search.classes.knowledge, sum(search.occurrences)
    most = knowledge.most_occurrences
    if occurrences <= most:
        return ""
    return (
        f"{knowledge.kind}: {search.classes.forest.record_count:,} records have {occurrences:,} occurrences "
        f"of patterns of up to {knowledge.m} facts, at most {most:,} are counted, and classes of whole trees "
        "do not serve: state a smaller m, `cap` long lists under `shape`, or drop fields"
    )


def _splitters(classes: ClassSearch, effort: int) -> list[Splitter]:
    """Return what splits the collection into root classes, the finest first; none for counted roots."""
    if classes.knowledge.root == "counted":
        return []
    factors = sorted(DIVISIONS[:effort])
    return [Splitter(classes.forest, classes.cutter, factor, classes.constraints) for factor in factors]


def _lacks_bins(splitters: Sequence[Splitter], constraints: Constraints) -> bool:
    """Return whether too few records have the same bins of counts."""
    least = constraints.min_class_size
    return bool(splitters) and int(np.bincount(splitters[0].by_counts).min()) < least


def _refuse(forest: Forest, reason: str) -> Partition:
    """Return a partition without classes, and why there are none."""
    nobody = np.full(forest.record_count, SUPPRESSED)
    return Partition(nobody, np.full(forest.vertex_count, SUPPRESSED), forest.nodes, reason=reason)


def _removable_types(forest: Forest, constraints: Constraints) -> frozenset[int]:
    """Return the vertex types that may repeat below their parent, and are not, or above or below, counted."""
    schema = forest.schema
    counted = frozenset(count.kind for count in constraints.counts)
    above = frozenset[int]().union(*map(schema.line, counted))
    return frozenset(
        kind.index
        for kind in schema.types[1:]
        if kind.many and kind.index not in above and counted.isdisjoint(schema.line(kind.index))
    )


def _different(divisions: Sequence[RootClasses]) -> list[RootClasses]:
    """Return the divisions without those that were found before."""
    different: dict[bytes, RootClasses] = {}
    for division in divisions:
        different.setdefault(_root_nodes(division), division)
    return list(different.values())


def _root_nodes(division: RootClasses) -> bytes:
    """Return the nodes by which all roots are published."""
    nodes: bytes = np.array(division.vectors)[division.class_of].tobytes()
    return nodes
