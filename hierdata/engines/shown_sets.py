"""The sets of values that records show, kept while vertices are added; nested sets under closeness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from hierdata.privacy.base import Closeness

Pairs = list[tuple[int, int]]
"""Record and code of each value at some vertices, without missing ones."""


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


def weighted_sets(closeness: Closeness) -> tuple[int, ...]:
    """Return the sets with a weight, which add to the distance."""
    return tuple(own for own, weight in enumerate(closeness.weight) if weight)


def paths(closeness: Closeness) -> tuple[tuple[int, ...], ...]:
    """Return, by code, the positions in ``weighted_sets`` of the sets that hold it, the smallest first."""
    position = {own: at for at, own in enumerate(weighted_sets(closeness))}
    found = []
    for own in closeness.set_of:
        path: list[int] = []
        while own >= 0:
            path += [position[own]] if own in position else []
            own = closeness.parent[own]
        found.append(tuple(path))
    return tuple(found)
