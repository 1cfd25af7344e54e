"""Divisions of a collection, each class of them mended: the cut and the deletions that lose least."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.guarding.contents import count_groups
from hierdata.engines.specialize.facts import FactArrays, GroupRecords
from hierdata.engines.specialize.kernel_mending import UNLIMITED
from hierdata.engines.specialize.mending import Mended, improve, mend
from hierdata.engines.specialize.sensitive import SensitiveEntries
from hierdata.engines.specialize.splitting import Cutter, RootClasses, cut_nodes
from hierdata.forest.forest import MISSING, Forest
from hierdata.forest.partition import SUPPRESSED, Partition
from hierdata.forest.publication import group_by_root
from hierdata.forest.sensitive_facts import find_hidden
from hierdata.privacy import BoundedKnowledge

MendedClasses: TypeAlias = "dict[int, tuple[NDArray[np.int64], Mended]]"
"""Classes by number: their facts, and what mending made of them."""
TriedCuts: TypeAlias = "dict[int, dict[bytes, Mended | None]]"
"""By class and cut, what mending made of it: several factors often have one cut."""
_UNCERTAIN = 1.25
"""A union is given up if it is estimated to lose 1.25 times what it may: estimates can be too large."""


class Mending(NamedTuple):
    """A division of which all classes are mended; some may have been joined since (``class_of``)."""

    division: RootClasses
    class_of: NDArray[np.int64]
    mended: MendedClasses


@dataclass
class ClassSearch:
    """Mends divisions: what all of them share.

    ``fails_models``: all records together failed a model of sensitive values.
    """

    forest: Forest
    facts: FactArrays
    cutter: Cutter
    constraints: Constraints
    knowledge: BoundedKnowledge
    sensitive: SensitiveEntries | None
    progress: Callable[[int], None]
    fails_models: bool = False

    def lose(self, mending: Mending) -> int:
        """Return what a division loses, the roots included."""
        below = sum(mended.loss for _, mended in mending.mended.values())
        return self.lose_at_roots(mending.division, mending.class_of) + below

    def lose_at_roots(self, division: RootClasses, class_of: NDArray[np.int64]) -> int:
        """Return what the roots lose by the vectors of their classes."""
        sizes = np.bincount(class_of, minlength=len(division.vectors)).tolist()
        return sum(map(self.lose_by_vector, division.vectors, sizes))

    def lose_by_vector(self, vector: tuple[int, ...], size: int) -> int:
        """Return what ``size`` records lose at the root by its vector; 0 where root values are facts."""
        if self.knowledge.root == "counted":
            return 0
        losses = zip(self.forest.losses[0], vector, strict=False)  # facts of the root follow
        return size * sum(int(of_node[node]) for of_node, node in losses)

    def mend_all(
        self, division: RootClasses, factors: Sequence[float], known: MendedClasses
    ) -> Mending | None:
        """Mend all classes of a division; one that cannot be, or fails a model then, joins its neighbours.

        They are the classes that were split from the same one. ``known`` are some classes as these factors
        mend them. Returns None if all records together fail.
        """
        class_of, mended = division.class_of.copy(), dict(known)
        missing = set(np.unique(class_of).tolist()) - mended.keys()
        while missing:
            failed = self._mend_missing(class_of, missing, factors, mended)
            missing = set()
            for number in failed:
                above = division.above[number]
                if above < 0:
                    self.fails_models |= number in mended
                    return None
                missing.add(above)
            # Of classes above each other the uppermost takes all.
            for above in sorted(missing):
                below = division.all_below(above)
                class_of[np.isin(class_of, below)] = above
                for inner in below.tolist():
                    mended.pop(inner, None)
            missing &= set(np.unique(class_of).tolist())
        return Mending(division, class_of, mended)

    def unite_classes(self, mending: Mending | None, factors: Sequence[float]) -> Mending | None:
        """Unite the classes that were split from one where that loses less once all is mended, from below.

        What a split saves is expected, not known: patterns are counted when classes are mended. Returns the
        mending, which is changed.
        """
        if mending is None or self.knowledge.root != "known":
            return mending
        division, class_of, mended = mending
        sizes = division.count_below(class_of).tolist()
        at_roots = [*map(self.lose_by_vector, division.vectors, sizes)]
        lost = {number: result.loss + at_roots[number] for number, (_, result) in mended.items()}
        for level in division.levels():
            apart = {
                union: [lost[child] for child in below if child in lost] for union, below in level.items()
            }
            lost |= {union: sum(losses) for union, losses in apart.items() if losses and union not in lost}
            tried = [union for union in level if union not in mended and at_roots[union] < lost.get(union, 0)]
            if not tried:
                continue
            together = class_of.copy()
            for union in tried:
                together[np.isin(class_of, division.all_below(union))] = union
            united: MendedClasses = {}
            most = {
                union: self._limit_union(division, union, mended, lost[union] - at_roots[union])
                for union in tried
            }
            failed = self._mend_missing(together, set(tried), factors, united, most)
            for union in tried:
                if union in failed or (whole := united[union][1].loss + at_roots[union]) >= lost[union]:
                    continue
                lost[union] = whole
                for inner in division.all_below(union).tolist():
                    mended.pop(inner, None)
                mended[union] = united[union]
                class_of[together == union] = union
        return mending

    def _limit_union(self, division: RootClasses, union: int, mended: MendedClasses, allowed: int) -> int:
        """Return what a union may lose before absent values count, if it may lose ``allowed`` at the end.

        Of mended classes it is known how much of what they lose was lost by then.
        """
        parts = [mended[number][1] for number in division.all_below(union).tolist() if number in mended]
        begun, loss = sum(part.begun for part in parts), sum(part.loss for part in parts)
        return min(allowed, int(_UNCERTAIN * allowed * begun / max(loss, 1)))

    def _mend_missing(
        self,
        class_of: NDArray[np.int64],
        missing: set[int],
        factors: Sequence[float],
        mended: MendedClasses,
        most: Mapping[int, int] | None = None,
    ) -> list[int]:
        """Mend some classes; return those that cannot be, or that fail a model (``most``: ``mend_each``)."""
        failed, done = [], []
        for number, facts, result in self.mend_each(class_of, sorted(missing), factors, most=most):
            if result is None:
                failed.append(number)
            else:
                mended[number] = facts, result
                done.append(number)
        return failed + self.find_failing(class_of, done, mended)

    def mend_each(
        self,
        class_of: NDArray[np.int64],
        numbers: Sequence[int],
        factors: Sequence[float],
        tried: TriedCuts | None = None,
        most: Mapping[int, int] | None = None,
    ) -> Iterator[tuple[int, NDArray[np.int64], Mended | None]]:
        """Yield some classes with their facts, mended by the factor that loses least; None: by none.

        ``most`` is what classes may lose before absent values count, by number.
        What ``tried`` has is not mended again, and what is mended is added to it.
        """
        which = np.full(int(class_of.max()) + 1, -1, np.int64)
        which[np.array(numbers, np.int64)] = np.arange(len(numbers))
        groups = which[class_of]
        order = np.argsort(groups, kind="stable")
        bounds = np.searchsorted(groups[order], np.arange(len(numbers) + 1))
        columns = self.facts.columns
        chosen = [self.cutter.lose(groups, len(numbers), factor)[1] for factor in factors]
        done = 0
        for position, number in enumerate(numbers):
            members = order[bounds[position] : bounds[position + 1]]
            records = GroupRecords(self.facts, members)
            best: Mended | None = None
            allowed = UNLIMITED if most is None else most[number]
            by_cut = {} if tried is None else tried.setdefault(number, {})
            for is_cut in chosen:
                cut = [
                    cut_nodes(column, of_group[position])
                    for column, of_group in zip(columns, is_cut, strict=True)
                ]
                key = b"".join(nodes.tobytes() for nodes in cut)
                if key not in by_cut:
                    by_cut[key] = mend(records, cut, self.knowledge, self.sensitive, allowed)
                result = by_cut[key]
                if result is not None and (best is None or result.loss < best.loss):
                    best, allowed = result, min(allowed, result.loss)
            done += len(members)
            self.progress(done)
            yield number, records.numbers, best

    def find_failing(
        self, class_of: NDArray[np.int64], numbers: list[int], mended: MendedClasses
    ) -> list[int]:
        """Return the classes that fail a model once vertices have been removed."""
        if not numbers or not any(any(models) for models in self.constraints.on_values):
            return []
        removed = self._find_removed([mended[number] for number in numbers])
        forest = self.forest
        sensitive = forest.sensitive.copy()
        if any(forest.facts):
            nodes = self._find_nodes([mended[number] for number in numbers])
            sensitive[find_hidden(forest, nodes)] = MISSING
        for kind, domains in enumerate(forest.domains):
            vertices = np.flatnonzero((forest.type == kind) & removed)
            for position in range(len(domains)):
                sensitive[forest.first_sensitive[vertices] + position] = MISSING
        which = np.full(int(class_of.max()) + 1, -1, np.int64)
        which[numbers] = np.arange(len(numbers))
        remaining = replace(forest, sensitive=sensitive)
        contents = count_groups(remaining, self.constraints, 0, which[class_of], len(numbers))
        return [
            number
            for number, held in zip(numbers, contents, strict=True)
            if not held.satisfies(self.constraints)
        ]

    def _improve_classes(self, mending: Mending) -> MendedClasses:
        """Return the classes with less deleted, where they keep the models and no share is bounded."""
        _, class_of, mended = mending
        if self.sensitive is not None:
            return mended
        better = {
            number: (facts, improve(result, self.knowledge)) for number, (facts, result) in mended.items()
        }
        return better | {number: mended[number] for number in self.find_failing(class_of, [*better], better)}

    def _find_nodes(self, mended: list[tuple[NDArray[np.int64], Mended]]) -> NDArray[np.int32]:
        """Return the published nodes of all facts of some classes, 0 elsewhere."""
        forest, facts = self.forest, self.facts
        nodes = np.zeros_like(forest.nodes)
        for own_facts, result in mended:
            group = result.group
            published = np.where(group.label == group.shown, result.published, 0)
            for number, column in enumerate(facts.columns):
                if column.position is not None:
                    there = facts.column[own_facts] == number
                    entries = forest.first_node[facts.owner[own_facts[there]]] + column.position
                    nodes[entries] = published[there]
        return nodes

    def _find_removed(self, mended: list[tuple[NDArray[np.int64], Mended]]) -> NDArray[np.bool_]:
        """Return which vertices are removed."""
        removed = np.zeros(self.forest.vertex_count, np.bool_)
        for facts, result in mended:
            removed[self.facts.owner[facts[result.group.label == 0]]] = True
        return removed

    def partition_of(self, mending: Mending) -> Partition:
        """Return the partition by root classes."""
        division, class_of, _ = mending
        mended = self._improve_classes(mending)
        forest = self.forest
        nodes = self._find_nodes([*mended.values()])
        roots = forest.first_node[forest.roots[:-1]]
        if self.knowledge.root == "known":
            vectors = np.array(division.vectors, np.int64).reshape(len(division.vectors), -1)[class_of]
            for position in range(forest.own_widths[0]):
                nodes[roots + position] = vectors[:, position]
        shown = np.arange(forest.vertex_count)
        removed = self._find_removed(list(mended.values()))
        shown[removed] = SUPPRESSED
        costs = Counter(vertices_removed=int(removed.sum()))
        classes = group_by_root(forest, nodes)
        return Partition(classes, shown, nodes, costs, by_root=True)
