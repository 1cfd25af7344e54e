"""The last step of a search: judge what looks alike once published as one class (DECISIONS 24).

A reader cannot tell classes with equal published forms apart, nor identical siblings. A model that is not
monotone may hold in each of them and fail in their union.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np

from hierdata.engines import Constraints
from hierdata.forest.forest import Forest
from hierdata.forest.isomorphism import exempt_types, ranks
from hierdata.forest.partition import SUPPRESSED, Partition

Counts = list[Counter[int]]
"""The number of occurrences of each code, one counter per sensitive attribute."""


def coalesce(forest: Forest, partition: Partition, constraints: Constraints) -> Partition:
    """Return a partition of whole records that satisfies the constraints in unions of classes and siblings.

    Every constraint must hold in each single class of ``partition``, except those that count a population:
    they are checked again, because a recoding may publish other nodes than the search assumed. If a
    constraint fails at the root of classes with equal forms, the classes are added one by one, the largest
    first, the first of equally large ones. A class stays if all constraints hold in its union with those
    added before; the others are suppressed. Identical siblings below the root, over all classes with equal
    forms, are handled in the same way; a sibling that does not stay is suppressed with its subtree in all
    members of its class. Suppression changes forms, so everything is checked again until nothing fails.
    ``costs`` counts ``records_lost_in_a_union`` and ``vertices_lost_in_a_pool``.

    Returns ``partition`` itself if all constraints are monotone, as then no union can fail.
    """
    assert partition.kind == 0, "forms are those of whole records"
    if not partition.class_count or all(constraint.monotone for constraint in constraints.all()):
        return partition
    search = _Search(forest, partition, constraints)
    while search.suppress_failures():
        pass
    return search.outcome()


class _Search:
    """The representatives that remain, each identified by its vertex."""

    def __init__(self, forest: Forest, partition: Partition, constraints: Constraints) -> None:
        self._forest = forest
        self._partition = partition
        self._constraints = constraints
        self._shown = partition.representative.copy()
        self._class_of = partition.equivalence_class.copy()
        self._costs: Counter[str] = Counter()
        self._counted: dict[int, Counts] = {}
        self._exempt = exempt_types(forest.schema)
        kept = np.flatnonzero(self._shown >= 0)
        order = kept[np.argsort(self._shown[kept], kind="stable")]
        own, starts = np.unique(self._shown[order], return_index=True)
        self._behind = dict(zip(own.tolist(), np.split(order, starts[1:]), strict=True))
        self._below: defaultdict[int, list[int]] = defaultdict(list)
        for representative, parent in zip(own.tolist(), forest.parent[own].tolist(), strict=True):
            self._below[parent].append(representative)
        self._roots = self._below.pop(SUPPRESSED, [])
        self._roots.sort(key=lambda root: (-len(self._behind[root]), self._class(root)))

    def outcome(self) -> Partition:
        """The partition that remains, with its classes renumbered."""
        left, numbers = np.unique(self._class_of, return_inverse=True)
        numbers = numbers.reshape(-1) - int(SUPPRESSED in left)
        costs = Counter(self._partition.costs)
        costs.update(self._costs)
        return replace(self._partition, equivalence_class=numbers, representative=self._shown, costs=costs)

    def suppress_failures(self) -> bool:
        """Check all unions once; return whether something was suppressed."""
        rank = ranks(self._forest, self._shown, self._partition.nodes, self._exempt)
        unions: defaultdict[int, list[int]] = defaultdict(list)
        for root in self._roots:
            unions[rank[root]].append(root)
        lost = self._costs.total()
        for roots in unions.values():
            self._settle(roots, rank)
        return self._costs.total() > lost

    def _settle(self, roots: list[int], rank: dict[int, int]) -> None:
        """Suppress what fails in the union of classes with equal forms."""
        kept = self._compatible(roots, None)
        for root in roots:
            if root not in kept:
                self._give_up(root)
        records = sum(len(self._behind[root]) for root in kept)
        places = [list(kept)]
        for place in places:
            pools: defaultdict[int, list[int]] = defaultdict(list)
            for above in place:
                for representative in self._below.get(above, ()):
                    pools[rank[representative]].append(representative)
            for pool in pools.values():
                staying = self._compatible(pool, records)
                places.append(list(staying))
                for representative in pool:
                    if representative not in staying:
                        self._suppress(representative)

    def _compatible(self, place: list[int], records: int | None) -> dict[int, None]:
        """Return the representatives of a place that may stay together; all if all constraints hold.

        ``records`` is the size of their class; None at roots, whose members are the records.
        """
        # A single class holds, unless it is published by other nodes and so matches another population.
        if len(place) == 1 and (records is not None or self._constraints.population is None):
            return dict.fromkeys(place)
        own = [self._counts(representative) for representative in place]
        sizes = [len(self._behind[representative]) for representative in place]
        total = [Counter[int]() for _ in own[0]]
        for counts in own:
            for pooled, held in zip(total, counts, strict=True):
                pooled.update(held)
        if self._hold(place[0], total, sum(sizes), records):
            return dict.fromkeys(place)
        kept: dict[int, None] = {}
        found, members = [Counter[int]() for _ in own[0]], 0
        for representative, counts, size in zip(place, own, sizes, strict=True):
            trial = [left + right for left, right in zip(found, counts, strict=True)]
            if self._hold(representative, trial, members + size, records):
                kept[representative] = None
                found, members = trial, members + size
        return kept

    def _hold(self, representative: int, pooled: Counts, members: int, records: int | None) -> bool:
        """Whether all constraints hold for the pooled values of ``members`` vertices."""
        constraints, forest = self._constraints, self._forest
        first = forest.first_node[forest.roots[forest.record_of[representative]]]
        root = self._partition.nodes[first : first + len(forest.hierarchies[0])].tolist()
        if records is None:
            records = members
            view = constraints.view(records, {}, root)
            if not all(constraint.holds(view) for constraint in constraints.on_records):
                return False
        for counts, bound in zip(pooled, constraints.on_values[forest.type[representative]], strict=True):
            view = constraints.view(records, counts, root)
            if not all(constraint.holds(view) for constraint in bound):
                return False
        return True

    def _counts(self, representative: int) -> Counts:
        counted = self._counted.get(representative)
        if counted is None:
            forest = self._forest
            first = forest.first_sensitive[self._behind[representative]]
            own = [
                forest.sensitive[first + at] for at in range(len(forest.domains[forest.type[representative]]))
            ]
            counted = self._counted[representative] = [Counter(codes[codes >= 0].tolist()) for codes in own]
        return counted

    def _give_up(self, root: int) -> None:
        """Suppress a class, whose root representative is ``root``."""
        self._roots.remove(root)
        records = self._forest.record_of[self._behind[root]]
        self._class_of[records] = SUPPRESSED
        for start, end in zip(self._forest.roots[records], self._forest.roots[records + 1], strict=True):
            self._shown[start:end] = SUPPRESSED
        self._costs["records_lost_in_a_union"] += len(records)

    def _suppress(self, representative: int) -> None:
        """Suppress a vertex with its subtree in all members."""
        self._below[int(self._forest.parent[representative])].remove(representative)
        subtree = [representative]
        for one in subtree:
            subtree += self._below.pop(one, [])
            self._shown[self._behind[one]] = SUPPRESSED
            self._costs["vertices_lost_in_a_pool"] += len(self._behind[one])

    def _class(self, root: int) -> int:
        return int(self._partition.equivalence_class[self._forest.record_of[root]])
