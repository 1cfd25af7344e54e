"""Root classes, from the whole collection down: each split by the quasi-identifier that saves most.

Where counts are declared, records with other bins are never in one class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.guarding.contents import GroupContents, count_groups
from hierdata.engines.specialize.facts import Column, FactArrays
from hierdata.engines.specialize.kernel_cutting import add_supports, choose_cuts
from hierdata.forest.forest import Forest
from hierdata.forest.nesting import NodeNesting, nest_nodes


@dataclass(frozen=True)
class Supports:
    """By column and depth: which records have which nodes, each pair once, and all occurrences.

    Prepared once; counting them by group is then linear.
    """

    facts: FactArrays

    @cached_property
    def pairs(self) -> list[list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]]:
        """By column and depth the records, nodes and numbers of occurrences."""
        return [self._pairs_of(number, column) for number, column in enumerate(self.facts.columns)]

    def _pairs_of(
        self, number: int, column: Column
    ) -> list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
        if column.position is None:
            return []
        facts = self.facts.by_column[number]
        nodes = self.facts.node[facts]
        there = nodes != column.missing
        records, nodes = self.facts.record[facts][there], nodes[there]
        size = len(column.parents)
        by_depth = []
        for chain in column.chains:
            above = chain[nodes]
            kept = above >= 0
            pairs, counts = np.unique(records[kept] * size + above[kept], return_counts=True)
            by_depth.append((pairs // size, pairs % size, counts))
        return by_depth


@dataclass(frozen=True)
class Cutter:
    """Finds cuts for k and m; a node of support s is expected to lose the share 1 / (1 + (s / tau)^2).

    ``whole``: all fields of a vertex are known together, so where it has more than m, their number takes the
    place of m.
    """

    supports: Supports
    k: int
    m: int
    whole: bool

    def lose(
        self, group_of: NDArray[np.int64], groups: int, factor: float
    ) -> tuple[NDArray[np.float64], list[NDArray[np.bool_]]]:
        """Return the expected loss of each group by the best cuts, and by column which nodes are cuts.

        ``group_of[record]`` is -1 for records in none.
        """
        sizes = np.bincount(group_of[group_of >= 0], minlength=groups).astype(np.float64)
        kinds = [column.kind for column in self.supports.facts.columns]
        total = np.zeros(groups)
        chosen = []
        for column, pairs in zip(self.supports.facts.columns, self.supports.pairs, strict=True):
            if column.position is None:
                chosen.append(np.zeros((groups, 1), np.bool_))
                continue
            known = max(self.m, kinds.count(column.kind)) if self.whole else self.m
            tau = factor * self.k ** (1 / known) * np.maximum(sizes, 1) ** (1 - 1 / known)
            support = np.zeros((groups, len(column.parents)))
            occurrences = np.zeros_like(support)
            for records, nodes, counts in pairs:
                add_supports(group_of, records, nodes, counts, support, occurrences)
            lost, is_cut = np.zeros(groups), np.zeros(support.shape, np.bool_)
            losses = column.losses.astype(np.float64)
            sums = np.zeros((2, len(losses)))
            choose_cuts(
                column.parents, column.upward, column.published, losses,
                support, occurrences, tau, sums, lost, is_cut,
            )  # fmt: skip
            total += lost
            chosen.append(is_cut)
        return total, chosen


def cut_nodes(column: Column, is_cut: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return for each node the topmost node of the cut at or above it; 0, the root, where there is none.

    Of a column that is ``kept`` all nodes are published.
    """
    topmost = np.arange(len(column.parents)) if column.kept else np.zeros(len(column.parents), np.int64)
    for chain in () if column.kept else column.chains[::-1]:
        there = chain >= 0
        there[there] = is_cut[chain[there]]
        topmost[there] = chain[there]
    if column.missing >= 0:
        topmost[column.missing] = 0
    return topmost


Members: TypeAlias = "tuple[NDArray[np.int64], tuple[int, ...]]"
"""Records, ascending, and the root vector that they are published by."""
_CELLS = 2**22
"""About how many groups times nodes are counted together."""


