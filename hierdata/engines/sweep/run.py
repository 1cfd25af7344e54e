"""One run of sweep: close classes, gather, attach leftovers, or start from cuts; then improve.

Lattice nodes are closed by rising loss. Classes are gathered around the rows that no node closed, where rows
are closest first. Passes of improvement dissolve classes and move rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import StepInput, silent
from hierdata.engines.mondrian.run import cut, mondrian, unite_equal_classes
from hierdata.engines.rows.constraints import confirm_classes, shortage
from hierdata.engines.rows.leftovers import attach
from hierdata.engines.rows.table import RowLine, classes_of, losses_of, partition_of, unaccepted_cost
from hierdata.engines.sweep.answers import Answers, best_depths, generalized_places, order_columns, pack_line
from hierdata.engines.sweep.kernel import (
    GROUPS_ASKED,
    LEFT,
    MADE,
    SWEEP_STATE,
    VISITS,
    LatticeArrays,
    Lines,
    SweepBuffers,
    crowding,
    gather,
    mix_words,
    near,
    sweep,
)
from hierdata.engines.sweep.kernel_improve import (
    ASKED,
    AT,
    CHANGED,
    COMPLETE,
    STATE,
    PassBuffers,
    SweepClasses,
    dissolve,
    move,
    start_classes,
)
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import SUPPRESSED, Partition

VISITED = 256
"""The average number of node visits per row after which the sweep ends."""
_WEIGHT = 256
"""The number of visits that checking one group counts for."""


def close_classes(line: RowLine, answers: Answers, progress: Callable[[int], None]) -> NDArray[np.int64]:
    """Return the classes of the sweep; rows that no node closed have no class.

    At each node the remaining rows are grouped by their published values at its depths. Every group that is
    large enough and satisfies all models becomes a class.
    """
    count = len(line.places)
    classes = np.full(count, SUPPRESSED, np.int64)
    nodes = generalized_places(line.above)
    size = max(16, 2 ** (2 * count).bit_length())
    codes = mix_words(np.arange(len(line.losses)))
    lattice = LatticeArrays(best_depths(line, nodes), line.places, line.first, nodes, codes)
    groups = count // answers.least + 1
    buffers = SweepBuffers(
        state=np.zeros(SWEEP_STATE, np.int64),
        left=np.arange(count),
        slots=np.empty(count, np.int64),
        keys=np.empty(size, np.uint64),
        counts=np.empty(size, np.int64),
        grouped=np.empty(count, np.int64),
        asked=np.empty((groups, 2), np.int64),
        asked_prints=np.empty(groups, np.uint64),
    )
    state = buffers.state
    state[LEFT] = count
    while sweep(
        answers.least, VISITED * count, answers.asking, lattice, answers.marks, classes, buffers,
        answers.caps, answers.memory,
    ):  # fmt: skip
        found = buffers.asked[: state[GROUPS_ASKED]].tolist()
        answers.ask([buffers.grouped[start:end] for start, end in found])
        state[VISITS] += _WEIGHT * len(found)
        progress(count - int(state[LEFT]))
    assert state[MADE] == int(classes.max(initial=SUPPRESSED)) + 1
    return classes


_SAMPLE, _NEAREST = 2048, 5
"""Sample size and rank: the closeness of a row is the loss of its join with the 5th nearest of 2,048 rows."""
_COMPARED_TO_GATHER = 2**26
"""The number of row comparisons in total, and also with the sample."""
_NEAR = 64
"""The number of candidates for the members of a class, beyond the least class size."""
_REFUSED = 64
"""The search ends when failures exceed successes by this number."""


def gather_classes(
    line: RowLine, lines: Lines, answers: Answers, classes: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the classes, with new ones built from rows without a class.

    A class is built around each remaining row, where rows are closest first: of the nearest remaining rows,
    those that raise the loss least join one by one, until all models hold. In large tables the nearest rows
    are searched in a window of rows in the order of the regions that ``mondrian`` would cut, so that at most
    about 2^26 rows are compared. The search ends when most rows find no class.
    """
    left = np.flatnonzero(classes == SUPPRESSED)
    least = answers.least
    if len(left) < least:
        return classes
    classes = classes.copy()
    window = 1 + _COMPARED_TO_GATHER * least // len(left)
    if window < len(left):
        left = cut(line, left, [], least, None, silent).order
    sample = rng.choice(left, min(len(left), _SAMPLE, 1 + _COMPARED_TO_GATHER // len(left)), replace=False)
    seeds = np.argsort(crowding(left, sample, _NEAREST, lines), kind="stable")
    found = np.empty(least + _NEAR, np.int64)
    first = made = int(classes.max()) + 1
    refused = 0
    for at in seeds.tolist():
        if classes[left[at]] != SUPPRESSED:
            continue
        start = max(0, min(at - window // 2, len(left) - window))
        count = near(left[at], start, min(start + window, len(left)), left, classes, lines, found)
        size = _least_that_holds(found[:count], lines, answers)
        if size:
            classes[found[:size]] = made
            made += 1
        elif (refused := refused + 1) > _REFUSED + made - first:
            break
    return classes


def _least_that_holds(gathered: NDArray[np.int64], lines: Lines, answers: Answers) -> int:
    """Return the least number of gathered rows that satisfy all models; 0 if none does."""
    size = 1
    for wanted in range(answers.least, len(gathered) + 1):
        gather(size, wanted, gathered, lines)
        size = wanted
        if answers.holds(gathered[:size]):
            return size
    return 0


_COMPARED_A_ROW = 64
"""The number of classes per row of the table that a pass considers to dissolve, and again to move;"""
_AFFORDED = 2**23
"""at least this number in total."""
_OPTIONS = 4
"""The number of classes that a row tries to join, the nearest first."""


def improve_classes(
    lines: Lines, answers: Answers, classes: NDArray[np.int64], passes: int
) -> NDArray[np.int64]:
    """Return the classes after some passes, with a lower loss; all models hold in them as before.

    A pass dissolves classes of at most twice the least size, then moves single rows. Both start with those
    considered least often, then those that lose most, then by number. A class is dissolved if its rows
    together lose less in other classes; a row is moved if both classes then lose less. The numbers of classes
    may have gaps afterwards.
    """
    count, columns = int(classes.max(initial=-1)) + 1, lines.places.shape[1]
    rows = len(classes)
    if not count:
        return classes
    own = SweepClasses(
        classes.copy(),
        np.full(count, -1),
        np.full(rows, -1),
        np.full(rows, -1),
        np.zeros(count, np.int64),
        np.zeros((count, columns), np.int32),
        np.zeros((count, columns), np.int32),
        np.zeros(count, np.int64),
        np.zeros(count, np.uint64),
    )
    start_classes(count, own, answers.marks, lines)
    seen = np.zeros(count, np.int64), np.zeros(rows, np.int64)
    for _ in range(passes):
        changes, complete = 0, True
        for work, looked_at in zip((dissolve, move), seen, strict=True):
            losing = own.losses if work is dissolve else np.append(own.losses, 0)[own.of]
            order = np.lexsort((-losing, looked_at))
            state = _run(work, order[losing[order] > 0], looked_at, own, lines, answers)
            changes += int(state[CHANGED])
            complete = complete and bool(state[COMPLETE])
        if complete and not changes:
            break
    return own.of


def _run(
    work: Callable[..., bool],
    order: NDArray[np.int64],
    looked_at: NDArray[np.int64],
    classes: SweepClasses,
    lines: Lines,
    answers: Answers,
) -> NDArray[np.int64]:
    """Run one half of a pass; return its state."""
    rows = len(classes.of)
    most = max(_AFFORDED, _COMPARED_A_ROW * rows)
    state, found, increases = np.zeros(STATE, np.int64), *np.empty((2, _OPTIONS), np.int64)
    buffers = PassBuffers(state, found, increases, np.empty(rows, np.int64))
    while work(
        answers.least, most, answers.asking, order, looked_at, classes, lines, answers.marks, answers.caps,
        answers.memory, buffers,
    ):  # fmt: skip
        answers.ask([buffers.members[: state[ASKED]]])
    state[COMPLETE] = state[AT] == len(order)
    return state


FEW, MANY = 64, 8
"""If nodes leave more than 1 row in FEW, cuts are tried; above 1 in MANY after gathering, used."""


def sweep_rows(given: StepInput, passes: int) -> Partition:
    """Partition the rows of the scope (see ``Sweep``)."""
    forest, scope, constraints = given.problem
    line, answers = order_columns(RowLine.of(forest, scope)), Answers(forest, scope, constraints)
    lines = pack_line(line)
    classes = close_classes(line, answers, given.progress)
    begun = []
    if FEW * int((classes == SUPPRESSED).sum()) > len(classes):
        begun.append(classes_of(mondrian(replace(given, progress=silent)), scope))
    classes = gather_classes(line, lines, answers, classes, given.rng)
    classes = confirm_classes(forest, scope, constraints, classes)
    left = np.flatnonzero(classes == SUPPRESSED)
    if not begun or MANY * len(left) <= len(classes):
        begun.append(attach(forest, scope, constraints, classes, left, given.rng))
    classes = min(begun, key=lambda own: _partition_loss(forest, scope, own))
    given.progress(len(classes))
    classes = unite_equal_classes(forest, scope, constraints, classes)
    classes = confirm_classes(forest, scope, constraints, improve_classes(lines, answers, classes, passes))
    classes = unite_equal_classes(forest, scope, constraints, classes)
    gone = int((classes == SUPPRESSED).sum())
    reason = shortage(forest, scope, constraints) if gone == len(classes) else ""
    return partition_of(forest, scope, classes, Counter({unaccepted_cost(scope): gone}), reason)


def _partition_loss(forest: Forest, scope: Scope, classes: NDArray[np.int64]) -> tuple[int, int]:
    """Return the number of rows without a class, and the loss of the others."""
    return int((classes == SUPPRESSED).sum()), int(losses_of(forest, scope, classes).sum())
