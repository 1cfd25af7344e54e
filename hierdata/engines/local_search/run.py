"""The passes of local search over the classes of the step before, which keep all models at any time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.alignment import Alignment, Pairing, first_nodes, write_nodes
from hierdata.engines.alignment.closing import Closing
from hierdata.engines.alignment.kernels.arrays import FIRST_NODE
from hierdata.engines.alignment.kernels.representative import build, representative_saving
from hierdata.engines.base import Constraints
from hierdata.engines.compiler.ahead import KernelCall
from hierdata.engines.compiler.plain import without_compiler
from hierdata.engines.local_search.arrays import Prefixes, begin_classes, buffers_of, pack_input
from hierdata.engines.local_search.kernel_closeness import find_open
from hierdata.engines.local_search.kernel_moves import EXCHANGE, TO, WHO, gather, seek
from hierdata.engines.local_search.kernel_state import NOBODY, ExchangeSearch, enter, read_class
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import SUPPRESSED, Partition

_ROOM = 2**62
"""The largest sum of losses, over up to four classes."""
_LARGEST = 64
"""The largest class that is changed: a change costs alignments in the square of the class size."""
_ASKED = 20
"""The number of exchanges of a record that are checked by the other models, the best first."""

_Aligned: TypeAlias = "tuple[NDArray[np.int32], NDArray[np.int64], int]"
"""The rows of a representative, their open values, and its saving."""


class ExchangedClasses(Alignment):
    """The current classes; every change keeps all models.

    The records of a class are in the order in which they are aligned.
    """

    def __init__(
        self, forest: Forest, constraints: Constraints, partition: Partition, pairing: Pairing, near: int
    ) -> None:
        self._before = partition
        sizes = np.bincount(
            partition.equivalence_class[partition.equivalence_class >= 0], minlength=partition.class_count
        )
        self.least = constraints.min_class_size
        heaviest = int(forest.weight[forest.roots[:-1]].max(initial=1))
        room = self.largest = min(
            2 * int(sizes.max(initial=1)), _LARGEST, max(_ROOM // (4 * heaviest * forest.scale), 1)
        )
        super().__init__(forest, constraints, self.least, pairing, room)
        self._closing = Closing(forest, constraints, self.least)
        self._asks = self._closing.asks or self._closing.asks_at_root
        self._firsts = first_nodes(forest)
        checks = self._closing.checks
        all_checked = not self._closing.others and constraints.population is None
        self._data = pack_input(self, self._caps, checks, room)
        self.current = begin_classes(self, self._data, partition, sizes, room, near)
        self._buffers = buffers_of(self, checks.words, room, near)
        self._search = ExchangeSearch(self.arrays, self._data, self.current, self._buffers)
        self._best = np.zeros((1 if all_checked else _ASKED, EXCHANGE), np.int64)
        self._tried = np.zeros(1, np.int64)
        self._changed: set[int] = set()
        self._prefixes = Prefixes()
        self._read_classes()

    def _read_classes(self) -> None:
        """Read the classes of the given partition, the record with the representative vertices first."""
        before, forest, current = self._before, self.forest, self.current
        shown = before.representative
        order = np.argsort(before.equivalence_class, kind="stable")
        order = order[int((before.equivalence_class < 0).sum()) :]
        for number, records in enumerate(np.split(order, np.cumsum(current.sizes)[:-1])):
            if len(records) > self.largest:
                continue
            roots = forest.roots[records]
            leads = shown[roots] == roots
            current.order[number, : len(records)] = [*records[leads], *records[~leads]]
            count = self._write_rows(number)
            saved = int(
                representative_saving(self.representative, count, self.settings.scale, self.rules.losses)
            )
            self._enter(number, self._copy_aligned(count, len(records), saved), NOBODY)

    def _write_rows(self, this_class: int) -> int:
        """Write the published representative of a class; return its number of vertices."""
        forest, shown = self.forest, self._before.representative
        records = self.current.order[this_class, : self.current.sizes[this_class]]
        first, last = int(forest.roots[records[0]]), int(forest.roots[records[0] + 1])
        vertices = np.flatnonzero(shown[first:last] >= 0)
        position_of = np.full(last - first, -1, np.int64)
        position_of[vertices] = np.arange(len(vertices))
        for member, record in enumerate(records):
            behind = np.arange(forest.roots[record], forest.roots[record + 1])
            behind = behind[shown[behind] >= 0]
            self.members[member, position_of[shown[behind] - first]] = behind
        vertices += first
        self.representative[: len(vertices), FIRST_NODE] = self.rows[vertices, FIRST_NODE]
        for kind, starts in enumerate(self._firsts):
            of_kind = np.flatnonzero(forest.type[vertices] == kind)
            for position, start in enumerate(starts):
                nodes = self._before.nodes[forest.first_node[vertices[of_kind]] + position]
                self.representative[of_kind, FIRST_NODE + position] = nodes + start
        return read_class(
            first, last, len(records), self.settings.first_slot, self.representative, self.members,
            self.rows, position_of,
        )  # fmt: skip

    def _copy_aligned(self, count: int, size: int, saved: int) -> _Aligned:
        """Copy the representative of ``size`` records in the buffers, with its open values."""
        rows, open_ = self.representative[:count].copy(), self._buffers.open_[:count].copy()
        if self._data.checks.words:
            find_open(rows, count, size, self.members, self._data.checks, open_)
        return rows, open_, saved

    def _enter(self, this_class: int, aligned: _Aligned, newcomer: int) -> None:
        rows, open_, saved = aligned
        enter(this_class, rows, len(rows), open_, saved, newcomer, self._search)

    def calls(self) -> list[KernelCall]:
        """Return the calls of kernels, those first that take longest to compile."""
        visits, search = np.zeros(1, np.int64), (self._search, self._best, self._tried)
        rows, open_ = self.representative[:0], self._buffers.open_[:0]
        return [
            KernelCall(seek, (visits, 0, self.least, self.largest, *search)),
            KernelCall(enter, (0, rows, 0, open_, 0, NOBODY, self._search)),
            KernelCall(gather, (0, visits, self.largest, self._search, self._tried)),
        ]

    @property
    def exchange_count(self) -> int:
        """The number of exchanges made."""
        return int(self.current.clock[0])

    def total_saving(self) -> int:
        """Return what all classes keep, times the scale (a Python int, as it may be large)."""
        pairs = zip(self.current.sizes.tolist(), self.current.saved.tolist(), strict=True)
        return sum(size * saved for size, saved in pairs)

    def visit(self, visits: NDArray[np.int64], start: int) -> int:
        """Make the next exchange that all models allow from ``start`` on; return the position it ended at."""
        position, count = seek(visits, start, self.least, self.largest, self._search, self._best, self._tried)
        for to, who in self._best[:count, [TO, WHO]].tolist():
            if self._try_exchange(int(visits[position]), to, who):
                return position
        if position < len(visits) and self.current.class_of[visits[position]] < 0:
            self._join_together(int(visits[position]), visits)
        return position

    def take_in(self, record: int) -> bool:
        """Let a suppressed record join the class where that raises the loss least; False if it fits none."""
        best: tuple[int, int, list[int], _Aligned] | None = None
        for to, size in enumerate(self.current.sizes.tolist()):
            if size >= self.largest:
                continue
            records = [*self._members(to), record]
            aligned = self._align_class(records)
            if aligned is None:
                continue
            gain = len(records) * aligned[-1] - size * int(self.current.saved[to])
            if best is None or gain > best[0]:
                best = gain, to, records, aligned
        if best is None:
            return False
        _, to, records, aligned = best
        self.current.class_of[record] = to
        self._change({to: records}, [aligned], False)
        return True

    def _try_exchange(self, record: int, to: int, who: int) -> bool:
        """Make an exchange if it lowers the loss under all models; return whether it was made."""
        current = self.current
        this_class = int(current.class_of[record])
        news = {to: [*(member for member in self._members(to) if member != who), record]}
        if this_class >= 0 and this_class != to:
            stay = [member for member in self._members(this_class) if member != record]
            news[this_class] = stay if who == NOBODY else [*stay, who]
        aligned = self._align_if_saving(news)
        if aligned is None:
            return False
        if who not in (NOBODY, record):
            current.class_of[who] = this_class
            current.visited[who] = -1
            self._take_rest(who, record)
        current.class_of[record] = to
        self._change(news, aligned, who != NOBODY)
        return True

    def _join_together(self, record: int, visits: NDArray[np.int64]) -> None:
        """Let a suppressed record join a near class together with others, if that lowers the loss."""
        count = gather(record, visits, self.largest, self._search, self._tried)
        gains = self._buffers.party_gains[:count]
        for position in np.argsort(-gains, kind="stable")[: int((gains > 0).sum())].tolist():
            to = int(self._buffers.near[position])
            joining = self._buffers.parties[position, : self._buffers.party_sizes[position]].copy()
            news = {to: [*self._members(to), *joining.tolist()]}
            aligned = self._align_if_saving(news)
            if aligned is not None:
                self.current.class_of[joining] = to
                self._change(news, aligned, False)
                return

    def _align_if_saving(self, news: dict[int, list[int]]) -> list[_Aligned] | None:
        """Align changed classes again; None if a model fails at a root, or if the loss is not lower."""
        aligned = []
        gain = 0
        for number, records in news.items():
            rebuilt = self._align_class(records)
            if rebuilt is None:
                return None
            aligned.append(rebuilt)
            gain += len(records) * rebuilt[-1] - int(self.current.sizes[number]) * int(
                self.current.saved[number]
            )
        return aligned if gain > 0 else None

    def _change(self, news: dict[int, list[int]], aligned: list[_Aligned], placed: bool) -> None:
        """Replace classes; ``placed`` says that the rest of the last record of each is known."""
        current = self.current
        current.clock[0] += 1
        for (number, records), rebuilt in zip(news.items(), aligned, strict=True):
            current.sizes[number] = len(records)
            current.order[number, : len(records)] = records
            self._enter(number, rebuilt, records[-1] if placed else NOBODY)
        self._changed |= set(news)

    def _take_rest(self, record: int, other: int) -> None:
        """Swap the rests of two records that swap places."""
        current = self.current
        places = [record, other]
        for rests in (current.rest_saved, current.rest_rows, *current.rest_paths, current.rest_open):
            rests[places] = rests[places[::-1]]

    def _members(self, this_class: int) -> list[int]:
        members: list[int] = self.current.order[this_class, : self.current.sizes[this_class]].tolist()
        return members

    def _build(self, records: list[int]) -> int:
        """Align records in their order in the buffers; return the number of vertices, 0 if a root fails."""
        prefix, last = tuple(records[:-1]), len(records) - 1
        known = self._prefixes.get(prefix)
        if known is None:
            count = self._extend(records, 0, last, 0) if prefix else 0
            self._prefixes.remember(prefix, self.representative[:count], self.members[:last, :count])
        else:
            count = len(known[0])
            self.representative[:count], self.members[:last, :count] = known
        return self._extend(records, last, last + 1, count) if count or not prefix else 0

    def _extend(self, records: list[int], first: int, until: int, count: int) -> int:
        """Align the records from ``first`` on to those before, which have ``count`` vertices."""
        fitting = self.arrays._replace(rules=self.rules._replace(caps=self._data.caps_of[len(records)]))
        return build(np.array(records, np.int64), first, until, NOBODY, first, count, self.buffers, fitting)

    def _align_class(self, records: list[int]) -> _Aligned | None:
        """Return the representative of a class, and its saving where all models hold; None if it fails."""
        count = self._build(records)
        if not count:
            return None
        rows, members = self.representative[:count], self.members[: len(records), :count]
        kept = rows
        if self._asks:
            if not self._closing.holds_at_root(rows, members):
                return None
            kept = rows[self._closing.find_safe_vertices(rows, members)]
        saved = representative_saving(kept, len(kept), self.settings.scale, self.rules.losses)
        return self._copy_aligned(count, len(records), int(saved))

    def partition(self) -> Partition:
        """Build the partition of the current classes."""
        before, forest, current = self._before, self.forest, self.current
        shown, nodes = before.representative.copy(), before.nodes.copy()
        vertices_of = np.repeat(current.class_of, np.diff(forest.roots))
        shown[(vertices_of < 0) | np.isin(vertices_of, list(self._changed))] = SUPPRESSED
        for number in sorted(self._changed):
            records = self._members(number)
            count = self._build(records)
            rows, members = self.representative[:count], self.members[: len(records), :count]
            kept = np.ones(count, np.bool_)
            if self._asks:
                kept = self._closing.find_safe_vertices(rows, members)
            shown[members[:, kept]] = members[0, kept]
            write_nodes(forest, self._firsts, rows[kept], members[0, kept], nodes)
        costs = self._costs(before, shown, int((current.class_of < 0).sum()))
        return replace(
            before, equivalence_class=current.class_of, representative=shown, nodes=nodes, costs=costs
        )

    def _costs(self, before: Partition, shown: NDArray[np.int64], suppressed: int) -> Counter[str]:
        """Count what is suppressed in the current classes."""
        costs = Counter(before.costs)
        costs["exchanges"] += int(self._tried[0])
        costs["exchanges_made"] += self.exchange_count
        if self.exchange_count:
            costs["records_taken_in"] += int((before.equivalence_class < 0).sum()) - suppressed
            for name in ("vertices_without_partner", "vertices_lost_at_closing"):
                del costs[name]
            published = np.repeat(self.current.class_of >= 0, np.diff(self.forest.roots))
            costs["vertices_lost_in_their_class"] = int((published & (shown < 0)).sum())
        return costs


_MOST_PAIRS = 10**5


def descend_partition(
    forest: Forest,
    scope: Scope,
    constraints: Constraints,
    partition: Partition,
    passes: int,
    near: int,
    pairing: Pairing,
    progress: Callable[[int], None],
) -> Partition:
    """Return the partition after ``passes``; ``progress`` follows the first pass, which takes longest."""
    classes = ExchangedClasses(forest, constraints, partition, pairing, near)
    visits = scope.records
    for number in range(passes):
        made, position = classes.exchange_count, 0
        while position < len(visits):
            position = classes.visit(visits, position) + 1
            if number == 0:
                progress(min(position, len(visits)))
        if classes.exchange_count == made:
            break
    return classes.partition()


def calls_of(forest: Forest, constraints: Constraints, pairing: Pairing) -> list[KernelCall]:
    """Return the calls of the kernels that take longest to compile; their types are the same for all records.

    So they are made for a class of the first record, without the compiler.
    """
    end, last = int(forest.roots[1]), len(forest.type)
    of_vertices = {
        name: getattr(forest, name)[:end]
        for name in ("type", "parent", "first_child", "child_count", "first_node", "first_sensitive")
    }
    nodes = forest.nodes[: forest.first_node[end] if end < last else None]
    first = replace(forest, roots=forest.roots[:2], nodes=nodes, **of_vertices)
    alone = Partition(np.zeros(1, np.int64), np.arange(end), nodes.copy())
    with without_compiler():
        return ExchangedClasses(first, constraints, alone, pairing, 1).calls()


def take_in_suppressed(
    forest: Forest, scope: Scope, constraints: Constraints, partition: Partition, pairing: Pairing
) -> Partition | None:
    """Return the partition with each suppressed record in the class that loses least by it, one by one.

    None if one of them fits no class, or if there are more than 100,000 pairs of such a record and a class.
    """
    suppressed = scope.records[partition.equivalence_class[scope.records] < 0]
    if not 0 < len(suppressed) * partition.class_count <= _MOST_PAIRS:
        return None
    classes = ExchangedClasses(forest, constraints, partition, pairing, 1)
    if not all(classes.take_in(record) for record in suppressed.tolist()):
        return None
    return classes.partition()
