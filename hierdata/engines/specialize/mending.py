"""Mend the cut of one group: stages of deletion, and what is put back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.compiler.ahead import KernelCall
from hierdata.engines.specialize.facts import GroupRecords, bits_of, records_of, start_work
from hierdata.engines.specialize.kernel_mending import (
    UNLIMITED,
    loss_of_group,
    mend_marked,
    relabel_records,
    restore_group,
)
from hierdata.engines.specialize.kernel_patterns import (
    Asked,
    FactGroup,
    GroupWork,
    PatternTable,
    Tables,
    count_group,
)
from hierdata.engines.specialize.kernel_shares import limit_shares
from hierdata.engines.specialize.sensitive import SensitiveEntries
from hierdata.privacy import BoundedKnowledge

LEAST_GAIN = 0.005
"""The share of the loss that a round must save for another one."""
Proposals: TypeAlias = Callable[[FactGroup, Asked], Iterator[NDArray[np.int64]]]
"""Yields what all facts would show: each proposal by the labels that they have when it is asked for."""


def list_calls() -> list[KernelCall]:
    """Return calls of the kernels that take long to compile, on a group without records.

    ``count_group`` is not among them: it is called first. ``restore_group`` is called last.
    """
    none, nodes = np.empty(0, np.int64), np.empty((0, 0), np.int32)
    which, count = np.empty(0, np.bool_), np.empty(0, np.int32)
    losses = np.empty((0, 0), np.int64)
    group = FactGroup(
        none, nodes, none, none, none, which, none, none, none, none, none, none, losses, none, none,
        np.empty(0),
    )  # fmt: skip
    work = start_work(group, Asked(1, 1, 0, blind=False, whole=False, label_bits=1, depth_bits=1))
    table = PatternTable(none, count, count, none)
    tables = Tables(table, table)
    return [
        KernelCall(mend_marked, (work, tables, which, 0)),
        KernelCall(relabel_records, (work, tables, none, which)),
        KernelCall(restore_group, (work, tables, which)),
    ]


def improve_group(work: GroupWork, tables: Tables, proposals: Sequence[Proposals], rounds: int) -> bool:
    """Try all proposals on a mended group in ``rounds``; keep those after which less is lost.

    Records are mended one after the other, so each may delete a fact that k of them could have kept together.
    A proposal undoes such deletions in all records at once; then the group is mended again. Returns whether
    the last round saved more than a little.
    """
    group = work.group
    every = np.ones(len(group.first_vertex) - 1, np.bool_)
    lost = loss_of_group(group)
    for _ in range(rounds):
        before = lost
        for labels in chain.from_iterable(propose(group, work.asked) for propose in proposals):
            tables, lost = _try_labels(work, tables, labels, lost)
        tables = restore_group(work, tables, every)
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
    topmost: NDArray[np.bool_] = (gone & ~gone[above])[group.owner]
    return topmost


def _try_labels(work: GroupWork, tables: Tables, labels: NDArray[np.int64], lost: int) -> tuple[Tables, int]:
    """Show facts by other labels and mend; go back unless less is lost. Return the tables and the loss."""
    group = work.group
    before = group.label.copy()
    if (labels == before).all():
        return tables, lost
    records = len(group.first_vertex) - 1
    dirty = np.zeros(records, np.bool_)
    tables = relabel_records(work, tables, labels, dirty)
    allowed = lost - loss_of_group(group) - 1
    tables, saved = mend_marked(work, tables, dirty, allowed)
    if saved:
        return tables, loss_of_group(group)
    dirty[:] = False
    tables = relabel_records(work, tables, before, dirty)
    return tables, lost


TRACE = 1.0
"""How much more an absent value counts than it loses where as many records have one as a node needs."""
ATTEMPTS = 2
MORE_ROUNDS = 2
"""How often proposals are tried again, at most, on the classes that are published."""
MOST_IMPROVED = 2
"""With more facts known, groups are not improved: counting patterns again takes too long."""
TOPPED_UP = 4
"""How often a value is deleted in a few more records, before it is in all."""


@dataclass(frozen=True)
class Mended:
    """A group in which every pattern is matched by none or enough records, and what it loses.

    ``published`` is the node of each fact by the cut; ``begun`` what was lost before absent values counted as
    facts; ``improved`` tells whether a first round of improvement saved more than a little.
    """

    group: FactGroup
    published: NDArray[np.int64]
    loss: int
    begun: int
    improved: bool


def mend(
    records: GroupRecords,
    cut: list[NDArray[np.int64]],
    knowledge: BoundedKnowledge,
    sensitive: SensitiveEntries | None = None,
    most: int = UNLIMITED,
) -> Mended | None:
    """Delete what a cut leaves to too few; None where that cannot be done, or would lose more than ``most``.

    A first attempt ignores that absent values are facts. It tells in which columns values are often absent,
    so that one more is matched by enough records; the second one prefers these. Where a value is absent at a
    vertex that cannot be removed, it is deleted in more records. Where alpha bounds ``sensitive`` values,
    more is deleted until no share is too large. Gives up where more than ``most`` is lost before absent
    values count.
    """
    group, published = records.group(cut)
    asked = _ask(group, knowledge)
    work = start_work(group, asked)
    for attempt in count():
        begun, tables = delete_facts(work, most)
        if begun > most:
            return None
        if tables is not None:
            every = np.ones(len(group.first_vertex) - 1, np.bool_)
            tables = restore_group(work, tables, every)
            improved = asked.m <= MOST_IMPROVED and improve_group(work, tables, (propose_kinds,), 1)
            stuck = None if sensitive is None else limit_values(records, work, sensitive)
            if stuck is None:
                return Mended(group, published, loss_of_group(group), begun, improved)
            if not delete_everywhere(group, published, stuck):
                return None
            continue
        few = attempt < TOPPED_UP and widen_absence(group, published, asked, everywhere=False)
        if not few and not widen_absence(group, published, asked, everywhere=True):
            return None
    raise AssertionError("each attempt deletes more")


def improve(mended: Mended, knowledge: BoundedKnowledge) -> Mended:
    """Return a mended group after more rounds of improvement, if the first one saved more than a little."""
    if not mended.improved:
        return mended
    group = mended.group._replace(label=mended.group.label.copy())
    work = start_work(group, _ask(group, knowledge))
    improved = improve_group(work, count_group(work), (propose_kinds, propose_parts), MORE_ROUNDS)
    return Mended(group, mended.published, loss_of_group(group), mended.begun, improved)


def _ask(group: FactGroup, knowledge: BoundedKnowledge) -> Asked:
    labels, depths = bits_of(group)
    absents = len(group.trace) - 1
    return Asked(knowledge.k, knowledge.m, absents, False, knowledge.vertex == "whole", labels, depths)


def delete_facts(work: GroupWork, most: int) -> tuple[int, Tables | None]:
    """Delete facts until every pattern is matched by none or enough records.

    Returns what was lost before absent values counted, and the tables of patterns: None where deletion fails,
    or more than ``most`` was lost by then.
    """
    group, asked = work.group, work.asked
    begun = 0
    for _ in range(ATTEMPTS):
        group.label[:] = group.shown
        if delete_by_stages(work._replace(asked=asked._replace(blind=True))) is None:
            return begun, None
        begun = loss_of_group(group)
        if begun > most:
            return begun, None
        weigh_traces(group, asked)
    return begun, delete_by_stages(work)


def delete_by_stages(work: GroupWork) -> Tables | None:
    """Mend patterns of one fact, of two and so on; return the tables of the last ones, None if that fails."""
    tables: Tables | None = None
    for facts in range(1, work.asked.m + 1):
        stage = work._replace(asked=work.asked._replace(m=facts))
        every = np.ones(len(work.group.first_vertex) - 1, np.bool_)
        tables, mended = mend_marked(stage, count_group(stage), every, UNLIMITED)
        if not mended:
            return None
    return tables


def limit_values(
    records: GroupRecords, work: GroupWork, sensitive: SensitiveEntries
) -> NDArray[np.bool_] | None:
    """Delete facts until no sensitive value has too large a share, in patterns of one fact, of two and so on.

    Returns by label which absent values were in the way, None if it could be done.
    """
    stuck = np.zeros(len(work.group.first_holder), np.bool_)
    below = sensitive.values_below(records)
    for most in range(1, work.asked.m + 1):
        limit = sensitive.limit(records, work.group, most)
        if not limit_shares(work, limit, below, stuck):
            stuck[sensitive.known_labels()] = False  # if all were absent, all would be left to guess
            return stuck
    return None


def delete_everywhere(group: FactGroup, published: NDArray[np.int64], labels: NDArray[np.bool_]) -> bool:
    """Delete all values whose absence has one of some labels; return whether there were any."""
    gone = np.flatnonzero(labels[group.absent] & (group.shown != group.absent))
    delete_values(group, published, gone)
    return bool(len(gone))


def delete_values(group: FactGroup, published: NDArray[np.int64], facts: NDArray[np.int64]) -> None:
    """Delete values for good."""
    group.shown[facts] = group.absent[facts]
    group.losses[facts, 0] = group.losses[facts, 1]
    published[facts] = 0


def widen_absence(group: FactGroup, published: NDArray[np.int64], asked: Asked, *, everywhere: bool) -> bool:
    """Delete values in columns where fewer than k records have an absent one and cannot lose their vertex.

    In as many records as it takes, those that lose least, or ``everywhere`` in all columns with an absent
    value. Returns whether a value was deleted.
    """
    record = records_of(group)
    above = group.path[group.owner]
    fixed = ~(group.removable[above].astype(np.bool_) & (above >= 0)).any(axis=1)
    deleted = False
    for label in range(1, asked.absents + 1):
        facts = np.flatnonzero(fixed & (group.absent == label))
        lacking = np.unique(record[facts[group.label[facts] == label]])
        if not len(lacking) or (len(lacking) >= asked.k and not everywhere):
            continue
        gone = facts
        if not everywhere:
            price = group.losses[facts, 1] - group.losses[facts, 0]
            others = facts[np.argsort(price, kind="stable")]
            others = others[~np.isin(record[others], lacking)]
            more = dict.fromkeys(record[others].tolist())
            chosen = [*lacking.tolist(), *more][: asked.k]
            gone = facts[np.isin(record[facts], chosen)]
        deleted |= bool((group.shown[gone] != label).any())
        delete_values(group, published, gone)
    return deleted


def weigh_traces(group: FactGroup, asked: Asked) -> None:
    """Raise the price of values in columns in which few records have an absent value now."""
    records = len(group.first_vertex) - 1
    record = records_of(group)
    absent = (group.label > 0) & (group.label <= asked.absents)
    pairs = np.unique(group.label[absent] * records + record[absent])
    support = np.bincount(pairs // records, minlength=asked.absents + 1)
    enough = asked.k ** (1 / asked.m) * records ** (1 - 1 / asked.m)
    group.trace[:] = 1 + TRACE * enough / (support + 1)
