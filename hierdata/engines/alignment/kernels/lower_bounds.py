"""Lower bounds of the loss of aligning two trees, from histograms of their values over hierarchy nodes.

``alignment.lower_bounds`` builds the histograms and proves the bound. For trees with the counts a and b in
columns of weight w,

    bound = totals of both - 2 * sum of w * min(a, b),

so only columns where the first tree has a positive count are read.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.kernels.arrays import FIRST_NODE, KIND, QUASI_COUNT, Sides
from hierdata.engines.alignment.kernels.vertices import FEW_GROUPS, full_of
from hierdata.engines.jit import call_by_symbol, jit, lean, part, shared

HIGHEST = 255
"""Counts are clipped to this value on both sides, which can only lower the bound."""


class Histograms(NamedTuple):
    """The histograms of all records over hierarchy nodes; see ``alignment.lower_bounds``.

    Losses are times the forest's scale. The nodes of all hierarchies are numbered consecutively.
    """

    counts: NDArray[np.uint8]  # [record, column]: values whose path passes a node of the column
    weights: NDArray[np.int64]  # [column]: loss of a value whose partner does not share the node
    columns: NDArray[np.int64]  # [column]: its first node, usually the only one
    totals: NDArray[np.int64]  # [record]: bound of aligning the record with an empty tree
    passes: NDArray[np.int32]  # [node, level]: columns on the path of a value published as it, -1 for none
    lost: NDArray[np.int64]  # [node]: loss of a value published as the node
    whole: NDArray[np.int64]  # [node]: loss of a value that is suppressed

    def bounds(self, record: int, others: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Return the bounds of a record with the others; with all records by default."""
        others = np.arange(len(self.counts)) if others is None else others
        out = np.empty(len(others), np.int64)
        bounds_to(self.counts[record], self.totals[record], others, self, out)
        return out


@lean
def count_values(
    records: NDArray[np.int64], nodes: NDArray[np.int64], alone: NDArray[np.bool_], histograms: Histograms
) -> None:
    """Count values, each given by its record and its node; one that is ``alone`` only costs its ``whole``."""
    counts, weights, totals = histograms.counts, histograms.weights, histograms.totals
    passes, lost, whole = histograms.passes, histograms.lost, histograms.whole
    for value in range(len(nodes)):
        record, node = records[value], nodes[value]
        if alone[value]:
            totals[record] += whole[node]
            continue
        totals[record] += lost[node]
        for level in range(passes.shape[1]):
            column = passes[node, level]
            if column >= 0 and counts[record, column] < HIGHEST:
                counts[record, column] += np.uint8(1)
                totals[record] += weights[column]


@lean
def histogram_of(
    rep: NDArray[np.int32], count: int, histograms: Histograms, vector: NDArray[np.uint8]
) -> np.int64:
    """Write the histogram of a class representative of ``count`` vertices to ``vector``; return its total.

    Also for a record whose rows begin at 0 and in which no vertex is alone.
    """
    weights, passes, lost = histograms.weights, histograms.passes, histograms.lost
    for column in range(len(vector)):
        vector[column] = 0
    total = np.int64(0)
    for v in range(count):
        for position in range(FIRST_NODE, FIRST_NODE + rep[v, QUASI_COUNT]):
            node = rep[v, position]
            total += lost[node]
            for level in range(passes.shape[1]):
                column = passes[node, level]
                if column >= 0 and vector[column] < HIGHEST:
                    vector[column] += np.uint8(1)
                    total += weights[column]
    return total


@call_by_symbol
@jit
def bounds_to(
    vector: NDArray[np.uint8],
    total: np.int64,
    others: NDArray[np.int64],
    histograms: Histograms,
    out: NDArray[np.int64],
) -> None:
    """Write to ``out`` the bounds of other records with the tree that has this histogram and total."""
    counts, weights, totals = histograms.counts, histograms.weights, histograms.totals
    columns = np.empty(len(vector), np.int64)
    counted = np.empty(len(vector), np.int64)
    worth = np.empty(len(vector), np.int64)
    count = 0
    for column in range(len(vector)):
        if vector[column] > 0:
            columns[count] = column
            counted[count] = vector[column]
            worth[count] = 2 * weights[column]
            count += 1
    for j in range(len(others)):
        record = others[j]
        shared = np.int64(0)
        for i in range(count):
            shared += worth[i] * min(counted[i], np.int64(counts[record, columns[i]]))
        out[j] = total + totals[record] - shared


