"""What somebody who knows published keys learns of each sensitive attribute (DR sections 4.3 and 6.1)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from hierdata.domains.semantic_partition import SemanticPartition
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.forest import Forest
from hierdata.metrics.base import Figure, Metric
from hierdata.metrics.joint import Joint, Place, forms_of, joint, keys_of, known_to, sharing, tied
from hierdata.metrics.rates import rate, split
from hierdata.metrics.skew import skew
from hierdata.publication import Publication
from hierdata.records.known import KeyForm, Weight
from hierdata.records.schema import Schema, VertexType


@dataclass(frozen=True)
class Target:
    """A sensitive attribute, the keys that are known (None: the whole record), the block of each code."""

    path: str
    kind: int
    position: int
    keys: tuple[Place, ...] | None
    blocks: tuple[int, ...]
    weight: Weight


@dataclass(frozen=True)
class Learned:
    """X is the sensitive attribute, Y the published keys, O the same keys of the original collection.

    - ``rate``: DR_X(Y), over the published vertices; ``before``: DR_X(O), over those of the original;
    - ``identity``: DR_O(Y), over the published vertices; None where none is linked to its original;
    - ``distance``, ``divergence``: the greatest of any y, each against X in the original (see ``skew``).
    """

    rate: Fraction | float
    before: Fraction | float
    identity: Fraction | float | None
    distance: Fraction | float
    divergence: float


class Risk(Metric):
    """What is learned of each sensitive attribute X by somebody who knows the published keys Y together.

    ``on`` limits it to some attributes. With a semantic partition X is the block of the value (SeDR). Missing
    values of X are left out.

    ``keys`` are the published quasi-identifiers of the attribute's own vertex (``own``), those and its
    ancestors' (``ancestors``), the whole record's published form with the place in it (``record``), or
    paths of the second. With the ``weight`` ``person`` each person counts 1, split over their vertices of
    the type; the paper, which has tables only, knows no difference.

    Where sensitive values are published apart from their vertices (anatomy), a vertex may have any value of
    its place with the share that the value has there: X given Y is the mean of these shares over all
    vertices that show Y. In the original every vertex has its own. A figure is a Fraction where it is
    rational, else a float; where weights have large denominators only the float is worked out.
    """

    unit: ClassVar[str] = "share"
    low: ClassVar[int] = 0
    high: ClassVar[int | None] = 1
    better: ClassVar[Literal["lower", "higher"]] = "lower"

    def __init__(
        self,
        on: Collection[str] | None = None,
        keys: KeyForm | Sequence[str] = "ancestors",
        partition: SemanticPartition | None = None,
        weight: Weight = "vertex",
    ) -> None:
        self._on = on
        self._keys = keys
        self._partition = partition
        self._weight = weight

    @abstractmethod
    def of(self, learned: Learned) -> Fraction | float:
        """The figure of one attribute."""

    def figures(self, publication: Publication, forest: Forest) -> tuple[Figure, ...]:
        """See Metric.figures: one for each attribute, under its path."""
        return tuple(
            Figure(
                target.path,
                self.of(_remembered(publication, forest, target)),
                self.unit,
                self.low,
                self.high,
                self.better,
            )
            for target in self.targets(forest.schema, forest.domains)
        )

    def targets(self, schema: Schema, domains: Sequence[Sequence[SensitiveDomain]]) -> tuple[Target, ...]:
        """What is measured. Raises PolicyError for keys that stand elsewhere and partitions that do not fit.

        Each of ``domains`` stands by vertex type and attribute.
        """
        return tuple(
            self._target(schema, kind, position, domain)
            for kind in schema.types
            for position, domain in enumerate(domains[kind.index])
            if self._on is None or domain.path in self._on
        )

    def _target(self, schema: Schema, kind: VertexType, position: int, domain: SensitiveDomain) -> Target:
        keys = known_to(schema, kind, self._keys, domain.path)
        whole = tuple(range(len(domain.values)))
        blocks = whole if self._partition is None else self._partition.block_of(domain)
        return Target(domain.path, kind.index, position, keys, blocks, self._weight)


def _remembered(publication: Publication, forest: Forest, target: Target) -> Learned:
    """All risks are worked out at once, and kept with the publication: each metric asks for one of them."""
    known = publication.learned.get((id(forest), target))
    if known is None:
        known = publication.learned[id(forest), target] = (forest, _learned(publication, forest, target))
    learned: Learned = known[1]
    return learned


def _learned(publication: Publication, forest: Forest, target: Target) -> Learned:
    original = forest if publication.original is None else publication.original
    before = _original(original, target)
    after = joint(
        publication, forest, target.kind, target.position, target.keys, target.blocks, target.weight
    )
    was = _identified(publication, forest, target) if publication.original is None else None
    identity = None if was is None else _rate(was)
    return Learned(_rate(after), _rate(before), identity, *skew(after, before.values()))


def _rate(found: Joint) -> Fraction | float:
    return rate(found.given(), split(found.values().values()))


def _original(forest: Forest, target: Target) -> Joint:
    """The blocks of a sensitive attribute's values and the same keys before anything was published."""
    vertices = np.flatnonzero(forest.type == target.kind)
    codes = forest.sensitive[forest.first_sensitive[vertices] + target.position]
    key = _originals(forest, target, vertices)
    blocks = np.array([*target.blocks, -1], np.int64)  # the last for what is missing
    return tied(key, blocks[codes], sharing(forest, vertices, target.weight), codes >= 0)


def _identified(publication: Publication, forest: Forest, target: Target) -> Joint:
    """What the known keys of each published vertex were, and what is published of them."""
    vertices = np.flatnonzero((publication.place >= 0) & (forest.type == target.kind))
    was = _originals(forest, target, vertices)
    shown = keys_of(publication, forest, target.kind, vertices, target.keys)
    if target.keys is None:  # a place of a group says less than is seen of its vertices
        forms = forms_of(publication, forest, target.kind, vertices)
        shown = shown * (int(forms.max(initial=0)) + 1) + forms
        shown = np.unique(shown, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return tied(shown, was, sharing(forest, vertices, target.weight), np.ones(len(vertices), np.bool_))


def _originals(forest: Forest, target: Target, vertices: NDArray[np.int64]) -> NDArray[np.int64]:
    """What is known of each vertex where the collection is published as it stands."""
    every = np.arange(forest.vertex_count)
    whole = Publication((), every, forest.nodes, every, every)
    if target.keys is None:
        return forms_of(whole, forest, target.kind, vertices)
    return keys_of(whole, forest, target.kind, vertices, target.keys)
