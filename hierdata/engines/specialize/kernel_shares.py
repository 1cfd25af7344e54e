"""Shares of sensitive values at places, as integers that stay exact while records change.

A value counts at a place by the vertices that all matches of a record lead to. Of attributes whose values may
be known, what the facts of a pattern state there is taken out, and what is absent counts for every value.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hierdata.engines.jit import inline_kernel, jit
from hierdata.engines.rows.kernel import Flags, Numbers
from hierdata.engines.specialize.kernel_mending import (
    delete_noted,
    mark_holders,
    mark_matching,
    mend_record,
    note_broken,
    note_patterns,
)
from hierdata.engines.specialize.kernel_patterns import (
    Asked,
    FactGroup,
    GroupWork,
    PatternTable,
    Row,
    Tables,
    compare_paths,
    count_group,
    find_key,
    is_gone,
    key_of_three,
    key_of_two,
    key_of_vertex,
    make_table,
    number_key,
    widen_clauses,
    widen_tables,
)

STATED = 1 << 31
"""The bit of codes that say what a pattern states at a place; the others have a vertex there."""
NO_LABEL = 1 << 62
"""Stands for the label of a fact that a pattern does not have: above all others."""
MOST_HELD = 1 << 20
"""So many codes of a record are held before those that are there twice are dropped."""


class ShareLimit(NamedTuple):
    """No value has more than ``numerator / denominator`` of the ``unit`` that each record weighs.

    Patterns have up to ``m`` facts. Entries are the values that are shown, by attribute, then the absent ones
    that may be known, by attribute, and behind them the bounded values. ``attribute[e]`` is that of an entry,
    ``presence[e]`` whether each of its values weighs a whole unit. ``named[a]`` is how many values of an
    attribute are bounded, -1 for all. ``stated[l]`` is the entry of what a fact with label l states of an
    attribute, -1 for nothing; it is empty where no attribute may be known.
    """

    m: int
    numerator: int
    denominator: int
    unit: int
    attributes: int
    attribute: Numbers
    presence: Flags
    named: Numbers
    stated: Numbers


class ValuesBelow(NamedTuple):
    """Sensitive values at or below each vertex v of a group, in rows ``first[v]`` to ``first[v + 1]``.

    ``held[r]`` is how many values of an ``entry[r]`` are there now, ``alone[r]`` how many at v itself as long
    as v is there, ``up[r]`` the row of the entry at the parent of v, -1 at the root. Where the value may be
    known, it is there while ``fact[r]`` shows it, or while it does not, for ``absent[r]``; else -1.
    """

    first: Numbers
    entry: Numbers
    alone: Numbers
    up: Numbers
    fact: Numbers
    absent: Flags
    held: Numbers


class PlaceValues(NamedTuple):
    """What a record leaves to guess at one place: ``times`` by entry, and which ``entries`` are ``there``.

    ``stated`` tells which bounded values the pattern states there, and by attribute how many these are.
    """

    times: Numbers
    stated: Numbers
    there: Flags
    entries: Numbers
    size: Numbers


class ShareBounds(NamedTuple):
    """What is asked of shares, the sensitive values of the group's vertices, and room for one place."""

    limit: ShareLimit
    below: ValuesBelow
    scratch: PlaceValues


class PatternNames(NamedTuple):
    """Numbers of patterns by key, and ``clauses``: of the sequences of labels that whole vertices show."""

    numbers: PatternTable
    clauses: PatternTable


@jit
def refresh_values(group: FactGroup, below: ValuesBelow, record: int) -> None:
    """Count the values at or below each vertex of a record anew, after facts were deleted."""
    base, end = group.first_vertex[record], group.first_vertex[record + 1]
    for vertex in range(base, end):
        gone = is_gone(group, vertex)
        for row in range(below.first[vertex], below.first[vertex + 1]):
            fact = below.fact[row]
            hidden = fact >= 0 and (group.label[fact] == group.absent[fact]) != below.absent[row]
            below.held[row] = 0 if gone or hidden else below.alone[row]
    for vertex in range(end - 1, base, -1):
        for row in range(below.first[vertex], below.first[vertex + 1]):
            below.held[below.up[row]] += below.held[row]


