"""Which records no published form covers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hierdata.domains.base import Hierarchy
from hierdata.engines.guarding.kernel import Generalizing, Trees, find_uncovered
from hierdata.forest.forest import Forest
from hierdata.forest.isomorphism import digests, nodes_alike

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
    left: Forest,
    records: NDArray[np.int64],
    forest: Forest,
    shown: NDArray[np.int64],
    nodes: NDArray[np.int32],
) -> NDArray[np.bool_]:
    """Return for each of some original ``records`` of ``left`` whether no form published of ``forest`` fits.

    The hierarchies of ``forest`` may have nodes that ``left`` lacks, which a recoding added at the end.
    """
    roots = published_forms(forest, shown, nodes)
    everything = np.arange(left.vertex_count)
    trees = forest.hierarchies
    forms = _select(forest, forest.record_of[roots], shown == np.arange(forest.vertex_count), nodes)
    values = _select(left, records, everything >= 0, left.nodes)
    table, forms, values = _generalizing(trees, forms, values)
    return find_uncovered(forms, values, table)


def _select(
    forest: Forest, records: NDArray[np.int64], kept: NDArray[np.bool_], nodes: NDArray[np.int32]
) -> Trees:
    """Return some records with their kept vertices; the children of a kept vertex are contiguous."""
    spans = [
        np.arange(start, end)
        for start, end in zip(forest.roots[records], forest.roots[records + 1], strict=True)
    ]
    every = np.concatenate([np.zeros(0, np.int64), *spans])
    record = np.repeat(np.arange(len(records)), [len(span) for span in spans])
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
    at = np.repeat(forest.first_node[vertices] - (ends - counts), counts) + np.arange(int(counts.sum()))
    return Trees(
        np.append(np.searchsorted(record, np.arange(len(records))), len(vertices)).astype(np.int64),
        forest.type[vertices].astype(np.int64),
        first_child,
        child_count,
        ends - counts,
        nodes[at].astype(np.int64),
    )


def _generalizing(
    trees: Sequence[Sequence[Hierarchy]], forms: Trees, records: Trees
) -> tuple[Generalizing, Trees, Trees]:
    """Number the labels and values that occur, and build the tables of which generalize which."""
    first_column = np.cumsum([0, *map(len, trees)]).astype(np.int64)
    first, width, tables = [], [], [np.zeros(0, np.bool_)]
    end = 0
    for kind, own in enumerate(trees):
        for position, tree in enumerate(own):
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
        found: NDArray[np.bool_] = (ancestors == node).any(axis=1)
        for span in tree.made_of[node - made] if node >= made else ():
            found |= ((ancestors >= span.start) & (ancestors < span.stop)).any(axis=1)
        return found

    alike = nodes_alike(tree.labels)
    own = {node: generalizes(node) for node in {other for node in shown.tolist() for other in alike[node]}}
    rows = [np.logical_or.reduce([own[other] for other in alike[node]]) for node in shown.tolist()]
    return np.array(rows, np.bool_).reshape(len(shown), len(held))
