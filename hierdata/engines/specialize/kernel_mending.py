"""Delete facts until every pattern that is matched at all is matched by enough records."""

from __future__ import annotations

import numpy as np

from hierdata.engines.jit import jit
from hierdata.engines.specialize.kernel import (
    CLAUSE,
    count_enumerated,
    count_group,
    count_record,
    find_broken,
    find_slot,
    gather_facts,
    is_gone,
    make_room,
    make_table,
    widen_clauses,
)


@jit
def loss_of_removal(group, vertex):
    """Return what removing a vertex with its subtree would lose beyond what is lost already."""
    lost = group.constant[vertex]
    for fact in range(group.first_fact[vertex], group.first_fact[vertex + 1]):
        state = 0 if group.label[fact] == group.shown[fact] else 1
        lost += group.losses[fact, 2] - group.losses[fact, state]
    first = group.first_child[vertex]
    end = first + group.child_count[vertex]
    depth = group.depth[vertex]
    # Descendants follow in breadth-first order; those of other vertices between them are skipped.
    while first < end:
        following, last = -1, -1
        for child in range(first, end):
            if group.path[child, depth] != vertex or is_gone(group, child):
                continue
            lost += group.constant[child]
            for fact in range(group.first_fact[child], group.first_fact[child + 1]):
                state = 0 if group.label[fact] == group.shown[fact] else 1
                lost += group.losses[fact, 2] - group.losses[fact, state]
            if group.child_count[child]:
                if following < 0:
                    following = group.first_child[child]
                last = group.first_child[child] + group.child_count[child]
        first, end = following, last
        if first < 0:
            break
    return lost


@jit
def mark_subtree(group, row, vertex, end, value):
    """Mark or unmark the labels of what a vertex and its descendants show; vertices end before ``end``."""
    depth = group.depth[vertex]
    for other in range(vertex, end):
        if group.path[other, depth] == vertex:
            for fact in range(group.first_fact[other], group.first_fact[other + 1]):
                row.marks[group.label[fact]] = value
    row.marks[0] = False


@jit
def remove_subtree(group, vertex, end):
    """Remove a vertex with its descendants."""
    depth = group.depth[vertex]
    for other in range(vertex, end):
        if group.path[other, depth] == vertex:
            for fact in range(group.first_fact[other], group.first_fact[other + 1]):
                group.label[fact] = 0


@jit
def change_record(group, asked, table, clauses, row, record, vertex, fact, label, changed):
    """Show a fact by another label, or remove a vertex where ``fact`` is -1; count what changes.

    Returns the table; ``changed`` notes the keys that now are matched by too few.
    """
    end = group.first_vertex[record + 1]
    if fact < 0:
        mark_subtree(group, row, vertex, end, True)
    else:
        row.marks[group.label[fact]] = True
        row.marks[label] = True
        row.marks[0] = False
    marked = gather_facts(group, asked, record, row)
    count_record(group, asked, table, clauses, row, marked, -1, changed)
    if fact < 0:
        remove_subtree(group, vertex, end)
    else:
        group.label[fact] = label
    marked = gather_facts(group, asked, record, row)
    table = make_room(table, count_enumerated(row.size[0], marked, asked.m) + marked)
    count_record(group, asked, table, clauses, row, marked, 1, changed)
    row.marks[:] = False
    return table