@jit
def gather_all(group: FactGroup, record: int, row: Row) -> int:
    """Gather all that a record shows now, of equal siblings too; return how many facts these are."""
    size = 0
    for vertex in range(group.first_vertex[record], group.first_vertex[record + 1]):
        if not is_gone(group, vertex):
            for fact in range(group.first_fact[vertex], group.first_fact[vertex + 1]):
                row.facts[size] = fact
                row.labels[size] = group.label[fact]
                size += 1
    row.size[0] = size
    compare_paths(group, row)
    return size


@jit
def note_anchors(
    group: FactGroup, below: ValuesBelow, codes: Numbers, count: int, head: int, fact: int, shared: int
) -> int:
    """Note the vertex of a fact, and those above it, at places from ``head`` on; return how many are noted.

    Down to the depth ``shared`` they are anchors of a fact that comes before it.
    """
    vertex = group.owner[fact]
    base = codes[0]
    for depth in range(shared + 1, group.depth[vertex] + 1):
        above = group.path[vertex, depth]
        if below.first[above] < below.first[above + 1]:
            codes[count] = ((head + depth - 1) << 32) | (above - base)
            count += 1
    return count


@jit
def note_statement(codes: Numbers, count: int, place: int, entry: int, times: int) -> int:
    """Note that a pattern states an entry at a place, ``times`` facts before; return how many are noted."""
    if entry >= 0:
        codes[count] = (place << 32) | STATED | (entry * 4 + times)
        count += 1
    return count


@jit
def note_statements(
    group: FactGroup,
    codes: Numbers,
    count: int,
    head: int,
    facts: tuple[int, int, int],
    entries: tuple[int, int, int],
    common: tuple[int, int, int],
    ranks: tuple[int, int, int],
    shares: tuple[int, int, int],
) -> int:
    """Note at each anchor of a pattern what its facts state at or below it; return how many are noted.

    ``facts`` are up to three, -1 for none, with the entries that they state, -1 for none; ``common`` are the
    depths that the first two share, the outer ones, and the last two. Places of the anchors of a fact begin
    by its rank, those down to a depth it shares with one before it left out.
    """
    if entries[0] < 0 and entries[1] < 0 and entries[2] < 0:
        return count
    depths = int(group.path.shape[1]) - 1
    for nth in range(3):
        if entries[nth] < 0:
            continue
        times = 0
        for before in range(nth):
            times += entries[before] == entries[nth]
        count = note_statement(codes, count, head, entries[nth], times)
    for anchored in range(3):
        if facts[anchored] < 0:
            continue
        first = head + 1 + depths * ranks[anchored]
        for depth in range(shares[anchored] + 1, group.depth[group.owner[facts[anchored]]] + 1):
            for nth in range(3):
                if entries[nth] < 0 or (nth != anchored and common[nth + anchored - 1] < depth):
                    continue
                times = 0
                for before in range(nth):
                    near = before == anchored or common[before + anchored - 1] >= depth
                    times += near and entries[before] == entries[nth]
                count = note_statement(codes, count, first + depth - 1, entries[nth], times)
    return count


@jit
def note_vertex_statements(
    group: FactGroup, limit: ShareLimit, codes: Numbers, count: int, head: int, vertex: int
) -> int:
    """Note at each anchor of a pattern of a whole vertex what its fields state; return how many are noted."""
    for fact in range(group.first_fact[vertex], group.first_fact[vertex + 1]):
        for depth in range(group.depth[vertex] + 1):
            count = note_statement(codes, count, head + depth, limit.stated[group.label[fact]], 0)
    return count


@jit
def span_of(group: FactGroup) -> int:
    """Return the number of anchors that a pattern may have."""
    return 1 + 3 * (int(group.path.shape[1]) - 1)


