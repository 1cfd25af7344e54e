"""The inner loop of composing classes: rows change places, or class, while every class stays close enough.

A class is known by the least and the greatest place of its members at every quasi-identifier, and by the
second least and second greatest, so that it is known without any one member too. Its distance from the
original is a sum of integers over sets of values; see ``privacy.base.Closeness``.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.jit import jit
from hierdata.engines.rows.kernel import Numbers, Places

Whole: TypeAlias = "int | np.int64"

LOW, SECOND_LOW, SECOND_HIGH, HIGH = range(4)
"""The places of a class that are remembered at a quasi-identifier."""
NEVER = 2**62
"""What no loss and no limit reaches."""
_NOWHERE = 2**30
_PROPOSED = 12
"""Rows that are proposed to change places with one row, and twice the classes it may join."""
_NEAR = 5
"""How far apart in an order two rows lie at most to be near each other."""


class Rows(NamedTuple):
    """The rows by places, each with the number of its combination of sensitive values.

    ``pairs[first_pair[b] + low * counts[b] + high]`` is the loss of the join of all nodes between two places
    of the b-th quasi-identifier. ``orders`` are some orders of the rows in which neighbours are alike,
    ``ranks`` the rows' positions in them. Where rows of a record ``recur``, a class takes one of them.
    """

    places: Places
    counts: Numbers
    pairs: Numbers
    first_pair: Numbers
    orders: Places
    ranks: Places
    values: Numbers
    records: Numbers
    recur: bool


class Targets(NamedTuple):
    """What classes must keep: distances as sets of values, the sets of all constraints in one row.

    ``paths[value]`` are the sets that hold a combination, -1 behind the last; ``counted[value, constraint]``
    is 1 where it has a value at all. ``limits[constraint, n]`` is the largest distance times n among n values
    present, ``sized[n]`` whether n rows may be a class. Where combinations are ``fixed`` no class may change
    what it holds.
    """

    paths: Places
    counted: Numbers
    first_set: Numbers
    weights: Numbers
    expected: Numbers
    totals: Numbers
    limits: Numbers
    sized: NDArray[np.bool_]
    fixed: bool


class Classes(NamedTuple):
    """The classes: whose they are, their rows, and what is known of them.

    ``loss[class]`` is that of one row of it, ``relief[row]`` how much less that is without this row.
    ``tally[class, set]`` and ``present[class, constraint]`` count.
    """

    class_of: Numbers
    position: Numbers
    members: Places
    sizes: Numbers
    bounds: Places
    loss: Numbers
    relief: Numbers
    tally: Numbers
    present: Numbers


@jit
def draw(state: NDArray[np.uint64], below: Whole) -> Whole:
    """A random number from 0 to before ``below`` (xorshift)."""
    word = state[0]
    word ^= word << np.uint64(13)
    word ^= word >> np.uint64(7)
    word ^= word << np.uint64(17)
    state[0] = word
    return np.int64(((word >> np.uint64(32)) * np.uint64(below)) >> np.uint64(32))


@jit
def _with(
    own: Whole, row: Whole, places: Places, bounds: Places, counts: Numbers, first_pair: Numbers,
    pairs: Numbers,
) -> Whole:  # fmt: skip
    """The loss of a row of a class when one more joins it."""
    loss = np.int64(0)
    for b in range(places.shape[1]):
        place = places[row, b]
        low = min(bounds[own, LOW, b], place)
        high = max(bounds[own, HIGH, b], place)
        loss += pairs[first_pair[b] + low * counts[b] + high]
    return loss


@jit
def _without(
    own: Whole, row: Whole, places: Places, bounds: Places, counts: Numbers, first_pair: Numbers,
    pairs: Numbers,
) -> Whole:  # fmt: skip
    """The loss of a row of this row's class when it has left."""
    loss = np.int64(0)
    for b in range(places.shape[1]):
        place = places[row, b]
        low = bounds[own, SECOND_LOW, b] if place == bounds[own, LOW, b] else bounds[own, LOW, b]
        high = bounds[own, SECOND_HIGH, b] if place == bounds[own, HIGH, b] else bounds[own, HIGH, b]
        loss += pairs[first_pair[b] + low * counts[b] + high]
    return loss


