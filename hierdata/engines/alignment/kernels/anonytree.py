"""Algorithm 1 (MLevAnonytree, ML section 4) over integer arrays: the loss of aligning two trees.

The first tree is a class representative, the second a record; both are rows as in ``kernels.arrays``. Losses
are integers: times the forest's scale, summed over both trees. No call changes a tree (erratum ML-9),
the unpaired subtrees of both sides count (ML-10), and a vertex pair that breaks a cap costs its two subtrees
(ML-4, ML-5).

Trees are aligned list by list: a pair of records is a pair of lists of one. Passing arrays to a compiled call
costs time, so a vertex is one row, and the loss of two vertices is computed in one place.
"""

from __future__ import annotations

import numpy as np

from hierdata.engines.alignment.kernels.arrays import (
    CHILD_COUNT,
    FIRST_CHILD,
    FIRST_NODE,
    KIND,
    OWN,
    QUASI_COUNT,
    WEIGHT,
    Lists,
    Rules,
    Settings,
    Sides,
    scratch,
)
from hierdata.engines.alignment.kernels.optimal import align_optimally
from hierdata.engines.alignment.kernels.vertices import fits, join, open_alignment, open_lists
from hierdata.engines.jit import address_of, call_of, inline_kernel, lowest_bit, shared, signature_of

__all__ = ["BENEFIT", "FRAME", "GREEDY", "INFINITY", "OPTIMAL", "align", "aligner", "join"]

# How children are paired.
GREEDY, BENEFIT, OPTIMAL = range(3)
# Columns of a frame: what a pair of lists remembers while the children of one of its pairs are aligned.
# First row and length of the two lists; position of the tree of the shorter list that looks for a partner
# (WALKER); where the search among its partners stands: depth of the shared node, word of the set of
# partners, partner; the loss of that pair without its children (BOUND); the best partner so far, its loss,
# whether the caps allow it; the loss of the lists so far; the weight of the lightest tree of the longer
# list.
(
    FIRST_A, COUNT_A, FIRST_B, COUNT_B, WALKER, LEVEL, WORD, PARTNER, BOUND, BEST, BEST_AT, BEST_FITS,
    TOTAL, LIGHTEST, FRAME,
) = range(15)  # fmt: skip
# Tasks. _OPEN: begin a pair of lists, all trees suppressed. _WALK: pair the last tree of the shorter list
# with its best partner, take the next tree; none left: return, or end. _SEARCH: compare the tree with its
# partners; for a partner with children on both sides, save a frame and open the children one depth down.
# _RETURN: restore the frame, add what the children lose, go on searching.
_OPEN, _WALK, _SEARCH, _RETURN = range(4)

INFINITY = 2**62
_SHORT = 4  # up to this many partners are compared one by one, without sets
_FEW = 16  # up to this many pairs of children are bounded before they are aligned


