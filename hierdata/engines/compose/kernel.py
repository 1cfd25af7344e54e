"""Inner loop of composing classes: rows swap classes or move, while every class stays close to the original.

The loss of a class follows from the least and the greatest place of its members at every quasi-identifier.
The second least and second greatest are kept as well, for the loss without any one member. The distance of a
class from the original is a sum of integers over sets of values; see ``privacy.base.Closeness``.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.jit import jit
from hierdata.engines.rows.kernel import Numbers, Places

Whole: TypeAlias = "int | np.int64"

LOW, SECOND_LOW, SECOND_HIGH, HIGH = range(4)
"""The places of a class that are kept at a quasi-identifier."""
NEVER = 2**62
"""More than any loss or limit."""
_NOWHERE = 2**30
_PROPOSED = 12
"""Number of partners proposed for a swap with a row, and twice the number of classes proposed for a move."""
_NEAR = 5
"""The largest difference of ranks in an order at which two rows are near each other."""


class ComposedRows(NamedTuple):
    """The rows by their places and by the combinations of their sensitive values.

    ``pairs[first_pair[b] + low * counts[b] + high]`` is the loss of the join of all nodes between two places
    of quasi-identifier b.
    """

    places: Places  # [row, quasi-identifier]
    counts: Numbers  # [quasi-identifier]: number of its places
    pairs: Numbers  # tables of losses
    first_pair: Numbers  # [quasi-identifier]
    orders: Places  # [order, rank]: rows, in orders in which neighbours are alike
    ranks: Places  # [order, row]: rank
    values: Numbers  # [row]: number of its combination of sensitive values
    records: Numbers  # [row]: record of the row
    recur: bool  # a record may have several rows, of which a class takes at most one


class Targets(NamedTuple):
    """The conditions that classes must keep; the sets of all constraints are numbered consecutively."""

    paths: Places  # [combination, position]: the sets that hold it, -1 after the last
    counted: Numbers  # [combination, constraint]: 1 if it has a value, 0 if that is missing
    first_set: Numbers  # [constraints + 1]
    weights: Numbers  # [set]
    expected: Numbers  # [set]: values of the original in it
    totals: Numbers  # [constraint]: values of the original
    limits: Numbers  # [constraint, n]: bound on the distance of n values, as an integer
    sized: NDArray[np.bool_]  # [n]: n rows may be a class
    fixed: bool  # a class must keep its combinations


class ComposedClasses(NamedTuple):
    """The classes, with what ``measure_class`` derives from their rows."""

    class_of: Numbers  # [row]: its class, -1 for none
    position: Numbers  # [row]: its position in ``members``
    members: Places  # [class, position]: row
    sizes: Numbers  # [class]: rows
    bounds: Places  # [class, (LOW, SECOND_LOW, SECOND_HIGH, HIGH), quasi-identifier]: places
    loss: Numbers  # [class]: loss of one of its rows
    relief: Numbers  # [row]: how much smaller that loss is without this row
    tally: Numbers  # [class, set]: values in the set
    present: Numbers  # [class, constraint]: values present


@jit
def draw(state: NDArray[np.uint64], below: Whole) -> Whole:
    """Draw a random integer in 0 .. below - 1 (xorshift)."""
    word = state[0]
    word ^= word << np.uint64(13)
    word ^= word >> np.uint64(7)
    word ^= word << np.uint64(17)
    state[0] = word
    return np.int64(((word >> np.uint64(32)) * np.uint64(below)) >> np.uint64(32))


@jit
def _loss_with(
    this_class: Whole, row: Whole, places: Places, bounds: Places, counts: Numbers, first_pair: Numbers,
    pairs: Numbers,
) -> Whole:  # fmt: skip
    """Return the loss of each row of a class after ``row`` joins."""
    loss = np.int64(0)
    for b in range(places.shape[1]):
        place = places[row, b]
        low = min(bounds[this_class, LOW, b], place)
        high = max(bounds[this_class, HIGH, b], place)
        loss += pairs[first_pair[b] + low * counts[b] + high]
    return loss


@jit
def _loss_without(
    this_class: Whole, row: Whole, places: Places, bounds: Places, counts: Numbers, first_pair: Numbers,
    pairs: Numbers,
) -> Whole:  # fmt: skip
    """Return the loss of each row of a class after its member ``row`` leaves."""
    loss = np.int64(0)
    for b in range(places.shape[1]):
        place = places[row, b]
        low = (
            bounds[this_class, SECOND_LOW, b]
            if place == bounds[this_class, LOW, b]
            else bounds[this_class, LOW, b]
        )
        high = (
            bounds[this_class, SECOND_HIGH, b]
            if place == bounds[this_class, HIGH, b]
            else bounds[this_class, HIGH, b]
        )
        loss += pairs[first_pair[b] + low * counts[b] + high]
    return loss


@jit
def _loss_instead(
    this_class: Whole, row: Whole, other: Whole, places: Places, bounds: Places, counts: Numbers,
    first_pair: Numbers, pairs: Numbers,
) -> Whole:  # fmt: skip
    """Return the loss of each row of a class after ``other`` replaces its member ``row``."""
    loss = np.int64(0)
    for b in range(places.shape[1]):
        place = places[row, b]
        came = places[other, b]
        low = (
            bounds[this_class, SECOND_LOW, b]
            if place == bounds[this_class, LOW, b]
            else bounds[this_class, LOW, b]
        )
        high = (
            bounds[this_class, SECOND_HIGH, b]
            if place == bounds[this_class, HIGH, b]
            else bounds[this_class, HIGH, b]
        )
        low = min(low, came)
        high = max(high, came)
        loss += pairs[first_pair[b] + low * counts[b] + high]
    return loss


@jit
def _look_alike(row: Whole, other: Whole, places: Places) -> bool:
    b, width = 0, places.shape[1]
    while b < width and places[row, b] == places[other, b]:
        b += 1
    return bool(b == width)


@jit
def count_combination(
    this_class: Whole,
    value: Whole,
    by: Whole,
    paths: Places,
    counted: Numbers,
    tally: Numbers,
    present: Numbers,
) -> None:
    """Add ``by`` occurrences of a combination of values to a class."""
    for at in range(paths.shape[1]):
        if paths[value, at] < 0:
            break
        tally[this_class, paths[value, at]] += by
    for constraint in range(counted.shape[1]):
        present[this_class, constraint] += by * counted[value, constraint]


@jit
def is_close(
    this_class: Whole, first_set: Numbers, weights: Numbers, expected: Numbers, totals: Numbers,
    limits: Numbers, tally: Numbers, present: Numbers,
) -> bool:  # fmt: skip
    """Return whether all distances of a class, weighted sums of |c * total - n * expected|, are in bounds."""
    for constraint in range(len(totals)):
        values = present[this_class, constraint]
        total = totals[constraint]
        left = limits[constraint, values]
        for at in range(first_set[constraint], first_set[constraint + 1]):
            left -= weights[at] * abs(tally[this_class, at] * total - values * expected[at])
        if left < 0:
            return False
    return True


@jit
def _stays_close(
    this_class: Whole, goes: Whole, comes: Whole, paths: Places, counted: Numbers, first_set: Numbers,
    weights: Numbers, expected: Numbers, totals: Numbers, limits: Numbers, tally: Numbers, present: Numbers,
) -> bool:  # fmt: skip
    """Return whether a class is close after one combination leaves and another joins; -1 for none."""
    if goes >= 0:
        count_combination(this_class, goes, -1, paths, counted, tally, present)
    if comes >= 0:
        count_combination(this_class, comes, 1, paths, counted, tally, present)
    answer = is_close(this_class, first_set, weights, expected, totals, limits, tally, present)
    if goes >= 0:
        count_combination(this_class, goes, 1, paths, counted, tally, present)
    if comes >= 0:
        count_combination(this_class, comes, -1, paths, counted, tally, present)
    return answer


@jit
def _meets_own_record(
    row: Whole,
    this_class: Whole,
    leaving: Whole,
    recur: bool,
    records: Numbers,
    members: Places,
    sizes: Numbers,
) -> bool:
    """Return whether a row would meet a row of its own record in a class after ``leaving`` has left."""
    if recur:
        for at in range(sizes[this_class]):
            member = members[this_class, at]
            if member != leaving and records[member] == records[row]:
                return True
    return False


@jit
def measure_class(
    this_class: Whole, went: Whole, came: Whole, rows: ComposedRows, classes: ComposedClasses
) -> None:
    """Compute the bounds of a class, its loss, and the relief of each member.

    ``went`` and ``came`` are the rows that left and joined since the last call, -1 for none; if both are -1,
    all is computed for the first time. What these rows cannot have changed is not recomputed.
    """
    places, counts, pairs, first_pair = rows[:4]
    members, sizes, bounds, losing, relief = classes[2:7]
    size = sizes[this_class]
    moved = went < 0 and came < 0
    for b in range(places.shape[1]):
        inside = went >= 0 or came >= 0
        for row in (went, came):
            if row >= 0:
                place = places[row, b]
                inside = (
                    inside and bounds[this_class, SECOND_LOW, b] < place < bounds[this_class, SECOND_HIGH, b]
                )
        if inside or (went >= 0 and came >= 0 and places[went, b] == places[came, b]):
            continue
        # No place lies outside the old ones and that of ``came``: both found twice, the search can stop.
        floor = np.int32(-1)
        ceiling = np.int32(_NOWHERE)
        if went >= 0 or came >= 0:
            floor = bounds[this_class, LOW, b]
            ceiling = bounds[this_class, HIGH, b]
            if came >= 0:
                floor = min(floor, places[came, b])
                ceiling = max(ceiling, places[came, b])
        low = second_low = np.int32(_NOWHERE)
        high = second_high = np.int32(-1)
        for at in range(size):
            if second_low == floor and second_high == ceiling:
                break
            place = places[members[this_class, at], b]
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
        moved |= bounds[this_class, LOW, b] != low or bounds[this_class, SECOND_LOW, b] != second_low
        moved |= bounds[this_class, HIGH, b] != high or bounds[this_class, SECOND_HIGH, b] != second_high
        bounds[this_class, LOW, b] = low
        bounds[this_class, SECOND_LOW, b] = second_low
        bounds[this_class, HIGH, b] = high
        bounds[this_class, SECOND_HIGH, b] = second_high
    if moved:
        loss = np.int64(0)
        for b in range(places.shape[1]):
            low = bounds[this_class, LOW, b]
            loss += pairs[first_pair[b] + low * counts[b] + bounds[this_class, HIGH, b]]
        losing[this_class] = loss
    for at in range(0 if moved else size - 1 if came >= 0 else size, size):  # the newcomer is the last
        row = members[this_class, at]
        rest: Whole = np.int64(0)
        if size > 1:
            rest = _loss_without(this_class, row, places, bounds, counts, first_pair, pairs)
        relief[row] = losing[this_class] - rest


@jit
def fill(rows: ComposedRows, targets: Targets, classes: ComposedClasses) -> None:
    """Enter the rows into their classes."""
    for row in range(len(classes.class_of)):
        own = classes.class_of[row]
        if own >= 0:
            classes.members[own, classes.sizes[own]] = row
            classes.position[row] = classes.sizes[own]
            classes.sizes[own] += 1
            count_combination(
                own, rows.values[row], 1, targets.paths, targets.counted, classes.tally, classes.present
            )
    for own in range(len(classes.sizes)):
        measure_class(own, -1, -1, rows, classes)


@jit
def _neighbour(row: Whole, state: NDArray[np.uint64], orders: Places, ranks: Places) -> Whole:
    """Draw a row near another in one of the orders; -1 beyond the ends."""
    order = draw(state, orders.shape[0])
    at = ranks[order, row] + draw(state, 2 * _NEAR + 1) - _NEAR
    found = np.int64(-1)
    if 0 <= at < orders.shape[1]:
        found = np.int64(orders[order, at])
    return found


@jit
def _draw_partner(
    turn: Whole, row: Whole, this_class: Whole, state: NDArray[np.uint64], orders: Places, ranks: Places,
    class_of: Numbers, members: Places, sizes: Numbers,
) -> Whole:  # fmt: skip
    """Draw a row to swap with; -1 for none.

    It is near a member of the row's class, a classmate of a row near it, or sometimes any row.
    """
    if turn % 4 == 3:
        return draw(state, orders.shape[1])
    near = np.int64(row)
    if turn % 4 != 1:
        near = np.int64(members[this_class, draw(state, sizes[this_class])])
    found = _neighbour(near, state, orders, ranks)
    if found >= 0 and turn % 4 == 1:
        other = class_of[found]
        found = np.int64(members[other, draw(state, sizes[other])]) if other >= 0 else np.int64(-1)
    return found


@jit
def _exchange(
    row: Whole,
    room: Whole,
    state: NDArray[np.uint64],
    rows: ComposedRows,
    targets: Targets,
    classes: ComposedClasses,
) -> tuple[Whole, Whole]:
    """Return the best of some proposed swaps: the other row, -1 if none is allowed, and the added loss."""
    places, counts, pairs, first_pair, orders, ranks, values = rows[:7]
    class_of, _, members, sizes, bounds, losing, relief, tally, present = classes
    paths, counted, first_set, weights, expected, totals, limits, _, fixed = targets
    recur, records = rows.recur, rows.records
    own = class_of[row]
    value = values[row]
    best: Whole = np.int64(room)
    chosen: Whole = np.int64(-1)
    for turn in range(_PROPOSED):
        partner = _draw_partner(turn, row, own, state, orders, ranks, class_of, members, sizes)
        if partner < 0:
            continue
        other = class_of[partner]
        if other < 0 or other == own or (fixed and values[partner] != value):
            continue
        taken = _loss_instead(own, row, partner, places, bounds, counts, first_pair, pairs)
        here = sizes[own] * (taken - losing[own])
        if here - sizes[other] * relief[partner] >= best or _look_alike(row, partner, places):
            continue
        taken = _loss_instead(other, partner, row, places, bounds, counts, first_pair, pairs)
        lost: Whole = here + sizes[other] * (taken - losing[other])
        if lost >= best or _meets_own_record(partner, own, row, recur, records, members, sizes):
            continue
        if _meets_own_record(row, other, partner, recur, records, members, sizes):
            continue
        came = values[partner]
        if came != value:
            if not _stays_close(
                own, value, came, paths, counted, first_set, weights, expected, totals, limits, tally, present
            ):  # fmt: skip
                continue
            if not _stays_close(
                other, came, value, paths, counted, first_set, weights, expected, totals, limits, tally,
                present,
            ):  # fmt: skip
                continue
        best = lost
        chosen = partner
    return chosen, best


@jit
def _move(
    row: Whole,
    room: Whole,
    state: NDArray[np.uint64],
    rows: ComposedRows,
    targets: Targets,
    classes: ComposedClasses,
) -> tuple[Whole, Whole]:
    """Return the best of some proposed moves: the class, -1 if none is allowed, and the added loss."""
    places, counts, pairs, first_pair, orders, ranks, values = rows[:7]
    class_of, _, members, sizes, bounds, losing, _, tally, present = classes
    paths, counted, first_set, weights, expected, totals, limits, sized, fixed = targets
    recur, records = rows.recur, rows.records
    own = class_of[row]
    size = sizes[own]
    value = values[row]
    best: Whole = np.int64(room)
    chosen: Whole = np.int64(-1)
    if fixed or not sized[size - 1]:
        return chosen, best
    if not _stays_close(
        own, value, -1, paths, counted, first_set, weights, expected, totals, limits, tally, present
    ):  # fmt: skip
        return chosen, best
    here = (size - 1) * _loss_without(own, row, places, bounds, counts, first_pair, pairs)
    here -= size * losing[own]
    for _turn in range(_PROPOSED // 2):
        near = _neighbour(row, state, orders, ranks)
        if near < 0:
            continue
        other = class_of[near]
        if other < 0 or other == own or here + losing[other] >= best:
            continue
        joined = sizes[other] + 1
        if joined > members.shape[1] or not sized[joined]:
            continue
        taken = _loss_with(other, row, places, bounds, counts, first_pair, pairs)
        lost = here + joined * taken - sizes[other] * losing[other]
        if lost >= best or _meets_own_record(row, other, -1, recur, records, members, sizes):
            continue
        if _stays_close(
            other, -1, value, paths, counted, first_set, weights, expected, totals, limits, tally, present
        ):  # fmt: skip
            best = lost
            chosen = other
    return chosen, best


@jit
def _leave(row: Whole, rows: ComposedRows, targets: Targets, classes: ComposedClasses) -> None:
    own = classes.class_of[row]
    classes.sizes[own] -= 1
    last = classes.members[own, classes.sizes[own]]
    classes.members[own, classes.position[row]] = last
    classes.position[last] = classes.position[row]
    count_combination(
        own, rows.values[row], -1, targets.paths, targets.counted, classes.tally, classes.present
    )


@jit
def _join(
    row: Whole, this_class: Whole, rows: ComposedRows, targets: Targets, classes: ComposedClasses
) -> None:
    classes.members[this_class, classes.sizes[this_class]] = row
    classes.position[row] = classes.sizes[this_class]
    classes.class_of[row] = this_class
    classes.sizes[this_class] += 1
    count_combination(
        this_class, rows.values[row], 1, targets.paths, targets.counted, classes.tally, classes.present
    )


@jit
def compose(
    heat: Whole,
    rooms: Numbers,
    state: NDArray[np.uint64],
    rows: ComposedRows,
    targets: Targets,
    classes: ComposedClasses,
) -> Whole:
    """Run one pass: draw as many rows as there are, and let each swap or move; return the number of changes.

    A change is made if it adds less than a random amount to the total loss. ``rooms`` are the quantiles of
    that amount in 1024ths of ``heat``; with a heat of 0 every change lowers the loss. Both classes must stay
    close.
    """
    changes = 0
    for _ in range(len(rows.places)):
        row = draw(state, len(rows.places))
        own = classes.class_of[row]
        if own < 0:
            continue
        room = (rooms[draw(state, len(rooms))] * heat) >> 10
        partner, best = _exchange(row, room, state, rows, targets, classes)
        other, best = _move(row, best, state, rows, targets, classes)
        moving = other >= 0
        if moving:
            _leave(row, rows, targets, classes)
            _join(row, other, rows, targets, classes)
        elif partner >= 0:
            other = classes.class_of[partner]
            _leave(row, rows, targets, classes)
            _leave(partner, rows, targets, classes)
            _join(row, other, rows, targets, classes)
            _join(partner, own, rows, targets, classes)
        else:
            continue
        measure_class(own, row, np.int64(-1) if moving else partner, rows, classes)
        measure_class(other, np.int64(-1) if moving else partner, row, rows, classes)
        changes += 1
    return changes


@jit
def chunks(
    least: Whole, sequence: Numbers, values: Numbers, targets: Targets, classes: ComposedClasses
) -> Whole:
    """Cut a sequence of rows into the shortest classes that have ``least`` rows and are close.

    The rows left at the end join the class before them, and that the one before, until it is close. The first
    entry of the tables of ``classes`` is working memory; ``class_of`` receives the classes. Return the number
    of classes, 0 if there is no such cut.
    """
    paths, counted, first_set, weights, expected, totals, limits, sized, _ = targets
    tally, present = classes.tally, classes.present
    starts = np.empty(len(sequence) + 1, np.int64)
    found = 0
    begin = 0
    for at in range(len(sequence)):
        count_combination(0, values[sequence[at]], 1, paths, counted, tally, present)
        size = at + 1 - begin
        if (
            size >= least
            and size < len(sized)
            and sized[size]
            and is_close(0, first_set, weights, expected, totals, limits, tally, present)
        ):
            starts[found] = begin
            found += 1
            begin = at + 1
            tally[0] = 0
            present[0] = 0
        elif size >= len(sized) - 1:
            return 0
    while begin < len(sequence) and found > 0:
        found -= 1
        for at in range(starts[found], begin):
            count_combination(0, values[sequence[at]], 1, paths, counted, tally, present)
        begin = starts[found]
        size = len(sequence) - begin
        if size >= len(sized):
            return 0
        if sized[size] and is_close(0, first_set, weights, expected, totals, limits, tally, present):
            starts[found] = begin
            found += 1
            begin = len(sequence)
    if begin < len(sequence):
        return 0
    starts[found] = len(sequence)
    for own in range(found):
        for at in range(starts[own], starts[own + 1]):
            classes.class_of[sequence[at]] = own
    tally[0] = 0
    present[0] = 0
    return found