@dataclass
class RootClasses:
    """A division of records by root vector; ``vectors[c]`` has the nodes of class c.

    ``above[c]`` is the class that c was split from, -1 for the first ones; only classes without others below
    have records in ``class_of``.
    """

    class_of: NDArray[np.int64]
    vectors: list[tuple[int, ...]]
    above: list[int] = field(default_factory=lambda: [-1])

    def all_below(self, above: int) -> NDArray[np.int64]:
        """Return a class and all that were split from it."""
        inside = {above}
        for number in range(above + 1, len(self.above)):
            if self.above[number] in inside:
                inside.add(number)
        return np.array(sorted(inside), np.int64)

    def count_below(self, class_of: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of records in each class and all that were split from it."""
        sizes = np.bincount(class_of, minlength=len(self.above))
        for number in range(len(sizes) - 1, -1, -1):  # what was split off has the greater number
            if self.above[number] >= 0:
                sizes[self.above[number]] += sizes[number]
        return sizes

    def levels(self) -> Iterator[dict[int, list[int]]]:
        """Yield from the deepest level up the classes that were split, each with those it was split into."""
        depths = [0] * len(self.above)
        below: dict[int, list[int]] = {}
        for number, above in enumerate(self.above):
            if above >= 0:
                depths[number] = depths[above] + 1
                below.setdefault(above, []).append(number)
        for depth in range(max(depths), -1, -1):
            level = {number: parts for number, parts in below.items() if depths[number] == depth}
            if level:
                yield level


@dataclass(frozen=True)
class Splitter:
    """Splits classes while that is expected to lose less, by the best cuts of each class (``Cutter.lose``).

    All classes satisfy the ``constraints``, all vertices of a type taken as one place.
    """

    forest: Forest
    cutter: Cutter
    factor: float
    constraints: Constraints

    @cached_property
    def nestings(self) -> list[NodeNesting]:
        """The hierarchies of the root's quasi-identifiers."""
        return [nest_nodes(tree) for tree in self.forest.root_hierarchies]

    @cached_property
    def values(self) -> NDArray[np.int32]:
        """The values of each record's root, by column."""
        roots = self.forest.first_node[self.forest.roots[:-1]]
        columns = [self.forest.nodes[roots + position] for position, _ in enumerate(self.nestings)]
        return np.stack(columns, 1) if columns else np.zeros((len(roots), 0), np.int32)

    @cached_property
    def by_counts(self) -> NDArray[np.int64]:
        """The class of each record before any is split: those with the same bins of counts."""
        shown = self.values[:, [count.position for count in self.constraints.counts]]
        return np.unique(shown, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)

    def split(self) -> RootClasses:
        """Return the classes, each from those by counts on at the finest nodes that its records share."""
        first = self.by_counts.copy()
        active = [*range(int(first.max()) + 1)]
        vectors = [self.find_vector(np.flatnonzero(first == number)) for number in active]
        division = RootClasses(first, vectors, [-1] * len(active))
        losses = dict(zip(active, self._lose(first, vectors).tolist(), strict=True))
        while active:
            active = self._split_level(division, active, losses)
        return division

    def find_vector(self, members: NDArray[np.int64]) -> tuple[int, ...]:
        """Return the finest nodes that all of some records lie at or below, by root quasi-identifier."""
        return tuple(
            nest.find_common(self.values[members, position]) for position, nest in enumerate(self.nestings)
        )

    def _lose(self, group_of: NDArray[np.int64], vectors: list[tuple[int, ...]]) -> NDArray[np.float64]:
        """Return the expected loss of each group, that of its root included."""
        groups = len(vectors)
        total = np.zeros(groups)
        widest = max((len(column.parents) for column in self.cutter.supports.facts.columns), default=1)
        step = max(1, _CELLS // widest)
        for start in range(0, groups, step):
            inside = (group_of >= start) & (group_of < start + step)
            part = np.where(inside, group_of - start, -1)
            size = min(step, groups - start)
            total[start : start + size] = self.cutter.lose(part, size, self.factor)[0]
        sizes = np.bincount(group_of[group_of >= 0], minlength=groups)
        for group, vector in enumerate(vectors):
            by_position = zip(self.forest.losses[0], vector, strict=False)  # facts of the root follow
            total[group] += float(sizes[group]) * sum(int(losses[node]) for losses, node in by_position)
        return total

    def _split_level(self, division: RootClasses, active: list[int], losses: dict[int, float]) -> list[int]:
        """Split each of the active classes once if that saves anything; return the classes to go on with."""
        following = []
        chosen = self._choose_splits(division, active, losses)
        for proposed, groups in zip(chosen, self.merge_refused(chosen), strict=True):
            if len(groups) < 2:
                continue
            for members, vector in groups:
                division.class_of[members] = len(division.vectors)
                following.append(len(division.vectors))
                division.vectors.append(vector)
                division.above.append(proposed.split)
        if following:
            which = np.full(len(division.vectors), -1, np.int64)
            which[following] = np.arange(len(following))
            lost = self._lose(which[division.class_of], [division.vectors[number] for number in following])
            losses.update(zip(following, lost.tolist(), strict=True))
        return following

    def _choose_splits(
        self, division: RootClasses, active: list[int], losses: dict[int, float]
    ) -> list[ProposedSplit]:
        """Return for each active class the split that saves most, if any saves anything."""
        best: dict[int, tuple[float, ProposedSplit]] = {}
        for position in range(len(self.nestings)):
            splits = self.propose(division, active, position)
            if not splits:
                continue
            group_of = np.full(len(division.class_of), -1, np.int64)
            vectors: list[tuple[int, ...]] = []
            firsts = []
            for proposed in splits:
                firsts.append(len(vectors))
                for members, vector in proposed.groups:
                    group_of[members] = len(vectors)
                    vectors.append(vector)
            lost = self._lose(group_of, vectors)
            for proposed, first in zip(splits, firsts, strict=True):
                of_groups = lost[first : first + len(proposed.groups)]
                saved = losses[proposed.split] - float(of_groups.sum())
                if saved > 0 and (proposed.split not in best or saved > best[proposed.split][0]):
                    best[proposed.split] = saved, proposed
        return [proposed for _, (_, proposed) in sorted(best.items())]

    def propose(self, division: RootClasses, active: list[int], position: int) -> list[ProposedSplit]:
        """Return the split of each active class by one quasi-identifier, where there is any."""
        splits = []
        nest, values = self.nestings[position], self.values[:, position]
        least = self.constraints.min_class_size
        order = np.argsort(division.class_of, kind="stable")
        bounds = np.searchsorted(division.class_of[order], [*active, *(number + 1 for number in active)])
        for rank, number in enumerate(active):
            members = order[bounds[rank] : bounds[rank + len(active)]]
            vector = division.vectors[number]
            child = _child_below(values[members], vector[position], nest.parents, nest.published)
            child[values[members] == nest.missing] = -1
            nodes, which, sizes = np.unique(child, return_inverse=True, return_counts=True)
            which = which.reshape(-1)
            apart = (nodes >= 0) & (sizes >= least)
            staying = int(sizes[~apart].sum())
            # Too few cannot stay behind: the smallest others stay with them.
            while 0 < staying < least and apart.any():
                smallest = min(np.flatnonzero(apart).tolist(), key=lambda group: (int(sizes[group]), group))
                apart[smallest] = False
                staying += int(sizes[smallest])
            if not apart.any():
                continue
            groups = []
            for group in np.flatnonzero(apart).tolist():
                inside = members[which == group]
                groups.append((inside, self.find_vector(inside)))
            if staying:
                inside = members[~apart[which]]
                groups.append((inside, self.find_vector(inside)))
            if len(groups) > 1:
                splits.append(ProposedSplit(number, groups, bool(staying)))
        return splits

    def merge_refused(self, splits: list[ProposedSplit]) -> Iterator[list[Members]]:
        """Yield the groups of each split; those that no model accepts stay behind in their class.

        All stay if those left behind are not accepted.
        """
        group_of = np.full(self.forest.record_count, -1, np.int64)
        every = [group for proposed in splits for group in proposed.groups]
        for number, (members, _) in enumerate(every):
            group_of[members] = number
        contents = iter(count_groups(self.forest, self.constraints, 0, group_of, len(every)))
        for proposed in splits:
            taken: list[tuple[Members, GroupContents]] = []
            refused: list[tuple[Members, GroupContents]] = []
            for position, (group, held) in enumerate(zip(proposed.groups, contents, strict=False)):
                stays = proposed.has_rest and position == len(proposed.groups) - 1
                accepted = not stays and held.satisfies(self.constraints)
                (taken if accepted else refused).append((group, held))
            yield self._join_refused(taken, refused)

    def _join_refused(
        self, taken: list[tuple[Members, GroupContents]], refused: list[tuple[Members, GroupContents]]
    ) -> list[Members]:
        """Return the groups with all refused ones as one, which takes others until it is accepted."""
        if not refused:
            return [group for group, _ in taken]
        (first, held), *others = refused
        rest = [first, *(group for group, _ in others)]
        for _, contents in others:
            held = held + contents
        while not held.satisfies(self.constraints):
            if not taken:
                return []
            smallest = min(range(len(taken)), key=lambda number: (len(taken[number][0][0]), number))
            group, contents = taken.pop(smallest)
            rest.append(group)
            held = held + contents
        members, vectors = zip(*rest, strict=True)
        shared = (
            nest.find_common(np.array(nodes, np.int32))
            for nest, nodes in zip(self.nestings, zip(*vectors, strict=True), strict=True)
        )
        return [*(group for group, _ in taken), (np.sort(np.concatenate(members)), tuple(shared))]


@dataclass(frozen=True)
class ProposedSplit:
    """The groups that a class would be split into; with ``has_rest`` the last ones stay behind."""

    split: int
    groups: list[Members]
    has_rest: bool


def _child_below(
    values: NDArray[np.int32], node: int, parents: NDArray[np.int64], published: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the child of a node that each value lies below; -1 where there is none that is published."""
    child = np.full(len(values), -1, np.int64)
    nodes = values.astype(np.int64)
    going = nodes != node
    while going.any():
        above = parents[nodes]
        done = going & (above == node)
        child[done] = nodes[done]
        going &= ~done & (above >= 0)
        nodes = np.where(going, above, nodes)
    child[(child >= 0) & ~published[np.maximum(child, 0)]] = -1
    return child
