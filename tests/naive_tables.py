"""The slow, obvious twins of the engines on tables: written from the definitions, on plain lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations

from hierdata.domains.base import Hierarchy

Rows = tuple[int, ...]
Values = Sequence[Fraction | int]
Form = tuple[object, ...]


def similar(one: Fraction | int, other: Fraction | int, delta: Fraction) -> bool:
    """DL definition 4: the closed intervals [v - delta, v + delta] overlap."""
    return max(one, other) - delta <= min(one, other) + delta


def delta_l(values: Values, delta: Fraction, l: Fraction) -> bool:  # noqa: E741
    """DL definition 5, for a class that has at least l rows."""
    return all(
        l * sum(1 for other in values if similar(value, other, delta)) <= len(values) for value in values
    )


def window(values: Values, width: Fraction) -> int:
    """The most values in a closed window of a width."""
    return max((sum(1 for other in values if low <= other <= low + width) for low in values), default=0)


def most_published(values: Values, delta: Fraction, l: Fraction) -> int:  # noqa: E741
    """The most rows that any partition into (delta,l)-diverse classes publishes, by trying all of them."""
    count = len(values)
    best = [0] * (1 << count)
    safe = [
        bool(mask) and delta_l([values[at] for at in range(count) if mask >> at & 1], delta, l)
        for mask in range(1 << count)
    ]
    for mask in range(1, 1 << count):
        lowest = mask & -mask
        best[mask] = best[mask ^ lowest]  # suppressed
        rest = part = mask ^ lowest
        while True:  # the class of the first row: any of the others with it
            if safe[part | lowest]:
                size = (part | lowest).bit_count()
                best[mask] = max(best[mask], size + best[rest ^ part])
            if not part:
                break
            part = (part - 1) & rest
    return best[-1]


def most_published_by_labels(values: Values, forms: Sequence[set[Form]], delta: Fraction, l: Fraction) -> int:  # noqa: E741
    """The most rows that any classes and labels publish, where classes of one form are one class.

    ``forms`` are by row all combinations of labels that may be published for it.
    """
    count = len(values)
    possible: dict[int, set[Form]] = {}
    for mask in range(1, 1 << count):
        rows = [at for at in range(count) if mask >> at & 1]
        if delta_l([values[at] for at in rows], delta, l):
            possible[mask] = set.intersection(*(forms[at] for at in rows))

    def search(rest: int, classes: list[set[Form]]) -> int:
        """The most rows of ``rest`` beside these classes."""
        if not have_different(classes):
            return -count
        if not rest:
            return 0
        lowest = rest & -rest
        most = search(rest ^ lowest, classes)  # suppressed
        part = others = rest ^ lowest
        while True:
            own = part | lowest
            if own in possible:
                most = max(most, own.bit_count() + search(rest ^ own, [*classes, possible[own]]))
            if not part:
                return most
            part = (part - 1) & others

    return search((1 << count) - 1, [])


def have_different(choices: Sequence[set[Form]]) -> bool:
    """Whether one can be taken from each set, all different."""
    owner: dict[Form, int] = {}

    def find(at: int, seen: set[Form]) -> bool:
        for form in choices[at] - seen:
            seen.add(form)
            if form not in owner or find(owner[form], seen):
                owner[form] = at
                return True
        return False

    return all(find(at, set()) for at in range(len(choices)))


def most_with_windows_of(values: Values, delta: Fraction, most: int) -> int:
    """The most values of which no closed window of width 2 delta holds more than ``most``: any choice."""
    return max(
        size
        for size in range(len(values) + 1)
        for chosen in combinations(values, size)
        if window(chosen, 2 * delta) <= most
    )


def place_in(tree: Hierarchy, node: int) -> tuple[int, ...]:
    """The place of a value among others: of numbers their own order, which their nodes have."""
    return tree.ancestors[node] if tree.axis is None else (node,)


@dataclass(frozen=True)
class Mondrian:
    """Recursive cuts of least loss: rows' nodes by quasi-identifier, LM' as integers, who may be a class.

    A cut takes out the first of the values of a quasi-identifier that occur in a region, in depth-first
    order (numbers and dates ascending), or those below one node that are neither the first nor the last.
    """

    nodes: Sequence[Sequence[int]]
    trees: Sequence[Hierarchy]
    losses: Sequence[Sequence[int]]
    least: int
    holds: Callable[[Rows], bool]

    def regions(self) -> tuple[list[Rows], list[Rows]]:
        """The regions that hold and those that do not."""
        found: tuple[list[Rows], list[Rows]] = ([], [])
        todo = [tuple(range(len(self.nodes)))] if len(self.nodes) >= self.least else []
        while todo:
            rows = todo.pop()
            sides = self.cut(rows)
            if sides is None:
                found[not self.holds(rows)].append(rows)
            else:
                todo += sides
        return found

    def cut(self, rows: Rows) -> tuple[Rows, Rows] | None:
        options = [(left, right) for _, left, right in sorted(self.cuts(rows))]
        both = [sides for sides in options if all(map(self.holds, sides))]
        if both or self.holds(rows) or not options:
            return both[0] if both else None
        one = [sides for sides in options if any(map(self.holds, sides))]
        return (one or options)[0]

    def cuts(self, rows: Rows) -> Iterator[tuple[tuple[int, ...], Rows, Rows]]:
        for at, tree in enumerate(self.trees):
            line = sorted({row[at] for row in self.nodes}, key=partial(place_in, tree))
            occurring = [node for node in line if any(self.nodes[row][at] == node for row in rows)]
            for own in self.taken_out(occurring, tree):
                left = tuple(row for row in rows if self.nodes[row][at] in own)
                right = tuple(row for row in rows if self.nodes[row][at] not in own)
                smaller = min(len(left), len(right))
                if smaller >= self.least:
                    first, last = line.index(own[0]), line.index(own[-1])
                    yield (self.loss(left) + self.loss(right), -smaller, at, first, last), left, right

    def taken_out(self, occurring: list[int], tree: Hierarchy) -> list[list[int]]:
        below: dict[int, list[int]] = {}
        for node in occurring:
            for above in tree.ancestors[node][1:]:
                below.setdefault(above, []).append(node)
        below.pop(-1, None)
        inner = [own for own in below.values() if occurring[0] not in own and occurring[-1] not in own]
        return [occurring[: n + 1] for n in range(len(occurring) - 1)] + inner

    def loss(self, rows: Rows) -> int:
        total = 0
        for at, (tree, own) in enumerate(zip(self.trees, self.losses, strict=True)):
            held = [tree.ancestors[self.nodes[row][at]] for row in rows]
            shared = [entries[0] for entries in zip(*held, strict=True) if len(set(entries)) == 1]
            total += own[[node for node in shared if node >= 0][-1]]
        return len(rows) * total