@call_by_symbol
@jit
def bounds_to_all(
    vector: NDArray[np.uint8],
    total: np.int64,
    by_column: NDArray[np.uint8],
    histograms: Histograms,
    out: NDArray[np.int64],
) -> None:
    """Write to ``out`` the bounds of all records, column by column, which vectorizes over records.

    ``by_column[column, record]`` is ``counts[record, column]``, with the columns contiguous in memory.
    """
    weights, totals = histograms.weights, histograms.totals
    for record in range(len(out)):
        out[record] = total + totals[record]
    for column in range(len(vector)):
        counted = np.int64(vector[column])
        worth = 2 * weights[column]
        counts = by_column[column]
        if counted == 1:  # the most frequent case needs no products
            for record in range(len(out)):
                out[record] -= worth if counts[record] > 0 else 0
        elif counted > 1:
            for record in range(len(out)):
                out[record] -= worth * min(counted, np.int64(counts[record]))


class CappedValues(NamedTuple):
    """The values of records that caps count.

    The slots of a vertex type are consecutive, and so are the groups of a slot.
    """

    counts: NDArray[np.int32]  # [record, group]: values of the record in the group
    vertices: NDArray[np.int32]  # [record, vertex type]
    slots: NDArray[np.int64]  # [slot, (vertex type, first group, group after the last)]
    above: NDArray[np.int64]  # [vertex type]: the type of the parent, -1 for the root
    weights: NDArray[np.int64]  # [vertex type]: the weight of a vertex without those below it
    over: NDArray[np.int64]  # [record]: as bits the groups that have more than their share in the record
    under: NDArray[np.int64]  # [record]: as bits the groups that have less
    open_: NDArray[np.int64]  # [group]: working memory of ``find_room``: vertices that a value may still join
    present: NDArray[np.int64]  # [vertex type]: working memory: vertices of the representative
    pairs: NDArray[np.int64]  # [vertex type]: working memory of ``loss_by_room``


@shared
def find_room(count: int, sides: Sides, values: CappedValues) -> bool:
    """Count by group the vertices of a representative that a further value may join.

    Return whether some group has fewer than its vertices. Only caps on single groups are looked at.
    """
    open_, present, slots = values.open_, values.present, values.slots
    rep, full = sides.rep, sides.work.full
    for kind in range(len(present)):
        present[kind] = 0
    for group in range(len(open_)):
        open_[group] = 0
    if len(slots) == 0 or (full[full.shape[0] - 1, 0] >> FEW_GROUPS) & 1 == 0:
        return False
    some = False
    one = np.int64(1)
    for v in range(count):
        kind = rep[v, KIND]
        present[kind] += 1
        mask = full_of(v, sides)
        for slot in range(len(slots)):
            if slots[slot, 0] == kind:
                for group in range(slots[slot, 1], slots[slot, 2]):
                    if mask & (one << group) == 0:
                        open_[group] += 1
                    else:
                        some = True
    return some


@part
def loss_by_room(record: int, scale: int, values: CappedValues) -> np.int64:
    """Return a lower bound of the loss of aligning a record with the representative of ``find_room``.

    A vertex without a partner loses its weight. At most so many vertices of a type find one as both sides
    have, and as many values of each group as there are vertices that they may join.
    """
    counts, vertices, slots, above, weights, _, _, open_, present, pairs = values
    for kind in range(len(present)):
        pairs[kind] = min(present[kind], np.int64(vertices[record, kind]))
    for slot in range(len(slots)):
        kind = slots[slot, 0]
        fitting = np.int64(vertices[record, kind])
        for group in range(slots[slot, 1], slots[slot, 2]):
            fitting -= max(np.int64(counts[record, group]) - open_[group], np.int64(0))
        pairs[kind] = min(pairs[kind], fitting)
    loss = np.int64(0)
    for kind in range(len(present)):
        if above[kind] >= 0 and pairs[above[kind]] == 0:
            pairs[kind] = 0
        loss += weights[kind] * (present[kind] + np.int64(vertices[record, kind]) - 2 * pairs[kind])
    return scale * loss
