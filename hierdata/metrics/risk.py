"""What an attacker who knows published keys learns of each sensitive attribute (DR 4.3 and 6.1)."""

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
from hierdata.metrics.joint_counts import JointTally, blocks_of, count_sharing, joint, tie_values
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
class RiskTarget:
    """A sensitive attribute X, the known keys, and the block of each code (None: each is its own)."""

    path: str
    kind: int
    position: int
    keys: Keys
    blocks: tuple[int, ...] | None
    weight: Weight


@dataclass(frozen=True)
class Known:
    """A question: X and the published keys Y, over the published vertices."""

    target: RiskTarget

    def __call__(self, publication: Publication, forest: Forest) -> JointTally:
        """Answer for a part."""
        own = self.target
        return joint(publication, forest, own.kind, own.position, own.keys, own.blocks, own.weight)


@dataclass(frozen=True)
class Usual:
    """A question: X and the same keys O in the original collection, over all of its vertices."""

    target: RiskTarget

    def __call__(self, publication: Publication, forest: Forest) -> JointTally:
        """Answer for a part."""
        own = self.target
        original = forest if publication.original is None else publication.original
        vertices = np.flatnonzero(original.type == own.kind)
        key = original_keys(publication, original, own.kind, own.keys)
        value = blocks_of(original, own.kind, own.position, vertices, own.blocks)
        return tie_values(key, value, count_sharing(original, vertices, own.weight))


@dataclass(frozen=True)
class Linked:
    """A question: the original keys O of each published vertex, and the published ones.

    The caller must ensure that vertices are linked to their originals.
    """

    kind: int
    keys: Keys
    weight: Weight

    @classmethod
    def of(cls, target: RiskTarget) -> Linked:
        """Build the question about a target; it is the same for all attributes of one type."""
        return cls(target.kind, target.keys, target.weight)

    def __call__(self, publication: Publication, forest: Forest) -> JointTally:
        """Answer for a part. Raises ValueError if vertices are not linked to their originals."""
        if publication.original is not None:
            raise ValueError("published vertices are not linked to their originals")
        vertices = published_vertices(publication, forest, self.kind)
        there = publication.equivalence_position[forest.type == self.kind] >= 0
        was = original_keys(publication, forest, self.kind, self.keys).of(there)
        shown = (
            published_forms(publication, forest, self.kind)
            if self.keys is None
            else published_keys(publication, forest, self.kind, self.keys)
        )
        return tie_values(shown, was, count_sharing(forest, vertices, self.weight))


@dataclass(frozen=True)
class _RiskTargets:
    """A question: the targets of a risk."""

    on: tuple[str, ...] | None
    keys: KeyForm | Sequence[str]
    partition: SemanticPartition | None
    weight: Weight

    def __call__(self, publication: Publication, forest: Forest) -> Same[tuple[RiskTarget, ...]]:
        return Same(self.targets(forest.schema, forest.domains))

    def targets(self, schema: Schema, domains: Sequence[Sequence[SensitiveDomain]]) -> tuple[RiskTarget, ...]:
        return tuple(
            self._target(schema, kind, position, domain)
            for kind in schema.types
            for position, domain in enumerate(domains[kind.index])
            if self.on is None or domain.path in self.on
        )

    def _target(self, schema: Schema, kind: VertexType, position: int, domain: SensitiveDomain) -> RiskTarget:
        keys = known_to(schema, kind, self.keys, domain.path)
        blocks = None if self.partition is None else self.partition.block_of(domain)
        return RiskTarget(domain.path, kind.index, position, keys, blocks, self.weight)


class Risk(Metric):
    """What an attacker who knows the published keys Y learns of each sensitive attribute X.

    ``on`` limits it to some attributes. With a semantic partition X is the block of the value (SeDR). Missing
    values of X are left out.

    ``keys`` are the published quasi-identifiers of the attribute's own vertex (``own``), these and its
    ancestors' (``ancestors``), the whole record's published form with the position in it (``record``), or
    paths among those of ``ancestors``. With the ``weight`` ``person`` each person counts 1, divided among
    their vertices of the type; the paper has only tables, where there is no difference.

    If sensitive values are published apart from their vertices (anatomy), a vertex has each value of its
    equivalence position with the share of the value there: X given Y is the mean of these shares over all
    vertices that show Y. In the original every vertex has its own value. A figure is a Fraction if it is
    rational, else a float; if weights have large denominators, only the float is computed.
    """

    unit: ClassVar[str] = "share"
    low: ClassVar[int] = 0
    high: ClassVar[int | None] = 1
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    heading: ClassVar[str]
    """The heading of its column in the table of what attackers learn."""
    asks: ClassVar[tuple[Callable[[RiskTarget], Question], ...]]
    """Builders of the questions about an attribute; ``compute_figure`` receives the answers."""

    def __init__(
        self,
        on: Collection[str] | None = None,
        keys: KeyForm | Sequence[str] = "ancestors",
        partition: SemanticPartition | None = None,
        weight: Weight = "vertex",
    ) -> None:
        self._asked = _RiskTargets(
            None if on is None else tuple(on),
            keys if isinstance(keys, str) else tuple(keys),
            partition,
            weight,
        )

    @abstractmethod
    def compute_figure(self, *answers: Any) -> Fraction | float:
        """Compute the figure of one attribute from the answers."""

    def questions(self, forest: Forest) -> tuple[Question, ...]:
        """See Metric.questions."""
        targets = self.targets(forest.schema, forest.domains)
        return (self._asked, *(question for target in targets for question in self._about(target)))

    def figures(self, tallies: Tallies) -> tuple[Figure, ...]:
        """See Metric.figures: one for each attribute, under its path."""
        targets: Same[tuple[RiskTarget, ...]] = tallies[self._asked]
        return tuple(
            Figure(
                target.path,
                self.compute_figure(*(tallies[question] for question in self._about(target))),
                self.unit,
                self.low,
                self.high,
                self.better,
            )
            for target in targets.value
        )

    def targets(self, schema: Schema, domains: Sequence[Sequence[SensitiveDomain]]) -> tuple[RiskTarget, ...]:
        """Return what is measured. ``domains`` are given by vertex type and attribute.

        Raises PolicyError for keys that are not at or above the vertex, and for partitions that do not fit.
        """
        return self._asked.targets(schema, domains)

    def _about(self, target: RiskTarget) -> tuple[Question, ...]:
        return tuple(ask(target) for ask in self.asks)
