"""The last step of a search: judge what looks alike once published as one class.

A reader cannot tell classes with equal published forms apart, nor identical siblings. A model that is not
closed under unions or pooling may hold in each of them and fail in all together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from hierdata.engines.base import Constraints, accepts_all
from hierdata.forest.forest import Forest
from hierdata.forest.isomorphism import exempt_types, ranks
from hierdata.forest.partition import SUPPRESSED, Partition
from hierdata.privacy.base import Constraint

Counts = list[Counter[int]]
"""The number of occurrences of each code, one counter per sensitive attribute."""
Pairs = list[tuple[int, int]]
"""Record and code of each value at some vertices, without missing ones."""


def coalesce(forest: Forest, partition: Partition, constraints: Constraints) -> Partition:
    """Return a partition of whole records that satisfies the constraints in unions of classes and siblings.

    Every constraint must hold in each single class of ``partition``, except those that count a population:
    they are checked again, because a recoding may publish other nodes than the search assumed. Nor need
    presence hold below the root: it is judged here alone, over identical siblings or whole records. If a
    constraint fails at the root of classes with equal forms, the classes are added one by one, the largest
    first, the first of equally large ones. A class stays if all constraints hold in its union with those
    added before; the others are suppressed. Identical siblings below the root, over all classes with equal
    forms, are handled in the same way; a sibling that does not stay is suppressed with its subtree in all
    members of its class. If presence within records fails, the vertices with values of the attribute are
    added one by one. Suppression changes forms, and which records show values, so everything is checked again
    until nothing fails.
    ``costs`` counts ``records_lost_in_a_union`` and ``vertices_lost_in_a_pool``.

    Returns ``partition`` itself if all constraints are closed under both, as then nothing can fail, and if a
    class is the records of a root vector: then the engine has judged all that a reader cannot tell apart.
    """
    assert partition.kind == 0, "forms are those of whole records"
    closed = (
        constraint.closed_under_union and constraint.closed_under_pooling for constraint in constraints.all()
    )
    if partition.by_root or not partition.class_count or all(closed):
        return partition
    search = _Search(forest, partition, constraints)
    while search.suppress_failures():
        pass
    return search.outcome()


class ShownSets:
    """How many records show each set of values; records that show none do not count.

    >>> sets = ShownSets()
    >>> before = sets.add([(7, 0), (8, 0), (7, 1)])
    >>> sorted(map(sorted, sets.counts))
    [[0], [0, 1]]
    >>> sets.restore(before)
    >>> sets.counts
    Counter()
    """

    def __init__(self) -> None:
        self.counts: Counter[frozenset[int]] = Counter()
        self._of: dict[int, frozenset[int]] = {}

    def add(self, values: Iterable[tuple[int, int]]) -> dict[int, frozenset[int]]:
        """Add values; return what the records that have them showed before, for ``restore``."""
        before: dict[int, frozenset[int]] = {}
        for record, code in values:
            shown = self._of.get(record, frozenset())
            before.setdefault(record, shown)
            if code not in shown:
                self._set(record, shown | {code})
        return before

    def restore(self, before: dict[int, frozenset[int]]) -> None:
        """Undo an addition."""
        for record, shown in before.items():
            self._set(record, shown)

    def _set(self, record: int, shown: frozenset[int]) -> None:
        if known := self._of.pop(record, None):
            self.counts[known] -= 1
            if not self.counts[known]:
                del self.counts[known]
        if shown:
            self._of[record] = shown
            self.counts[shown] += 1


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
        self._presence = [_ask_presence(attributes) for attributes in constraints.on_values]
        self._in_records = [_ask_in_records(attributes) for attributes in constraints.on_values]
        self._exempt = exempt_types(forest.schema)
        kept = np.flatnonzero(self._shown >= 0)
        order = kept[np.argsort(self._shown[kept], kind="stable")]
        representatives, starts = np.unique(self._shown[order], return_index=True)
        self._behind = dict(zip(representatives.tolist(), np.split(order, starts[1:]), strict=True))
        self._below: defaultdict[int, list[int]] = defaultdict(list)
        for representative, parent in zip(
            representatives.tolist(), forest.parent[representatives].tolist(), strict=True
        ):
            self._below[parent].append(representative)
        self._roots = self._below.pop(SUPPRESSED, [])
        self._roots.sort(key=lambda root: (-len(self._behind[root]), self._class(root)))

    def outcome(self) -> Partition:
        """The partition that remains, with its classes renumbered."""
        remaining, numbers = np.unique(self._class_of, return_inverse=True)
        numbers = numbers.reshape(-1) - int(SUPPRESSED in remaining)
        costs = Counter(self._partition.costs)
        costs.update(self._costs)
        return replace(self._partition, equivalence_class=numbers, representative=self._shown, costs=costs)

    def suppress_failures(self) -> bool:
        """Check all unions once; return whether something was suppressed."""
        rank = ranks(self._forest, self._shown, self._partition.nodes, self._exempt).tolist()
        unions: defaultdict[int, list[int]] = defaultdict(list)
        for root in self._roots:
            unions[rank[root]].append(root)
        lost = self._costs.total()
        for roots in unions.values():
            self._settle(roots, rank)
        return self._costs.total() > lost

    def _settle(self, roots: list[int], rank: list[int]) -> None:
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
        self._settle_records([*kept], records)

    def _settle_records(self, roots: list[int], records: int) -> None:
        """Suppress vertices until presence within records holds in the union of these classes."""
        if not any(self._in_records[1:]):
            return
        every = list(roots)
        for above in every:
            every += self._below.get(above, ())
        for kind, positions in enumerate(self._in_records[1:], 1):
            for position in positions:
                vertices = [v for v in every if self._forest.type[v] == kind and self._shown[v] >= 0]
                if vertices and not self._stay_in_records(vertices, position, records):
                    self._drop_from_records(vertices, position, records)

    def _stay_in_records(self, representatives: list[int], position: int, records: int) -> bool:
        sets, counts = ShownSets(), Counter[int]()
        for representative in representatives:
            sets.add(self._pairs(representative, position))
            counts.update(self._counts(representative)[position])
        return self._hold_in_records(
            representatives[0], position, counts, sets, records, self._vertices(representatives)
        )

    def _drop_from_records(self, representatives: list[int], position: int, records: int) -> None:
        """Suppress the vertices that do not fit those before them."""
        sets, counts, vertices = ShownSets(), Counter[int](), 0
        for representative in representatives:
            before = sets.add(self._pairs(representative, position))
            trial = counts + self._counts(representative)[position]
            more = vertices + self._vertices([representative])
            if self._hold_in_records(representative, position, trial, sets, records, more):
                counts, vertices = trial, more
            else:
                sets.restore(before)
                self._suppress(representative)

    def _hold_in_records(
        self,
        representative: int,
        position: int,
        counts: Counter[int],
        sets: ShownSets,
        records: int,
        vertices: int,
    ) -> bool:
        view = self._constraints.view(
            records, counts, self._root(representative), sets.counts, -(-vertices // records)
        )
        bound = self._constraints.on_values[self._forest.type[representative]][position]
        return accepts_all((constraint for constraint in bound if constraint.reading.of_record), view)

    def _compatible(self, pool: list[int], records: int | None) -> dict[int, None]:
        """Return the representatives of a pool that may stay together; all if all constraints hold.

        ``records`` is the size of their class; None at roots, whose members are the records.
        """
        # A single class holds, unless it is published by other nodes and so matches another population.
        asked = () if records is None else self._presence[self._forest.type[pool[0]]]
        if len(pool) == 1 and not asked and (records is not None or self._constraints.population is None):
            return dict.fromkeys(pool)
        if asked and not self._constraints.shows_sets:
            # With slicing each of the siblings has a group, which the judge sees alone too.
            pool = [vertex for vertex in pool if self._holds_alone(vertex, records)]
            if not pool:
                return {}
        counted = [self._counts(representative) for representative in pool]
        sizes = [len(self._behind[representative]) for representative in pool]
        total = [Counter[int]() for _ in counted[0]]
        for counts in counted:
            for pooled, held in zip(total, counts, strict=True):
                pooled.update(held)
        shown = {position: ShownSets() for position in asked}
        for representative in pool:
            self._add_shown(shown, representative)
        if self._hold(pool[0], total, sum(sizes), records, shown):
            return dict.fromkeys(pool)
        return self._add_one_by_one(pool, records, asked)

    def _add_one_by_one(self, pool: list[int], records: int | None, asked: Sequence[int]) -> dict[int, None]:
        """Return the representatives that hold together with those before them; see ``_compatible``."""
        shown = {position: ShownSets() for position in asked}
        kept: dict[int, None] = {}
        pooled, members = [Counter[int]() for _ in self._counts(pool[0])], 0
        for representative in pool:
            counts, size = self._counts(representative), len(self._behind[representative])
            trial = [mine + more for mine, more in zip(pooled, counts, strict=True)]
            before = self._add_shown(shown, representative)
            if self._hold(representative, trial, members + size, records, shown):
                kept[representative] = None
                pooled, members = trial, members + size
            else:
                for position, shown_before in before.items():
                    shown[position].restore(shown_before)
        return kept

    def _holds_alone(self, representative: int, records: int | None) -> bool:
        counts, size = self._counts(representative), len(self._behind[representative])
        return self._hold(representative, counts, size, records, {})

    def _add_shown(
        self, shown: dict[int, ShownSets], representative: int
    ) -> dict[int, dict[int, frozenset[int]]]:
        """Add the values of a representative's members; return what ``ShownSets.restore`` needs."""
        return {position: sets.add(self._pairs(representative, position)) for position, sets in shown.items()}

    def _hold(
        self,
        representative: int,
        pooled: Counts,
        members: int,
        records: int | None,
        shown: dict[int, ShownSets],
    ) -> bool:
        """Whether all constraints hold for the pooled values of ``members`` vertices.

        ``shown`` has the sets of values of the records by attribute, where they count; at the root every
        record shows one value.
        """
        constraints, forest = self._constraints, self._forest
        root, below = self._root(representative), records is not None
        if records is None:
            records = members
            view = constraints.view(records, {}, root)
            if not accepts_all(constraints.on_records, view):
                return False
        bounds = constraints.on_values[forest.type[representative]]
        for position, (counts, bound) in enumerate(zip(pooled, bounds, strict=True)):
            sets = shown[position].counts if position in shown else None
            view = constraints.view(records, counts, root, sets, -(-members // records))
            asked = (constraint for constraint in bound if not (below and constraint.reading.of_record))
            if not accepts_all(asked, view):
                return False
        return True

    def _root(self, representative: int) -> list[int]:
        """Return the published nodes of the root above a representative."""
        forest = self._forest
        first = forest.first_node[forest.roots[forest.record_of[representative]]]
        nodes: list[int] = self._partition.nodes[first : first + len(forest.hierarchies[0])].tolist()
        return nodes

    def _vertices(self, representatives: list[int]) -> int:
        return sum(len(self._behind[representative]) for representative in representatives)

    def _pairs(self, representative: int, position: int) -> Pairs:
        """Return record and code of each value behind a representative, at one of its attributes."""
        forest, behind = self._forest, self._behind[representative]
        codes = forest.sensitive[forest.first_sensitive[behind] + position]
        there = codes >= 0
        return [*zip(forest.record_of[behind[there]].tolist(), codes[there].tolist(), strict=True)]

    def _counts(self, representative: int) -> Counts:
        counted = self._counted.get(representative)
        if counted is None:
            forest = self._forest
            first = forest.first_sensitive[self._behind[representative]]
            columns = [
                forest.sensitive[first + position]
                for position in range(len(forest.domains[forest.type[representative]]))
            ]
            counted = self._counted[representative] = [
                Counter(codes[codes >= 0].tolist()) for codes in columns
            ]
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
        for vertex in subtree:
            subtree += self._below.pop(vertex, [])
            self._shown[self._behind[vertex]] = SUPPRESSED
            self._costs["vertices_lost_in_a_pool"] += len(self._behind[vertex])

    def _class(self, root: int) -> int:
        return int(self._partition.equivalence_class[self._forest.record_of[root]])


def _ask_presence(attributes: Sequence[Sequence[Constraint]]) -> list[int]:
    """Return the positions of the attributes that a constraint asks for presence at a place."""
    return [
        position
        for position, bound in enumerate(attributes)
        if any(
            constraint.reading.asks == "presence" and not constraint.reading.of_record for constraint in bound
        )
    ]


def _ask_in_records(attributes: Sequence[Sequence[Constraint]]) -> list[int]:
    """Return the positions of the attributes that a constraint asks for presence in whole records."""
    return [
        position
        for position, bound in enumerate(attributes)
        if any(constraint.reading.of_record for constraint in bound)
    ]
