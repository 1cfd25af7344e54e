"""Loops that the row engines share: joins, caps, attaching rows to the nearest classes, dealing rows."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.kernels.assignment import assign
from hierdata.engines.jit import inline_kernel, jit
from hierdata.engines.rows.table import RowLine

Numbers: TypeAlias = "NDArray[np.int64]"
Places: TypeAlias = "NDArray[np.int32]"
Flags: TypeAlias = "NDArray[np.bool_]"
Whole: TypeAlias = "int | np.signedinteger[Any]"


class Caps(NamedTuple):
    """The frequency caps of a scope, for rows numbered from 0.

    The groups of all caps are numbered consecutively: those of cap c begin at ``first_group[c]``.
    """

    groups: Places  # [cap, row]: group within the cap, -1 for a missing value
    first_group: Numbers  # [caps + 1]
    most: Numbers  # [cap]: bound on the rows of a group in a class of any size, 2^62 for none
    reach: Numbers  # [group, 2]: first and last group, within the cap, that count together with this one
    shares: Numbers  # [group, 2]: numerator and denominator of the largest share of a class
    tally: Numbers  # [group within a cap]: working memory, 0 between calls


LOW, SECOND_LOW, SECOND_HIGH, HIGH = range(4)
"""The two least and the two greatest places of a class at a quasi-identifier, by which it is known what the
class loses without any one member."""
NOWHERE = 2**30
"""A place behind all others: the second least of a class of one row."""


@inline_kernel
def find_ends(
    b: int, start: Whole, end: Whole, members: Numbers | Places, places: Places, floor: Whole, ceiling: Whole
) -> tuple[Whole, Whole, Whole, Whole]:
    """Return the two least and the two greatest places of ``members[start:end]`` at a quasi-identifier.

    No place lies below ``floor`` or above ``ceiling``: once both are found twice, the search ends.
    """
    low = second_low = np.int32(NOWHERE)
    high = second_high = np.int32(-1)
    for position in range(start, end):
        if second_low == floor and second_high == ceiling:
            break
        place = places[members[position], b]
        if place < low:
            second_low = low
            low = place
        elif place < second_low:
            second_low = place
        if place > high:
            second_high = high
            high = place
        elif place > second_high:
            second_high = place
    return low, second_low, second_high, high


@inline_kernel
def ends_after(b: int, goes: Whole, comes: Whole, bounds: Places, places: Places) -> tuple[Whole, Whole]:
    """Return the least and the greatest place of a class after a member leaves and a row joins; -1 for none.

    ``bounds`` are those of the class, by LOW, SECOND_LOW, SECOND_HIGH and HIGH, then by quasi-identifier.
    """
    low = bounds[LOW, b]
    high = bounds[HIGH, b]
    if goes >= 0:
        if places[goes, b] == low:
            low = bounds[SECOND_LOW, b]
        if places[goes, b] == high:
            high = bounds[SECOND_HIGH, b]
    if comes >= 0:
        low = min(low, places[comes, b])
        high = max(high, places[comes, b])
    return low, high


@inline_kernel
def widen(this_class: int, row: int, lows: Places, highs: Places, places: Places) -> None:
    """Extend the least and the greatest places of a class to a row."""
    for b in range(places.shape[1]):
        lows[this_class, b] = min(lows[this_class, b], places[row, b])
        highs[this_class, b] = max(highs[this_class, b], places[row, b])


@jit
def loss_between(low: int, high: int, above: Places, losses: Numbers) -> int:
    """Return the loss of the join of the nodes at two places: the deepest common entry of their ancestors."""
    loss: int
    level = above.shape[1] - 1
    while level > 0 and (above[low, level] < 0 or above[low, level] != above[high, level]):
        level -= 1
    loss = losses[above[low, level]]
    return loss


@jit
def keeps_caps(start: int, end: int, order: Numbers, caps: Caps) -> bool:
    """Return whether the rows ``order[start:end]`` keep every cap as one class, exactly."""
    groups, first_group, most, reach, shares, tally = caps
    holds = True
    for cap in range(groups.shape[0]):
        if not holds:
            break
        base = first_group[cap]
        count = first_group[cap + 1] - base
        present = 0
        apart = True
        for position in range(start, end):
            group = groups[cap, order[position]]
            if group >= 0:
                present += 1
                tally[group] += 1
                apart = apart and reach[base + group, 0] == reach[base + group, 1]
        if apart:
            for position in range(start, end):
                group = groups[cap, order[position]]
                if group >= 0 and (
                    tally[group] > most[cap]
                    or tally[group] * shares[base + group, 1] > shares[base + group, 0] * present
                ):
                    holds = False
                    break
        else:
            few = 8 * present < count
            occurring = np.empty(present if few else count, np.int32)
            if few:
                filled = 0
                for position in range(start, end):
                    group = groups[cap, order[position]]
                    if group >= 0:
                        occurring[filled] = group
                        filled += 1
                occurring.sort()
            else:
                filled = 0
                for group in range(count):
                    if tally[group] > 0:
                        occurring[filled] = group
                        filled += 1
            # A sliding window over the occurring groups that count together with each group, and its count.
            low = 0
            high = 0
            near = 0
            for position in range(filled):
                group = occurring[position]
                while high < filled and occurring[high] <= reach[base + group, 1]:
                    near += 1 if few else tally[occurring[high]]
                    high += 1
                while occurring[low] < reach[base + group, 0]:
                    near -= 1 if few else tally[occurring[low]]
                    low += 1
                if near > most[cap] or near * shares[base + group, 1] > shares[base + group, 0] * present:
                    holds = False
                    break
        for position in range(start, end):
            group = groups[cap, order[position]]
            if group >= 0:
                tally[group] = 0
    return holds


@inline_kernel
def place_among(
    this_class: int,
    distance: Whole,
    count: int,
    out: Numbers,
    distances: Numbers,
    sizes: Numbers,
    numbers: Numbers,
) -> int:
    """Return the place of a class in ``out``; ties go to the smaller class, then to the lower number."""
    rank = count
    while rank > 0:
        other = out[rank - 1]
        if distance > distances[rank - 1]:
            break
        tied = distance == distances[rank - 1]
        if tied and (sizes[this_class], numbers[this_class]) > (sizes[other], numbers[other]):
            break
        rank -= 1
    return rank


@inline_kernel
def insert_at(rank: int, item: int, distance: Whole, count: int, out: Numbers, distances: Numbers) -> int:
    """Enter one at a place of the ``count`` nearest, whose last gives way; return how many there are."""
    count = min(count + 1, len(out))
    for position in range(count - 1, rank, -1):
        out[position] = out[position - 1]
        distances[position] = distances[position - 1]
    out[rank] = item
    distances[rank] = distance
    return count


@inline_kernel
def insert_nearest(
    item: int, distance: Whole, first: int, count: int, out: Numbers, distances: Numbers
) -> int:
    """Enter one among the ``count`` nearest, after ``first`` of them and all of equal distance."""
    rank = count
    while rank > first and distances[rank - 1] > distance:
        rank -= 1
    return insert_at(rank, item, distance, count, out, distances)


class AttachedRows(NamedTuple):
    """The rows of a scope by their hierarchy nodes, and the losses of nodes.

    The nodes of all hierarchies are numbered consecutively.
    """

    nodes: Places  # [row, quasi-identifier]
    records: Numbers  # [row]: record of the row
    ancestors: Places  # [node, depth]: -1 where the node's path has no entry
    losses: Numbers  # [node]: LM' times the scale


class AttachedClasses(NamedTuple):
    """The classes that rows may join; their members are linked lists."""

    joins: Places  # [class, quasi-identifier]: the published node
    sizes: Numbers  # [class]: rows
    numbers: Numbers  # [class]: breaks ties, the lower number comes first
    refused: Numbers  # [class]: last stamp under which the class has refused a row
    latest: Numbers  # [class]: the last row that joined
    earlier: Numbers  # [row]: the row that joined the same class before, -1 for none


@jit
def nearest(
    row: int,
    start: int,
    window: int,
    at_most: int,
    stamp: int,
    recurring: bool,
    out: Numbers,
    distances: Numbers,
    rows: AttachedRows,
    classes: AttachedClasses,
    caps: Caps,
    members: Numbers,
) -> tuple[int, int]:
    """Write the classes nearest to a row to ``out``, best first; return how many, and how many were seen.

    ``window`` classes are seen, from ``start`` on and wrapping around; more, up to ``at_most``, only while
    none is found. Classes that have refused under ``stamp`` are left out, and so are classes that would break
    a cap with the row and, with ``recurring``, classes with a row of the same record. The distance is the sum
    of LM' of the joins of the nodes of row and class; ties go to the smaller class, then to the lower of
    ``numbers``. ``distances`` receives the distances; ``members`` is working memory.
    """
    nodes, records, ancestors, losses = rows
    joins, sizes, numbers, refused, latest, earlier = classes
    wanted = len(out)
    width = nodes.shape[1]
    count = 0
    compared = 0
    while compared < at_most and (compared < window or count == 0):
        this_class = start + compared if start + compared < len(sizes) else start + compared - len(sizes)
        compared += 1
        if refused[this_class] == stamp:
            continue
        distance = np.int64(0)
        for b in range(width):
            distance += loss_between(nodes[row, b], joins[this_class, b], ancestors, losses)
            if count == wanted and distance > distances[count - 1]:
                break
        rank = place_among(this_class, distance, count, out, distances, sizes, numbers)
        if rank == wanted:
            continue
        if recurring or len(caps.groups) > 0:
            members[0] = row
            filled = 1
            member = latest[this_class]
            while member >= 0 and not (recurring and records[member] == records[row]):
                members[filled] = member
                filled += 1
                member = earlier[member]
            if member >= 0 or not keeps_caps(0, filled, members, caps):
                continue
        count = insert_at(rank, this_class, distance, count, out, distances)
    return count, compared


@jit
def join_row(row: int, this_class: int, rows: AttachedRows, classes: AttachedClasses) -> Places:
    """Return the nodes of a class with one row more: the joins of their nodes."""
    nodes, ancestors, joins = rows.nodes, rows.ancestors, classes.joins
    joined = np.empty(nodes.shape[1], np.int32)
    for b in range(nodes.shape[1]):
        of_row = ancestors[nodes[row, b]]
        of_class = ancestors[joins[this_class, b]]
        level = len(of_row) - 1
        while level > 0 and (of_row[level] < 0 or of_row[level] != of_class[level]):
            level -= 1
        joined[b] = of_row[level]
    return joined


@jit
def keep(tracks: int, groups: Places, ends: Places, kept: Numbers) -> int:
    """Write the positions of a largest set of rows that ``tracks`` classes can share to ``kept``.

    Rows are visited in ascending order. A row is kept if the row that was kept ``tracks`` rows before does
    not count together with it. Then no window holds more than ``tracks`` rows, and no larger set of rows has
    this property. Return the number of rows.
    """
    count = 0
    for position in range(len(groups)):
        if count < tracks or ends[groups[kept[count - tracks]]] < groups[position]:
            kept[count] = position
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
        for position in range(start, min(start + count, stop)):
            row = order[position]
            class_of[row] = classes + position - start
            last[position - start] = row
            low[position - start] = places[row]
            high[position - start] = places[row]
        base = 0
        position = start + count
        while position < stop:
            columns = min(widest, count - base)
            dealt = min(columns, stop - position)
            for i in range(dealt):
                row = order[position + i]
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
                row = order[position + i]
                this_class = base + chosen[i]
                if cost[i, chosen[i]] == never:
                    class_of[row] = -1
                    continue
                class_of[row] = classes + this_class
                earlier[row] = last[this_class]
                last[this_class] = row
                widen(this_class, row, low, high, places)
            position += dealt
            base = (base + columns) % count
        classes += count
    return classes
