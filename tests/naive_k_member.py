"""K-member clustering of trees, slow and obvious, from the engine's docstring: what k_member must find.

How two trees are aligned, the histogram bound and what a model says have twins of their own; all that is
decided with them is decided here again, every class built anew for every question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor

import numpy as np

from hierdata.engines.alignment.alignment import Alignment
from hierdata.engines.alignment.closing import Closing
from hierdata.engines.alignment.kernels.arrays import (
    FIRST_NODE,
    KIND,
    OWN,
    POOL_COUNT,
    POOL_FIRST,
    QUASI_COUNT,
    SLOT_COUNT,
    WEIGHT,
    Sides,
)
from hierdata.engines.alignment.kernels.lower_bounds import Histograms, histogram_of
from hierdata.engines.alignment.kernels.representative import ClassBuffers, merge, plant
from hierdata.engines.alignment.lower_bounds import histograms
from hierdata.engines.base import Constraints
from hierdata.forest.forest import Forest
from hierdata.privacy.base import FrequencyCaps
from tests.aligned import align


@dataclass
class Class:
    """``start``: the size it was grown for; who joins later is checked as in the class with them."""

    records: list[int]
    start: int
    saved: int = 0
    rows: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)


class Twin:
    def __init__(
        self,
        forest: Forest,
        constraints: Constraints,
        least: int,
        largest: int,
        candidates: int,
        aligned: int,
        stride: int,
    ) -> None:
        self.forest, self.constraints = forest, constraints
        self.candidates, self.aligned, self.stride = candidates, aligned, stride
        self.least, self.largest = least, largest
        self.closing = Closing(forest, constraints, least)
        self.room = 2 * largest
        self.alignment = Alignment(forest, constraints, least, "optimal", self.room)
        self.plain = histograms(forest)
        self.weights = forest.weight[forest.roots[:-1]].tolist()

    # What a class is.

    def representative(self, records: Sequence[int], start: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Rows and members of the class whose records join in this order; None where a root does not fit."""
        al, roots = self.alignment, self.forest.roots
        rep, members = al.representative.copy(), al.members.copy()
        count, queue = int(roots[records[0] + 1] - roots[records[0]]), al.buffers.queue
        plant(records[0], ClassBuffers(rep, members, rep, members, queue), al.arrays)
        for have in range(1, len(records)):
            root = roots[records[have]]
            al.fit_caps(max(start, have + 1))
            align(0, 1, root, 1, True, Sides(have, al.settings, al.scratch, rep, al.rows, al.rules))
            if al.scratch.mates[0, 0] != 0:
                return None
            new, joined = rep.copy(), members.copy()
            count = merge(records[have], have, ClassBuffers(rep, members, new, joined, queue), al.arrays)
            rep, members = new, joined
        return rep[:count], members[: len(records), :count]

    def kept(self, rows: np.ndarray, vertices: Sequence[int]) -> int:
        """What each member keeps of its values where these vertices are published, times the scale."""
        losses = [loss for own in self.forest.losses for trees in own for loss in trees.tolist()]
        losses += [0] * len(self.forest.constants)  # of vertices without quasi-identifiers
        nodes = [rows[v, FIRST_NODE + at] for v in vertices for at in range(rows[v, QUASI_COUNT])]
        whole = self.forest.scale * sum(int(rows[v, OWN]) for v in vertices)
        return whole - sum(losses[node] for node in nodes)

    def total_loss(self, records: Sequence[int], start: int) -> int | None:
        """Of the class as it would be published if no other model were asked."""
        found = self.representative(records, start)
        if found is None:
            return None
        whole = self.forest.scale * sum(self.weights[record] for record in records)
        return whole - len(records) * self.kept(found[0], range(len(found[0])))

    def cheapest(self, records: list[int], others: Sequence[int], start: int) -> int | None:
        """Who of the others raises the total loss of the class least, the first of equals."""
        losses = [(self.total_loss([*records, other], start), at) for at, other in enumerate(others)]
        fitting = [(loss, at) for loss, at in losses if loss is not None]
        return others[min(fitting)[1]] if fitting else None

    def promising(self, records: list[int], most: dict[int, int], start: int) -> int | None:
        """Who raises the total loss least of those aligned; ``most``: what a member keeps with each at most.

        It is what the bounds say at first, and what came out where somebody was aligned.
        """
        rows, _ = self.representative(records, start) or (None, None)
        assert rows is not None
        if len(records) > 1:
            vector = np.zeros(len(self.bounds.weights), np.uint8)
            total = int(histogram_of(rows, len(rows), self.bounds, vector))
            for other in most:
                most[other] = min(most[other], self._together(rows, vector, total, other, self.bounds))

        for other in most:
            lost = self.lost_for_want_of_room(rows, len(records), other, start)
            both = self.forest.scale * (int(rows[0, WEIGHT]) + self.weights[other])
            most[other] = min(most[other], (both - self.forest.scale * lost) // 2)

        def rise(other: int) -> tuple[int, int]:
            raised = self.forest.scale * self.weights[other] - (len(records) + 1) * most[other]
            return raised, [*most].index(other)

        found: list[tuple[int, int]] = []
        fitting = {}
        for other in sorted(most, key=rise):
            if len(found) == self.aligned or (found and rise(other)[0] > min(found)[0]):
                break
            rep = self.representative([*records, other], start)
            if rep is None:
                continue
            fitting[other] = most[other] = self.kept(rep[0], range(len(rep[0])))
            found.append(rise(other))
        return min(fitting, key=rise) if fitting else None

    def lost_for_want_of_room(self, rows: np.ndarray, members: int, record: int, start: int) -> int:
        """What both sides lose at least in vertices without a partner, as caps leave no more room.

        Only where there are few groups and each counts by itself.
        """
        bound = [(kind, one) for kind in range(len(self.forest.schema.types)) for one in self._caps(kind)]
        if sum(len(cap.share) for _, (_, cap) in bound) > 60 or any(cap.reach for _, (_, cap) in bound):
            return 0
        if not self.room_is_short(rows, members, start):
            return 0
        lost, pairs = 0, {}
        for kind in self.forest.schema.types:
            there = [v for v in range(len(rows)) if rows[v, KIND] == kind.index]
            own = range(self.forest.roots[record], self.forest.roots[record + 1])
            coming = [v for v in own if self.forest.type[v] == kind.index]
            most = min(len(there), len(coming))
            for slot, (position, cap) in enumerate(self._caps(kind.index)):
                codes = [self.forest.sensitive[self.forest.first_sensitive[v] + position] for v in coming]
                groups = Counter(cap.group_of[code] for code in codes if code >= 0)
                may = {group: self._open(rows, members, start, there, slot, cap, group) for group in groups}
                fitting = sum(min(count, may[group]) for group, count in groups.items())
                most = min(most, fitting + sum(code < 0 for code in codes))
            if kind.parent is not None and not pairs[kind.parent]:
                most = 0
            pairs[kind.index] = most
            weight = self.forest.own_weight[self.forest.type == kind.index]
            lost += (len(there) + len(coming) - 2 * most) * int(weight.max(initial=0))
        return lost

    def room_is_short(self, rows: np.ndarray, members: int, start: int) -> bool:
        """Whether some vertex of the class has no room for some group; else the histograms say as much."""
        return any(
            self._open(rows, members, start, [v], slot, cap, group) == 0
            for v in range(len(rows))
            for slot, (_, cap) in enumerate(self._caps(int(rows[v, KIND])))
            for group in range(len(cap.share))
        )

    def _caps(self, kind: int) -> list[tuple[int, FrequencyCaps]]:
        return list(self.constraints.caps(kind))

    def _open(
        self,
        rows: np.ndarray,
        members: int,
        start: int,
        there: list[int],
        slot: int,
        cap: FrequencyCaps,
        group: int,
    ) -> int:
        """How many of these vertices a further value of a group may join."""
        first = (
            next(
                number for kind, at, number in self._numbers() if kind == rows[there[0], KIND] and at == slot
            )
            if there
            else 0
        )
        found = 0
        for v in there:
            alike = [v]
            if rows[v, POOL_COUNT] > 0:
                head = rows[v, POOL_FIRST]
                alike = list(range(head, head + rows[head, POOL_COUNT]))
            column = self.alignment.settings.first_slot + slot * members
            shown = sum(
                any(rows[z, column + member] == first + group for z in alike) for member in range(members)
            )
            found += shown + 1 <= cap.largest_counts(start)[group]
        return found

    def _numbers(self) -> list[tuple[int, int, int]]:
        """Vertex type, slot and number of the first group of each cap."""
        found, first = [], 0
        for kind in range(len(self.forest.schema.types)):
            for slot, (_, cap) in enumerate(self._caps(kind)):
                found.append((kind, slot, first))
                first += len(cap.share)
        return found

    def _together(self, rows: np.ndarray, vector: np.ndarray, total: int, record: int, by: Histograms) -> int:
        """What a member keeps at most, by its histogram, if a record joins."""
        least = np.minimum(vector.astype(int), by.counts[record].astype(int)) @ by.weights
        bound = total + int(by.totals[record]) - 2 * int(least)
        both = self.forest.scale * (int(rows[0, WEIGHT]) + self.weights[record])
        return (both - bound) // 2

    def closed(self, records: list[int], others: Sequence[int], start: int) -> Class | None:
        """The class when all models have been asked, with as many of the others as it takes."""
        records = list(records)
        while True:
            found = self.representative(records, start)
            assert found is not None
            if self.closing.holds_at_root(*found):
                kept = np.flatnonzero(self.closing.find_safe_vertices(*found)).tolist()
                return Class(records, start, self.kept(found[0], kept), found[0])
            others = [other for other in others if other not in records]
            more = self.cheapest(records, others, start) if len(records) < self.room else None
            if more is None:
                return None
            records.append(more)

    # Which sizes.

    def has_room(self, size: int) -> np.ndarray:
        """The vertices that a class of this size can publish."""
        al, forest = self.alignment, self.forest
        al.fit_caps(size)
        room = np.ones(forest.vertex_count, np.bool_)
        for v in range(forest.vertex_count):
            first = al.settings.first_slot
            groups = al.rows[v, first : first + al.rows[v, SLOT_COUNT]]
            above = forest.parent[v]
            room[v] = all(al.rules.caps[group, 0] > 0 for group in groups if group >= 0)
            room[v] &= above < 0 or room[above]
        return room

    def sizes(self) -> list[int]:
        found = []
        for size in range(self.least, self.largest + 1):
            doubled = self.closing.asks and size in {self.least * 2**i for i in range(20)}
            if size == self.least or doubled or self._more_than_before(size):
                found.append(size)
        return found

    def _more_than_before(self, size: int) -> bool:
        bound = [one.caps for one in self.constraints.all() if one.caps is not None]
        caps = [one for one in bound if one.sufficient]

        def held(of: int) -> Fraction:
            counts = [(floor(of * cap), one.most) for one in caps for cap in one.share]
            return sum((Fraction(n if most is None else min(n, most), of) for n, most in counts), Fraction(0))

        return all(held(size) > held(smaller) for smaller in range(self.least, size))

    def plans(self) -> list[tuple[int, ...]]:
        sizes, roots = self.sizes(), self.forest.roots[:-1]
        room = {size: self.has_room(size)[roots] for size in sizes}
        needs = {next((s for s in sizes if room[s][at]), None) for at in range(len(roots))} - {None}
        found: list[tuple[int, ...]] = []
        for size in sizes:
            larger = sorted((need for need in needs if need is not None and need > size), reverse=True)
            found += [plan for plan in ((size,), (*larger, size)) if plan not in found]
        return found

    # The search.

    def search(self, plans: list[tuple[int, ...]] | None = None) -> list[Class]:
        drafts = [(self.draft(plan), plan) for plan in plans or self.plans()]
        least = min(self.loss(draft) for draft, _ in drafts)
        near = [(draft, plan) for draft, plan in drafts if 100 * self.loss(draft) <= 101 * least]
        draft, plan = min(near, key=lambda one: (self.suppressed(one[0]), self.loss(one[0])))
        return self.join_late(self.again(draft, plan))

    def again(self, draft: list[Class], plan: tuple[int, ...]) -> list[Class]:
        """The best of up to four more drafts in which those who kept less than a quarter come first."""
        drafts, first = [draft], set[int]()
        for _ in range(4):
            losers = {
                record
                for one in drafts[-1]
                for record in one.records
                if Fraction(one.saved, self.forest.scale) < Fraction(self.weights[record], 4)
            }
            if losers <= first or 20 * len(first | losers) < self.forest.record_count:
                break
            first |= losers
            drafts.append(self.draft(plan, frozenset(first)))
        return min(drafts, key=self.loss)

    def loss(self, draft: list[Class]) -> int:
        whole = self.forest.scale * sum(self.weights)
        return whole - sum(len(one.records) * one.saved for one in draft)

    def suppressed(self, draft: list[Class]) -> int:
        return self.forest.record_count - sum(len(one.records) for one in draft)

    def draft(self, plan: tuple[int, ...], first: frozenset[int] = frozenset()) -> list[Class]:
        there = set(range(self.forest.record_count))
        classes: list[Class] = []
        roots = self.forest.roots[:-1]
        for at, size in enumerate(plan):
            fit = {record for record in there if self.has_room(size)[roots[record]]}
            seeds = set(fit)
            if at + 1 < len(plan):
                seeds = {record for record in fit if not self.has_room(plan[at + 1])[roots[record]]}
            for proposing in (seeds & first, seeds):
                made = self.round(size, fit & there, proposing)
                classes += made
                there -= {record for one in made for record in one.records}
        return classes

    def round(self, size: int, there: set[int], seeds: set[int]) -> list[Class]:
        self.bounds = histograms(self.forest, ~self.has_room(size))
        self.windows: dict[int, list[int]] = {}
        there = set(there)
        first = set(sorted(seeds & there)[:: self.stride])
        later = (seeds & there) - first
        proposals = {seed: self.propose(seed, size, there) for seed in sorted(first)}
        closed: dict[int, Class] = {}
        made: list[Class] = []
        before = -1
        bounded = any(one.closeness is not None for one in self.constraints.all())
        while True:
            proposals = {seed: one for seed, one in proposals.items() if one is not None and seed in there}
            if not proposals and later & there and before != len(made):
                before = len(made)
                portion = sorted(later & there)[:: self.stride if bounded else 1]
                proposals = {seed: self.propose(seed, size, there) for seed in portion}
                later -= set(portion)
                continue
            if not proposals:
                return made
            seed = min(proposals, key=lambda seed: (-proposals[seed].saved, seed))
            one = proposals[seed]
            if not there.issuperset(one.records):
                closed.pop(seed, None)
                proposals[seed] = self.propose(seed, size, there)
            elif seed in closed:
                made.append(one)
                there -= set(one.records)
            else:
                window = [other for other in self.windows[seed] if other in there]
                proposals[seed] = closed[seed] = self.closed(one.records, window, size)

    def propose(self, seed: int, size: int, there: set[int]) -> Class | None:
        window = [other for other in self.windows.get(seed, []) if other in there]
        width = max(self.candidates, size - 1)
        if 2 * len(window) < width:
            others = sorted(there - {seed})
            bounds = self.bounds.bounds(seed, np.array(others, np.int64)).tolist()
            window = self.relieved(seed, sorted(zip(bounds, others, strict=True)), width)
        self.windows[seed] = window
        records = [seed]
        own = self.bounds.bounds(seed, np.array(window, np.int64)).tolist()
        most = {
            other: (self.forest.scale * (self.weights[seed] + self.weights[other]) - bound) // 2
            for other, bound in zip(window, own, strict=True)
        }
        while len(records) < size:
            more = self.promising(records, most, size)
            if more is None:
                return None
            records.append(more)
            del most[more]
        rows, _ = self.representative(records, size) or (None, None)
        assert rows is not None
        return Class(records, size, self.kept(rows, range(len(rows))))

    def relieved(self, seed: int, order: list[tuple[int, int]], width: int) -> list[int]:
        """The nearest, of which a third relieves the seed of what it has too much of, if so many do."""
        plain = [other for _, other in order[:width]]
        over = {key for key, excess in self.excess(seed).items() if excess > 0}
        if not over or self._few() is False or len(order) < width:
            return plain
        helping = [one for one in order if all(self.excess(one[1])[key] < 0 for key in over)]
        if sum(other in [one for _, one in helping] for other in plain) >= width // 3:
            return plain
        helping = helping[: width // 3]
        rest = [one for one in order if not all(self.excess(one[1])[key] < 0 for key in over)]
        return [other for _, other in sorted([*helping, *rest[: width - len(helping)]])]

    def excess(self, record: int) -> dict[tuple[int, int, int], Fraction]:
        """By vertex type, cap and group: how many values the record has above the share of its vertices."""
        found = {}
        vertices = range(self.forest.roots[record], self.forest.roots[record + 1])
        for kind in range(len(self.forest.schema.types)):
            own = [v for v in vertices if self.forest.type[v] == kind]
            for slot, (position, cap) in enumerate(self._caps(kind)):
                codes = [self.forest.sensitive[self.forest.first_sensitive[v] + position] for v in own]
                groups = Counter(cap.group_of[code] for code in codes if code >= 0)
                for group, share in enumerate(cap.share):
                    found[kind, slot, group] = groups[group] - share * len(own)
        return found

    def _few(self) -> bool:
        return (
            sum(
                len(cap.share) for kind in range(len(self.forest.schema.types)) for _, cap in self._caps(kind)
            )
            <= 60
        )

    def join_late(self, classes: list[Class]) -> list[Class]:
        classes = list(classes)
        taken = {record for one in classes for record in one.records}
        for record in sorted(set(range(self.forest.record_count)) - taken):
            tries = sorted((-self._most(one, record), at) for at, one in enumerate(classes))[:10]
            best, found = 0, None
            for bound, at in tries:
                one = classes[at]
                if -bound <= best or len(one.records) == self.room:
                    continue
                records = [*one.records, record]
                rep = self.representative(records, one.start)
                if rep is None or not self.closing.holds_at_root(*rep):
                    continue
                saved = self.kept(rep[0], np.flatnonzero(self.closing.find_safe_vertices(*rep)).tolist())
                gained = len(records) * saved - len(one.records) * one.saved
                if gained > best:
                    best, found = gained, (at, Class(records, one.start, saved, rep[0]))
            if found is not None:
                classes[found[0]] = found[1]
        return classes

    def _most(self, one: Class, record: int) -> int:
        """By how much more may be kept of all values if a record joins."""
        vector = np.zeros(len(self.plain.weights), np.uint8)
        total = int(histogram_of(one.rows, len(one.rows), self.plain, vector))
        kept = self._together(one.rows, vector, total, record, self.plain)
        return (len(one.records) + 1) * kept - len(one.records) * one.saved
