"""Inner loops of Algorithm 2 (MLevCluTree, ML section 4): grow one class from a seed record."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.kernels.anonytree import INFINITY, align, join
from hierdata.engines.alignment.kernels.arrays import (
    CHILD_COUNT,
    FIRST_CHILD,
    FIRST_NODE,
    KIND,
    OWN,
    POOL_COUNT,
    POOL_FIRST,
    QUASI_COUNT,
    SLOT_COUNT,
    WEIGHT,
    AlignmentArrays,
    Sides,
)
from hierdata.engines.alignment.kernels.lower_bounds import Histograms, bounds_to, histogram_of
from hierdata.engines.alignment.kernels.vertices import fits, open_alignment
from hierdata.engines.jit import call_by_symbol, inline_kernel, jit, lean, part, shared

Rows: TypeAlias = "NDArray[np.int32]"
Ordinals: TypeAlias = "NDArray[np.int64]"
Taken: TypeAlias = "NDArray[np.bool_]"


class ClassBuffers(NamedTuple):
    """The representative of a class that is being grown, its members' vertices, and room for new ones."""

    rep: Rows  # [vertex of the representative, column]
    members: Ordinals  # [member, vertex of the representative]: the member's vertex
    new: Rows  # as ``rep``
    new_members: Ordinals  # as ``members``
    queue: Ordinals  # [vertex of the representative, 2]: aligned vertices of representative and record


@part
def copy_rows(rep: Rows, count: int, target: Rows) -> None:
    """Run ``target[:count] = rep[:count]``; a slice assignment takes seconds to compile."""
    for row in range(count):
        for column in range(rep.shape[1]):
            target[row, column] = rep[row, column]


@part
def copy_members(members: Ordinals, size: int, count: int, target: Ordinals) -> None:
    """Run ``target[:size, :count] = members[:size, :count]``; see ``copy_rows``."""
    for row in range(size):
        for column in range(count):
            target[row, column] = members[row, column]


@inline_kernel
def vertex_saving(rep: Rows, v: int, scale: int, losses: Ordinals) -> np.int64:
    """Return what suppressing a vertex would lose and publishing it does not, times the scale."""
    saved = scale * np.int64(rep[v, OWN])
    for node in range(FIRST_NODE, FIRST_NODE + rep[v, QUASI_COUNT]):
        saved -= losses[rep[v, node]] // 2
    return saved


@lean
def representative_saving(rep: Rows, count: int, scale: int, losses: Ordinals) -> np.int64:
    """Return what suppressing a representative would lose and publishing it does not, times the scale."""
    saved = np.int64(0)
    for v in range(count):
        saved += vertex_saving(rep, v, scale, losses)
    return saved


@shared
def plant(record: int, buffers: ClassBuffers, arrays: AlignmentArrays) -> int:
    """Copy the rows of a record into ``buffers`` as a class of one; return how many vertices it has."""
    rep, members, rows = buffers.rep, buffers.members, arrays.rows
    first_slot = arrays.settings.first_slot
    start = arrays.roots[record]
    count: int = arrays.roots[record + 1] - start
    for v in range(count):
        for column in range(first_slot):
            rep[v, column] = rows[start + v, column]
        rep[v, FIRST_CHILD] -= start
        rep[v, POOL_FIRST] -= start
        for slot in range(rows[start + v, SLOT_COUNT]):
            rep[v, first_slot + slot] = rows[start + v, first_slot + slot]
        members[0, v] = start + v
    return count


@shared
def merge(record: int, size: int, buffers: ClassBuffers, arrays: AlignmentArrays) -> int:
    """Align a record with a representative of ``size`` members and write the new representative.

    Return its number of vertices. The children of the old representative keep their order. Vertices without a
    compatible partner are dropped.
    """
    rep, members, new, new_members, queue = buffers
    settings, work, roots, rows, rules = arrays
    sides = Sides(size, settings, work, rep, rows, rules)
    first_slot = settings.first_slot
    queue[0, 0] = 0
    queue[0, 1] = roots[record]
    count = 1
    v = 0
    while v < count:
        a = queue[v, 0]
        b = queue[v, 1]
        for column in range(FIRST_NODE + 1):
            new[v, column] = rep[a, column]
        new[v, FIRST_CHILD] = count
        for node in range(FIRST_NODE, FIRST_NODE + rep[a, QUASI_COUNT]):
            new[v, node] = join(rep[a, node], rows[b, node], rules.ancestors)
        for slot in range(rep[a, SLOT_COUNT]):
            for member in range(size):
                new[v, first_slot + slot * (size + 1) + member] = rep[a, first_slot + slot * size + member]
            new[v, first_slot + slot * (size + 1) + size] = rows[b, first_slot + slot]
        for member in range(size):
            new_members[member, v] = members[member, a]
        new_members[size, v] = b
        if rep[a, CHILD_COUNT] > 0 and rows[b, CHILD_COUNT] > 0:  # saves the cost of the call
            align(
                rep[a, FIRST_CHILD], rep[a, CHILD_COUNT], rows[b, FIRST_CHILD], rows[b, CHILD_COUNT],
                False, sides,
            )  # fmt: skip
            for i in range(rep[a, CHILD_COUNT]):
                if work.mates[0, i] >= 0:
                    queue[count, 0] = rep[a, FIRST_CHILD] + i
                    queue[count, 1] = rows[b, FIRST_CHILD] + work.mates[0, i]
                    count += 1
        new[v, CHILD_COUNT] = count - new[v, FIRST_CHILD]
        v += 1
    weigh(new, count)
    return count


