"""The slow, obvious twin of ``sweep``: a lattice walked node by node, classes as sets of rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

from hierdata.domains.base import Hierarchy

Rows = frozenset[int]


@dataclass(frozen=True)
class Sweep:
    """Rows' nodes by quasi-identifier, LM' as integers, and who may be a class of ``least`` rows or more."""

    nodes: Sequence[Sequence[int]]
    trees: Sequence[Hierarchy]
    losses: Sequence[Sequence[int]]
    least: int
    holds: Callable[[tuple[int, ...]], bool]

    def may_be(self, rows: Rows) -> bool:
        return len(rows) >= self.least and self.holds(tuple(sorted(rows)))

    def unit(self, rows: Rows) -> int:
        """What publishing the join of these rows loses, for one row."""
        total = 0
        for at, (tree, own) in enumerate(zip(self.trees, self.losses, strict=True)):
            held = [tree.ancestors[self.nodes[row][at]] for row in rows]
            shared = [entries[0] for entries in zip(*held, strict=True) if len(set(entries)) == 1]
            total += own[[node for node in shared if node >= 0][-1]]
        return total

    def loss(self, rows: Rows) -> int:
        return len(rows) * self.unit(rows) if rows else 0

    # The lattice

    def generalized(self, node: int, at: int, depth: int) -> int:
        return [one for one in self.trees[at].ancestors[node][: depth + 1] if one >= 0][-1]

    def lattice(self) -> list[tuple[int, ...]]:
        """The attributes with more values come first; a depth at which all values are as before is none."""

        def differ(at: int, depth: int) -> bool:
            return any(
                self.generalized(row[at], at, depth) != self.generalized(row[at], at, depth - 1)
                for row in self.nodes
            )

        def lost(depths: tuple[int, ...]) -> int:
            return sum(
                own[self.generalized(row[at], at, depth)]
                for row in self.nodes
                for at, (own, depth) in enumerate(zip(self.losses, depths, strict=True))
            )

        heights = [len(tree.ancestors[0]) for tree in self.trees]
        of_attribute = [
            [0] + [depth for depth in range(1, height) if differ(at, depth)]
            for at, height in enumerate(heights)
        ]
        by_values = sorted(range(len(heights)), key=lambda at: -len({row[at] for row in self.nodes}))
        return sorted(
            product(*of_attribute),
            key=lambda depths: (lost(depths), [depths[at] for at in by_values]),
        )

    def closed(self) -> list[Rows]:
        """The classes that the nodes close, one node after the other."""
        left, found = set(range(len(self.nodes))), []
        for depths in self.lattice():
            groups: defaultdict[tuple[int, ...], set[int]] = defaultdict(set)
            for row in left:
                form = [
                    self.generalized(node, at, depth)
                    for at, (node, depth) in enumerate(zip(self.nodes[row], depths, strict=True))
                ]
                groups[tuple(form)].add(row)
            for rows in map(frozenset, groups.values()):
                if self.may_be(rows):
                    found.append(rows)
                    left -= rows
        return found

    # Gathering

    def gathered(self, left: Sequence[int]) -> list[Rows]:
        """The classes that are gathered from rows that are left, in their order."""
        if len(left) < self.least:
            return []

        def apart(row: int, other: int) -> int:
            return self.unit(frozenset({row, other}))

        def crowding(row: int) -> int:
            near = sorted(apart(row, other) for other in left if other != row)
            return (near[:5] or [0])[-1]

        taken: set[int] = set()
        found = []
        for seed in sorted(left, key=crowding):
            if seed in taken:
                continue
            others = [row for row in left if row not in taken and row != seed]
            others.sort(key=lambda row, seed=seed: apart(seed, row))
            own = self.grown([seed], others[: self.least + 63])
            if own:
                found.append(own)
                taken |= own
        return found

    def grown(self, own: list[int], others: list[int]) -> Rows | None:
        """The first that may be a class, while the row that raises the loss least joins, then the next."""
        while not self.may_be(frozenset(own)):
            if not others:
                return None
            following = min(others, key=lambda row: self.unit(frozenset([*own, row])))
            others.remove(following)
            own.append(following)
        return frozenset(own)


@dataclass
class Passes:
    """Classes by number, some of them empty, while they are improved."""

    sweep: Sweep
    classes: list[Rows]
    options: int = 4

    def run(self, passes: int) -> list[Rows]:
        rows = sorted(row for own in self.classes for row in own)
        dissolved, moved = [0] * len(self.classes), dict.fromkeys(rows, 0)
        for _ in range(passes):
            before = list(self.classes)
            unit = [self.sweep.unit(own) if own else 0 for own in self.classes]
            for at in sorted(range(len(unit)), key=lambda at: (dissolved[at], -unit[at])):
                if unit[at]:
                    dissolved[at] += 1
                    self.dissolve(at)
            unit_of = {row: self.sweep.unit(own) for own in self.classes for row in own}
            for row in sorted(rows, key=lambda row: (moved[row], -unit_of[row])):
                if unit_of[row]:
                    moved[row] += 1
                    self.move(row)
            if self.classes == before:
                break
        return self.classes

    def total(self, classes: Sequence[Rows]) -> int:
        return sum(map(self.sweep.loss, classes))

    def dissolve(self, at: int) -> None:
        own, before = self.classes[at], list(self.classes)
        if not own or len(own) > 2 * self.sweep.least or not self.sweep.unit(own):
            return
        room = self.sweep.loss(own)
        self.classes[at] = frozenset()
        for row in sorted(own):
            for increase, other in self.nearest(row, at, room):
                if self.sweep.may_be(self.classes[other] | {row}):
                    self.classes[other] |= {row}
                    room -= increase
                    break
            else:
                self.classes = before
                return
        assert self.total(self.classes) < self.total(before)

    def move(self, row: int) -> None:
        before = list(self.classes)
        (at,) = (at for at, own in enumerate(self.classes) if row in own)
        rest = self.classes[at] - {row}
        if not self.sweep.unit(self.classes[at]) or not self.sweep.may_be(rest):
            return
        room = self.sweep.loss(self.classes[at]) - self.sweep.loss(rest)
        for _, other in self.nearest(row, at, room):
            if self.sweep.may_be(self.classes[other] | {row}):
                self.classes[at] = rest
                self.classes[other] |= {row}
                assert self.total(self.classes) < self.total(before)
                return

    def nearest(self, row: int, without: int, room: int) -> list[tuple[int, int]]:
        """The few classes whose loss the row raises least, by less than ``room``."""
        found = [
            (self.sweep.loss(own | {row}) - self.sweep.loss(own), at)
            for at, own in enumerate(self.classes)
            if own and at != without
        ]
        return [one for one in sorted(found) if one[0] < room][: self.options]


def best(sweep: Sweep) -> int | None:
    """The least loss of any partition of all rows into classes; None without one. By trying all of them."""
    count = len(sweep.nodes)
    whole = (1 << count) - 1
    rows = [frozenset(at for at in range(count) if mask >> at & 1) for mask in range(whole + 1)]
    safe = {mask: sweep.loss(rows[mask]) for mask in range(1, whole + 1) if sweep.may_be(rows[mask])}
    least: list[int | None] = [0] + [None] * whole
    for mask in range(1, whole + 1):
        lowest = mask & -mask
        for own, loss in safe.items():
            rest = least[mask & ~own]
            if own & lowest and own & mask == own and rest is not None:
                before = least[mask]
                least[mask] = rest + loss if before is None else min(before, rest + loss)
    return least[whole]
