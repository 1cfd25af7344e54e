"""What somebody who knows published keys learns of each sensitive attribute (DR sections 4.3 and 6.1)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from hierdata.domains.semantic_partition import SemanticPartition
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.metrics.base import Figure, Metric, Question, Tallies
from hierdata.metrics.joint_counts import JointTally, blocks_of, joint, sharing, tied
from hierdata.metrics.numbering import (
    Keys,
    known_to,
    original_keys,
    published_forms,
    published_keys,
    published_vertices,
)
from hierdata.metrics.sums import Same
from hierdata.records.key_forms import KeyForm, Weight
from hierdata.records.schema import Schema, VertexType


@dataclass(frozen=True)
class Target:
    """A sensitive attribute X, the keys that are known, the block of each code (None: each is its own)."""

    path: str
    kind: int
    position: int
    keys: Keys
    blocks: tuple[int, ...] | None
    weight: Weight


@dataclass(frozen=True)
class Known:
    """X and the published keys Y, over the published vertices: a question."""

    target: Target

    def __call__(self, publication: Publication, forest: Forest) -> JointTally:
        """The answer of a part."""
        own = self.target
        return joint(publication, forest, own.kind, own.position, own.keys, own.blocks, own.weight)


@dataclass(frozen=True)
class Usual:
    """X and the same keys O of the original collection, over all of its vertices: a question."""

    target: Target

    def __call__(self, publication: Publication, forest: Forest) -> JointTally:
        """The answer of a part."""
        own = self.target
        original = forest if publication.original is None else publication.original
        vertices = np.flatnonzero(original.type == own.kind)
        key = original_keys(publication, original, own.kind, own.keys)
        value = blocks_of(original, own.kind, own.position, vertices, own.blocks)
        return tied(key, value, sharing(original, vertices, own.weight))


@dataclass(frozen=True)
class Linked:
    """The keys O of each published vertex in the original, and what is published of them: a question.

    Whoever asks it makes sure that vertices are linked to their originals.
    """

    kind: int
    keys: Keys
    weight: Weight

    @classmethod
    def of(cls, target: Target) -> Linked:
        """What is asked of a target: the same for all attributes of one type."""
        return cls(target.kind, target.keys, target.weight)

    def __call__(self, publication: Publication, forest: Forest) -> JointTally:
        """The answer of a part. Raises ValueError for a publication of other vertices."""
        if publication.original is not None:
            raise ValueError("no published vertex is linked to its original")
        vertices = published_vertices(publication, forest, self.kind)
        there = publication.place[forest.type == self.kind] >= 0
        was = original_keys(publication, forest, self.kind, self.keys).of(there)
        shown = (
            published_forms(publication, forest, self.kind)
            if self.keys is None
            else published_keys(publication, forest, self.kind, self.keys)
        )
        return tied(shown, was, sharing(forest, vertices, self.weight))


@dataclass(frozen=True)
class _Asked:
    """Which targets a risk has: a question."""

    on: tuple[str, ...] | None
    keys: KeyForm | Sequence[str]
    partition: SemanticPartition | None
    weight: Weight

    def __call__(self, publication: Publication, forest: Forest) -> Same[tuple[Target, ...]]:
        return Same(self.targets(forest.schema, forest.domains))

    def targets(self, schema: Schema, domains: Sequence[Sequence[SensitiveDomain]]) -> tuple[Target, ...]:
        return tuple(
            self._target(schema, kind, position, domain)
            for kind in schema.types
            for position, domain in enumerate(domains[kind.index])
            if self.on is None or domain.path in self.on
        )

    def _target(self, schema: Schema, kind: VertexType, position: int, domain: SensitiveDomain) -> Target:
        keys = known_to(schema, kind, self.keys, domain.path)
        blocks = None if self.partition is None else self.partition.block_of(domain)
        return Target(domain.path, kind.index, position, keys, blocks, self.weight)


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
    heading: ClassVar[str]
    """The head of its column in a table of what attackers learn."""
    asks: ClassVar[tuple[Callable[[Target], Question], ...]]
    """The questions about each attribute, whose answers ``learned`` is given."""

    def __init__(
        self,
        on: Collection[str] | None = None,
        keys: KeyForm | Sequence[str] = "ancestors",
        partition: SemanticPartition | None = None,
        weight: Weight = "vertex",
    ) -> None:
        self._asked = _Asked(
            None if on is None else tuple(on),
            keys if isinstance(keys, str) else tuple(keys),
            partition,
            weight,
        )

    @abstractmethod
    def learned(self, *answers: Any) -> Fraction | float:
        """The figure of one attribute from the answers."""

    def questions(self, forest: Forest) -> tuple[Question, ...]:
        """See Metric.questions."""
        targets = self.targets(forest.schema, forest.domains)
        return (self._asked, *(question for target in targets for question in self._about(target)))

    def figures(self, tallies: Tallies) -> tuple[Figure, ...]:
        """See Metric.figures: one for each attribute, under its path."""
        targets: Same[tuple[Target, ...]] = tallies[self._asked]
        return tuple(
            Figure(
                target.path,
                self.learned(*(tallies[question] for question in self._about(target))),
                self.unit,
                self.low,
                self.high,
                self.better,
            )
            for target in targets.value
        )

    def targets(self, schema: Schema, domains: Sequence[Sequence[SensitiveDomain]]) -> tuple[Target, ...]:
        """What is measured. Raises PolicyError for keys that stand elsewhere and partitions that do not fit.

        Each of ``domains`` stands by vertex type and attribute.
        """
        return self._asked.targets(schema, domains)

    def _about(self, target: Target) -> tuple[Question, ...]:
        return tuple(ask(target) for ask in self.asks)
