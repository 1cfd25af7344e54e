"""The inner loops of giving records other classes: distances of classes from the original, and swaps.

A class is a run of rows, ``members[starts[own]:starts[own + 1]]``; a swap exchanges two entries of the run.
Sets of values are numbered over all closeness constraints, parents before what they hold; the first of each
constraint holds every value and weighs nothing. A missing value stands behind all sets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.jit import jit
from hierdata.engines.rows.kernel import Caps, Numbers, Places, keeps_caps, loss_between
from hierdata.engines.rows.order import RowLine

UNIT = 2**30
"""Distances are ordered after rounding to this part of 1; what is within its bound is decided exactly."""

BASE, PLUS, MINUS, ENTER, LEAVE = range(5)
"""What is known of a set in a class: BASE stands at a constraint's first set. All are distances times
denominator; PLUS and MINUS say what changes if the sets from this one up hold one value more, or less; ENTER
and LEAVE are the whole if a value joins there, or goes, and none takes its place."""

_ANY = np.int64(2**62)

LOW, NEXT_LOW, HIGH, NEXT_HIGH = range(4)
"""The two least and the two greatest places of a class at a quasi-identifier."""


class ClosenessArrays(NamedTuple):
    """Closeness constraints: ``sets[constraint, row]`` is the smallest set that holds the row's value.

    Constraint c has the sets from ``first[c]`` to ``first[c + 1]``; with n values the distance is the sum of
    ``weight`` |held * total - expected * n| over ``scale * n * total``, and ``top / bottom`` its bound. Eight
    times ``scale * n * total * bottom`` fits into 64 bits (``engines.reassigning.ground``).
    """

    sets: Places
    first: Numbers
    parent: Places
    weight: Numbers
    expected: Numbers
    total: Numbers
    scale: Numbers
    top: Numbers
    bottom: Numbers


class ReassignedClasses(NamedTuple):
    """The classes: their rows, how far each is beyond its bounds, what it loses, and its places."""

    members: Numbers
    starts: Numbers
    beyond: Numbers
    loss: Numbers
    extent: NDArray[np.int32]


@jit
def excess(constraint: int, moved: int, present: int, ground: ClosenessArrays) -> int:
    """How far a distance is beyond its bound, in units: 0 if it is within, at least 1 if not."""
    top = ground.top[constraint]
    bottom = ground.bottom[constraint]
    whole = ground.scale[constraint] * present * ground.total[constraint]
    if moved * bottom <= top * whole:
        return 0
    return max(1, int(np.rint((moved / whole - top / bottom) * UNIT)))


@jit
def weigh(
    start: int, end: int, members: Numbers, ground: ClosenessArrays, held: Numbers, known: Numbers
) -> None:
    """Write to ``known`` what the class ``members[start:end]`` is at every set.

    ``held`` receives how many of its values each set holds; that of a constraint's first set is the number
    of values present.
    """
    held[:] = 0
    sets = ground.sets
    for c in range(sets.shape[0]):
        first = ground.first[c]
        behind = ground.first[c + 1]
        total = ground.total[c]
        for at in range(start, end):
            own = sets[c, members[at]]
            if own < behind:
                held[own] += 1
        for s in range(behind - 1, first, -1):
            held[ground.parent[s]] += held[s]
        present = held[first]
        base = np.int64(0)
        more = np.int64(0)
        less = np.int64(0)
        for s in range(first + 1, behind):
            weight = ground.weight[s]
            has = held[s] * total
            expected = ground.expected[s]
            due = expected * present
            distance = abs(has - due)
            base += weight * distance
            with_more = abs(has - due - expected)
            with_less = abs(has - due + expected)
            more += weight * with_more
            less += weight * with_less
            above = ground.parent[s]
            deep = above != first
            known[PLUS, s] = weight * (abs(has + total - due) - distance)
            known[MINUS, s] = weight * (abs(has - total - due) - distance)
            known[ENTER, s] = weight * (abs(has + total - due - expected) - with_more)
            known[LEAVE, s] = weight * (abs(has - total - due + expected) - with_less)
            if deep:
                for which in (PLUS, MINUS, ENTER, LEAVE):
                    known[which, s] += known[which, above]
        known[BASE, first] = base
        known[PLUS, first] = 0
        known[MINUS, first] = 0
        known[ENTER, first] = more
        known[LEAVE, first] = less
        for s in range(first + 1, behind):
            known[ENTER, s] += more
            known[LEAVE, s] += less


@jit
def _extend(start: int, end: int, members: Numbers, places: Places, extent: Places) -> None:
    """Write the two least and the two greatest places of a class at each quasi-identifier."""
    far = np.int32(2**31 - 1)
    for b in range(places.shape[1]):
        low = next_low = far
        high = next_high = np.int32(-1)
        for at in range(start, end):
            place = places[members[at], b]
            if place < low:
                low, next_low = place, low
            elif place < next_low:
                next_low = place
            if place > high:
                high, next_high = place, high
            elif place > next_high:
                next_high = place
        extent[LOW, b] = low
        extent[NEXT_LOW, b] = next_low
        extent[HIGH, b] = high
        extent[NEXT_HIGH, b] = next_high


@jit
def refresh(
    own: int,
    classes: ReassignedClasses,
    ground: ClosenessArrays,
    line: RowLine,
    held: Numbers,
    known: Numbers,
) -> None:
    """Work out anew what is kept of a class."""
    start = classes.starts[own]
    end = classes.starts[own + 1]
    _extend(start, end, classes.members, line.places, classes.extent[own])
    total = np.int64(0)
    for b in range(line.places.shape[1]):
        low = line.first[b] + classes.extent[own, LOW, b]
        total += loss_between(low, line.first[b] + classes.extent[own, HIGH, b], line.above, line.losses)
    classes.loss[own] = total * (end - start)
    weigh(start, end, classes.members, ground, held, known)
    farthest = 0
    for c in range(ground.sets.shape[0]):
        first = ground.first[c]
        if held[first] > 0:
            farthest = max(farthest, excess(c, known[BASE, first], held[first], ground))
    classes.beyond[own] = farthest


@jit
def refresh_all(classes: ReassignedClasses, ground: ClosenessArrays, line: RowLine) -> None:
    """Work out what is kept of every class."""
    held = np.zeros(ground.first[-1], np.int64)
    known = np.zeros((5, ground.first[-1]), np.int64)
    for own in range(len(classes.beyond)):
        refresh(own, classes, ground, line, held, known)


@jit
def _excess_with(
    c: int, goes: int, comes: int, shared: int, ground: ClosenessArrays, held: Numbers, known: Numbers
) -> int:
    """How far a class is beyond a bound with one value for another; both lie below ``shared``."""
    first = ground.first[c]
    behind = ground.first[c + 1]
    present = held[first]
    if goes >= behind:
        if comes >= behind:
            return excess(c, known[BASE, first], present, ground) if present > 0 else 0
        return excess(c, known[ENTER, comes], present + 1, ground)
    if comes >= behind:
        return excess(c, known[LEAVE, goes], present - 1, ground) if present > 1 else 0
    moved = known[BASE, first] + known[MINUS, goes] - known[MINUS, shared]
    return excess(c, moved + known[PLUS, comes] - known[PLUS, shared], present, ground)


@jit
def _meet(own: int, c: int, ground: ClosenessArrays, shared: Places) -> None:
    """Write, for every set of a constraint, the smallest set that holds it and ``own``."""
    first = ground.first[c]
    behind = ground.first[c + 1]
    if own >= behind:
        return
    shared[first:behind] = -1
    at = own
    while at != first:
        shared[at] = at
        at = ground.parent[at]
    shared[first] = first
    for s in range(first + 1, behind):
        if shared[s] < 0:
            shared[s] = shared[ground.parent[s]]


@jit
def _loss_with(row: int, goes: int, extent: Places, size: int, line: RowLine) -> int:
    """What a class loses with one row for another."""
    total = 0
    for b in range(line.places.shape[1]):
        place = line.places[row, b]
        old = line.places[goes, b]
        low = extent[NEXT_LOW, b] if old == extent[LOW, b] else extent[LOW, b]
        high = extent[NEXT_HIGH, b] if old == extent[HIGH, b] else extent[HIGH, b]
        total += loss_between(
            line.first[b] + min(low, place), line.first[b] + max(high, place), line.above, line.losses
        )
    return total * size


@jit
def _keeps(at: int, row: int, start: int, end: int, members: Numbers, caps: Caps) -> bool:
    """Whether a class keeps every cap with another row at one place of its run."""
    before = members[at]
    members[at] = row
    holds = keeps_caps(start, end, members, caps)
    members[at] = before
    return holds


@jit
def best_swaps(
    own: int,
    least: int,
    window: int,
    at_most: int,
    classes: ReassignedClasses,
    ground: ClosenessArrays,
    line: RowLine,
    caps: Caps,
    found: Numbers,
) -> int:
    """Write the best swaps of a class to ``found``, best first; answer how many there are.

    ``found[i]`` receives two places in ``members`` and what the swap changes: how far the two classes are
    beyond their bounds, and what they lose. The first change counts, then the second, then who comes first.
    The first must fall by ``least``; where that is 0, the second must fall if the first does not. Swaps that
    break a cap are left out. Partners are the classes after and before, in turn, until ``window`` pairs of
    rows have been looked at; more, up to ``at_most``, only while nothing is found.
    """
    members, starts, beyond, kept_loss, extent = classes
    start = starts[own]
    end = starts[own + 1]
    size = end - start
    constraints = ground.sets.shape[0]
    count_of_sets = ground.first[-1]
    held = np.zeros(count_of_sets, np.int64)
    known = np.zeros((5, count_of_sets), np.int64)
    weigh(start, end, members, ground, held, known)
    shared = np.zeros((size, count_of_sets), np.int32)
    options = np.zeros((size, count_of_sets + constraints), np.int64)
    for i in range(size):
        for c in range(constraints):
            goes = ground.sets[c, members[start + i]]
            _meet(goes, c, ground, shared[i])
            for s in range(ground.first[c], ground.first[c + 1]):
                options[i, s] = _excess_with(c, goes, s, shared[i, s], ground, held, known)
            missing = count_of_sets + c
            options[i, missing] = _excess_with(c, goes, missing, 0, ground, held, known)

    worst = 0  # the constraint that says most about a swap is looked at first
    farthest = -1
    for c in range(constraints):
        if held[ground.first[c]] > 0:
            own_excess = excess(c, known[BASE, ground.first[c]], held[ground.first[c]], ground)
            if own_excess > farthest:
                worst = c
                farthest = own_excess

    wanted = len(found)
    count = 0
    seen = 0
    last_beyond = np.int64(-least)
    last_loss = _ANY if least > 0 else np.int64(0)
    groups = len(beyond)
    for turn in range(2 * ((groups) // 2)):
        if seen >= at_most or (seen >= window and count > 0):
            break
        step = turn // 2 + 1
        if 2 * step == groups and turn % 2:
            break  # the class opposite was looked at
        partner = (own + step) % groups if turn % 2 == 0 else (own - step) % groups
        first = starts[partner]
        behind = starts[partner + 1]
        seen += size * (behind - first)
        weighed = False
        before = beyond[own] + beyond[partner]
        lost_before = kept_loss[own] + kept_loss[partner]
        for at in range(first, behind):
            y = members[at]
            for i in range(size):
                mine = options[i, ground.sets[worst, y]] if constraints > 0 else np.int64(0)
                if mine - before > last_beyond:
                    continue
                for c in range(constraints):
                    mine = max(mine, options[i, ground.sets[c, y]])
                if mine - before > last_beyond:
                    continue
                x = members[start + i]
                tied = mine - before == last_beyond
                if tied and last_loss <= -lost_before:
                    continue
                change = np.int64(0)
                if tied:
                    change = _loss_with(y, x, extent[own], size, line) - lost_before
                    if change >= last_loss:
                        continue
                    change += _loss_with(x, y, extent[partner], behind - first, line)
                    if change >= last_loss:
                        continue
                if not weighed:
                    weigh(first, behind, members, ground, held, known)
                    weighed = True
                theirs = 0
                for c in range(constraints):
                    goes = ground.sets[c, y]
                    comes = ground.sets[c, x]
                    meet = shared[i, goes] if goes < count_of_sets else 0
                    theirs = max(theirs, _excess_with(c, goes, comes, meet, ground, held, known))
                    if mine + theirs - before > last_beyond:
                        break
                less = mine + theirs - before
                if less > last_beyond:
                    continue
                if not tied:
                    change = _loss_with(y, x, extent[own], size, line) - lost_before
                    change += _loss_with(x, y, extent[partner], behind - first, line)
                if less == last_beyond and change >= last_loss:
                    continue
                if not _keeps(start + i, y, start, end, members, caps) or not _keeps(
                    at, x, first, behind, members, caps
                ):
                    continue
                count = min(count + 1, wanted)
                place = count - 1
                while place > 0 and (
                    found[place - 1, 2] > less
                    or (found[place - 1, 2] == less and found[place - 1, 3] > change)
                ):
                    found[place] = found[place - 1]
                    place -= 1
                found[place, 0] = start + i
                found[place, 1] = at
                found[place, 2] = less
                found[place, 3] = change
                if count == wanted:
                    last_beyond = found[count - 1, 2]
                    last_loss = found[count - 1, 3]
    return count


@jit
def objective(
    members: Numbers, starts: Numbers, ground: ClosenessArrays, caps: Caps
) -> tuple[int, int, int, int]:
    """Rows in classes that break a cap, the largest distance, the sum over rows, and how many are beyond.

    Distances are those of the classes, the largest over all constraints, in units.
    """
    held = np.zeros(ground.first[-1], np.int64)
    known = np.zeros((5, ground.first[-1]), np.int64)
    broken = largest = total = failing = 0
    for own in range(len(starts) - 1):
        start = starts[own]
        end = starts[own + 1]
        if not keeps_caps(start, end, members, caps):
            broken += end - start
        weigh(start, end, members, ground, held, known)
        distance = 0
        beyond = False
        for c in range(ground.sets.shape[0]):
            first = ground.first[c]
            present = held[first]
            if present > 0:
                whole = ground.scale[c] * present * ground.total[c]
                distance = max(distance, int(np.rint(known[BASE, first] / whole * UNIT)))
                beyond = beyond or excess(c, known[BASE, first], present, ground) > 0
        largest = max(largest, distance)
        total += distance * (end - start)
        failing += beyond
    return broken, largest, total, failing
