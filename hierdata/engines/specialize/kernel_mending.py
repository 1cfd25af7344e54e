"""Delete facts until every pattern that is matched at all is matched by enough records."""

from __future__ import annotations

import numpy as np

from hierdata.engines.jit import branching, inline_kernel, inner, jit, part
from hierdata.engines.rows.kernel import Flags, Numbers
from hierdata.engines.specialize.kernel_patterns import (
    CLAUSE,
    Asked,
    FactGroup,
    GroupWork,
    PatternTable,
    Row,
    Tables,
    compare_paths,
    count_enumerated,
    count_record,
    find_key,
    gather_facts,
    is_gone,
    key_of_three,
    key_of_two,
    key_of_vertex,
    make_room,
    number_of,
    widen_tables,
)


@part
def loss_of_vertex(group: FactGroup, vertex: int) -> int:
    """Return what a vertex alone would lose if it were removed, beyond what it loses already."""
    lost = group.constant[vertex]
    for fact in range(group.first_fact[vertex], group.first_fact[vertex + 1]):
        state = 0 if group.label[fact] == group.shown[fact] else 1
        lost += group.losses[fact, 2] - group.losses[fact, state]
    return int(lost)


@part
def loss_of_removal(group: FactGroup, vertex: int) -> int:
    """Return what removing a vertex with its subtree would lose beyond what is lost already."""
    lost = loss_of_vertex(group, vertex)
    first = group.first_child[vertex]
    end = first + group.child_count[vertex]
    depth = group.depth[vertex]
    # Descendants follow in breadth-first order; those of other vertices between them are skipped.
    while first < end:
        following, last = -1, -1
        for child in range(first, end):
            if group.path[child, depth] != vertex or is_gone(group, child):
                continue
            lost += loss_of_vertex(group, child)
            if group.child_count[child]:
                if following < 0:
                    following = group.first_child[child]
                last = group.first_child[child] + group.child_count[child]
        first, end = following, last
        if first < 0:
            break
    return lost


@part
def mark_subtree(group: FactGroup, row: Row, vertex: int, end: int, value: bool) -> None:
    """Mark or unmark the labels of what a vertex and its descendants show; vertices end before ``end``."""
    depth = group.depth[vertex]
    for other in range(vertex, end):
        if group.path[other, depth] == vertex:
            for fact in range(group.first_fact[other], group.first_fact[other + 1]):
                row.marks[group.label[fact]] = value
    row.marks[0] = False


@part
def remove_subtree(group: FactGroup, vertex: int, end: int) -> None:
    """Remove a vertex with its descendants."""
    depth = group.depth[vertex]
    for other in range(vertex, end):
        if group.path[other, depth] == vertex:
            for fact in range(group.first_fact[other], group.first_fact[other + 1]):
                group.label[fact] = 0


@part
def take_out(work: GroupWork, tables: Tables, record: int) -> None:
    """Take the patterns with marked labels out of the counts, before a record changes."""
    marked = gather_facts(work, record)
    count_record(work, tables, marked, -1)


@inner
def put_in(work: GroupWork, tables: Tables, record: int) -> Tables:
    """Count the patterns with marked labels again, and unmark these; return the tables."""
    row = work.row
    marked = gather_facts(work, record)
    more = count_enumerated(row.size[0], marked, work.asked.m) + marked
    tables = Tables(make_room(tables.patterns, more), tables.clauses)
    count_record(work, tables, marked, 1)
    row.marks[:] = False
    return tables


@inner
def change_record(work: GroupWork, tables: Tables, record: int, vertex: int, fact: int, label: int) -> Tables:
    """Show a fact by another label, or remove a vertex where ``fact`` is -1; count what changes.

    Returns the tables; ``work.changed`` notes the keys that now are matched by too few.
    """
    group, row = work.group, work.row
    end = group.first_vertex[record + 1]
    if fact < 0:
        mark_subtree(group, row, vertex, end, True)
    else:
        row.marks[group.label[fact]] = True
        row.marks[label] = True
        row.marks[0] = False
    take_out(work, tables, record)
    if fact < 0:
        remove_subtree(group, vertex, end)
    else:
        group.label[fact] = label
    return put_in(work, tables, record)


