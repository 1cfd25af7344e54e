"""Inner loops of reassigning rows to classes: distances of classes from the original, and swaps.

A class is a run of rows, ``members[starts[own]:starts[own + 1]]``; a swap exchanges two entries of two runs.
Sets of values are numbered over all closeness constraints, parents before children. The first set of each
constraint holds every value and has weight 0. A missing value has a number after all sets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.jit import jit, part
from hierdata.engines.rows.kernel import (
    HIGH,
    LOW,
    NOWHERE,
    SECOND_HIGH,
    SECOND_LOW,
    Caps,
    Numbers,
    Places,
    ends_after,
    find_ends,
    keeps_caps,
    loss_between,
)
from hierdata.engines.rows.table import RowLine

UNIT = 2**30
"""Distances are rounded to multiples of 1 / UNIT for comparisons; whether a bound is kept is exact."""

BASE, PLUS, MINUS, ENTER, LEAVE = range(5)
"""Figures of a set in a class, all distances times the denominator. BASE, at a constraint's first set only,
is the distance of the class. PLUS and MINUS are its change if this set and all above it hold one value more,
or
less. ENTER and LEAVE are the distance after a value joins at this set, or leaves it, without an exchange."""

_ANY = np.int64(2**62)


class ClosenessArrays(NamedTuple):
    """The closeness constraints.

    The distance of a class with n values is the sum of ``weight`` |held * total - expected * n| over all
    sets, divided by ``scale * n * total``; its bound is ``top / bottom``. Eight times ``scale * n * total *
    bottom`` fits into 64 bits (``engines.reassignment.closeness``).
    """

    sets: Places  # [constraint, row]: the smallest set that holds the row's value
    first: Numbers  # [constraints + 1]: its first set
    parent: Places  # [set]
    weight: Numbers  # [set]
    expected: Numbers  # [set]: values of the original in it
    total: Numbers  # [constraint]: values of the original
    scale: Numbers  # [constraint]
    top: Numbers  # [constraint]
    bottom: Numbers  # [constraint]


class ReassignedClasses(NamedTuple):
    """The classes, as runs of rows."""

    members: Numbers  # [position]: row
    starts: Numbers  # [classes + 1]: first position
    beyond: Numbers  # [class]: largest excess over a bound, in units
    loss: Numbers  # [class]: total loss of its rows
    extent: NDArray[np.int32]  # [class, (LOW, SECOND_LOW, SECOND_HIGH, HIGH), quasi-identifier]: places


class ForeseenExcess(NamedTuple):
    """The excess of classes after an exchange, kept as it is computed: many searches ask for the same one.

    It is determined by the row that leaves, at its position, and by the sets of the row that comes, its
    combination. What is kept of a class is wrong once its rows change, and is then forgotten.
    """

    combination: Numbers  # [row]: the combination of its sets, from 1
    kept: NDArray[np.int64]  # [combination modulo slots, position]: combination * SHIFT + excess, or 0


SHIFT = 2**31
"""An excess is below this, since no distance is above 1."""


@jit
def excess(constraint: int, moved: int, present: int, closeness: ClosenessArrays) -> int:
    """Return the excess of a distance over its bound, in units: 0 if the bound is kept, else at least 1."""
    top = closeness.top[constraint]
    bottom = closeness.bottom[constraint]
    whole = closeness.scale[constraint] * present * closeness.total[constraint]
    if moved * bottom <= top * whole:
        return 0
    return max(1, int(np.rint((moved / whole - top / bottom) * UNIT)))


@jit
def weigh(
    start: int, end: int, members: Numbers, closeness: ClosenessArrays, held: Numbers, known: Numbers
) -> None:
    """Compute the figures of the class ``members[start:end]`` at every set.

    ``known`` [figure, set] receives the figures, ``held`` [set] the number of values in each set. That of a
    constraint's first set is the number of values present.
    """
    held[:] = 0
    sets = closeness.sets
    for c in range(sets.shape[0]):
        first = closeness.first[c]
        behind = closeness.first[c + 1]
        total = closeness.total[c]
        for position in range(start, end):
            value_set = sets[c, members[position]]
            if value_set < behind:
                held[value_set] += 1
        for s in range(behind - 1, first, -1):
            held[closeness.parent[s]] += held[s]
        present = held[first]
        base = np.int64(0)
        more = np.int64(0)
        less = np.int64(0)
        for s in range(first + 1, behind):
            weight = closeness.weight[s]
            has = held[s] * total
            expected = closeness.expected[s]
            due = expected * present
            distance = abs(has - due)
            base += weight * distance
            with_more = abs(has - due - expected)
            with_less = abs(has - due + expected)
            more += weight * with_more
            less += weight * with_less
            above = closeness.parent[s]
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


@part
def _loss_after(goes: int, comes: int, extent: Places, size: int, line: RowLine) -> int:
    """Return the total loss of a class after a member leaves and another row joins; -1 for none."""
    total = 0
    for b in range(line.places.shape[1]):
        low, high = ends_after(b, goes, comes, extent, line.places)
        total += loss_between(line.first[b] + low, line.first[b] + high, line.above, line.losses)
    return total * size


@jit
def refresh(
    this_class: int,
    classes: ReassignedClasses,
    closeness: ClosenessArrays,
    line: RowLine,
    held: Numbers,
    known: Numbers,
) -> None:
    """Recompute extent, loss and excess of a class; ``held`` and ``known`` are working memory."""
    start = classes.starts[this_class]
    end = classes.starts[this_class + 1]
    extent = classes.extent[this_class]
    for b in range(line.places.shape[1]):
        extent[LOW, b], extent[SECOND_LOW, b], extent[SECOND_HIGH, b], extent[HIGH, b] = find_ends(
            b, start, end, classes.members, line.places, np.int32(-1), np.int32(NOWHERE)
        )
    classes.loss[this_class] = _loss_after(-1, -1, extent, end - start, line)
    weigh(start, end, classes.members, closeness, held, known)
    farthest = 0
    for c in range(closeness.sets.shape[0]):
        first = closeness.first[c]
        if held[first] > 0:
            farthest = max(farthest, excess(c, known[BASE, first], held[first], closeness))
    classes.beyond[this_class] = farthest


@jit
def refresh_all(classes: ReassignedClasses, closeness: ClosenessArrays, line: RowLine) -> None:
    """Compute extent, loss and excess of every class."""
    held = np.zeros(closeness.first[-1], np.int64)
    known = np.zeros((5, closeness.first[-1]), np.int64)
    for this_class in range(len(classes.beyond)):
        refresh(this_class, classes, closeness, line, held, known)


@jit
def _excess_with(
    c: int, goes: int, comes: int, shared: int, closeness: ClosenessArrays, held: Numbers, known: Numbers
) -> int:
    """Return the excess of a class over a bound after one value replaces another, both below ``shared``."""
    first = closeness.first[c]
    behind = closeness.first[c + 1]
    present = held[first]
    if goes >= behind:
        if comes >= behind:
            return excess(c, known[BASE, first], present, closeness) if present > 0 else 0
        return excess(c, known[ENTER, comes], present + 1, closeness)
    if comes >= behind:
        return excess(c, known[LEAVE, goes], present - 1, closeness) if present > 1 else 0
    moved = known[BASE, first] + known[MINUS, goes] - known[MINUS, shared]
    return excess(c, moved + known[PLUS, comes] - known[PLUS, shared], present, closeness)


@jit
def _foresee(
    position: int,
    x: int,
    members: Numbers,
    closeness: ClosenessArrays,
    shared: Places,
    held: Numbers,
    known: Numbers,
) -> int:
    """Return the excess of a class after row ``x`` replaces the row at one position."""
    farthest = 0
    for c in range(closeness.sets.shape[0]):
        goes = closeness.sets[c, members[position]]
        meet = shared[goes] if goes < len(shared) else 0
        farthest = max(farthest, _excess_with(c, goes, closeness.sets[c, x], meet, closeness, held, known))
    return farthest


@jit
def _meet(value_set: int, c: int, closeness: ClosenessArrays, shared: Places) -> None:
    """Compute, for every set of a constraint, the smallest set that holds both it and ``value_set``."""
    first = closeness.first[c]
    behind = closeness.first[c + 1]
    if value_set >= behind:
        return
    shared[first:behind] = -1
    above = value_set
    while above != first:
        shared[above] = above
        above = closeness.parent[above]
    shared[first] = first
    for s in range(first + 1, behind):
        if shared[s] < 0:
            shared[s] = shared[closeness.parent[s]]


@jit
def _keeps(position: int, row: int, start: int, end: int, members: Numbers, caps: Caps) -> bool:
    """Return whether a class keeps every cap with another row at one position."""
    before = members[position]
    members[position] = row
    holds = keeps_caps(start, end, members, caps)
    members[position] = before
    return holds


@jit
def best_swaps(
    this_class: int,
    least: int,
    window: int,
    at_most: int,
    classes: ReassignedClasses,
    closeness: ClosenessArrays,
    line: RowLine,
    caps: Caps,
    foreseen: ForeseenExcess,
    out: Numbers,
) -> int:
    """Write the best swaps of a class to ``out``, best first; return how many there are.

    ``out[i]`` receives two positions in ``members``, the change of the excess of the two classes, and the
    change of their loss. Swaps are ordered by the change of the excess, then of the loss, then by position.
    The excess must fall by at least ``least``; if that is 0, the loss must fall if the excess does not. Swaps
    that break a cap are left out. Partners are the next and the previous classes in turn, until ``window``
    pairs of rows have been compared; more, up to ``at_most``, only while nothing is found.
    """
    members, starts, beyond, kept_loss, extent = classes
    start = starts[this_class]
    end = starts[this_class + 1]
    size = end - start
    constraints = closeness.sets.shape[0]
    count_of_sets = closeness.first[-1]
    held = np.zeros(count_of_sets, np.int64)
    known = np.zeros((5, count_of_sets), np.int64)
    weigh(start, end, members, closeness, held, known)
    shared = np.zeros((size, count_of_sets), np.int32)
    options = np.zeros((size, count_of_sets + constraints), np.int64)
    for i in range(size):
        for c in range(constraints):
            goes = closeness.sets[c, members[start + i]]
            _meet(goes, c, closeness, shared[i])
            for s in range(closeness.first[c], closeness.first[c + 1]):
                options[i, s] = _excess_with(c, goes, s, shared[i, s], closeness, held, known)
            missing = count_of_sets + c
            options[i, missing] = _excess_with(c, goes, missing, 0, closeness, held, known)

    worst = 0  # the constraint that rules out most swaps is checked first
    farthest = -1
    for c in range(constraints):
        if held[closeness.first[c]] > 0:
            own_excess = excess(c, known[BASE, closeness.first[c]], held[closeness.first[c]], closeness)
            if own_excess > farthest:
                worst = c
                farthest = own_excess

    wanted = len(out)
    count = 0
    compared = 0
    last_beyond = np.int64(-least)
    last_loss = _ANY if least > 0 else np.int64(0)
    groups = len(beyond)
    for turn in range(2 * ((groups) // 2)):
        if compared >= at_most or (compared >= window and count > 0):
            break
        step = turn // 2 + 1
        if 2 * step == groups and turn % 2:
            break  # the opposite class has been compared already
        partner = (this_class + step) % groups if turn % 2 == 0 else (this_class - step) % groups
        first = starts[partner]
        behind = starts[partner + 1]
        compared += size * (behind - first)
        weighed = False
        before = beyond[this_class] + beyond[partner]
        lost_before = kept_loss[this_class] + kept_loss[partner]
        for position in range(first, behind):
            y = members[position]
            for i in range(size):
                mine = options[i, closeness.sets[worst, y]] if constraints > 0 else np.int64(0)
                if mine - before > last_beyond:
                    continue
                for c in range(constraints):
                    mine = max(mine, options[i, closeness.sets[c, y]])
                if mine - before > last_beyond:
                    continue
                x = members[start + i]
                tied = mine - before == last_beyond
                if tied and last_loss <= -lost_before:
                    continue
                change = np.int64(0)
                if tied:
                    change = _loss_after(x, y, extent[this_class], size, line) - lost_before
                    if change >= last_loss:
                        continue
                    change += _loss_after(y, x, extent[partner], behind - first, line)
                    if change >= last_loss:
                        continue
                combination = foreseen.combination[x]
                slot = combination % len(foreseen.kept)
                theirs = foreseen.kept[slot, position] - combination * SHIFT
                if theirs < 0 or theirs >= SHIFT:
                    if not weighed:
                        weigh(first, behind, members, closeness, held, known)
                        weighed = True
                    theirs = _foresee(position, x, members, closeness, shared[i], held, known)
                    foreseen.kept[slot, position] = combination * SHIFT + theirs
                less = mine + theirs - before
                if less > last_beyond:
                    continue
                if not tied:
                    change = _loss_after(x, y, extent[this_class], size, line) - lost_before
                    change += _loss_after(y, x, extent[partner], behind - first, line)
                if less == last_beyond and change >= last_loss:
                    continue
                if not _keeps(start + i, y, start, end, members, caps) or not _keeps(
                    position, x, first, behind, members, caps
                ):
                    continue
                count = min(count + 1, wanted)
                rank = count - 1
                while rank > 0 and (
                    out[rank - 1, 2] > less or (out[rank - 1, 2] == less and out[rank - 1, 3] > change)
                ):
                    out[rank] = out[rank - 1]
                    rank -= 1
                out[rank, 0] = start + i
                out[rank, 1] = position
                out[rank, 2] = less
                out[rank, 3] = change
                if count == wanted:
                    last_beyond = out[count - 1, 2]
                    last_loss = out[count - 1, 3]
    return count


@jit
def objective(
    members: Numbers, starts: Numbers, closeness: ClosenessArrays, caps: Caps
) -> tuple[int, int, int, int]:
    """Return the objective of a partition.

    The four figures are the number of rows in classes that break a cap, the largest distance of a class, the
    sum of the distances over all rows, and the number of classes beyond a bound. The distance of a class is
    its largest one over all constraints, in units.
    """
    held = np.zeros(closeness.first[-1], np.int64)
    known = np.zeros((5, closeness.first[-1]), np.int64)
    broken = largest = total = failing = 0
    for this_class in range(len(starts) - 1):
        start = starts[this_class]
        end = starts[this_class + 1]
        if not keeps_caps(start, end, members, caps):
            broken += end - start
        weigh(start, end, members, closeness, held, known)
        distance = 0
        beyond = False
        for c in range(closeness.sets.shape[0]):
            first = closeness.first[c]
            present = held[first]
            if present > 0:
                whole = closeness.scale[c] * present * closeness.total[c]
                distance = max(distance, int(np.rint(known[BASE, first] / whole * UNIT)))
                beyond = beyond or excess(c, known[BASE, first], present, closeness) > 0
        largest = max(largest, distance)
        total += distance * (end - start)
        failing += beyond
    return broken, largest, total, failing
