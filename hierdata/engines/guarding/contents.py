"""The contents of groups of rows, whether they satisfy the models, and records that no form covers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.domains.base import Hierarchy
from hierdata.engines.base import Constraints
from hierdata.engines.guarding.kernel import Generalizing, Trees, find_uncovered
from hierdata.forest.forest import Forest, concatenate_ranges
from hierdata.forest.isomorphism import digests, nodes_alike
from hierdata.privacy.base import ClassView, Constraint, FrequencyCaps


class Excess(NamedTuple):
    """Values of which a group has too much, at the sensitive attribute ``position`` of vertex type ``kind``.

    ``allowed`` is the share that the model's caps allow them, rounded; 1 without caps.
    """

    kind: int
    position: int
    codes: frozenset[int]
    allowed: float


@dataclass(frozen=True)
class HeldValues:
    """The values of a group at one sensitive attribute, all vertices of its type taken as one place.

    ``counts`` has the occurrences of each code. ``sets`` has the number of records that show each set of
    codes, None unless a constraint asks for presence.
    """

    counts: Counter[int]
    sets: Counter[frozenset[int]] | None

    def __add__(self, other: HeldValues) -> HeldValues:
        """Return the values of both groups, which have no record in common."""
        sets = None if self.sets is None or other.sets is None else self.sets + other.sets
        return HeldValues(self.counts + other.counts, sets)

    def __sub__(self, other: HeldValues) -> HeldValues:
        """Return the values without those of a group that is part of this one."""
        sets = None if self.sets is None or other.sets is None else self.sets - other.sets
        return HeldValues(self.counts - other.counts, sets)

    @property
    def total(self) -> int:
        """The number of values, or of records that show any if a constraint asks for presence."""
        return self.counts.total() if self.sets is None else self.sets.total()

    def count(self, codes: Collection[int]) -> int:
        """Return how many of them are, or show, one of some values."""
        if self.sets is None:
            return sum(self.counts[code] for code in codes)
        return sum(times for shown, times in self.sets.items() if not shown.isdisjoint(codes))

    def count_groups(self, group_of: Sequence[int]) -> Counter[int]:
        """Return how many of them are, or show, a value of each group."""
        counts: Counter[int] = Counter()
        for shown, times in self.counts.items() if self.sets is None else self.sets.items():
            codes = {shown} if isinstance(shown, int) else shown
            counts.update(dict.fromkeys({group_of[code] for code in codes}, times))
        return counts


@dataclass(frozen=True)
class GroupContents:
    """What the rows of a group hold in the original.

    ``records`` is the number of different records, ``held[t][i]`` the values of the i-th sensitive attribute
    of vertex type t; they are empty where no constraint asks.
    """

    records: int
    held: tuple[tuple[HeldValues, ...], ...]

    def __add__(self, other: GroupContents) -> GroupContents:
        """Return the contents of both groups together, which have no record in common."""
        pairs = zip(self.held, other.held, strict=True)
        held = tuple(tuple(a + b for a, b in zip(mine, others, strict=True)) for mine, others in pairs)
        return GroupContents(self.records + other.records, held)

    def __sub__(self, other: GroupContents) -> GroupContents:
        """Return the contents without a group that is part of this one."""
        pairs = zip(self.held, other.held, strict=True)
        held = tuple(tuple(a - b for a, b in zip(mine, others, strict=True)) for mine, others in pairs)
        return GroupContents(self.records - other.records, held)

    def satisfies(self, constraints: Constraints) -> bool:
        """Whether all constraints hold, except those on a population, which somebody absent cannot fit."""
        empty = ClassView(self.records, {})
        if not all(
            constraint.holds(empty)
            for constraint in constraints.on_records
            if not constraint.needs_population
        ):
            return False
        return next(self._failing(constraints), None) is None

    def find_excess(self, constraints: Constraints) -> Excess | None:
        """Return what there is too much of at the first attribute with values where a model fails, or None.

        It is the group of the model's caps that exceeds its share most; without caps the most frequent value.
        """
        for kind, position, constraint in self._failing(constraints):
            values = self.held[kind][position]
            if not values.counts:
                continue
            codes = range(max(values.counts) + 1)
            caps = constraint.caps or FrequencyCaps(tuple(codes), (Fraction(1),) * len(codes))
            counts = values.count_groups(caps.group_of)
            most = max(counts, key=lambda group: (counts[group] - values.total * caps.share[group], -group))
            excessive = frozenset(code for code, group in enumerate(caps.group_of) if group == most)
            return Excess(kind, position, excessive, float(caps.share[most]))
        return None

    def count(self, excess: Excess) -> tuple[int, int]:
        """Return how many there are, or show them, of the values of an excess and of all at its attribute."""
        values = self.held[excess.kind][excess.position]
        return values.count(excess.codes), values.total

    def _failing(self, constraints: Constraints) -> Iterator[tuple[int, int, Constraint]]:
        """Yield each model on values that fails, after vertex type and position of its attribute."""
        for kind, (held, attributes) in enumerate(zip(self.held, constraints.on_values, strict=True)):
            for position, (values, bound) in enumerate(zip(held, attributes, strict=True)):
                view = ClassView(self.records, values.counts, sets=values.sets)
                yield from (
                    (kind, position, constraint) for constraint in bound if not constraint.holds(view)
                )


def count_groups(
    forest: Forest, constraints: Constraints, kind: int, group_of: NDArray[np.int64], groups: int
) -> list[GroupContents]:
    """Count what each of ``groups`` groups holds.

    ``group_of[row]`` is the group of each row of vertex type ``kind``, -1 for none. Rows of type 0 are whole
    records, with all their vertices; other rows are single vertices.
    """
    rows = np.flatnonzero(forest.type == kind)
    of_vertex = np.full(forest.vertex_count, -1, np.int64)
    if kind == 0:
        of_vertex = group_of[forest.record_of]
    else:
        of_vertex[rows] = group_of
    records = np.unique(np.stack([group_of, forest.record_of[rows]], 1)[group_of >= 0], axis=0)
    sizes = np.bincount(records[:, 0], minlength=groups)
    columns = [
        [
            [HeldValues(Counter(), None)] * groups
            if not bound
            else list(
                _count_values(
                    *_values_of(forest, of_vertex, its_kind, position),
                    groups,
                    presence=any(constraint.reading.asks == "presence" for constraint in bound),
                )
            )
            for position, bound in enumerate(attributes)
        ]
        for its_kind, attributes in enumerate(constraints.on_values)
    ]
    return [
        GroupContents(
            int(sizes[group]), tuple(tuple(column[group] for column in attributes) for attributes in columns)
        )
        for group in range(groups)
    ]


def _values_of(
    forest: Forest, of_vertex: NDArray[np.int64], kind: int, position: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return group, record and code of each value of an attribute in a group."""
    vertices = np.flatnonzero((forest.type == kind) & (of_vertex >= 0))
    codes = forest.sensitive[forest.first_sensitive[vertices] + position].astype(np.int64)
    vertices, codes = vertices[codes >= 0], codes[codes >= 0]
    return of_vertex[vertices], forest.record_of[vertices], codes


