"""Sensitive values that alpha bounds, as kernels need them: by vertex, and by what facts state of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import BoundedValues
from hierdata.engines.specialize.facts import FactArrays, GroupRecords
from hierdata.engines.specialize.kernel_patterns import FactGroup
from hierdata.engines.specialize.kernel_shares import ShareLimit, ValuesBelow
from hierdata.forest.forest import MISSING, Forest, concatenate_ranges

_ROOM = 2**60
_FINEST = 2**20
"""The largest denominator of alpha; a finer one is rounded down, which asks for more."""


@dataclass(frozen=True)
class SensitiveEntries:
    """All values of the attributes that alpha bounds: by vertex, the entries of each value.

    Entry a is that of all shown values of the a-th attribute, entry ``attributes + a`` that of the absent
    ones if they may be known; behind these are the entries of bounded values. ``vertices`` and ``entries``
    have each vertex once for its value, again if that is bounded, and again where it may be known: ``facts``
    are then those that show it. ``by_node`` has for attributes that may be known their column, and the
    entries of the column's nodes.
    """

    alpha: Fraction
    attribute: NDArray[np.int64]
    presence: NDArray[np.bool_]
    named: NDArray[np.int64]
    attributes: int
    vertices: NDArray[np.int64]
    entries: NDArray[np.int64]
    facts: NDArray[np.int64]
    by_node: dict[int, NDArray[np.int64]]

    @classmethod
    def of(cls, facts: FactArrays, bounded: tuple[BoundedValues, ...], alpha: Fraction) -> SensitiveEntries:
        """Collect the values of a forest."""
        forest, count = facts.forest, len(bounded)
        attribute = [*range(count), *range(count)]
        parts: list[tuple[NDArray[np.int64], ...]] = [(np.zeros(0, np.int64),) * 3]
        by_node = {}
        for number, values in enumerate(bounded):
            there = np.flatnonzero(forest.type == values.kind)
            codes = forest.sensitive[forest.first_sensitive[there] + values.position]
            entry_of = np.full(int(codes.max(initial=0)) + 1, number, np.int64)
            held = [code for code in np.unique(codes).tolist() if code in values.codes]
            entry_of[held] = len(attribute) + np.arange(len(held))
            attribute += [number] * len(held)
            column = _column_of(facts, values)
            shown = np.full(len(there), -1, np.int64)
            if column is not None:
                kinds = [each.kind for each in facts.columns]
                shown = facts.first[there] + column - kinds.index(values.kind)
                nodes = len(facts.columns[column].parents)
                by_node[column] = np.full(nodes, count + number, np.int64)
                by_node[column][1 : 1 + len(entry_of)] = entry_of[: nodes - 1]
                parts.append((there, np.full(len(there), count + number), shown))
            filled = codes != MISSING
            there, shown, entry = there[filled], shown[filled], entry_of[codes[filled]]
            parts.append((there, np.full(len(there), number), shown))
            is_bounded = entry >= 2 * count
            parts.append((there[is_bounded], entry[is_bounded], shown[is_bounded]))
        presence = np.array([values.presence for values in bounded], np.bool_)
        named = [-1 if values.named is None else values.named for values in bounded]
        vertices, entries, shown = map(np.concatenate, zip(*parts, strict=True))
        order = np.argsort(vertices, kind="stable")
        if alpha.denominator > _FINEST:
            alpha = Fraction(int(alpha * _FINEST), _FINEST)
        return cls(
            alpha, np.array(attribute, np.int64), presence[attribute], np.array(named, np.int64), count,
            vertices[order], entries[order], shown[order], by_node,
        )  # fmt: skip

    def values_below(self, records: GroupRecords) -> ValuesBelow:
        """Return the values at or below each vertex of a group."""
        width = len(self.attribute)
        owner, every = self._find_entries(records)
        entry, fact = self.entries[every], self.facts[every]
        above = records.path[owner].astype(np.int64)
        rows = np.unique((above * width + entry[:, None])[above >= 0])
        vertex, held = rows // width, rows % width
        row_of = np.searchsorted(rows, owner * width + entry)
        numbers = np.bincount(row_of, minlength=len(rows))
        depth = records.depth[vertex]
        parent = records.path[vertex, np.maximum(depth - 1, 0)].astype(np.int64)
        up = np.where(depth > 0, np.searchsorted(rows, parent * width + held), -1)
        first = np.searchsorted(vertex, np.arange(len(records.vertices) + 1))
        facts = np.full(len(rows), -1, np.int64)
        shift = records.first_fact[owner] - records.facts.first[records.vertices[owner]]
        facts[row_of] = np.where(fact >= 0, fact + shift, -1)
        absent = (held >= self.attributes) & (held < 2 * self.attributes)
        return ValuesBelow(first, held, numbers, up, facts, absent, np.zeros(len(rows), np.int64))

    def _find_entries(self, records: GroupRecords) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the vertices of a group that have entries, once for each, and the positions of these."""
        first = np.searchsorted(self.vertices, records.vertices)
        count = np.searchsorted(self.vertices, records.vertices, "right") - first
        return np.repeat(np.arange(len(first)), count), concatenate_ranges(first, count)

    def limit(self, records: GroupRecords, group: FactGroup, m: int) -> ShareLimit:
        """Return what is asked of patterns of up to m facts of a group.

        The unit can be divided by any number of values that a record may show, unless sums would then not
        fit: weights are rounded up, which asks for more.
        """
        owner, every = self._find_entries(records)
        entry = self.entries[every]
        record = np.searchsorted(records.first_vertex, owner, "right")
        divided = (entry < 2 * self.attributes) & ~self.presence[entry]
        counts = np.bincount((record * 2 * self.attributes + entry)[divided])
        room = _ROOM // (len(records.first_vertex) * self.alpha.denominator)
        unit = 1
        for number in range(2, int(counts.max(initial=1)) + 1):
            unit = min(lcm(unit, number), room)
        return ShareLimit(
            m, self.alpha.numerator, self.alpha.denominator, unit, self.attributes, self.attribute,
            self.presence, self.named, self._list_stated(records, group),
        )  # fmt: skip

    def _list_stated(self, records: GroupRecords, group: FactGroup) -> NDArray[np.int64]:
        """Return by label the entry of what a fact states of an attribute, -1 for nothing."""
        if not self.by_node:
            return np.zeros(0, np.int64)
        stated = np.full(len(group.first_holder), -1, np.int64)
        column, node = records.facts.column[records.numbers], records.facts.node[records.numbers]
        for number, entries in self.by_node.items():
            facts = np.flatnonzero(column == number)
            stated[group.shown[facts]] = entries[node[facts]]
            stated[number + 1] = entries[0]
        return stated

    def known_labels(self) -> list[int]:
        """Return the labels of what is absent of attributes that may be known."""
        return [number + 1 for number in self.by_node]


def _column_of(facts: FactArrays, bounded: BoundedValues) -> int | None:
    """Return the column of an attribute's values, None unless they may be known."""
    forest = facts.forest
    known = forest.facts[bounded.kind] if any(forest.facts) else ()
    if bounded.position not in known:
        return None
    position = forest.own_widths[bounded.kind] + known.index(bounded.position)
    return next(
        number
        for number, column in enumerate(facts.columns)
        if (column.kind, column.position) == (bounded.kind, position)
    )


def find_kept(forest: Forest, bounded: tuple[BoundedValues, ...]) -> frozenset[tuple[int, int]]:
    """Return the attributes that alpha bounds: if all were absent, all would be left to guess."""
    return frozenset((each.kind, each.position) for each in bounded) if any(forest.facts) else frozenset()
