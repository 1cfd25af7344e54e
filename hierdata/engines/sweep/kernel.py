"""Inner loop of a lattice sweep: the groups of rows at each lattice node, and the cache of model answers.

The print of a class is the sum of the ``marks`` of its rows, a 64-bit hash of what the models see. Models
give classes of equal prints equal answers, so that each content is asked about once. The key of a group is a
64-bit hash too. If two groups had the same key, they would become one class, published by the join of all its
rows: with more loss, but as safe.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.jit import inline_kernel, jit, part
from hierdata.engines.rows.kernel import (
    Caps,
    Numbers,
    Places,
    Whole,
    insert_nearest,
    keeps_caps,
    loss_between,
    widen,
)

Words: TypeAlias = "NDArray[np.uint64]"

LEFT, NODE, MADE, VISITS, GROUPS_ASKED, SWEEP_STATE = range(6)
"""The state of a sweep: number of rows without a class, next lattice node, number of classes made, of row
visits, and of groups that the models must be asked about."""
UNKNOWN, NO, YES = range(3)
"""Cached answers for a print."""
NEVER: Whole = np.int64(2**63 - 1)
"""More than any loss."""


class Lines(NamedTuple):
    """The rows by their places (``RowLine``), and the losses of joins.

    The loss of the join of two places of quasi-identifier q is ``pairs[pair_first[q] + low * width[q] +
    high]``. If ``pair_first[q]`` is -1, there is no table and the join is searched in ``above``.
    """

    places: Places  # [row, quasi-identifier]
    first: Numbers  # [quasi-identifier]: row of ``above`` where its places begin
    width: Numbers  # [quasi-identifier]: number of its places
    pair_first: Numbers  # [quasi-identifier]
    pairs: Numbers  # tables of losses
    above: Places  # [first + place, depth]: ancestors of the node, -1 where the path has no entry
    node_losses: Numbers  # [node]: LM' as an integer


class Memory(NamedTuple):
    """The cache of model answers: a hash table with open addressing."""

    prints: Words  # [slot], a power of two of them
    answers: NDArray[np.int8]  # [slot]: YES or NO, UNKNOWN for a free slot
    filled: Numbers  # [1]: number of used slots


class LatticeArrays(NamedTuple):
    """The nodes of a generalization lattice, and the hierarchy nodes of the rows at each depth."""

    depths: Places  # [lattice node, quasi-identifier]: depth; lattice nodes in the order of their visits
    places: Places  # [row, quasi-identifier]
    first: Numbers  # [quasi-identifiers + 1]: the row of ``generalized`` where its places begin
    generalized: Places  # [first + place, depth]: hierarchy node
    codes: Words  # [hierarchy node]: its number as 64 mixed bits


class SweepBuffers(NamedTuple):
    """The state of a sweep, working memory, and (``asked``, ``asked_prints``) questions for the caller."""

    state: Numbers  # [SWEEP_STATE]
    waiting: Numbers  # [row]: the first ``state[LEFT]`` are the rows without a class
    slots: Numbers  # [row left]: its slot in the hash table
    keys: Words  # [slot]: key of a group, in a table of a power of two
    counts: Numbers  # [slot]: rows of the group, 0 for a free slot
    grouped: Numbers  # [row]: the rows of the groups, group after group
    asked: Numbers  # [question, 2]: start and end of a group in ``grouped``
    asked_prints: Words  # [question]: print of the group


@part
def join_loss(q: int, low: int, high: int, lines: Lines) -> int:
    """Return the loss of the join of the nodes at two places of quasi-identifier q; low <= high."""
    if lines.pair_first[q] >= 0:
        return lines.pairs[lines.pair_first[q] + low * lines.width[q] + high]  # type: ignore[no-any-return]
    return loss_between(lines.first[q] + low, lines.first[q] + high, lines.above, lines.node_losses)


@inline_kernel
def loss_with(row: int, other: int, lows: Places, highs: Places, enough: Whole, lines: Lines) -> Whole:
    """Return the loss of a row joined with the places ``lows[other]`` to ``highs[other]``.

    It is not added up further once it is ``enough``.
    """
    places = lines.places
    loss = np.int64(0)
    for q in range(places.shape[1]):
        low = min(places[row, q], lows[other, q])
        high = max(places[row, q], highs[other, q])
        loss += join_loss(q, low, high, lines)
        if loss >= enough:
            break
    return loss


@jit
def mix_word(word: int) -> np.uint64:
    """Mix a number into 64 bits (the finalizer of splitmix64)."""
    z = np.uint64(word) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@jit
def mix_words(numbers: Numbers) -> Words:
    """Apply ``mix_word`` to each number."""
    mixed = np.empty(len(numbers), np.uint64)
    for position in range(len(numbers)):
        mixed[position] = mix_word(numbers[position])
    return mixed


@jit
def recall_answer(class_print: np.uint64, prints: Words, answers: NDArray[np.int8]) -> int:
    """Return the cached answer for a class of this print."""
    mask = np.uint64(len(prints) - 1)
    slot = class_print & mask
    while answers[slot] != UNKNOWN:
        if prints[slot] == class_print:
            return answers[slot]  # type: ignore[no-any-return]
        slot = (slot + np.uint64(1)) & mask
    return UNKNOWN


@jit
def remember(new: Words, said: NDArray[np.bool_], memory: Memory) -> None:
    """Cache answers; a table that would be more than half full is emptied before."""
    prints, answers, filled = memory
    mask = np.uint64(len(prints) - 1)
    if 2 * (filled[0] + len(new)) > len(prints):
        answers[:] = UNKNOWN
        filled[0] = 0
    for entry in range(len(new)):
        slot = new[entry] & mask
        while answers[slot] != UNKNOWN and prints[slot] != new[entry]:
            slot = (slot + np.uint64(1)) & mask
        filled[0] += answers[slot] == UNKNOWN
        prints[slot] = new[entry]
        answers[slot] = YES if said[entry] else NO


@jit
def sweep(
    least: int,
    most_visits: int,
    asking: bool,
    lattice: LatticeArrays,
    marks: Words,
    classes: Numbers,
    buffers: SweepBuffers,
    caps: Caps,
    memory: Memory,
) -> bool:
    """Close groups node by node until the models must be asked (return True) or the sweep ends (return
    False).

    A group of rows that are equal at the depths of a lattice node becomes a class if it has at least
    ``least`` rows, keeps the caps and satisfies the models. Without ``asking`` the caps decide alone. On True
    the caller must ask about the groups ``grouped[asked[i, 0]:asked[i, 1]]`` of print ``asked_prints[i]`` and
    cache the answers in ``memory``; the next call visits the node again. The sweep ends after ``most_visits``
    row visits. ``marks`` [row] are the marks; ``classes`` [row] receives the classes.
    """
    node_depths, places, first, generalized, codes = lattice
    state, waiting, slots, keys, counts, grouped, asked, asked_prints = buffers
    prints, answers, _ = memory
    width = places.shape[1]
    depths = np.empty(width, np.int64)
    while state[NODE] < len(node_depths) and state[LEFT] >= least and state[VISITS] < most_visits:
        rows = state[LEFT]
        for q in range(width):
            depths[q] = node_depths[state[NODE], q]
        size = 16
        while size < 2 * rows:
            size *= 2
        mask = np.uint64(size - 1)
        counts[:size] = 0
        state[VISITS] += rows
        for position in range(rows):
            key = np.uint64(0)
            for q in range(width):
                key += codes[generalized[first[q] + places[waiting[position], q], depths[q]]]
            slot = key & mask
            while counts[slot] > 0 and keys[slot] != key:
                slot = (slot + np.uint64(1)) & mask
            keys[slot] = key
            counts[slot] += 1
            slots[position] = slot
        # Collect the groups that are large enough, in the order of their first rows.
        filled = 0
        for position in range(rows):
            slot = slots[position]
            if counts[slot] >= least:
                start = filled
                filled += counts[slot]
                counts[slot] = -start - 1
            if counts[slot] < 0:
                grouped[-counts[slot] - 1] = waiting[position]
                counts[slot] -= 1
        state[GROUPS_ASKED] = 0
        start = 0
        while start < filled:
            key = np.uint64(0)
            for q in range(width):
                key += codes[generalized[first[q] + places[grouped[start], q], depths[q]]]
            slot = key & mask
            while keys[slot] != key or counts[slot] == 0:
                slot = (slot + np.uint64(1)) & mask
            end = -counts[slot] - 1
            if keeps_caps(start, end, grouped, caps):
                answer = YES
                if asking:
                    class_print = np.uint64(0)
                    for position in range(start, end):
                        class_print += marks[grouped[position]]
                    answer = recall_answer(class_print, prints, answers)
                    if answer == UNKNOWN:
                        asked[state[GROUPS_ASKED], 0] = start
                        asked[state[GROUPS_ASKED], 1] = end
                        asked_prints[state[GROUPS_ASKED]] = class_print
                        state[GROUPS_ASKED] += 1
                if answer == YES:
                    for position in range(start, end):
                        classes[grouped[position]] = state[MADE]
                    state[MADE] += 1
            start = end
        kept = 0
        for position in range(rows):
            if classes[waiting[position]] < 0:
                waiting[kept] = waiting[position]
                kept += 1
        state[LEFT] = kept
        if state[GROUPS_ASKED] > 0:
            return True
        state[NODE] += 1
    return False


@jit
def crowding(rows: Numbers, sample: Numbers, nearest: int, lines: Lines) -> Numbers:
    """Return for each row the loss of the join with its ``nearest``-th nearest row of the sample."""
    places = lines.places
    losses = np.empty(len(rows), np.int64)
    others, distances = np.empty((2, nearest), np.int64)
    for position in range(len(rows)):
        row = rows[position]
        count = 0
        for other in sample:
            if other == row:
                continue
            enough = distances[nearest - 1] if count == nearest else NEVER
            distance = loss_with(row, other, places, places, enough, lines)
            if distance < enough:
                count = insert_nearest(other, distance, 0, count, others, distances)
        losses[position] = distances[count - 1] if count else 0
    return losses


@jit
def near(row: int, start: int, end: int, order: Numbers, classes: Numbers, lines: Lines, out: Numbers) -> int:
    """Write the rows without a class in ``order[start:end]`` that are nearest to a row to ``out``.

    The row itself comes first, the others by the loss of the join with it, ties by the order. Return the
    number of rows.
    """
    places = lines.places
    distances = np.empty(len(out), np.int64)
    out[0] = row
    count = 1
    for position in range(start, end):
        other = order[position]
        if classes[other] >= 0 or other == row:
            continue
        enough = distances[count - 1] if count == len(out) else NEVER
        distance = loss_with(row, other, places, places, enough, lines)
        if distance < enough:
            count = insert_nearest(other, distance, 1, count, out, distances)
    return count


@jit
def gather(size: int, wanted: int, members: Numbers, lines: Lines) -> None:
    """Extend the class ``members[:size]`` to ``wanted`` rows, each time by the row that adds least loss."""
    places = lines.places
    low = places[members[0] : members[0] + 1].copy()
    high = low.copy()
    for position in range(1, size):
        widen(0, members[position], low, high, places)
    while size < wanted:
        best = size
        least = NEVER
        for position in range(size, len(members)):
            loss = loss_with(members[position], 0, low, high, least, lines)
            if loss < least:
                best = position
                least = loss
        row = members[best]
        for position in range(best, size, -1):
            members[position] = members[position - 1]
        members[size] = row
        widen(0, row, low, high, places)
        size += 1
