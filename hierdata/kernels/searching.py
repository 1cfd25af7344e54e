"""The inner loops of local search over classes of trees: which exchange of records saves most.

A class of s records keeps ``s * saved``: ``saved`` is the sum over the quasi-identifiers of its
representative of 1 - LM', times the scale. What is lost is the weight of all records times the scale, less
what all classes keep; so the gain of an exchange is what the two classes keep more.

For each record of a class there is a **rest**, the alignment of the others in their order. A newcomer in the
place of the record costs one alignment with the rest. The paths of a tree are the taxonomy nodes that its
values pass, with their counts; what two trees have in common there bounds what their alignment can save
(``hierdata.histograms``), and an exchange is aligned only if that bound says it may win.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.kernels.anonytree import align
from hierdata.kernels.arrays import (
    BELOW,
    CHILD_COUNT,
    FIRST_CHILD,
    FIRST_NODE,
    QUASI_COUNT,
    SLOT_COUNT,
    WEIGHT,
    Rules,
    Scratch,
    Settings,
)
from hierdata.kernels.growth import Ordinals, Rows, copy, merge, plant
from hierdata.kernels.jit import lean

NOBODY = -1

GAIN, TO, WHO, PROMISED, HERE, EXCHANGE = range(6)
"""Columns of an exchange: what it saves, the other class, the record that comes from there (or NOBODY; the
record itself in its own class is aligned anew, as the last), and what the paths promised: in all, and in the
record's own class."""


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
    for v in range(count - 1, -1, -1):
        rep[v, BELOW] = 0
        for child in range(rep[v, FIRST_CHILD], rep[v, FIRST_CHILD] + rep[v, CHILD_COUNT]):
            rep[v, BELOW] += rep[child, WEIGHT]
        rep[v, WEIGHT] = rep[v, BELOW] + rep[v, QUASI_COUNT]
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
            copy(new, count, new.shape[1], rep)
            copy(new_behind, have + 1, count, behind)
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
    copy(rep, count, rep.shape[1], standing.rows[own])
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
            copy(buffers.rep, vertices, buffers.rep.shape[1], standing.rest_rows[record])
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
    copy(rep, vertices, rep.shape[1], to)
    copy(behind, size, vertices, to_behind)


@lean
def _joined(
    rep: Rows, size: int, record: int, settings: Settings, work: Scratch, rules: Rules, ground: Ground
) -> np.int64:
    """What a representative of ``size`` members saves with a record aligned last; -1 if it does not fit."""
    root = ground.roots[record]
    loss = align(0, 1, root, 1, size, True, settings, work, rep, ground.rows, rules)
    if work.mates[0, 0] < 0:
        return np.int64(-1)
    return (settings.scale * np.int64(rep[0, WEIGHT] + ground.rows[root, WEIGHT]) - loss) // 2


@lean
def nearest_classes(record: int, largest: int, ground: Ground, standing: Standing, buffers: Buffers) -> int:
    """Fill ``buffers.near`` with the classes, not the record's own, that would lose least by taking it in.

    What they would lose is bounded by paths; of equals the first. Answers how many there are.
    """
    near, gains = buffers.near, buffers.near_gains
    count = 0
    for other in range(len(standing.sizes)):
        size = standing.sizes[other]
        if other == standing.class_of[record] or size == 0 or size > largest:
            continue
        common = common_worth(standing.paths[other], standing.lengths[other], buffers.passed, ground.worth)
        gain = (size + 1) * common - size * standing.saved[other]
        if count == len(near) and gain <= gains[count - 1]:
            continue
        place = min(count, len(near) - 1)
        while place > 0 and gains[place - 1] < gain:
            gains[place] = gains[place - 1]
            near[place] = near[place - 1]
            place -= 1
        gains[place] = gain
        near[place] = other
        count = min(count + 1, len(near))
    return count


