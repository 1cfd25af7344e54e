"""Inner loops of greedy k-member clustering of trees: which records may join a class, which one does."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.kernels.anonytree import align
from hierdata.engines.alignment.kernels.arrays import WEIGHT, AlignmentArrays, Sides
from hierdata.engines.alignment.kernels.lower_bounds import (
    CappedValues,
    Histograms,
    bounds_to,
    bounds_to_all,
    find_room,
    histogram_of,
    loss_by_room,
)
from hierdata.engines.alignment.kernels.representative import (
    ClassBuffers,
    Ordinals,
    copy_members,
    copy_rows,
    merge,
    plant,
    representative_saving,
)
from hierdata.engines.alignment.kernels.vertices import hold, open_alignment
from hierdata.engines.jit import branching, call_by_symbol
from hierdata.engines.rows.kernel import insert_nearest


@branching
def nearest(bounds: Ordinals, others: Ordinals, seed: int, near: Ordinals) -> int:
    """Fill ``near`` with the others of least ``bounds[record]``, without the seed; return their number.

    Equal bounds stay in the order of ``others``.
    """
    window = len(near)
    least = np.empty(window, np.int64)
    count = 0
    for other in others:
        if other != seed and (count < window or bounds[other] < least[window - 1]):
            count = insert_nearest(other, bounds[other], 0, count, near, least)
    return count


@call_by_symbol
@branching
def window_of(bounds: Ordinals, others: Ordinals, seed: int, near: Ordinals, values: CappedValues) -> int:
    """Fill ``near`` as ``nearest`` does, but to a third with records that relieve the seed, if there are any.

    A record relieves the seed if each group that has more than its share in the seed has less in the record.
    If they are less than a third of the nearest, the nearest of them take the places of the last others.
    Return the number of records.
    """
    count = nearest(bounds, others, seed, near)
    over = values.over[seed]
    wanted = len(near) // 3
    for i in range(count):
        wanted -= values.under[near[i]] & over == over
    if over == 0 or wanted <= 0 or count < len(near):
        return count
    relieving = np.empty(len(others), np.int64)
    rest = np.empty(len(others), np.int64)
    some = 0
    for i in range(len(others)):
        if values.under[others[i]] & over == over:
            relieving[some] = others[i]
            some += 1
        else:
            rest[i - some] = others[i]
    first = np.empty(len(near) // 3, np.int64)
    relieving_count = nearest(bounds, relieving[:some], seed, first)
    second = np.empty(len(near) - relieving_count, np.int64)
    rest_count = nearest(bounds, rest[: len(others) - some], seed, second)
    a = b = 0
    for i in range(relieving_count + rest_count):
        from_first = b == rest_count or (
            a < relieving_count and (bounds[first[a]], first[a]) < (bounds[second[b]], second[b])
        )
        if from_first:
            near[i] = first[a]
            a += 1
        else:
            near[i] = second[b]
            b += 1
    return relieving_count + rest_count


_HIGHEST = 2**62


class Proposals(NamedTuple):
    """The class that each record proposes, and the candidates for it."""

    saved: Ordinals  # [record]: value that each member of the class keeps, times the scale; -1 for no class
    sizes: Ordinals  # [record]: size of the class
    members: Ordinals  # [record, position]: the first ``sizes[record]`` are the members as they joined
    windows: Ordinals  # [record, position]: the first ``window_sizes[record]`` are the candidates
    window_sizes: Ordinals  # [record]
    closed: NDArray[np.bool_]  # [record]: all models have been asked about the class


@call_by_symbol
@branching
def grow(
    count: int,
    have: int,
    until: int,
    dropped: int,
    aligned: int,
    near: Ordinals,
    most: Ordinals,
    joined: Ordinals,
    histograms: Histograms,
    values: CappedValues,
    buffers: ClassBuffers,
    arrays: AlignmentArrays,
) -> tuple[int, int, int]:
    """Add the records that raise the total loss of the class in ``buffers`` least, until it has ``until``.

    ``most[at]`` is an upper bound of the value that a member keeps if ``near[at]`` joins, -1 if that record
    cannot join; it is tightened here, also by the room that caps leave (``find_room``).
    Records are aligned by rising bounds, until none can win or ``aligned`` of them fit.
    Of equal losses the first of ``near`` joins. Losses are compared without their lowest ``dropped`` bits.
    Return the number of vertices of the representative, the number of records, which is smaller than
    ``until`` if no record fits, and the number of alignments.
    """
    settings, work, roots, rows, rules = arrays
    scale = settings.scale
    first = have
    evaluated = 0
    vector = np.empty(len(histograms.weights), np.uint8)
    bounds = np.empty(len(near), np.int64)
    rises = np.empty(len(near), np.int64)
    while have < until:
        rep = buffers.rep
        sides = Sides(have, settings, work, rep, rows, rules)
        weight = np.int64(rep[0, WEIGHT])
        if have > 1:  # for a class of one the caller has closer bounds
            bounds_to(vector, histogram_of(rep, count, histograms, vector), near, histograms, bounds)
            for i in range(len(near)):
                both = scale * (weight + rows[roots[near[i]], WEIGHT])
                most[i] = min(most[i], (both - bounds[i]) // 2)
        open_alignment(rules.caps, work.full)
        hold(work.full, True)  # until a record joins
        if find_room(count, sides, values):
            for i in range(len(near)):
                if most[i] >= 0:
                    both = scale * (weight + rows[roots[near[i]], WEIGHT])
                    most[i] = min(most[i], (both - loss_by_room(near[i], scale, values)) // 2)
        for i in range(len(near)):
            added = scale * np.int64(rows[roots[near[i]], WEIGHT])
            rises[i] = (added >> dropped) - (have + 1) * (most[i] >> dropped) if most[i] >= 0 else _HIGHEST
        best = np.int64(_HIGHEST)
        best_at = -1
        fitting = 0
        while fitting < aligned and len(near) > 0:
            i = int(np.argmin(rises))  # the first of equal ones
            if rises[i] > best or rises[i] == _HIGHEST:
                break
            root = roots[near[i]]
            added = scale * np.int64(rows[root, WEIGHT])
            loss = align(0, 1, root, 1, True, sides)
            evaluated += 1
            rises[i] = _HIGHEST
            if work.mates[0, 0] != 0:
                most[i] = -1
                continue
            fitting += 1
            most[i] = (scale * weight + added - loss) // 2
            rise = (added >> dropped) - (have + 1) * (most[i] >> dropped)
            if rise < best or (rise == best and i < best_at):
                best = rise
                best_at = i
        hold(work.full, False)
        if best_at < 0:
            break
        most[best_at] = -1
        joined[have] = near[best_at]
        count = merge(near[best_at], have, buffers, arrays)
        rep, members, new, new_members, queue = buffers
        buffers = ClassBuffers(new, new_members, rep, members, queue)
        have += 1
    if (have - first) % 2:
        copy_rows(buffers.rep, count, buffers.new)
        copy_members(buffers.members, have, count, buffers.new_members)
    return count, have, evaluated


@branching
def first_class(
    fresh: Ordinals,
    size: int,
    dropped: int,
    aligned: int,
    there: NDArray[np.bool_],
    proposals: Proposals,
    histograms: Histograms,
    by_column: NDArray[np.uint8],
    values: CappedValues,
    buffers: ClassBuffers,
    arrays: AlignmentArrays,
) -> tuple[int, int]:
    """Return the record whose proposed class keeps most, -1 if there is none, and the number of alignments.

    First each of the ``fresh`` records proposes the class of ``size`` that grows around it among the records
    that are ``there``; ``aligned`` is passed on to ``grow``. A class that has lost a member is proposed again
    when it comes first. Of equal classes the first record is taken. The window of a record is what is left of
    its last one, or a new one (``window_of``) if less than half of it is left. ``by_column`` has
    the histograms' counts by column.
    """
    saved, sizes, members, windows, window_sizes, closed = proposals
    counts, totals = histograms.counts, histograms.totals
    roots, rows, scale = arrays.roots, arrays.rows, arrays.settings.scale
    losses = np.empty(len(there), np.int64)
    evaluated = 0
    proposed = 0
    while True:
        if proposed < len(fresh):
            seed = fresh[proposed]
            proposed += 1
        else:
            seed = np.int64(np.argmax(saved))
            if saved[seed] < 0:
                return -1, evaluated
            complete = True
            for i in range(sizes[seed]):
                complete = complete and there[members[seed, i]]
            if complete:
                return int(seed), evaluated
        count = 0
        for i in range(window_sizes[seed]):
            if there[windows[seed, i]]:
                windows[seed, count] = windows[seed, i]
                count += 1
        if 2 * count < windows.shape[1]:
            bounds_to_all(counts[seed], totals[seed], by_column, histograms, losses)
            count = window_of(losses, np.flatnonzero(there), seed, windows[seed], values)
        window_sizes[seed] = count
        near = windows[seed, :count]
        most = np.empty(count, np.int64)
        bounds_to(counts[seed], totals[seed], near, histograms, most)
        for i in range(count):
            both = scale * np.int64(rows[roots[seed], WEIGHT] + rows[roots[near[i]], WEIGHT])
            most[i] = (both - most[i]) // 2
        members[seed, 0] = seed
        vertices, have, looked = grow(
            plant(seed, buffers, arrays), 1, size, dropped, aligned, near, most, members[seed], histograms,
            values, buffers, arrays,
        )  # fmt: skip
        evaluated += looked
        saved[seed] = -1
        if have == size:
            saved[seed] = representative_saving(buffers.rep, vertices, scale, arrays.rules.losses)
        sizes[seed] = have
        closed[seed] = False
