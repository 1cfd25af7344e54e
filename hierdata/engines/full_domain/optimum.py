"""The full-domain recoding with the least loss: bound every node, then judge those that may be best.

A node of the lattice is one depth for each quasi-identifier. t-closeness is kept as bounds on sums of counts,
which add up when groups are united.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from hierdata.domains.base import Hierarchy
from hierdata.engines.base import Constraints, StepInput
from hierdata.engines.full_domain.kernel import (
    GroupTable,
    Near,
    generalization_loss,
    may_hold,
    sum_equal_lines,
)
from hierdata.engines.guarding.guard import suppressed_are_safe
from hierdata.engines.rows.constraints import check_classes, foreign
from hierdata.engines.rows.table import (
    bits_over,
    class_sizes,
    codes_of,
    dissolve_failing,
    nodes_of,
    partition_of,
)
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import SUPPRESSED, Partition
from hierdata.privacy.base import Closeness

_LARGEST = 2**62
_CELLS = 2**26
"""The most sums stored for a table; a closeness that needs more is checked by the model only."""


def fits(closeness: Closeness, codes: NDArray[np.int32]) -> bool:
    """Whether the sums of a closeness fit into 64 bits and memory, and the original has all values."""
    rows, sets = len(codes), len(closeness.parent)
    moved = sum(closeness.weight) * rows * closeness.total * closeness.bound.denominator
    most = max(moved, closeness.bound.numerator * closeness.scale * closeness.total * rows)
    return most < _LARGEST and rows * sets < _CELLS and not foreign(closeness, codes).any()


def count_codes(closeness: Closeness, codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return one line per code: whether a value is present, and for each weighted set whether it holds it."""
    within = np.zeros((len(closeness.set_of) + 1, 1 + len(closeness.weighted_sets)), np.int64)
    within[:-1, 0] = 1
    for code, path in enumerate(closeness.paths):
        within[code, 1:][list(path)] = 1
    return within[codes]  # MISSING is -1: the last


def pack_bounds(bound: Sequence[Closeness]) -> Near:
    """Pack the bounds in the layout of the kernel."""
    columns = [(closeness, held) for closeness in bound for held in (-1, *closeness.weighted_sets)]
    return Near(
        np.cumsum([0, *(1 + len(closeness.weighted_sets) for closeness in bound)]),
        np.array([0 if held < 0 else closeness.weight[held] for closeness, held in columns], np.int64),
        np.array([0 if held < 0 else closeness.expected[held] for closeness, held in columns], np.int64),
        np.array([closeness.total for closeness in bound], np.int64),
        np.array([closeness.bound.denominator for closeness in bound], np.int64),
        np.array(
            [closeness.bound.numerator * closeness.scale * closeness.total for closeness in bound], np.int64
        ),
    )


Nodes = NDArray[np.int32]


@dataclass(frozen=True)
class Steps:
    """The distinct depths of one hierarchy, the deepest first.

    Depths at which the values of a table are published alike are one step. ``published[step][node]`` is the
    node as which a value is published. ``onwards[step]`` maps the nodes published one step before to those of
    this step; None if there is no such map, as with intervals that do not nest.
    """

    published: tuple[Nodes, ...]
    onwards: tuple[Nodes | None, ...]

    @classmethod
    def of(cls, tree: Hierarchy, values: NDArray[np.int32]) -> Steps:
        """Build the steps for the values that occur."""
        occurring = np.unique(values)
        published = [np.array(tree.at_depth(tree.depths - 1), np.int32)]
        onwards: list[Nodes | None] = [None]
        for depth in reversed(range(tree.depths - 1)):
            coarser = np.array(tree.at_depth(depth), np.int32)
            if (coarser[occurring] != published[-1][occurring]).any():
                onwards.append(_map_nodes(published[-1][occurring], coarser[occurring], len(tree.labels)))
                published.append(coarser)
        return cls(tuple(published), tuple(onwards))


def _map_nodes(finer: Nodes, coarser: Nodes, nodes: int) -> Nodes | None:
    """Map finer nodes to coarser ones; None if a node would map to two."""
    onwards = np.zeros(nodes, np.int32)
    onwards[finer] = coarser
    return onwards if (onwards[finer] == coarser).all() else None


