"""The form of what is published: vertices of one form cannot be told apart by what stands there and below."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from hierdata.document import Scalar
from hierdata.forest import Forest


def ranks(
    forest: Forest, shown: NDArray[np.int64], nodes: NDArray[np.int32], beside: Collection[int] = ()
) -> dict[int, int]:
    """The rank of the form of each vertex that is published as itself.

    v is published as ``shown[v]`` by ``nodes``, in the layout of ``Forest.nodes``. Two vertices have the same
    rank iff their subtrees are equal in vertex types, structure and labels. Ranks follow the hierarchies'
    nodes, never the order in the input. Vertices of the types ``beside`` do not belong to what is above them.
    """
    found: dict[int, int] = {}
    below: defaultdict[int, list[int]] = defaultdict(list)
    own = np.flatnonzero(shown == np.arange(forest.vertex_count))
    for kind in reversed(forest.schema.types):  # children have a later type than their parents
        alike = [_alike(tree.labels) for tree in forest.hierarchies[kind.index]]
        forms: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        for v in own[forest.type[own] == kind.index].tolist():
            first = forest.first_node[v]
            labels = nodes[first : first + len(alike)].tolist()
            forms[v] = (
                tuple(same[node] for same, node in zip(alike, labels, strict=True)),
                tuple(sorted(below.pop(v, ()))),
            )
        places = {form: place for place, form in enumerate(sorted(set(forms.values())))}
        for v, form in forms.items():
            found[v] = kind.index * forest.vertex_count + places[form]
            if kind.index not in beside:
                below[int(forest.parent[v])].append(found[v])
    return found


def _alike(labels: Sequence[Scalar]) -> list[int]:
    """For each node the first one with its label: a chain of single children may repeat one."""
    first: dict[tuple[type, Scalar], int] = {}
    return [
        first.setdefault((Decimal if isinstance(label, Decimal) else type(label), label), node)
        for node, label in enumerate(labels)
    ]
