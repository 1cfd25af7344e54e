"""Put rows that a draw left over into groups, by exchanging rows between two groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

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
        self._held = np.zeros((len(groups), count), np.bool_)
        self._row_with: list[dict[int, int]] = [{} for _ in groups]
        self.groups: list[set[int]] = [set() for _ in groups]
        self._rng = rng
        for number, rows in enumerate(groups):
            for row in rows:
                self._add(row, number)

    def put(self, row: int) -> bool:
        """Put a row into a group, the smallest that has room; return whether any has or could make it."""
        vector = self._vectors[row]
        held = self._held[:, vector]
        met = held.sum(axis=1)
        free = np.flatnonzero(met == 0).tolist()
        if free:
            self._add(row, min(free, key=lambda number: len(self.groups[number])))
            return True
        for number, other in self._pairs(held, met):
            sides = self._component(number, other, self._meet(number, vector), self._meet(other, vector))
            if sides is not None:
                self._change_sides(number, other, *sides)
                self._add(row, number)
                return True
        return False

    def even_out(self, size: int) -> None:
        """Move rows from groups with more than ``size`` rows to those with fewer."""
        for small in [number for number, rows in enumerate(self.groups) if len(rows) < size]:
            larger = sorted(range(len(self.groups)), key=lambda number: -len(self.groups[number]))
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
                leaving, arriving = self._component_of(number, other, begun)
                if len(leaving) == len(arriving):
                    self._change_sides(number, other, leaving, arriving)

    def _level(self, small: int, large: int, size: int) -> None:
        """Let components that even out two groups change sides."""
        linked: set[int] = set()
        for row in sorted(self.groups[large]):
            if row in linked or row not in self.groups[large]:
                continue
            leaving, arriving = self._component_of(large, small, row)
            linked |= leaving | arriving
            gain = len(leaving) - len(arriving)
            few, many = len(self.groups[small]), len(self.groups[large])
            before = max(0, size - few)
            after = max(0, size - few - gain) + max(0, size - many + gain)
            if after < before:
                self._change_sides(large, small, leaving, arriving)

    def _pairs(self, held: NDArray[np.bool_], met: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
        """Yield groups in which the row meets few others, each with groups that lack what it meets there."""
        order = self._rng.permutation(len(met))
        order = order[np.argsort(met[order], kind="stable")]
        for number in order[: _PAIRS // _PARTNERS].tolist():
            shared = (held[order] & held[number]).sum(axis=1)
            for other in order[np.argsort(shared, kind="stable")[:_PARTNERS]].tolist():
                if other != number:
                    yield number, other

    def _meet(self, number: int, coordinates: Iterable[int]) -> set[int]:
        """Return the rows of a group that have one of the coordinates."""
        row_with = self._row_with[number]
        return {row_with[coordinate] for coordinate in coordinates if coordinate in row_with}

    def _component_of(self, number: int, other: int, row: int) -> tuple[set[int], set[int]]:
        sides = self._component(number, other, {row}, set())
        assert sides is not None
        return sides

    def _component(
        self, number: int, other: int, begun: set[int], staying: set[int]
    ) -> tuple[set[int], set[int]] | None:
        """Return the rows of a group and of another that are linked to some rows of the first.

        None where one of those that stay in the other is linked.
        """
        leaving, arriving, fresh = set(begun), set[int](), begun
        while fresh:
            fresh = self._meet(other, chain.from_iterable(map(self._vectors.__getitem__, fresh))) - arriving
            if not fresh.isdisjoint(staying):
                return None
            arriving |= fresh
            fresh = self._meet(number, chain.from_iterable(map(self._vectors.__getitem__, fresh))) - leaving
            leaving |= fresh
        return leaving, arriving

    def _change_sides(self, number: int, other: int, leaving: set[int], arriving: set[int]) -> None:
        for rows, group in ((leaving, number), (arriving, other)):
            for row in rows:
                self._remove(row, group)
        for rows, group in ((leaving, other), (arriving, number)):
            for row in rows:
                self._add(row, group)

    def _add(self, row: int, number: int) -> None:
        self.groups[number].add(row)
        self._held[number, self._vectors[row]] = True
        self._row_with[number].update(dict.fromkeys(self._vectors[row], row))

    def _remove(self, row: int, number: int) -> None:
        self.groups[number].remove(row)
        self._held[number, self._vectors[row]] = False
        for coordinate in self._vectors[row]:
            del self._row_with[number][coordinate]