@shared
def align_in_turn(
    first_a: int, count_a: int, first_b: int, count_b: int, roots: bool, sides: Sides
) -> np.int64:
    """Compute ``align`` with the published pairing, or by benefit.

    The trees of the shorter list choose their partners in order. Partners are visited by the depth of the
    node that the first quasi-identifiers share, the deepest first (``under[node]`` is the set of partners
    below a node), so that the search ends as soon as no better partner can follow. Among equal losses the
    first partner wins, in whatever order they are visited. Children are aligned by the same code one depth
    down, with frames instead of recursion, because the compiler's cache cannot hold recursive functions.
    """
    # Unpacked once: arrays in a tuple are slow to access in loops.
    _, settings, work, rep, rows, rules = sides
    pairing, scale, _, _, _ = settings
    mates, free, unseen, under, _, _, _, _, frames, full, _ = work
    pair_row, pair_losses, caps, losses, ancestors, _ = rules
    open_alignment(caps, full)
    words = free.shape[1]
    levels = ancestors.shape[1]
    one = np.uint64(1)
    none = np.uint64(0)
    depth = 0
    task = _OPEN
    total = best = bound = lightest = np.int64(0)
    i = walk_count = partner_count = level = word = j = 0
    best_at = -1
    best_fits = from_a = False
    while True:
        way = GREEDY if roots and depth == 0 else pairing
        if task == _OPEN:
            # All trees are suppressed; each pair then subtracts its gain.
            lists = Lists(first_a, count_a, first_b, count_b)
            total = scale * open_lists(lists, rep, rows, mates[depth])
            from_a = count_a <= count_b
            walk_count = min(count_a, count_b)
            partner_count = max(count_a, count_b)
            for word in range(words):
                free[depth, word] = none
            lightest = np.int64(INFINITY)
            if walk_count > 0:
                for partner in range(partner_count):
                    lightest = min(
                        lightest,
                        np.int64(
                            rows[first_b + partner, WEIGHT] if from_a else rep[first_a + partner, WEIGHT]
                        ),
                    )
                    bit = one << np.uint64(partner & 63)
                    free[depth, partner >> 6] |= bit
                    if partner_count > _SHORT:
                        node = (
                            rows[first_b + partner, FIRST_NODE]
                            if from_a
                            else rep[first_a + partner, FIRST_NODE]
                        )
                        for at_level in range(1, levels if node >= 0 else 1):
                            if ancestors[node, at_level] >= 0:
                                under[ancestors[node, at_level], partner >> 6] |= bit
            i = -1
            task = _WALK

        if task == _RETURN:
            below = total
            depth -= 1
            way = GREEDY if roots and depth == 0 else pairing
            first_a = frames[depth, FIRST_A]
            count_a = frames[depth, COUNT_A]
            first_b = frames[depth, FIRST_B]
            count_b = frames[depth, COUNT_B]
            i = frames[depth, WALKER]
            level = frames[depth, LEVEL]
            word = frames[depth, WORD]
            j = frames[depth, PARTNER]
            bound = frames[depth, BOUND]
            best = frames[depth, BEST]
            best_at = frames[depth, BEST_AT]
            best_fits = frames[depth, BEST_FITS] != 0
            total = frames[depth, TOTAL]
            lightest = frames[depth, LIGHTEST]
            from_a = count_a <= count_b
            walk_count = min(count_a, count_b)
            partner_count = max(count_a, count_b)
            x = first_a + (i if from_a else j)
            y = first_b + (j if from_a else i)
            deeper = rep[x, WEIGHT] - rep[x, OWN] - rows[y, WEIGHT] + rows[y, OWN]
            loss = bound + below - scale * np.int64(abs(deeper))
            if loss < best or (loss == best and j < best_at):
                best = loss
                best_at = j
                best_fits = True
            task = _SEARCH

        if task == _SEARCH:
            own_node = rep[first_a + i, FIRST_NODE] if from_a else rows[first_b + i, FIRST_NODE]
            own_weight = rep[first_a + i, WEIGHT] if from_a else rows[first_b + i, WEIGHT]
            unfit = scale * (own_weight + lightest)  # the least loss with an incompatible partner
            task = _WALK
            while level >= 0 and task == _WALK:
                # Level 0 holds all unseen partners, level n those with the same node at depth n.
                above = -1 if own_node < 0 else ancestors[own_node, level]
                if level > 0 and above < 0:
                    level -= 1
                    continue
                least = losses[above] if above >= 0 and partner_count > _SHORT else np.int64(0)
                if way == GREEDY and best < least and best < unfit:
                    break
                while word < words:
                    candidates = unseen[depth, word]
                    if level > 0:
                        candidates &= under[above, word]
                    if candidates == none:
                        word += 1
                        continue
                    at_bit = lowest_bit(candidates)
                    j = 64 * word + at_bit
                    unseen[depth, word] ^= one << np.uint64(at_bit)
                    if way == GREEDY and best_at < j and best <= least and best <= unfit:
                        word += 1  # no later partner of this word can win either
                        continue
                    x = first_a + (i if from_a else j)
                    y = first_b + (j if from_a else i)
                    apart = (
                        scale * np.int64(rep[x, WEIGHT] + rows[y, WEIGHT]) if way == GREEDY else np.int64(0)
                    )
                    loss = apart
                    exact = True
                    joins = rep[x, KIND] == rows[y, KIND]
                    if joins:
                        for node in range(FIRST_NODE, FIRST_NODE + rows[y, QUASI_COUNT]):
                            x_node = rep[x, node]
                            y_node = rows[y, node]
                            if pair_row[x_node] >= 0:
                                loss += pair_losses[pair_row[x_node] + y_node]
                            else:
                                loss += losses[join(x_node, y_node, ancestors)]
                        loss -= 2 * scale * rows[y, OWN]
                        if rep[x, CHILD_COUNT] > 0 and rows[y, CHILD_COUNT] > 0:
                            exact = False
                            # The rest is suppressed.
                            loss -= (
                                2 * scale * min(rep[x, WEIGHT] - rep[x, OWN], rows[y, WEIGHT] - rows[y, OWN])
                            )
                    if way == GREEDY and (loss > best or (loss == best and j > best_at)):
                        continue  # caps can only increase the loss
                    extra = np.int64(0)
                    if not exact and way == GREEDY and rep[x, CHILD_COUNT] * rows[y, CHILD_COUNT] <= _FEW:
                        # Each child of the smaller family loses at least what it loses with its best partner.
                        fewer_a = rep[x, CHILD_COUNT] <= rows[y, CHILD_COUNT]
                        for few in range(min(rep[x, CHILD_COUNT], rows[y, CHILD_COUNT])):
                            cheapest = np.int64(INFINITY)
                            for other in range(max(rep[x, CHILD_COUNT], rows[y, CHILD_COUNT])):
                                u = rep[x, FIRST_CHILD] + (few if fewer_a else other)
                                v = rows[y, FIRST_CHILD] + (other if fewer_a else few)
                                if rep[u, KIND] != rows[v, KIND]:
                                    at_least = 2 * scale * np.int64(min(rep[u, WEIGHT], rows[v, WEIGHT]))
                                elif rows[v, FIRST_NODE] >= 0 and pair_row[rep[u, FIRST_NODE]] >= 0:
                                    at_least = pair_losses[pair_row[rep[u, FIRST_NODE]] + rows[v, FIRST_NODE]]
                                else:
                                    at_least = np.int64(0)
                                cheapest = min(cheapest, at_least)
                            extra += cheapest
                        if loss + extra > best or (loss + extra == best and j > best_at):
                            continue
                    if joins:
                        joins = fits(x, y, sides)
                        if not joins:
                            loss = apart
                            exact = True
                    if exact:
                        if loss < best or (loss == best and j < best_at):
                            best = loss
                            best_at = j
                            best_fits = joins
                    else:
                        bound = loss
                        task = _OPEN
                        break
                if task == _WALK:
                    level -= 1
                    word = 0
            if task == _OPEN:
                frames[depth, FIRST_A] = first_a
                frames[depth, COUNT_A] = count_a
                frames[depth, FIRST_B] = first_b
                frames[depth, COUNT_B] = count_b
                frames[depth, WALKER] = i
                frames[depth, LEVEL] = level
                frames[depth, WORD] = word
                frames[depth, PARTNER] = j
                frames[depth, BOUND] = bound
                frames[depth, BEST] = best
                frames[depth, BEST_AT] = best_at
                frames[depth, BEST_FITS] = best_fits
                frames[depth, TOTAL] = total
                frames[depth, LIGHTEST] = lightest
                x = first_a + (i if from_a else j)
                y = first_b + (j if from_a else i)
                first_a = rep[x, FIRST_CHILD]
                count_a = rep[x, CHILD_COUNT]
                first_b = rows[y, FIRST_CHILD]
                count_b = rows[y, CHILD_COUNT]
                depth += 1
                continue
            if best_at >= 0:
                x = i if from_a else best_at
                y = best_at if from_a else i
                total += best
                if way == GREEDY:
                    total -= scale * np.int64(rep[first_a + x, WEIGHT] + rows[first_b + y, WEIGHT])
                if best_fits:
                    mates[depth, x] = y
                free[depth, best_at >> 6] ^= one << np.uint64(best_at & 63)

        # _WALK
        i += 1
        if i < walk_count:
            best = np.int64(INFINITY if way == GREEDY else 0)
            best_at = -1
            best_fits = False
            for word in range(words):
                unseen[depth, word] = free[depth, word]
            level = levels - 1 if partner_count > _SHORT else 0
            word = 0
            task = _SEARCH
            continue
        if walk_count > 0:
            for partner in range(partner_count if partner_count > _SHORT else 0):
                node = rows[first_b + partner, FIRST_NODE] if from_a else rep[first_a + partner, FIRST_NODE]
                for at_level in range(1, levels if node >= 0 else 1):
                    if ancestors[node, at_level] >= 0:
                        under[ancestors[node, at_level], partner >> 6] = none
        if depth == 0:
            return total
        task = _RETURN


