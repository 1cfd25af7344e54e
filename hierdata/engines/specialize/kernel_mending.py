"""Delete facts until every pattern that is matched at all is matched by enough records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.jit import jit, part
from hierdata.engines.specialize.kernel_broken import (
    choose_deletion,
    drop_mended,
    find_broken,
    keep_labels,
    score_vertices,
)
from hierdata.engines.specialize.kernel_change import change_record, put_in, take_out
from hierdata.engines.specialize.kernel_facts import FactGroup, Row, count_group, gather_facts, is_gone
from hierdata.engines.specialize.kernel_table import (
    CLAUSE,
    Asked,
    PatternTable,
    find_slot,
    make_table,
    widen_clauses,
)

UNLIMITED = 2**62
"""A loss that no group has."""


@jit
def delete_noted(
    group: FactGroup,
    asked: Asked,
    table: PatternTable,
    clauses: PatternTable,
    row: Row,
    record: int,
    found: NDArray[np.int64],
    count: int,
    changed: NDArray[np.int64],
) -> tuple[PatternTable, int]:
    """Delete facts of a record until it has none of the noted occurrences, or none can be deleted.

    Returns the table, and how many occurrences are left.
    """
    base, end = group.first_vertex[record], group.first_vertex[record + 1]
    facts = group.first_fact[end] - group.first_fact[base]
    keep_labels(group, found, count)
    while count > 0:
        scores = np.zeros((max(end - base, facts), 2), np.int64)
        score_vertices(group, found, count, scores, base)
        vertex, fact = choose_deletion(group, record, scores)
        if vertex < 0:
            return table, count
        label = group.absent[fact] if fact >= 0 else 0
        table = change_record(group, asked, table, clauses, row, record, vertex, fact, label, changed)
        count = drop_mended(group, found, count)
    return table, 0


@jit
def mend_record(
    group: FactGroup,
    asked: Asked,
    table: PatternTable,
    clauses: PatternTable,
    row: Row,
    record: int,
    found: NDArray[np.int64],
    changed: NDArray[np.int64],
) -> tuple[PatternTable, bool]:
    """Delete facts of a record until enough records match each of its patterns.

    Returns the table, and whether that could be done.
    """
    while True:
        gather_facts(group, asked, record, row)
        count = find_broken(group, asked, table, clauses, row, found)
        if count == 0:
            return table, True
        table, left = delete_noted(group, asked, table, clauses, row, record, found, count, changed)
        if left:
            return table, False


@part
def labels_of_key(asked: Asked, clauses: PatternTable, key: int, labels: NDArray[np.int64]) -> int:
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
    for place in range(3):
        label = (key >> (asked.label_bits * (2 - place))) & mask
        if label:
            labels[count] = label
            count += 1
    return count


@part
def has_labels(group: FactGroup, record: int, labels: NDArray[np.int64], count: int) -> bool:
    """Return whether a record shows each of some labels."""
    first = group.first_fact[group.first_vertex[record]]
    end = group.first_fact[group.first_vertex[record + 1]]
    for place in range(count):
        at = first
        while at < end and group.label[at] != labels[place]:
            at += 1
        if at == end:
            return False
    return True


@jit
def mark_matching(
    group: FactGroup, asked: Asked, clauses: PatternTable, key: int, dirty: NDArray[np.bool_]
) -> None:
    """Mark the records that show all labels of a pattern."""
    labels = np.zeros(64, np.int64)
    count = labels_of_key(asked, clauses, key, labels)
    rarest, fewest = 0, len(dirty)
    for place in range(count):
        label = labels[place]
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


@jit
def mark_holders(
    group: FactGroup,
    asked: Asked,
    table: PatternTable,
    clauses: PatternTable,
    changed: NDArray[np.int64],
    dirty: NDArray[np.bool_],
) -> None:
    """Mark the records that may match one of the noted keys; all if more keys were noted than fit."""
    if changed[0] + 1 > len(changed):
        dirty[:] = True
        changed[0] = 0
        return
    for at in range(1, changed[0] + 1):
        count = table.counts[find_slot(table, changed[at])]
        if 0 < count < asked.k:
            mark_matching(group, asked, clauses, changed[at], dirty)
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


@jit
def mend_marked(
    group: FactGroup,
    asked: Asked,
    table: PatternTable,
    clauses: PatternTable,
    row: Row,
    found: NDArray[np.int64],
    changed: NDArray[np.int64],
    dirty: NDArray[np.bool_],
    allowed: int,
) -> tuple[PatternTable, PatternTable, bool]:
    """Delete facts of marked records, in rounds, until every pattern is matched by none or enough records.

    Marks the records that match what has become too rare. Returns whether all could be done; gives up where
    more than ``allowed`` would be lost by it.
    """
    changed[0] = 0
    busy = True
    while busy:
        busy = False
        for record in range(len(dirty)):
            if not dirty[record]:
                continue
            busy = True
            dirty[record] = False
            clauses = widen_clauses(clauses, 64 * len(row.facts))
            allowed += loss_of_record(group, record)
            table, mended = mend_record(group, asked, table, clauses, row, record, found, changed)
            allowed -= loss_of_record(group, record)
            if not mended or allowed < 0:
                return table, clauses, False
            mark_holders(group, asked, table, clauses, changed, dirty)
    return table, clauses, True


@jit
def mend_group(
    group: FactGroup, asked: Asked, row: Row, found: NDArray[np.int64], changed: NDArray[np.int64]
) -> tuple[PatternTable, PatternTable, bool]:
    """Count all patterns, and delete facts until each is matched by none or enough records.

    Returns whether that could be done.
    """
    table, clauses = count_group(group, asked, make_table(12), row)
    dirty = np.ones(len(group.first_vertex) - 1, np.bool_)
    return mend_marked(group, asked, table, clauses, row, found, changed, dirty, UNLIMITED)


@jit
def relabel_records(
    group: FactGroup,
    asked: Asked,
    table: PatternTable,
    clauses: PatternTable,
    row: Row,
    labels: NDArray[np.int64],
    changed: NDArray[np.int64],
    dirty: NDArray[np.bool_],
) -> tuple[PatternTable, PatternTable]:
    """Show facts by other labels (0: their vertex is removed), and count what changes.

    Marks the records that change, and those that match what has become too rare.
    """
    changed[0] = 0
    # Patterns that are new are matched by records that change, so only those that fewer match are noted.
    unnoted = np.zeros(1, np.int64)
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
            clauses = widen_clauses(clauses, 64 * len(row.facts))
            take_out(group, asked, table, clauses, row, record, changed)
            group.label[first:end] = labels[first:end]
            table = put_in(group, asked, table, clauses, row, record, unnoted)
    mark_holders(group, asked, table, clauses, changed, dirty)
    return table, clauses
