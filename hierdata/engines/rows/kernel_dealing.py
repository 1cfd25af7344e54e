"""The inner loops of dealing rows to classes, so that no two rows of a class count together.

Rows stand in ascending order of their group; ``ends[group]`` is the last group that counts together with a
group from below, and never falls from one group to the next.
"""

from __future__ import annotations

import numpy as np

from hierdata.engines.alignment.kernels.assignment import assign
from hierdata.engines.jit import jit
from hierdata.engines.rows.kernel import Numbers, Places, loss_between
from hierdata.engines.rows.order import RowLine


@jit
def keep(tracks: int, groups: Places, ends: Places, kept: Numbers) -> int:
    """Write the positions of as many rows as ``tracks`` classes can share to ``kept``; answer how many.

    From the least up a row is kept if the row kept ``tracks`` rows before does not reach it. No window then
    holds more than ``tracks`` rows, and no choice of rows of which that is true is larger.
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
    """Deal the rows of every block ``order[start:stop]`` to floor(size / least) classes; answer how many.

    ``order`` stands in ascending order of ``groups[row]`` within a block, and at most as many of its rows as
    it has classes lie in one window. A block is dealt in rounds of one row a class. Round robin keeps the
    rows of a class apart; so in each round some assignment does, even of ``widest`` rows in turn to as many
    classes, and the one of least loss is taken. ``class_of`` receives the classes. Where ``records`` are
    ``recurring``, rows of one record are kept apart too, and -1 is the class of a row that finds none.
    """
    places, first, above, losses = line
    width = places.shape[1]
    classes = 0
    longest = np.int64(0)
    for block in range(len(starts)):
        longest = max(longest, stops[block] - starts[block])
    most = longest // least + 1
    last = np.empty(most, np.int64)  # the latest row of each class, and of each row the one before it
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
