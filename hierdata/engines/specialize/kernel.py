"""Patterns of up to three facts: how many records of a group match each, while facts are deleted.

A pattern is a key of 63 bits: its labels in ascending order, and the depths of the lowest common ancestors of
each pair of their vertices. Keys are exact: different patterns have different keys.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.jit import jit

CLAUSE = 62
"""The bit of keys that stand for what one vertex shows in all its fields."""


class Group(NamedTuple):
    """The records of a group: vertices and facts in the order of records, parents before children.

    ``path[v, d]`` is the ancestor of vertex v at depth d, v itself at its own depth, -1 below. ``removable``
    tells which vertices may be removed with their subtrees, ``constant[v]`` what is lost then besides its
    values. ``label[f]`` is what fact f shows now, 0 if its vertex is removed: ``shown[f]`` at first, or
    ``absent[f]``; where both are equal it cannot be deleted. ``losses[f]`` has the loss of each: shown,
    absent, removed. Records with label a are ``holders[first_holder[a]:first_holder[a + 1]]``, before
    anything is deleted.
    """

    first_vertex: NDArray[np.int64]
    path: NDArray[np.int32]
    depth: NDArray[np.int64]
    first_child: NDArray[np.int64]
    child_count: NDArray[np.int64]
    removable: NDArray[np.bool_]
    constant: NDArray[np.int64]
    first_fact: NDArray[np.int64]
    owner: NDArray[np.int64]
    label: NDArray[np.int64]
    shown: NDArray[np.int64]
    absent: NDArray[np.int64]
    losses: NDArray[np.int64]
    first_holder: NDArray[np.int64]
    holders: NDArray[np.int64]


class Asked(NamedTuple):
    """What is asked of patterns: at least ``k`` records match each of up to ``m`` facts.

    The labels from 1 to ``absents`` are those of absent values; ``blind``: these are no facts. ``whole``: what a
    vertex shows in all its fields is a pattern too. ``label_bits`` and ``depth_bits`` hold a label and a depth.
    ``trace`` multiplies the loss of an absent value when it is weighed against removing its vertex.
    """

    k: int
    m: int
    absents: int
    blind: bool
    whole: bool
    label_bits: int
    depth_bits: int
    trace: float


class Table(NamedTuple):
    """Records that match each key, in open addressing; ``last`` is the last visit that counted a key.

    ``used`` has the number of keys and the number of visits.
    """

    keys: NDArray[np.int64]
    counts: NDArray[np.int32]
    last: NDArray[np.int32]
    used: NDArray[np.int64]


class Row(NamedTuple):
    """Facts of one record, gathered: ``facts`` and ``labels``, and ``common[i, j]``, the depth of the lowest common
    ancestor of the vertices of the i-th and j-th. ``marks`` are by label; ``size`` has the number of facts.
    """

    facts: NDArray[np.int64]
    labels: NDArray[np.int64]
    common: NDArray[np.int64]
    marks: NDArray[np.bool_]
    size: NDArray[np.int64]


@jit
def make_table(bits):
    """Return an empty table with room for 2^bits keys."""
    room = 1 << bits
    used = np.array([0, 1], np.int64)
    return Table(np.zeros(room, np.int64), np.zeros(room, np.int32), np.zeros(room, np.int32), used)


@jit
def find_slot(table, key):
    """Return where a key is, or the empty place where it belongs."""
    mask = len(table.keys) - 1
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    at = np.int64(mixed >> np.uint64(20)) & mask
    while table.keys[at] != 0 and table.keys[at] != key:
        at = (at + 1) & mask
    return at


@jit
def make_room(table, more):
    """Return the table, or a larger one that can take ``more`` keys."""
    if (table.used[0] + more) * 3 < len(table.keys) * 2:
        return table
    bits = 1
    while (1 << bits) * 2 <= (table.used[0] + more) * 3:
        bits += 1
    wider = make_table(bits)
    for at in range(len(table.keys)):
        if table.keys[at] != 0 and table.counts[at] != 0:
            slot = find_slot(wider, table.keys[at])
            wider.keys[slot] = table.keys[at]
            wider.counts[slot] = table.counts[at]
            wider.last[slot] = table.last[at]
            wider.used[0] += 1
    wider.used[1] = table.used[1]
    return wider


@jit
def key_of_two(asked, a, b, ab):
    """Return the key of two facts by their labels and common depth."""
    if a > b:
        a, b = b, a
    bits = asked.label_bits
    return ((((a << bits) | b) << bits) << (3 * asked.depth_bits)) | (ab << (2 * asked.depth_bits))


@jit
def key_of_three(asked, a, b, c, ab, ac, bc):
    """Return the key of three facts by their labels and common depths; the order of facts does not matter."""
    if a > b:
        a, b, ac, bc = b, a, bc, ac
    if b > c:
        b, c, ab, ac = c, b, ac, ab
        if a > b:
            a, b, ac, bc = b, a, bc, ac
    if a == b and ac > bc:
        ac, bc = bc, ac
    if b == c and ab > ac:
        ab, ac = ac, ab
        if a == b and ac > bc:
            ac, bc = bc, ac
    bits, deep = asked.label_bits, asked.depth_bits
    labels = (((a << bits) | b) << bits) | c
    return (((((labels << deep) | ab) << deep) | ac) << deep) | bc


@jit
def key_of_one(asked, a):
    """Return the key of one fact."""
    return (a << (2 * asked.label_bits)) << (3 * asked.depth_bits)


@jit
def looks_like(group, left, right):
    """Return whether two vertices of one type without children show the same now."""
    first, other = group.first_fact[left], group.first_fact[right]
    count = group.first_fact[left + 1] - first
    if count != group.first_fact[right + 1] - other:
        return False
    for at in range(count):
        if group.label[first + at] != group.label[other + at]:
            return False
        if group.absent[first + at] != group.absent[other + at]:
            return False
    return True


@jit
def is_gone(group, vertex):
    """Return whether a vertex was removed; one without facts never is."""
    first = group.first_fact[vertex]
    return first < group.first_fact[vertex + 1] and group.label[first] == 0


@jit
def has_children(group, vertex):
    """Return whether a vertex has children that are not removed."""
    first = group.first_child[vertex]
    for child in range(first, first + group.child_count[vertex]):
        if not is_gone(group, child):
            return True
    return False


@jit
def is_repeated(group, vertex, m):
    """Return whether m siblings before a vertex without children show the same, so that no pattern needs it."""
    depth = group.depth[vertex]
    if depth == 0 or has_children(group, vertex):
        return False
    above = group.path[vertex, depth - 1]
    found = 0
    for other in range(group.first_child[above], vertex):
        if looks_like(group, other, vertex) and not has_children(group, other):
            found += 1
            if found == m:
                return True
    return False


@jit
def gather_facts(group, asked, record, row):
    """Gather what a record shows now, those with marked labels first; return how many these are."""
    size = 0
    for vertex in range(group.first_vertex[record], group.first_vertex[record + 1]):
        if is_gone(group, vertex) or is_repeated(group, vertex, asked.m):
            continue
        for fact in range(group.first_fact[vertex], group.first_fact[vertex + 1]):
            if not asked.blind or group.label[fact] > asked.absents:
                row.facts[size] = fact
                size += 1
    marked = 0
    for at in range(size):
        fact = row.facts[at]
        if row.marks[group.label[fact]]:
            row.facts[at] = row.facts[marked]
            row.facts[marked] = fact
            marked += 1
    for at in range(size):
        row.labels[at] = group.label[row.facts[at]]
    row.size[0] = size
    return marked


@jit
def compare_paths(group, row):
    """Fill in the depths of the lowest common ancestors of all pairs of gathered facts."""
    size = row.size[0]
    for i in range(size):
        left = group.owner[row.facts[i]]
        row.common[i, i] = group.depth[left]
        for j in range(i):
            right = group.owner[row.facts[j]]
            depth = 0
            most = min(group.depth[left], group.depth[right])
            while depth < most and group.path[left, depth + 1] == group.path[right, depth + 1]:
                depth += 1
            row.common[i, j] = depth
            row.common[j, i] = depth


@jit
def count_enumerated(size, marked, m):
    """Return how many patterns of up to m of the gathered facts have one of the first ``marked``."""
    left = size - marked
    total = size - left
    if m >= 2:
        total += size * (size - 1) // 2 - left * (left - 1) // 2
    if m >= 3:
        total += size * (size - 1) * (size - 2) // 6 - left * (left - 1) * (left - 2) // 6
    return total


@jit
def add_key(table, key, step, k, changed):
    """Count a key once in this visit; note it where a pattern begins to be matched by too few.

    ``changed`` has the number of noted keys first. A key that the visit before counted has only come back.
    """
    slot = find_slot(table, key)
    visit = table.used[1]
    if table.keys[slot] == 0:
        table.keys[slot] = key
        table.used[0] += 1
    elif table.last[slot] == visit:
        return
    if step > 0:
        table.counts[slot] += 1
        if table.last[slot] != visit - 1 and table.counts[slot] < k:
            note_key(changed, key)
    else:
        table.counts[slot] -= 1
        if table.counts[slot] == k - 1:
            note_key(changed, key)
    table.last[slot] = visit


@jit
def note_key(changed, key):
    """Note a key if there is room; more than fit are counted only."""
    if changed[0] + 1 < len(changed):
        changed[changed[0] + 1] = key
    changed[0] += 1


@jit
def intern(clauses, prefix, label, bits):
    """Return the number of a sequence of labels by that of its beginning; new ones are numbered."""
    key = ((prefix << bits) | label) + 1
    slot = find_slot(clauses, key)
    if clauses.keys[slot] == 0:
        clauses.keys[slot] = key
        clauses.used[0] += 1
        clauses.counts[slot] = clauses.used[0]
        clauses.last[clauses.used[0]] = slot
    return np.int64(clauses.counts[slot])


@jit
def widen_clauses(clauses, more):
    """Return the sequences of labels in a table with room for ``more``; numbers do not change.

    ``last[number]`` is the slot of a sequence.
    """
    if (clauses.used[0] + more) * 2 < len(clauses.keys):
        return clauses
    bits = 1
    while (1 << bits) <= (clauses.used[0] + more) * 3:
        bits += 1
    wider = make_table(bits)
    for at in range(len(clauses.keys)):
        if clauses.keys[at] != 0:
            slot = find_slot(wider, clauses.keys[at])
            wider.keys[slot] = clauses.keys[at]
            wider.counts[slot] = clauses.counts[at]
            wider.last[clauses.counts[at]] = slot
    wider.used[0] = clauses.used[0]
    return wider


@jit
def key_of_vertex(group, asked, clauses, vertex):
    """Return the key of what a vertex shows in all its fields."""
    number = 0
    for fact in range(group.first_fact[vertex], group.first_fact[vertex + 1]):
        number = intern(clauses, number, group.label[fact], asked.label_bits)
    return (1 << CLAUSE) | number


@jit
def starts_vertex(group, row, at):
    """Return whether a gathered fact is the first of its vertex that is gathered with a marked label."""
    fact = row.facts[at]
    for other in range(group.first_fact[group.owner[fact]], fact):
        if row.marks[group.label[other]]:
            return False
    return True


@jit
def count_record(group, asked, table, clauses, row, marked, step, changed):
    """Count the patterns of a gathered record that have one of its first ``marked`` facts.

    There must be room for ``count_enumerated`` keys.
    """
    compare_paths(group, row)
    table.used[1] += 1
    size, labels, common = row.size[0], row.labels, row.common
    for i in range(marked):
        a = labels[i]
        add_key(table, key_of_one(asked, a), step, asked.k, changed)
        if asked.m < 2:
            continue
        for j in range(i + 1, size):
            b, ab = labels[j], common[i, j]
            add_key(table, key_of_two(asked, a, b, ab), step, asked.k, changed)
            if asked.m < 3:
                continue
            for l in range(j + 1, size):
                key = key_of_three(asked, a, b, labels[l], ab, common[i, l], common[j, l])
                add_key(table, key, step, asked.k, changed)
    if asked.whole and not asked.blind:
        for i in range(marked):
            if starts_vertex(group, row, i):
                key = key_of_vertex(group, asked, clauses, group.owner[row.facts[i]])
                add_key(table, key, step, asked.k, changed)


@jit
def count_group(group, asked, clauses, row):
    """Return the table of all patterns of all records."""
    table = make_table(12)
    changed = np.zeros(1, np.int64)
    row.marks[:] = True
    for record in range(len(group.first_vertex) - 1):
        marked = gather_facts(group, asked, record, row)
        table = make_room(table, count_enumerated(marked, marked, asked.m) + marked)
        clauses = widen_clauses(clauses, marked)
        count_record(group, asked, table, clauses, row, marked, 1, changed)
    row.marks[:] = False
    return table, clauses


@jit
def find_broken(group, asked, table, clauses, row, found):
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
            for l in range(j + 1, size):
                key = key_of_three(asked, a, b, labels[l], ab, common[i, l], common[j, l])
                if table.counts[find_slot(table, key)] < k:
                    count = note_broken(found, count, facts[i], facts[j], facts[l])
        if count == len(found):
            return count
    if asked.whole and not asked.blind:
        for i in range(size):
            vertex = group.owner[facts[i]]
            if facts[i] == group.first_fact[vertex]:
                key = key_of_vertex(group, asked, clauses, vertex)
                if table.counts[find_slot(table, key)] < k:
                    count = note_broken(found, count, facts[i], -2, -1)
    return count


@jit
def note_broken(found, count, a, b, c):
    """Note an occurrence if there is room; return how many are noted."""
    if count == len(found):
        return count
    found[count, 0] = a
    found[count, 1] = b
    found[count, 2] = c
    return count + 1
