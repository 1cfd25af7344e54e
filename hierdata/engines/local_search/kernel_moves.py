"""Inner loops of local search over classes of trees: which exchange of records saves most.

A class of s records keeps ``s * saved``, where ``saved`` is what each member keeps by its representative: the
weights of the vertices minus the losses of their nodes, times the scale. The total loss is the weight of all
records times the scale, minus what all classes keep. So the gain of an exchange is the increase of what the
two classes keep. An exchange is aligned only if the bound by paths says that it may be the best.
"""

from __future__ import annotations

import numpy as np

from hierdata.engines.alignment.kernels.arrays import Rules, Scratch, Settings
from hierdata.engines.alignment.kernels.representative import Ordinals
from hierdata.engines.jit import lean, part
from hierdata.engines.local_search.kernel_gains import UNKNOWN, gain_of
from hierdata.engines.local_search.kernel_paths import clear_paths, common_worth, insert_best, mark_paths
from hierdata.engines.local_search.kernel_state import NOBODY, SearchBuffers, SearchInput, Standing

GAIN, TO, WHO, PROMISED, HERE, EXCHANGE = range(6)
"""Columns of an exchange: its gain; the other class; the record that comes from there (NOBODY for a move; the
record itself with its own class: it is aligned again, as the last member); and upper bounds of the gain by
paths, in total and in the record's own class."""


@part
def nearest_classes(
    record: int, largest: int, ground: SearchInput, standing: Standing, buffers: SearchBuffers
) -> int:
    """Fill ``buffers.near`` with the other classes that would gain most if the record joins, by paths.

    The paths of the record must be in ``buffers.passed``. Of equal classes the first comes first. Return how
    many there are.
    """
    near, gains = buffers.near, buffers.near_gains
    count = 0
    for other in range(len(standing.sizes)):
        size = standing.sizes[other]
        if other == standing.class_of[record] or size == 0 or size > largest:
            continue
        common = common_worth(standing.paths[other], standing.lengths[other], buffers.passed, ground.worth)
        gain = (size + 1) * common - size * standing.saved[other]
        count = insert_best(near, gains, count, other, gain)
    return count


@lean
def _note(chosen: Ordinals, count: int, promised: np.int64, here: np.int64, to: int, who: int) -> int:
    """Insert an exchange into the list by its promised gain, if that is positive; return the new length."""
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
def _compare(record: int, near_count: int, standing: Standing, buffers: SearchBuffers) -> bool:
    """Mark the near classes that are fresh: changed since the record's last visit, or not near it then.

    All are fresh if the record's own class has changed, or at the first visit; return whether that is so. The
    visit is recorded.
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
def _find_promising(
    record: int,
    near_count: int,
    least: int,
    largest: int,
    ground: SearchInput,
    standing: Standing,
    buffers: SearchBuffers,
) -> int:
    """Fill ``buffers.chosen`` with the exchanges that promise a gain by paths; return how many there are.

    Exchanges that were weighed before, between classes that have not changed since, are left out.
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
        mark_paths(standing.rest_paths[record], standing.rest_lengths[record], passed_rest)
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
        clear_paths(standing.rest_paths[record], standing.rest_lengths[record], passed_rest)
    return count


@lean
def seek(
    visits: Ordinals,
    start: int,
    least: int,
    largest: int,
    settings: Settings,
    work: Scratch,
    rules: Rules,
    ground: SearchInput,
    standing: Standing,
    buffers: SearchBuffers,
    found: Ordinals,
    tally: Ordinals,
) -> tuple[int, int]:
    """Visit records from ``start`` on, until one has exchanges with a gain, or is suppressed.

    ``found`` receives its best exchanges, by gain; of equal gains the one that promised more comes first,
    then the first one. ``tally[0]`` counts the exchanges that were aligned. Return the position of the record
    in ``visits``, and the number of exchanges found.
    """
    wanted = len(found)
    for at in range(start, len(visits)):
        record = visits[at]
        own = standing.class_of[record]
        if own >= 0 and (standing.sizes[own] < 2 or standing.sizes[own] > largest):
            continue
        mark_paths(ground.paths[record], ground.lengths[record], buffers.passed)
        near_count = nearest_classes(record, largest, ground, standing, buffers)
        chosen = _find_promising(record, near_count, least, largest, ground, standing, buffers)
        clear_paths(ground.paths[record], ground.lengths[record], buffers.passed)
        buffers.left[0] = UNKNOWN
        count = 0
        for which in range(chosen):
            exchange = buffers.chosen[which]
            bar = found[wanted - 1, GAIN] if count == wanted else np.int64(0)
            if exchange[PROMISED] <= bar and exchange[WHO] != NOBODY:
                continue
            gain = gain_of(
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
