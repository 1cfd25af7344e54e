"""Inner loops of gathering classes: density around rows, nearest rows, and which row joins next."""

from __future__ import annotations

import numpy as np

from hierdata.engines.jit import jit
from hierdata.engines.rows.kernel import Numbers
from hierdata.engines.sweep.kernel import Lines, join_loss


@jit
def crowding(rows: Numbers, sample: Numbers, nearest: int, lines: Lines) -> Numbers:
    """Return for each row the loss of the join with its ``nearest``-th nearest row of the sample."""
    places = lines.places
    found = np.empty(len(rows), np.int64)
    distances = np.empty(nearest, np.int64)
    for at in range(len(rows)):
        row = rows[at]
        count = 0
        for other in sample:
            if other == row:
                continue
            distance = np.int64(0)
            for q in range(places.shape[1]):
                low = min(places[row, q], places[other, q])
                high = max(places[row, q], places[other, q])
                distance += join_loss(q, low, high, lines)
                if count == nearest and distance >= distances[nearest - 1]:
                    break
            if count == nearest and distance >= distances[nearest - 1]:
                continue
            count = min(count + 1, nearest)
            place = count - 1
            while place > 0 and distances[place - 1] > distance:
                distances[place] = distances[place - 1]
                place -= 1
            distances[place] = distance
        found[at] = distances[count - 1] if count else 0
    return found


@jit
def near(
    row: int, start: int, end: int, order: Numbers, classes: Numbers, lines: Lines, found: Numbers
) -> int:
    """Write the rows without a class in ``order[start:end]`` that are nearest to a row to ``found``.

    The row itself comes first, the others by the loss of the join with it, ties by the order. Return the
    number of rows.
    """
    places = lines.places
    distances = np.empty(len(found), np.int64)
    found[0] = row
    count = 1
    for at in range(start, end):
        other = order[at]
        if classes[other] >= 0 or other == row:
            continue
        distance = np.int64(0)
        for q in range(places.shape[1]):
            low = min(places[row, q], places[other, q])
            high = max(places[row, q], places[other, q])
            distance += join_loss(q, low, high, lines)
            if count == len(found) and distance >= distances[count - 1]:
                break
        if count == len(found) and distance >= distances[count - 1]:
            continue
        count = min(count + 1, len(found))
        place = count - 1
        while place > 1 and distances[place - 1] > distance:
            distances[place] = distances[place - 1]
            found[place] = found[place - 1]
            place -= 1
        distances[place] = distance
        found[place] = other
    return count


@jit
def gather(size: int, wanted: int, found: Numbers, lines: Lines) -> None:
    """Extend the class ``found[:size]`` to ``wanted`` rows, each time by the row that adds the least loss."""
    places = lines.places
    columns = places.shape[1]
    low = places[found[0]].copy()
    high = low.copy()
    for at in range(1, size):
        for q in range(columns):
            low[q] = min(low[q], places[found[at], q])
            high[q] = max(high[q], places[found[at], q])
    while size < wanted:
        best = -1
        least = np.int64(0)
        for at in range(size, len(found)):
            loss = np.int64(0)
            for q in range(columns):
                below = min(low[q], places[found[at], q])
                beyond = max(high[q], places[found[at], q])
                loss += join_loss(q, below, beyond, lines)
                if best >= 0 and loss >= least:
                    break
            if best < 0 or loss < least:
                best = at
                least = loss
        row = found[best]
        for at in range(best, size, -1):
            found[at] = found[at - 1]
        found[size] = row
        for q in range(columns):
            low[q] = min(low[q], places[row, q])
            high[q] = max(high[q], places[row, q])
        size += 1
