"""What a guard of the suppressed asks of a partition, and how it mends one (``pipeline.guard_blocks``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints, accepts_all
from hierdata.engines.guarding.contents import LARGEST, Excess, GroupContents, count_groups, uncovered_records
from hierdata.engines.rows.table import bits_over, class_sizes, dissolve_failing, suppress_below
from hierdata.forest.forest import Forest
from hierdata.forest.partition import SUPPRESSED, Partition
from hierdata.ground.recodings import RecodingTraits

_ROUNDING = 1e-6
_SLACK = 1
"""So many values less than allowed are worth having: other classes may bring them."""


class _Met(NamedTuple):
    """Values of which there was too much: the share that is allowed, and how many the classes hold.

    ``relief[c]`` is by how much class c lowers the excess: the values that it may hold, less those it holds.
    """

    share: float
    relief: NDArray[np.float64]


class Relief:
    """Picks classes one by one, those that leave least of what there was ever too much of.

    ``classes`` are in the order in which equally good ones are picked. Shares are rounded: they order the
    classes and decide nothing.
    """

    def __init__(self, classes: Sequence[GroupContents], constraints: Constraints) -> None:
        self._classes = classes
        self._constraints = constraints
        self._waiting = np.ones(len(classes), np.bool_)
        self._met: dict[Excess, _Met] = {}
        self._known = -1

    def restart(self) -> bool:
        """Put all classes back; return whether an excess was met since the last time: others are picked."""
        self._waiting[:] = True
        known, self._known = self._known, len(self._met)
        return known < self._known

    def pick(self, whole: GroupContents) -> int | None:
        """Return the position of the class to add to ``whole``, None if no rest takes an excess away."""
        if not self._waiting.any():
            return None
        excess_now = whole.find_excess(self._constraints)
        if excess_now is not None and excess_now not in self._met:
            self._met[excess_now] = self._meet(excess_now, whole)
        remaining = np.zeros(len(self._classes))
        for excess, (share, relief) in self._met.items() if excess_now is not None else ():
            count, total = whole.count(excess)
            over = count - share * total
            if share == excess.allowed and over > relief[self._waiting & (relief > 0)].sum() + _ROUNDING:
                return None
            remaining += np.maximum(over - relief, -_SLACK)
        remaining[~self._waiting] = np.inf
        chosen = int(np.argmin(remaining))
        self._waiting[chosen] = False
        return chosen

    def _meet(self, excess: Excess, whole: GroupContents) -> _Met:
        """Where the model has no caps, or these are kept, any class with a smaller share than now helps."""
        count, total = whole.count(excess)
        share = min(excess.allowed, count / total)
        held = np.array([contents.count(excess) for contents in self._classes], np.float64).reshape(-1, 2)
        return _Met(share, share * held[:, 1] - held[:, 0])


class Candidate(NamedTuple):
    """A class that could be dissolved: the loss of that, times the scale, and what its records hold."""

    loss: int
    contents: GroupContents


Enough: TypeAlias = Callable[[GroupContents, Collection[int]], bool]


def choose_classes(
    suppressed: GroupContents, candidates: Sequence[Candidate], constraints: Constraints, accept: Enough
) -> list[int] | None:
    """Return the classes to dissolve, None if no choice that was tried is enough.

    At least one record is ``suppressed``. A choice is enough if all constraints hold for the whole and
    ``accept`` agrees; it is given the contents and the chosen classes.

    Classes are added by rising loss, the first of equal ones, until they are enough. If all together are not,
    ``Relief`` picks them: while the whole has too much of some values, the class that leaves least of what
    there was ever too much of, else the cheapest one; again from the start as long as more is met that there
    can be too much of. Then classes without which the rest is enough are given back, the greatest loss first,
    until every class that remains is needed. A single class that is enough is chosen if it is cheaper.
    """
    order = sorted(range(len(candidates)), key=lambda number: (candidates[number].loss, number))
    by_loss = [candidates[number] for number in order]

    def is_enough(whole: GroupContents, chosen: Collection[int]) -> bool:
        return whole.satisfies(constraints) and accept(whole, [order[position] for position in chosen])

    rest = iter(range(len(order)))
    choice = _add_classes(suppressed, by_loss, is_enough, lambda _: next(rest, None))
    if choice is None:
        relief = Relief([candidate.contents for candidate in by_loss], constraints)
        while relief.restart():
            choice = _cheaper(by_loss, choice, _add_classes(suppressed, by_loss, is_enough, relief.pick))
    for position, candidate in enumerate(by_loss):
        if choice is not None and candidate.loss >= _loss(by_loss, choice):
            break
        if is_enough(suppressed + candidate.contents, [position]):
            choice = [position]
    return None if choice is None else sorted(order[position] for position in choice)


def _add_classes(
    whole: GroupContents,
    by_loss: Sequence[Candidate],
    is_enough: Enough,
    pick: Callable[[GroupContents], int | None],
) -> list[int] | None:
    """Return the classes that ``pick`` adds until they are enough, without those that are not needed."""
    chosen = set[int]()
    while not is_enough(whole, chosen):
        following = pick(whole)
        if following is None:
            return None
        whole += by_loss[following].contents
        chosen.add(following)
    needed = 0
    while needed != len(chosen):
        needed = len(chosen)
        for number in sorted(chosen, reverse=True):
            without = whole - by_loss[number].contents
            chosen.remove(number)
            if is_enough(without, chosen):
                whole = without
            else:
                chosen.add(number)
    return sorted(chosen)


def _cheaper(
    by_loss: Sequence[Candidate], choice: list[int] | None, other: list[int] | None
) -> list[int] | None:
    """Return the choice that loses less, the first of equal ones."""
    if choice is None or other is None:
        return other if choice is None else choice
    return min(choice, other, key=lambda chosen: _loss(by_loss, chosen))


def _loss(by_loss: Sequence[Candidate], chosen: Collection[int]) -> int:
    return sum(by_loss[number].loss for number in chosen)


def suppressed_are_safe(forest: Forest, partition: Partition, constraints: Constraints) -> bool:
    """Whether the suppressed records, and those of them that no published form covers, may stay so."""
    rows = suppressed_rows(partition)
    whole = is_safe(forest, partition.kind, constraints, rows)
    return whole and uncovered_are_safe(forest, partition, constraints)


def uncovered_are_safe(forest: Forest, partition: Partition, constraints: Constraints) -> bool:
    """Whether the records that no published form covers are none or satisfy the constraints."""
    rows = suppressed_rows(partition)
    if rows.sum() * partition.class_count > LARGEST:
        return False
    alone = np.zeros(len(rows), np.bool_)
    alone[rows] = uncovered_records(
        forest, np.flatnonzero(rows), forest, partition.representative, partition.nodes
    )
    return is_safe(forest, 0, constraints, alone)


def is_safe(forest: Forest, kind: int, constraints: Constraints, rows: NDArray[np.bool_]) -> bool:
    """Whether some rows of a type are none or satisfy the constraints as a whole."""
    return not rows.any() or contents_of(forest, kind, constraints, rows).satisfies(constraints)


def suppressed_rows(partition: Partition) -> NDArray[np.bool_]:
    """Return which rows are suppressed."""
    suppressed: NDArray[np.bool_] = partition.equivalence_class == SUPPRESSED
    return suppressed


def contents_of(
    forest: Forest, kind: int, constraints: Constraints, rows: NDArray[np.bool_]
) -> GroupContents:
    """Return what some rows of a type hold together."""
    (contents,) = count_groups(forest, constraints, kind, np.where(rows, 0, -1), 1)
    return contents


def holds_at_roots(suppressed: GroupContents, quasi: int, constraints: Constraints) -> bool:
    """Whether records that satisfy the constraints as a whole do so as a class published at the roots.

    ``quasi`` is the number of quasi-identifiers of a record's root.
    """
    view = constraints.view(suppressed.records, {}, [0] * quasi)
    return accepts_all(constraints.on_records, view)


def weigh_classes(
    forest: Forest, partition: Partition, constraints: Constraints, traits: RecodingTraits
) -> list[Candidate]:
    """Return for each class the loss of dissolving it, and what its rows hold."""
    kind = partition.kind
    gain = forest.weight[forest.type == kind] * np.int64(1)
    if not traits.partitions_each_type:
        gain = kept_by_record(forest, partition)
    kept = ~suppressed_rows(partition)
    losses = np.zeros(partition.class_count, np.int64)
    np.add.at(losses, partition.equivalence_class[kept], gain[kept])
    held = count_groups(forest, constraints, kind, partition.equivalence_class, partition.class_count)
    return [Candidate(loss, contents) for loss, contents in zip(losses.tolist(), held, strict=True)]


def kept_by_record(forest: Forest, partition: Partition) -> NDArray[np.int64]:
    """Return how much more would be lost of each record if it were suppressed.

    In units of 1/scale; low bits are dropped where the sum over all records would not fit into 64 bits.
    """
    whole = int(forest.weight[forest.roots[:-1]].sum()) * forest.scale
    dropped = bits_over(whole)
    kept = np.zeros(forest.vertex_count, np.int64)
    shown = partition.representative
    for kind, of_kind in enumerate(forest.losses):
        vertices = np.flatnonzero((forest.type == kind) & (shown >= 0))
        kept[vertices] = forest.own_weight[vertices] * forest.scale
        first = forest.first_node[shown[vertices]]
        for position, losses in enumerate(of_kind):
            kept[vertices] -= losses[partition.nodes[first + position]]
    kept >>= dropped
    records: NDArray[np.int64] = np.add.reduceat(kept, forest.roots[:-1])
    return records


def dissolve(forest: Forest, partition: Partition, classes: Collection[int]) -> Partition:
    """Return the partition without some classes; their rows are suppressed with their subtrees."""
    if not classes:
        return partition
    failing = np.zeros(partition.class_count, np.bool_)
    failing[list(classes)] = True
    class_of = dissolve_failing(partition.equivalence_class, failing)
    shown = partition.representative.copy()
    rows = np.flatnonzero(forest.type == partition.kind)
    shown[rows[class_of == SUPPRESSED]] = SUPPRESSED
    suppress_below(forest, shown)
    given_up = int(class_sizes(partition.equivalence_class)[failing].sum())
    costs = partition.costs + Counter(records_of_classes_given_up=given_up)
    return replace(partition, equivalence_class=class_of, representative=shown, costs=costs)


def publish_at_roots(forest: Forest, partition: Partition) -> Partition:
    """Return the partition with all suppressed records in one more class, published by their roots alone.

    Every quasi-identifier of the root is generalized to the root of its hierarchy.
    """
    records = np.flatnonzero(suppressed_rows(partition))
    class_of, shown = partition.equivalence_class.copy(), partition.representative.copy()
    nodes = partition.nodes.copy()
    class_of[records] = partition.class_count
    first = forest.roots[records[0]]
    shown[forest.roots[records]] = first
    start = forest.first_node[first]
    nodes[start : start + len(forest.hierarchies[0])] = 0
    costs = partition.costs + Counter(records_published_at_roots=len(records))
    return replace(partition, equivalence_class=class_of, representative=shown, nodes=nodes, costs=costs)


def publish_as_group(forest: Forest, partition: Partition, *, with_subtrees: bool) -> Partition:
    """Return the partition with all suppressed rows in one more group.

    ``with_subtrees``: the vertices below them are published too, since other partitions group these.
    """
    rows = suppressed_rows(partition)
    vertices = np.flatnonzero(forest.type == partition.kind)[rows]
    class_of, shown = partition.equivalence_class.copy(), partition.representative.copy()
    class_of[rows] = partition.class_count
    shown[vertices] = vertices[0]
    below = np.zeros(forest.vertex_count, np.bool_)
    below[vertices] = with_subtrees
    for kind in forest.schema.types[1:]:  # parents before children
        of_kind = np.flatnonzero(forest.type == kind.index)
        inside = of_kind[below[forest.parent[of_kind]]]
        below[inside] = True
        shown[inside] = inside
    costs = partition.costs + Counter(rows_published_as_one_group=len(vertices))
    return replace(partition, equivalence_class=class_of, representative=shown, costs=costs)
