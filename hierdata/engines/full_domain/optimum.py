"""The full-domain recoding with the least loss: bound every node, then judge those that may be best."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints, StepInput
from hierdata.engines.full_domain.kernel import generalization_loss, may_hold, sum_equal_lines
from hierdata.engines.full_domain.table import Base, Lattice
from hierdata.engines.guarding.guard import suppressed_are_safe
from hierdata.engines.rows.contents import check_classes
from hierdata.engines.rows.table import bits_over, class_sizes, dissolve_failing, nodes_of, partition_of
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import SUPPRESSED, Partition

_TOLD = 64
"""The number of nodes between two progress calls."""


@dataclass(frozen=True)
class NodeOutcome:
    """The result of a node after all models have judged it."""

    loss: int
    suppressed: int
    node: int
    classes: NDArray[np.int64]

    @property
    def rank(self) -> tuple[int, int]:
        """The order among equal losses: fewest rows suppressed, then the deepest first columns."""
        return self.suppressed, self.node


class LatticeSearch:
    """The search over all nodes of the lattice of a table."""

    def __init__(self, forest: Forest, scope: Scope, constraints: Constraints) -> None:
        self._forest = forest
        self._scope = scope
        self._constraints = constraints
        self._nodes = nodes_of(forest, scope)
        self._base = Base.of_rows(forest, scope, constraints)
        self.lattice = Lattice.of(forest, scope.kind, self._base)
        own = forest.losses[scope.kind]
        # Where the sum over all rows would not fit into 64 bits, low bits are dropped.
        whole = sum(forest.sought.quasi[scope.kind]) if forest.sought else len(own)
        dropped = bits_over(len(scope.rows) * whole * forest.scale)
        self._first = np.cumsum([0, *map(len, own)])
        self._losses = np.concatenate([np.zeros(0, np.int64), *own]) >> dropped
        self._whole = whole * (forest.scale >> dropped)

    def bounds(self, progress: Callable[[int], None]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return lower bounds, by node, of the loss and of the number of suppressed rows.

        Groups that are too small, or too far from the original, count as suppressed, all others as kept. This
        assumes nothing about the models, and is exact for k-anonymity and t-closeness.
        """
        loss = np.empty(self.lattice.size, np.int64)
        suppressed = np.empty(self.lattice.size, np.int64)
        least, near = self._constraints.min_class_size, self._base.near
        for seen, (node, table) in enumerate(self.lattice.tables(self._base.table)):
            loss[node], suppressed[node] = generalization_loss(
                *(table.values, table.sizes, table.sums, least, near),
                *(self._first, self._losses, self._whole),
            )
            if seen % _TOLD == 0:
                progress(len(self._scope.rows) * seen // self.lattice.size)
        return loss, suppressed

    def judge_node(self, node: int) -> NodeOutcome:
        """Judge a node: suppress every group that violates a model."""
        base, published = self._base.table, self.lattice.published_values(node)
        values = base.values.copy()
        for column, own in enumerate(published):
            values[:, column] = own[values[:, column]]
        values, sizes, sums, group_of = sum_equal_lines(values, base.sizes, base.sums)
        may = may_hold(sizes, sums, self._constraints.min_class_size, self._base.near)
        left = np.where(may, np.cumsum(may) - 1, SUPPRESSED)
        classes = left[group_of][self._base.of]
        holds = check_classes(self._forest, self._scope, self._constraints, classes, values[may])
        kept, values = class_sizes(classes)[holds], values[may][holds]
        own = sum(self._losses[self._first[at] + values[:, at]] for at in range(values.shape[1]))
        suppressed = len(classes) - int(kept.sum())
        loss = int((kept * own).sum()) + suppressed * self._whole
        return NodeOutcome(loss, suppressed, node, dissolve_failing(classes, ~holds))

    def leaves_safe(self, outcome: NodeOutcome) -> bool:
        """Whether the suppressed rows of a node may stay suppressed (``suppressed_are_safe``)."""
        if not self._constraints.guarded or not outcome.suppressed:
            return True
        return suppressed_are_safe(self._forest, self.partition(outcome, Counter()), self._constraints)

    def partition(self, outcome: NodeOutcome, costs: Counter[str]) -> Partition:
        """Build the partition of a node, published at the depths of that node."""
        forest, scope = self._forest, self._scope
        found = partition_of(forest, scope, outcome.classes, costs)
        nodes = found.nodes.copy()
        first = forest.first_node[scope.vertices]
        for column, published in enumerate(self.lattice.published_values(outcome.node)):
            nodes[first + column] = published[self._nodes[:, column]]
        return replace(found, nodes=nodes)


def optimum(given: StepInput, limit: Fraction) -> Partition:
    """Return the partition of the best node that suppresses at most ``limit`` of the rows, a share 0..1."""
    search, count = LatticeSearch(*given.problem), len(given.scope.rows)
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
    search: LatticeSearch, loss: NDArray[np.int64], suppressed: NDArray[np.int64], most: int
) -> tuple[NodeOutcome | None, int]:
    """Return the best node that publishes anything, and the number of nodes with the same loss.

    Nodes are judged by rising bound, until no other node can lose as little.
    """
    best, ties = None, 0
    allowed = np.flatnonzero(suppressed <= most)
    for node in allowed[np.argsort(loss[allowed], kind="stable")].tolist():
        if best is not None and loss[node] > best.loss:
            break
        found = search.judge_node(node)
        if found.suppressed > most or found.suppressed == len(found.classes):
            continue
        if (best is None or found.loss <= best.loss) and not search.leaves_safe(found):
            continue
        if best is None or found.loss < best.loss:
            best, ties = found, 1
        elif found.loss == best.loss:
            best, ties = min(best, found, key=attrgetter("rank")), ties + 1
    return best, ties


def _shortage(search: LatticeSearch, suppressed: NDArray[np.int64], most: int, count: int) -> str:
    """Explain why every node fails, and name a limit that suffices; "" if none does."""
    least = count
    for node in np.argsort(suppressed, kind="stable").tolist():
        if suppressed[node] >= least:
            break
        found = search.judge_node(node)
        if found.suppressed < least and search.leaves_safe(found):
            least = found.suppressed
    if least >= count:
        return ""
    return (
        f"with all values of a quasi-identifier generalized to one depth, at least {least} of {count} rows "
        f"must be suppressed, and the engine may suppress {most}: set `suppression: {least}/{count}`, or "
        "weaken the models"
    )