def _count_values(
    group: NDArray[np.int64],
    record: NDArray[np.int64],
    code: NDArray[np.int64],
    groups: int,
    *,
    presence: bool,
) -> Iterator[HeldValues]:
    """Yield the values of each group."""
    order = np.lexsort((record, group))
    bounds = np.searchsorted(group[order], np.arange(groups + 1)).tolist()
    records, codes = record[order].tolist(), code[order].tolist()
    for start, end in pairwise(bounds):
        sets: Counter[frozenset[int]] | None = None
        if presence:
            shown: dict[int, set[int]] = {}
            for person, value in zip(records[start:end], codes[start:end], strict=True):
                shown.setdefault(person, set()).add(value)
            sets = Counter(map(frozenset, shown.values()))
        yield HeldValues(Counter(codes[start:end]), sets)


LARGEST = 10**9
"""The most pairs of a record and a form that are compared."""


def published_forms(forest: Forest, shown: NDArray[np.int64], nodes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the roots of all different forms, one for each, by their number of vertices, then by root.

    ``shown`` and ``nodes`` are those of a partition of whole records.
    """
    first: dict[bytes, int] = {}
    for root, form in sorted(digests(forest, shown, nodes).items()):
        first.setdefault(form, root)
    sizes = np.bincount(
        forest.record_of[shown == np.arange(forest.vertex_count)], minlength=forest.record_count
    )
    roots = np.array(sorted(first.values()), np.int64)
    order = np.argsort(sizes[forest.record_of[roots]], kind="stable")
    ordered: NDArray[np.int64] = roots[order]
    return ordered


def uncovered_records(
    original: Forest,
    records: NDArray[np.int64],
    forest: Forest,
    shown: NDArray[np.int64],
    nodes: NDArray[np.int32],
) -> NDArray[np.bool_]:
    """Return for each of some ``records`` of the ``original`` whether no form published of ``forest`` fits.

    The hierarchies of ``forest`` may have nodes that ``original`` lacks, which a recoding added at the end.
    """
    roots = published_forms(forest, shown, nodes)
    everything = np.arange(original.vertex_count)
    trees = forest.hierarchies
    forms = _select(forest, forest.record_of[roots], shown == np.arange(forest.vertex_count), nodes)
    values = _select(original, records, everything >= 0, original.nodes)
    table, forms, values = _generalizing(trees, forms, values)
    return find_uncovered(forms, values, table)


def _select(
    forest: Forest, records: NDArray[np.int64], kept: NDArray[np.bool_], nodes: NDArray[np.int32]
) -> Trees:
    """Return some records with their kept vertices; the children of a kept vertex are contiguous."""
    first, count = forest.roots[records], forest.roots[records + 1] - forest.roots[records]
    every = concatenate_ranges(first, count)
    record = np.repeat(np.arange(len(records)), count)
    vertices, record = every[kept[every]], record[kept[every]]
    number = np.full(forest.vertex_count + 1, -1, np.int64)
    number[vertices] = np.arange(len(vertices))
    parents = number[forest.parent[vertices]]  # the parent -1 of a root has the last entry, -1
    child_count = np.bincount(parents[parents >= 0], minlength=len(vertices)).astype(np.int64)
    first_child = np.full(len(vertices), 0, np.int64)
    below = np.flatnonzero(parents >= 0)[::-1]
    first_child[parents[below]] = below  # the last assignment wins: the first child
    counts = forest.quasi_count[vertices]
    ends = np.cumsum(counts)
    entries = concatenate_ranges(forest.first_node[vertices], counts)
    return Trees(
        np.append(np.searchsorted(record, np.arange(len(records))), len(vertices)).astype(np.int64),
        forest.type[vertices].astype(np.int64),
        first_child,
        child_count,
        ends - counts,
        nodes[entries].astype(np.int64),
    )


def _generalizing(
    trees: Sequence[Sequence[Hierarchy]], forms: Trees, records: Trees
) -> tuple[Generalizing, Trees, Trees]:
    """Number the labels and values that occur, and build the tables of which generalize which."""
    first_column = np.cumsum([0, *map(len, trees)]).astype(np.int64)
    first, width, tables = [], [], [np.zeros(0, np.bool_)]
    end = 0
    for kind, of_kind in enumerate(trees):
        for position, tree in enumerate(of_kind):
            labels, values = (side.first_label[side.kind == kind] + position for side in (forms, records))
            shown, forms.labels[labels] = np.unique(forms.labels[labels], return_inverse=True)
            held, records.labels[values] = np.unique(records.labels[values], return_inverse=True)
            first.append(end)
            width.append(len(held))
            tables += [_find_generalized(tree, shown, held).reshape(-1)]
            end += len(shown) * len(held)
    table = Generalizing(
        first_column, np.array(first, np.int64), np.array(width, np.int64), np.concatenate(tables)
    )
    return table, forms, records


def _find_generalized(
    tree: Hierarchy, shown: NDArray[np.int64], held: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which of the nodes ``shown`` generalize which of the nodes ``held``, one line for each shown.

    Nodes with equal labels cannot be told apart, so each generalizes what any of them does.
    """
    ancestors = np.array([tree.ancestors[node] for node in held.tolist()], np.int64).reshape(
        len(held), tree.depths
    )
    made = len(tree.labels) - len(tree.made_of)

    def generalizes(node: int) -> NDArray[np.bool_]:
        mask: NDArray[np.bool_] = (ancestors == node).any(axis=1)
        for span in tree.made_of[node - made] if node >= made else ():
            mask |= ((ancestors >= span.start) & (ancestors < span.stop)).any(axis=1)
        return mask

    alike = nodes_alike(tree.labels)
    by_node = {
        node: generalizes(node) for node in {other for node in shown.tolist() for other in alike[node]}
    }
    rows = [np.logical_or.reduce([by_node[other] for other in alike[node]]) for node in shown.tolist()]
    return np.array(rows, np.bool_).reshape(len(shown), len(held))
