"""Joint counts of sensitive values and published keys at the vertices of one type (DR section 4)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.metrics.base import Same, Sums
from hierdata.metrics.cells import (
    Array,
    CellRun,
    Cells,
    Lanes,
    borders,
    join_runs,
    order_cells,
    rank_cells,
    starts,
)
from hierdata.metrics.numbering import Keys, Numbers, published_keys, published_vertices
from hierdata.metrics.rates import Split, rate, split
from hierdata.records.schema import Weight

_EXACT = 2**31
"""Up to here joint weights are scaled to integers, whose factors decide whether a rate is rational."""
_LARGEST = 2**62
_LOCAL = 2**31
"""An exclusive bound on a part's local keys, and on the values of an attribute joined with them."""


@dataclass(frozen=True)
class Joint:
    """The weight of each pair of a key and a value that occurs, sorted by key, then value.

    A value is one number, or several, one per lane. ``exact`` weights are integers: all were multiplied by
    ``scale``. ``shown`` has the lanes of each key, by the key's number here.
    """

    key: Array
    value: Lanes
    weight: NDArray[Any]
    shown: Lanes = ()
    scale: int = 1

    @property
    def exact(self) -> bool:
        """Whether weights are integers."""
        return self.weight.dtype.kind == "i"

    def split_by_key(self) -> Split:
        """Return how the values split by key; the numbering of keys does not matter."""
        if not len(self.key):
            return Counter()
        first = starts([self.key])
        wholes = np.repeat(np.add.reduceat(self.weight, first), np.diff(first, append=len(self.key)))
        if not self.exact:
            # As complex numbers, since numpy sorts these several times as fast as pairs.
            pairs, times = np.unique(wholes + 1j * self.weight, return_counts=True)
            listed = ((pair.real, pair.imag) for pair in pairs.tolist())
            return Counter(dict(zip(listed, times.tolist(), strict=True)))
        distinct, number = rank_cells([wholes, self.weight])
        whole_parts = zip(wholes[distinct].tolist(), self.weight[distinct].tolist(), strict=True)
        return Counter(dict(zip(whole_parts, np.bincount(number).tolist(), strict=True)))


class LaneLayout(NamedTuple):
    """How lanes name cells: ``keys`` lanes for the key, then those of the value, or one lane for both.

    ``width`` is the number of values if a cell is key * width + value, else 0.
    """

    keys: int
    width: int


