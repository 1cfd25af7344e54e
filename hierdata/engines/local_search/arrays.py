"""The arrays of local search: fixed input, current classes, working memory; remembered alignments."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.alignment import Alignment, Caps, pack_caps
from hierdata.engines.alignment.kernels.arrays import QUASI_COUNT
from hierdata.engines.alignment.kernels.closeness import ClosenessChecks
from hierdata.engines.alignment.lower_bounds import node_paths
from hierdata.engines.local_search.kernel_closeness import close_code
from hierdata.engines.local_search.kernel_moves import EXCHANGE
from hierdata.engines.local_search.kernel_state import (
    NOBODY,
    CurrentClasses,
    Paths,
    SearchBuffers,
    SearchInput,
    trace_all,
)
from hierdata.forest.partition import SUPPRESSED, Partition


def pack_input(alignment: Alignment, caps: Caps, checks: ClosenessChecks, room: int) -> SearchInput:
    """Build the fixed input: records as rows and paths, and the caps of classes of up to ``room`` records."""
    forest = alignment.forest
    passes, worth, _ = node_paths(forest)
    counts = np.add.reduceat(alignment.rows[:, QUASI_COUNT].astype(np.int64), forest.roots[:-1])
    most = int(counts.max(initial=0))
    longest = min(len(alignment.rules.losses), most * alignment.rules.ancestors.shape[1])
    data = SearchInput(
        caps_of=np.stack([pack_caps(caps, size) for size in range(room + 1)]),
        worth=worth,
        passes=passes,
        paths=_empty_paths(forest.record_count, longest),
        checks=checks,
        close=close_code(checks),
    )
    passed = np.zeros(len(alignment.rules.losses), np.int64)
    trace_all(alignment.arrays, data, np.zeros((0, 0), np.int64), passed)
    return data


def _empty_paths(trees: int, longest: int) -> Paths:
    return Paths(np.zeros((trees, longest, 2), np.int32), np.zeros(trees, np.int64))


def begin_classes(
    alignment: Alignment,
    data: SearchInput,
    partition: Partition,
    sizes: NDArray[np.int64],
    room: int,
    near: int,
) -> CurrentClasses:
    """Build the arrays of the current classes, without the alignments of their records."""
    records, longest, _ = data.paths.nodes.shape
    classes = len(sizes)
    vertices, width = alignment.representative.shape
    return CurrentClasses(
        class_of=partition.equivalence_class.copy(),
        sizes=sizes.astype(np.int64),
        order=np.full((classes, room), SUPPRESSED, np.int64),
        saved=np.zeros(classes, np.int64),
        rows=np.zeros((classes, vertices, width), np.int32),
        open_=np.zeros((classes, vertices, data.checks.words), np.int64),
        paths=_empty_paths(classes, longest),
        rest_saved=np.zeros(records, np.int64),
        rest_rows=np.zeros((records, vertices, width), np.int32),
        rest_paths=_empty_paths(records, longest),
        rest_open=np.zeros((records, vertices, data.checks.words), np.int64),
        changed=np.zeros(classes, np.int64),
        visited=np.full(records, -1, np.int64),
        were_near=np.full((records, near), NOBODY, np.int64),
        clock=np.zeros(1, np.int64),
    )


def buffers_of(alignment: Alignment, words: int, room: int, near: int) -> SearchBuffers:
    """Build working memory for classes of up to ``room`` records and ``near`` classes around a record."""
    nodes = len(alignment.rules.losses)
    rep, members = alignment.representative, alignment.members
    return SearchBuffers(
        built=alignment.buffers,
        prefix=np.empty_like(rep),
        prefix_behind=np.empty_like(members),
        open_=np.zeros((len(rep), words), np.int64),
        passed=np.zeros(nodes, np.int64),
        passed_rest=np.zeros(nodes, np.int64),
        near=np.zeros(near, np.int64),
        near_gains=np.zeros(near, np.int64),
        gain_without=np.zeros(1, np.int64),
        fresh=np.zeros(near, np.bool_),
        chosen=np.zeros((near * (room + 1) + 1, EXCHANGE), np.int64),
        records=np.zeros(room + 1, np.int64),
        company=np.zeros(room, np.int64),
        company_commons=np.zeros(room, np.int64),
        parties=np.zeros((near, room), np.int64),
        party_sizes=np.zeros(near, np.int64),
        party_gains=np.zeros(near, np.int64),
    )


_Rows = NDArray[np.int32]
_Members = NDArray[np.int64]

_BYTES = 64 * 2**20


class Prefixes:
    """Representatives by the records that are aligned, in their order; those used last, up to 64 MiB."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, ...], tuple[_Rows, _Members]] = OrderedDict()
        self._bytes = 0

    def get(self, records: tuple[int, ...]) -> tuple[_Rows, _Members] | None:
        """Return the rows and members of a representative that is remembered."""
        kept = self._kept.get(records)
        if kept is not None:
            self._kept.move_to_end(records)
        return kept

    def remember(self, records: tuple[int, ...], rows: _Rows, members: _Members) -> None:
        """Copy the rows and members of a representative, and forget those that were used longest ago."""
        self._kept[records] = rows.copy(), members.copy()
        self._bytes += rows.nbytes + members.nbytes
        while self._bytes > _BYTES:
            _, (rows, members) = self._kept.popitem(last=False)
            self._bytes -= rows.nbytes + members.nbytes
