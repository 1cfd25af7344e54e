"""Put rows that a draw left over into groups, by exchanging rows between two groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

_PAIRS = 64
"""How many pairs of groups a row tries."""
_PARTNERS = 8
"""How many of them have the same first group."""


class Exchange:
    """Groups of rows of which no two share a coordinate, while further rows are put in.

    The rows of two groups, and the pairs of them that share a coordinate, are a graph. A component of it can
    change sides, and still no two rows of a group share a coordinate. That makes room for a row, and evens
    out sizes. With two coordinates a row finds room wherever no value has more rows than there are groups, as
    in colouring the edges of a bipartite graph (Koenig's theorem), if enough pairs are tried. With more it is
    a heuristic.

    ``vectors[row]`` are the numbers of a row's coordinates, below ``count`` and different for each attribute.
    """

    def __init__(
        self,
        vectors: NDArray[np.int64],
        count: int,
        groups: Sequence[Iterable[int]],
        rng: np.random.Generator,
    ) -> None:
        self._vectors: list[list[int]] = vectors.tolist()
        self._holder = np.full((len(groups), count), -1, np.int64)
        self.groups: list[set[int]] = [set() for _ in groups]
        self._rng = rng
        for number, own in enumerate(groups):
            for row in own:
                self._add(row, number)

    def put(self, row: int) -> bool:
        """Put a row into a group, the smallest that has room; return whether any has or could make it."""
        vector = self._vectors[row]
        held = self._holder[:, vector] >= 0
        met = held.sum(axis=1)
        free = np.flatnonzero(met == 0).tolist()
        if free:
            self._add(row, min(free, key=lambda own: len(self.groups[own])))
            return True
        for number, other in self._pairs(held, met):
            moved = self._component(number, other, self._meet(number, vector))
            arriving = (self._vectors[own] for own in moved & self.groups[other])
            if all(coordinate not in vector for own in arriving for coordinate in own):
                self._change_sides(number, other, moved)
                self._add(row, number)
                return True
        return False

    def even_out(self, size: int) -> None:
        """Move rows from groups with more than ``size`` rows to those with fewer."""
        for small in [number for number, own in enumerate(self.groups) if len(own) < size]:
            larger = sorted(range(len(self.groups)), key=lambda own: -len(self.groups[own]))
            for large in larger[:_PAIRS]:
                if len(self.groups[small]) >= size or len(self.groups[large]) <= size:
                    break
                self._level(small, large, size)

    def stir(self) -> None:
        """Let a random component of two random groups change sides, once for each group."""
        order = self._rng.permutation(len(self.groups)).tolist()
        for number, other in zip(order, order[1:] + order[:1], strict=True):
            rows = sorted(self.groups[number])
            if rows and number != other:
                begun = rows[int(self._rng.integers(len(rows)))]
                moved = self._component(number, other, {begun})
                leaving = len(moved & self.groups[number])
                if 2 * leaving == len(moved):
                    self._change_sides(number, other, moved)

    def _level(self, small: int, large: int, size: int) -> None:
        """Let components that even out two groups change sides."""
        seen: set[int] = set()
        for row in sorted(self.groups[large]):
            if row in seen or row not in self.groups[large]:
                continue
            moved = self._component(large, small, {row})
            seen |= moved
            gain = len(moved & self.groups[large]) - len(moved & self.groups[small])
            few, many = len(self.groups[small]), len(self.groups[large])
            before = max(0, size - few)
            after = max(0, size - few - gain) + max(0, size - many + gain)
            if after < before:
                self._change_sides(large, small, moved)

    def _pairs(self, held: NDArray[np.bool_], met: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
        """Yield groups in which the row meets few others, each with groups that lack what it meets there."""
        order = self._rng.permutation(len(met))
        order = order[np.argsort(met[order], kind="stable")]
        for number in order[: _PAIRS // _PARTNERS].tolist():
            shared = (held[order] & held[number]).sum(axis=1)
            for other in order[np.argsort(shared, kind="stable")[:_PARTNERS]].tolist():
                if other != number:
                    yield number, other

    def _meet(self, number: int, vector: list[int]) -> set[int]:
        """Return the rows of a group that share a coordinate with this vector."""
        return {own for own in self._holder[number, vector].tolist() if own >= 0}

    def _component(self, number: int, other: int, begun: set[int]) -> set[int]:
        """Return all rows of two groups that are linked to some rows of them."""
        found, todo = set(begun), list(begun)
        while todo:
            row = todo.pop()
            facing = other if row in self.groups[number] else number
            fresh = self._meet(facing, self._vectors[row]) - found
            found |= fresh
            todo += fresh
        return found

    def _change_sides(self, number: int, other: int, moved: set[int]) -> None:
        leaving, arriving = moved & self.groups[number], moved & self.groups[other]
        for own, where in ((leaving, number), (arriving, other)):
            self.groups[where] -= own
            for row in own:
                self._holder[where, self._vectors[row]] = -1
        for own, where in ((leaving, other), (arriving, number)):
            for row in own:
                self._add(row, where)

    def _add(self, row: int, number: int) -> None:
        self.groups[number].add(row)
        self._holder[number, self._vectors[row]] = row
