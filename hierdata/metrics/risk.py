"""What an attacker who knows published keys learns of each sensitive attribute (DR 4.3 and 6.1).

``Risk`` is the base. Its metrics are figures of the same three questions: the published keys with the values
(``Known``), the original keys with the values (``Usual``), and both keys (``Linked``).

- ``DiscriminationRate``: how far published keys narrow down a sensitive attribute (definitions 3, 4, 7).
- ``BackgroundResistance``: resistance to homogeneity and background knowledge together (table 8).
- ``IdentityRisk``: how far published keys narrow down the original ones (table 6).
- ``Skewness``: by how much generalization lowered the discrimination rate (section 6.1).
- ``SkewnessDistance``, ``SkewnessDivergence``: the greatest distance and relative entropy of the values given
  one key from those of the original collection; no rate detects these (erratum DR-10).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from hierdata.domains.semantic_partition import SemanticPartition
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.metrics.base import Figure, Metric, Question, Same, Tallies
from hierdata.metrics.joint_counts import Joint, JointTally, blocks_of, count_sharing, joint, tie_values
from hierdata.metrics.numbering import (
    Keys,
    known_to,
    original_keys,
    published_forms,
    published_keys,
    published_vertices,
)
from hierdata.records.schema import KeyForm, Schema, VertexType, Weight

_Weights = NDArray[Any]
"""Integers or floats."""


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
        target = self.target
        site = target.kind, target.position
        return joint(publication, forest, *site, target.keys, target.blocks, target.weight)


@dataclass(frozen=True)
class Usual:
    """A question: X and the same keys O in the original collection, over all of its vertices."""

    target: RiskTarget

    def __call__(self, publication: Publication, forest: Forest) -> JointTally:
        """Answer for a part."""
        target = self.target
        original = forest if publication.original is None else publication.original
        vertices = np.flatnonzero(original.type == target.kind)
        key = original_keys(publication, original, target.kind, target.keys)
        value = blocks_of(original.as_given, target.kind, target.position, vertices, target.blocks)
        return tie_values(key, value, count_sharing(original, vertices, target.weight))


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


class DiscriminationRate(Risk):
    """The rate of each sensitive attribute X given the published keys Y together (erratum DR-8).

    DR_X(Y) = 1 - H(X|Y) / H(X), over the published vertices that have X. 0: the keys reveal nothing, 1: they
    reveal everything; lower is better. It is the paper's homogeneity risk (table 7). The rate never falls
    when keys are added. See Risk for keys, X and weights.

    The paper also has rates of single values, which depend on how frequent a value is (erratum DR-7); they
    are not figures of a release: see ``rates.ValueRate``.
    """

    symbol = "DR"
    heading = "rate"
    explanation = (
        "How far the published quasi-identifiers together narrow down a sensitive value: 0 where they tell "
        "nothing of it, 1 where they tell it."
    )
    asks = (Known,)

    def compute_figure(self, known: JointTally) -> Fraction | float:
        """See Risk.compute_figure."""
        return known.rate


class BackgroundResistance(Risk):
    """The share that background knowledge must supply: 1 - DR_X(Y), 0..1, higher is better.

    DR_X(Y) is the discrimination rate. 1: the published keys reveal nothing, so that everything must be known
    from elsewhere. See Risk for keys, X and weights.
    """

    symbol = "1 - DR"
    heading = "resistance"
    explanation = "1 minus the discrimination rate: what an attacker still has to know from elsewhere."
    better = "higher"
    asks = (Known,)

    def compute_figure(self, known: JointTally) -> Fraction | float:
        """See Risk.compute_figure."""
        return 1 - known.rate


class IdentityRisk(Risk):
    """The rate of the original keys O given the published ones Y: DR_O(Y) = 1 - H(O|Y) / H(O).

    Over all published vertices of the attribute's type; 0..1, lower is better. 1: the keys are published as
    they were; 0: Y reveals nothing of them. Constant keys have 0 (erratum DR-11). O is the combination of
    values of the known keys; for the whole record, its original form and the position in it. It depends on
    keys and weight, not on the values of X, so all attributes of a type have the same figure. It does not
    say whom of a population a key singles out; k-map bounds that.
    """

    symbol = "DR(O)"
    heading = "identity"
    explanation = (
        "How far the published quasi-identifiers narrow down what they were: 0 where they tell nothing of it,"
        " 1 where they are published as they were."
    )
    linked = True
    asks = (Linked.of,)

    def compute_figure(self, linked: JointTally) -> Fraction | float:
        """See Risk.compute_figure."""
        return linked.rate


class Skewness(Risk):
    """DR_X(O) - DR_X(Y): the rate of the original keys O, less that of the published keys Y, -1..1.

    Higher is better: it is what generalization took away, though the paper calls it the attacker's gain
    (erratum DR-10); skewness_distance and skewness_divergence measure the gain. DR_X(O) is over the whole
    original collection, so no vertex needs to be linked. Without suppression it is not negative: coarser keys
    never reveal more. See Risk for keys, X and weights.
    """

    symbol = "DR(O) - DR"
    heading = "skewness"
    explanation = (
        "By how much generalizing lowered the discrimination rate; it says nothing of how far the odds in a "
        "class are from those of the collection."
    )
    low = -1
    better = "higher"
    asks = (Known, Usual)

    def compute_figure(self, known: JointTally, usual: JointTally) -> Fraction | float:
        """See Risk.compute_figure."""
        return usual.rate - known.rate


class SkewnessDistance(Risk):
    """The greatest distance of X given any published key y from X in the original collection.

    Half the sum of |p(x|y) - p(x)|, 0..1, lower is better: t-closeness where all values are equally far
    apart, for the classes that the known keys define. p(x) is over the whole original collection.
    See Risk for keys, X and weights.
    """

    symbol = "t"
    heading = "distance"
    explanation = (
        "How far the odds of sensitive values where the published quasi-identifiers tell most are from those "
        "of the whole collection: half the sum of the differences of shares."
    )
    asks = (Known, Usual)

    def compute_figure(self, known: JointTally, usual: JointTally) -> Fraction | float:
        """See Risk.compute_figure."""
        return _skew(known, usual)[0]


class SkewnessDivergence(Risk):
    """The greatest relative entropy of X given any published key y from X in the original collection.

    The sum of p(x|y) log2 (p(x|y) / p(x)), in bits, 0 and more, lower is better. p(x) is over the whole
    original collection. See Risk for keys, X and weights.
    """

    symbol = "D"
    heading = "divergence"
    explanation = "The same difference as relative entropy, in bits."
    unit = "bits"
    high = None
    asks = (Known, Usual)

    def compute_figure(self, known: JointTally, usual: JointTally) -> Fraction | float:
        """See Risk.compute_figure."""
        return _skew(known, usual)[1]


def _skew(shown: JointTally, usual: JointTally) -> tuple[Fraction | float, float]:
    """Return the greatest distance and the greatest divergence of any key from the values of the original.

    Distance: half the sum of |p(x|y) - p(x)|, 0..1, a Fraction if weights are integers. Divergence: the
    relative entropy, the sum of p(x|y) log2 (p(x|y) / p(x)), in bits. Both are 0 without keys. Every value in
    ``shown`` must be in ``usual``. Both are computed together and cached.
    """
    known = shown.metric_cache.get(id(usual))
    if known is None:
        of_some = [_skew_given(some, usual.values) for some in shown.joints()] or [(Fraction(0), 0.0)]
        known = max(distance for distance, _ in of_some), max(divergence for _, divergence in of_some)
        shown.metric_cache[id(usual)] = (usual, known)
        return known
    answer: tuple[Fraction | float, float] = known[1]
    return answer


def _skew_given(counted: Joint, before: Mapping[int, float]) -> tuple[Fraction | float, float]:
    """Return both for some of the keys."""
    key, value = counted.key, counted.value[0]
    whole = counted.exact and all(isinstance(weight, int) for weight in before.values())
    kind: type = np.int64 if whole else np.float64
    weight: _Weights = counted.weight.astype(kind)
    usual: _Weights = np.zeros(int(value.max()) + 1, kind)
    for code, often in before.items():
        if code < len(usual):
            usual[code] = often
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    sizes = np.add.reduceat(weight, starts)
    total = sum(before.values()) if whole else math.fsum(before.values())
    return (
        _distance(key, weight, usual[value], sizes, total),
        _divergence(key, weight, usual[value], sizes, total),
    )


def _distance(
    key: NDArray[np.int64], weight: _Weights, usual: _Weights, sizes: _Weights, total: float
) -> Fraction | float:
    if weight.dtype.kind == "f":
        above = np.maximum(weight / sizes[key] - usual / total, 0)
        return min(float(np.bincount(key, weights=above).max()), 1.0)
    # Weights of a joint sum to less than 2^31 (or to the number of vertices), so products and sums fit.
    above = np.maximum(weight * int(total) - usual * sizes[key], 0)
    of_key = np.zeros(len(sizes), np.int64)
    np.add.at(of_key, key, above)
    size, at = np.unique(sizes, return_inverse=True)
    most = np.zeros(len(size), np.int64)
    np.maximum.at(most, at.reshape(-1), of_key)
    pairs = zip(most.tolist(), size.tolist(), strict=True)
    return max(Fraction(top, records * int(total)) for top, records in pairs)


def _divergence(
    key: NDArray[np.int64], weight: _Weights, usual: _Weights, sizes: _Weights, total: float
) -> float:
    """Compute each distinct term once: most keys have the same few terms."""
    columns = (sizes[key], weight, usual)
    number = np.zeros(len(key), np.int64)
    for column in columns:
        values, rank = np.unique(column, return_inverse=True)
        number = number * len(values) + rank.reshape(-1)
    _, first, term = np.unique(number, return_index=True, return_inverse=True)
    triples = zip(*(column[first].tolist() for column in columns), strict=True)
    terms = [part / size * math.log2(part * total / (often * size)) for size, part, often in triples]
    gained = np.bincount(key, weights=np.array(terms)[term.reshape(-1)])
    return max(float(gained.max()), 0.0)