@jit
def score_vertices(group, found, count, scores, base):
    """Count for each fact and vertex of a record in how many occurrences it is; return nothing.

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


@jit
def choose_deletion(group, asked, record, scores):
    """Return vertex and fact (-1: the whole vertex) whose deletion mends most for what it loses; -1, -1: none."""
    base, end = group.first_vertex[record], group.first_vertex[record + 1]
    first = group.first_fact[base]
    best, vertex, chosen = 0.0, -1, -1
    for own in range(base, end):
        if is_gone(group, own):
            continue
        for fact in range(group.first_fact[own], group.first_fact[own + 1]):
            if scores[fact - first, 1] and group.label[fact] != group.absent[fact]:
                lost = (group.losses[fact, 1] - group.losses[fact, 0]) * asked.trace + 1.0
                worth = scores[fact - first, 1] / lost
                if worth > best:
                    best, vertex, chosen = worth, own, fact
        if scores[own - base, 0] and group.removable[own]:
            worth = scores[own - base, 0] / (loss_of_removal(group, own) + 1.0)
            if worth > best:
                best, vertex, chosen = worth, own, -1
    return vertex, chosen


@jit
def drop_mended(group, found, count):
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
            number = 0
            for fact in range(group.first_fact[vertex], group.first_fact[vertex + 1]):
                number = (number * 1_000_003 + group.label[fact]) & 0xFFFFFFFFFFFF
            kept = number == found[at, 4]
        if kept:
            for place in range(6):
                found[left, place] = found[at, place]
            left += 1
    return left


@jit
def keep_labels(group, found, count):
    """Note the labels at which occurrences were found; of a whole vertex a number of all its labels."""
    for at in range(count):
        for place in range(3):
            fact = found[at, place]
            found[at, 3 + place] = group.label[fact] if fact >= 0 else 0
        if found[at, 1] == -2:
            vertex = group.owner[found[at, 0]]
            number = 0
            for fact in range(group.first_fact[vertex], group.first_fact[vertex + 1]):
                number = (number * 1_000_003 + group.label[fact]) & 0xFFFFFFFFFFFF
            found[at, 4] = number


@jit
def mend_record(group, asked, table, clauses, row, record, found, changed):
    """Delete facts of a record until too few match none of its patterns; return the table and whether it could."""
    base, end = group.first_vertex[record], group.first_vertex[record + 1]
    facts = group.first_fact[end] - group.first_fact[base]
    while True:
        gather_facts(group, asked, record, row)
        count = find_broken(group, asked, table, clauses, row, found)
        if count == 0:
            return table, True
        keep_labels(group, found, count)
        while count > 0:
            scores = np.zeros((max(end - base, facts), 2), np.int64)
            score_vertices(group, found, count, scores, base)
            vertex, fact = choose_deletion(group, asked, record, scores)
            if vertex < 0:
                return table, False
            label = group.absent[fact] if fact >= 0 else 0
            table = change_record(
                group, asked, table, clauses, row, record, vertex, fact, label, changed
            )
            count = drop_mended(group, found, count)


@jit
def labels_of_key(asked, clauses, key, labels):
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
    key >>= 3 * asked.depth_bits
    mask = (1 << asked.label_bits) - 1
    for place in range(3):
        label = (key >> (asked.label_bits * (2 - place))) & mask
        if label:
            labels[count] = label
            count += 1
    return count


@jit
def mark_holders(group, asked, table, clauses, changed, dirty):
    """Mark the records that may match one of the noted keys; all if more keys were noted than fit."""
    if changed[0] + 1 > len(changed):
        dirty[:] = True
        changed[0] = 0
        return
    labels = np.zeros(64, np.int64)
    for at in range(1, changed[0] + 1):
        key = changed[at]
        slot = find_slot(table, key)
        if table.counts[slot] == 0 or table.counts[slot] >= asked.k:
            continue
        count = labels_of_key(asked, clauses, key, labels)
        rarest, fewest = 0, len(dirty)
        for place in range(count):
            label = labels[place]
            holders = group.first_holder[label + 1] - group.first_holder[label]
            if label > asked.absents and holders < fewest:
                rarest, fewest = label, holders
        if rarest == 0:
            dirty[:] = True
            break
        for holder in range(group.first_holder[rarest], group.first_holder[rarest + 1]):
            record = group.holders[holder]
            if not dirty[record] and has_labels(group, record, labels, count):
                dirty[record] = True
    changed[0] = 0


@jit
def has_labels(group, record, labels, count):
    """Return whether a record shows each of some labels."""
    first = group.first_fact[group.first_vertex[record]]
    end = group.first_fact[group.first_vertex[record + 1]]
    for place in range(count):
        there = False
        for fact in range(first, end):
            there |= group.label[fact] == labels[place]
        if not there:
            return False
    return True


@jit
def mend_group(group, asked, row, found, changed):
    """Delete facts record by record, in rounds, until every pattern is matched by none or enough records.

    Returns whether that could be done.
    """
    clauses = make_table(12)
    table, clauses = count_group(group, asked, clauses, row)
    records = len(group.first_vertex) - 1
    dirty = np.ones(records, np.bool_)
    changed[0] = 0
    busy = True
    while busy:
        busy = False
        for record in range(records):
            if not dirty[record]:
                continue
            busy = True
            dirty[record] = False
            clauses = widen_clauses(clauses, 64 * len(row.facts))
            table, mended = mend_record(group, asked, table, clauses, row, record, found, changed)
            if not mended:
                return table, clauses, False
            mark_holders(group, asked, table, clauses, changed, dirty)
    return table, clauses, True


@jit
def is_harmless(asked, table, changed):
    """Return whether all noted keys are matched by none or enough records."""
    if changed[0] + 1 > len(changed):
        return False
    for at in range(1, changed[0] + 1):
        count = table.counts[find_slot(table, changed[at])]
        if 0 < count < asked.k:
            return False
    return True


@jit
def restore_record(group, asked, table, clauses, row, record, changed):
    """Put back the deleted values of a record, one by one, wherever no pattern suffers; return the table."""
    for vertex in range(group.first_vertex[record], group.first_vertex[record + 1]):
        if is_gone(group, vertex):
            continue
        for fact in range(group.first_fact[vertex], group.first_fact[vertex + 1]):
            if group.label[fact] == group.shown[fact]:
                continue
            before = group.label[fact]
            changed[0] = 0
            table = change_record(
                group, asked, table, clauses, row, record, vertex, fact, group.shown[fact], changed
            )
            if not is_harmless(asked, table, changed):
                table = change_record(
                    group, asked, table, clauses, row, record, vertex, fact, before, changed
                )
            changed[0] = 0
    return table


@jit
def show_vertex(group, vertex):
    """Show all values of a removed vertex again."""
    for fact in range(group.first_fact[vertex], group.first_fact[vertex + 1]):
        group.label[fact] = group.shown[fact]


@jit
def return_vertices(group, asked, table, clauses, row, record, changed):
    """Put back removed vertices of a record whose parents are there, wherever no pattern suffers."""
    base, end = group.first_vertex[record], group.first_vertex[record + 1]
    for vertex in range(base + 1, end):
        if not is_gone(group, vertex) or is_gone(group, group.path[vertex, group.depth[vertex] - 1]):
            continue
        for fact in range(group.first_fact[vertex], group.first_fact[vertex + 1]):
            row.marks[group.shown[fact]] = True
        marked = gather_facts(group, asked, record, row)
        changed[0] = 0
        count_record(group, asked, table, clauses, row, marked, -1, changed)
        show_vertex(group, vertex)
        marked = gather_facts(group, asked, record, row)
        table = make_room(table, count_enumerated(row.size[0], marked, asked.m) + marked)
        count_record(group, asked, table, clauses, row, marked, 1, changed)
        row.marks[:] = False
        if not is_harmless(asked, table, changed):
            table = change_record(group, asked, table, clauses, row, record, vertex, -1, 0, changed)
        changed[0] = 0
    return table


@jit
def restore_group(group, asked, table, clauses, row, changed):
    """Put back what can be put back, record by record."""
    for record in range(len(group.first_vertex) - 1):
        clauses = widen_clauses(clauses, 64 * len(row.facts))
        table = return_vertices(group, asked, table, clauses, row, record, changed)
        table = restore_record(group, asked, table, clauses, row, record, changed)
    return table
