"""The slow, obvious twin of kaca: merging by the weighted hierarchical distance, from the definition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from hierdata.domains.base import Hierarchy

Rows = frozenset[int]


def depth(tree: Hierarchy, node: int) -> int:
    """How far below the top a node stands."""
    return max(at for at, entry in enumerate(tree.ancestors[node]) if entry == node)


def way(levels: int, beta: int) -> Fraction:
    """The weights from the top down so many levels: w of the step from level j - 1 to j is 1/(j-1)^beta."""
    return sum((Fraction(1, (j - 1) ** beta) for j in range(2, levels + 2)), Fraction(0))


def whd(tree: Hierarchy, p: int, q: int, beta: int = 0) -> Fraction:
    """The weighted hierarchical distance of generalizing node p to node q above it.

    h is the level of the lowest leaf at or below p.
    """
    if p == q:
        return Fraction(0)
    lowest = max(depth(tree, node) for node, above in enumerate(tree.ancestors) if p in above)
    return (way(depth(tree, p), beta) - way(depth(tree, q), beta)) / way(lowest, beta)


@dataclass(frozen=True)
class Kaca:
    """Rows' nodes by quasi-identifier; ``keeps`` says of a class which constraints hold of it, by place.

    ``may_be`` tells whether rows may stand in one class at all: one of a record, no more of a value than a
    model ever allows.
    """

    nodes: Sequence[Sequence[int]]
    trees: Sequence[Hierarchy]
    k: int
    beta: int
    keeps: Callable[[Rows], Sequence[bool]]
    may_be: Callable[[Rows], bool]

    def run(self, classes: Sequence[Rows]) -> list[Rows]:
        """The classes that satisfy everything in the end; rows of the others have none."""
        found = dict.fromkeys(classes, True)  # whether there may be a partner
        while True:
            todo = [rows for rows, partners in found.items() if partners and not self.holds(rows)]
            if not todo:
                return sorted((rows for rows in found if self.holds(rows)), key=min)
            own = min(todo, key=lambda rows: (len(rows), min(rows)))
            others = [rows for rows in found if rows != own and self.may_be(rows | own)]
            others = [rows for rows in others if self.holds(rows | own) or not self.holds(rows)]
            if not others:
                found[own] = False
                continue
            other = min(others, key=lambda rows: (self.distance(own, rows), len(rows), min(rows)))
            del found[own], found[other]
            for rows in self.united(own, other):
                found[rows] = True

    def holds(self, rows: Rows) -> bool:
        """Whether a class satisfies everything; one that does is not spoiled by another."""
        return all(self.keeps(rows))

    def united(self, own: Rows, other: Rows) -> list[Rows]:
        """The class with a stub of the other and its trunk, or both in one."""
        short = self.k - len(own)
        if short > 0 and len(own) + len(other) >= 2 * self.k:
            nearest = sorted(other, key=lambda row: (self.distance(own, frozenset([row])), row))
            stub = frozenset(nearest[:short])
            if self.still(own, own | stub) and self.still(other, other - stub):
                return [own | stub, other - stub]
        return [own | other]

    def still(self, before: Rows, after: Rows) -> bool:
        """Whether what held before holds afterwards."""
        return all(new or not old for old, new in zip(self.keeps(before), self.keeps(after), strict=True))

    def distance(self, one: Rows, other: Rows) -> Fraction:
        """What generalizing both to their closest common generalization distorts, row by row."""
        total = Fraction(0)
        for at, tree in enumerate(self.trees):
            a, b = self.node(one, at), self.node(other, at)
            common = tree.join(a, b)
            total += len(one) * whd(tree, a, common, self.beta)
            total += len(other) * whd(tree, b, common, self.beta)
        return total

    def node(self, rows: Rows, at: int) -> int:
        """The deepest node that generalizes all rows."""
        held = [self.trees[at].ancestors[self.nodes[row][at]] for row in rows]
        shared = [entries[0] for entries in zip(*held, strict=True) if len(set(entries)) == 1]
        deepest: int = [node for node in shared if node >= 0][-1]
        return deepest