@jit
def rank_fact(a: int, ab: int, ac: int, bc: int, b: int, c: int) -> tuple[int, int]:
    """Return how many of two other facts come before one, and the greatest common depth with these.

    Facts are in order of label, then of the sum of their common depths with the others; where that is equal
    too they can be exchanged. Labels are those of this fact, a, and of the others, b and c.
    """
    rank, shared = 0, 0
    if b < a or (b == a and bc < ac):
        rank, shared = 1, ab
    if c < a or (c == a and bc < ab):
        rank, shared = rank + 1, max(shared, ac)
    return rank, shared


@jit
def entry_of(limit: ShareLimit, label: int) -> int:
    """Return what a label states, as an entry; -1 for nothing."""
    return int(limit.stated[label]) if label != NO_LABEL and len(limit.stated) else -1


@inline_kernel
def note_pattern(
    group: FactGroup,
    bounds: ShareBounds,
    codes: Numbers,
    count: int,
    head: int,
    facts: tuple[int, int, int],
    common: tuple[int, int, int],
) -> int:
    """Note the places of a pattern, which begin at ``head``, with their vertices; return how many are noted.

    ``facts`` are up to three, -1 for none; ``common`` are the depths that the first two share, the outer
    ones, and the last two.
    """
    codes[count] = head << 32
    count += 1
    a = group.label[facts[0]]
    b = group.label[facts[1]] if facts[1] >= 0 else NO_LABEL
    c = group.label[facts[2]] if facts[2] >= 0 else NO_LABEL
    ab, ac, bc = common
    rank_a, shared_a = rank_fact(a, ab, ac, bc, b, c)
    rank_b, shared_b = rank_fact(b, ab, bc, ac, a, c)
    rank_c, shared_c = rank_fact(c, ac, bc, ab, a, b)
    below, first, depths = bounds.below, head + 1, int(group.path.shape[1]) - 1
    count = note_anchors(group, below, codes, count, first + depths * rank_a, facts[0], shared_a)
    if facts[1] >= 0:
        count = note_anchors(group, below, codes, count, first + depths * rank_b, facts[1], shared_b)
    if facts[2] >= 0:
        count = note_anchors(group, below, codes, count, first + depths * rank_c, facts[2], shared_c)
    limit = bounds.limit
    entries = (entry_of(limit, a), entry_of(limit, b), entry_of(limit, c))
    ranks, shares = (rank_a, rank_b, rank_c), (shared_a, shared_b, shared_c)
    return note_statements(group, codes, count, head, facts, entries, common, ranks, shares)


@jit
def make_codes(size: int, m: int, depths: int) -> Numbers:
    """Return room for the codes of a record with ``size`` facts, or for ``MOST_HELD`` of them."""
    total = 2 + 2 * size * (1 + depths)
    if m >= 2:
        total += size * (size - 1) // 2 * (1 + 2 * depths)
    if m >= 3:
        total += size * (size - 1) * (size - 2) // 6 * (1 + 3 * depths)
    return np.empty(min(total, MOST_HELD), np.int64)


@jit
def make_room_for_codes(codes: Numbers, count: int, more: int) -> tuple[Numbers, int]:
    """Return the codes with room for ``more`` behind the first ``count``, and how many are left of these.

    If there is no room, those that are there twice are dropped. Facts with equal labels have such codes.
    """
    if count + more <= len(codes):
        return codes, count
    codes[1:count].sort()
    kept = 2
    for position in range(2, count):
        if codes[position] != codes[kept - 1]:
            codes[kept] = codes[position]
            kept += 1
    if 2 * (kept + more) <= len(codes):
        return codes, kept
    wider = np.empty(2 * (kept + more), np.int64)
    wider[:kept] = codes[:kept]
    return wider, kept


