"""The inner loop of a lattice sweep: the groups of rows at each node, and what is remembered of answers.

What a class holds is summed up in a print, the sum of its rows' ``marks``: equal prints, equal answers of the
models, so nobody is asked twice. Rows of a group are told by a sum of 64 mixed bits too. Should two groups
have the same, they are one class, published by the join of all: worse, and as safe.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.jit import jit
from hierdata.engines.rows.kernel import Caps, Numbers, Places, keeps_caps, loss_between

Words: TypeAlias = "NDArray[np.uint64]"

LEFT, NODE, MADE, VISITS, ASKED, STATE = range(6)
"""What is known of the work: rows without a class, the node to visit next, classes made, rows visited, and
how many groups are to be asked about."""
UNKNOWN, NO, YES = range(3)
"""What is remembered of a print."""


class Lines(NamedTuple):
    """Rows by their places, and what joins lose: ``pairs[pair_first[q] + low * width[q] + high]``.

    Where ``pair_first[q]`` is -1 that is looked up in ``above`` and ``node_losses``, as in ``cutting``.
    """

    places: Places
    first: Numbers
    width: Numbers
    pair_first: Numbers
    pairs: Numbers
    above: Places
    node_losses: Numbers


class Memory(NamedTuple):
    """What the models said: an open table of prints, with YES or NO beside each, UNKNOWN where it is free."""

    prints: Words
    answers: NDArray[np.int8]
    filled: Numbers


class Lattice(NamedTuple):
    """The nodes of a generalization lattice, and the rows by the hierarchy nodes at each depth."""

    depths: Places  # [lattice node, quasi-identifier]: nodes in the order in which they are visited
    places: Places  # [row, quasi-identifier]
    first: Numbers  # [quasi-identifiers + 1]: the row of ``generalized`` where its places begin
    generalized: Places  # [first + place, depth]: hierarchy node
    codes: Words  # [hierarchy node]: its number as 64 mixed bits


class SweepBuffers(NamedTuple):
    """The state of a sweep, and working memory; ``asked`` and ``asked_prints`` are for the caller."""

    state: Numbers  # [STATE]
    left: Numbers  # [row]: the first ``state[LEFT]`` are the rows without a class
    slots: Numbers  # [row left]: its slot in the hash table
    keys: Words  # [slot]: key of a group, in a table of a power of two
    counts: Numbers  # [slot]: rows of the group, 0 for a free slot
    grouped: Numbers  # [row]: the rows of the groups, group after group
    asked: Numbers  # [question, 2]: start and end of a group in ``grouped``
    asked_prints: Words  # [question]: print of the group


@jit
def join_loss(q: int, low: int, high: int, lines: Lines) -> int:
    """The loss of the join of the nodes at two places of a quasi-identifier, the lower one first."""
    if lines.pair_first[q] >= 0:
        return lines.pairs[lines.pair_first[q] + low * lines.width[q] + high]  # type: ignore[no-any-return]
    return loss_between(lines.first[q] + low, lines.first[q] + high, lines.above, lines.node_losses)


@jit
def mix_word(word: int) -> np.uint64:
    """A number that spreads over 64 bits (the finalizer of splitmix64)."""
    z = np.uint64(word) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@jit
def mix_words(numbers: Numbers) -> Words:
    """``mix_word`` of each number."""
    found = np.empty(len(numbers), np.uint64)
    for at in range(len(numbers)):
        found[at] = mix_word(numbers[at])
    return found


@jit
def recall_answer(one: np.uint64, prints: Words, answers: NDArray[np.int8]) -> int:
    """What was said of a class of this print."""
    mask = np.uint64(len(prints) - 1)
    at = one & mask
    while answers[at] != UNKNOWN:
        if prints[at] == one:
            return answers[at]  # type: ignore[no-any-return]
        at = (at + np.uint64(1)) & mask
    return UNKNOWN


@jit
def remember(new: Words, said: NDArray[np.bool_], memory: Memory) -> None:
    """Enter answers; a table that is half full is emptied before, so that it stays small."""
    prints, answers, filled = memory
    mask = np.uint64(len(prints) - 1)
    if 2 * (filled[0] + len(new)) > len(prints):
        answers[:] = UNKNOWN
        filled[0] = 0
    for entry in range(len(new)):
        at = new[entry] & mask
        while answers[at] != UNKNOWN and prints[at] != new[entry]:
            at = (at + np.uint64(1)) & mask
        filled[0] += answers[at] == UNKNOWN
        prints[at] = new[entry]
        answers[at] = YES if said[entry] else NO


@jit
def sweep(
    least: int,
    most_visits: int,
    asking: bool,
    lattice: Lattice,
    marks: Words,
    classes: Numbers,
    buffers: SweepBuffers,
    caps: Caps,
    memory: Memory,
) -> bool:
    """Close groups node by node until somebody must be asked (True) or nothing is left to do (False).

    When asked, ``grouped[asked[i, 0]:asked[i, 1]]`` are rows of print ``asked_prints[i]``; the answers are
    remembered, and the next call visits the node again.
    """
    node_depths, places, first, generalized, codes = lattice
    state, left, slots, keys, counts, grouped, asked, asked_prints = buffers
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
        for at in range(rows):
            key = np.uint64(0)
            for q in range(width):
                key += codes[generalized[first[q] + places[left[at], q], depths[q]]]
            slot = key & mask
            while counts[slot] > 0 and keys[slot] != key:
                slot = (slot + np.uint64(1)) & mask
            keys[slot] = key
            counts[slot] += 1
            slots[at] = slot
        # Groups that are large enough stand together, in the order of their first rows.
        filled = 0
        for at in range(rows):
            slot = slots[at]
            if counts[slot] >= least:
                start = filled
                filled += counts[slot]
                counts[slot] = -start - 1
            if counts[slot] < 0:
                grouped[-counts[slot] - 1] = left[at]
                counts[slot] -= 1
        state[ASKED] = 0
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
                    own = np.uint64(0)
                    for at in range(start, end):
                        own += marks[grouped[at]]
                    answer = recall_answer(own, prints, answers)
                    if answer == UNKNOWN:
                        asked[state[ASKED], 0] = start
                        asked[state[ASKED], 1] = end
                        asked_prints[state[ASKED]] = own
                        state[ASKED] += 1
                if answer == YES:
                    for at in range(start, end):
                        classes[grouped[at]] = state[MADE]
                    state[MADE] += 1
            start = end
        kept = 0
        for at in range(rows):
            if classes[left[at]] < 0:
                left[kept] = left[at]
                kept += 1
        state[LEFT] = kept
        if state[ASKED] > 0:
            return True
        state[NODE] += 1
    return False