def recode_column(table: GroupTable, column: int, published: Nodes) -> GroupTable:
    """Return the table with a column replaced by its published values, and equal rows added up."""
    values = table.values.copy()
    values[:, column] = published[values[:, column]]
    return sum_equal_lines(table._replace(values=values))[0]


@dataclass(frozen=True)
class Base:
    """The different rows of a scope; ``of[row]`` is the position of a row among them."""

    table: GroupTable
    of: NDArray[np.int32]
    near: Near

    @classmethod
    def of_rows(cls, forest: Forest, scope: Scope, constraints: Constraints) -> Base:
        """Count equal rows of a scope, with the sums of sensitive values that the bounds need."""
        nodes, codes = nodes_of(forest, scope), codes_of(forest, scope)
        stated = constraints.closeness(scope.kind)
        bound = [
            (position, closeness) for position, closeness in stated if fits(closeness, codes[:, position])
        ]
        # Group rows that are equal in all used columns first, so that the sums are computed for few lines.
        used = sorted({position for position, _ in bound})
        both = np.ascontiguousarray(np.hstack([nodes, codes[:, used]]))
        alone = GroupTable(both, np.ones(len(both), np.int64), np.zeros((len(both), 0), np.int64))
        (lines, sizes, _), line_of = sum_equal_lines(alone)
        held = {position: lines[:, nodes.shape[1] + column] for column, position in enumerate(used)}
        sums = [count_codes(closeness, held[position]) for position, closeness in bound]
        spread = np.hstack([np.zeros((len(lines), 0), np.int64), *sums]) * sizes[:, None]
        values = np.ascontiguousarray(lines[:, : nodes.shape[1]])
        table, of = sum_equal_lines(GroupTable(values, sizes, spread))
        return cls(table, of[line_of], pack_bounds([closeness for _, closeness in bound]))