@jit
def _instead(
    own: Whole, row: Whole, other: Whole, places: Places, bounds: Places, counts: Numbers,
    first_pair: Numbers, pairs: Numbers,
) -> Whole:  # fmt: skip
    """The loss of a row of the first row's class when the other has taken its place."""
    loss = np.int64(0)
    for b in range(places.shape[1]):
        place = places[row, b]
        came = places[other, b]
        low = bounds[own, SECOND_LOW, b] if place == bounds[own, LOW, b] else bounds[own, LOW, b]
        high = bounds[own, SECOND_HIGH, b] if place == bounds[own, HIGH, b] else bounds[own, HIGH, b]
        low = min(low, came)
        high = max(high, came)
        loss += pairs[first_pair[b] + low * counts[b] + high]
    return loss


@jit
def _alike(one: Whole, other: Whole, places: Places) -> bool:
    b, width = 0, places.shape[1]
    while b < width and places[one, b] == places[other, b]:
        b += 1
    return bool(b == width)


@jit
def count(
    own: Whole, value: Whole, by: Whole, paths: Places, counted: Numbers, tally: Numbers, present: Numbers
) -> None:
    """Let a combination of values occur so many times more in a class."""
    for at in range(paths.shape[1]):
        if paths[value, at] < 0:
            break
        tally[own, paths[value, at]] += by
    for constraint in range(counted.shape[1]):
        present[own, constraint] += by * counted[value, constraint]


@jit
def close(
    own: Whole, first_set: Numbers, weights: Numbers, expected: Numbers, totals: Numbers, limits: Numbers,
    tally: Numbers, present: Numbers,
) -> bool:  # fmt: skip
    """Whether every distance of a class is within its bound: |c * total - n * expected|, weighted, summed."""
    for constraint in range(len(totals)):
        values = present[own, constraint]
        total = totals[constraint]
        left = limits[constraint, values]
        for at in range(first_set[constraint], first_set[constraint + 1]):
            left -= weights[at] * abs(tally[own, at] * total - values * expected[at])
        if left < 0:
            return False
    return True


@jit
def _may(
    own: Whole, goes: Whole, comes: Whole, paths: Places, counted: Numbers, first_set: Numbers,
    weights: Numbers, expected: Numbers, totals: Numbers, limits: Numbers, tally: Numbers, present: Numbers,
) -> bool:  # fmt: skip
    """Whether a class is close with one combination less and another more; -1 for none."""
    if goes >= 0:
        count(own, goes, -1, paths, counted, tally, present)
    if comes >= 0:
        count(own, comes, 1, paths, counted, tally, present)
    answer = close(own, first_set, weights, expected, totals, limits, tally, present)
    if goes >= 0:
        count(own, goes, 1, paths, counted, tally, present)
    if comes >= 0:
        count(own, comes, -1, paths, counted, tally, present)
    return answer


@jit
def _meets(
    row: Whole, own: Whole, leaving: Whole, recur: bool, records: Numbers, members: Places, sizes: Numbers
) -> bool:
    """Whether a row would meet one of its own record in a class that another leaves."""
    if recur:
        for at in range(sizes[own]):
            member = members[own, at]
            if member != leaving and records[member] == records[row]:
                return True
    return False


