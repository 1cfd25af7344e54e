"""Inner loops of recursive cutting: the cuts of a region by their loss, and the stack of regions.

A region is a run of rows, ``order[start:end]``. ``places[at]`` are the places of the row ``order[at]``
(``RowLine``): both arrays are permuted together, so that a region is contiguous in memory. The join of a set
of nodes is the join of those at its least and its greatest place. So the loss of a side of a cut depends only
on its least and greatest place at every quasi-identifier, here called attribute.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hierdata.engines.jit import jit
from hierdata.engines.rows.kernel import Caps, Numbers, Places, keeps_caps, loss_between
from hierdata.engines.rows.table import RowLine

LEFT, RIGHT, BOTH = 1, 2, 3
"""Sides of a cut, as bits."""
START, MIDDLE, END, PASSING, WHOLE, TOP, CLOSED, OPEN, COUNT, TRIED, KEPT, STATE = range(12)
"""The state of the work: start, trial cut and end of the open region; the sides that keep the caps; whether
the region satisfies everything as a whole; the number of regions on the stack, and of closed ones; whether a
region is open; the number of its cuts and of those tried; the first cut after which one side holds, times 4,
plus that side, -1 for none."""
LOSS, SMALLER, ATTRIBUTE, FROM, TO, CUT = range(6)
"""Columns of a cut: the loss after it, the size of the smaller side, the attribute, and the least and the
greatest place of the rows that go left."""
LOW, HIGH, LOW_BEFORE, HIGH_BEFORE, LOW_BEHIND, HIGH_BEHIND, SPANS = range(7)
"""Entries of ``CutBuffers.spans``: the least and the greatest places in a bucket, in all buckets before it,
and in the bucket and all behind it."""
SIZE, PLACE = range(2)
"""Entries of ``CutBuffers.buckets``: rows of a bucket, and its place at the attribute that is being cut."""


class CutBuffers(NamedTuple):
    """Working memory for the cuts of a region."""

    spans: Places  # [SPANS, bucket, attribute]
    buckets: Numbers  # [(SIZE, PLACE), bucket]
    ranks: Places  # [position in ``order``]: bucket of the row
    cuts: Numbers  # [cut, CUT]: the cuts of the open region
    spare: Numbers  # [position]: rows that go right
    spare_places: Places  # [position, attribute]: their places


@jit
def _fill_buckets(
    start: int, end: int, attribute: int, low: Places, high: Places, places: Places, buffers: CutBuffers
) -> int:
    """Put the rows into buckets, one for each place that occurs at the attribute; return their number."""
    spans, buckets, ranks = buffers.spans, buffers.buckets, buffers.ranks
    base: int = low[attribute]
    width = places.shape[1]
    count: int = high[attribute] - base + 1
    dense = count <= 4 * (end - start)
    occurring = np.empty(0, np.int32)
    if dense:
        for position in range(start, end):
            ranks[position] = places[position, attribute] - base
    else:
        occurring = np.unique(places[start:end, attribute])
        count = len(occurring)
        for position in range(start, end):
            ranks[position] = np.searchsorted(occurring, places[position, attribute])
    for bucket in range(count):
        buckets[SIZE, bucket] = 0
        for b in range(width):
            spans[LOW, bucket, b] = high[b]
            spans[HIGH, bucket, b] = low[b]
    for position in range(start, end):
        bucket = ranks[position]
        buckets[SIZE, bucket] += 1
        for b in range(width):
            spans[LOW, bucket, b] = min(spans[LOW, bucket, b], places[position, b])
            spans[HIGH, bucket, b] = max(spans[HIGH, bucket, b], places[position, b])
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
    """Compute the spans of the buckets before each bucket, and of those from it on."""
    width = spans.shape[2]
    for b in range(width):
        spans[LOW_BEFORE, 0, b] = spans[LOW_BEHIND, filled, b] = high[b]
        spans[HIGH_BEFORE, 0, b] = spans[HIGH_BEHIND, filled, b] = low[b]
    for bucket in range(filled):
        back = filled - 1 - bucket
        for b in range(width):
            spans[LOW_BEFORE, bucket + 1, b] = min(spans[LOW_BEFORE, bucket, b], spans[LOW, bucket, b])
            spans[HIGH_BEFORE, bucket + 1, b] = max(spans[HIGH_BEFORE, bucket, b], spans[HIGH, bucket, b])
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
    """Enter the cut that separates the buckets from ``begin`` to before ``stop`` as number ``count``."""
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

    A cut separates either the first buckets of an attribute, or all buckets below one node of its hierarchy.
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
    for position in range(start + 1, end):
        for b in range(width):
            low[b] = min(low[b], places[position, b])
            high[b] = max(high[b], places[position, b])
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
    """Swap the best untried cut to the position after the tried ones.

    The best cut has the least loss; of equal ones it is the most even, then the first by attribute and
    places.
    """
    best = tried
    for cut in range(tried + 1, count):
        for column in range(CUT):
            mine = cuts[cut, column]
            other = cuts[best, column]
            if mine != other:
                if (mine > other) == (column == SMALLER):
                    best = cut
                break
    for column in range(CUT):
        kept = cuts[best, column]
        cuts[best, column] = cuts[tried, column]
        cuts[tried, column] = kept


@jit
def _split(
    start: int, end: int, cut: Numbers, order: Numbers, places: Places, spare: Numbers, spare_places: Places
) -> int:
    """Move the rows of the left side before the others, each in order; return where the right side begins."""
    middle = start
    moved = 0
    for position in range(start, end):
        if cut[FROM] <= places[position, cut[ATTRIBUTE]] <= cut[TO]:
            order[middle] = order[position]
            places[middle] = places[position]
            middle += 1
        else:
            spare[moved] = order[position]
            spare_places[moved] = places[position]
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
    """Cut regions until the models must be asked (return True) or no region is left (return False).

    On True the open region is split for a trial at ``state[MIDDLE]``, and the sides in ``state[PASSING]``
    keep the caps. The next call must pass as ``verdict`` which of these sides satisfy the models. Without
    ``asking`` the caps decide alone. The verdict of the first call is ignored. At most ``tries`` cuts of a
    region are tried, and both sides of a cut have at least ``least`` rows. ``stack`` and ``closed`` hold
    regions: start, end, and whether the region satisfies everything (1 or 0).
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
                tried = state[TRIED]
                _next_cut(tried, state[COUNT], cuts)
                state[TRIED] += 1
                middle = _split(start, end, cuts[tried], order, places, spare, spare_places)
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
            # A region that fails is cut all the same: one of its sides may hold, or parts of a side.
            tried = max(state[KEPT], 0) // 4
            sides = max(state[KEPT], 0) % 4
            middle = _split(start, end, cuts[tried], order, places, spare, spare_places)
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
