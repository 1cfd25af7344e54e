"""Discrimination rate: how far published keys narrow down a sensitive attribute (DR, definitions 3, 4, 7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierdata.domains.semantic_partition import SemanticPartition
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.errors import PolicyError
from hierdata.forest import Forest
from hierdata.metrics.base import Figure, Metric
from hierdata.metrics.rates import Split, rate, split
from hierdata.publication import Publication
from hierdata.records.schema import Role, Schema, VertexType


@dataclass(frozen=True)
class _Target:
    """A sensitive attribute, and the keys that somebody knows: vertex type and position of each."""

    path: str
    kind: int
    position: int
    keys: tuple[tuple[int, int], ...]
    blocks: tuple[int, ...]


class DiscriminationRate(Metric):
    """The rate of each sensitive attribute X given the published keys Y together (erratum DR-8).

    DR_X(Y) = 1 - H(X|Y) / H(X), over the published vertices that hold X; 0: the keys tell nothing, 1: they
    tell all; lower is better. With a semantic partition X is the block of the value (SeDR). Without ``keys``
    Y is every published quasi-identifier of the attribute's own vertex and of those above it: the rate never
    falls when keys are added. ``on`` limits it to one attribute. Missing values of X are left out.

    Where sensitive values are published apart from their vertices (anatomy), a vertex may have any value of
    its place with the share that the value has there: X given Y is the mean of these shares over all
    vertices that show Y. Such a rate is a float; else it is a Fraction where it is rational.

    The paper also has rates of single values, which mix in how frequent a value is (erratum DR-7); they are
    no figure of a release: see ``rates.ValueRate``.
    """

    symbol = "DR"

    def __init__(
        self,
        on: str | None = None,
        keys: Sequence[str] | None = None,
        partition: SemanticPartition | None = None,
    ) -> None:
        self._on = on
        self._keys = keys
        self._partition = partition

    def figures(self, publication: Publication, forest: Forest) -> tuple[Figure, ...]:
        """See Metric.figures: one for each attribute, under its path."""
        return tuple(
            Figure(target.path, rate(*_splits(publication, forest, target)), "share", 0, 1, "lower")
            for target in self.targets(forest.schema, forest.domains)
        )

    def targets(self, schema: Schema, domains: Sequence[Sequence[SensitiveDomain]]) -> tuple[_Target, ...]:
        """What is measured. Raises PolicyError for keys that stand elsewhere and partitions that do not fit.

        Each of ``domains`` stands by vertex type and attribute.
        """
        return tuple(
            self._target(schema, kind, position, domain)
            for kind in schema.types
            for position, domain in enumerate(domains[kind.index])
            if self._on in (None, domain.path)
        )

    def _target(self, schema: Schema, kind: VertexType, position: int, domain: SensitiveDomain) -> _Target:
        known: dict[str, tuple[int, int]] = {}
        above: VertexType | None = kind
        while above is not None:
            for place, attribute in enumerate(above.of_role(Role.QUASI)):
                known[attribute.path] = (above.index, place)
            above = None if above.parent is None else schema.types[above.parent]
        for key in self._keys or ():
            if key not in known:
                raise PolicyError(
                    f"a key of {domain.path} is a quasi-identifier of its own vertex or of one above it",
                    path=key,
                )
        keys = tuple(known[key] for key in known if self._keys is None or key in self._keys)
        whole = tuple(range(len(domain.values)))
        blocks = whole if self._partition is None else self._partition.block_of(domain)
        return _Target(domain.path, kind.index, position, keys, blocks)


def _splits(publication: Publication, forest: Forest, target: _Target) -> tuple[Split, Split]:
    """The values by key, and the values altogether."""
    vertices = np.flatnonzero((publication.place >= 0) & (forest.type == target.kind))
    codes = forest.sensitive[forest.first_sensitive[vertices] + target.position]
    there = codes >= 0
    blocks = np.array(target.blocks, np.int64)[codes[there]]
    places, place = np.unique(publication.place[vertices], return_inverse=True)
    (held_at, block), holding = _pairs(place[there], blocks)
    (shown_at, key), showing = _pairs(place, _key_of(publication, forest, target, vertices))
    # Every key that a place shows meets every value that the place holds.
    holds = np.bincount(held_at, minlength=len(places))
    first = np.cumsum(holds) - holds
    met = holds[shown_at]
    of_shown = np.repeat(np.arange(len(shown_at)), met)
    of_held = first[shown_at[of_shown]] + np.arange(len(of_shown)) - np.repeat(np.cumsum(met) - met, met)
    share = showing / np.bincount(place, minlength=len(places))[shown_at]
    width = max(target.blocks, default=0) + 1
    joint, cell = np.unique(key[of_shown] * width + block[of_held], return_inverse=True)
    parts = np.bincount(cell, weights=share[of_shown] * holding[of_held])
    wholes = np.bincount(joint // width, weights=parts)[joint // width] if len(parts) else parts
    # As complex numbers, since numpy sorts these several times as fast as pairs.
    sizes, times = np.unique(wholes + 1j * parts, return_counts=True)
    number = int if len(showing) == len(places) else float  # counts, where each place shows one key
    left: Counter[tuple[float, float]] = Counter()
    for size, count in zip(sizes.tolist(), times.tolist(), strict=True):
        left[number(size.real), number(size.imag)] = count
    return left, split(np.bincount(blocks).tolist())


def _pairs(
    left: NDArray[np.int64], right: NDArray[np.int64]
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]:
    """The pairs that occur, in order, and how often each does."""
    width = int(right.max(initial=0)) + 1
    pairs, counts = np.unique(left * width + right, return_counts=True)
    return (pairs // width, pairs % width), counts


def _key_of(
    publication: Publication, forest: Forest, target: _Target, vertices: NDArray[np.int64]
) -> NDArray[np.int64]:
    """For each vertex the number of what it and those above it show at the keys."""
    found = np.zeros(len(vertices), np.int64)
    own, kind = vertices, target.kind
    while True:
        first = forest.first_node[publication.shown[own]]
        for position in (position for of, position in target.keys if of == kind):
            labels = _label_numbers(forest, kind, position)
            shown = labels[publication.nodes[first + position]]
            found = np.unique(found * len(labels) + shown, return_inverse=True)[1].astype(np.int64)
        parent = forest.schema.types[kind].parent
        if parent is None:
            return found
        own, kind = forest.parent[own], parent


def _label_numbers(forest: Forest, kind: int, position: int) -> NDArray[np.int64]:
    """For each node a number that nodes share if they are published alike (a chain of single children)."""
    numbers: dict[tuple[type, object], int] = {}
    labels = forest.hierarchies[kind][position].labels
    return np.array([numbers.setdefault((type(label), label), len(numbers)) for label in labels], np.int64)
