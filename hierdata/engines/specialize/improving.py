"""Show deleted facts of many records again, all at once, and mend again: what enough have, stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.specialize.groups import Room
from hierdata.engines.specialize.kernel_change import restore_group
from hierdata.engines.specialize.kernel_facts import FactGroup
from hierdata.engines.specialize.kernel_mending import loss_of_group, mend_marked, relabel_records
from hierdata.engines.specialize.kernel_table import Asked, PatternTable

LEAST_GAIN = 0.005
"""The share of the loss that a round must save for another one."""
Proposals: TypeAlias = Callable[[FactGroup, Asked], Iterator[NDArray[np.int64]]]
"""Yields what all facts would show: each proposal by the labels that they have when it is asked for."""


def improve_group(
    group: FactGroup,
    asked: Asked,
    tables: tuple[PatternTable, PatternTable],
    room: Room,
    proposals: Sequence[Proposals],
    rounds: int,
) -> bool:
    """Try all proposals on a mended group, so many times; keep those after which less is lost.

    One record after the other deletes what only it shows, so what all of them delete may be what enough of
    them could show. A proposal shows it again in all of them; then the group is mended again. Returns whether
    the last round saved more than a little.
    """
    every = np.ones(len(group.first_vertex) - 1, np.bool_)
    lost = loss_of_group(group)
    for _ in range(rounds):
        before = lost
        for labels in chain.from_iterable(propose(group, asked) for propose in proposals):
            tables, lost = _try_labels(group, asked, tables, room, labels, lost)
        tables = restore_group(group, asked, *tables, room.row, room.changed, every)
        lost = loss_of_group(group)
        if before - lost <= LEAST_GAIN * before:
            return False
    return True


def propose_kinds(group: FactGroup, asked: Asked) -> Iterator[NDArray[np.int64]]:
    """Propose all of a kind: removed vertices, absent values of each column.

    Removed vertices also without values, so that their subtrees can be shown.
    """
    yield _show(group, group.label == 0)
    yield np.where(find_topmost(group), group.absent, _show(group, group.label == 0))
    for label in range(1, asked.absents + 1):
        yield _show(group, group.label == label)


def propose_parts(group: FactGroup, asked: Asked) -> Iterator[NDArray[np.int64]]:
    """Propose parts of a kind: removed vertices with one of their values, and the absent values of a node."""
    for label in range(1, asked.absents + 1):
        hidden = find_topmost(group) & (group.absent != label)
        yield np.where(hidden, group.absent, _show(group, group.label == 0))
    for shown in np.unique(group.shown[(group.label > 0) & (group.label != group.shown)]).tolist():
        yield _show(group, (group.shown == shown) & (group.label > 0))


def _show(group: FactGroup, which: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.where(which, group.shown, group.label)


def find_topmost(group: FactGroup) -> NDArray[np.bool_]:
    """Return which facts are of vertices that are removed while their parents are not."""
    firsts = group.first_fact[:-1]
    there = firsts < group.first_fact[1:]
    gone = np.zeros(len(firsts), np.bool_)
    gone[there] = group.label[firsts[there]] == 0
    vertices = np.arange(len(gone))
    above = group.path[vertices, np.maximum(group.depth - 1, 0)]
    found: NDArray[np.bool_] = (gone & ~gone[above])[group.owner]
    return found


def _try_labels(
    group: FactGroup,
    asked: Asked,
    tables: tuple[PatternTable, PatternTable],
    room: Room,
    labels: NDArray[np.int64],
    lost: int,
) -> tuple[tuple[PatternTable, PatternTable], int]:
    """Show facts by other labels and mend; go back unless less is lost. Return the tables and the loss."""
    before = group.label.copy()
    if (labels == before).all():
        return tables, lost
    records = len(group.first_vertex) - 1
    dirty = np.zeros(records, np.bool_)
    tables = relabel_records(group, asked, *tables, room.row, labels, room.changed, dirty)
    allowed = lost - loss_of_group(group) - 1
    table, clauses, saved = mend_marked(
        group, asked, *tables, room.row, room.found, room.changed, dirty, allowed
    )
    tables = table, clauses
    if saved:
        return tables, loss_of_group(group)
    dirty[:] = False
    tables = relabel_records(group, asked, *tables, room.row, before, room.changed, dirty)
    return tables, lost