@jit
def list_places(
    work: GroupWork, bounds: ShareBounds, names: PatternNames, record: int
) -> tuple[PatternNames, Numbers]:
    """Return the places of all patterns of a gathered record with their vertices, as sorted codes.

    A code has the place, ``number * span + anchor``, in its upper half, and in its lower half the vertex
    within the record or what the pattern states there. New patterns are numbered: the names are returned too.
    """
    group, asked, row = work.group, work.asked, work.row
    below, limit, m = bounds.below, bounds.limit, bounds.limit.m
    span, depths = span_of(group), int(group.path.shape[1]) - 1
    size, labels, common, facts = row.size[0], row.labels, row.common, row.facts
    numbers = names.numbers
    clauses = widen_clauses(names.clauses, 64 * len(row.facts))
    states = len(limit.stated) > 0
    codes = make_codes(size, m, depths)
    codes[0] = group.first_vertex[record]
    codes[1] = 0  # the root, whatever else is known
    count = 2
    for i in range(size):
        numbers = widen_clauses(numbers, size)
        codes, count = make_room_for_codes(codes, count, (3 if states else 1) * (size - i) * (1 + 2 * depths))
        a = labels[i]
        head = number_key(numbers, a) * span
        count = note_pattern(group, bounds, codes, count, head, (facts[i], -1, -1), (0, 0, 0))
        if m < 2:
            continue
        for j in range(i + 1, size):
            if m > 2:
                numbers = widen_clauses(numbers, size)
                codes, count = make_room_for_codes(
                    codes, count, (4 if states else 1) * (size - j) * (1 + 3 * depths)
                )
            b, ab = labels[j], common[i, j]
            head = number_key(numbers, key_of_two(asked, a, b, ab)) * span
            count = note_pattern(group, bounds, codes, count, head, (facts[i], facts[j], -1), (ab, 0, 0))
            if m < 3:
                continue
            for h in range(j + 1, size):
                ac, bc = common[i, h], common[j, h]
                head = number_key(numbers, key_of_three(asked, a, b, labels[h], ab, ac, bc)) * span
                three = (facts[i], facts[j], facts[h])
                count = note_pattern(group, bounds, codes, count, head, three, (ab, ac, bc))
    if asked.whole:
        numbers = widen_clauses(numbers, size)
        codes, count = make_room_for_codes(codes, count, (2 if states else 1) * size * (1 + depths))
        for i in range(size):
            vertex = group.owner[facts[i]]
            if facts[i] == group.first_fact[vertex] and group.depth[vertex]:
                key = key_of_vertex(group, asked, clauses, vertex)
                head = number_key(numbers, key) * span
                codes[count] = head << 32
                count = note_anchors(group, below, codes, count + 1, head + 1, facts[i], 0)
                if states:
                    count = note_vertex_statements(group, limit, codes, count, head, vertex)
    places = codes[1:count]
    places.sort()
    return PatternNames(numbers, clauses), places


class ShareTable(NamedTuple):
    """Sums of weights by place and entry, in open addressing; of an attribute the records that show one.

    ``used`` has the number of keys.
    """

    keys: Numbers
    sums: Numbers
    used: Numbers


class ShareSums(NamedTuple):
    """The shares of all records, and the names of the patterns."""

    names: PatternNames
    shares: ShareTable


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
    for old in range(len(table.keys)):
        if table.keys[old] != 0 and table.sums[old] != 0:
            slot = find_key(wider.keys, table.keys[old])
            wider.keys[slot] = table.keys[old]
            wider.sums[slot] = table.sums[old]
            wider.used[0] += 1
    return wider


@jit
def touch(limit: ShareLimit, scratch: PlaceValues, entry: int) -> None:
    """Note that an entry is at the place, and with absent values the attribute itself."""
    if not scratch.there[entry]:
        scratch.there[entry] = True
        scratch.entries[scratch.size[0]] = entry
        scratch.size[0] += 1
        if limit.attributes <= entry < 2 * limit.attributes:
            touch_attribute(scratch, entry - limit.attributes)


@jit
def touch_attribute(scratch: PlaceValues, entry: int) -> None:
    """Note that values of an attribute are at the place, shown or absent."""
    if not scratch.there[entry]:
        scratch.there[entry] = True
        scratch.entries[scratch.size[0]] = entry
        scratch.size[0] += 1


