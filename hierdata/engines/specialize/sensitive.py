"""The sensitive values that alpha bounds, as the kernels need them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import BoundedValues
from hierdata.engines.specialize.groups import GroupRecords, spans
from hierdata.engines.specialize.kernel_places import ShareLimit, ValuesBelow
from hierdata.forest.forest import Forest

_ROOM = 2**60
_FINEST = 2**20
"""The largest denominator of alpha; a finer one is rounded down, which asks for more."""


@dataclass(frozen=True)
class SensitiveEntries:
    """All values of the attributes that alpha bounds: by vertex, the entries of each value.

    Entry a is that of all values of the a-th attribute; behind these are the entries of bounded values.
    ``vertices`` and ``entries`` have each vertex once for its attribute, and again if its value is bounded.
    """

    alpha: Fraction
    attribute: NDArray[np.int64]
    presence: NDArray[np.bool_]
    attributes: int
    vertices: NDArray[np.int64]
    entries: NDArray[np.int64]

    @classmethod
    def of(cls, forest: Forest, bounded: tuple[BoundedValues, ...], alpha: Fraction) -> SensitiveEntries:
        """Collect the values of a forest."""
        attribute = list(range(len(bounded)))
        vertices, entries = [], []
        for at, one in enumerate(bounded):
            there = np.flatnonzero(forest.type == one.kind)
            codes = forest.sensitive[forest.first_sensitive[there] + one.position]
            there, codes = there[codes >= 0], codes[codes >= 0]
            entry_of = np.full(int(codes.max(initial=0)) + 1, -1, np.int64)
            held = [code for code in np.unique(codes).tolist() if code in one.codes]
            entry_of[held] = len(attribute) + np.arange(len(held))
            attribute += [at] * len(held)
            is_bounded = entry_of[codes] >= 0
            vertices += [there, there[is_bounded]]
            entries += [np.full(len(there), at), entry_of[codes[is_bounded]]]
        presence = np.array([one.presence for one in bounded], np.bool_)
        every = np.concatenate([np.zeros(0, np.int64), *vertices])
        order = np.argsort(every, kind="stable")
        if alpha.denominator > _FINEST:
            alpha = Fraction(int(alpha * _FINEST), _FINEST)
        return cls(
            alpha, np.array(attribute, np.int64), presence[attribute], len(bounded), every[order],
            np.concatenate([np.zeros(0, np.int64), *entries])[order],
        )  # fmt: skip

    def at(self, records: GroupRecords) -> ValuesBelow:
        """Return the values at or below each vertex of a group."""
        width = len(self.attribute)
        firsts = np.searchsorted(self.vertices, records.vertices)
        ends = np.searchsorted(self.vertices, records.vertices, "right")
        owner = np.repeat(np.arange(len(firsts)), ends - firsts)
        entry = self.entries[spans(firsts, ends)]
        above = records.path[owner].astype(np.int64)
        rows = np.unique((above * width + entry[:, None])[above >= 0])
        vertex, held = rows // width, rows % width
        numbers = np.bincount(np.searchsorted(rows, owner * width + entry), minlength=len(rows))
        depth = records.depth[vertex]
        parent = records.path[vertex, np.maximum(depth - 1, 0)].astype(np.int64)
        up = np.where(depth > 0, np.searchsorted(rows, parent * width + held), -1)
        first = np.searchsorted(vertex, np.arange(len(firsts) + 1))
        return ValuesBelow(first, held, numbers, up, np.zeros(len(rows), np.int64))

    def limit(self, records: GroupRecords, m: int) -> ShareLimit:
        """Return what is asked of patterns of up to m facts of a group.

        The unit can be divided by any number of values that a record may show, unless sums would then not
        fit: weights are rounded up, which asks for more.
        """
        firsts = np.searchsorted(self.vertices, records.vertices)
        ends = np.searchsorted(self.vertices, records.vertices, "right")
        entry = self.entries[spans(firsts, ends)]
        owner = np.repeat(np.arange(len(firsts)), ends - firsts)
        record = np.searchsorted(records.first_vertex, owner, "right")
        divided = (entry < self.attributes) & ~self.presence[entry]
        counts = np.bincount((record * self.attributes + entry)[divided])
        room = _ROOM // (len(records.first_vertex) * self.alpha.denominator)
        unit = 1
        for number in range(2, int(counts.max(initial=1)) + 1):
            unit = min(lcm(unit, number), room)
        return ShareLimit(
            m, self.alpha.numerator, self.alpha.denominator, unit, self.attributes, self.attribute,
            self.presence,
        )  # fmt: skip
