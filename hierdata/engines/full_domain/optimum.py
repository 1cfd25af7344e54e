"""The recoding of full domains that loses the least: every node bounded, those that may be best judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints, StepInput
from hierdata.engines.full_domain.kernel import added_up, lost, may_hold
from hierdata.engines.full_domain.table import Base, Lattice
from hierdata.engines.rows.contents import satisfied
from hierdata.engines.rows.table import bits_over, class_sizes, dissolved, nodes_of, partition_of
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import SUPPRESSED, Partition

_TOLD = 64
"""Progress is told after so many nodes."""


@dataclass(frozen=True)
class Outcome:
    """What a node comes to, judged by every model."""

    loss: int
    suppressed: int
    node: int
    classes: NDArray[np.int64]

    @property
    def rank(self) -> tuple[int, int]:
        """Of equal losses the fewest rows suppressed, then the deepest first columns."""
        return self.suppressed, self.node


class Search:
    """All nodes of the lattice of a table."""

    def __init__(self, forest: Forest, scope: Scope, constraints: Constraints) -> None:
        self._forest = forest
        self._scope = scope
        self._constraints = constraints
        self._nodes = nodes_of(forest, scope)
        self._base = Base.of_rows(forest, scope, constraints)
        self.lattice = Lattice.of(forest, scope.kind, self._base)
        own = forest.losses[scope.kind]
        # Where the sum over all rows would not fit into 64 bits, low bits are dropped.
        dropped = bits_over(len(scope.rows) * len(own) * forest.scale)
        self._first = np.cumsum([0, *map(len, own)])
        self._losses = np.concatenate([np.zeros(0, np.int64), *own]) >> dropped
        self._whole = len(own) * (forest.scale >> dropped)

    def bounds(self, progress: Callable[[int], None]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each node how little it may lose, and how few rows it may suppress.

        Groups that are too small, or too far from the original, are suppressed; every other may hold. So
        nothing is assumed of the models, and where they are k-anonymity and t-closeness it is exact.
        """
        loss = np.empty(self.lattice.size, np.int64)
        suppressed = np.empty(self.lattice.size, np.int64)
        least, near = self._constraints.min_class_size, self._base.near
        for seen, (node, table) in enumerate(self.lattice.tables(self._base.table)):
            loss[node], suppressed[node] = lost(
                *(table.values, table.sizes, table.sums, least, near),
                *(self._first, self._losses, self._whole),
            )
            if seen % _TOLD == 0:
                progress(len(self._scope.rows) * seen // self.lattice.size)
        return loss, suppressed

    def judged(self, node: int) -> Outcome:
        """A node with every group that fails a model suppressed."""
        base, published = self._base.table, self.lattice.published(node)
        values = base.values.copy()
        for column, own in enumerate(published):
            values[:, column] = own[values[:, column]]
        values, sizes, sums, group_of = added_up(values, base.sizes, base.sums)
        may = may_hold(sizes, sums, self._constraints.min_class_size, self._base.near)
        left = np.where(may, np.cumsum(may) - 1, SUPPRESSED)
        classes = left[group_of][self._base.of]
        holds = satisfied(self._forest, self._scope, self._constraints, classes, values[may])
        kept, values = class_sizes(classes)[holds], values[may][holds]
        own = sum(self._losses[self._first[at] + values[:, at]] for at in range(values.shape[1]))
        suppressed = len(classes) - int(kept.sum())
        loss = int((kept * own).sum()) + suppressed * self._whole
        return Outcome(loss, suppressed, node, dissolved(classes, ~holds))

    def partition(self, outcome: Outcome, costs: Counter[str]) -> Partition:
        """The partition of a node, with the nodes of its depths."""
        forest, scope = self._forest, self._scope
        found = partition_of(forest, scope, outcome.classes, costs)
        nodes = found.nodes.copy()
        first = forest.first_node[scope.vertices]
        for column, published in enumerate(self.lattice.published(outcome.node)):
            nodes[first + column] = published[self._nodes[:, column]]
        return replace(found, nodes=nodes)


def optimum(given: StepInput, limit: Fraction) -> Partition:
    """The partition of the best node that suppresses at most a share of the rows (see ``FullDomain``)."""
    search, count = Search(*given.problem), len(given.scope.rows)
    loss, suppressed = search.bounds(given.progress)
    most = int(limit * count)
    best, ties = _best(search, loss, suppressed, most)
    given.progress(count)
    costs = Counter({"lattice_nodes": search.lattice.size})
    if best is None:
        costs["records_in_groups_that_fail"] = count
        nothing = np.full(count, SUPPRESSED, np.int64)
        return partition_of(
            given.forest, given.scope, nothing, costs, _shortage(search, suppressed, most, count)
        )
    costs["lattice_nodes_of_least_loss"] = ties
    costs["records_in_groups_that_fail"] = best.suppressed
    return search.partition(best, costs)


def _best(
    search: Search, loss: NDArray[np.int64], suppressed: NDArray[np.int64], most: int
) -> tuple[Outcome | None, int]:
    """The best node that publishes anything, and how many lose as little.

    Judged by rising bounds, until none that is left can lose as little.
    """
    best, ties = None, 0
    allowed = np.flatnonzero(suppressed <= most)
    for node in allowed[np.argsort(loss[allowed], kind="stable")].tolist():
        if best is not None and loss[node] > best.loss:
            break
        found = search.judged(node)
        if found.suppressed > most or found.suppressed == len(found.classes):
            continue
        if best is None or found.loss < best.loss:
            best, ties = found, 1
        elif found.loss == best.loss:
            best, ties = min(best, found, key=attrgetter("rank")), ties + 1
    return best, ties


def _shortage(search: Search, suppressed: NDArray[np.int64], most: int, count: int) -> str:
    """Why no node will do, and what limit would; "" where nothing can be published at all."""
    least = count
    for node in np.argsort(suppressed, kind="stable").tolist():
        if suppressed[node] >= least:
            break
        least = min(least, search.judged(node).suppressed)
    if least >= count:
        return ""
    return (
        f"with all values of a quasi-identifier generalized to one depth, at least {least} of {count} rows "
        f"fail a model, and the engine may suppress {most}: `suppression: {least}/{count}` would do, or ask "
        "for less"
    )
