"""The inner loops of gathering: how close rows stand, which are nearest to one, and who joins it next."""

from __future__ import annotations

import numpy as np

from hierdata.engines.jit import jit
from hierdata.engines.rows.kernel import Numbers
from hierdata.engines.sweep.kernel import Lines, between


@jit
def crowding(rows: Numbers, sample: Numbers, nearest: int, lines: Lines) -> Numbers:
    """For each row the loss of the join with its ``nearest``-th nearest row of the sample."""
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
                distance += between(q, low, high, lines)
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
    """Write the rows without a class among ``order[start:end]`` that are nearest to a row, itself first.

    Nearest is the least loss of the join, then the first in the order; answer how many there are.
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
            distance += between(q, low, high, lines)
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
    """Move on to the front, from ``found[size]`` on, the rows that raise the loss least, until ``wanted``."""
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
                loss += between(q, below, beyond, lines)
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