@jit
def look(own: Whole, went: Whole, came: Whole, rows: Rows, classes: Classes) -> None:
    """Work out the bounds of a class, its loss, and what each member's leaving would relieve.

    ``went`` and ``came`` are the rows that changed since it was looked at, -1 for none; both -1 look at it
    for the first time. What the rows cannot have moved is left as it is.
    """
    places, counts, pairs, first_pair = rows[:4]
    members, sizes, bounds, losing, relief = classes[2:7]
    size = sizes[own]
    moved = went < 0 and came < 0
    for b in range(places.shape[1]):
        inside = went >= 0 or came >= 0
        for row in (went, came):
            if row >= 0:
                place = places[row, b]
                inside = inside and bounds[own, SECOND_LOW, b] < place < bounds[own, SECOND_HIGH, b]
        if inside or (went >= 0 and came >= 0 and places[went, b] == places[came, b]):
            continue
        # No place lies beyond those of before and of who came: found twice on both sides, that is all.
        floor = np.int32(-1)
        ceiling = np.int32(_NOWHERE)
        if went >= 0 or came >= 0:
            floor = bounds[own, LOW, b]
            ceiling = bounds[own, HIGH, b]
            if came >= 0:
                floor = min(floor, places[came, b])
                ceiling = max(ceiling, places[came, b])
        low = second_low = np.int32(_NOWHERE)
        high = second_high = np.int32(-1)
        for at in range(size):
            if second_low == floor and second_high == ceiling:
                break
            place = places[members[own, at], b]
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
        moved |= bounds[own, LOW, b] != low or bounds[own, SECOND_LOW, b] != second_low
        moved |= bounds[own, HIGH, b] != high or bounds[own, SECOND_HIGH, b] != second_high
        bounds[own, LOW, b] = low
        bounds[own, SECOND_LOW, b] = second_low
        bounds[own, HIGH, b] = high
        bounds[own, SECOND_HIGH, b] = second_high
    if moved:
        loss = np.int64(0)
        for b in range(places.shape[1]):
            low = bounds[own, LOW, b]
            loss += pairs[first_pair[b] + low * counts[b] + bounds[own, HIGH, b]]
        losing[own] = loss
    for at in range(0 if moved else size - 1 if came >= 0 else size, size):  # who came is the last
        row = members[own, at]
        rest: Whole = np.int64(0)
        if size > 1:
            rest = _without(own, row, places, bounds, counts, first_pair, pairs)
        relief[row] = losing[own] - rest


@jit
def fill(rows: Rows, targets: Targets, classes: Classes) -> None:
    """Enter the rows that have a class into it."""
    for row in range(len(classes.class_of)):
        own = classes.class_of[row]
        if own >= 0:
            classes.members[own, classes.sizes[own]] = row
            classes.position[row] = classes.sizes[own]
            classes.sizes[own] += 1
            count(own, rows.values[row], 1, targets.paths, targets.counted, classes.tally, classes.present)
    for own in range(len(classes.sizes)):
        look(own, -1, -1, rows, classes)


@jit
def _neighbour(row: Whole, state: NDArray[np.uint64], orders: Places, ranks: Places) -> Whole:
    """A row near another in one of the orders; -1 beyond the ends."""
    order = draw(state, orders.shape[0])
    at = ranks[order, row] + draw(state, 2 * _NEAR + 1) - _NEAR
    found = np.int64(-1)
    if 0 <= at < orders.shape[1]:
        found = np.int64(orders[order, at])
    return found


@jit
def _partner(
    turn: Whole, row: Whole, own: Whole, state: NDArray[np.uint64], orders: Places, ranks: Places,
    class_of: Numbers, members: Places, sizes: Numbers,
) -> Whole:  # fmt: skip
    """A row to change places with: one near a member of the row's class, or one that stands beside a row near
    it, and now and then any; -1 for none."""
    if turn % 4 == 3:
        return draw(state, orders.shape[1])
    near = np.int64(row)
    if turn % 4 != 1:
        near = np.int64(members[own, draw(state, sizes[own])])
    found = _neighbour(near, state, orders, ranks)
    if found >= 0 and turn % 4 == 1:
        other = class_of[found]
        found = np.int64(members[other, draw(state, sizes[other])]) if other >= 0 else np.int64(-1)
    return found


@jit
def _exchange(
    row: Whole, room: Whole, state: NDArray[np.uint64], rows: Rows, targets: Targets, classes: Classes
) -> tuple[Whole, Whole]:
    """The best of some rows to change places with, and how much more is lost then; -1 if none is allowed."""
    places, counts, pairs, first_pair, orders, ranks, values = rows[:7]
    class_of, _, members, sizes, bounds, losing, relief, tally, present = classes
    paths, counted, first_set, weights, expected, totals, limits, _, fixed = targets
    recur, records = rows.recur, rows.records
    own = class_of[row]
    value = values[row]
    best: Whole = np.int64(room)
    chosen: Whole = np.int64(-1)
    for turn in range(_PROPOSED):
        partner = _partner(turn, row, own, state, orders, ranks, class_of, members, sizes)
        if partner < 0:
            continue
        other = class_of[partner]
        if other < 0 or other == own or (fixed and values[partner] != value):
            continue
        taken = _instead(own, row, partner, places, bounds, counts, first_pair, pairs)
        here = sizes[own] * (taken - losing[own])
        if here - sizes[other] * relief[partner] >= best or _alike(row, partner, places):
            continue
        taken = _instead(other, partner, row, places, bounds, counts, first_pair, pairs)
        lost: Whole = here + sizes[other] * (taken - losing[other])
        if lost >= best or _meets(partner, own, row, recur, records, members, sizes):
            continue
        if _meets(row, other, partner, recur, records, members, sizes):
            continue
        came = values[partner]
        if came != value:
            if not _may(
                own, value, came, paths, counted, first_set, weights, expected, totals, limits, tally, present
            ):  # fmt: skip
                continue
            if not _may(
                other, came, value, paths, counted, first_set, weights, expected, totals, limits, tally,
                present,
            ):  # fmt: skip
                continue
        best = lost
        chosen = partner
    return chosen, best