@part
def is_harmless(work: GroupWork, table: PatternTable) -> bool:
    """Return whether all noted keys are matched by none or enough records."""
    changed = work.changed
    if changed[0] + 1 > len(changed):
        return False
    for position in range(1, changed[0] + 1):
        count = table.counts[find_key(table.keys, changed[position])]
        if 0 < count < work.asked.k:
            return False
    return True


@inner
def restore_record(work: GroupWork, tables: Tables, record: int) -> Tables:
    """Put back the deleted values of a record, one by one, wherever no pattern suffers; return the tables."""
    group, changed = work.group, work.changed
    for vertex in range(group.first_vertex[record], group.first_vertex[record + 1]):
        if is_gone(group, vertex):
            continue
        for fact in range(group.first_fact[vertex], group.first_fact[vertex + 1]):
            if group.label[fact] == group.shown[fact]:
                continue
            before = group.label[fact]
            changed[0] = 0
            tables = change_record(work, tables, record, vertex, fact, group.shown[fact])
            if not is_harmless(work, tables.patterns):
                tables = change_record(work, tables, record, vertex, fact, before)
            changed[0] = 0
    return tables


@part
def show_vertex(group: FactGroup, vertex: int) -> None:
    """Show all values of a removed vertex again."""
    for fact in range(group.first_fact[vertex], group.first_fact[vertex + 1]):
        group.label[fact] = group.shown[fact]


@inner
def return_vertices(work: GroupWork, tables: Tables, record: int) -> Tables:
    """Put back removed vertices of a record whose parents are there, wherever no pattern suffers."""
    group, row, changed = work.group, work.row, work.changed
    base, end = group.first_vertex[record], group.first_vertex[record + 1]
    for vertex in range(base + 1, end):
        if not is_gone(group, vertex) or is_gone(group, group.path[vertex, group.depth[vertex] - 1]):
            continue
        for fact in range(group.first_fact[vertex], group.first_fact[vertex + 1]):
            row.marks[group.shown[fact]] = True
        changed[0] = 0
        take_out(work, tables, record)
        show_vertex(group, vertex)
        tables = put_in(work, tables, record)
        if not is_harmless(work, tables.patterns):
            tables = change_record(work, tables, record, vertex, -1, 0)
        changed[0] = 0
    return tables


@branching
def restore_group(work: GroupWork, tables: Tables, which: Flags) -> Tables:
    """Put back what can be put back of some records, one after the other."""
    for record in range(len(which)):
        if not which[record]:
            continue
        tables = widen_tables(work, tables)
        tables = return_vertices(work, tables, record)
        tables = restore_record(work, tables, record)
    return tables


@inline_kernel
def note_broken(occurrences: Numbers, count: int, a: int, b: int, c: int) -> int:
    """Note an occurrence if there is room; return how many are noted."""
    if count == len(occurrences):
        return count
    occurrences[count, 0] = a
    occurrences[count, 1] = b
    occurrences[count, 2] = c
    return count + 1


@inline_kernel
def _is_wanted(table: PatternTable, key: int, k: int, numbers: Numbers) -> bool:
    """Return whether fewer than ``k`` records match a key; without k, whether its number is among some."""
    count = table.counts[find_key(table.keys, key)]
    if k > 0:
        return bool(count < k)
    low, high = 0, len(numbers)
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < count:
            low = middle + 1
        else:
            high = middle
    return bool(low < len(numbers) and numbers[low] == count)


