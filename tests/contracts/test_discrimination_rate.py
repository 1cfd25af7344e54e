"""The discrimination rate beside its slow twin, and what the paper says of keys (erratum DR-8)."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Hashable
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from hierdata.domains.semantic_partition import SemanticPartition
from hierdata.engines.clustree import CluStree
from hierdata.errors import PolicyError
from hierdata.forest import Forest, Scope
from hierdata.metrics.discrimination_rate import DiscriminationRate
from hierdata.metrics.rates import conditional_entropy, discrimination_rate, entropy
from hierdata.privacy import KAnonymity
from hierdata.publication import Part, Publication, generalized, grouped
from hierdata.records.schema import Role
from tests.contracts.test_engines import collections
from tests.promises import bind
from tests.random_collections import VALUES, Collection

BLOCKS = {"low": VALUES[:3], "high": VALUES[3:]}
PARTITION = SemanticPartition(blocks=BLOCKS)
BUILT = collections()

each_collection = pytest.mark.parametrize("built", BUILT, ids=range(len(BUILT)))


def published(built: Collection, together: bool) -> Publication:
    """Classes of two, generalized, or with the values of a class apart from its vertices."""
    scope = Scope.of(built.forest)
    model = bind(built, KAnonymity(k=2))
    partition = CluStree().step(built.forest, scope, model, None, np.random.default_rng(1))
    part = Part("records", lambda: iter(()), 0)
    return (
        grouped(built.forest, (partition,), (part,))
        if together
        else generalized(built.forest, partition, part)
    )


def keys_above(forest: Forest, kind: int) -> list[tuple[int, int, str]]:
    """Vertex type, position and path of the quasi-identifiers of a type and of those above it."""
    own = forest.schema.types[kind]
    above = [] if own.parent is None else keys_above(forest, own.parent)
    return above + [(kind, at, one.path) for at, one in enumerate(own.of_role(Role.QUASI))]


def labels(
    publication: Publication, forest: Forest, vertex: int, keys: list[tuple[int, int, str]]
) -> Hashable:
    found = []
    while vertex >= 0:
        first = forest.first_node[publication.shown[vertex]]
        for kind, at, path in keys:
            if kind == forest.type[vertex]:
                node = publication.nodes[first + at]
                found.append((path, forest.hierarchies[kind][at].labels[node]))
        vertex = int(forest.parent[vertex])
    return tuple(found)


def twin(
    publication: Publication,
    forest: Forest,
    kind: int,
    at: int,
    keys: list[tuple[int, int, str]],
    blocks: bool,
) -> float:
    """1 - H(X|Y) / H(X): each vertex holds the values of its place, each with its share of the place."""
    places: dict[int, list[int]] = defaultdict(list)
    for vertex in range(forest.vertex_count):
        if forest.type[vertex] == kind and publication.place[vertex] >= 0:
            places[int(publication.place[vertex])].append(vertex)
    joint: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    for members in places.values():
        codes = [int(forest.sensitive[forest.first_sensitive[member] + at]) for member in members]
        values = [forest.domains[kind][at].values[code] for code in codes if code >= 0]
        for member in members:
            for value in values:
                shown = labels(publication, forest, member, keys)
                counted: Hashable = str(value) in BLOCKS["low"] if blocks else value
                joint[shown][counted] += Fraction(1, len(members))  # type: ignore[assignment]

    def uncertainty(parts: Counter[Hashable]) -> float:
        whole = sum(parts.values())
        return -math.fsum(float(part) * math.log(part / whole) for part in parts.values())

    altogether: Counter[Hashable] = Counter()
    for parts in joint.values():
        altogether.update(parts)
    before = uncertainty(altogether)
    return 1 - math.fsum(map(uncertainty, joint.values())) / before if len(altogether) > 1 else 0


@each_collection
@pytest.mark.parametrize("together", [False, True])
def test_the_rate_is_that_of_the_twin(built: Collection, together: bool) -> None:
    forest, rng = built.forest, random.Random(3)
    publication = published(built, together)
    for kind, domains in enumerate(forest.domains):
        for at, domain in enumerate(domains):
            known = keys_above(forest, kind)
            for keys in (None, rng.sample(known, rng.randint(1, len(known))) if known else None):
                for partition in (None, PARTITION):
                    paths = None if keys is None else [path for _, _, path in keys]
                    metric = DiscriminationRate(domain.path, paths, partition)
                    (figure,) = metric.figures(publication, forest)
                    chosen = known if keys is None else keys
                    expected = twin(publication, forest, kind, at, chosen, partition is not None)
                    assert math.isclose(figure.value, expected, abs_tol=1e-12)
                    if not together and isinstance(figure.value, float):
                        assert 0 < figure.value < 1


@each_collection
def test_the_rate_never_falls_when_keys_are_added(built: Collection) -> None:
    forest, publication = built.forest, published(built, together=False)
    for kind, domains in enumerate(forest.domains):
        paths = [path for _, _, path in keys_above(forest, kind)]
        for domain in domains:
            rates = [
                float(DiscriminationRate(domain.path, paths[:count]).figures(publication, forest)[0].value)
                for count in range(1, len(paths) + 1)
            ]
            assert all(less <= more + 1e-12 for less, more in pairwise(rates))


def test_keys_elsewhere_and_partitions_that_miss_a_value_are_refused() -> None:
    built = next(one for one in BUILT if one.forest.domains[0])
    forest = built.forest
    elsewhere = DiscriminationRate(keys=["$.nowhere"])
    with pytest.raises(PolicyError, match=r"\$\.nowhere: a key of"):
        elsewhere.targets(forest.schema, forest.domains)
    short = DiscriminationRate(partition=SemanticPartition(blocks={"low": VALUES[:3]}))
    with pytest.raises(PolicyError, match="the partition must have each"):
        short.targets(forest.schema, forest.domains)


# On counts


def test_constant_attributes_and_empty_tables_tell_nothing() -> None:
    assert discrimination_rate([{"a": 3}, {"a": 5}]) == 0
    assert discrimination_rate([]) == entropy([]) == conditional_entropy([]) == 0


def test_exact_where_it_is_rational() -> None:
    assert discrimination_rate([{"a": 2, "b": 2}, {"a": 1, "b": 1}]) == Fraction(0)
    assert discrimination_rate([{"a": 2}, {"b": 4}]) == Fraction(1)
    halves = [{"a": 1, "b": 1}, {"c": 1, "d": 1}]
    assert discrimination_rate(halves) == Fraction(1, 2)
    assert isinstance(discrimination_rate([{"a": 1, "b": 2}, {"a": 2, "b": 2}]), float)


def test_rates_between_zero_and_one_in_floats() -> None:
    """Every table of two keys and two values up to four, beside logarithms as they are printed."""
    for a, b, c, d in np.ndindex(5, 5, 5, 5):
        rows = [{"x": a, "y": b}, {"x": c, "y": d}]
        found = discrimination_rate(rows)
        before = entropy([a + c, b + d])
        expected = 1 - conditional_entropy(rows) / before if before else 0
        assert math.isclose(found, expected, abs_tol=1e-12)
        assert 0 <= found <= 1


def test_rare_values_among_millions_keep_their_digits() -> None:
    """One of ten million: a sum that cancels would keep half of the digits."""
    size = 10_000_000
    assert math.isclose(
        entropy([1, size - 1]) * size, math.log2(size) + (size - 1) / size / math.log(2), rel_tol=1e-6
    )
    assert discrimination_rate([{"a": 1}, {"b": size - 1}]) == 1
