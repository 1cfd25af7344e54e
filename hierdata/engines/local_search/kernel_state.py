"""The classes that local search improves, as they stand: representatives, the rest behind each record, paths.

For each record of a class there is a **rest**, the alignment of the others in their order. A newcomer in the
place of the record costs one alignment with the rest. The paths of a tree are the taxonomy nodes that its
values pass, with their counts; what two trees have in common there bounds what their alignment can save
(``hierdata.engines.alignment.lower_bounds``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.kernels.anonytree import align
from hierdata.engines.alignment.kernels.arrays import (
    CHILD_COUNT,
    FIRST_CHILD,
    FIRST_NODE,
    QUASI_COUNT,
    SLOT_COUNT,
    Rules,
    Scratch,
    Settings,
)
from hierdata.engines.alignment.kernels.representative import (
    Ordinals,
    Rows,
    copy_members,
    copy_rows,
    merge,
    plant,
    weigh,
)
from hierdata.engines.jit import lean

NOBODY = -1


class Ground(NamedTuple):
    """What the search never changes: records as rows, the caps by class size, paths of records.

    ``passes[node]`` are the nodes on the path of a node, and ``worth[node]`` is what LM' gains from it to the
    one above, times the scale.
    """

    roots: Ordinals
    rows: Rows
    caps_of: NDArray[np.int64]
    worth: Ordinals
    passes: Ordinals
    paths: NDArray[np.int32]
    lengths: Ordinals


class Standing(NamedTuple):
    """The classes as they stand, and for each record the rest of its class.

    ``clock[0]`` counts the exchanges; ``changed[c]`` tells when class c was changed, ``seen[r]`` when record
    r was visited and ``seen_near[r]`` which classes were near it then: what has not changed since is not
    looked at again.
    """

    class_of: Ordinals
    sizes: Ordinals
    order: Ordinals
    saved: Ordinals
    rows: NDArray[np.int32]
    paths: NDArray[np.int32]
    lengths: Ordinals
    rest_saved: Ordinals
    rest_rows: NDArray[np.int32]
    rest_paths: NDArray[np.int32]
    rest_lengths: Ordinals
    changed: Ordinals
    seen: Ordinals
    seen_near: Ordinals
    clock: Ordinals


class Buffers(NamedTuple):
    """Working memory: two representatives that take turns, a queue, and counts of nodes, 0 between calls.

    ``prefix`` is a third representative, that of the first of some records while others are left out.
    ``near`` are the classes near a record; ``parties[at]`` are those who would join the at-th together with
    it, the first ``party_sizes[at]``, and ``party_gains[at]`` is what that saves.
    """

    rep: Rows
    behind: Ordinals
    new: Rows
    new_behind: Ordinals
    prefix: Rows
    prefix_behind: Ordinals
    queue: Ordinals
    passed: Ordinals
    passed_rest: Ordinals
    near: Ordinals
    near_gains: Ordinals
    fresh: NDArray[np.bool_]
    chosen: Ordinals
    records: Ordinals
    company: Ordinals
    company_commons: Ordinals
    parties: Ordinals
    party_sizes: Ordinals
    party_gains: Ordinals


@lean
def at_size(rules: Rules, caps_of: NDArray[np.int64], size: int) -> Rules:
    """The rules of a class of ``size`` records."""
    return Rules(rules.pair_row, rules.pair_losses, caps_of[size], rules.losses, rules.ancestors, rules.nests)


@lean
def saved_by(rep: Rows, count: int, scale: int, losses: Ordinals) -> np.int64:
    """The sum of 1 - LM' over the quasi-identifiers of a representative, times the scale."""
    saved = np.int64(0)
    for v in range(count):
        for node in range(FIRST_NODE, FIRST_NODE + rep[v, QUASI_COUNT]):
            saved += scale - losses[rep[v, node]] // 2
    return saved


@lean
def trace(
    rep: Rows, first: int, count: int, worth: Ordinals, passes: Ordinals, passed: Ordinals, paths: Rows
) -> int:
    """Write the nodes that the values of a tree pass, with their counts; answer how many nodes."""
    length = 0
    for v in range(first, first + count):
        for at in range(FIRST_NODE, FIRST_NODE + rep[v, QUASI_COUNT]):
            own = rep[v, at]
            for level in range(passes.shape[1]):
                node = passes[own, level]
                if node >= 0 and worth[node] > 0:
                    if passed[node] == 0:
                        paths[length, 0] = node
                        length += 1
                    passed[node] += 1
    for at in range(length):
        paths[at, 1] = passed[paths[at, 0]]
        passed[paths[at, 0]] = 0
    return length


@lean
def trace_all(ground: Ground, passed: Ordinals) -> None:
    """The paths of all records."""
    for record in range(len(ground.roots) - 1):
        first = ground.roots[record]
        ground.lengths[record] = trace(
            ground.rows, first, ground.roots[record + 1] - first, ground.worth, ground.passes, passed,
            ground.paths[record],
        )  # fmt: skip


@lean
def common_worth(paths: Rows, length: int, passed: Ordinals, worth: Ordinals) -> np.int64:
    """What two trees can save at most: the worth of all nodes that values of both pass."""
    most = np.int64(0)
    for at in range(length):
        node = paths[at, 0]
        most += worth[node] * min(np.int64(paths[at, 1]), passed[node])
    return most


