"""The largest gain of pairing two lists of leaves, compared with suppressing them.

A vertex counts as a leaf if nothing below it is aligned, even if it has children.
"""

from __future__ import annotations

import numpy as np

from hierdata.engines.alignment.kernels.arrays import (
    CAP,
    CHILD_COUNT,
    COLUMN_OF,
    DEGREE,
    FIRST_NODE,
    GAIN,
    GROUPS,
    KIND,
    LEFT,
    MASK,
    MATE,
    OTHERS,
    OWN,
    ROOM,
    SLOT_COUNT,
    STUCK,
    Lists,
    Sides,
)
from hierdata.engines.alignment.kernels.assignment import gain_factor, match
from hierdata.engines.alignment.kernels.vertices import CLOSED, CROWDED, FEW_GROUPS, fits, full_of, own_gain
from hierdata.engines.jit import inline_kernel, lean, lowest_bit, part

_FREE = 2**62 - 1  # room of a vertex without caps
FEW = 3
"""The shorter of two lists for ``few_leaves_gain`` has at most this many leaves."""


@inline_kernel
def few_leaves_gain(lists: Lists, sides: Sides) -> np.int64:
    """Return the largest gain of two lists of leaves; -1 if both are long, or children may be aligned.

    Most lists of children are short, and the loop needs no memory and no assignment solver. Leaves of the
    longer list are added one after the other. After each, the best gain with every set of partners among the
    shorter list is known; the numbers in a variable's name are those of the set.
    """
    first_a, count_a, first_b, count_b = lists
    rep, rows = sides.rep, sides.rows
    short = min(count_a, count_b)
    if short > FEW:
        return np.int64(-1)
    with_0 = with_1 = with_2 = with_01 = with_02 = with_12 = with_012 = np.int64(0)
    for position in range(max(count_a, count_b)):
        gain_0 = gain_1 = gain_2 = np.int64(0)
        for partner in range(short):
            u = first_a + (position if count_a > short else partner)
            v = first_b + (partner if count_a > short else position)
            if rep[u, KIND] != rows[v, KIND]:
                continue
            if rep[u, CHILD_COUNT] > 0 and rows[v, CHILD_COUNT] > 0:
                return np.int64(-1)
            gain = own_gain(u, v, sides)
            if gain == 0 or not fits(u, v, sides):
                continue
            if partner == 0:
                gain_0 = gain
            elif partner == 1:
                gain_1 = gain
            else:
                gain_2 = gain
        if short == FEW:
            with_012 = max(with_012, with_12 + gain_0, with_02 + gain_1, with_01 + gain_2)
            with_02 = max(with_02, with_2 + gain_0, with_0 + gain_2)
            with_12 = max(with_12, with_2 + gain_1, with_1 + gain_2)
            with_2 = max(with_2, gain_2)
        if short > 1:
            with_01 = max(with_01, with_1 + gain_0, with_0 + gain_1)
            with_1 = max(with_1, gain_1)
        with_0 = max(with_0, gain_0)
    return max(with_0, with_01, with_012)


