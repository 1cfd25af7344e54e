"""The discrimination rate beside its slow twin, and what the paper says of keys (erratum DR-8)."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from fractions import Fraction
from itertools import count, pairwise, product
from typing import Any, get_args

import numpy as np
import pytest

from hierdata.domains.semantic_partition import SemanticCover, SemanticPartition
from hierdata.engines.base import StepInput
from hierdata.engines.clustree.engine import CluStree
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.publication import Publication, PublishedPart, publish_generalized, publish_grouped
from hierdata.ground.errors import PolicyError
from hierdata.metrics.joint_counts import Joint, JointTally, joint
from hierdata.metrics.numbering import known_to
from hierdata.metrics.rates import entropy
from hierdata.metrics.risk import DiscriminationRate
from hierdata.privacy import KAnonymity
from hierdata.records.schema import KeyForm, Weight
from tests.contracts.test_engines import collections
from tests.naive_joint import Reader, Table
from tests.promises import bind
from tests.random_collections import VALUES, Collection, collection
from tests.rates_of_counts import conditional_entropy, discrimination_rate

BLOCKS = {"low": VALUES[:3], "high": VALUES[3:]}
PARTITION = SemanticPartition(blocks=BLOCKS)
BUILT = collections()

each_collection = pytest.mark.parametrize(
    "built",
    [
        pytest.param(built, id=str(number), marks=pytest.mark.full if number % 2 else [])
        for number, built in enumerate(BUILT)
    ],
)


def published(built: Collection, together: bool) -> Publication:
    """Classes of two, generalized, or with the values of a class apart from its vertices."""
    scope = Scope.of(built.forest)
    model = bind(built, KAnonymity(k=2))
    partition = CluStree().find_classes(StepInput(built.forest, scope, model, None, np.random.default_rng(1)))
    part = PublishedPart("records", lambda: iter(()), 0)
    return (
        publish_grouped(built.forest, (partition,), (part,))
        if together
        else publish_generalized(built.forest, partition, part)
    )


def alone(records: int, quasi: int) -> Collection:
    """Records of one vertex with so many quasi-identifiers and one sensitive attribute."""
    drawn = (collection(seed, records, 1) for seed in count())
    return next(
        one for one in drawn if [len(one.forest.hierarchies[0]), len(one.forest.domains[0])] == [quasi, 1]
    )


def keys_above(forest: Forest, kind: int) -> list[tuple[int, int, str]]:
    """Vertex type, position and path of the quasi-identifiers of a type and of those above it."""
    own = forest.schema.types[kind]
    above = [] if own.parent is None else keys_above(forest, own.parent)
    return above + [(kind, at, one.path) for at, one in enumerate(own.quasi)]


def uncertainty(parts: Iterable[Fraction]) -> float:
    """The entropy of parts of a whole, times the whole."""
    listed = [float(part) for part in parts]
    return -math.fsum(part * math.log(part / sum(listed)) for part in listed)


def rate_of(table: Table) -> float:
    """1 - H(X|Y) / H(X)."""
    altogether: Counter[Hashable] = Counter()
    for parts in table.values():
        altogether.update(parts)  # type: ignore[arg-type]
    if len(altogether) < 2:
        return 0
    left = math.fsum(uncertainty(parts.values()) for parts in table.values())
    return 1 - left / uncertainty(altogether.values())  # type: ignore[arg-type]


def rows(table: Table) -> Counter[frozenset[tuple[Hashable, Fraction]]]:
    """What stands at each key, whatever the key is called, as shares of all."""
    total = sum((weight for parts in table.values() for weight in parts.values()), Fraction(0))
    return Counter(
        frozenset((value, weight / total) for value, weight in parts.items()) for parts in table.values()
    )


def whole(tally: JointTally) -> Joint:
    """All pairs at once: these collections are small."""
    nothing = np.zeros(0, np.int64)
    found = [*tally.joints()] or [Joint(nothing, (nothing,), nothing)]
    assert len(found) == 1
    return found[0]


def seen(tally: JointTally) -> Table:
    """The same table of the program."""
    found = whole(tally)
    assert found.exact, "these collections are small"
    table: dict[Hashable, dict[Hashable, Fraction]] = defaultdict(dict)
    columns = (found.key.tolist(), found.value[0].tolist(), found.weight.tolist())
    for key, value, weight in zip(*columns, strict=True):
        table[key][value] = Fraction(weight)
    return table


@each_collection
@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("weight", get_args(Weight))
def test_the_rate_is_that_of_the_twin(built: Collection, together: bool, weight: Weight) -> None:
    forest, rng = built.forest, random.Random(3)
    publication = published(built, together)
    reader = Reader(publication, forest, together)
    for kind, domains in enumerate(forest.domains):
        known = [path for _, _, path in keys_above(forest, kind)]
        some = rng.sample(known, rng.randint(1, len(known))) if known else None
        forms: dict[Any, Callable[[int], Hashable]] = {
            form: getattr(reader, form) for form in get_args(KeyForm)
        }
        if some:
            forms[tuple(some)] = reader.some(some)
        for (at, domain), (keys, key), semantic in product(enumerate(domains), forms.items(), (False, True)):
            blocks = PARTITION.block_of(domain) if semantic else tuple(range(len(domain.values)))
            table = reader.table(kind, at, key, blocks.__getitem__, weight)
            places = known_to(forest.schema, forest.schema.types[kind], keys, domain.path)
            found = joint(publication, forest, kind, at, places, blocks, weight)
            if not (
                together and keys == "record"
            ):  # of a group's vertices more may be known, which tells no more
                assert rows(seen(found)) == rows(table)
            metric = DiscriminationRate([domain.path], keys, PARTITION if semantic else None, weight)
            (figure,) = metric.of(publication, forest)
            assert math.isclose(figure.value, rate_of(table), abs_tol=1e-12)
            if isinstance(figure.value, float):
                assert 0 < figure.value < 1


OVERLAPPING = {"low": VALUES[:4], "high": VALUES[2:]}
COVER = SemanticCover(blocks=OVERLAPPING, overlapping=True)


@each_collection
def test_of_overlapping_blocks_the_set_counts(built: Collection) -> None:
    """The twin knows a value by the names of the blocks that hold it."""
    forest, publication = built.forest, published(built, together=False)
    reader = Reader(publication, forest, False)
    for kind, domains in enumerate(forest.domains):
        for at, domain in enumerate(domains):
            held = [
                frozenset(name for name, own in OVERLAPPING.items() if str(value) in map(str, own))
                for value in domain.values
            ]
            table = reader.table(kind, at, reader.ancestors, held.__getitem__, "vertex")
            (figure,) = DiscriminationRate([domain.path], partition=COVER).of(publication, forest)
            assert math.isclose(figure.value, rate_of(table), abs_tol=1e-12)


def test_large_denominators_give_floats_that_are_near() -> None:
    """Groups of many sizes: weights are no longer whole, and nothing depends on the order of vertices."""
    sizes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31]
    groups = [group for group, size in enumerate(sizes) for _ in range(size)]
    built = alone(len(groups), 1)
    forest, order = built.forest, random.Random(1).sample(range(len(groups)), len(groups))
    found = []
    for turn in (range(len(groups)), order):
        place = np.array([groups[at] for at in turn], np.int64)
        turned = replace(forest, nodes=forest.nodes[[*turn]], sensitive=forest.sensitive[[*turn]])
        every = np.arange(len(groups))
        publication = Publication((), every, turned.nodes, place, place)
        found.append(joint(publication, turned, 0, 0, ((0, 0),), range(len(VALUES))))
        table = Reader(publication, turned, True).table(
            0, 0, Reader(publication, turned, True).own, int, "vertex"
        )
        assert not whole(found[-1]).exact
        assert math.isclose(float(found[-1].rate), rate_of(table))
    assert whole(found[0]).split_by_key() == whole(found[1]).split_by_key()
    assert found[0].values == found[1].values


@each_collection
def test_the_rate_never_falls_when_keys_are_added(built: Collection) -> None:
    forest, publication = built.forest, published(built, together=False)
    for kind, domains in enumerate(forest.domains):
        paths = [path for _, _, path in keys_above(forest, kind)]
        for domain in domains:
            rates = [
                float(DiscriminationRate([domain.path], paths[:count]).of(publication, forest)[0].value)
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
