"""Counts of records by pattern, in open addressing; patterns are exact keys of 63 bits.

A key has the depths of the lowest common ancestors of each pair of vertices of up to three facts, and behind
these the labels of the facts in ascending order. Different patterns have different keys. Keys that differ in
their last bits only are neighbours in a table: the patterns of a record that have two facts in common are
counted one after the other, and mostly differ in the last label.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.jit import branching, inline_kernel, inner, jit, part, shared
from hierdata.engines.rows.kernel import Flags, Numbers

_NEIGHBOURS = 6
"""The bits of a key by which it is moved from where keys with the same other bits are."""
CLAUSE = 62
"""The bit of keys that stand for what one vertex shows in all its fields."""


class Asked(NamedTuple):
    """What is asked of patterns: at least ``k`` records match each of up to ``m`` facts.

    The labels from 1 to ``absents`` are those of absent values; ``blind``: these are no facts. ``whole``:
    what a vertex shows in all its fields is a pattern too. ``label_bits`` and ``depth_bits`` hold a label and
    a depth.
    """

    k: int
    m: int
    absents: int
    blind: bool
    whole: bool
    label_bits: int
    depth_bits: int


class PatternTable(NamedTuple):
    """Records that match each key, in open addressing; ``last`` is the last visit that counted a key.

    ``used`` has the number of keys and the number of visits.
    """

    keys: Numbers
    counts: NDArray[np.int32]
    last: NDArray[np.int32]
    used: Numbers


@jit
def make_table(bits: int) -> PatternTable:
    """Return an empty table with room for 2^bits keys."""
    room = 1 << bits
    used = np.array([0, 1], np.int64)
    return PatternTable(np.zeros(room, np.int64), np.zeros(room, np.int32), np.zeros(room, np.int32), used)


@inline_kernel
def find_key(keys: Numbers, key: int) -> int:
    """Return where a key is in open addressing, or the empty place where it belongs."""
    mask = len(keys) - 1
    mixed = np.uint64(key >> _NEIGHBOURS) * np.uint64(0x9E3779B97F4A7C15)
    slot = (np.int64(mixed >> np.uint64(20)) + (key & ((1 << _NEIGHBOURS) - 1))) & mask
    while keys[slot] != 0 and keys[slot] != key:
        slot = (slot + 1) & mask
    return int(slot)


@jit
def make_room(table: PatternTable, more: int) -> PatternTable:
    """Return the table, or a larger one that can take ``more`` keys."""
    if (table.used[0] + more) * 3 < len(table.keys) * 2:
        return table
    bits = 1
    while (1 << bits) * 2 <= (table.used[0] + more) * 3:
        bits += 1
    wider = make_table(bits)
    for old in range(len(table.keys)):
        if table.keys[old] != 0 and table.counts[old] != 0:
            slot = find_key(wider.keys, table.keys[old])
            wider.keys[slot] = table.keys[old]
            wider.counts[slot] = table.counts[old]
            wider.last[slot] = table.last[old]
            wider.used[0] += 1
    wider.used[1] = table.used[1]
    return wider


@inline_kernel
def key_of_two(asked: Asked, a: int, b: int, ab: int) -> int:
    """Return the key of two facts by their labels and common depth; that of one fact is its label."""
    if a > b:
        a, b = b, a
    return (((ab << (2 * asked.label_bits)) | a) << asked.label_bits) | b


@inline_kernel
def key_of_three(asked: Asked, a: int, b: int, c: int, ab: int, ac: int, bc: int) -> int:
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
    depths = (((ab << deep) | ac) << deep) | bc
    return (((((depths << bits) | a) << bits) | b) << bits) | c


@inline_kernel
def note_key(changed: Numbers, key: int) -> None:
    """Note a key if there is room; more than fit are counted only."""
    if changed[0] + 1 < len(changed):
        changed[changed[0] + 1] = key
    changed[0] += 1


@inline_kernel
def add_key(table: PatternTable, key: int, step: int, k: int, changed: Numbers) -> None:
    """Count a key once in this visit; note it where a pattern begins to be matched by too few.

    ``changed`` has the number of noted keys first. A key that the visit before counted has only come back.
    """
    slot = find_key(table.keys, key)
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


@part
def number_key(numbered: PatternTable, key: int) -> int:
    """Return the number of a key; new ones are numbered. There must be room for it (``widen_clauses``)."""
    slot = find_key(numbered.keys, key)
    if numbered.keys[slot] == 0:
        numbered.keys[slot] = key
        numbered.used[0] += 1
        numbered.counts[slot] = numbered.used[0]
        numbered.last[numbered.used[0]] = slot
    return int(numbered.counts[slot])


@part
def intern(clauses: PatternTable, prefix: int, label: int, bits: int) -> int:
    """Return the number of a sequence of labels by that of its beginning; new ones are numbered."""
    return number_key(clauses, ((prefix << bits) | label) + 1)


@inner
def widen_clauses(clauses: PatternTable, more: int) -> PatternTable:
    """Return the sequences of labels in a table with room for ``more``; numbers do not change.

    ``last[number]`` is the slot of a sequence.
    """
    if (clauses.used[0] + more) * 2 < len(clauses.keys):
        return clauses
    bits = 1
    while (1 << bits) <= (clauses.used[0] + more) * 3:
        bits += 1
    wider = make_table(bits)
    for old in range(len(clauses.keys)):
        if clauses.keys[old] != 0:
            slot = find_key(wider.keys, clauses.keys[old])
            wider.keys[slot] = clauses.keys[old]
            wider.counts[slot] = clauses.counts[old]
            wider.last[clauses.counts[old]] = slot
    wider.used[0] = clauses.used[0]
    return wider


MANY_SIBLINGS = 64
"""Of more siblings, those that look alike are found by a table instead of by comparing each two."""


class FactGroup(NamedTuple):
    """The records of a group: vertices and facts in the order of records, parents before children.

    ``path[v, d]`` is the ancestor of vertex v at depth d, v itself at its own depth, -1 below. ``removable``
    tells which vertices may be removed with their subtrees, ``constant[v]`` what is lost then besides its
    values. ``label[f]`` is what fact f shows now, 0 if its vertex is removed: ``shown[f]`` at first, or
    ``absent[f]``; where both are equal it cannot be deleted. ``losses[f]`` has the loss of each: shown,
    absent, removed. Records with label a are ``holders[first_holder[a]:first_holder[a + 1]]``, before
    anything is deleted. ``trace[a]`` multiplies the loss of a value that becomes absent with label a, when
    deletions are compared: what is absent is a fact too.
    """

    first_vertex: Numbers
    path: NDArray[np.int32]
    depth: Numbers
    first_child: Numbers
    child_count: Numbers
    removable: Flags
    constant: Numbers
    first_fact: Numbers
    owner: Numbers
    label: Numbers
    shown: Numbers
    absent: Numbers
    losses: Numbers
    first_holder: Numbers
    holders: Numbers
    trace: NDArray[np.float64]


class Row(NamedTuple):
    """The facts of one record, gathered: ``facts`` and their ``labels``.

    ``common[i, j]`` is the depth of the lowest common ancestor of the vertices of the i-th and j-th.
    ``marks`` are by label; ``size`` has the number of facts, and how often facts were gathered. ``alike`` is
    in open addressing a gathering, a vertex, and how many siblings look like it.
    """

    facts: Numbers
    labels: Numbers
    common: Numbers
    marks: Flags
    size: Numbers
    alike: Numbers


class GroupWork(NamedTuple):
    """A group, what is asked of its patterns, and room to look at one record after the other.

    ``occurrences[i]`` is an occurrence of a pattern: up to three facts, and the labels at which it was found.
    ``changed`` has the number of noted keys first, then the keys; more than fit are counted only.
    """

    group: FactGroup
    asked: Asked
    row: Row
    occurrences: Numbers
    changed: Numbers


class Tables(NamedTuple):
    """How many records match each pattern, and the numbers of what whole vertices show (``intern``)."""

    patterns: PatternTable
    clauses: PatternTable


@inline_kernel
def is_gone(group: FactGroup, vertex: int) -> bool:
    """Return whether a vertex was removed; one without facts never is."""
    first = group.first_fact[vertex]
    return bool(first < group.first_fact[vertex + 1] and group.label[first] == 0)


@part
def has_children(group: FactGroup, vertex: int) -> bool:
    """Return whether a vertex has children that are not removed."""
    first = group.first_child[vertex]
    for child in range(first, first + group.child_count[vertex]):  # noqa: SIM110  kernels have no generators
        if not is_gone(group, child):
            return True
    return False


@part
def looks_like(group: FactGroup, vertex: int, sibling: int) -> bool:
    """Return whether two vertices of one type without children show the same now."""
    first, other = group.first_fact[vertex], group.first_fact[sibling]
    count = group.first_fact[vertex + 1] - first
    if count != group.first_fact[sibling + 1] - other:
        return False
    for nth in range(count):
        if group.label[first + nth] != group.label[other + nth]:
            return False
        if group.absent[first + nth] != group.absent[other + nth]:
            return False
    return True


@part
def number_of(group: FactGroup, vertex: int) -> int:
    """Return a number that changes with any label of a vertex."""
    number = 0
    for fact in range(group.first_fact[vertex], group.first_fact[vertex + 1]):
        number = (number * 1_000_003 + group.label[fact]) & 0xFFFFFFFFFFFF
    return number


@part
def count_alike(group: FactGroup, row: Row, vertex: int, above: int) -> int:
    """Return how many siblings that were counted before in this gathering look like a vertex; count it."""
    alike, gathering = row.alike, row.size[1]
    mask = len(alike) - 1
    number = (number_of(group, vertex) + np.int64(above)) & 0x7FFFFFFF
    slot = ((number * 0x9E3779B1) >> 20) & mask
    while alike[slot, 0] == gathering:
        other = alike[slot, 1]
        if group.path[other, group.depth[vertex] - 1] == above and looks_like(group, other, vertex):
            alike[slot, 2] += 1
            return int(alike[slot, 2]) - 1
        slot = (slot + 1) & mask
    alike[slot, 0], alike[slot, 1], alike[slot, 2] = gathering, vertex, 1
    return 0


@part
def is_repeated(group: FactGroup, row: Row, vertex: int, m: int) -> bool:
    """Return whether m siblings before a vertex without children look like it: no pattern needs it then.

    Each vertex of a record is asked once in a gathering, in order.
    """
    depth = group.depth[vertex]
    if depth == 0 or has_children(group, vertex):
        return False
    above = group.path[vertex, depth - 1]
    if group.child_count[above] > MANY_SIBLINGS:
        return count_alike(group, row, vertex, above) >= m
    alike = 0
    for other in range(group.first_child[above], vertex):
        if looks_like(group, other, vertex) and not has_children(group, other):
            alike += 1
            if alike == m:
                return True
    return False


@part
def sort_facts(group: FactGroup, row: Row, first: int, end: int) -> None:
    """Sort some gathered facts by label, so that their patterns are near each other in a table."""
    for position in range(first + 1, end):
        fact = row.facts[position]
        label = group.label[fact]
        to = position
        while to > first and group.label[row.facts[to - 1]] > label:
            row.facts[to] = row.facts[to - 1]
            to -= 1
        row.facts[to] = fact


@shared
def gather_facts(work: GroupWork, record: int) -> int:
    """Gather what a record shows now, those with marked labels first; return how many these are.

    Either are in the order of their labels.
    """
    group, asked, row = work.group, work.asked, work.row
    size = 0
    row.size[1] += 1
    for vertex in range(group.first_vertex[record], group.first_vertex[record + 1]):
        if is_gone(group, vertex) or is_repeated(group, row, vertex, asked.m):
            continue
        for fact in range(group.first_fact[vertex], group.first_fact[vertex + 1]):
            if not asked.blind or group.label[fact] > asked.absents:
                row.facts[size] = fact
                size += 1
    marked = 0
    for position in range(size):
        fact = row.facts[position]
        if row.marks[group.label[fact]]:
            row.facts[position] = row.facts[marked]
            row.facts[marked] = fact
            marked += 1
    sort_facts(group, row, 0, marked)
    sort_facts(group, row, marked, size)
    for position in range(size):
        row.labels[position] = group.label[row.facts[position]]
    row.size[0] = size
    return marked


@part
def compare_first(group: FactGroup, row: Row, rows: int) -> None:
    """Fill in the depths of the lowest common ancestors of the first ``rows`` gathered facts with all."""
    size = row.size[0]
    for i in range(rows):
        one_owner = group.owner[row.facts[i]]
        row.common[i, i] = group.depth[one_owner]
        for j in range(i + 1, size):
            other_owner = group.owner[row.facts[j]]
            depth = 0
            most = min(group.depth[one_owner], group.depth[other_owner])
            while depth < most and group.path[one_owner, depth + 1] == group.path[other_owner, depth + 1]:
                depth += 1
            row.common[i, j] = depth
            row.common[j, i] = depth


@part
def compare_paths(group: FactGroup, row: Row) -> None:
    """Fill in the depths of the lowest common ancestors of all pairs of gathered facts."""
    compare_first(group, row, row.size[0])


@part
def count_enumerated(size: int, marked: int, m: int) -> int:
    """Return how many patterns of up to m of the gathered facts have one of the first ``marked``."""
    unmarked = size - marked
    total = size - unmarked
    if m >= 2:
        total += size * (size - 1) // 2 - unmarked * (unmarked - 1) // 2
    if m >= 3:
        total += size * (size - 1) * (size - 2) // 6 - unmarked * (unmarked - 1) * (unmarked - 2) // 6
    return total


@part
def key_of_vertex(group: FactGroup, asked: Asked, clauses: PatternTable, vertex: int) -> int:
    """Return the key of what a vertex shows in all its fields."""
    number = 0
    for fact in range(group.first_fact[vertex], group.first_fact[vertex + 1]):
        number = intern(clauses, number, group.label[fact], asked.label_bits)
    return (1 << CLAUSE) | number


@part
def starts_vertex(group: FactGroup, row: Row, position: int) -> bool:
    """Return whether a gathered fact is the first with a marked label of a vertex below the root."""
    fact = row.facts[position]
    if group.depth[group.owner[fact]] == 0:
        return False
    for other in range(group.first_fact[group.owner[fact]], fact):
        if row.marks[group.label[other]]:
            return False
    return True


@shared
def count_record(work: GroupWork, tables: Tables, marked: int, step: int) -> None:
    """Count the patterns of a gathered record that have one of its first ``marked`` facts.

    There must be room for ``count_enumerated`` keys.
    """
    group, asked, row, changed = work.group, work.asked, work.row, work.changed
    table = tables.patterns
    # Of three facts one is marked, and the others are compared with each other too.
    compare_first(group, row, marked if asked.m < 3 else row.size[0])
    table.used[1] += 1
    size, labels, common = row.size[0], row.labels, row.common
    for i in range(marked):
        a = labels[i]
        add_key(table, a, step, asked.k, changed)
        if asked.m < 2:
            continue
        for j in range(i + 1, size):
            b, ab = labels[j], common[i, j]
            add_key(table, key_of_two(asked, a, b, ab), step, asked.k, changed)
            if asked.m < 3:
                continue
            for h in range(j + 1, size):
                key = key_of_three(asked, a, b, labels[h], ab, common[i, h], common[j, h])
                add_key(table, key, step, asked.k, changed)
    if asked.whole and not asked.blind:
        for i in range(marked):
            if starts_vertex(group, row, i):
                key = key_of_vertex(group, asked, tables.clauses, group.owner[row.facts[i]])
                add_key(table, key, step, asked.k, changed)


@branching
def count_group(work: GroupWork) -> Tables:
    """Return the tables of all patterns of all records."""
    row, m = work.row, work.asked.m
    work = GroupWork(work.group, work.asked, row, work.occurrences, np.zeros(1, np.int64))  # notes no keys
    tables = Tables(make_table(12), make_table(12))
    row.marks[:] = True
    for record in range(len(work.group.first_vertex) - 1):
        marked = gather_facts(work, record)
        patterns = make_room(tables.patterns, count_enumerated(marked, marked, m) + marked)
        tables = Tables(patterns, widen_clauses(tables.clauses, marked))
        count_record(work, tables, marked, 1)
    row.marks[:] = False
    return tables


@inner
def widen_tables(work: GroupWork, tables: Tables) -> Tables:
    """Return the tables with room for all sequences of labels of one more change of a record."""
    return Tables(tables.patterns, widen_clauses(tables.clauses, 64 * len(work.row.facts)))