@shared
def weigh(rep: Rows, count: int) -> None:
    """Sum the weights of the subtree of each vertex of a representative: WEIGHT.

    Also find the pools of its children: POOL_FIRST, POOL_COUNT.
    """
    for v in range(count - 1, -1, -1):
        rep[v, WEIGHT] = rep[v, OWN]
        pool = -1
        for child in range(rep[v, FIRST_CHILD], rep[v, FIRST_CHILD] + rep[v, CHILD_COUNT]):
            rep[v, WEIGHT] += rep[child, WEIGHT]
            if rep[child, POOL_COUNT] > 0:
                if pool < 0 or rep[child, KIND] != rep[pool, KIND]:
                    pool = child
                    rep[pool, POOL_COUNT] = 0
                rep[child, POOL_FIRST] = pool
                rep[pool, POOL_COUNT] += 1


@shared
def join_record(record: int, size: int, rep: Rows, buffers: ClassBuffers, arrays: AlignmentArrays) -> int:
    """Align a record with a representative of ``size`` records, and write the new one to ``buffers``.

    The members behind ``rep`` must be in ``buffers.members`` already. Return the number of vertices, 0 if the
    root does not fit.
    """
    settings, work, roots, rows, rules = arrays
    _, members, new, new_members, queue = buffers
    if rep[0, SLOT_COUNT] > 0:
        open_alignment(rules.caps, work.full)
        if not fits(0, roots[record], Sides(size, settings, work, rep, rows, rules)):
            return 0
    count: int = merge(record, size, ClassBuffers(rep, members, new, new_members, queue), arrays)
    copy_rows(new, count, buffers.rep)
    copy_members(new_members, size + 1, count, members)
    return count


@call_by_symbol
@lean
def build(
    records: Ordinals,
    first: int,
    end: int,
    skipped: int,
    size: int,
    count: int,
    buffers: ClassBuffers,
    arrays: AlignmentArrays,
) -> int:
    """Align the records from position ``first`` to ``end``, without the one ``skipped``, in ``buffers``.

    These have a class of ``size`` records already, on ``count`` vertices. The caps must be those of the size
    that the class will have. Return the number of vertices, 0 if a root does not fit.
    """
    for position in range(first, end):
        record = records[position]
        if record == skipped:
            continue
        if size == 0:
            count = plant(record, buffers, arrays)
        else:
            count = join_record(record, size, buffers.rep, buffers, arrays)
            if count == 0:
                return 0
        size += 1
    return count


@lean
def pair_losses_to(
    seed: int, others: Ordinals, out: Ordinals, buffers: ClassBuffers, arrays: AlignmentArrays
) -> None:
    """Write to ``out`` the loss of aligning each of the others with the seed; overwrites ``buffers``."""
    plant(seed, buffers, arrays)
    settings, work, roots, rows, rules = arrays
    sides = Sides(1, settings, work, buffers.rep, rows, rules)
    for i in range(len(others)):
        out[i] = align(0, 1, roots[others[i]], 1, True, sides)


@lean
def _sink(position: int, count: int, heap: Ordinals, bounds: Ordinals) -> None:
    """Restore the min-heap of bounds below a position; equal bounds are ordered by item."""
    item = heap[position]
    bound = bounds[item]
    while 2 * position + 1 < count:
        child = 2 * position + 1
        least = bounds[heap[child]]
        if child + 1 < count:
            right = bounds[heap[child + 1]]
            if right < least or (right == least and heap[child + 1] < heap[child]):
                child += 1
                least = right
        if bound < least or (bound == least and item < heap[child]):
            break
        heap[position] = heap[child]
        position = child
    heap[position] = item


