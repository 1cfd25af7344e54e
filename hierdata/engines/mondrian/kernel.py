"""The inner loops of recursive cutting: the cuts of a region by their loss, and the work list of regions.

A region is a run of rows, ``order[start:end]``. ``places[at]`` holds, for the row at that place of the run,
the place of its node in each hierarchy's depth-first order: rows are moved with the run, so a region is read
straight through. In that order the join of a set of nodes is the join of its first and its last, so a side
of a cut is known by the least and the greatest place of every hierarchy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hierdata.engines.jit import jit
from hierdata.engines.rows.kernel import Caps, Numbers, Places, keeps_caps, loss_between
from hierdata.engines.rows.order import RowLine

LEFT, RIGHT, BOTH = 1, 2, 3
"""Which sides of a cut hold, as bits."""
START, MIDDLE, END, PASSING, WHOLE, TOP, CLOSED, OPEN, COUNT, TRIED, KEPT, STATE = range(12)
"""What is known of the work: the region that is open, where it is cut for a trial, and whether it holds as a
``whole``; entries on the stack of regions to do; regions closed for good; whether one is open; how many cuts
it has, how many were tried, the first of them that leaves one side holding; and which sides pass the caps."""
LOSS, SMALLER, ATTRIBUTE, FROM, TO, CUT = range(6)
"""Columns of a cut: the loss after it, the size of its smaller side, and where it is: rows whose place in the
attribute lies between the two go left."""
LOW, HIGH, LOW_BEFORE, HIGH_BEFORE, LOW_BEHIND, HIGH_BEHIND, SPANS = range(7)
"""What is known of a bucket: the least and the greatest place of every attribute in it, in the buckets before
it, and in it with those behind."""
SIZE, PLACE = range(2)
"""And how many rows it holds, at which place of the attribute that is looked at."""


class CutBuffers(NamedTuple):
    """Working memory for the cuts of a region."""

    spans: Places  # [SPANS, bucket, attribute]
    buckets: Numbers  # [SIZE and PLACE, bucket]
    ranks: Places  # [place in the run]: the row's bucket
    cuts: Numbers  # [cut, CUT]
    spare: Numbers  # [row]: rows that go right
    spare_places: Places  # [row, attribute]: their places


@jit
def _fill_buckets(
    start: int,
    end: int,
    attribute: int,
    low: Places,
    high: Places,
    places: Places,
    buffers: CutBuffers,
) -> int:
    """Put the rows into buckets, one for each place that occurs at the attribute; answer how many."""
    spans, buckets, ranks = buffers.spans, buffers.buckets, buffers.ranks
    base: int = low[attribute]
    width = places.shape[1]
    count: int = high[attribute] - base + 1
    dense = count <= 4 * (end - start)
    occurring = np.empty(0, np.int32)
    if dense:
        for at in range(start, end):
            ranks[at] = places[at, attribute] - base
    else:
        occurring = np.unique(places[start:end, attribute])
        count = len(occurring)
        for at in range(start, end):
            ranks[at] = np.searchsorted(occurring, places[at, attribute])
    for bucket in range(count):
        buckets[SIZE, bucket] = 0
        for b in range(width):
            spans[LOW, bucket, b] = high[b]
            spans[HIGH, bucket, b] = low[b]
    for at in range(start, end):
        own = ranks[at]
        buckets[SIZE, own] += 1
        for b in range(width):
            spans[LOW, own, b] = min(spans[LOW, own, b], places[at, b])
            spans[HIGH, own, b] = max(spans[HIGH, own, b], places[at, b])
    filled = 0
    for bucket in range(count):
        if buckets[SIZE, bucket] > 0:
            buckets[PLACE, filled] = base + bucket if dense else occurring[bucket]
            buckets[SIZE, filled] = buckets[SIZE, bucket]
            for b in range(width):
                spans[LOW, filled, b] = spans[LOW, bucket, b]
                spans[HIGH, filled, b] = spans[HIGH, bucket, b]
            filled += 1
    return filled


@jit
def _accumulate(filled: int, low: Places, high: Places, spans: Places) -> None:
    """The spans of what lies before each bucket, and of what lies behind."""
    width = spans.shape[2]
    for b in range(width):
        spans[LOW_BEFORE, 0, b] = spans[LOW_BEHIND, filled, b] = high[b]
        spans[HIGH_BEFORE, 0, b] = spans[HIGH_BEHIND, filled, b] = low[b]
    for at in range(filled):
        back = filled - 1 - at
        for b in range(width):
            spans[LOW_BEFORE, at + 1, b] = min(spans[LOW_BEFORE, at, b], spans[LOW, at, b])
            spans[HIGH_BEFORE, at + 1, b] = max(spans[HIGH_BEFORE, at, b], spans[HIGH, at, b])
            spans[LOW_BEHIND, back, b] = min(spans[LOW_BEHIND, back + 1, b], spans[LOW, back, b])
            spans[HIGH_BEHIND, back, b] = max(spans[HIGH_BEHIND, back + 1, b], spans[HIGH, back, b])


@jit
def _enter(
    count: int,
    begin: int,
    stop: int,
    rows: int,
    inside: int,
    attribute: int,
    inner_low: Places,
    inner_high: Places,
    line: RowLine,
    buffers: CutBuffers,
) -> None:
    """Enter the cut that takes out the buckets from ``begin`` to before ``stop``."""
    _, first, above, losses = line
    spans, buckets, cuts = buffers.spans, buffers.buckets, buffers.cuts
    inner = np.int64(0)
    outer = np.int64(0)
    for b in range(len(inner_low)):
        inner += loss_between(first[b] + inner_low[b], first[b] + inner_high[b], above, losses)
        outer_low = min(spans[LOW_BEFORE, begin, b], spans[LOW_BEHIND, stop, b])
        outer_high = max(spans[HIGH_BEFORE, begin, b], spans[HIGH_BEHIND, stop, b])
        outer += loss_between(first[b] + outer_low, first[b] + outer_high, above, losses)
    cuts[count, LOSS] = inside * inner + (rows - inside) * outer
    cuts[count, SMALLER] = min(inside, rows - inside)
    cuts[count, ATTRIBUTE] = attribute
    cuts[count, FROM] = buckets[PLACE, begin]
    cuts[count, TO] = buckets[PLACE, stop - 1]


@jit
def _list_cuts(start: int, end: int, least: int, line: RowLine, buffers: CutBuffers) -> int:
    """Write the cuts that leave ``least`` rows on both sides to ``buffers.cuts`` and return their number.

    A cut takes out either the first buckets of an attribute, or all below one node of its hierarchy.
    """
    places, first, above, _ = line
    spans, buckets = buffers.spans, buffers.buckets
    count = 0
    rows = end - start
    width = places.shape[1]
    if rows < 2 * least:
        return 0
    low = places[start].copy()
    high = places[start].copy()
    for at in range(start + 1, end):
        for b in range(width):
            low[b] = min(low[b], places[at, b])
            high[b] = max(high[b], places[at, b])
    inner_low = np.empty(width, np.int32)
    inner_high = np.empty(width, np.int32)
    for a in range(width):
        if low[a] == high[a]:
            continue
        filled = _fill_buckets(start, end, a, low, high, places, buffers)
        _accumulate(filled, low, high, spans)
        inside = np.int64(0)
        for bucket in range(filled - 1):
            inside += buckets[SIZE, bucket]
            if inside < least:
                continue
            if rows - inside < least:
                break
            _enter(
                count, 0, bucket + 1, rows, inside, a, spans[LOW_BEFORE, bucket + 1],
                spans[HIGH_BEFORE, bucket + 1], line, buffers,
            )  # fmt: skip
            count += 1
        for level in range(1, above.shape[1]):
            begin = 0
            while begin < filled:
                node = above[first[a] + buckets[PLACE, begin], level]
                inside = buckets[SIZE, begin]
                stop = begin + 1
                while stop < filled and node >= 0 and above[first[a] + buckets[PLACE, stop], level] == node:
                    inside += buckets[SIZE, stop]
                    stop += 1
                if node >= 0 and begin > 0 and stop < filled and inside >= least and rows - inside >= least:
                    for b in range(width):
                        inner_low[b] = spans[LOW, begin, b]
                        inner_high[b] = spans[HIGH, begin, b]
                        for bucket in range(begin + 1, stop):
                            inner_low[b] = min(inner_low[b], spans[LOW, bucket, b])
                            inner_high[b] = max(inner_high[b], spans[HIGH, bucket, b])
                    _enter(
                        count, begin, stop, rows, inside, a, inner_low, inner_high, line, buffers
                    )  # fmt: skip
                    count += 1
                begin = stop
    return count


@jit
def _next_cut(tried: int, count: int, cuts: Numbers) -> None:
    """Move the best cut that was not tried behind those that were.

    Best is the least loss, then the most even cut, then the first attribute and threshold.
    """
    best = tried
    for at in range(tried + 1, count):
        for column in range(CUT):
            mine = cuts[at, column]
            other = cuts[best, column]
            if mine != other:
                if (mine > other) == (column == SMALLER):
                    best = at
                break
    for column in range(CUT):
        kept = cuts[best, column]
        cuts[best, column] = cuts[tried, column]
        cuts[tried, column] = kept


@jit
def _split(
    start: int,
    end: int,
    attribute: int,
    lowest: int,
    highest: int,
    order: Numbers,
    places: Places,
    spare: Numbers,
    spare_places: Places,
) -> int:
    """Move the rows up to the threshold before the others, each in their order; answer where those begin."""
    middle = start
    moved = 0
    for at in range(start, end):
        if lowest <= places[at, attribute] <= highest:
            order[middle] = order[at]
            places[middle] = places[at]
            middle += 1
        else:
            spare[moved] = order[at]
            spare_places[moved] = places[at]
            moved += 1
    order[middle:end] = spare[:moved]
    places[middle:end] = spare_places[:moved]
    return middle


@jit
def advance(
    verdict: int,
    asking: bool,
    least: int,
    tries: int,
    state: Numbers,
    stack: Numbers,
    closed: Numbers,
    order: Numbers,
    line: RowLine,
    caps: Caps,
    buffers: CutBuffers,
) -> bool:
    """Go on cutting until somebody must be asked (True) or nothing is left to do (False).

    When asked, the region is split for a trial at ``state[MIDDLE]``; the sides in ``state[PASSING]`` keep the
    caps, and the next call brings the ``verdict``: which of them hold. Without ``asking`` the caps decide
    (and the first call's verdict counts for nothing). ``stack`` and ``closed`` hold regions: start, end,
    whether the region holds.
    """
    places, cuts = line.places, buffers.cuts
    spare, spare_places = buffers.spare, buffers.spare_places
    answered = state[OPEN] == 1
    while True:
        if state[OPEN] == 0:
            if state[TOP] == 0:
                return False
            state[TOP] -= 1
            state[START] = stack[state[TOP], 0]
            state[END] = stack[state[TOP], 1]
            state[WHOLE] = stack[state[TOP], 2]
            state[COUNT] = _list_cuts(state[START], state[END], least, line, buffers)
            state[TRIED] = 0
            state[KEPT] = -1
            state[OPEN] = 1
        start = state[START]
        end = state[END]
        sides = 0
        middle = 0
        while sides != BOTH and (answered or state[TRIED] < min(state[COUNT], tries)):
            if answered:
                answered = False
                middle = state[MIDDLE]
                sides = verdict
            else:
                at = state[TRIED]
                _next_cut(at, state[COUNT], cuts)
                state[TRIED] += 1
                middle = _split(
                    start,
                    end,
                    cuts[at, ATTRIBUTE],
                    cuts[at, FROM],
                    cuts[at, TO],
                    order,
                    places,
                    spare,
                    spare_places,
                )
                sides = 0
                if keeps_caps(start, middle, order, caps):
                    sides += LEFT
                if (sides == LEFT or state[WHOLE] == 0) and keeps_caps(middle, end, order, caps):
                    sides += RIGHT
                if asking and (sides == BOTH or (sides > 0 and state[WHOLE] == 0)):
                    state[MIDDLE] = middle
                    state[PASSING] = sides
                    return True
            if state[KEPT] < 0 and 0 < sides < BOTH:
                state[KEPT] = 4 * (state[TRIED] - 1) + sides
        if sides != BOTH and state[WHOLE] == 0 and state[COUNT] > 0:
            # A region that does not hold is cut all the same: one side may, or parts of a side.
            at = max(state[KEPT], 0) // 4
            sides = max(state[KEPT], 0) % 4
            middle = _split(
                start,
                end,
                cuts[at, ATTRIBUTE],
                cuts[at, FROM],
                cuts[at, TO],
                order,
                places,
                spare,
                spare_places,
            )
        elif sides != BOTH:
            closed[state[CLOSED], 0] = start
            closed[state[CLOSED], 1] = end
            closed[state[CLOSED], 2] = state[WHOLE]
            state[CLOSED] += 1
            state[OPEN] = 0
            continue
        top = state[TOP]
        stack[top, 0] = middle
        stack[top, 1] = end
        stack[top, 2] = 1 if sides & RIGHT else 0
        stack[top + 1, 0] = start
        stack[top + 1, 1] = middle
        stack[top + 1, 2] = sides & LEFT
        state[TOP] += 2
        state[OPEN] = 0