@dataclass(frozen=True)
class JointTally:
    """Keys, values and their weights at the vertices of a part of a release; tallies can be added.

    Weights are fractions: ``cells`` has their numerators by denominator. ``total`` is the number of vertices,
    at least the sum of weights. ``local_keys`` is the number of keys if these are local to the part, None
    if other parts may have the same keys. Its size grows with the number of distinct pairs of a key and a
    value: see Cells.
    """

    layout: Same[LaneLayout]
    cells: Sums[int, Cells]
    total: int
    local_keys: int | None

    @classmethod
    def of(cls, key: Numbers, value: Numbers, over: Array, under: Array, total: int) -> JointTally:
        """Sum the fractions over / under of each pair."""
        most = _LOCAL if key.local else key.span
        if most is not None and value.span is not None and most * value.span <= _LARGEST:
            layout, lanes = LaneLayout(1, value.span), [key.lanes[0] * value.span + value.lanes[0]]
        else:
            layout, lanes = LaneLayout(len(key.lanes), 0), [*key.lanes, *value.lanes]
        cells: Sums[int, Cells] = Sums()
        for bottom in np.unique(under).tolist():
            has_divisor = under == bottom
            cells[bottom] = Cells.of([lane[has_divisor] for lane in lanes], over[has_divisor])
        return cls(Same(layout), cells, total, key.span if key.local else None)

    def __add__(self, other: JointTally) -> JointTally:
        cells, keys = other.cells, self.local_keys
        if self.local_keys is not None and other.local_keys is not None:
            by = self.local_keys * max(self.layout.value.width, 1)
            cells = Sums({bottom: part.shift_lanes(by) for bottom, part in cells.items()})
            keys = self.local_keys + other.local_keys
        return JointTally(self.layout + other.layout, self.cells + cells, self.total + other.total, keys)

    @property
    def by_key(self) -> Split:
        """How the values split by key."""
        return self._decoded_counts[0]

    @cached_property
    def rate(self) -> Fraction | float:
        """The discrimination rate of the values, given the keys."""
        return rate(self.by_key, split(self._decoded_counts[2]))

    @cached_property
    def values(self) -> Mapping[int, float]:
        """The weight of each value over all keys, where values have one lane."""
        _, lanes, weights = self._decoded_counts
        return dict(zip(lanes[0].tolist(), weights, strict=True)) if lanes else {}

    @cached_property
    def metric_cache(self) -> dict[int, Any]:
        """Results that metrics share, such as the distances of ``risk``."""
        return {}

    def joints(self) -> Iterator[Joint]:
        """Yield all pairs; with integer weights, some keys at a time."""
        bottoms = sorted(self.cells)
        scale = math.lcm(*bottoms)
        width = max(self.layout.value.width, 1)
        cells = [self.cells[bottom] for bottom in bottoms]
        if scale > 1 and scale * self.total > _EXACT:
            yield self._joint(bottoms, [of_divisor.runs for of_divisor in cells], None)
        elif cells:
            for low, high in borders(cells, width):
                runs = [[run.slice_lanes(low, high) for run in of_divisor.runs] for of_divisor in cells]
                if any(len(run) for of_divisor in runs for run in of_divisor):
                    yield self._joint(bottoms, runs, scale)

    def _joint(self, bottoms: Sequence[int], runs: Sequence[Sequence[CellRun]], scale: int | None) -> Joint:
        """Join runs by divisor into one; without a scale their weights are floats."""
        lanes, over = join_runs([run for of_divisor in runs for run in of_divisor])
        under = np.repeat(bottoms, [sum(map(len, of_divisor)) for of_divisor in runs])
        (*lanes, under), over, at = order_cells([*lanes, under], over)
        lanes, under, over = [lane[at] for lane in lanes], under[at], np.add.reduceat(over, at)
        at = starts(lanes)
        if scale is not None:
            weight = np.add.reduceat(over * (scale // under), at)
        else:
            # Divisors ascend within a pair, so that no sum depends on the order of vertices.
            cell = np.repeat(np.arange(len(at)), np.diff(at, append=len(over)))
            weight = np.bincount(cell, weights=over / under)
        keys, width = self.layout.value
        lanes = [lane[at] for lane in lanes]
        key, value = ([lanes[0] // width], [lanes[0] % width]) if width else (lanes[:keys], lanes[keys:])
        first = starts(key)
        return Joint(
            np.repeat(np.arange(len(first)), np.diff(first, append=len(at))),
            tuple(value),
            weight,
            tuple(lane[first] for lane in key),
            scale or 1,
        )

    @cached_property
    def _decoded_counts(self) -> tuple[Split, Lanes, list[int] | list[float]]:
        """How the values split by key; the values, and the weight of each over all keys."""
        by_key: Counter[tuple[float, float]] = Counter()
        total: Cells | None = None
        for counted in self.joints():
            by_key.update(counted.split_by_key())
            if not counted.exact:
                lanes, weight, first = order_cells(counted.value, counted.weight)
                parts = np.split(weight, first[1:])
                return by_key, tuple(lane[first] for lane in lanes), [math.fsum(part) for part in parts]
            cells = Cells.of(counted.value, counted.weight)
            total = cells if total is None else total + cells
        if total is None:
            return by_key, (), []
        run = CellRun.of(*join_runs(total.runs))
        return by_key, run.lanes, run.counts.tolist()


def joint(
    publication: Publication,
    forest: Forest,
    kind: int,
    position: int,
    keys: Keys,
    blocks: Sequence[int] | None = None,
    weight: Weight = "vertex",
) -> JointTally:
    """Count the blocks of a sensitive attribute jointly with the keys, at the published vertices of a type.

    A vertex has each value of its equivalence position with the share of the value there. That is what
    anatomy shows; where all vertices of a position show the same, the result is the same as without shares.
    Missing values are left out. Without blocks each value is its own block.
    """
    vertices = published_vertices(publication, forest, kind)
    value = blocks_of(forest, kind, position, vertices, blocks)
    there = value.lanes[0] >= 0
    positions = publication.positions_of(forest.domains[kind][position].path)
    first, place = rank_cells([positions[vertices]])
    (held_at, block), holding = _tally(place[there], value.lanes[0][there])
    siblings = count_sharing(forest, vertices, weight)
    known = published_keys(publication, forest, kind, keys)
    of_key, key = rank_cells(known.lanes)
    (at_key, of_person), showing = _tally(_number_pairs(place, key), siblings)
    shown_at, shown_key = _split_pairs(at_key, key)
    # Pair every key that a position shows with every value that it holds.
    holds = np.bincount(held_at, minlength=len(first))
    met = holds[shown_at]
    of_shown = np.repeat(np.arange(len(shown_at)), met)
    start = np.cumsum(holds) - holds
    of_held = start[shown_at[of_shown]] + np.arange(len(of_shown)) - np.repeat(np.cumsum(met) - met, met)
    over = np.bincount(place, minlength=len(first))[shown_at] * of_person
    common = np.gcd(showing, over)
    return JointTally.of(
        known.of(of_key[shown_key[of_shown]]),
        Numbers((block[of_held],), value.span),
        (showing // common)[of_shown] * holding[of_held],
        (over // common)[of_shown],
        len(vertices),
    )


def blocks_of(
    forest: Forest, kind: int, position: int, vertices: Array, blocks: Sequence[int] | None
) -> Numbers:
    """Return the block of the sensitive value of each vertex, -1 if it is missing."""
    codes = forest.sensitive[forest.first_sensitive[vertices] + position].astype(np.int64)
    if blocks is None:
        return Numbers((codes,), len(forest.domains[kind][position].values))
    numbers = np.array([*blocks, -1], np.int64)  # the last for missing values
    return Numbers((numbers[codes],), max(blocks, default=0) + 1)


def count_sharing(forest: Forest, vertices: Array, weight: Weight) -> Array:
    """Return for each vertex how many of these vertices, itself included, share the weight 1."""
    if weight == "vertex":
        return np.ones(len(vertices), np.int64)
    records = forest.record_of[vertices]
    return np.bincount(records, minlength=forest.record_count)[records]


def tie_values(key: Numbers, value: Numbers, shared: Array) -> JointTally:
    """Count keys with values, one of each per vertex, without missing ones; ``shared``: count_sharing."""
    there = np.ones(len(shared), np.bool_) if value.span is None else value.lanes[0] >= 0
    total = int(there.sum())
    return JointTally.of(key.of(there), value.of(there), np.ones(total, np.int64), shared[there], total)


def _number_pairs(first: Array, second: Array) -> Array:
    """Number pairs so that sorted pairs have ascending numbers."""
    return first * (int(second.max(initial=0)) + 1) + second


def _split_pairs(pairs: Array, second: Array) -> tuple[Array, Array]:
    """Undo ``_number_pairs``; ``second`` is what the pairs were numbered with."""
    width = int(second.max(initial=0)) + 1
    return pairs // width, pairs % width


def _tally(first: Array, second: Array) -> tuple[tuple[Array, Array], Array]:
    """Return the distinct pairs, sorted, and the count of each."""
    pairs = _number_pairs(first, second)
    distinct, rank = rank_cells([pairs])
    counts = np.bincount(rank, minlength=len(distinct)).astype(np.int64)
    return _split_pairs(pairs[distinct], second), counts
