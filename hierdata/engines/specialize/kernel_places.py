"""The places of patterns: a pattern by its number, and one of its anchors.

The anchors are the root, numbered 0, and the vertices of the facts with those above them, numbered by the
rank of the fact and the depth.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.jit import jit
from hierdata.engines.specialize.kernel_facts import FactGroup, Row, compare_paths, is_gone, key_of_vertex
from hierdata.engines.specialize.kernel_table import (
    Asked,
    PatternTable,
    key_of_one,
    key_of_three,
    key_of_two,
    number_key,
    widen_clauses,
)

MOST_HELD = 1 << 20
"""So many codes of a record are held before those that are there twice are dropped."""


class ShareLimit(NamedTuple):
    """No value has more than ``numerator / denominator`` of the ``unit`` that each record weighs.

    Patterns have up to ``m`` facts. Entries are the attributes, and behind them the bounded values;
    ``attribute[e]`` is that of an entry, ``presence[e]`` whether each of its values weighs a whole unit.
    """

    m: int
    numerator: int
    denominator: int
    unit: int
    attributes: int
    attribute: NDArray[np.int64]
    presence: NDArray[np.bool_]


class ValuesBelow(NamedTuple):
    """Sensitive values at or below each vertex v of a group, in rows ``first[v]`` to ``first[v + 1]``.

    ``held[r]`` is how many values of an ``entry[r]`` are there now, ``own[r]`` how many at v itself as long
    as v is there, ``up[r]`` the row of the entry at the parent of v, -1 at the root.
    """

    first: NDArray[np.int64]
    entry: NDArray[np.int64]
    own: NDArray[np.int64]
    up: NDArray[np.int64]
    held: NDArray[np.int64]


class PatternNames(NamedTuple):
    """Numbers of patterns by key, and ``clauses``: of the sequences of labels that whole vertices show."""

    numbers: PatternTable
    clauses: PatternTable


@jit
def refresh_values(group: FactGroup, below: ValuesBelow, record: int) -> None:
    """Count the values at or below each vertex of a record anew, after vertices were removed."""
    base, end = group.first_vertex[record], group.first_vertex[record + 1]
    for vertex in range(base, end):
        gone = is_gone(group, vertex)
        for at in range(below.first[vertex], below.first[vertex + 1]):
            below.held[at] = 0 if gone else below.own[at]
    for vertex in range(end - 1, base, -1):
        for at in range(below.first[vertex], below.first[vertex + 1]):
            below.held[below.up[at]] += below.held[at]


@jit
def gather_all(group: FactGroup, record: int, row: Row) -> int:
    """Gather all that a record shows now, of equal siblings too; return how many facts these are."""
    size = 0
    for vertex in range(group.first_vertex[record], group.first_vertex[record + 1]):
        if not is_gone(group, vertex):
            for fact in range(group.first_fact[vertex], group.first_fact[vertex + 1]):
                row.facts[size] = fact
                row.labels[size] = group.label[fact]
                size += 1
    row.size[0] = size
    compare_paths(group, row)
    return size


@jit
def note_anchors(
    group: FactGroup,
    below: ValuesBelow,
    codes: NDArray[np.int64],
    count: int,
    head: int,
    fact: int,
    shared: int,
) -> int:
    """Note the vertex of a fact, and those above it, at places from ``head`` on; return how many are noted.

    Down to the depth ``shared`` they are anchors of a fact that comes before it.
    """
    vertex = group.owner[fact]
    base = codes[0]
    for depth in range(shared + 1, group.depth[vertex] + 1):
        above = group.path[vertex, depth]
        if below.first[above] < below.first[above + 1]:
            codes[count] = ((head + depth - 1) << 32) | (above - base)
            count += 1
    return count


@jit
def span_of(group: FactGroup) -> int:
    """Return the number of anchors that a pattern may have."""
    return 1 + 3 * (int(group.path.shape[1]) - 1)


@jit
def rank_fact(a: int, ab: int, ac: int, bc: int, b: int, c: int) -> tuple[int, int]:
    """Return how many of two other facts come before one, and the greatest common depth with these.

    Facts are in order of label, then of the sum of their common depths with the others; where that is equal
    too they can be exchanged. Labels are those of this fact, a, and of the others, b and c.
    """
    rank, shared = 0, 0
    if b < a or (b == a and bc < ac):
        rank, shared = 1, ab
    if c < a or (c == a and bc < ab):
        rank, shared = rank + 1, max(shared, ac)
    return rank, shared


@jit
def make_codes(size: int, m: int, depths: int) -> NDArray[np.int64]:
    """Return room for the codes of a record with so many facts, or for ``MOST_HELD`` of them."""
    total = 2 + 2 * size * (1 + depths)
    if m >= 2:
        total += size * (size - 1) // 2 * (1 + 2 * depths)
    if m >= 3:
        total += size * (size - 1) * (size - 2) // 6 * (1 + 3 * depths)
    return np.empty(min(total, MOST_HELD), np.int64)


@jit
def make_room_for_codes(codes: NDArray[np.int64], count: int, more: int) -> tuple[NDArray[np.int64], int]:
    """Return the codes with room for ``more`` behind the first ``count``, and how many are left of these.

    If there is no room, those that are there twice are dropped. Facts with equal labels have such codes.
    """
    if count + more <= len(codes):
        return codes, count
    codes[1:count].sort()
    kept = 2
    for at in range(2, count):
        if codes[at] != codes[kept - 1]:
            codes[kept] = codes[at]
            kept += 1
    if 2 * (kept + more) <= len(codes):
        return codes, kept
    wider = np.empty(2 * (kept + more), np.int64)
    wider[:kept] = codes[:kept]
    return wider, kept


@jit
def list_places(
    group: FactGroup,
    asked: Asked,
    limit: ShareLimit,
    below: ValuesBelow,
    names: PatternNames,
    row: Row,
    record: int,
) -> tuple[PatternNames, NDArray[np.int64]]:
    """Return the places of all patterns of a gathered record with their vertices, as sorted codes.

    A code has the place, ``number * span + anchor``, in its upper half and the vertex within the record in
    its lower half. New patterns are numbered: the names are returned too.
    """
    span, depths = span_of(group), int(group.path.shape[1]) - 1
    size, labels, common, facts = row.size[0], row.labels, row.common, row.facts
    numbers = names.numbers
    clauses = widen_clauses(names.clauses, 64 * len(row.facts))
    codes = make_codes(size, limit.m, depths)
    codes[0] = group.first_vertex[record]
    codes[1] = 0  # the root, whatever else is known
    count = 2
    for i in range(size):
        numbers = widen_clauses(numbers, size)
        codes, count = make_room_for_codes(codes, count, (size - i) * (1 + 2 * depths))
        a = labels[i]
        head = number_key(numbers, key_of_one(asked, a)) * span
        codes[count] = head << 32
        count = note_anchors(group, below, codes, count + 1, head + 1, facts[i], 0)
        if limit.m < 2:
            continue
        for j in range(i + 1, size):
            if limit.m > 2:
                numbers = widen_clauses(numbers, size)
                codes, count = make_room_for_codes(codes, count, (size - j) * (1 + 3 * depths))
            b, ab = labels[j], common[i, j]
            head = number_key(numbers, key_of_two(asked, a, b, ab)) * span
            codes[count] = head << 32
            rank, shared = int(b < a), ab * int(b < a)
            count = note_anchors(group, below, codes, count + 1, head + 1 + depths * rank, facts[i], shared)
            rank, shared = int(a < b), ab * int(a < b)
            count = note_anchors(group, below, codes, count, head + 1 + depths * rank, facts[j], shared)
            if limit.m < 3:
                continue
            for h in range(j + 1, size):
                c, ac, bc = labels[h], common[i, h], common[j, h]
                head = number_key(numbers, key_of_three(asked, a, b, c, ab, ac, bc)) * span
                codes[count] = head << 32
                count += 1
                rank, shared = rank_fact(a, ab, ac, bc, b, c)
                count = note_anchors(group, below, codes, count, head + 1 + depths * rank, facts[i], shared)
                rank, shared = rank_fact(b, ab, bc, ac, a, c)
                count = note_anchors(group, below, codes, count, head + 1 + depths * rank, facts[j], shared)
                rank, shared = rank_fact(c, ac, bc, ab, a, b)
                count = note_anchors(group, below, codes, count, head + 1 + depths * rank, facts[h], shared)
    if asked.whole:
        numbers = widen_clauses(numbers, size)
        codes, count = make_room_for_codes(codes, count, size * (1 + depths))
        for i in range(size):
            vertex = group.owner[facts[i]]
            if facts[i] == group.first_fact[vertex] and group.depth[vertex]:
                key = key_of_vertex(group, asked, clauses, vertex)
                head = number_key(numbers, key) * span
                codes[count] = head << 32
                count = note_anchors(group, below, codes, count + 1, head + 1, facts[i], 0)
    found = codes[1:count]
    found.sort()
    return PatternNames(numbers, clauses), found
