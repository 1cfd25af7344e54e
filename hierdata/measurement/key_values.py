"""Single values of known keys: what each reveals of a sensitive attribute, under labels v1, v2 .. (DR-7)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Scalar
from hierdata.forest.forest import Forest
from hierdata.metrics.cells import Array, rank_cells
from hierdata.metrics.joint_counts import Joint, JointTally
from hierdata.metrics.numbering import Keys, Numbers
from hierdata.metrics.rates import Prior, ValueRate, split

Codes: TypeAlias = NDArray[np.int32]

MISSING = "missing"
"""The label of a missing value."""


def order_values(values: Collection[Scalar]) -> list[Scalar]:
    """Sort values for their labels: numbers ascending, then text, then missing."""
    ordered: list[Scalar] = sorted((value for value in values if value is not None), key=_order)
    return [*ordered, *([None] if None in values else [])]


def label_values(values: Sequence[Scalar]) -> list[str]:
    """Return the labels of values in their order, which say nothing of the values."""
    return [MISSING if value is None else f"v{number}" for number, value in enumerate(values, 1)]


def _order(value: Scalar) -> tuple[bool, int | Decimal, str]:
    return (True, 0, value) if isinstance(value, str) else (False, value or 0, "")


def plain_number(value: Fraction | float | None) -> dict[str, Any] | None:
    """Return a figure as plain data: the float, and the exact fraction as text where there is one."""
    if value is None:
        return None
    return {"value": float(value), "exact": str(value) if isinstance(value, Fraction) else None}


def plain_values(values: Mapping[str, ValueRate]) -> list[dict[str, Any]]:
    """Return the figures of values as plain data."""
    return [
        {
            "value": label,
            "count": rate.count if isinstance(rate.count, int) else float(rate.count),
            "share": plain_number(rate.share),
            "entropy": rate.entropy,
            "rate": plain_number(rate.rate),
            "refinement": plain_number(rate.refinement),
            "divergence": rate.divergence,
            "distance": plain_number(rate.distance),
        }
        for label, rate in values.items()
    ]


@dataclass(frozen=True)
class KeyLabels:
    """The labels of what is known of vertices: ``labels`` by the lanes of a key, ``names`` by path and label.

    Both are in the order of the values.

    Whole records have labels and no names: what is known of them is a form, not a value.
    """

    labels: Mapping[tuple[int, ...], str]
    names: Mapping[str, Mapping[str, Scalar]]

    @classmethod
    def of(
        cls,
        forest: Forest,
        shown: Array,
        nodes: NDArray[np.int32],
        vertices: Array,
        keys: Keys,
        known: Numbers,
    ) -> KeyLabels:
        """Label the ``known`` keys of some vertices of one type; ``shown`` and ``nodes`` as published."""
        first, _ = rank_cells(known.lanes)
        lanes = list(zip(*(lane[first].tolist() for lane in known.lanes), strict=True))
        if keys is None:
            return cls({lane: f"v{number}" for number, lane in enumerate(lanes, 1)}, {})
        columns, names = [], {}
        for path, values in _values_by_key(forest, shown, nodes, vertices[first], keys):
            ordered = order_values({(type(value), value): value for value in values}.values())
            labels = label_values(ordered)
            place_of = {(type(value), value): number for number, value in enumerate(ordered)}
            names[path] = dict(zip(labels, ordered, strict=True))
            columns.append(([place_of[type(value), value] for value in values], labels))
        order = sorted(range(len(lanes)), key=lambda row: [places[row] for places, _ in columns])
        return cls(
            {
                lanes[row]: ", ".join(labels[places[row]] for places, labels in columns) or "any"
                for row in order
            },
            names,
        )


def _values_by_key(
    forest: Forest, shown: Array, nodes: Codes, vertices: Array, keys: Sequence[tuple[int, int]]
) -> Iterator[tuple[str, list[Scalar]]]:
    """Yield for each key its path and what each vertex, or its ancestor, shows of it."""
    for kind, position in keys:
        holders = vertices
        while len(holders) and forest.type[holders[0]] != kind:
            holders = forest.parent[holders]
        held = nodes[forest.first_node[shown[holders]] + position]
        labels = forest.hierarchies[kind][position].labels
        path = forest.schema.types[kind].quasi[position].path
        yield path, [labels[node] for node in held.tolist()]


def rate_values(
    tally: JointTally, labels: Mapping[tuple[int, ...], str], usual: Mapping[int, float]
) -> dict[str, ValueRate]:
    """Return the figures of each known value, by label; ``usual`` are the weights of X to compare with."""
    prior, total = Prior(split(tally.values.values())), sum(usual.values())
    known: dict[bytes, ValueRate] = {}
    rates: dict[str, ValueRate] = {}
    for joint in tally.joints():
        for lane, row, cells in _rows(joint):
            if cells not in known:
                known[cells] = prior.value_rate(row, usual, total, joint.scale)
            rates[labels[lane]] = known[cells]
    return {label: rates[label] for label in labels.values() if label in rates}


def _rows(joint: Joint) -> Iterator[tuple[tuple[int, ...], dict[Any, Any], bytes]]:
    """Yield for each key its lanes, the weights of its values, and these as bytes."""
    lanes = zip(*(lane.tolist() for lane in joint.shown), strict=True)
    ends = np.cumsum(np.bincount(joint.key)).tolist()
    for lane, start, end in zip(lanes, [0, *ends], ends, strict=False):
        value, weight = joint.value[0][start:end], joint.weight[start:end]
        yield (
            lane,
            dict(zip(value.tolist(), weight.tolist(), strict=True)),
            value.tobytes() + weight.tobytes(),
        )