@jit
def _move(
    row: Whole, room: Whole, state: NDArray[np.uint64], rows: Rows, targets: Targets, classes: Classes
) -> tuple[Whole, Whole]:
    """The best of some classes to join, and how much more is lost then; -1 if none is allowed."""
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
    if not _may(
        own, value, -1, paths, counted, first_set, weights, expected, totals, limits, tally, present
    ):  # fmt: skip
        return chosen, best
    here = (size - 1) * _without(own, row, places, bounds, counts, first_pair, pairs)
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
        taken = _with(other, row, places, bounds, counts, first_pair, pairs)
        lost = here + joined * taken - sizes[other] * losing[other]
        if lost >= best or _meets(row, other, -1, recur, records, members, sizes):
            continue
        if _may(
            other, -1, value, paths, counted, first_set, weights, expected, totals, limits, tally, present
        ):  # fmt: skip
            best = lost
            chosen = other
    return chosen, best


@jit
def _leave(row: Whole, rows: Rows, targets: Targets, classes: Classes) -> None:
    own = classes.class_of[row]
    classes.sizes[own] -= 1
    last = classes.members[own, classes.sizes[own]]
    classes.members[own, classes.position[row]] = last
    classes.position[last] = classes.position[row]
    count(own, rows.values[row], -1, targets.paths, targets.counted, classes.tally, classes.present)


@jit
def _join(row: Whole, own: Whole, rows: Rows, targets: Targets, classes: Classes) -> None:
    classes.members[own, classes.sizes[own]] = row
    classes.position[row] = classes.sizes[own]
    classes.class_of[row] = own
    classes.sizes[own] += 1
    count(own, rows.values[row], 1, targets.paths, targets.counted, classes.tally, classes.present)


@jit
def compose(
    heat: Whole,
    rooms: Numbers,
    state: NDArray[np.uint64],
    rows: Rows,
    targets: Targets,
    classes: Classes,
) -> Whole:
    """One pass: as many rows as there are, drawn at random, change places or class; answer how many did.

    A change is made if it adds less than a random room to the total loss: ``rooms`` are quantiles in 1024ths
    of ``heat``; without heat every change lessens it. Only what leaves both classes close is a change.
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
        look(own, row, np.int64(-1) if moving else partner, rows, classes)
        look(other, np.int64(-1) if moving else partner, row, rows, classes)
        changes += 1
    return changes


@jit
def chunks(least: Whole, sequence: Numbers, values: Numbers, targets: Targets, classes: Classes) -> Whole:
    """Cut a sequence of rows into classes of ``least`` rows or more, each as short as is close; answer how
    many. What is left at the end joins the class before it, and that the one before, until it is close.

    The first entry of the tables of ``classes`` is working memory, ``class_of`` receives the classes.
    """
    paths, counted, first_set, weights, expected, totals, limits, sized, _ = targets
    tally, present = classes.tally, classes.present
    starts = np.empty(len(sequence) + 1, np.int64)
    found = 0
    begin = 0
    for at in range(len(sequence)):
        count(0, values[sequence[at]], 1, paths, counted, tally, present)
        size = at + 1 - begin
        if (
            size >= least
            and size < len(sized)
            and sized[size]
            and close(0, first_set, weights, expected, totals, limits, tally, present)
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
            count(0, values[sequence[at]], 1, paths, counted, tally, present)
        begin = starts[found]
        size = len(sequence) - begin
        if size >= len(sized):
            return 0
        if sized[size] and close(0, first_set, weights, expected, totals, limits, tally, present):
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