@jit
def take_out_stated(limit: ShareLimit, scratch: PlaceValues, entry: int, vertices: int) -> None:
    """Take out what a fact states, at each of the vertices of the place."""
    scratch.times[entry] -= vertices
    if entry >= 2 * limit.attributes:
        attribute = limit.attribute[entry]
        scratch.times[attribute] -= vertices
        if scratch.stated[entry] == 0:
            scratch.stated[entry] = 1
            scratch.stated[attribute] += 1


@jit
def read_place(
    limit: ShareLimit, below: ValuesBelow, codes: Numbers, position: int, base: int, scratch: PlaceValues
) -> int:
    """Read what is left at the place of ``codes[position]`` into scratch; return where the next begins."""
    for touched in range(scratch.size[0]):
        entry = scratch.entries[touched]
        scratch.times[entry] = 0
        scratch.stated[entry] = 0
        scratch.there[entry] = False
    scratch.size[0] = 0
    place = codes[position] >> 32
    before, vertices = -1, 0
    while position < len(codes) and codes[position] >> 32 == place:
        number = codes[position] & 0xFFFFFFFF
        if number != before and number & STATED:
            take_out_stated(limit, scratch, (number ^ STATED) >> 2, vertices)
        elif number != before:
            vertices += 1
            for row in range(below.first[base + number], below.first[base + number + 1]):
                if below.held[row]:
                    touch(limit, scratch, below.entry[row])
                    scratch.times[below.entry[row]] += below.held[row]
        before = number
        position += 1
    return position


