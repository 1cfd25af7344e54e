"""Discrimination rate: how far published keys narrow down a sensitive attribute (DR, definitions 3, 4, 7)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction

from hierdata.domains.semantic_partition import SemanticPartition
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.forest import Forest
from hierdata.metrics.base import Figure, Metric
from hierdata.metrics.joint import Joint, Place, joint, known_to
from hierdata.metrics.rates import rate, split
from hierdata.publication import Publication
from hierdata.records.known import KeyForm, Weight
from hierdata.records.schema import Schema, VertexType


@dataclass(frozen=True)
class _Target:
    """A sensitive attribute, the keys that are known (None: the whole record), the block of each code."""

    path: str
    kind: int
    position: int
    keys: tuple[Place, ...] | None
    blocks: tuple[int, ...]


class DiscriminationRate(Metric):
    """The rate of each sensitive attribute X given the published keys Y together (erratum DR-8).

    DR_X(Y) = 1 - H(X|Y) / H(X), over the published vertices that hold X; 0: the keys tell nothing, 1: they
    tell all; lower is better. With a semantic partition X is the block of the value (SeDR). ``on`` limits it
    to some attributes. Missing values of X are left out.

    ``keys`` are the published quasi-identifiers of the attribute's own vertex (``own``), those and its
    ancestors' (``ancestors``), the whole record's published form with the place in it (``record``), or
    paths of the second. The rate never falls when keys are added. With the ``weight`` ``person`` each person
    counts 1, split over their published vertices of the type; the paper, which has tables only, knows no
    difference.

    Where sensitive values are published apart from their vertices (anatomy), a vertex may have any value of
    its place with the share that the value has there: X given Y is the mean of these shares over all
    vertices that show Y. A rate is a Fraction where it is rational, else a float; where weights have large
    denominators only the float is worked out.

    The paper also has rates of single values, which mix in how frequent a value is (erratum DR-7); they are
    no figure of a release: see ``rates.ValueRate``.
    """

    symbol = "DR"

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

    def figures(self, publication: Publication, forest: Forest) -> tuple[Figure, ...]:
        """See Metric.figures: one for each attribute, under its path."""
        return tuple(
            Figure(target.path, _rate(self._joint(publication, forest, target)), "share", 0, 1, "lower")
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
            if self._on is None or domain.path in self._on
        )

    def _target(self, schema: Schema, kind: VertexType, position: int, domain: SensitiveDomain) -> _Target:
        keys = known_to(schema, kind, self._keys, domain.path)
        whole = tuple(range(len(domain.values)))
        blocks = whole if self._partition is None else self._partition.block_of(domain)
        return _Target(domain.path, kind.index, position, keys, blocks)

    def _joint(self, publication: Publication, forest: Forest, target: _Target) -> Joint:
        return joint(
            publication, forest, target.kind, target.position, target.keys, target.blocks, self._weight
        )


def _rate(found: Joint) -> Fraction | float:
    return rate(found.given(), split(found.values().values()))