@lean
def _note(chosen: Ordinals, count: int, promised: np.int64, here: np.int64, to: int, who: int) -> int:
    """Put an exchange in its place by what it promises, if it promises anything; answer how many."""
    if promised <= 0:
        return count
    place = count
    while place > 0 and chosen[place - 1, PROMISED] < promised:
        for column in range(EXCHANGE):
            chosen[place, column] = chosen[place - 1, column]
        place -= 1
    chosen[place, PROMISED] = promised
    chosen[place, HERE] = here
    chosen[place, TO] = to
    chosen[place, WHO] = who
    return count + 1


@lean
def _compare(record: int, near_count: int, standing: Standing, buffers: Buffers) -> bool:
    """Tell which near classes are fresh: not near when the record was last visited, or changed since.

    All are where the record's own class has changed, which is what is answered. Notes the visit.
    """
    seen = standing.seen[record]
    own = standing.class_of[record]
    is_new: bool = seen < 0 or (own >= 0 and standing.changed[own] > seen)
    before = standing.seen_near[record]
    for at in range(near_count):
        buffers.fresh[at] = is_new or standing.changed[buffers.near[at]] > seen
        if not buffers.fresh[at]:
            known = False
            for place in range(len(before)):
                known = known or before[place] == buffers.near[at]
            buffers.fresh[at] = not known
    for at in range(len(before)):
        before[at] = buffers.near[at] if at < near_count else NOBODY
    standing.seen[record] = standing.clock[0]
    return is_new


@lean
def _promising(
    record: int,
    near_count: int,
    least: int,
    largest: int,
    ground: Ground,
    standing: Standing,
    buffers: Buffers,
) -> int:
    """Fill ``buffers.chosen`` with the exchanges that promise to save, by paths; answer how many.

    Those that were looked at before, in classes that have not changed since, are left out.
    """
    worth, chosen = ground.worth, buffers.chosen
    passed, passed_rest = buffers.passed, buffers.passed_rest
    own = standing.class_of[record]
    size = kept = here = np.int64(0)
    count = 0
    is_new = _compare(record, near_count, standing, buffers)
    if own >= 0:
        size = standing.sizes[own]
        kept = size * standing.saved[own]
        for at in range(standing.rest_lengths[record]):
            passed_rest[standing.rest_paths[record, at, 0]] = standing.rest_paths[record, at, 1]
        again = size * common_worth(ground.paths[record], ground.lengths[record], passed_rest, worth)
        if is_new:
            count = _note(chosen, count, again - kept, again - kept, own, record)
    for at in range(near_count):
        other = buffers.near[at]
        if not buffers.fresh[at]:
            continue
        there = standing.sizes[other]
        if (own < 0 or size > least) and there < largest:
            here = (size - 1) * standing.rest_saved[record] - kept if own >= 0 else np.int64(0)
            count = _note(chosen, count, here + buffers.near_gains[at], here, other, NOBODY)
        for member in range(there if there > 1 else 0):
            who = standing.order[other, member]
            here = np.int64(0)
            if own >= 0:
                here = size * common_worth(ground.paths[who], ground.lengths[who], passed_rest, worth) - kept
            common = common_worth(standing.rest_paths[who], standing.rest_lengths[who], passed, worth)
            promised = there * (common - standing.saved[other]) + here
            count = _note(chosen, count, promised, here, other, who)
    if own >= 0:
        for at in range(standing.rest_lengths[record]):
            passed_rest[standing.rest_paths[record, at, 0]] = 0
    return count


@lean
def _moved(
    record: int,
    own: int,
    to: int,
    settings: Settings,
    work: Scratch,
    rules: Rules,
    ground: Ground,
    standing: Standing,
    buffers: Buffers,
) -> np.int64:
    """What a move saves once both classes are aligned anew; 0 if a root does not fit.

    That is worked out only if it saves something with the record aligned to its new class as that stands.
    """
    scale, losses = settings.scale, rules.losses
    size = standing.sizes[to]
    larger = at_size(rules, ground.caps_of, size + 1)
    joined = _joined(standing.rows[to], size, record, settings, work, larger, ground)
    left = np.int64(0)
    if own >= 0 and joined >= 0:
        stay = standing.sizes[own]
        smaller = at_size(rules, ground.caps_of, stay - 1)
        vertices = build(standing.order[own], stay, record, settings, work, smaller, ground, buffers)
        if vertices == 0:
            return np.int64(0)
        left = (stay - 1) * saved_by(buffers.rep, vertices, scale, losses) - stay * standing.saved[own]
    here = size * standing.saved[to] - left
    if joined < 0 or (size + 1) * joined <= here:
        return np.int64(0)
    for at in range(size):
        buffers.records[at] = standing.order[to, at]
    buffers.records[size] = record
    vertices = build(buffers.records, size + 1, NOBODY, settings, work, larger, ground, buffers)
    return (size + 1) * saved_by(buffers.rep, vertices, scale, losses) - here if vertices else np.int64(0)