@part
def note_patterns(work: GroupWork, tables: Tables, m: int, k: int, numbers: Numbers, count: int) -> int:
    """Note patterns of up to m facts of a gathered record behind ``count`` others; return how many are noted.

    They are those that fewer than ``k`` records match. If that is 0, the table has numbers of patterns
    instead, and they are those with the ``numbers``, which are ascending. Each occurrence is three facts in
    ``work.occurrences``, -1 for none. A pattern of a whole vertex has its first fact and -2, a vertex that
    must go as a whole has -3. Stops where there is no room for more.
    """
    group, asked, row, occurrences = work.group, work.asked, work.row, work.occurrences
    table = tables.patterns
    size, labels, common, facts = row.size[0], row.labels, row.common, row.facts
    for i in range(size):
        a = labels[i]
        if _is_wanted(table, a, k, numbers):
            count = note_broken(occurrences, count, facts[i], -1, -1)
        if m < 2:
            continue
        for j in range(i + 1, size):
            b, ab = labels[j], common[i, j]
            if _is_wanted(table, key_of_two(asked, a, b, ab), k, numbers):
                count = note_broken(occurrences, count, facts[i], facts[j], -1)
            if m < 3:
                continue
            for h in range(j + 1, size):
                key = key_of_three(asked, a, b, labels[h], ab, common[i, h], common[j, h])
                if _is_wanted(table, key, k, numbers):
                    count = note_broken(occurrences, count, facts[i], facts[j], facts[h])
        if count == len(occurrences):
            return count
    if asked.whole and not asked.blind:
        for i in range(size):
            vertex = group.owner[facts[i]]
            if facts[i] == group.first_fact[vertex] and group.depth[vertex]:
                key = key_of_vertex(group, asked, tables.clauses, vertex)
                if _is_wanted(table, key, k, numbers):
                    count = note_broken(occurrences, count, facts[i], -2, -1)
    return count


@part
def keep_labels(group: FactGroup, occurrences: Numbers, count: int) -> None:
    """Note the labels at which occurrences were found; of a whole vertex a number of all its labels."""
    for row in range(count):
        for nth in range(3):
            fact = occurrences[row, nth]
            occurrences[row, 3 + nth] = group.label[fact] if fact >= 0 else 0
        if occurrences[row, 1] == -2:
            vertex = group.owner[occurrences[row, 0]]
            occurrences[row, 4] = number_of(group, vertex)


@part
def drop_mended(group: FactGroup, occurrences: Numbers, count: int) -> int:
    """Keep the occurrences of which no fact was deleted; return how many are left.

    The labels at which they were found are in ``occurrences``, after the facts.
    """
    remaining = 0
    for row in range(count):
        kept = True
        for nth in range(3):
            fact = occurrences[row, nth]
            if fact >= 0 and group.label[fact] != occurrences[row, 3 + nth]:
                kept = False
        if occurrences[row, 1] == -2:
            vertex = group.owner[occurrences[row, 0]]
            kept = occurrences[row, 4] == number_of(group, vertex)
        if kept:
            for nth in range(6):
                occurrences[remaining, nth] = occurrences[row, nth]
            remaining += 1
    return remaining


@part
def score_vertices(group: FactGroup, occurrences: Numbers, count: int, scores: Numbers, base: int) -> None:
    """Count for each fact and vertex of a record in how many occurrences it is.

    ``scores[v - base, 0]`` is that of removing vertex v; facts have theirs in ``scores[f - first fact, 1]``.
    """
    first = group.first_fact[base]
    for row in range(count):
        for nth in range(3):
            fact = occurrences[row, nth]
            if fact < 0:
                continue
            vertex = group.owner[fact]
            if occurrences[row, 1] == -2:
                for other in range(group.first_fact[vertex], group.first_fact[vertex + 1]):
                    scores[other - first, 1] += 1
            elif occurrences[row, 1] != -3:
                scores[fact - first, 1] += 1
            for depth in range(1, group.depth[vertex] + 1):
                above = group.path[vertex, depth]
                counted = False
                for earlier in range(nth):
                    if occurrences[row, earlier] >= 0:
                        counted |= group.path[group.owner[occurrences[row, earlier]], depth] == above
                if not counted:
                    scores[above - base, 0] += 1


