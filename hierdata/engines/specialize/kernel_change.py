"""Show a fact by another label, or remove a vertex, and count what changes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.jit import jit, part
from hierdata.engines.specialize.kernel_facts import (
    FactGroup,
    Row,
    count_enumerated,
    count_record,
    gather_facts,
    is_gone,
)
from hierdata.engines.specialize.kernel_table import Asked, PatternTable, find_slot, make_room, widen_clauses


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
def take_out(
    group: FactGroup,
    asked: Asked,
    table: PatternTable,
    clauses: PatternTable,
    row: Row,
    record: int,
    changed: NDArray[np.int64],
) -> None:
    """Take the patterns with marked labels out of the counts, before a record changes."""
    marked = gather_facts(group, asked, record, row)
    count_record(group, asked, table, clauses, row, marked, -1, changed)


@jit
def put_in(
    group: FactGroup,
    asked: Asked,
    table: PatternTable,
    clauses: PatternTable,
    row: Row,
    record: int,
    changed: NDArray[np.int64],
) -> PatternTable:
    """Count the patterns with marked labels again, and unmark these; return the table."""
    marked = gather_facts(group, asked, record, row)
    table = make_room(table, count_enumerated(row.size[0], marked, asked.m) + marked)
    count_record(group, asked, table, clauses, row, marked, 1, changed)
    row.marks[:] = False
    return table


@jit
def change_record(
    group: FactGroup,
    asked: Asked,
    table: PatternTable,
    clauses: PatternTable,
    row: Row,
    record: int,
    vertex: int,
    fact: int,
    label: int,
    changed: NDArray[np.int64],
) -> PatternTable:
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
    take_out(group, asked, table, clauses, row, record, changed)
    if fact < 0:
        remove_subtree(group, vertex, end)
    else:
        group.label[fact] = label
    return put_in(group, asked, table, clauses, row, record, changed)


@part
def is_harmless(asked: Asked, table: PatternTable, changed: NDArray[np.int64]) -> bool:
    """Return whether all noted keys are matched by none or enough records."""
    if changed[0] + 1 > len(changed):
        return False
    for at in range(1, changed[0] + 1):
        count = table.counts[find_slot(table, changed[at])]
        if 0 < count < asked.k:
            return False
    return True


@jit
def restore_record(
    group: FactGroup,
    asked: Asked,
    table: PatternTable,
    clauses: PatternTable,
    row: Row,
    record: int,
    changed: NDArray[np.int64],
) -> PatternTable:
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


@part
def show_vertex(group: FactGroup, vertex: int) -> None:
    """Show all values of a removed vertex again."""
    for fact in range(group.first_fact[vertex], group.first_fact[vertex + 1]):
        group.label[fact] = group.shown[fact]


@jit
def return_vertices(
    group: FactGroup,
    asked: Asked,
    table: PatternTable,
    clauses: PatternTable,
    row: Row,
    record: int,
    changed: NDArray[np.int64],
) -> PatternTable:
    """Put back removed vertices of a record whose parents are there, wherever no pattern suffers."""
    base, end = group.first_vertex[record], group.first_vertex[record + 1]
    for vertex in range(base + 1, end):
        if not is_gone(group, vertex) or is_gone(group, group.path[vertex, group.depth[vertex] - 1]):
            continue
        for fact in range(group.first_fact[vertex], group.first_fact[vertex + 1]):
            row.marks[group.shown[fact]] = True
        changed[0] = 0
        take_out(group, asked, table, clauses, row, record, changed)
        show_vertex(group, vertex)
        table = put_in(group, asked, table, clauses, row, record, changed)
        if not is_harmless(asked, table, changed):
            table = change_record(group, asked, table, clauses, row, record, vertex, -1, 0, changed)
        changed[0] = 0
    return table


@jit
def restore_group(
    group: FactGroup,
    asked: Asked,
    table: PatternTable,
    clauses: PatternTable,
    row: Row,
    changed: NDArray[np.int64],
    which: NDArray[np.bool_],
) -> tuple[PatternTable, PatternTable]:
    """Put back what can be put back of some records, one after the other."""
    for record in range(len(which)):
        if not which[record]:
            continue
        clauses = widen_clauses(clauses, 64 * len(row.facts))
        table = return_vertices(group, asked, table, clauses, row, record, changed)
        table = restore_record(group, asked, table, clauses, row, record, changed)
    return table, clauses
