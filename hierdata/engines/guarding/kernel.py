"""Compiled test whether what is published of a class fits a record."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hierdata.engines.alignment.kernels.assignment import assign
from hierdata.engines.jit import jit
from hierdata.engines.rows.kernel import Flags, Numbers


class Trees(NamedTuple):
    """Trees: that of record r has the vertices ``roots[r]`` to ``roots[r + 1] - 1``, parents first.

    The children of v are ``child_count[v]`` vertices from ``first_child[v]`` on, ``kind[v]`` is its type,
    and ``labels[first_label[v] + i]`` its i-th label, numbered as in ``Generalizing``.
    """

    roots: Numbers
    kind: Numbers
    first_child: Numbers
    child_count: Numbers
    first_label: Numbers
    labels: Numbers


class Generalizing(NamedTuple):
    """Which published labels generalize which original values, one table for each quasi-identifier.

    The quasi-identifiers of type t are the columns ``first_column[t]`` to ``first_column[t + 1] - 1``. The
    answer for a label and a value of a column is ``table[first[column] + label * width[column] + value]``.
    """

    first_column: Numbers
    first: Numbers
    width: Numbers
    table: Flags


@jit
def find_uncovered(forms: Trees, records: Trees, generalizing: Generalizing) -> Flags:
    """Return for each record whether no form fits it.

    A form fits if its vertices can be matched with different vertices of the record, root with root and
    children with children, of the same types, so that each label generalizes the value it stands for.
    O(forms x records) times the assignments of children.
    """
    uncovered = np.ones(len(records.roots) - 1, np.bool_)
    for record in range(len(uncovered)):
        for form in range(len(forms.roots) - 1):
            if fits_record(forms, form, records, record, generalizing):
                uncovered[record] = False
                break
    return uncovered


@jit
def fits_record(forms: Trees, form: int, records: Trees, record: int, generalizing: Generalizing) -> bool:
    """Return whether a form fits a record."""
    top, base = int(forms.roots[form]), int(records.roots[record])
    vertices = int(forms.roots[form + 1]) - top
    others = int(records.roots[record + 1]) - base
    if vertices > others or not generalizes(forms, top, records, base, generalizing):
        return False
    if vertices == 1:
        return True
    fits = np.zeros((vertices, others), np.bool_)
    for vertex in range(vertices - 1, -1, -1):  # children before their parents
        for other in range(others - 1, -1, -1):
            same = forms.kind[top + vertex] == records.kind[base + other]
            if same and generalizes(forms, top + vertex, records, base + other, generalizing):
                fits[vertex, other] = _children_fit(forms, top, vertex, records, base, other, fits)
    return bool(fits[0, 0])


@jit
def generalizes(forms: Trees, vertex: int, records: Trees, other: int, generalizing: Generalizing) -> bool:
    """Return whether each label of a vertex generalizes the value of another vertex of the same type."""
    kind = forms.kind[vertex]
    first = generalizing.first_column[kind]
    for column in range(first, generalizing.first_column[kind + 1]):
        label = forms.labels[forms.first_label[vertex] + column - first]
        value = records.labels[records.first_label[other] + column - first]
        if not generalizing.table[generalizing.first[column] + label * generalizing.width[column] + value]:
            return False
    return True


@jit
def _children_fit(
    forms: Trees, top: int, vertex: int, records: Trees, base: int, other: int, fits: Flags
) -> bool:
    """Return whether the children of a vertex fit different children of another."""
    rows, columns = int(forms.child_count[top + vertex]), int(records.child_count[base + other])
    if rows > columns:
        return False
    if rows == 0:
        return True
    first_row = int(forms.first_child[top + vertex]) - top
    first_column = int(records.first_child[base + other]) - base
    cost = np.empty((rows, columns), np.int64)
    for row in range(rows):
        for column in range(columns):
            cost[row, column] = 0 if fits[first_row + row, first_column + column] else 1
    column_of = np.zeros(rows, np.int64)
    assign(cost, rows, columns, column_of)
    least = 0
    for row in range(rows):
        least += int(cost[row, column_of[row]])
    return least == 0