@lean
def place_in(best: Ordinals, values: Ordinals, count: int, one: int, value: np.int64) -> int:
    """Put one among the ``best`` by its value, if there is room or it is above the least; answer how many.

    The highest come first, of equals the one that was there.
    """
    if count == len(best) and value <= values[count - 1]:
        return count
    place = min(count, len(best) - 1)
    while place > 0 and values[place - 1] < value:
        values[place] = values[place - 1]
        best[place] = best[place - 1]
        place -= 1
    values[place] = value
    best[place] = one
    return min(count + 1, len(best))


@lean
def read_class(
    first: int, last: int, size: int, first_slot: int, rep: Rows, behind: Ordinals, rows: Rows, kept: Ordinals
) -> int:
    """Number the rows of a class representative through that consists of some vertices of a record.

    ``kept[v]`` tells for each vertex of the record where it stands in ``rep``, which has its nodes already,
    or -1. Answers the number of vertices.
    """
    count = 1
    for v in range(first, last):
        i = kept[v - first]
        if i < 0:
            continue
        for column in range(FIRST_NODE):
            rep[i, column] = rows[v, column]
        if rows[v, QUASI_COUNT] == 0:
            rep[i, FIRST_NODE] = rows[v, FIRST_NODE]  # says that there is none
        rep[i, FIRST_CHILD] = count
        child = rows[v, FIRST_CHILD]
        for u in range(child, child + rows[v, CHILD_COUNT]):
            if kept[u - first] >= 0:
                count += 1
        rep[i, CHILD_COUNT] = count - rep[i, FIRST_CHILD]
        for slot in range(rows[v, SLOT_COUNT]):
            for member in range(size):
                rep[i, first_slot + slot * size + member] = rows[behind[member, i], first_slot + slot]
    weigh(rep, count)
    return count


@lean
def build(
    records: Ordinals,
    size: int,
    skipped: int,
    settings: Settings,
    work: Scratch,
    rules: Rules,
    ground: Ground,
    buffers: Buffers,
) -> int:
    """Align the records in their order, but the one skipped; answer the vertices, 0 if a root does not fit.

    The representative is left in ``buffers.rep``; ``rules`` are those of the size that the class will have.
    """
    return _extended(records, 0, size, skipped, 0, 0, settings, work, rules, ground, buffers)


@lean
def _extended(
    records: Ordinals,
    first: int,
    size: int,
    skipped: int,
    have: int,
    count: int,
    settings: Settings,
    work: Scratch,
    rules: Rules,
    ground: Ground,
    buffers: Buffers,
) -> int:
    """The same from the ``first`` on, after ``have`` records that are aligned in ``buffers.rep``."""
    roots, rows = ground.roots, ground.rows
    rep, behind, new, new_behind = buffers.rep, buffers.behind, buffers.new, buffers.new_behind
    for at in range(first, size):
        record = records[at]
        if record == skipped:
            continue
        root = roots[record]
        if have == 0:
            count = roots[record + 1] - root
            plant(root, count, settings.first_slot, rows, rep, behind)
        else:
            if rep[0, SLOT_COUNT] > 0:
                align(0, 1, root, 1, have, True, settings, work, rep, rows, rules)
                if work.mates[0, 0] < 0:
                    return 0
            count = merge(
                root, have, settings, work, buffers.queue, rep, behind, new, new_behind, rows, rules
            )
            copy_rows(new, count, rep)
            copy_members(new_behind, have + 1, count, behind)
        have += 1
    return count


@lean
def enter(
    own: int,
    rep: Rows,
    count: int,
    saved: int,
    newcomer: int,
    settings: Settings,
    work: Scratch,
    rules: Rules,
    ground: Ground,
    standing: Standing,
    buffers: Buffers,
) -> None:
    """Enter the representative of a class, and work out its rests anew, but that of a newcomer.

    The rest of a newcomer is that of the record whose place it takes.
    """
    size = standing.sizes[own]
    standing.changed[own] = standing.clock[0]
    standing.saved[own] = saved
    copy_rows(rep, count, standing.rows[own])
    standing.lengths[own] = trace(
        rep, 0, count, ground.worth, ground.passes, buffers.passed, standing.paths[own]
    )
    if size < 2:
        return
    fitting = at_size(rules, ground.caps_of, size)
    order = standing.order[own]
    before = 0  # vertices of those before the one that is left out, who are aligned once
    for at in range(size):
        record = order[at]
        if record != newcomer:
            _take_up(before, at, buffers.prefix, buffers.prefix_behind, buffers.rep, buffers.behind)
            vertices = _extended(
                order, at + 1, size, NOBODY, at, before, settings, work, fitting, ground, buffers
            )
            copy_rows(buffers.rep, vertices, standing.rest_rows[record])
            standing.rest_saved[record] = saved_by(buffers.rep, vertices, settings.scale, rules.losses)
            standing.rest_lengths[record] = trace(
                buffers.rep, 0, vertices, ground.worth, ground.passes, buffers.passed,
                standing.rest_paths[record],
            )  # fmt: skip
        if at + 1 < size:
            _take_up(before, at, buffers.prefix, buffers.prefix_behind, buffers.rep, buffers.behind)
            before = _extended(
                order, at, at + 1, NOBODY, at, before, settings, work, fitting, ground, buffers
            )
            _take_up(before, at + 1, buffers.rep, buffers.behind, buffers.prefix, buffers.prefix_behind)


@lean
def _take_up(vertices: int, size: int, rep: Rows, behind: Ordinals, to: Rows, to_behind: Ordinals) -> None:
    """Copy a representative of ``size`` records, and the vertices behind its own."""
    copy_rows(rep, vertices, to)
    copy_members(behind, size, vertices, to_behind)