@part
def choose_deletion(group: FactGroup, record: int, scores: Numbers) -> tuple[int, int]:
    """Return vertex and fact (-1: all of it) whose deletion mends most for what it loses; -1, -1: none."""
    base, end = group.first_vertex[record], group.first_vertex[record + 1]
    first = group.first_fact[base]
    best, vertex, chosen = 0.0, -1, -1
    for candidate in range(base, end):
        if is_gone(group, candidate):
            continue
        for fact in range(group.first_fact[candidate], group.first_fact[candidate + 1]):
            if scores[fact - first, 1] and group.label[fact] != group.absent[fact]:
                lost = (group.losses[fact, 1] - group.losses[fact, 0]) * group.trace[group.absent[fact]] + 1.0
                worth = scores[fact - first, 1] / lost
                if worth > best:
                    best, vertex, chosen = worth, candidate, fact
        if scores[candidate - base, 0] and group.removable[candidate]:
            worth = scores[candidate - base, 0] / (loss_of_removal(group, candidate) + 1.0)
            if worth > best:
                best, vertex, chosen = worth, candidate, -1
    return vertex, chosen


UNLIMITED = 2**62
"""A loss that no group has."""


@inner
def delete_noted(work: GroupWork, tables: Tables, record: int, count: int) -> tuple[Tables, int]:
    """Delete facts of a record until none of its ``count`` noted occurrences is left, or none can be deleted.

    Returns the tables, and how many occurrences are left.
    """
    group, occurrences = work.group, work.occurrences
    base, end = group.first_vertex[record], group.first_vertex[record + 1]
    facts = group.first_fact[end] - group.first_fact[base]
    keep_labels(group, occurrences, count)
    while count > 0:
        scores = np.zeros((max(end - base, facts), 2), np.int64)
        score_vertices(group, occurrences, count, scores, base)
        vertex, fact = choose_deletion(group, record, scores)
        if vertex < 0:
            return tables, count
        label = group.absent[fact] if fact >= 0 else 0
        tables = change_record(work, tables, record, vertex, fact, label)
        count = drop_mended(group, occurrences, count)
    return tables, 0


@inner
def mend_record(work: GroupWork, tables: Tables, record: int) -> tuple[Tables, bool]:
    """Delete facts of a record until enough records match each of its patterns.

    Returns the tables, and whether that could be done.
    """
    while True:
        gather_facts(work, record)
        compare_paths(work.group, work.row)
        count = note_patterns(work, tables, work.asked.m, work.asked.k, work.changed, 0)
        if count == 0:
            return tables, True
        tables, remaining = delete_noted(work, tables, record, count)
        if remaining:
            return tables, False


@part
def labels_of_key(asked: Asked, clauses: PatternTable, key: int, labels: Numbers) -> int:
    """Write the labels of a key, of a whole vertex those of its last fields; return how many."""
    labels[:] = 0
    count = 0
    if (key >> CLAUSE) & 1:
        mask = (1 << asked.label_bits) - 1
        number = key & 0xFFFFFFFF
        while number and count < len(labels):
            sequence = clauses.keys[clauses.last[number]] - 1
            labels[count] = sequence & mask
            number = sequence >> asked.label_bits
            count += 1
        return count
    mask = (1 << asked.label_bits) - 1
    for nth in range(3):
        label = (key >> (asked.label_bits * (2 - nth))) & mask
        if label:
            labels[count] = label
            count += 1
    return count


@part
def has_labels(group: FactGroup, record: int, labels: Numbers, count: int) -> bool:
    """Return whether a record shows each of some labels."""
    first = group.first_fact[group.first_vertex[record]]
    end = group.first_fact[group.first_vertex[record + 1]]
    for nth in range(count):
        fact = first
        while fact < end and group.label[fact] != labels[nth]:
            fact += 1
        if fact == end:
            return False
    return True


