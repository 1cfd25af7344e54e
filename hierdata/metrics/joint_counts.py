"""How sensitive values and published keys occur together, at the vertices of one type (DR section 4)."""

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
from hierdata.metrics.cells import Array, Cells, Lanes, Run, borders, joined, ordered, ranked, starts
from hierdata.metrics.numbering import Keys, Numbers, published_keys, published_vertices
from hierdata.metrics.rates import Split, rate, split
from hierdata.metrics.sums import Same, Sums
from hierdata.records.key_forms import Weight

_EXACT = 2**31
"""Up to here joint weights are made whole: that a rate is rational is told from the factors of numbers."""
_LARGEST = 2**62
_LOCAL = 2**31
"""No part has so many keys of its own, and no attribute that is joined with them so many values."""


@dataclass(frozen=True)
class Joint:
    """The weight of each pair of a key and a value that occurs; keys ascending, values too.

    A value is a number, or several in as many lanes. Weights are whole where they are ``exact``: all
    multiplied by one number.
    """

    key: Array
    value: Lanes
    weight: NDArray[Any]

    @property
    def exact(self) -> bool:
        """Whether weights are whole."""
        return self.weight.dtype.kind == "i"

    def given(self) -> Split:
        """The values by key. Nothing depends on how keys are numbered."""
        if not len(self.key):
            return Counter()
        first = starts([self.key])
        wholes = np.repeat(np.add.reduceat(self.weight, first), np.diff(first, append=len(self.key)))
        if not self.exact:
            # As complex numbers, since numpy sorts these several times as fast as pairs.
            pairs, times = np.unique(wholes + 1j * self.weight, return_counts=True)
            listed = ((pair.real, pair.imag) for pair in pairs.tolist())
            return Counter(dict(zip(listed, times.tolist(), strict=True)))
        found, at = ranked([wholes, self.weight])
        whole_parts = zip(wholes[found].tolist(), self.weight[found].tolist(), strict=True)
        return Counter(dict(zip(whole_parts, np.bincount(at).tolist(), strict=True)))


class Layout(NamedTuple):
    """How lanes name cells: so many for the key, then those of the value; or one for both.

    ``width`` is the number of values where a cell is key * width + value, else 0.
    """

    keys: int
    width: int