@jit
def weight_of(limit: ShareLimit, scratch: PlaceValues, entry: int) -> int:
    """Return what a record weighs for an entry at the place that was read, rounded up.

    What it weighs for a bounded value is beside what it weighs for absent ones. By presence nobody is asked
    for a value that the pattern states.
    """
    attribute, attributes = limit.attribute[entry], limit.attributes
    absent = scratch.times[attributes + attribute]
    total = scratch.times[attribute] + absent
    if total == 0:
        return 0
    if entry < attributes:
        return 1
    if not limit.presence[entry]:
        return int(-(-scratch.times[entry] * limit.unit // total))
    if entry < 2 * attributes:
        known = limit.named[attribute]
        return limit.unit if absent and (known < 0 or scratch.stated[attribute] < known) else 0
    return 0 if absent or scratch.stated[entry] or scratch.times[entry] == 0 else limit.unit


@jit
def key_of_entry(limit: ShareLimit, place: int, entry: int) -> int:
    """Return the key of an entry at a place."""
    return place * len(limit.attribute) + entry + 1


@jit
def add_places(bounds: ShareBounds, counted: ShareSums, codes: Numbers, base: int, step: int) -> ShareSums:
    """Add what a record weighs at its places, ``step`` times; ``base`` is its first vertex."""
    limit, below, scratch = bounds.limit, bounds.below, bounds.scratch
    shares = counted.shares
    position = 0
    while position < len(codes):
        place = codes[position] >> 32
        position = read_place(limit, below, codes, position, base, scratch)
        for touched in range(scratch.size[0]):
            entry = scratch.entries[touched]
            if weight_of(limit, scratch, entry) == 0:
                continue
            slot = find_key(shares.keys, key_of_entry(limit, place, entry))
            if shares.keys[slot] == 0:
                shares.keys[slot] = key_of_entry(limit, place, entry)
                shares.used[0] += 1
            shares.sums[slot] += step * weight_of(limit, scratch, entry)
        shares = widen_shares(shares)
    return ShareSums(counted.names, shares)


@jit
def count_shares(work: GroupWork, bounds: ShareBounds) -> ShareSums:
    """Count the shares of all records at all anchors of their patterns."""
    group, row = work.group, work.row
    counted = ShareSums(PatternNames(make_table(12), make_table(12)), make_shares(12))
    for record in range(len(group.first_vertex) - 1):
        refresh_values(group, bounds.below, record)
        gather_all(group, record, row)
        names, codes = list_places(work, bounds, counted.names, record)
        counted = ShareSums(names, counted.shares)
        counted = add_places(bounds, counted, codes, group.first_vertex[record], 1)
    return counted


@jit
def make_scratch(limit: ShareLimit) -> PlaceValues:
    """Return a scratch for any place."""
    entries = len(limit.attribute)
    return PlaceValues(
        np.zeros(entries, np.int64), np.zeros(entries, np.int64), np.zeros(entries, np.bool_),
        np.zeros(entries, np.int64), np.zeros(1, np.int64),
    )  # fmt: skip


@jit
def excess_at(limit: ShareLimit, shares: ShareTable, place: int, entry: int) -> int:
    """Return by how much the weight of a value at a place is too large; 0 or less if it is not.

    The entry of absent values is that of a bounded value that nobody shows there.
    """
    weight = shares.sums[find_key(shares.keys, key_of_entry(limit, place, entry))]
    if entry >= 2 * limit.attributes:
        absent = limit.attributes + limit.attribute[entry]
        weight += shares.sums[find_key(shares.keys, key_of_entry(limit, place, absent))]
    showing = shares.sums[find_key(shares.keys, key_of_entry(limit, place, limit.attribute[entry]))]
    return int(weight * limit.denominator - limit.numerator * limit.unit * showing)


@jit
def adds_too_much(
    limit: ShareLimit, shares: ShareTable, scratch: PlaceValues, place: int, entry: int
) -> bool:
    """Return whether a bounded value has too large a share at a place, and the record read adds to that.

    For the entry of absent values: any bounded value of the attribute.
    """
    attributes = limit.attributes
    absent = weight_of(limit, scratch, attributes + limit.attribute[entry])
    weight = absent if entry < 2 * attributes else absent + weight_of(limit, scratch, entry)
    if weight * limit.denominator <= limit.numerator * limit.unit:
        return False
    if excess_at(limit, shares, place, entry) > 0:
        return True
    if entry < 2 * attributes:
        for value in range(2 * attributes, len(limit.attribute)):
            if limit.attribute[value] != limit.attribute[entry] or scratch.stated[value]:
                continue
            if excess_at(limit, shares, place, value) > 0:
                return True
    return False


@jit
def find_excessive(
    group: FactGroup, bounds: ShareBounds, shares: ShareTable, codes: Numbers, base: int
) -> Numbers:
    """Return the numbers of the patterns, ascending, that are better off without a record.

    Some value has too large a share at an anchor, and the record adds to that.
    """
    limit, below, scratch = bounds.limit, bounds.below, bounds.scratch
    span = span_of(group)
    numbers = np.zeros(64, np.int64)
    count = 0
    position = 0
    while position < len(codes):
        place = codes[position] >> 32
        position = read_place(limit, below, codes, position, base, scratch)
        if count and numbers[count - 1] == place // span:
            continue
        for touched in range(scratch.size[0]):
            entry = scratch.entries[touched]
            if entry < limit.attributes:
                continue
            if adds_too_much(limit, shares, scratch, place, entry):
                if count == len(numbers):
                    numbers = np.append(numbers, np.zeros(count, np.int64))
                numbers[count] = place // span
                count += 1
                break
    return numbers[:count]


@jit
def note_frequent(work: GroupWork, bounds: ShareBounds, shares: ShareTable, record: int) -> int:
    """Note the vertices of a record with values that are too frequent whatever is known; return how many.

    These are the values of too large a share at the root of the pattern without facts, and absent ones that
    may be such values.
    """
    group, limit, below, occurrences = work.group, bounds.limit, bounds.below, work.occurrences
    attributes = limit.attributes
    excessive = np.zeros(len(limit.attribute), np.bool_)
    for entry in range(attributes, len(limit.attribute)):
        if excess_at(limit, shares, 0, entry) > 0:
            excessive[entry] = True
            excessive[attributes + limit.attribute[entry]] = True
    count = 0
    for vertex in range(group.first_vertex[record] + 1, group.first_vertex[record + 1]):
        first = group.first_fact[vertex]
        if is_gone(group, vertex) or first == group.first_fact[vertex + 1]:
            continue
        for row in range(below.first[vertex], below.first[vertex + 1]):
            if excessive[below.entry[row]] and below.alone[row] and below.held[row]:
                count = note_broken(occurrences, count, first, -3, -1)
                break
    return count


@jit
def mark_stuck(work: GroupWork, count: int, stuck: Flags) -> None:
    """Mark the absent labels of the first ``count`` occurrences, which cannot be deleted."""
    group, occurrences = work.group, work.occurrences
    for row in range(count):
        for nth in range(3):
            fact = occurrences[row, nth]
            if fact >= 0 and occurrences[row, 1] != -3:
                last = group.first_fact[group.owner[fact] + 1] if occurrences[row, 1] == -2 else fact + 1
                for other in range(fact, last):
                    stuck[group.absent[other]] = True


@jit
def mark_excessive(
    group: FactGroup, asked: Asked, limit: ShareLimit, counted: ShareSums, dirty: Flags
) -> bool:
    """Mark the records that may match a pattern at which a value has too large a share.

    Returns whether there is such a pattern.
    """
    shares, names = counted.shares, counted.names
    entries, span = len(limit.attribute), span_of(group)
    excessive = False
    before = -1
    for slot in range(len(shares.keys)):
        if shares.keys[slot] == 0 or shares.sums[slot] == 0:
            continue
        place, entry = (shares.keys[slot] - 1) // entries, (shares.keys[slot] - 1) % entries
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
    work: GroupWork,
    tables: Tables,
    bounds: ShareBounds,
    counted: ShareSums,
    record: int,
    stuck: Flags,
    broken: bool,
) -> tuple[Tables, ShareSums, bool]:
    """Delete facts of a record where shares are too large, and where it is ``broken``: too few match.

    Returns the tables, and whether enough records match each of its patterns then. Marks in ``stuck`` the
    absent values that are in the way.
    """
    group, row = work.group, work.row
    base = group.first_vertex[record]
    gather_all(group, record, row)
    names, codes = list_places(work, bounds, counted.names, record)
    counted = ShareSums(names, counted.shares)
    excessive = find_excessive(group, bounds, counted.shares, codes, base)
    count = 0
    if len(excessive) and excessive[0] == 0:
        count = note_frequent(work, bounds, counted.shares, record)
    count = note_patterns(work, Tables(names.numbers, names.clauses), bounds.limit.m, 0, excessive, count)
    if count == 0 and not broken:
        return tables, counted, True
    counted = add_places(bounds, counted, codes, base, -1)
    tables, remaining = delete_noted(work, tables, record, count)
    mark_stuck(work, remaining, stuck)
    tables, mended = mend_record(work, tables, record)
    refresh_values(group, bounds.below, record)
    gather_all(group, record, row)
    names, codes = list_places(work, bounds, names, record)
    return tables, add_places(bounds, ShareSums(names, counted.shares), codes, base, 1), mended


@jit
def limit_shares(work: GroupWork, limit: ShareLimit, below: ValuesBelow, stuck: Flags) -> bool:
    """Delete facts record by record until no share is too large, and enough records match each pattern.

    Returns whether that could be done; if not, ``stuck`` tells by label which absent values were in the way.
    """
    group, asked = work.group, work.asked
    bounds = ShareBounds(limit, below, make_scratch(limit))
    tables = count_group(work)
    counted = count_shares(work, bounds)
    records = len(group.first_vertex) - 1
    dirty, broken = np.zeros(records, np.bool_), np.zeros(records, np.bool_)
    work.changed[0] = 0
    moved = excessive = True
    while moved:
        moved = False
        stuck[:] = False
        excessive = mark_excessive(group, asked, limit, counted, dirty)
        for record in range(records):
            if not dirty[record] and not broken[record]:
                continue
            visits = tables.patterns.used[1]
            tables = widen_tables(work, tables)
            tables, counted, mended = limit_record(
                work, tables, bounds, counted, record, stuck, broken[record]
            )
            if not mended:
                return False
            dirty[record] = broken[record] = False
            moved |= tables.patterns.used[1] != visits
            mark_holders(work, tables, broken)
    return not excessive
