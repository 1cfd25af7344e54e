"""Optimal pairing: the loss of aligning two lists of sibling trees with an optimal matching at every level.

The gain of a pair of vertices is what it saves compared with suppressing both: by its own quasi-identifiers,
and by the best pairs of its children. Both are at least 0, so a matching that is optimal for two lists of
children is part of an optimal matching above them.

``align_optimally`` is a recursion over pairs of lists, written as a loop with a stack, because the compiler's
cache cannot hold recursive functions. A **frame** is a row of the stack: what a pair of lists remembers while
the children of one of its pairs of vertices are aligned. A **run** is the vertices of one type in a list.
In each round the loop does one of four tasks:

- ``_OPEN`` begins a pair of lists.
- ``_RUN`` finds the next vertex type that both lists have. Runs of leaves are matched at once, and the task
  stays. Otherwise all pairs are priced, or those that may gain something are marked in ``near``; ``_FILL``
  follows. If no type is left, the lists are done: ``_RETURN`` follows, or the end.
- ``_FILL`` compares the marked pairs, and notes what each gains as an edge, with its children where one of
  their lists is a few leaves. For another pair with children on both sides it saves a frame and goes one
  depth down, to ``_OPEN`` with the children. When no pair is left, it matches the runs by the edges; ``_RUN``
  follows.
- ``_RETURN`` goes one depth up, restores the frame, and notes the edge of the pair with what its children
  gain; ``_FILL`` follows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.kernels.arrays import (
    CHILD_COUNT,
    COLUMN_OF,
    DEGREE,
    FIRST_CHILD,
    FIRST_NODE,
    KIND,
    MATE,
    OWN,
    QUASI_COUNT,
    Lists,
    Sides,
)
from hierdata.engines.alignment.kernels.assignment import gain_factor, match
from hierdata.engines.alignment.kernels.candidates import find_candidates, price_families
from hierdata.engines.alignment.kernels.leaves import few_leaves_gain, leaves_gain
from hierdata.engines.alignment.kernels.vertices import fits, open_alignment, open_lists, own_gain
from hierdata.engines.jit import lean, lowest_bit, shared

# Columns of a frame: first row and length of the two lists; first position and length of the two runs that
# are being matched; positions in the runs of the pair whose children are being aligned, and what it gains
# without them; what the runs before have gained.
(
    FIRST_A, COUNT_A, FIRST_B, COUNT_B, RUN_A, LENGTH_A, RUN_B, LENGTH_B, AT_A, AT_B, OWN_GAIN, GAINED,
) = range(12)  # fmt: skip
# Tasks, see above.
_OPEN, _RUN, _RETURN, _FILL = range(4)


@shared
def align_optimally(
    first_a: int, count_a: int, first_b: int, count_b: int, roots: bool, sides: Sides
) -> np.int64:
    """Compute ``anonytree.align`` with optimal pairing; ``roots`` makes no difference.

    Only vertices of one type are paired, so a list is matched type by type. Of the matchings of the first
    lists with the same loss, one with the most pairs is taken; further down only the loss matters. Where both
    lists are long, each vertex of the first is matched with one of its best candidates only (``candidates``).
    """
    _, settings, work, rep, rows, rules = sides
    mates = work.mates
    frames = work.frames
    partners = work.partners
    gains = work.gains
    near = work.near
    desk = work.desk
    nests = rules.nests
    open_alignment(rules.caps, work.full)
    loss = settings.scale * open_lists(Lists(first_a, count_a, first_b, count_b), rep, rows, mates[0])
    depth = 0
    task = _OPEN
    gained = gain = np.int64(0)
    none = np.uint64(0)
    times = 1
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
                y = first_b + run_b
                runs = Lists(first_a + run_a, length_a, y, length_b)
                if depth > 0:
                    few = few_leaves_gain(runs, sides)
                    if few >= 0:
                        gained += few
                        continue
                task = _FILL
                if rows[y, QUASI_COUNT] == 1 and nests[rows[y, FIRST_NODE]] and length_a > 1:
                    leaves = 0
                    for k in range(length_a):
                        leaves += rep[first_a + run_a + k, CHILD_COUNT] == 0
                    leaf = leaves == length_a
                    leaves = 0
                    for k in range(length_b if not leaf else 0):
                        leaves += rows[first_b + run_b + k, CHILD_COUNT] == 0
                    if leaf or leaves == length_b:
                        gained += leaves_gain(runs, depth == 0, depth, sides)
                        for k in range(length_a if depth == 0 else 0):
                            if desk[0, MATE, k] >= 0:
                                mates[0, run_a + k] = run_b + desk[0, MATE, k]
                        task = _RUN
                        continue
                times = gain_factor(loss, min(length_a, length_b)) if depth == 0 else 1
                for k in range(length_a):
                    desk[depth, DEGREE, k] = 0
                if price_families(runs, times, depth, sides):
                    i = length_a
                elif min(length_a, length_b) > settings.long:
                    find_candidates(runs, depth, sides)
                elif depth == 0:
                    _mark_all(length_a, length_b, near[depth])
                else:
                    _mark_near(runs, depth, sides)

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
            gain = frames[depth, OWN_GAIN] + below
            times = gain_factor(loss, min(length_a, length_b)) if depth == 0 else 1
            if gain > 0 or times > 1:
                partners[depth, i, desk[depth, DEGREE, i]] = j
                gains[depth, i, desk[depth, DEGREE, i]] = times * gain + (times > 1)
                desk[depth, DEGREE, i] += 1
            task = _FILL

        if task == _FILL:
            while i < length_a and task == _FILL:
                x = first_a + run_a + i
                for word in range((length_b + 63) >> 6):
                    while near[depth, i, word] != none and task == _FILL:
                        j = 64 * word + lowest_bit(near[depth, i, word])
                        near[depth, i, word] &= near[depth, i, word] - np.uint64(1)
                        y = first_b + run_b + j
                        if not fits(x, y, sides):
                            continue
                        gain = own_gain(x, y, sides)
                        below = np.int64(0)
                        if rep[x, CHILD_COUNT] > 0 and rows[y, CHILD_COUNT] > 0:
                            children = Lists(
                                rep[x, FIRST_CHILD] + 0,  # + 0: the compiler's int64, else a second signature
                                rep[x, CHILD_COUNT] + 0,
                                rows[y, FIRST_CHILD] + 0,
                                rows[y, CHILD_COUNT] + 0,
                            )
                            below = few_leaves_gain(children, sides)
                        if below < 0:
                            task = _OPEN
                        elif gain > 0 or below > 0 or times > 1:
                            partners[depth, i, desk[depth, DEGREE, i]] = j
                            gains[depth, i, desk[depth, DEGREE, i]] = times * (gain + below) + (times > 1)
                            desk[depth, DEGREE, i] += 1
                if task == _FILL:
                    i += 1
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
                frames[depth, OWN_GAIN] = gain
                frames[depth, GAINED] = gained
                x = first_a + run_a + i
                y = first_b + run_b + j
                first_a = rep[x, FIRST_CHILD]
                count_a = rep[x, CHILD_COUNT]
                first_b = rows[y, FIRST_CHILD]
                count_b = rows[y, CHILD_COUNT]
                depth += 1
                continue
            match(partners[depth], gains[depth], length_a, length_b, desk[depth])
            for i in range(length_a):
                for edge in range(desk[depth, DEGREE, i]):
                    if partners[depth, i, edge] == desk[depth, COLUMN_OF, i]:
                        gained += gains[depth, i, edge] // times
                        if depth == 0:
                            mates[0, run_a + i] = run_b + partners[depth, i, edge]
            task = _RUN


@lean
def _mark_near(lists: Lists, depth: int, sides: Sides) -> None:
    """Mark pairs with positive gain in ``near``, ignoring caps; some pairs without gain may be marked too.

    A pair is marked if both share a node other than the root at a quasi-identifier of their own or of a
    child. All pairs are marked if sharing a root gains something too, or if children have children on both
    sides.
    """
    first_a, count_a, first_b, count_b = lists
    _, settings, work, rep, rows, rules = sides
    scale = settings.scale
    near = work.near[depth]
    under = work.under
    losses = rules.losses
    ancestors = rules.ancestors
    levels = ancestors.shape[1]
    words = (count_b + 63) >> 6
    one = np.uint64(1)
    none = np.uint64(0)
    mark_all = False
    deep_a = deep_b = False
    for i in range(count_a):
        for word in range(words):
            near[i, word] = none
        for child in range(rep[first_a + i, CHILD_COUNT]):
            deep_a = deep_a or rep[rep[first_a + i, FIRST_CHILD] + child, CHILD_COUNT] > 0
    for j in range(count_b):
        y = first_b + j
        for v in range(rows[y, FIRST_CHILD] - 1, rows[y, FIRST_CHILD] + rows[y, CHILD_COUNT]):
            vertex = y if v < rows[y, FIRST_CHILD] else v
            deep_b = deep_b or (vertex != y and rows[vertex, CHILD_COUNT] > 0)
            least = 2 * scale * np.int64(rows[vertex, OWN])
            for column in range(FIRST_NODE, FIRST_NODE + rows[vertex, QUASI_COUNT]):
                node = rows[vertex, column]
                least -= losses[ancestors[node, 0]]
                for level in range(1, levels):
                    above = ancestors[node, level]
                    if above >= 0:
                        under[above, j >> 6] |= one << np.uint64(j & 63)
                        if rules.nests[node]:
                            break
            mark_all = mark_all or bool(least > 0)
    mark_all = mark_all or (deep_a and deep_b)
    for i in range(count_a):
        x = first_a + i
        for u in range(rep[x, FIRST_CHILD] - 1, rep[x, FIRST_CHILD] + rep[x, CHILD_COUNT]):
            vertex = x if u < rep[x, FIRST_CHILD] else u
            for column in range(FIRST_NODE, FIRST_NODE + rep[vertex, QUASI_COUNT]):
                node = rep[vertex, column]
                for level in range(1, levels):
                    above = ancestors[node, level]
                    if above >= 0:
                        for word in range(words):
                            near[i, word] |= under[above, word]
                        if rules.nests[node]:
                            break
    for j in range(count_b):
        y = first_b + j
        for v in range(rows[y, FIRST_CHILD] - 1, rows[y, FIRST_CHILD] + rows[y, CHILD_COUNT]):
            vertex = y if v < rows[y, FIRST_CHILD] else v
            for column in range(FIRST_NODE, FIRST_NODE + rows[vertex, QUASI_COUNT]):
                node = rows[vertex, column]
                for level in range(1, levels):
                    above = ancestors[node, level]
                    if above >= 0:
                        under[above, j >> 6] = none
                        if rules.nests[node]:
                            break
    if mark_all:
        _mark_all(count_a, count_b, near)


@lean
def _mark_all(count_a: int, count_b: int, near: NDArray[np.uint64]) -> None:
    """Mark all pairs of two lists in ``near``."""
    for i in range(count_a):
        for word in range((count_b + 63) >> 6):
            near[i, word] = np.uint64(0)
        for j in range(count_b):
            near[i, j >> 6] |= np.uint64(1) << np.uint64(j & 63)
