"""Inner loop of composing classes: rows swap classes or move, while every class stays close to the original.

The loss of a class follows from the least and the greatest place of its members at every quasi-identifier.
The second least and second greatest are kept as well, for the loss without any one member. The distance of a
class from the original is a sum of integers over sets of values; see ``privacy.base.Closeness``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.jit import inline_kernel, jit, lean, part
from hierdata.engines.rows.kernel import (
    HIGH,
    LOW,
    NOWHERE,
    SECOND_HIGH,
    SECOND_LOW,
    Numbers,
    Places,
    Whole,
    ends_after,
    find_ends,
)

NEVER = 2**62
"""More than any loss or limit."""
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


@part
def draw(state: NDArray[np.uint64], below: Whole) -> Whole:
    """Draw a random integer in 0 .. below - 1 (xorshift)."""
    word = state[0]
    word ^= word << np.uint64(13)
    word ^= word >> np.uint64(7)
    word ^= word << np.uint64(17)
    state[0] = word
    return np.int64(((word >> np.uint64(32)) * np.uint64(below)) >> np.uint64(32))


@inline_kernel
def _loss_after(
    this_class: Whole, goes: Whole, comes: Whole, rows: ComposedRows, classes: ComposedClasses
) -> Whole:
    """Return the loss of each row of a class after a member leaves and another row joins; -1 for none."""
    loss = np.int64(0)
    for b in range(rows.places.shape[1]):
        low, high = ends_after(b, goes, comes, classes.bounds[this_class], rows.places)
        loss += rows.pairs[rows.first_pair[b] + low * rows.counts[b] + high]
    return loss


@part
def _look_alike(row: Whole, other: Whole, places: Places) -> bool:
    b, width = 0, places.shape[1]
    while b < width and places[row, b] == places[other, b]:
        b += 1
    return bool(b == width)


@inline_kernel
def count_combination(
    this_class: Whole, value: Whole, by: Whole, targets: Targets, classes: ComposedClasses
) -> None:
    """Add ``by`` occurrences of a combination of values to a class."""
    for position in range(targets.paths.shape[1]):
        if targets.paths[value, position] < 0:
            break
        classes.tally[this_class, targets.paths[value, position]] += by
    for constraint in range(targets.counted.shape[1]):
        classes.present[this_class, constraint] += by * targets.counted[value, constraint]


@lean
def is_close(this_class: Whole, targets: Targets, classes: ComposedClasses) -> bool:
    """Return whether all distances of a class, weighted sums of |c * total - n * expected|, are in bounds."""
    _, _, first_set, weights, expected, totals, limits, _, _ = targets
    for constraint in range(len(totals)):
        values = classes.present[this_class, constraint]
        total = totals[constraint]
        slack = limits[constraint, values]
        for value_set in range(first_set[constraint], first_set[constraint + 1]):
            slack -= weights[value_set] * abs(
                classes.tally[this_class, value_set] * total - values * expected[value_set]
            )
        if slack < 0:
            return False
    return True


@part
def _stays_close(
    this_class: Whole, goes: Whole, comes: Whole, targets: Targets, classes: ComposedClasses
) -> bool:
    """Return whether a class is close after one combination leaves and another joins; -1 for none."""
    if goes >= 0:
        count_combination(this_class, goes, -1, targets, classes)
    if comes >= 0:
        count_combination(this_class, comes, 1, targets, classes)
    answer = is_close(this_class, targets, classes)
    if goes >= 0:
        count_combination(this_class, goes, 1, targets, classes)
    if comes >= 0:
        count_combination(this_class, comes, -1, targets, classes)
    return answer


@part
def _meets_own_record(
    row: Whole, this_class: Whole, leaving: Whole, rows: ComposedRows, classes: ComposedClasses
) -> bool:
    """Return whether a row would meet a row of its own record in a class after ``leaving`` has left."""
    if rows.recur:
        for position in range(classes.sizes[this_class]):
            member = classes.members[this_class, position]
            if member != leaving and rows.records[member] == rows.records[row]:
                return True
    return False


@lean
def measure_class(
    this_class: Whole, went: Whole, came: Whole, rows: ComposedRows, classes: ComposedClasses
) -> None:
    """Compute the bounds of a class, its loss, and the relief of each member.

    ``went`` and ``came`` are the rows that left and joined since the last call, -1 for none; if both are -1,
    all is computed for the first time. What these rows cannot have changed is not recomputed.
    """
    places = rows.places
    members, size = classes.members[this_class], classes.sizes[this_class]
    bounds = classes.bounds[this_class]
    moved = went < 0 and came < 0
    for b in range(places.shape[1]):
        inside = went >= 0 or came >= 0
        for row in (went, came):
            if row >= 0:
                inside = inside and bounds[SECOND_LOW, b] < places[row, b] < bounds[SECOND_HIGH, b]
        if inside or (went >= 0 and came >= 0 and places[went, b] == places[came, b]):
            continue
        # No place lies outside the old ones and that of ``came``: both found twice, the search can stop.
        floor = np.int32(-1)
        ceiling = np.int32(NOWHERE)
        if went >= 0 or came >= 0:
            floor = bounds[LOW, b]
            ceiling = bounds[HIGH, b]
            if came >= 0:
                floor = min(floor, places[came, b])
                ceiling = max(ceiling, places[came, b])
        low, second_low, second_high, high = find_ends(b, 0, size, members, places, floor, ceiling)
        moved |= bounds[LOW, b] != low or bounds[SECOND_LOW, b] != second_low
        moved |= bounds[HIGH, b] != high or bounds[SECOND_HIGH, b] != second_high
        bounds[LOW, b] = low
        bounds[SECOND_LOW, b] = second_low
        bounds[HIGH, b] = high
        bounds[SECOND_HIGH, b] = second_high
    if moved:
        classes.loss[this_class] = _loss_after(this_class, -1, -1, rows, classes)
    for position in range(0 if moved else size - 1 if came >= 0 else size, size):  # the newcomer is the last
        rest: Whole = np.int64(0)
        if size > 1:
            rest = _loss_after(this_class, members[position], -1, rows, classes)
        classes.relief[members[position]] = classes.loss[this_class] - rest


@lean
def fill(rows: ComposedRows, targets: Targets, classes: ComposedClasses) -> None:
    """Enter the rows into their classes."""
    for row in range(len(classes.class_of)):
        if classes.class_of[row] >= 0:
            _join(row, classes.class_of[row], rows, targets, classes)
    for this_class in range(len(classes.sizes)):
        measure_class(this_class, -1, -1, rows, classes)


@part
def _neighbour(row: Whole, state: NDArray[np.uint64], rows: ComposedRows) -> Whole:
    """Draw a row near another in one of the orders; -1 beyond the ends."""
    order = draw(state, rows.orders.shape[0])
    rank = rows.ranks[order, row] + draw(state, 2 * _NEAR + 1) - _NEAR
    near = np.int64(-1)
    if 0 <= rank < rows.orders.shape[1]:
        near = np.int64(rows.orders[order, rank])
    return near


@part
def _draw_partner(
    turn: Whole, row: Whole, state: NDArray[np.uint64], rows: ComposedRows, classes: ComposedClasses
) -> Whole:
    """Draw a row to swap with; -1 for none.

    It is near a member of the row's class, a classmate of a row near it, or sometimes any row.
    """
    if turn % 4 == 3:
        return draw(state, rows.orders.shape[1])
    near = np.int64(row)
    if turn % 4 != 1:
        this_class = classes.class_of[row]
        near = np.int64(classes.members[this_class, draw(state, classes.sizes[this_class])])
    partner = _neighbour(near, state, rows)
    if partner >= 0 and turn % 4 == 1:
        other = classes.class_of[partner]
        if other < 0:
            return np.int64(-1)
        partner = np.int64(classes.members[other, draw(state, classes.sizes[other])])
    return partner


@part
def _exchange(
    row: Whole,
    room: Whole,
    state: NDArray[np.uint64],
    rows: ComposedRows,
    targets: Targets,
    classes: ComposedClasses,
) -> tuple[Whole, Whole]:
    """Return the best of some proposed swaps: the other row, -1 if none is allowed, and the added loss."""
    class_of, _, _, sizes, _, losing, relief, _, _ = classes
    this_class, value = class_of[row], rows.values[row]
    best: Whole = np.int64(room)
    chosen: Whole = np.int64(-1)
    for turn in range(_PROPOSED):
        partner = _draw_partner(turn, row, state, rows, classes)
        if partner < 0:
            continue
        other, came = class_of[partner], rows.values[partner]
        if other < 0 or other == this_class or (targets.fixed and came != value):
            continue
        here = sizes[this_class] * (_loss_after(this_class, row, partner, rows, classes) - losing[this_class])
        if here - sizes[other] * relief[partner] >= best or _look_alike(row, partner, rows.places):
            continue
        taken = _loss_after(other, partner, row, rows, classes)
        lost: Whole = here + sizes[other] * (taken - losing[other])
        if lost >= best or _meets_own_record(partner, this_class, row, rows, classes):
            continue
        if _meets_own_record(row, other, partner, rows, classes):
            continue
        if came == value or (
            _stays_close(this_class, value, came, targets, classes)
            and _stays_close(other, came, value, targets, classes)
        ):
            best = lost
            chosen = partner
    return chosen, best


@part
def _move(
    row: Whole,
    room: Whole,
    state: NDArray[np.uint64],
    rows: ComposedRows,
    targets: Targets,
    classes: ComposedClasses,
) -> tuple[Whole, Whole]:
    """Return the best of some proposed moves: the class, -1 if none is allowed, and the added loss."""
    class_of, _, members, sizes, _, losing, _, _, _ = classes
    this_class, value = class_of[row], rows.values[row]
    size = sizes[this_class]
    best: Whole = np.int64(room)
    chosen: Whole = np.int64(-1)
    if (
        targets.fixed
        or not targets.sized[size - 1]
        or not _stays_close(this_class, value, -1, targets, classes)
    ):
        return chosen, best
    here = (size - 1) * _loss_after(this_class, row, -1, rows, classes) - size * losing[this_class]
    for _turn in range(_PROPOSED // 2):
        near = _neighbour(row, state, rows)
        if near < 0:
            continue
        other = class_of[near]
        if other < 0 or other == this_class or here + losing[other] >= best:
            continue
        joined = sizes[other] + 1
        if joined > members.shape[1] or not targets.sized[joined]:
            continue
        taken = _loss_after(other, -1, row, rows, classes)
        lost = here + joined * taken - sizes[other] * losing[other]
        if lost >= best or _meets_own_record(row, other, -1, rows, classes):
            continue
        if _stays_close(other, -1, value, targets, classes):
            best = lost
            chosen = other
    return chosen, best


@part
def _leave(row: Whole, rows: ComposedRows, targets: Targets, classes: ComposedClasses) -> None:
    this_class = classes.class_of[row]
    classes.sizes[this_class] -= 1
    last = classes.members[this_class, classes.sizes[this_class]]
    classes.members[this_class, classes.position[row]] = last
    classes.position[last] = classes.position[row]
    count_combination(this_class, rows.values[row], -1, targets, classes)


@part
def _join(
    row: Whole, this_class: Whole, rows: ComposedRows, targets: Targets, classes: ComposedClasses
) -> None:
    classes.members[this_class, classes.sizes[this_class]] = row
    classes.position[row] = classes.sizes[this_class]
    classes.class_of[row] = this_class
    classes.sizes[this_class] += 1
    count_combination(this_class, rows.values[row], 1, targets, classes)


@lean
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
        this_class = classes.class_of[row]
        if this_class < 0:
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
            _join(partner, this_class, rows, targets, classes)
        else:
            continue
        measure_class(this_class, row, np.int64(-1) if moving else partner, rows, classes)
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
    sized, tally, present = targets.sized, classes.tally, classes.present
    starts = np.empty(len(sequence) + 1, np.int64)
    count = 0
    begin = 0
    for position in range(len(sequence)):
        count_combination(0, values[sequence[position]], 1, targets, classes)
        size = position + 1 - begin
        if size >= least and size < len(sized) and sized[size] and is_close(0, targets, classes):
            starts[count] = begin
            count += 1
            begin = position + 1
            tally[0] = 0
            present[0] = 0
        elif size >= len(sized) - 1:
            return 0
    while begin < len(sequence) and count > 0:
        count -= 1
        for position in range(starts[count], begin):
            count_combination(0, values[sequence[position]], 1, targets, classes)
        begin = starts[count]
        size = len(sequence) - begin
        if size >= len(sized):
            return 0
        if sized[size] and is_close(0, targets, classes):
            starts[count] = begin
            count += 1
            begin = len(sequence)
    if begin < len(sequence):
        return 0
    starts[count] = len(sequence)
    for this_class in range(count):
        for position in range(starts[this_class], starts[this_class + 1]):
            classes.class_of[sequence[position]] = this_class
    tally[0] = 0
    present[0] = 0
    return count
