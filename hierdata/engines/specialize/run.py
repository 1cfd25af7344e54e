"""The search: root classes, then in each the cut and the deletions that lose least."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints, StepInput
from hierdata.engines.guarding.contents import count_groups
from hierdata.engines.specialize.columns import FactArrays, columns_of, find_facts
from hierdata.engines.specialize.cutting import Cutter, Supports, cut_nodes
from hierdata.engines.specialize.groups import GroupRecords
from hierdata.engines.specialize.mending import Mended, mend
from hierdata.engines.specialize.sensitive import SensitiveEntries
from hierdata.engines.specialize.splitting import RootClasses, Splitter
from hierdata.engines.specialize.whole_trees import align_whole_trees, loss_by_root
from hierdata.forest.forest import MISSING, Forest
from hierdata.forest.partition import SUPPRESSED, Partition
from hierdata.forest.publication import group_by_root
from hierdata.privacy import BoundedKnowledge
from hierdata.records.schema import VertexType

DIVISIONS = (1.0, 2.5, 0.4)
"""The factors of the support that a node needs, when root classes are split; more effort tries more."""
FACTORS = (0.3, 0.55, 1.0)
"""The same, when a class is cut."""
_MOST_TRIED = 10**6
"""The most occurrences of patterns with which every division is mended by every factor."""
_SAMPLED = 8
"""Beyond, they are tried on one of so many classes."""
IMPOSSIBLE = (
    "bounded knowledge cannot be kept: fewer than k records have a vertex that cannot be left out, as it "
    "does not repeat or is counted; drop it from the policy, leave its count out, or ask for a smaller k"
)
ALPHA_MISSED = (
    "bounded knowledge cannot be kept: even among all records a sensitive value has a share above alpha, or "
    "fewer than k have a vertex that does not repeat; raise alpha, name under `values` those that matter "
    "(lint with --data tells which are too common), or ask for a smaller k"
)


COUNTS_MISSED = (
    "bounded knowledge cannot be kept: fewer than k records have the same bins of counts; state fewer edges "
    "under `counts`, or ask for a smaller k"
)


def specialize(given: StepInput, effort: int) -> Partition:
    """Return the classes and deletions that lose least of all divisions tried."""
    forest, _, constraints = given.problem
    knowledge = constraints.knowledge
    assert knowledge is not None, "this engine keeps bounded knowledge"
    counted = knowledge.root == "counted"
    facts = find_facts(forest, columns_of(forest, counted=counted), _removable_types(forest, constraints))
    cutter = Cutter(Supports(facts), knowledge.k, knowledge.m, knowledge.vertex == "whole")
    sensitive = (
        SensitiveEntries.of(forest, constraints.bounded, knowledge.alpha)
        if constraints.bounded and knowledge.alpha is not None
        else None
    )
    search = _ClassSearch(forest, facts, cutter, constraints, knowledge, sensitive, given.progress)
    if counted:
        divisions = [RootClasses(np.zeros(forest.record_count, np.int64), [()])]
    else:
        factors = sorted(DIVISIONS[:effort])
        splitters = [Splitter(forest, cutter, factor, constraints) for factor in factors]
        if np.bincount(splitters[0].by_counts).min() < constraints.min_class_size:
            return _refuse(forest, COUNTS_MISSED)
        divisions = [splitter.split() for splitter in splitters]
    found = search.mend_divisions(_different(divisions))
    found.append(align_whole_trees(given))
    answers = [(loss_by_root(forest, one), at, one) for at, one in enumerate(found) if one is not None]
    if not answers:
        return _refuse(forest, IMPOSSIBLE if sensitive is None else ALPHA_MISSED)
    return min(answers)[-1]


def _refuse(forest: Forest, reason: str) -> Partition:
    """Return a partition without classes, and why there are none."""
    nobody = np.full(forest.record_count, SUPPRESSED)
    return Partition(nobody, np.full(forest.vertex_count, SUPPRESSED), forest.nodes, reason=reason)


def _removable_types(forest: Forest, constraints: Constraints) -> frozenset[int]:
    """Return the vertex types that may repeat below their parent, and are not, or above or below, counted."""
    types = forest.schema.types
    counted = frozenset(one.kind for one in constraints.counts)
    above = frozenset[int]().union(*(_line(types, kind) for kind in counted))
    return frozenset(
        kind.index
        for kind in types[1:]
        if kind.many and kind.index not in above and not counted & _line(types, kind.index)
    )


def _line(types: Sequence[VertexType], kind: int) -> frozenset[int]:
    """Return a vertex type and all above it."""
    parent = types[kind].parent
    return frozenset([kind]) | (frozenset() if parent is None else _line(types, parent))


def _different(divisions: Sequence[RootClasses]) -> list[RootClasses]:
    """Return the divisions without those that were found before."""
    found: dict[bytes, RootClasses] = {}
    for division in divisions:
        found.setdefault(np.array(division.vectors)[division.class_of].tobytes(), division)
    return list(found.values())


@dataclass
class _ClassSearch:
    """What all divisions share."""

    forest: Forest
    facts: FactArrays
    cutter: Cutter
    constraints: Constraints
    knowledge: BoundedKnowledge
    sensitive: SensitiveEntries | None
    progress: Callable[[int], None]

    def mend_divisions(self, divisions: list[RootClasses]) -> list[Partition | None]:
        """Mend each division with every factor; where that is much work, only what a trial finds best."""
        if count_occurrences(self.facts, self.knowledge.m) <= _MOST_TRIED:
            return [self.mend_classes(division, FACTORS) for division in divisions]
        trials = [
            (self._try_classes(division, factor), at, factor)
            for at, division in enumerate(divisions)
            for factor in FACTORS
        ]
        _, at, factor = min(trials)
        return [self.mend_classes(divisions[at], (factor,))]

    def _try_classes(self, division: RootClasses, factor: float) -> float:
        """Estimate what a division loses by a sample of its classes."""
        numbers, sizes = np.unique(division.class_of, return_counts=True)
        order = numbers[np.argsort(sizes, kind="stable")]
        # Classes of all sizes: every n-th, from the largest.
        step = max(1, min(_SAMPLED, len(order) // 2))
        sample = set(order[::-1][step // 2 :: step].tolist())
        mended = dict[int, tuple[NDArray[np.int64], Mended]]()
        class_of = division.class_of
        failed = self._mend_missing(class_of, sample, (factor,), mended)
        records = np.isin(class_of, np.array(sorted(sample - set(failed)), np.int64)).sum()
        if not records:
            return np.inf
        scale = self.forest.record_count / int(records)
        below = scale * sum(one.loss for _, one in mended.values())
        roots = self._lose_at_roots(division)
        return float(below + roots)

    def _lose_at_roots(self, division: RootClasses) -> float:
        """Return what the roots lose by their vectors."""
        if self.knowledge.root == "counted":
            return 0.0
        vectors = np.array(division.vectors, np.int64).reshape(len(division.vectors), -1)[division.class_of]
        return float(sum(int(own[vectors[:, at]].sum()) for at, own in enumerate(self.forest.losses[0])))

    def mend_classes(self, division: RootClasses, factors: Sequence[float]) -> Partition | None:
        """Mend all classes of a division; one that cannot be, or fails a model then, joins its neighbours.

        They are the classes that were split from the same one. Returns None if all records together fail.
        """
        class_of, mended = division.class_of.copy(), dict[int, tuple[NDArray[np.int64], Mended]]()
        missing = set(np.unique(class_of).tolist())
        while missing:
            failed = self._mend_missing(class_of, missing, factors, mended)
            missing = set()
            for number in failed:
                above = division.above[number]
                if above < 0:
                    return None
                missing.add(above)
            # Of classes above each other the uppermost takes all.
            for above in sorted(missing):
                below = _all_below(division, above)
                class_of[np.isin(class_of, below)] = above
                for one in below:
                    mended.pop(one, None)
            missing &= set(np.unique(class_of).tolist())
        return self._join_classes(division, class_of, mended)

    def _mend_missing(
        self,
        class_of: NDArray[np.int64],
        missing: set[int],
        factors: Sequence[float],
        mended: dict[int, tuple[NDArray[np.int64], Mended]],
    ) -> list[int]:
        """Mend some classes; return those that cannot be, or that fail a model."""
        numbers = sorted(missing)
        which = np.full(int(class_of.max()) + 1, -1, np.int64)
        which[numbers] = np.arange(len(numbers))
        groups = which[class_of]
        order = np.argsort(groups, kind="stable")
        bounds = np.searchsorted(groups[order], np.arange(len(numbers) + 1))
        columns = self.facts.columns
        chosen = [self.cutter.lose(groups, len(numbers), factor)[1] for factor in factors]
        failed, done = [], 0
        for at, number in enumerate(numbers):
            members = order[bounds[at] : bounds[at + 1]]
            records = GroupRecords(self.facts, members)
            best: Mended | None = None
            for is_cut in chosen:
                cut = [cut_nodes(column, own[at]) for column, own in zip(columns, is_cut, strict=True)]
                found = mend(records, cut, self.knowledge, self.sensitive)
                if found is not None and (best is None or found.loss < best.loss):
                    best = found
            done += len(members)
            self.progress(done)
            if best is None:
                failed.append(number)
            else:
                mended[number] = records.own, best
        return failed + self._find_failing(class_of, [one for one in numbers if one in mended], mended)

    def _find_failing(
        self,
        class_of: NDArray[np.int64],
        numbers: list[int],
        mended: dict[int, tuple[NDArray[np.int64], Mended]],
    ) -> list[int]:
        """Return the classes that fail a model once vertices have been removed."""
        if not numbers or not any(any(own) for own in self.constraints.on_values):
            return []
        removed = self._find_removed([mended[one] for one in numbers])
        forest = self.forest
        sensitive = forest.sensitive.copy()
        for kind, own in enumerate(forest.domains):
            vertices = np.flatnonzero((forest.type == kind) & removed)
            for position in range(len(own)):
                sensitive[forest.first_sensitive[vertices] + position] = MISSING
        which = np.full(int(class_of.max()) + 1, -1, np.int64)
        which[numbers] = np.arange(len(numbers))
        left = replace(forest, sensitive=sensitive)
        contents = count_groups(left, self.constraints, 0, which[class_of], len(numbers))
        return [
            one for one, held in zip(numbers, contents, strict=True) if not held.satisfies(self.constraints)
        ]

    def _find_removed(self, mended: list[tuple[NDArray[np.int64], Mended]]) -> NDArray[np.bool_]:
        """Return which vertices are removed."""
        removed = np.zeros(self.forest.vertex_count, np.bool_)
        for own, one in mended:
            removed[self.facts.owner[own[one.group.label == 0]]] = True
        return removed

    def _join_classes(
        self,
        division: RootClasses,
        class_of: NDArray[np.int64],
        mended: dict[int, tuple[NDArray[np.int64], Mended]],
    ) -> Partition:
        """Return the partition by root classes."""
        forest, facts = self.forest, self.facts
        nodes = np.zeros_like(forest.nodes)
        for own, one in mended.values():
            group = one.group
            published = np.where(group.label == group.shown, one.published, 0)
            for number, column in enumerate(facts.columns):
                if column.position is not None:
                    there = facts.column[own] == number
                    at = forest.first_node[facts.owner[own[there]]] + column.position
                    nodes[at] = published[there]
        roots = forest.first_node[forest.roots[:-1]]
        if self.knowledge.root == "known":
            vectors = np.array(division.vectors, np.int64).reshape(len(division.vectors), -1)[class_of]
            for position in range(len(forest.hierarchies[0])):
                nodes[roots + position] = vectors[:, position]
        shown = np.arange(forest.vertex_count)
        removed = self._find_removed(list(mended.values()))
        shown[removed] = SUPPRESSED
        costs = Counter(vertices_removed=int(removed.sum()))
        classes = group_by_root(forest, nodes)
        return Partition(classes, shown, nodes, costs, by_root=True)


def count_occurrences(facts: FactArrays, m: int) -> int:
    """Return how many combinations of m facts all records have."""
    counts = np.bincount(facts.record, minlength=facts.forest.record_count).astype(np.float64)
    found = counts
    for q in range(2, m + 1):
        found = found * np.maximum(counts - q + 1, 0) / q
    return int(found.sum())


def _all_below(division: RootClasses, above: int) -> NDArray[np.int64]:
    """Return a class and all that were split from it."""
    inside = {above}
    for number in range(above + 1, len(division.above)):
        if division.above[number] in inside:
            inside.add(number)
    return np.array(sorted(inside), np.int64)