@lean
def _gain(
    record: int,
    to: int,
    who: int,
    promised: np.int64,
    bar: np.int64,
    settings: Settings,
    work: Scratch,
    rules: Rules,
    ground: Ground,
    standing: Standing,
    buffers: Buffers,
) -> np.int64:
    """What an exchange saves, aligned; 0 if a root does not fit or it saves no more than ``bar``.

    ``promised`` is what it saves at most in the record's own class.
    """
    own = standing.class_of[record]
    if who == NOBODY:
        return _moved(record, own, to, settings, work, rules, ground, standing, buffers)
    size = standing.sizes[to]
    fitting = at_size(rules, ground.caps_of, size)
    joined = _joined(standing.rest_rows[who], size - 1, record, settings, work, fitting, ground)
    if joined < 0:
        return np.int64(0)
    gain: np.int64 = size * (joined - standing.saved[to])
    if own < 0 or own == to:
        return gain
    if gain + promised <= bar:
        return np.int64(0)
    size = standing.sizes[own]
    fitting = at_size(rules, ground.caps_of, size)
    joined = _joined(standing.rest_rows[record], size - 1, who, settings, work, fitting, ground)
    return gain + size * (joined - standing.saved[own]) if joined >= 0 else np.int64(0)


@lean
def seek(
    visits: Ordinals,
    start: int,
    least: int,
    largest: int,
    settings: Settings,
    work: Scratch,
    rules: Rules,
    ground: Ground,
    standing: Standing,
    buffers: Buffers,
    found: Ordinals,
    tally: Ordinals,
) -> tuple[int, int]:
    """Visit records until one has exchanges that save, or has no class; answer where it stands.

    And how many exchanges are ``found``: in there is room for the best, that which saves most first; of
    equals the one that promised more, then the first. ``tally[0]`` counts the exchanges that were aligned.
    """
    wanted = len(found)
    for at in range(start, len(visits)):
        record = visits[at]
        own = standing.class_of[record]
        if own >= 0 and (standing.sizes[own] < 2 or standing.sizes[own] > largest):
            continue
        for place in range(ground.lengths[record]):
            buffers.passed[ground.paths[record, place, 0]] = ground.paths[record, place, 1]
        near_count = nearest_classes(record, largest, ground, standing, buffers)
        chosen = _promising(record, near_count, least, largest, ground, standing, buffers)
        for place in range(ground.lengths[record]):
            buffers.passed[ground.paths[record, place, 0]] = 0
        count = 0
        for which in range(chosen):
            exchange = buffers.chosen[which]
            bar = found[wanted - 1, GAIN] if count == wanted else np.int64(0)
            if exchange[PROMISED] <= bar and exchange[WHO] != NOBODY:
                continue
            gain = _gain(
                record, exchange[TO], exchange[WHO], exchange[HERE], bar,
                settings, work, rules, ground, standing, buffers,
            )  # fmt: skip
            tally[0] += 1
            if gain <= bar:
                continue
            place = min(count, wanted - 1)
            while place > 0 and found[place - 1, GAIN] < gain:
                for column in range(EXCHANGE):
                    found[place, column] = found[place - 1, column]
                place -= 1
            for column in range(EXCHANGE):
                found[place, column] = exchange[column]
            found[place, GAIN] = gain
            count = min(count + 1, wanted)
        if count > 0 or own < 0:
            return at, count
    return len(visits), 0
