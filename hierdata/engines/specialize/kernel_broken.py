"""The patterns of a record that too few records match, and what to delete of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.jit import inline_kernel, part
from hierdata.engines.specialize.kernel_change import loss_of_removal
from hierdata.engines.specialize.kernel_facts import (
    FactGroup,
    Row,
    compare_paths,
    is_gone,
    key_of_vertex,
    number_of,
)
from hierdata.engines.specialize.kernel_table import (
    Asked,
    PatternTable,
    find_slot,
    key_of_one,
    key_of_three,
    key_of_two,
)


@inline_kernel
def note_broken(found: NDArray[np.int64], count: int, a: int, b: int, c: int) -> int:
    """Note an occurrence if there is room; return how many are noted."""
    if count == len(found):
        return count
    found[count, 0] = a
    found[count, 1] = b
    found[count, 2] = c
    return count + 1


@part
def find_broken(
    group: FactGroup,
    asked: Asked,
    table: PatternTable,
    clauses: PatternTable,
    row: Row,
    found: NDArray[np.int64],
) -> int:
    """Find the patterns of a gathered record that too few records match; return how many.

    Each occurrence is three facts in ``found``, -1 for none. A pattern of a whole vertex has its first fact
    and -2. Stops where ``found`` is full.
    """
    compare_paths(group, row)
    size, labels, common, k, facts = row.size[0], row.labels, row.common, asked.k, row.facts
    count = 0
    for i in range(size):
        a = labels[i]
        if table.counts[find_slot(table, key_of_one(asked, a))] < k:
            count = note_broken(found, count, facts[i], -1, -1)
        if asked.m < 2:
            continue
        for j in range(i + 1, size):
            b, ab = labels[j], common[i, j]
            if table.counts[find_slot(table, key_of_two(asked, a, b, ab))] < k:
                count = note_broken(found, count, facts[i], facts[j], -1)
            if asked.m < 3:
                continue
            for h in range(j + 1, size):
                key = key_of_three(asked, a, b, labels[h], ab, common[i, h], common[j, h])
                if table.counts[find_slot(table, key)] < k:
                    count = note_broken(found, count, facts[i], facts[j], facts[h])
        if count == len(found):
            return count
    if asked.whole and not asked.blind:
        for i in range(size):
            vertex = group.owner[facts[i]]
            if facts[i] == group.first_fact[vertex] and group.depth[vertex]:
                key = key_of_vertex(group, asked, clauses, vertex)
                if table.counts[find_slot(table, key)] < k:
                    count = note_broken(found, count, facts[i], -2, -1)
    return count


@part
def keep_labels(group: FactGroup, found: NDArray[np.int64], count: int) -> None:
    """Note the labels at which occurrences were found; of a whole vertex a number of all its labels."""
    for at in range(count):
        for place in range(3):
            fact = found[at, place]
            found[at, 3 + place] = group.label[fact] if fact >= 0 else 0
        if found[at, 1] == -2:
            vertex = group.owner[found[at, 0]]
            found[at, 4] = number_of(group, vertex)


@part
def drop_mended(group: FactGroup, found: NDArray[np.int64], count: int) -> int:
    """Keep the occurrences of which no fact was deleted; return how many are left.

    The labels at which they were found are in ``found``, after the facts.
    """
    left = 0
    for at in range(count):
        kept = True
        for place in range(3):
            fact = found[at, place]
            if fact >= 0 and group.label[fact] != found[at, 3 + place]:
                kept = False
        if found[at, 1] == -2:
            vertex = group.owner[found[at, 0]]
            kept = found[at, 4] == number_of(group, vertex)
        if kept:
            for place in range(6):
                found[left, place] = found[at, place]
            left += 1
    return left


@part
def score_vertices(
    group: FactGroup, found: NDArray[np.int64], count: int, scores: NDArray[np.int64], base: int
) -> None:
    """Count for each fact and vertex of a record in how many occurrences it is.

    ``scores[v - base, 0]`` is that of removing vertex v; facts have theirs in ``scores[f - first fact, 1]``.
    """
    first = group.first_fact[base]
    for at in range(count):
        for place in range(3):
            fact = found[at, place]
            if fact < 0:
                continue
            vertex = group.owner[fact]
            if found[at, 1] == -2:
                for other in range(group.first_fact[vertex], group.first_fact[vertex + 1]):
                    scores[other - first, 1] += 1
            else:
                scores[fact - first, 1] += 1
            for depth in range(1, group.depth[vertex] + 1):
                above = group.path[vertex, depth]
                counted = False
                for earlier in range(place):
                    if found[at, earlier] >= 0:
                        counted |= group.path[group.owner[found[at, earlier]], depth] == above
                if not counted:
                    scores[above - base, 0] += 1


@part
def choose_deletion(group: FactGroup, record: int, scores: NDArray[np.int64]) -> tuple[int, int]:
    """Return vertex and fact (-1: all of it) whose deletion mends most for what it loses; -1, -1: none."""
    base, end = group.first_vertex[record], group.first_vertex[record + 1]
    first = group.first_fact[base]
    best, vertex, chosen = 0.0, -1, -1
    for own in range(base, end):
        if is_gone(group, own):
            continue
        for fact in range(group.first_fact[own], group.first_fact[own + 1]):
            if scores[fact - first, 1] and group.label[fact] != group.absent[fact]:
                lost = (group.losses[fact, 1] - group.losses[fact, 0]) * group.trace[group.absent[fact]] + 1.0
                worth = scores[fact - first, 1] / lost
                if worth > best:
                    best, vertex, chosen = worth, own, fact
        if scores[own - base, 0] and group.removable[own]:
            worth = scores[own - base, 0] / (loss_of_removal(group, own) + 1.0)
            if worth > best:
                best, vertex, chosen = worth, own, -1
    return vertex, chosen