@inner
def mark_matching(group: FactGroup, asked: Asked, clauses: PatternTable, key: int, dirty: Flags) -> None:
    """Mark the records that show all labels of a pattern."""
    labels = np.zeros(64, np.int64)
    count = labels_of_key(asked, clauses, key, labels)
    rarest, fewest = 0, len(dirty)
    for nth in range(count):
        label = labels[nth]
        holders = group.first_holder[label + 1] - group.first_holder[label]
        if label > asked.absents and holders < fewest:
            rarest, fewest = label, holders
    if rarest == 0:  # who shows absent values is not known beforehand
        for record in range(len(dirty)):
            if not dirty[record] and has_labels(group, record, labels, count):
                dirty[record] = True
        return
    for holder in range(group.first_holder[rarest], group.first_holder[rarest + 1]):
        record = group.holders[holder]
        if not dirty[record] and has_labels(group, record, labels, count):
            dirty[record] = True


@inner
def mark_holders(work: GroupWork, tables: Tables, dirty: Flags) -> None:
    """Mark the records that may match one of the noted keys; all if more keys were noted than fit."""
    changed, table = work.changed, tables.patterns
    if changed[0] + 1 > len(changed):
        dirty[:] = True
        changed[0] = 0
        return
    for position in range(1, changed[0] + 1):
        count = table.counts[find_key(table.keys, changed[position])]
        if 0 < count < work.asked.k:
            mark_matching(work.group, work.asked, tables.clauses, changed[position], dirty)
    changed[0] = 0


@part
def loss_of_record(group: FactGroup, record: int) -> int:
    """Return what a record loses as it is now."""
    lost = 0
    for vertex in range(group.first_vertex[record], group.first_vertex[record + 1]):
        if is_gone(group, vertex):
            lost += group.constant[vertex]
        for fact in range(group.first_fact[vertex], group.first_fact[vertex + 1]):
            label = group.label[fact]
            lost += group.losses[fact, 2 if label == 0 else 0 if label == group.shown[fact] else 1]
    return int(lost)


@jit
def loss_of_group(group: FactGroup) -> int:
    """Return what a group loses as it is now."""
    lost = 0
    for record in range(len(group.first_vertex) - 1):
        lost += loss_of_record(group, record)
    return lost


@branching
def mend_marked(work: GroupWork, tables: Tables, dirty: Flags, allowed: int) -> tuple[Tables, bool]:
    """Delete facts of marked records, in rounds, until every pattern is matched by none or enough records.

    Marks the records that match what has become too rare. Returns whether all could be done; gives up where
    more than ``allowed`` would be lost by it.
    """
    group = work.group
    work.changed[0] = 0
    busy = True
    while busy:
        busy = False
        for record in range(len(dirty)):
            if not dirty[record]:
                continue
            busy = True
            dirty[record] = False
            tables = widen_tables(work, tables)
            allowed += loss_of_record(group, record)
            tables, mended = mend_record(work, tables, record)
            allowed -= loss_of_record(group, record)
            if not mended or allowed < 0:
                return tables, False
            mark_holders(work, tables, dirty)
    return tables, True


@branching
def relabel_records(work: GroupWork, tables: Tables, labels: Numbers, dirty: Flags) -> Tables:
    """Show facts by other labels (0: their vertex is removed), and count what changes.

    Marks the records that change, and those that match what has become too rare.
    """
    group, row = work.group, work.row
    work.changed[0] = 0
    # Patterns that are new are matched by records that change, so only those that fewer match are noted.
    quiet = GroupWork(group, work.asked, row, work.occurrences, np.zeros(1, np.int64))
    for record in range(len(dirty)):
        first = group.first_fact[group.first_vertex[record]]
        end = group.first_fact[group.first_vertex[record + 1]]
        differs = False
        for fact in range(first, end):
            if group.label[fact] != labels[fact]:
                row.marks[group.label[fact]] = True
                row.marks[labels[fact]] = True
                differs = True
        row.marks[0] = False
        if differs:
            dirty[record] = True
            tables = widen_tables(work, tables)
            take_out(work, tables, record)
            for fact in range(first, end):
                group.label[fact] = labels[fact]
            tables = put_in(quiet, tables, record)
    mark_holders(work, tables, dirty)
    return tables
