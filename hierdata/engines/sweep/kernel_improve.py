"""Inner loops of improving classes: dissolving a class, or moving a row, if that lowers the loss.

The published node of a class at a quasi-identifier is the join of its least and its greatest place
(``RowLine``). When a model must be asked, the change is undone, the caller caches the answer, and the change
is tried again. A loss times a number of rows fits into 64 bits, because that of all rows does
(``engines.rows.table.summable``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hierdata.engines.jit import jit, part
from hierdata.engines.rows.kernel import Caps, Numbers, Places, insert_nearest, keeps_caps, widen
from hierdata.engines.sweep.kernel import (
    NEVER,
    NO,
    UNKNOWN,
    YES,
    Lines,
    Memory,
    Words,
    loss_with,
    recall_answer,
)

AT, SEEN, ASKED, CHANGED, COMPLETE, STATE = range(6)
"""The state of half a pass: next position in the order, number of classes seen, number of rows to be asked
about, number of changes made, and whether the end of the order was reached."""


class SweepClasses(NamedTuple):
    """The classes; their members are doubly linked lists."""

    of: Numbers  # [row]: its class, -1 for none
    latest: Numbers  # [class]: the last member, -1 for none
    earlier: Numbers  # [row]: the member before it, -1 for none
    later: Numbers  # [row]: the member after it, -1 for none
    sizes: Numbers  # [class]: rows
    low: Places  # [class, quasi-identifier]: least place
    high: Places  # [class, quasi-identifier]: greatest place
    losses: Numbers  # [class]: LM' of one of its rows, as an integer
    prints: Words  # [class]: see ``sweep.kernel``
    marks: Words  # [row]: what it adds to the print of its class


class PassBuffers(NamedTuple):
    """The state of half a pass, working memory, and in ``members`` a question for the caller."""

    state: Numbers  # [STATE]
    targets: Numbers  # [option]: classes that a row may join, the best first
    increases: Numbers  # [option]: increase of the total loss of the class
    members: Numbers  # [row]: the first ``state[ASKED]`` are the rows to be asked about


@part
def _candidates(
    row: int,
    this_class: int,
    room: int,
    classes: SweepClasses,
    lines: Lines,
    out: Numbers,
    increases: Numbers,
) -> int:
    """Write the other classes whose total loss the row raises least, by less than ``room``, to ``out``.

    The best comes first; of equal ones the lower number. Return how many there are.
    """
    _, _, _, _, sizes, lows, highs, losses, _, _ = classes
    wanted = len(out)
    count = 0
    for other in range(len(sizes)):
        size = sizes[other]
        if size == 0 or other == this_class:
            continue
        bound = increases[wanted - 1] if count == wanted else room
        most = (bound - 1 + size * losses[other]) // (size + 1)
        loss = loss_with(row, other, lows, highs, most + 1, lines)
        if loss <= most:
            increase = (size + 1) * loss - size * losses[other]
            count = insert_nearest(other, increase, 0, count, out, increases)
    return count


@part
def _measure_class(this_class: int, classes: SweepClasses, lines: Lines) -> None:
    """Compute the least and greatest places of a class and its loss from its members."""
    places = lines.places
    _, latest, earlier, _, _, lows, highs, losses, _, _ = classes
    member = latest[this_class]
    for q in range(places.shape[1]):
        lows[this_class, q] = highs[this_class, q] = places[member, q]
    while member >= 0:
        widen(this_class, member, lows, highs, places)
        member = earlier[member]
    losses[this_class] = loss_with(latest[this_class], this_class, lows, highs, NEVER, lines)


@part
def _take(row: int, classes: SweepClasses) -> None:
    """Remove a row from its class, without changing the span of the class."""
    of, latest, earlier, later, sizes, _, _, _, prints, marks = classes
    this_class = of[row]
    before = earlier[row]
    behind = later[row]
    if behind >= 0:
        earlier[behind] = before
    else:
        latest[this_class] = before
    if before >= 0:
        later[before] = behind
    sizes[this_class] -= 1
    prints[this_class] -= marks[row]
    of[row] = -1


@part
def _put_row(row: int, this_class: int, classes: SweepClasses) -> None:
    """Put a row into a class, without changing the span of the class."""
    of, latest, earlier, later, sizes, _, _, _, prints, marks = classes
    before = latest[this_class]
    earlier[row] = before
    later[row] = -1
    if before >= 0:
        later[before] = row
    latest[this_class] = row
    sizes[this_class] += 1
    prints[this_class] += marks[row]
    of[row] = this_class


@part
def _extend_class(row: int, this_class: int, increase: int, classes: SweepClasses, lines: Lines) -> None:
    """Extend the span of a class to a row that was put into it and raised its total loss by ``increase``."""
    _, _, _, _, sizes, lows, highs, losses, _, _ = classes
    widen(this_class, row, lows, highs, lines.places)
    losses[this_class] = ((sizes[this_class] - 1) * losses[this_class] + increase) // sizes[this_class]


@jit
def _recall_verdict(
    this_class: int, asking: bool, classes: SweepClasses, caps: Caps, memory: Memory, members: Numbers
) -> int:
    """Return YES, NO or UNKNOWN for caps and models of a class; ``members`` receives its rows."""
    latest, earlier = classes.latest, classes.earlier
    prints, answers, _ = memory
    if not asking and len(caps.groups) == 0:
        return YES
    filled = 0
    member = latest[this_class]
    while member >= 0:
        members[filled] = member
        filled += 1
        member = earlier[member]
    if not keeps_caps(0, filled, members, caps):
        return NO
    return recall_answer(classes.prints[this_class], prints, answers) if asking else YES


@part
def _join_best(
    row: int,
    options: int,
    asking: bool,
    classes: SweepClasses,
    caps: Caps,
    memory: Memory,
    buffers: PassBuffers,
) -> tuple[int, int]:
    """Put a row into the first of the classes found that accepts it, without changing the span of the class.

    Return YES and the option; NO if none accepts it, or UNKNOWN if the models must be asked.
    """
    state, targets, _, members = buffers
    for option in range(options):
        other = targets[option]
        _put_row(row, other, classes)
        answer = _recall_verdict(other, asking, classes, caps, memory, members)
        if answer == YES:
            return YES, option
        if answer == UNKNOWN:
            state[ASKED] = classes.sizes[other]
        _take(row, classes)
        if answer == UNKNOWN:
            return UNKNOWN, option
    return NO, options


@jit
def start_classes(count: int, classes: SweepClasses, lines: Lines) -> None:
    """Link the members of ``count`` classes and compute their spans."""
    of = classes.of
    for row in range(len(of)):
        this_class = of[row]
        if this_class >= 0:
            _put_row(row, this_class, classes)
    for this_class in range(count):
        _measure_class(this_class, classes, lines)


@jit
def dissolve(
    least: int,
    most_seen: int,
    asking: bool,
    order: Numbers,
    looked_at: Numbers,
    classes: SweepClasses,
    lines: Lines,
    caps: Caps,
    memory: Memory,
    buffers: PassBuffers,
) -> bool:
    """Dissolve the classes of the order whose members lose less elsewhere; return True to ask the models.

    The members join, in ascending order, the class whose loss they raise least of those that accept them; the
    ``len(targets)`` best are tried. All is undone unless the total loss falls. On True the rows
    ``members[:state[ASKED]]`` must be asked about, and the next call tries the class again. ``looked_at``
    [class] counts the trials. It ends after ``most_seen`` classes seen.
    """
    _, _, _, _, sizes, lows, highs, losses, _, _ = classes
    state, targets, increases, _ = buffers
    own_rows = np.empty(2 * least, np.int64)
    moved_to = np.empty(2 * least, np.int64)
    old_low = np.empty((2 * least, lows.shape[1]), lows.dtype)
    old_high = np.empty((2 * least, lows.shape[1]), lows.dtype)
    old_loss = np.empty(2 * least, np.int64)
    while state[AT] < len(order) and state[SEEN] < most_seen:
        this_class = order[state[AT]]
        count = sizes[this_class]
        if count == 0 or count > 2 * least or losses[this_class] == 0:
            looked_at[this_class] += 1
            state[AT] += 1
            continue
        member = classes.latest[this_class]
        for filled in range(count):
            rank = filled
            while rank > 0 and own_rows[rank - 1] > member:
                own_rows[rank] = own_rows[rank - 1]
                rank -= 1
            own_rows[rank] = member
            member = classes.earlier[member]
        room = count * losses[this_class]
        moved = 0
        answer = YES
        while moved < count and answer == YES:
            row = own_rows[moved]
            state[SEEN] += len(sizes)
            options = _candidates(row, this_class, room, classes, lines, targets, increases)
            _take(row, classes)
            answer, option = _join_best(row, options, asking, classes, caps, memory, buffers)
            if answer == YES:
                other = targets[option]
                room -= increases[option]
                moved_to[moved] = other
                old_low[moved] = lows[other]
                old_high[moved] = highs[other]
                old_loss[moved] = losses[other]
                _extend_class(row, other, increases[option], classes, lines)
                moved += 1
            else:
                _put_row(row, this_class, classes)
        if answer == YES:
            state[CHANGED] += 1
        else:
            for undone in range(moved - 1, -1, -1):
                row = own_rows[undone]
                other = moved_to[undone]
                _take(row, classes)
                _put_row(row, this_class, classes)
                lows[other] = old_low[undone]
                highs[other] = old_high[undone]
                losses[other] = old_loss[undone]
            if answer == UNKNOWN:
                return True
        looked_at[this_class] += 1
        state[AT] += 1
    return False


@jit
def move(
    least: int,
    most_seen: int,
    asking: bool,
    order: Numbers,
    looked_at: Numbers,
    classes: SweepClasses,
    lines: Lines,
    caps: Caps,
    memory: Memory,
    buffers: PassBuffers,
) -> bool:
    """Move the rows of the order that lose less elsewhere, one by one; return True to ask the models.

    A row joins the class whose loss it raises least of those that accept it; the ``len(targets)`` best are
    tried. It moves only if that lowers the total loss and its own class satisfies everything without it. On
    True the rows ``members[:state[ASKED]]`` must be asked about, and the next call tries the row again.
    ``looked_at`` [row] counts the trials. It ends after ``most_seen`` classes seen.
    """
    of, _, _, _, sizes, lows, highs, losses, _, _ = classes
    state, targets, increases, members = buffers
    while state[AT] < len(order) and state[SEEN] < most_seen:
        row = order[state[AT]]
        this_class = of[row]
        if sizes[this_class] <= least or losses[this_class] == 0:
            looked_at[row] += 1
            state[AT] += 1
            continue
        old_low = lows[this_class].copy()
        old_high = highs[this_class].copy()
        old_loss = losses[this_class]
        _take(row, classes)
        _measure_class(this_class, classes, lines)
        room = (sizes[this_class] + 1) * old_loss - sizes[this_class] * losses[this_class]
        state[SEEN] += len(sizes) + sizes[this_class]
        answer = _recall_verdict(this_class, asking, classes, caps, memory, members)
        if answer == UNKNOWN:
            state[ASKED] = sizes[this_class]
        if answer == YES:
            options = _candidates(row, this_class, room, classes, lines, targets, increases)
            answer, option = _join_best(row, options, asking, classes, caps, memory, buffers)
        if answer == YES:
            _extend_class(row, targets[option], increases[option], classes, lines)
            state[CHANGED] += 1
        else:
            _put_row(row, this_class, classes)
            lows[this_class] = old_low
            highs[this_class] = old_high
            losses[this_class] = old_loss
            if answer == UNKNOWN:
                return True
        looked_at[row] += 1
        state[AT] += 1
    return False
