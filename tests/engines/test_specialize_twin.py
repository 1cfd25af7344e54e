"""The kernels of ``specialize`` delete and put back exactly what plain Python does."""

from __future__ import annotations

from functools import partial
from random import Random
from unittest.mock import patch

import numpy as np

from hierdata.engines.compiler.plain import without_compiler
from hierdata.engines.specialize import kernel_patterns
from hierdata.engines.specialize.facts import bits_of, row_of
from hierdata.engines.specialize.kernel_mending import (
    UNLIMITED,
    mend_marked,
    relabel_records,
    restore_group,
)
from hierdata.engines.specialize.kernel_patterns import Asked, FactGroup, GroupWork, Tables, count_group
from hierdata.engines.specialize.mending import propose_kinds, propose_parts
from tests.cases import with_worlds
from tests.naive_deletion import Deletion, Record, Seen

FIELDS = {1: 2, 2: 1, 3: 1, 4: 1}
"""Vertex types by number of fields: courses, their books, their notes (present only) and homes."""
ABSENTS = 6


def vertex_of(rng: Random, kind: int, parent: int) -> Seen:
    shown, absent, losses = [], [], []
    for at in range(FIELDS[kind]):
        own = {1: 1 + at, 2: 3, 3: 4, 4: 5}[kind]
        if kind == 3:
            shown, absent, losses = [ABSENTS + 1], [ABSENTS + 1], [[0, 0, 0]]
            continue
        label = rng.choice([own, *[ABSENTS + 2 + 4 * own + one for one in range(4)] * 3])
        shown.append(label)
        absent.append(own)
        losses.append([0, 0, 8] if label == own else [rng.randrange(4), 8, 8])
    return Seen(parent, kind != 4, rng.choice([0, 3]), shown, absent, losses, list(shown))


def record_of(rng: Random) -> Record:
    """A root with some courses, their books and notes, and a home that must stay, in breadth-first order."""
    vertex = partial(vertex_of, rng)
    record: Record = [Seen(None, False, 0, [], [], [], [])]
    if rng.random() < 0.7:
        record.append(vertex(4, 0))
    courses = [vertex(1, 0) for _ in range(rng.randrange(4))]
    first = len(record)
    record += courses
    for at in range(len(courses)):
        record += [vertex(2, first + at) for _ in range(rng.randrange(3))]
        record += [vertex(3, first + at) for _ in range(rng.randrange(4))]
    return record


def mend_all(work: GroupWork) -> tuple[Tables, bool]:
    """Count all patterns of a group, and mend all its records."""
    every = np.ones(len(work.group.first_vertex) - 1, np.bool_)
    return mend_marked(work, count_group(work), every, UNLIMITED)


