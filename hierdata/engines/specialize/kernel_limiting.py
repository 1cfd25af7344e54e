"""Delete facts until no sensitive value has too large a share at an anchor of a pattern."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.jit import jit
from hierdata.engines.specialize.kernel_broken import note_broken
from hierdata.engines.specialize.kernel_facts import (
    FactGroup,
    Row,
    count_group,
    key_of_vertex,
)
from hierdata.engines.specialize.kernel_mending import delete_noted, mark_holders, mark_matching, mend_record
from hierdata.engines.specialize.kernel_places import (
    PatternNames,
    ShareLimit,
    ValuesBelow,
    gather_all,
    list_places,
    refresh_values,
    span_of,
)
from hierdata.engines.specialize.kernel_shares import (
    PlaceValues,
    ShareSums,
    ShareTable,
    add_places,
    count_shares,
    excess_at,
    make_scratch,
    read_place,
    weight_of,
)
from hierdata.engines.specialize.kernel_table import (
    Asked,
    PatternTable,
    find_slot,
    key_of_one,
    key_of_three,
    key_of_two,
    make_table,
    widen_clauses,
)


@jit
def find_excessive(
    group: FactGroup,
    limit: ShareLimit,
    below: ValuesBelow,
    shares: ShareTable,
    codes: NDArray[np.int64],
    base: int,
    scratch: PlaceValues,
) -> NDArray[np.int64]:
    """Return the numbers of the patterns, ascending, that are better off without a record.

    Some value has too large a share at an anchor, and the record adds to that.
    """
    span = span_of(group)
    numbers = np.zeros(64, np.int64)
    count = 0
    at = 0
    while at < len(codes):
        place = codes[at] >> 32
        at = read_place(below, codes, at, base, scratch)
        if count and numbers[count - 1] == place // span:
            continue
        for touched in range(scratch.size[0]):
            entry = scratch.entries[touched]
            if entry < limit.attributes:
                continue
            weight = weight_of(limit, scratch, entry)
            if weight * limit.denominator <= limit.numerator * limit.unit:
                continue
            if excess_at(limit, shares, place, entry) > 0:
                if count == len(numbers):
                    numbers = np.append(numbers, np.zeros(count, np.int64))
                numbers[count] = place // span
                count += 1
                break
    return numbers[:count]


@jit
def is_among(named: PatternTable, key: int, numbers: NDArray[np.int64]) -> bool:
    """Return whether the number of a key is among some, which are ascending."""
    number = named.counts[find_slot(named, key)]
    at = np.searchsorted(numbers, number)
    return bool(at < len(numbers) and numbers[at] == number)


@jit
def note_excessive(
    group: FactGroup,
    asked: Asked,
    limit: ShareLimit,
    names: PatternNames,
    numbers: NDArray[np.int64],
    row: Row,
    found: NDArray[np.int64],
) -> int:
    """Note the occurrences of patterns by their numbers, as ``find_broken`` does; return how many."""
    size, labels, common, facts = row.size[0], row.labels, row.common, row.facts
    count = 0
    for i in range(size):
        a = labels[i]
        if is_among(names.numbers, key_of_one(asked, a), numbers):
            count = note_broken(found, count, facts[i], -1, -1)
        if limit.m < 2:
            continue
        for j in range(i + 1, size):
            b, ab = labels[j], common[i, j]
            if is_among(names.numbers, key_of_two(asked, a, b, ab), numbers):
                count = note_broken(found, count, facts[i], facts[j], -1)
            if limit.m < 3:
                continue
            for h in range(j + 1, size):
                key = key_of_three(asked, a, b, labels[h], ab, common[i, h], common[j, h])
                if is_among(names.numbers, key, numbers):
                    count = note_broken(found, count, facts[i], facts[j], facts[h])
        if count == len(found):
            return count
    if asked.whole:
        for i in range(size):
            vertex = group.owner[facts[i]]
            if facts[i] != group.first_fact[vertex] or group.depth[vertex] == 0:
                continue
            if is_among(names.numbers, key_of_vertex(group, asked, names.clauses, vertex), numbers):
                count = note_broken(found, count, facts[i], -2, -1)
    return count


@jit
def mark_stuck(group: FactGroup, found: NDArray[np.int64], count: int, stuck: NDArray[np.bool_]) -> None:
    """Mark the absent labels of occurrences that cannot be deleted."""
    for at in range(count):
        for place in range(3):
            fact = found[at, place]
            if fact >= 0:
                last = group.first_fact[group.owner[fact] + 1] if found[at, 1] == -2 else fact + 1
                for other in range(fact, last):
                    stuck[group.absent[other]] = True


@jit
def mark_excessive(
    group: FactGroup,
    asked: Asked,
    limit: ShareLimit,
    counted: ShareSums,
    dirty: NDArray[np.bool_],
) -> bool:
    """Mark the records that may match a pattern at which a value has too large a share.

    Returns whether there is such a pattern.
    """
    shares, names = counted.shares, counted.names
    entries, span = len(limit.attribute), span_of(group)
    excessive = False
    before = -1
    for at in range(len(shares.keys)):
        if shares.keys[at] == 0 or shares.sums[at] == 0:
            continue
        place, entry = (shares.keys[at] - 1) // entries, (shares.keys[at] - 1) % entries
        if entry < limit.attributes or excess_at(limit, shares, place, entry) <= 0:
            continue
        excessive = True
        number = place // span
        if number == 0:
            dirty[:] = True
        elif number != before:
            mark_matching(group, asked, names.clauses, names.numbers.keys[names.numbers.last[number]], dirty)
        before = number
    return excessive


@jit
def limit_record(
    group: FactGroup,
    asked: Asked,
    limit: ShareLimit,
    below: ValuesBelow,
    tables: tuple[PatternTable, PatternTable],
    counted: ShareSums,
    rooms: tuple[Row, PlaceValues],
    record: int,
    found: NDArray[np.int64],
    changed: NDArray[np.int64],
    stuck: NDArray[np.bool_],
    broken: bool,
) -> tuple[PatternTable, ShareSums, bool]:
    """Delete facts of a record where shares are too large, and where it is ``broken``: too few match.

    Returns the tables, and whether enough records match each of its patterns then. Marks in ``stuck`` the
    absent values that are in the way.
    """
    table, clauses = tables
    row, scratch = rooms
    base = group.first_vertex[record]
    gather_all(group, record, row)
    names, codes = list_places(group, asked, limit, below, counted.names, row, record)
    counted = ShareSums(names, counted.shares)
    excessive = find_excessive(group, limit, below, counted.shares, codes, base, scratch)
    count = note_excessive(group, asked, limit, names, excessive, row, found)
    if count == 0 and not broken:
        return table, counted, True
    counted = add_places(below, limit, counted, codes, base, scratch, -1)
    table, left = delete_noted(group, asked, table, clauses, row, record, found, count, changed)
    mark_stuck(group, found, left, stuck)
    table, mended = mend_record(group, asked, table, clauses, row, record, found, changed)
    refresh_values(group, below, record)
    gather_all(group, record, row)
    names, codes = list_places(group, asked, limit, below, names, row, record)
    return table, add_places(below, limit, ShareSums(names, counted.shares), codes, base, scratch, 1), mended


@jit
def limit_shares(
    group: FactGroup,
    asked: Asked,
    limit: ShareLimit,
    below: ValuesBelow,
    row: Row,
    found: NDArray[np.int64],
    changed: NDArray[np.int64],
    stuck: NDArray[np.bool_],
) -> bool:
    """Delete facts record by record until no share is too large, and enough records match each pattern.

    Returns whether that could be done; if not, ``stuck`` tells by label which absent values were in the way.
    """
    scratch = make_scratch(limit)
    table, clauses = count_group(group, asked, make_table(12), row)
    counted = count_shares(group, asked, limit, below, row, scratch)
    records = len(group.first_vertex) - 1
    dirty, broken = np.zeros(records, np.bool_), np.zeros(records, np.bool_)
    changed[0] = 0
    moved = excessive = True
    while moved:
        moved = False
        stuck[:] = False
        excessive = mark_excessive(group, asked, limit, counted, dirty)
        for record in range(records):
            if not dirty[record] and not broken[record]:
                continue
            visits = table.used[1]
            clauses = widen_clauses(clauses, 64 * len(row.facts))
            table, counted, mended = limit_record(
                group, asked, limit, below, (table, clauses), counted, (row, scratch), record, found, changed,
                stuck, broken[record],
            )  # fmt: skip
            if not mended:
                return False
            dirty[record] = broken[record] = False
            moved |= table.used[1] != visits
            mark_holders(group, asked, table, clauses, changed, broken)
    return not excessive