@dataclass(frozen=True)
class JointTally:
    """Keys, values and their weights at the vertices of a part of a release, ready to be added up.

    Weights are fractions: ``cells`` has their dividends by divisor. ``total`` counts the vertices, which is
    no less than the sum of weights. ``own`` is the number of keys where these are the part's own, None where
    other parts may have the same. It grows with the different pairs of a key and a value: see Cells.
    """

    layout: Same[Layout]
    cells: Sums[int, Cells]
    total: int
    own: int | None

    @classmethod
    def of(cls, key: Numbers, value: Numbers, over: Array, under: Array, total: int) -> JointTally:
        """The sum of the fractions over / under of each pair."""
        most = _LOCAL if key.local else key.span
        if most is not None and value.span is not None and most * value.span <= _LARGEST:
            layout, lanes = Layout(1, value.span), [key.lanes[0] * value.span + value.lanes[0]]
        else:
            layout, lanes = Layout(len(key.lanes), 0), [*key.lanes, *value.lanes]
        cells: Sums[int, Cells] = Sums()
        for bottom in np.unique(under).tolist():
            at = under == bottom
            cells[bottom] = Cells.of([lane[at] for lane in lanes], over[at])
        return cls(Same(layout), cells, total, key.span if key.local else None)

    def __add__(self, other: JointTally) -> JointTally:
        cells, own = other.cells, self.own
        if self.own is not None and other.own is not None:
            by = self.own * max(self.layout.value.width, 1)
            cells, own = (
                Sums({bottom: part.shifted(by) for bottom, part in cells.items()}),
                self.own + other.own,
            )
        return JointTally(self.layout + other.layout, self.cells + cells, self.total + other.total, own)

    @cached_property
    def rate(self) -> Fraction | float:
        """The discrimination rate of the values, given the keys."""
        given, _, weights = self._read
        return rate(given, split(weights))

    @cached_property
    def values(self) -> Mapping[int, float]:
        """The weight of each value over all keys, where values have one lane."""
        _, lanes, weights = self._read
        return dict(zip(lanes[0].tolist(), weights, strict=True)) if lanes else {}

    @cached_property
    def learned(self) -> dict[int, Any]:
        """What metrics have learned of it, for those that come after."""
        return {}

    def joints(self) -> Iterator[Joint]:
        """All pairs, some keys at a time where weights are whole."""
        bottoms = sorted(self.cells)
        scale = math.lcm(*bottoms)
        width = max(self.layout.value.width, 1)
        cells = [self.cells[bottom] for bottom in bottoms]
        if scale > 1 and scale * self.total > _EXACT:
            yield self._joint(bottoms, [own.runs for own in cells], None)
        elif cells:
            for low, high in borders(cells, width):
                runs = [[run.between(low, high) for run in own.runs] for own in cells]
                if any(len(run) for own in runs for run in own):
                    yield self._joint(bottoms, runs, scale)

    def _joint(self, bottoms: Sequence[int], runs: Sequence[Sequence[Run]], scale: int | None) -> Joint:
        """Runs by divisor made into one; without a scale their weights are no whole numbers."""
        lanes, over = joined([run for own in runs for run in own])
        under = np.repeat(bottoms, [sum(map(len, own)) for own in runs])
        (*lanes, under), over, at = ordered([*lanes, under], over)
        lanes, under, over = [lane[at] for lane in lanes], under[at], np.add.reduceat(over, at)
        at = starts(lanes)
        if scale is not None:
            weight = np.add.reduceat(over * (scale // under), at)
        else:
            # By ascending divisors within a pair, so that no sum depends on the order of vertices.
            cell = np.repeat(np.arange(len(at)), np.diff(at, append=len(over)))
            weight = np.bincount(cell, weights=over / under)
        keys, width = self.layout.value
        lanes = [lane[at] for lane in lanes]
        key, value = ([lanes[0] // width], [lanes[0] % width]) if width else (lanes[:keys], lanes[keys:])
        first = starts(key)
        return Joint(np.repeat(np.arange(len(first)), np.diff(first, append=len(at))), tuple(value), weight)

    @cached_property
    def _read(self) -> tuple[Split, Lanes, list[int] | list[float]]:
        """The values by key; each value, and its weight over all keys."""
        given: Counter[tuple[float, float]] = Counter()
        total: Cells | None = None
        for found in self.joints():
            given.update(found.given())
            if not found.exact:
                lanes, weight, first = ordered(found.value, found.weight)
                parts = np.split(weight, first[1:])
                return given, tuple(lane[first] for lane in lanes), [math.fsum(own) for own in parts]
            own = Cells.of(found.value, found.weight)
            total = own if total is None else total + own
        if total is None:
            return given, (), []
        run = Run.of(*joined(total.runs))
        return given, run.lanes, run.counts.tolist()


def joint(
    publication: Publication,
    forest: Forest,
    kind: int,
    position: int,
    keys: Keys,
    blocks: Sequence[int] | None = None,
    weight: Weight = "vertex",
) -> JointTally:
    """The blocks of a sensitive attribute's values and what is known, at the published vertices of a type.

    A vertex may have any value of its place with the share that the value has there: so it is under anatomy,
    and it comes to the same where all vertices of a place show the same. Missing values are left out. Without
    blocks each value is one.
    """
    vertices = published_vertices(publication, forest, kind)
    value = blocks_of(forest, kind, position, vertices, blocks)
    there = value.lanes[0] >= 0
    first, place = ranked([publication.place[vertices]])
    (held_at, block), holding = _tally(place[there], value.lanes[0][there])
    siblings = sharing(forest, vertices, weight)
    known = published_keys(publication, forest, kind, keys)
    of_key, key = ranked(known.lanes)
    (at_key, of_person), showing = _tally(_numbered(place, key), siblings)
    shown_at, shown_key = _unnumbered(at_key, key)
    # Every key that a place shows meets every value that the place holds.
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
    """The block of the sensitive value of each of these vertices, -1 where it is missing."""
    codes = forest.sensitive[forest.first_sensitive[vertices] + position].astype(np.int64)
    if blocks is None:
        return Numbers((codes,), len(forest.domains[kind][position].values))
    numbers = np.array([*blocks, -1], np.int64)  # the last for what is missing
    return Numbers((numbers[codes],), max(blocks, default=0) + 1)


def sharing(forest: Forest, vertices: Array, weight: Weight) -> Array:
    """How many of these vertices share the weight 1 with each of them, itself among them."""
    if weight == "vertex":
        return np.ones(len(vertices), np.int64)
    records = forest.record_of[vertices]
    return np.bincount(records, minlength=forest.record_count)[records]


def tied(key: Numbers, value: Numbers, shared: Array) -> JointTally:
    """Keys and values of vertices that have one of each, ``shared`` as above; without those that miss one."""
    there = np.ones(len(shared), np.bool_) if value.span is None else value.lanes[0] >= 0
    total = int(there.sum())
    return JointTally.of(key.of(there), value.of(there), np.ones(total, np.int64), shared[there], total)


def _numbered(left: Array, right: Array) -> Array:
    """One number for each pair; pairs in order have ascending numbers."""
    return left * (int(right.max(initial=0)) + 1) + right


def _unnumbered(pairs: Array, right: Array) -> tuple[Array, Array]:
    """The pairs again; ``right`` is what they were numbered with."""
    width = int(right.max(initial=0)) + 1
    return pairs // width, pairs % width


def _tally(left: Array, right: Array) -> tuple[tuple[Array, Array], Array]:
    """The pairs that occur, in order, and how often each does."""
    pairs = _numbered(left, right)
    found, rank = ranked([pairs])
    counts = np.bincount(rank, minlength=len(found)).astype(np.int64)
    return _unnumbered(pairs[found], right), counts
