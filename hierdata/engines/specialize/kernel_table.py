"""Counts of records by pattern, in open addressing; patterns are exact keys of 63 bits.

A key has the depths of the lowest common ancestors of each pair of vertices of up to three facts, and behind
these the labels of the facts in ascending order. Different patterns have different keys. Keys that differ in
their last bits only are neighbours in a table: the patterns of a record that have two facts in common are
counted one after the other, and mostly differ in the last label.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.jit import inline_kernel, jit, part

_NEIGHBOURS = 6
"""The bits of a key by which it is moved from where keys with the same other bits are."""
CLAUSE = 62
"""The bit of keys that stand for what one vertex shows in all its fields."""


class Asked(NamedTuple):
    """What is asked of patterns: at least ``k`` records match each of up to ``m`` facts.

    The labels from 1 to ``absents`` are those of absent values; ``blind``: these are no facts. ``whole``:
    what a vertex shows in all its fields is a pattern too. ``label_bits`` and ``depth_bits`` hold a label and
    a depth.
    """

    k: int
    m: int
    absents: int
    blind: bool
    whole: bool
    label_bits: int
    depth_bits: int


class PatternTable(NamedTuple):
    """Records that match each key, in open addressing; ``last`` is the last visit that counted a key.

    ``used`` has the number of keys and the number of visits.
    """

    keys: NDArray[np.int64]
    counts: NDArray[np.int32]
    last: NDArray[np.int32]
    used: NDArray[np.int64]


@jit
def make_table(bits: int) -> PatternTable:
    """Return an empty table with room for 2^bits keys."""
    room = 1 << bits
    used = np.array([0, 1], np.int64)
    return PatternTable(np.zeros(room, np.int64), np.zeros(room, np.int32), np.zeros(room, np.int32), used)


@inline_kernel
def find_key(keys: NDArray[np.int64], key: int) -> int:
    """Return where a key is in open addressing, or the empty place where it belongs."""
    mask = len(keys) - 1
    mixed = np.uint64(key >> _NEIGHBOURS) * np.uint64(0x9E3779B97F4A7C15)
    at = (np.int64(mixed >> np.uint64(20)) + (key & ((1 << _NEIGHBOURS) - 1))) & mask
    while keys[at] != 0 and keys[at] != key:
        at = (at + 1) & mask
    return int(at)


@inline_kernel
def find_slot(table: PatternTable, key: int) -> int:
    """Return where a key of a table is, or the empty place where it belongs."""
    return find_key(table.keys, key)


@jit
def make_room(table: PatternTable, more: int) -> PatternTable:
    """Return the table, or a larger one that can take ``more`` keys."""
    if (table.used[0] + more) * 3 < len(table.keys) * 2:
        return table
    bits = 1
    while (1 << bits) * 2 <= (table.used[0] + more) * 3:
        bits += 1
    wider = make_table(bits)
    for at in range(len(table.keys)):
        if table.keys[at] != 0 and table.counts[at] != 0:
            slot = find_slot(wider, table.keys[at])
            wider.keys[slot] = table.keys[at]
            wider.counts[slot] = table.counts[at]
            wider.last[slot] = table.last[at]
            wider.used[0] += 1
    wider.used[1] = table.used[1]
    return wider


@inline_kernel
def key_of_one(asked: Asked, a: int) -> int:
    """Return the key of one fact."""
    return a


@inline_kernel
def key_of_two(asked: Asked, a: int, b: int, ab: int) -> int:
    """Return the key of two facts by their labels and common depth."""
    if a > b:
        a, b = b, a
    return (((ab << (2 * asked.label_bits)) | a) << asked.label_bits) | b


@inline_kernel
def key_of_three(asked: Asked, a: int, b: int, c: int, ab: int, ac: int, bc: int) -> int:
    """Return the key of three facts by their labels and common depths; the order of facts does not matter."""
    if a > b:
        a, b, ac, bc = b, a, bc, ac
    if b > c:
        b, c, ab, ac = c, b, ac, ab
        if a > b:
            a, b, ac, bc = b, a, bc, ac
    if a == b and ac > bc:
        ac, bc = bc, ac
    if b == c and ab > ac:
        ab, ac = ac, ab
        if a == b and ac > bc:
            ac, bc = bc, ac
    bits, deep = asked.label_bits, asked.depth_bits
    depths = (((ab << deep) | ac) << deep) | bc
    return (((((depths << bits) | a) << bits) | b) << bits) | c


@inline_kernel
def note_key(changed: NDArray[np.int64], key: int) -> None:
    """Note a key if there is room; more than fit are counted only."""
    if changed[0] + 1 < len(changed):
        changed[changed[0] + 1] = key
    changed[0] += 1


@inline_kernel
def add_key(table: PatternTable, key: int, step: int, k: int, changed: NDArray[np.int64]) -> None:
    """Count a key once in this visit; note it where a pattern begins to be matched by too few.

    ``changed`` has the number of noted keys first. A key that the visit before counted has only come back.
    """
    slot = find_slot(table, key)
    visit = table.used[1]
    if table.keys[slot] == 0:
        table.keys[slot] = key
        table.used[0] += 1
    elif table.last[slot] == visit:
        return
    if step > 0:
        table.counts[slot] += 1
        if table.last[slot] != visit - 1 and table.counts[slot] < k:
            note_key(changed, key)
    else:
        table.counts[slot] -= 1
        if table.counts[slot] == k - 1:
            note_key(changed, key)
    table.last[slot] = visit


@part
def number_key(numbered: PatternTable, key: int) -> int:
    """Return the number of a key; new ones are numbered. There must be room for it (``widen_clauses``)."""
    slot = find_slot(numbered, key)
    if numbered.keys[slot] == 0:
        numbered.keys[slot] = key
        numbered.used[0] += 1
        numbered.counts[slot] = numbered.used[0]
        numbered.last[numbered.used[0]] = slot
    return int(numbered.counts[slot])


@part
def intern(clauses: PatternTable, prefix: int, label: int, bits: int) -> int:
    """Return the number of a sequence of labels by that of its beginning; new ones are numbered."""
    return number_key(clauses, ((prefix << bits) | label) + 1)


@jit
def widen_clauses(clauses: PatternTable, more: int) -> PatternTable:
    """Return the sequences of labels in a table with room for ``more``; numbers do not change.

    ``last[number]`` is the slot of a sequence.
    """
    if (clauses.used[0] + more) * 2 < len(clauses.keys):
        return clauses
    bits = 1
    while (1 << bits) <= (clauses.used[0] + more) * 3:
        bits += 1
    wider = make_table(bits)
    for at in range(len(clauses.keys)):
        if clauses.keys[at] != 0:
            slot = find_slot(wider, clauses.keys[at])
            wider.keys[slot] = clauses.keys[at]
            wider.counts[slot] = clauses.counts[at]
            wider.last[clauses.counts[at]] = slot
    wider.used[0] = clauses.used[0]
    return wider