@jit
def begin(
    seed: int,
    remaining: Ordinals,
    near: Ordinals,
    near_losses: Ordinals,
    histograms: Histograms,
    buffers: ClassBuffers,
    arrays: AlignmentArrays,
) -> tuple[int, int]:
    """Begin a class with ``seed`` and fill ``near`` with the nearest of ``remaining``, ties by their order.

    Records are aligned by rising bounds until no bound is below the losses found, which gives the result of
    a full scan. Return the number of near records and the number of pair losses evaluated.
    """
    settings, work, roots, rows, rules = arrays
    sides = Sides(1, settings, work, buffers.rep, rows, rules)
    bounds = np.empty(len(remaining), np.int64)
    bounds_to(histograms.counts[seed], histograms.totals[seed], remaining, histograms, bounds)
    heap = np.empty(len(remaining), np.int64)
    waiting = 0
    for item in range(len(remaining)):
        if remaining[item] != seed:
            heap[waiting] = item
            waiting += 1
    for i in range(waiting // 2 - 1, -1, -1):
        _sink(i, waiting, heap, bounds)
    plant(seed, buffers, arrays)
    window = len(near)
    items = np.empty(window, np.int64)
    count = 0
    evaluated = 0
    while waiting > 0:
        item = heap[0]
        if count == window:
            worst = near_losses[window - 1]
            if bounds[item] > worst or (bounds[item] == worst and item > items[window - 1]):
                break
        waiting -= 1
        heap[0] = heap[waiting]
        _sink(0, waiting, heap, bounds)
        loss = align(0, 1, roots[remaining[item]], 1, True, sides)
        evaluated += 1
        i = count
        while i > 0 and (near_losses[i - 1] > loss or (near_losses[i - 1] == loss and items[i - 1] > item)):
            if i < window:
                near_losses[i] = near_losses[i - 1]
                items[i] = items[i - 1]
            i -= 1
        if i < window:
            near_losses[i] = loss
            items[i] = item
            count = min(count + 1, window)
    for i in range(count):
        near[i] = remaining[items[i]]
    return count, evaluated


@lean
def take_out(used: Ordinals, taken: Taken, remaining: Ordinals) -> int:
    """Mark ``used`` as taken, move the other records to the front of ``remaining``, return their number."""
    for record in used:
        taken[record] = True
    count = 0
    for record in remaining:
        if not taken[record]:
            remaining[count] = record
            count += 1
    return count


@jit
def grow(
    count: int,
    have: int,
    until: int,
    picky: bool,
    near: Ordinals,
    near_bounds: Ordinals,
    near_count: int,
    joined: Ordinals,
    histograms: Histograms,
    buffers: ClassBuffers,
    arrays: AlignmentArrays,
) -> tuple[int, int, int]:
    """Let a class of ``have`` records and ``count`` vertices grow to ``until`` records.

    The class is in ``buffers``. A record that joins is removed from ``near`` and entered in ``joined``.
    ``near_bounds`` are lower bounds of the next pair losses; for a class of one they are the losses
    themselves. With ``picky`` a record joins only if its root fits. The caps are then not those of the
    histograms, so all of ``near`` are aligned. Return the number of vertices of the representative; the size
    at which its root had to be suppressed or no record fitted, 0 if never (all records that join are then
    lost with it); and the number of pair losses evaluated.
    """
    rep = buffers.rep
    settings, work, roots, rows, rules = arrays
    lost_at = 0
    evaluated = 0
    vector = np.empty(histograms.counts.shape[1], np.uint8)
    tried = np.empty(len(near), np.bool_)
    while have < until:
        sides = Sides(have, settings, work, rep, rows, rules)
        best = np.int64(INFINITY)
        best_at = -1
        fits = False
        if lost_at > 0 or picky:
            for i in range(near_count):
                near_bounds[i] = 0
        elif have > 1:
            total = histogram_of(rep, count, histograms, vector)
            bounds_to(vector, total, near[:near_count], histograms, near_bounds)
        for i in range(near_count):
            tried[i] = False
        for _ in range(near_count):
            following = -1
            for i in range(near_count):
                if not tried[i] and (following < 0 or near_bounds[i] < near_bounds[following]):
                    following = i
            i = following
            tried[i] = True
            if near_bounds[i] > best or (near_bounds[i] == best and i > best_at):
                break
            root = roots[near[i]]
            if lost_at > 0:
                loss = np.int64(settings.scale * rows[root, WEIGHT])
            else:
                loss = align(0, 1, root, 1, True, sides)
                evaluated += 1
            allowed = lost_at > 0 or not picky or work.mates[0, 0] == 0
            if allowed and (loss < best or (loss == best and i < best_at)):
                best = loss
                best_at = i
                fits = lost_at == 0 and work.mates[0, 0] == 0
        if lost_at == 0 and not fits:
            lost_at = have
            if picky:
                break
        record = near[best_at]
        joined[have] = record
        near_count -= 1
        for i in range(best_at, near_count):
            near[i] = near[i + 1]
        if lost_at == 0:
            count = join_record(record, have, rep, buffers, arrays)
        have += 1
    return count, lost_at, evaluated
