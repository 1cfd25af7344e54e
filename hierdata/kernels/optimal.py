"""Optimal pairing: what aligning two lists of sibling trees loses if every list of children is matched best.

A pair of vertices is worth what it saves against suppressing both: by its own quasi-identifiers, and what the
best pairs of its children save. Both are 0 or more, so what is best for two lists is best for all above them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.kernels.arrays import (
    CHILD_COUNT,
    COLUMN_OF,
    FIRST_CHILD,
    FIRST_NODE,
    KIND,
    MATE,
    QUASI_COUNT,
    WEIGHT,
    Rules,
    Scratch,
    Settings,
)
from hierdata.kernels.assignment import match, spread
from hierdata.kernels.jit import lean
from hierdata.kernels.leaves import few_leaves_gain, leaves_gain
from hierdata.kernels.vertices import own_gain

# Columns of a frame: the two lists; the run of one vertex type that is matched, and where the next begins;
# the pair whose children are aligned, and what it gains by itself; what the lists have gained so far.
(
    FIRST_A, COUNT_A, FIRST_B, COUNT_B, RUN_A, LENGTH_A, RUN_B, LENGTH_B, AT_A, AT_B, OWN, GAINED,
) = range(12)  # fmt: skip
# What comes next: open a pair of lists, take their next vertex type, take back what children gain, go on with
# its pairs.
_OPEN, _RUN, _RETURN, _FILL = range(4)


@lean
def align_optimally(
    first_a: int,
    count_a: int,
    first_b: int,
    count_b: int,
    size: int,
    settings: Settings,
    work: Scratch,
    rep: NDArray[np.int32],
    rows: NDArray[np.int32],
    rules: Rules,
) -> np.int64:
    """The loss of ``anonytree.align`` under optimal pairing, and ``mates[0]``.

    Only vertices of one type are paired, so a list is matched type by type. Of the first lists' matchings of
    the same loss one with the most pairs is taken; further down only the loss is asked for.
    """
    mates = work.mates
    frames = work.frames
    gains = work.gains
    desk = work.desk
    first_slot = settings.first_slot
    scale = settings.scale
    pair_row, pair_losses, caps, losses, ancestors, nests = rules
    loss = np.int64(0)
    for at in range(count_a):
        mates[0, at] = -1
        loss += rep[first_a + at, WEIGHT]
    for at in range(count_b):
        loss += rows[first_b + at, WEIGHT]
    loss *= scale
    depth = 0
    task = _OPEN
    gained = own = np.int64(0)
    run_a = run_b = length_a = length_b = i = j = 0
    while True:
        if task == _OPEN:
            gained = np.int64(0)
            run_a = length_a = 0
            task = _RUN

        if task == _RUN:
            run_a += length_a
            length_a = length_b = 0
            while run_a < count_a and length_b == 0:
                kind = rep[first_a + run_a, KIND]
                length_a = 1
                while run_a + length_a < count_a and rep[first_a + run_a + length_a, KIND] == kind:
                    length_a += 1
                run_b = 0
                while run_b < count_b and rows[first_b + run_b, KIND] != kind:
                    run_b += 1
                while run_b + length_b < count_b and rows[first_b + run_b + length_b, KIND] == kind:
                    length_b += 1
                if length_b == 0:
                    run_a += length_a
            if run_a >= count_a:
                if depth == 0:
                    return loss - gained
                task = _RETURN
            else:
                i = j = 0
                task = _FILL
                y = first_b + run_b
                if rows[y, QUASI_COUNT] == 1 and nests[rows[y, FIRST_NODE]] and length_a > 1:
                    leaves = 0
                    for at in range(length_a):
                        leaves += rep[first_a + run_a + at, CHILD_COUNT] == 0
                    leaf = leaves == length_a
                    leaves = 0
                    for at in range(length_b if not leaf else 0):
                        leaves += rows[first_b + run_b + at, CHILD_COUNT] == 0
                    if leaf or leaves == length_b:
                        gained += leaves_gain(
                            first_a + run_a, length_a, y, length_b, size, depth == 0, depth,
                            settings, work, rep, rows, rules,
                        )  # fmt: skip
                        for at in range(length_a if depth == 0 else 0):
                            if desk[0, MATE, at] >= 0:
                                mates[0, run_a + at] = run_b + desk[0, MATE, at]
                        task = _RUN
                        continue

        if task == _RETURN:
            below = gained
            depth -= 1
            first_a = frames[depth, FIRST_A]
            count_a = frames[depth, COUNT_A]
            first_b = frames[depth, FIRST_B]
            count_b = frames[depth, COUNT_B]
            run_a = frames[depth, RUN_A]
            length_a = frames[depth, LENGTH_A]
            run_b = frames[depth, RUN_B]
            length_b = frames[depth, LENGTH_B]
            i = frames[depth, AT_A]
            j = frames[depth, AT_B]
            gained = frames[depth, GAINED]
            gains[depth, i, j] = frames[depth, OWN] + below
            j += 1
            task = _FILL

        if task == _FILL:
            while i < length_a:
                while j < length_b:
                    x = first_a + run_a + i
                    y = first_b + run_b + j
                    own = own_gain(
                        x,
                        y,
                        size,
                        first_slot,
                        scale,
                        rep,
                        rows,
                        pair_row,
                        pair_losses,
                        caps,
                        losses,
                        ancestors,
                    )
                    if own >= 0 and rep[x, CHILD_COUNT] > 0 and rows[y, CHILD_COUNT] > 0:
                        below = few_leaves_gain(
                            x,
                            y,
                            size,
                            first_slot,
                            scale,
                            rep,
                            rows,
                            pair_row,
                            pair_losses,
                            caps,
                            losses,
                            ancestors,
                        )
                        if below < 0:
                            task = _OPEN
                            break
                        own += below
                    gains[depth, i, j] = own
                    j += 1
                if task == _OPEN:
                    break
                i += 1
                j = 0
            if task == _OPEN:
                frames[depth, FIRST_A] = first_a
                frames[depth, COUNT_A] = count_a
                frames[depth, FIRST_B] = first_b
                frames[depth, COUNT_B] = count_b
                frames[depth, RUN_A] = run_a
                frames[depth, LENGTH_A] = length_a
                frames[depth, RUN_B] = run_b
                frames[depth, LENGTH_B] = length_b
                frames[depth, AT_A] = i
                frames[depth, AT_B] = j
                frames[depth, OWN] = own
                frames[depth, GAINED] = gained
                x = first_a + run_a + i
                y = first_b + run_b + j
                first_a = rep[x, FIRST_CHILD]
                count_a = rep[x, CHILD_COUNT]
                first_b = rows[y, FIRST_CHILD]
                count_b = rows[y, CHILD_COUNT]
                depth += 1
                continue
            pairs = min(length_a, length_b)
            times = spread(loss, pairs) if depth == 0 else 1
            for i in range(length_a):
                for j in range(length_b):
                    gain = gains[depth, i, j]
                    gains[depth, i, j] = times * gain + (times > 1) if gain >= 0 else 0
            match(gains[depth], length_a, length_b, desk[depth])
            for i in range(length_a):
                j = desk[depth, COLUMN_OF, i]
                if j >= 0:
                    gained += (gains[depth, i, j] - (times > 1)) // times
                    if depth == 0:
                        mates[0, run_a + i] = run_b + j
            task = _RUN