NO_ROWS = np.empty((0, 0), np.int32)
NO_RULES = Rules(
    pair_row=np.empty(0, np.int64),
    pair_losses=np.empty(0, np.int64),
    caps=np.empty((0, 0), np.int64),
    losses=np.empty(0, np.int64),
    ancestors=np.empty((0, 0), np.int32),
    nests=np.empty(0, np.bool_),
)
NO_SIDES = Sides(0, Settings(0, 0, 0, 0, 0), scratch(0, 1, 1, 1, FRAME, True), NO_ROWS, NO_ROWS, NO_RULES)
"""Examples of what kernels are given, for the signatures of those that are called by address."""
_SIGNATURE = signature_of(0, 0, 0, 0, 0, False, NO_SIDES)
_call = call_of(_SIGNATURE)


def aligner(pairing: int) -> int:
    """Return the address of the code that aligns with this pairing; compile it if needed."""
    return address_of(align_optimally if pairing == OPTIMAL else align_in_turn, _SIGNATURE)


@inline_kernel
def align(first_a: int, count_a: int, first_b: int, count_b: int, roots: bool, sides: Sides) -> np.int64:
    """Return the loss of aligning two lists of sibling trees, both sides together.

    Unpaired trees are suppressed. ``mates[0, i]`` receives the partner of the i-th tree of the first list, -1
    for none; it depends on the two lists only. With ``roots`` both lists are single roots, which are aligned
    whenever the caps allow it.
    """
    loss: np.int64 = _call(sides.settings.aligner, (first_a, count_a, first_b, count_b, roots, sides))
    return loss
