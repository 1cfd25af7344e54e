"""One run of sweep: close classes, gather, attach leftovers, or start from cuts; then improve.

Lattice nodes are closed by rising loss. Classes are gathered around the rows that no node closed, where rows
are closest first. Passes of improvement dissolve classes and move rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints, StepInput, silent
from hierdata.engines.mondrian.run import cut, mondrian, unite_equal_classes
from hierdata.engines.rows.constraints import (
    ClassConstraints,
    confirm_classes,
    pack_row_caps,
    shortage,
    split_decided,
)
from hierdata.engines.rows.kernel import Places, keeps_caps
from hierdata.engines.rows.leftovers import attach
from hierdata.engines.rows.table import (
    RowLine,
    classes_of,
    codes_of,
    join_losses,
    nodes_of,
    partition_of,
    suppression_cost,
    unaccepted_cost,
)
from hierdata.engines.sweep.kernel import (
    GROUPS_ASKED,
    LEFT,
    MADE,
    SWEEP_STATE,
    VISITS,
    LatticeArrays,
    Lines,
    Memory,
    SweepBuffers,
    crowding,
    gather,
    mix_words,
    near,
    remember,
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

NODES = 2**14
"""The number of nodes listed: all nodes of eight usual hierarchies, and the cheapest of larger lattices."""


def best_depths(line: RowLine, generalized: Places, most: int = NODES) -> NDArray[np.int32]:
    """Return the depths of every quasi-identifier at the ``most`` nodes of least loss, best first.

    The loss of a node is the loss of publishing all rows at its depths. It is a sum over the
    quasi-identifiers, so the best nodes are among the best nodes of all quasi-identifiers but the last,
    combined with every depth of the last. Ties are in the order of the depths. Depths that change nothing
    are left out.
    """
    sums = np.zeros(1, np.int64)
    nodes = np.zeros((1, 0), np.int32)
    for column, start in enumerate(line.first[:-1].tolist()):
        places = line.places[:, column]
        of_places = generalized[start : start + int(places.max(initial=-1)) + 1]
        depths = [0] + [
            deeper
            for deeper in range(1, of_places.shape[1])
            if (of_places[:, deeper] != of_places[:, deeper - 1]).any()
        ]
        losses = [int(line.losses[of_places[places, depth]].sum()) for depth in depths]
        sums = (sums[:, None] + np.array(losses, np.int64)).ravel()
        with_depth = np.tile(np.array(depths, np.int32), len(nodes))[:, None]
        nodes = np.hstack([np.repeat(nodes, len(depths), axis=0), with_depth])
        kept = np.sort(np.argsort(sums, kind="stable")[:most])
        sums, nodes = sums[kept], nodes[kept]
    best: NDArray[np.int32] = nodes[np.argsort(sums, kind="stable")]
    return best


_REMEMBERED = 8
"""Slots of the memory per row."""


class Answers:
    """The decisions of the constraints about classes of a scope's rows.

    ``marks[row]`` is a 64-bit hash of what the models see of a row; the sum over a class is the hash of its
    content. A collision is very unlikely, and every published class is checked once more.
    """

    def __init__(self, forest: Forest, scope: Scope, constraints: Constraints) -> None:
        bound, open_ones = split_decided(forest, scope, constraints)
        rows = len(scope.rows)
        self.least = constraints.min_class_size
        self.caps = pack_row_caps(bound, rows)
        self._asked = ClassConstraints(forest, scope, open_ones)
        self.asking = self._asked.has_constraints
        content = codes_of(forest, scope)
        if constraints.population is not None:
            content = np.hstack([content, nodes_of(forest, scope)])
        alike = (
            np.unique(content, axis=0, return_inverse=True)[1] if self.asking else np.zeros(rows, np.int64)
        )
        self.marks = mix_words(alike.ravel().astype(np.int64))
        places = 2 ** (_REMEMBERED * rows + 1024).bit_length() if self.asking else 2
        self.memory = Memory(np.zeros(places, np.uint64), np.zeros(places, np.int8), np.zeros(1, np.int64))

    def holds(self, rows: NDArray[np.int64]) -> bool:
        """Whether these rows may be a class."""
        return bool(keeps_caps(0, len(rows), rows, self.caps)) and (not self.asking or self._asked(rows))

    def ask(self, groups: Sequence[NDArray[np.int64]]) -> None:
        """Check groups that keep the caps, and store the decisions."""
        prints = np.array([self.marks[rows].sum(dtype=np.uint64) for rows in groups], np.uint64)
        remember(prints, np.array([self._asked(rows) for rows in groups], np.bool_), self.memory)


_TABLED = 256
"""The largest number of places of a quasi-identifier for which a table of joins is built."""


def order_columns(line: RowLine) -> RowLine:
    """Order the quasi-identifiers, those with most places first, as they distinguish most rows."""
    order = np.argsort(-np.diff(line.first), kind="stable")
    places = np.ascontiguousarray(line.places[:, order])
    return RowLine(places, np.append(line.first[order], line.first[-1]), line.above, line.losses)


def pack_line(line: RowLine) -> Lines:
    """Pack the line for compiled code, with a table of joins for quasi-identifiers with few places."""
    first = line.first[:-1]
    width = line.places.max(axis=0, initial=-1).astype(np.int64) + 1
    tables = [np.zeros(0, np.int64)]
    pair_first = np.full(len(first), -1)
    for column, (start, count) in enumerate(zip(first.tolist(), width.tolist(), strict=True)):
        if count <= _TABLED:
            pair_first[column] = sum(map(len, tables))
            above = line.above[start : start + count]
            tables.append(join_losses(above, above, line.losses).ravel())
    return Lines(line.places, first, width, pair_first, np.concatenate(tables), line.above, line.losses)


def generalized_places(above: Places) -> Places:
    """Return the node of each place at each depth; if its path has none there, the last node before."""
    nodes = above.copy()
    for depth in range(1, nodes.shape[1]):
        nodes[:, depth] = np.where(nodes[:, depth] < 0, nodes[:, depth - 1], nodes[:, depth])
    return nodes


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
        waiting=np.arange(count),
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
        asked = buffers.asked[: state[GROUPS_ASKED]].tolist()
        answers.ask([buffers.grouped[start:end] for start, end in asked])
        state[VISITS] += _WEIGHT * len(asked)
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
    waiting = np.flatnonzero(classes == SUPPRESSED)
    least = answers.least
    if len(waiting) < least:
        return classes
    classes = classes.copy()
    window = 1 + _COMPARED_TO_GATHER * least // len(waiting)
    if window < len(waiting):
        waiting = cut(line, waiting, [], least, None, silent).order
    sample = rng.choice(
        waiting, min(len(waiting), _SAMPLE, 1 + _COMPARED_TO_GATHER // len(waiting)), replace=False
    )
    seeds = np.argsort(crowding(waiting, sample, _NEAREST, lines), kind="stable")
    near_rows = np.empty(least + _NEAR, np.int64)
    first = made = int(classes.max()) + 1
    refused = 0
    for seed in seeds.tolist():
        if classes[waiting[seed]] != SUPPRESSED:
            continue
        start = max(0, min(seed - window // 2, len(waiting) - window))
        count = near(
            waiting[seed], start, min(start + window, len(waiting)), waiting, classes, lines, near_rows
        )
        size = _least_that_holds(near_rows[:count], lines, answers)
        if size:
            classes[near_rows[:size]] = made
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
    current = SweepClasses(
        classes.copy(),
        np.full(count, -1),
        np.full(rows, -1),
        np.full(rows, -1),
        np.zeros(count, np.int64),
        np.zeros((count, columns), np.int32),
        np.zeros((count, columns), np.int32),
        np.zeros(count, np.int64),
        np.zeros(count, np.uint64),
        answers.marks,
    )
    start_classes(count, current, lines)
    trials = np.zeros(count, np.int64), np.zeros(rows, np.int64)
    for _ in range(passes):
        changes, complete = 0, True
        for work, looked_at in zip((dissolve, move), trials, strict=True):
            losing = current.losses if work is dissolve else np.append(current.losses, 0)[current.of]
            order = np.lexsort((-losing, looked_at))
            state = _run(work, order[losing[order] > 0], looked_at, current, lines, answers)
            changes += int(state[CHANGED])
            complete = complete and bool(state[COMPLETE])
        if complete and not changes:
            break
    return current.of


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
    state, targets, increases = np.zeros(STATE, np.int64), *np.empty((2, _OPTIONS), np.int64)
    buffers = PassBuffers(state, targets, increases, np.empty(rows, np.int64))
    while work(
        answers.least, most, answers.asking, order, looked_at, classes, lines, answers.caps, answers.memory,
        buffers,
    ):  # fmt: skip
        answers.ask([buffers.members[: state[ASKED]]])
    state[COMPLETE] = state[AT] == len(order)
    return state


FEW, MANY = 64, 8
"""If nodes leave more than 1 row in FEW, cuts are tried; above 1 in MANY after gathering, used."""


def sweep_rows(step: StepInput, passes: int) -> Partition:
    """Partition the rows of the scope (see ``Sweep``)."""
    forest, scope, constraints = step.problem
    line, answers = order_columns(RowLine.of(forest, scope)), Answers(forest, scope, constraints)
    lines = pack_line(line)
    classes = close_classes(line, answers, step.progress)
    begun = []
    if FEW * int((classes == SUPPRESSED).sum()) > len(classes):
        begun.append(classes_of(mondrian(replace(step, progress=silent)), scope))
    classes = gather_classes(line, lines, answers, classes, step.rng)
    classes = confirm_classes(forest, scope, constraints, classes)
    waiting = np.flatnonzero(classes == SUPPRESSED)
    if not begun or MANY * len(waiting) <= len(classes):
        begun.append(attach(forest, scope, constraints, classes, waiting, step.rng))
    classes = min(begun, key=lambda candidate: suppression_cost(forest, scope, candidate))
    step.progress(len(classes))
    classes = unite_equal_classes(forest, scope, constraints, classes)
    classes = confirm_classes(forest, scope, constraints, improve_classes(lines, answers, classes, passes))
    classes = unite_equal_classes(forest, scope, constraints, classes)
    gone = int((classes == SUPPRESSED).sum())
    reason = shortage(forest, scope, constraints) if gone == len(classes) else ""
    return partition_of(forest, scope, classes, Counter({unaccepted_cost(scope): gone}), reason)
