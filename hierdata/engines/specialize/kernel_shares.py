"""Shares of sensitive values at places, as integers that stay exact while records change.

A value counts at a place by the vertices that all matches of a record lead to.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.jit import jit
from hierdata.engines.specialize.kernel_facts import FactGroup, Row
from hierdata.engines.specialize.kernel_places import (
    PatternNames,
    ShareLimit,
    ValuesBelow,
    gather_all,
    list_places,
    refresh_values,
)
from hierdata.engines.specialize.kernel_table import Asked, find_key, make_table


class ShareTable(NamedTuple):
    """Sums of weights by place and entry, in open addressing; of an attribute the records that show one.

    ``used`` has the number of keys.
    """

    keys: NDArray[np.int64]
    sums: NDArray[np.int64]
    used: NDArray[np.int64]


class ShareSums(NamedTuple):
    """The shares of all records, and the names of the patterns."""

    names: PatternNames
    shares: ShareTable


class PlaceValues(NamedTuple):
    """The values that a record shows at one place: ``times`` by entry, and which entries these are."""

    times: NDArray[np.int64]
    entries: NDArray[np.int64]
    size: NDArray[np.int64]


@jit
def make_shares(bits: int) -> ShareTable:
    """Return an empty table with room for 2^bits keys."""
    return ShareTable(np.zeros(1 << bits, np.int64), np.zeros(1 << bits, np.int64), np.zeros(1, np.int64))


@jit
def widen_shares(table: ShareTable) -> ShareTable:
    """Return the table, or a larger one if it is half full; sums of 0 are left out."""
    if table.used[0] * 2 < len(table.keys):
        return table
    bits = 1
    while (1 << bits) < 2 * len(table.keys):
        bits += 1
    wider = make_shares(bits)
    for at in range(len(table.keys)):
        if table.keys[at] != 0 and table.sums[at] != 0:
            slot = find_key(wider.keys, table.keys[at])
            wider.keys[slot] = table.keys[at]
            wider.sums[slot] = table.sums[at]
            wider.used[0] += 1
    return wider


@jit
def read_place(below: ValuesBelow, codes: NDArray[np.int64], at: int, base: int, scratch: PlaceValues) -> int:
    """Read the values at the place of ``codes[at]`` into the scratch; return where the next place begins."""
    for touched in range(scratch.size[0]):
        scratch.times[scratch.entries[touched]] = 0
    scratch.size[0] = 0
    place = codes[at] >> 32
    before = -1
    while at < len(codes) and codes[at] >> 32 == place:
        vertex = codes[at] & 0xFFFFFFFF
        if vertex != before:
            for row in range(below.first[base + vertex], below.first[base + vertex + 1]):
                entry = below.entry[row]
                if below.held[row]:
                    if scratch.times[entry] == 0:
                        scratch.entries[scratch.size[0]] = entry
                        scratch.size[0] += 1
                    scratch.times[entry] += below.held[row]
        before = vertex
        at += 1
    return at


@jit
def weight_of(limit: ShareLimit, scratch: PlaceValues, entry: int) -> int:
    """Return what a record weighs for an entry at the place that was read, rounded up."""
    if entry < limit.attributes:
        return 1
    if limit.presence[entry]:
        return limit.unit
    total = scratch.times[limit.attribute[entry]]
    return int(-(-scratch.times[entry] * limit.unit // total))


@jit
def key_of_entry(limit: ShareLimit, place: int, entry: int) -> int:
    """Return the key of an entry at a place."""
    return place * len(limit.attribute) + entry + 1


@jit
def add_places(
    below: ValuesBelow,
    limit: ShareLimit,
    counted: ShareSums,
    codes: NDArray[np.int64],
    base: int,
    scratch: PlaceValues,
    step: int,
) -> ShareSums:
    """Add what a record weighs at its places, ``step`` times."""
    shares = counted.shares
    at = 0
    while at < len(codes):
        place = codes[at] >> 32
        at = read_place(below, codes, at, base, scratch)
        for touched in range(scratch.size[0]):
            entry = scratch.entries[touched]
            slot = find_key(shares.keys, key_of_entry(limit, place, entry))
            if shares.keys[slot] == 0:
                shares.keys[slot] = key_of_entry(limit, place, entry)
                shares.used[0] += 1
            shares.sums[slot] += step * weight_of(limit, scratch, entry)
        shares = widen_shares(shares)
    return ShareSums(counted.names, shares)


@jit
def count_shares(
    group: FactGroup, asked: Asked, limit: ShareLimit, below: ValuesBelow, row: Row, scratch: PlaceValues
) -> ShareSums:
    """Count the shares of all records at all anchors of their patterns."""
    counted = ShareSums(PatternNames(make_table(12), make_table(12)), make_shares(12))
    for record in range(len(group.first_vertex) - 1):
        refresh_values(group, below, record)
        gather_all(group, record, row)
        names, codes = list_places(group, asked, limit, below, counted.names, row, record)
        counted = ShareSums(names, counted.shares)
        counted = add_places(below, limit, counted, codes, group.first_vertex[record], scratch, 1)
    return counted


@jit
def make_scratch(limit: ShareLimit) -> PlaceValues:
    """Return a scratch for any place."""
    entries = len(limit.attribute)
    return PlaceValues(np.zeros(entries, np.int64), np.zeros(entries, np.int64), np.zeros(1, np.int64))


@jit
def excess_at(limit: ShareLimit, shares: ShareTable, place: int, entry: int) -> int:
    """Return by how much the weight of a value at a place is too large; 0 or less if it is not."""
    weight = shares.sums[find_key(shares.keys, key_of_entry(limit, place, entry))]
    showing = shares.sums[find_key(shares.keys, key_of_entry(limit, place, limit.attribute[entry]))]
    return int(weight * limit.denominator - limit.numerator * limit.unit * showing)