def group_of(records: list[Record]) -> FactGroup:
    """The same records as arrays."""
    flat = [(number, own) for number, record in enumerate(records) for own in record]
    first_vertex = np.cumsum([0, *map(len, records)]).astype(np.int64)
    path = np.full((len(flat), 3), -1, np.int32)
    depth = np.zeros(len(flat), np.int64)
    count = np.zeros(len(flat), np.int64)
    first_child = np.zeros(len(flat), np.int64)
    for at, (number, own) in enumerate(flat):
        if own.parent is not None:
            above = int(first_vertex[number]) + own.parent
            depth[at] = depth[above] + 1
            path[at] = path[above]
            first_child[above] = first_child[above] if count[above] else at
            count[above] += 1
        path[at, depth[at]] = at
    shown = np.array([label for _, own in flat for label in own.shown], np.int64)
    first_fact = np.cumsum([0, *(len(own.shown) for _, own in flat)]).astype(np.int64)
    owner = np.repeat(np.arange(len(flat)), np.diff(first_fact))
    most = ABSENTS + 2 + 4 * 6 + 4
    record = np.array([flat[at][0] for at in owner.tolist()], np.int64)
    held = np.unique(shown * len(records) + record)
    return FactGroup(
        first_vertex, path, depth, first_child, count,
        np.array([own.removable for _, own in flat]), np.array([own.constant for _, own in flat], np.int64),
        first_fact, owner, shown.copy(), shown,
        np.array([label for _, own in flat for label in own.absent], np.int64),
        np.array([loss for _, own in flat for loss in own.losses], np.int64).reshape(-1, 3),
        np.searchsorted(held // len(records), np.arange(most + 1)).astype(np.int64), held % len(records),
        np.array([1.0, 1.0, 1.5, 2.0, 1.0, 3.0, 1.0]),
    )  # fmt: skip


def shown_now(naive: Deletion) -> list[int]:
    return [0 if own.gone else label for record in naive.records for own in record for label in own.labels]


@with_worlds(60, 480)
def test_kernels_delete_and_put_back_what_plain_python_does(worlds: int) -> None:
    rng = Random(3)
    changed_something = restored_something = shown_again = 0
    for world in range(worlds):
        records = [record_of(rng) for _ in range(rng.randrange(3, 9))]
        k, m, whole, blind = (
            rng.choice([2, 3]),
            rng.choice([1, 2, 2, 3]),
            rng.random() < 0.5,
            rng.random() < 0.3,
        )
        group = group_of(records)
        labels, depths = bits_of(group)
        asked = Asked(k, m, ABSENTS, blind, whole, labels, depths)
        row, found = row_of(group), np.zeros((1 << 12, 6), np.int64)
        work = GroupWork(group, asked, row, found, np.zeros(1 << rng.choice([3, 10]), np.int64))
        naive = Deletion(records, k, m, ABSENTS, whole, group.trace.tolist(), blind)
        tables, mended = mend_all(work)
        assert mended == naive.mend(), world
        if not mended:
            continue
        assert group.label.tolist() == shown_now(naive), world
        after = group.label.copy()
        changed_something += bool((group.label != group.shown).any())
        every = np.ones(len(records), np.bool_)
        tables = restore_group(work._replace(changed=np.zeros(1 << 10, np.int64)), tables, every)
        naive.restore()
        assert group.label.tolist() == shown_now(naive), world
        restored_something += bool((after != group.label).any())
        proposals = [*propose_kinds(group, asked), *propose_parts(group, asked)]
        labels = rng.choice(proposals)
        dirty = np.zeros(len(records), np.bool_)
        tables = relabel_records(work, tables, labels, dirty)
        naive.show(labels.tolist())
        assert group.label.tolist() == shown_now(naive), world
        tables, mended = mend_marked(work, tables, dirty, UNLIMITED)
        assert mended == naive.mend(), world
        assert not mended or group.label.tolist() == shown_now(naive), world
        shown_again += bool((labels != after).any()) and mended
    few = worlds < 160  # in which nothing need be put back
    assert changed_something > (4 if few else 40)
    assert few or restored_something > 2
    assert shown_again > (2 if few else 20)


def test_siblings_that_look_alike_are_found_in_a_table_as_by_comparing_each_two() -> None:
    """The compiled kernels have a table for so many siblings, the plain ones compare them here."""
    rng = Random(1)
    for m in (1, 2):
        records: list[Record] = [
            [Seen(None, False, 0, [], [], [], []), *(vertex_of(rng, 1 + at % 2, 0) for at in range(size))]
            for size in (9, 10, 12, kernel_patterns.MANY_SIBLINGS + 20)
        ]
        found = []
        for plain in (False, True):
            group = group_of(records)
            asked = Asked(2, m, ABSENTS, False, False, *bits_of(group))
            room = row_of(group), np.zeros((1 << 12, 6), np.int64), np.zeros(1 << 10, np.int64)
            # Not while kernels are compiled: they keep what they were compiled with.
            most = 10**6 if plain else kernel_patterns.MANY_SIBLINGS
            with without_compiler(plain), patch.object(kernel_patterns, "MANY_SIBLINGS", most):
                tables, mended = mend_all(GroupWork(group, asked, *room))
            assert mended
            table = tables.patterns
            order = np.argsort(table.keys)
            found.append([group.label, table.keys[order], table.counts[order]])
        for compiled, twin in zip(*found, strict=True):
            assert compiled[compiled > 0].tolist() == twin[twin > 0].tolist()
        assert (found[0][0] != group.shown).any()