@dataclass(frozen=True)
class Lattice:
    """All combinations of steps; nodes are numbered in row-major order, the last column fastest."""

    steps: tuple[Steps, ...]

    @classmethod
    def of(cls, forest: Forest, kind: int, base: Base) -> Lattice:
        """Build the lattice of a table."""
        trees = forest.hierarchies[kind]
        return cls(tuple(Steps.of(tree, base.table.values[:, column]) for column, tree in enumerate(trees)))

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of steps of each column."""
        return tuple(len(steps.published) for steps in self.steps)

    @property
    def size(self) -> int:
        """The number of nodes."""
        return prod(self.counts)

    def published_values(self, node: int) -> list[NDArray[np.int32]]:
        """Return, for each column, the map from values to their published nodes at a lattice node."""
        places = np.unravel_index(node, self.counts) if self.counts else ()
        return [steps.published[int(step)] for steps, step in zip(self.steps, places, strict=True)]

    def tables(self, base: GroupTable) -> Iterator[tuple[int, GroupTable]]:
        """Iterate over the tables of all nodes, each computed from that of a node with one step less.

        Columns with few values are recoded last, as such a step starts from a table that is little larger
        than its result. Memory: one table per column.
        """
        strides = [prod(self.counts[number + 1 :]) for number in range(len(self.counts))]
        values = [len(np.unique(column)) for column in base.values.T]
        order = sorted(range(len(values)), key=lambda number: -values[number])

        def below(depth: int, node: int, table: GroupTable) -> Iterator[tuple[int, GroupTable]]:
            if depth == len(order):
                yield node, table
                return
            column = order[depth]
            steps, last = self.steps[column], table
            for step, (published, onwards) in enumerate(zip(steps.published, steps.onwards, strict=True)):
                if step:
                    start, way = (table, published) if onwards is None else (last, onwards)
                    last = recode_column(start, column, way)
                yield from below(depth + 1, node + step * strides[column], last)

        yield from below(0, 0, base)


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
        losses = forest.losses[scope.kind]
        # Where the sum over all rows would not fit into 64 bits, low bits are dropped.
        whole = sum(forest.sought.quasi[scope.kind]) if forest.sought else len(losses)
        dropped = bits_over(len(scope.rows) * whole * forest.scale)
        self._first = np.cumsum([0, *map(len, losses)])
        self._losses = np.concatenate([np.zeros(0, np.int64), *losses]) >> dropped
        self._whole = whole * (forest.scale >> dropped)

    def bounds(self, progress: Callable[[int], None]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return lower bounds, by node, of the loss and of the number of suppressed rows.

        Groups that are too small, or too far from the original, count as suppressed, all others as kept. This
        assumes nothing about the models, and is exact for k-anonymity and t-closeness.
        """
        loss = np.empty(self.lattice.size, np.int64)
        suppressed = np.empty(self.lattice.size, np.int64)
        least, near = self._constraints.min_class_size, self._base.near
        for done, (node, table) in enumerate(self.lattice.tables(self._base.table)):
            loss[node], suppressed[node] = generalization_loss(
                table, least, near, self._first, self._losses, self._whole
            )
            if done % _TOLD == 0:
                progress(len(self._scope.rows) * done // self.lattice.size)
        return loss, suppressed

    def judge_node(self, node: int) -> NodeOutcome:
        """Judge a node: suppress every group that violates a model."""
        base, published = self._base.table, self.lattice.published_values(node)
        values = base.values.copy()
        for column, published_nodes in enumerate(published):
            values[:, column] = published_nodes[values[:, column]]
        table, group_of = sum_equal_lines(base._replace(values=values))
        values, may = table.values, may_hold(table, self._constraints.min_class_size, self._base.near)
        number_of = np.where(may, np.cumsum(may) - 1, SUPPRESSED)
        classes = number_of[group_of][self._base.of]
        holds = check_classes(self._forest, self._scope, self._constraints, classes, values[may])
        kept, values = class_sizes(classes)[holds], values[may][holds]
        lost = sum(self._losses[self._first[column] + values[:, column]] for column in range(values.shape[1]))
        suppressed = len(classes) - int(kept.sum())
        loss = int((kept * lost).sum()) + suppressed * self._whole
        return NodeOutcome(loss, suppressed, node, dissolve_failing(classes, ~holds))

    def leaves_safe(self, outcome: NodeOutcome) -> bool:
        """Whether the suppressed rows of a node may stay suppressed (``suppressed_are_safe``)."""
        if not self._constraints.guarded or not outcome.suppressed:
            return True
        return suppressed_are_safe(self._forest, self.partition(outcome, Counter()), self._constraints)

    def partition(self, outcome: NodeOutcome, costs: Counter[str]) -> Partition:
        """Build the partition of a node, published at the depths of that node."""
        forest, scope = self._forest, self._scope
        partition = partition_of(forest, scope, outcome.classes, costs)
        nodes = partition.nodes.copy()
        first = forest.first_node[scope.vertices]
        for column, published in enumerate(self.lattice.published_values(outcome.node)):
            nodes[first + column] = published[self._nodes[:, column]]
        return replace(partition, nodes=nodes)


def optimum(step: StepInput, limit: Fraction) -> Partition:
    """Return the partition of the best node that suppresses at most ``limit`` of the rows, a share 0..1."""
    search, count = LatticeSearch(*step.problem), len(step.scope.rows)
    loss, suppressed = search.bounds(step.progress)
    most = int(limit * count)
    best, ties = _best(search, loss, suppressed, most)
    step.progress(count)
    costs = Counter({"lattice_nodes": search.lattice.size})
    if best is None:
        costs["records_in_groups_that_fail"] = count
        nothing = np.full(count, SUPPRESSED, np.int64)
        return partition_of(
            step.forest, step.scope, nothing, costs, _shortage(search, suppressed, most, count)
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
        outcome = search.judge_node(node)
        if outcome.suppressed > most or outcome.suppressed == len(outcome.classes):
            continue
        if (best is None or outcome.loss <= best.loss) and not search.leaves_safe(outcome):
            continue
        if best is None or outcome.loss < best.loss:
            best, ties = outcome, 1
        elif outcome.loss == best.loss:
            best, ties = min(best, outcome, key=attrgetter("rank")), ties + 1
    return best, ties


def _shortage(search: LatticeSearch, suppressed: NDArray[np.int64], most: int, count: int) -> str:
    """Explain why every node fails, and name a limit that suffices; "" if none does."""
    least = count
    for node in np.argsort(suppressed, kind="stable").tolist():
        if suppressed[node] >= least:
            break
        outcome = search.judge_node(node)
        if outcome.suppressed < least and search.leaves_safe(outcome):
            least = outcome.suppressed
    if least >= count:
        return ""
    return (
        f"with all values of a quasi-identifier generalized to one depth, at least {least} of {count} rows "
        f"must be suppressed, and the engine may suppress {most}: set `suppression: {least}/{count}`, or "
        "weaken the models"
    )
