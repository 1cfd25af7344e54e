"""Inner loops of dealing rows to classes in which no two rows count together.

Rows are in ascending order of their group. ``ends[group]`` is the last group, at or above the group, that
counts together with it; it never decreases from one group to the next.
"""

from __future__ import annotations

import numpy as np

from hierdata.engines.alignment.kernels.assignment import assign
from hierdata.engines.jit import jit
from hierdata.engines.rows.kernel import Numbers, Places, loss_between
from hierdata.engines.rows.order import RowLine


@jit
def keep(tracks: int, groups: Places, ends: Places, kept: Numbers) -> int:
    """Write the positions of a largest set of rows that ``tracks`` classes can share to ``kept``.

    Rows are visited in ascending order. A row is kept if the row that was kept ``tracks`` rows before does
    not count together with it. Then no window holds more than ``tracks`` rows, and no larger set of rows has
    this property. Return the number of rows.
    """
    count = 0
    for at in range(len(groups)):
        if count < tracks or ends[groups[kept[count - tracks]]] < groups[at]:
            kept[count] = at
            count += 1
    return count


@jit
def deal(
    starts: Numbers,
    stops: Numbers,
    least: int,
    widest: int,
    recurring: bool,
    order: Numbers,
    groups: Places,
    ends: Places,
    records: Numbers,
    line: RowLine,
    class_of: Numbers,
) -> int:
    """Deal the rows of every block ``order[start:stop]`` to floor(size / least) classes; return their number.

    Within a block ``order`` is ascending by ``groups[row]``, and at most as many rows as the block has
    classes lie in one window. A block is dealt in rounds of one row for each class. Round robin keeps the
    rows of a class apart, so in each round a valid assignment exists, even of ``widest`` rows at a time to as
    many classes; the one of least loss is taken. ``class_of`` receives the classes. With ``recurring``, rows
    of one record are kept apart too, and a row without a possible class gets -1.
    """
    places, first, above, losses = line
    width = places.shape[1]
    classes = 0
    longest = np.int64(0)
    for block in range(len(starts)):
        longest = max(longest, stops[block] - starts[block])
    most = longest // least + 1
    last = np.empty(most, np.int64)  # [class]: its latest row; ``earlier`` [row]: the row before it
    earlier = np.full(len(class_of), -1, np.int64)
    low = np.empty((most, width), np.int32)
    high = np.empty((most, width), np.int32)
    cost = np.empty((widest, widest), np.int64)
    chosen = np.empty(widest, np.int64)
    dearest = np.int64(1)
    for b in range(width):
        dearest += losses[above[first[b], 0]]
    never = dearest * (widest + 1)
    for block in range(len(starts)):
        start = starts[block]
        stop = stops[block]
        count = (stop - start) // least
        for at in range(start, min(start + count, stop)):
            row = order[at]
            class_of[row] = classes + at - start
            last[at - start] = row
            low[at - start] = places[row]
            high[at - start] = places[row]
        base = 0
        at = start + count
        while at < stop:
            columns = min(widest, count - base)
            dealt = min(columns, stop - at)
            for i in range(dealt):
                row = order[at + i]
                for j in range(columns):
                    apart = ends[groups[last[base + j]]] < groups[row]
                    member = last[base + j] if recurring else np.int64(-1)
                    while apart and member >= 0:
                        apart = records[member] != records[row]
                        member = earlier[member]
                    total = np.int64(0)
                    if apart:
                        for b in range(width):
                            total += loss_between(
                                first[b] + min(low[base + j, b], places[row, b]),
                                first[b] + max(high[base + j, b], places[row, b]),
                                above,
                                losses,
                            )
                    cost[i, j] = total if apart else never
            assign(cost, dealt, columns, chosen)
            for i in range(dealt):
                row = order[at + i]
                own = base + chosen[i]
                if cost[i, chosen[i]] == never:
                    class_of[row] = -1
                    continue
                class_of[row] = classes + own
                earlier[row] = last[own]
                last[own] = row
                for b in range(width):
                    low[own, b] = min(low[own, b], places[row, b])
                    high[own, b] = max(high[own, b], places[row, b])
            at += dealt
            base = (base + columns) % count
        classes += count
    return classes