@part
def leaves_gain(lists: Lists, counting: bool, depth: int, sides: Sides) -> np.int64:
    """Return the largest gain of two lists of leaves of one type with one node in a tree.

    ``desk[MATE, i]`` receives the partner of the i-th leaf. With ``counting`` pairs that gain nothing are
    made too, so that the number of pairs is largest among the matchings of the same gain.

    The gain of a pair grows with the depth of the node that both share. So the total is bounded by a sum over
    all nodes: what sharing the node gains over sharing its parent, times the smaller number of leaves below
    the node on either side. Leaves are matched greedily, the deepest shared nodes first. This reaches the
    bound unless caps leave unmatched leaves on both sides below a node; leaves that fit no leaf of the other
    side below the node do not count there. Only the leaves below the topmost node above such a node go
    through the assignment solver. Of partners that share an equally deep node the one whose groups have most
    room is taken, which leaves room for rare groups in the class.
    """
    first_a, count_a, first_b, count_b = lists
    _, settings, work, rep, rows, rules = sides
    scale = settings.scale
    first_slot = settings.first_slot
    free = work.free[depth]
    under = work.under
    desk = work.desk[depth]
    full = work.full
    caps = rules.caps
    ancestors = rules.ancestors
    losses = rules.losses
    levels = ancestors.shape[1]
    words = (count_b + 63) >> 6
    one = np.uint64(1)
    none = np.uint64(0)
    top = ancestors[rows[first_b, FIRST_NODE], 0]
    whole = 2 * scale * np.int64(rows[first_b, OWN])
    lowest = 0 if counting or losses[top] < whole else 1
    for word in range(words):
        free[word] = none
    deepest = 0
    for j in range(count_b):
        y = first_b + j
        room = np.int64(_FREE)
        groups = np.int64(0)
        for slot in range(rows[y, SLOT_COUNT]):
            group = rows[y, first_slot + slot]
            if group >= 0:
                room = min(room, caps[group, CAP])
                groups |= np.int64(1) << (group & 63)  # only read if there are few groups
        desk[ROOM, j] = room
        desk[GROUPS, j] = groups
        if room <= 0:
            continue
        bit = one << np.uint64(j & 63)
        free[j >> 6] |= bit
        node = rows[y, FIRST_NODE]
        for level in range(lowest, levels):
            above = ancestors[node, level]
            if above >= 0:
                under[above, j >> 6] |= bit
                deepest = max(deepest, level)
                if above == node:
                    break
    # Vertices that some partners may not join come first, because they have the least choice.
    unmatched = 0
    others = 0
    for i in range(count_a):
        x = first_a + i
        desk[MATE, i] = -1
        desk[GAIN, i] = 0
        desk[STUCK, i] = 0
        mask = full_of(x, sides)
        if (mask >> CLOSED) & 1:
            continue
        if (mask >> CROWDED) & 1:
            desk[LEFT, unmatched] = i
            unmatched += 1
        else:
            desk[OTHERS, others] = i
            others += 1
    for k in range(others):
        desk[LEFT, unmatched + k] = desk[OTHERS, k]
    unmatched += others
    total = np.int64(0)
    stuck = False
    for level in range(deepest, lowest - 1, -1):
        still = 0
        blocked = False
        for k in range(unmatched):
            i = desk[LEFT, k]
            x = first_a + i
            above = ancestors[rep[x, FIRST_NODE], level]
            mate = -1
            if above >= 0:
                most = np.int64(-1)
                mask = full[x, MASK]
                few = (mask >> FEW_GROUPS) & 1
                for word in range(words):
                    candidates = under[above, word] & free[word]
                    while candidates != none:
                        j = 64 * word + lowest_bit(candidates)
                        candidates &= candidates - one
                        free_to_join = mask & desk[GROUPS, j] == 0 if few else fits(x, first_b + j, sides)
                        if not free_to_join:
                            blocked = True
                        elif desk[ROOM, j] > most:
                            most = desk[ROOM, j]
                            mate = j
            if mate >= 0:
                free[mate >> 6] ^= one << np.uint64(mate & 63)
                desk[MATE, i] = mate
                desk[GAIN, i] = whole - losses[above]
                total += desk[GAIN, i]
            else:
                desk[LEFT, still] = i
                still += 1
        unmatched = still
        for k in range(unmatched if blocked else 0):
            i = desk[LEFT, k]
            above = ancestors[rep[first_a + i, FIRST_NODE], level]
            if above >= 0:
                mask = full[first_a + i, MASK]
                # With ``counting`` the solver decides among matchings of the same gain.
                anybody = counting or (mask >> FEW_GROUPS) & 1 == 0
                stays_over = False
                for word in range(words):
                    candidates = under[above, word]
                    stays_over = stays_over or candidates & free[word] != none
                    while candidates != none and not anybody:
                        anybody = mask & desk[GROUPS, 64 * word + lowest_bit(candidates)] == 0
                        candidates &= candidates - one
                if stays_over and anybody:
                    desk[STUCK, i] = 1
                    stuck = True
    if stuck:
        total += _match_stuck(lists, counting, depth, lowest, sides)
    for j in range(count_b):
        node = rows[first_b + j, FIRST_NODE]
        for level in range(lowest, levels):
            above = ancestors[node, level]
            if above >= 0:
                under[above, j >> 6] = none
                if above == node:
                    break
    return total


@lean
def _match_stuck(lists: Lists, counting: bool, depth: int, lowest: int, sides: Sides) -> np.int64:
    """Match all leaves below the topmost node of each stuck leaf again; return the change of the gain."""
    first_a, count_a, first_b, _ = lists
    _, settings, work, rep, rows, rules = sides
    desk = work.desk[depth]
    partners = work.partners[depth]
    gains = work.gains[depth]
    under = work.under
    ancestors = rules.ancestors
    words = under.shape[1]
    none = np.uint64(0)
    more = np.int64(0)
    for stuck in range(count_a):
        if desk[STUCK, stuck] == 0:
            continue
        level = lowest
        while ancestors[rep[first_a + stuck, FIRST_NODE], level] < 0:
            level += 1
        top = ancestors[rep[first_a + stuck, FIRST_NODE], level]
        columns = 0
        for word in range(words):
            candidates = under[top, word]
            while candidates != none:
                desk[OTHERS, columns] = 64 * word + lowest_bit(candidates)
                columns += 1
                candidates &= candidates - np.uint64(1)
        count = 0
        for i in range(count_a):
            if ancestors[rep[first_a + i, FIRST_NODE], level] == top:
                desk[LEFT, count] = i
                count += 1
        pairs = min(count, columns)
        whole = 2 * settings.scale * np.int64(rows[first_b, OWN])
        times = gain_factor(whole * np.int64(pairs), pairs) if counting else 1
        for k in range(count):
            i = desk[LEFT, k]
            if desk[MATE, i] >= 0:
                more -= desk[GAIN, i]
            degree = 0
            x = first_a + i
            mask = full_of(x, sides)
            few = (mask >> FEW_GROUPS) & 1
            for column in range(columns if (mask >> CLOSED) & 1 == 0 else 0):
                j = desk[OTHERS, column]
                y = first_b + j
                if few and mask & desk[GROUPS, j] != 0:
                    continue
                gain = own_gain(x, y, sides)
                if (gain > 0 or times > 1) and (few or fits(x, y, sides)):
                    partners[k, degree] = column
                    gains[k, degree] = times * gain + (times > 1)
                    degree += 1
            desk[DEGREE, k] = degree
        match(partners, gains, count, columns, desk)
        for k in range(count):
            i = desk[LEFT, k]
            desk[MATE, i] = -1
            desk[GAIN, i] = 0
            desk[STUCK, i] = 0
            for edge in range(desk[DEGREE, k]):
                if partners[k, edge] == desk[COLUMN_OF, k]:
                    desk[MATE, i] = desk[OTHERS, partners[k, edge]]
                    desk[GAIN, i] = gains[k, edge] // times
                    more += desk[GAIN, i]
    return more
