"""Small generated collections for the checks: tables and trees, partitions, rules for the judge."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hierdata.documents.document import Scalar
from hierdata.domains import Flat, Interval, Prefix, Taxonomy
from hierdata.domains.base import QuasiDomain
from hierdata.domains.levels import Levels
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.engines import ENGINES, Constraints, Engine
from hierdata.engines.base import StepInput
from hierdata.forest.encoding import encode
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import Partition
from hierdata.judge import JudgeRules, SensitiveRule
from hierdata.privacy import PrivacyModel
from hierdata.records.record import Vertex
from hierdata.records.schema import Attribute, Role, Schema, VertexType

_SENSITIVE = ("1", "2", "4", "5", "9", "12")
"""Numbers as text, which most models can judge."""
SCALE = Levels(by={"1": 1, "2": 1, "4": 2, "5": 2, "9": 3, "12": 5}).compile({})
TAXONOMY = Taxonomy(tree={"*": {"low": ["1", "2"], "middle": ["4", "5"], "9": None, "12": None}}).compile(
    {}, Path()
)
_CODES = ("4811", "4812", "4890", "7001", "7002")
_QUASI: tuple[tuple[QuasiDomain, tuple[Scalar, ...]], ...] = (
    (Prefix(keep=(3, 2)), _CODES),
    (Flat(), ("f", "m", "x")),
    (Interval(steps=(5, 10)), tuple(range(20, 36))),
)
"""Domains of quasi-identifiers, each with its values."""


@dataclass(frozen=True)
class World:
    """A collection: its encoded records, and the counts of the sensitive values by path."""

    forest: Forest
    counted: dict[str, Counter[Scalar]]

    @property
    def name(self) -> str:
        """The name used in messages."""
        return f"{self.forest.record_count} records of {len(self.forest.schema.types)} vertex types"

    def bind(self, model: PrivacyModel) -> Constraints:
        """Bind the model to the records, or to every sensitive attribute."""
        domains = self.forest.domains
        if not model.per_attribute:
            return Constraints((model.bind(None),), tuple(tuple(() for _ in of_type) for of_type in domains))
        bound = tuple(tuple((model.bind(domain),) for domain in of_type) for of_type in domains)
        return Constraints((), bound)

    def promise(self, model: PrivacyModel, judged_as: str) -> JudgeRules:
        """Return the rules for the judge of a release under a model."""
        schema = self.forest.schema
        sensitive = tuple(
            SensitiveRule(
                (*schema.keys(kind.index), *attribute.steps),
                attribute.path,
                scale=SCALE,
                number=True,
                taxonomy=TAXONOMY,
                reference=self.counted[attribute.path],
            )
            for kind in schema.types
            for attribute in kind.sensitive
        )
        vertices = frozenset(schema.keys(kind.index) for kind in schema.types[1:])
        return JudgeRules(sensitive, ((model, None),), vertices=vertices, recoding=judged_as)


def tables(count: int = 3, records: int = 40) -> Iterator[World]:
    """Yield collections whose records have one vertex each."""
    for seed in range(count):
        yield _world(seed, records, 1)


def trees(count: int = 3, records: int = 24) -> Iterator[World]:
    """Yield collections whose records have up to three children, and these up to two."""
    for seed in range(count):
        yield _world(seed, records, 2 + seed % 2)


def worlds(flat: bool) -> list[World]:
    """Return tables only, or tables and trees."""
    return [*tables()] if flat else [*tables(1), *trees()]


def search(
    engine: Engine, world: World, constraints: Constraints, seed: int, progress: Callable[[int], None]
) -> Partition:
    """Return the partition of an engine; one that cannot begin starts from classes of a built-in engine."""
    forest, before = world.forest, None
    scope = Scope.of(forest)
    if not engine.begins:
        asked = constraints.without_mended(engine.mends)
        kind = "clustree" if engine.aligns else "mondrian"
        first = ENGINES[kind](kind=kind)
        before = first.find_classes(StepInput(forest, scope, asked, None, np.random.default_rng(seed)))
    return engine.find_classes(
        StepInput(forest, scope, constraints, before, np.random.default_rng(seed), progress)
    )


def find_partition(world: World, constraints: Constraints) -> Partition:
    """Return classes of whole records found by a built-in engine."""
    return ENGINES["clustree"](kind="clustree").find_classes(
        StepInput(world.forest, Scope.of(world.forest), constraints, None, np.random.default_rng(0))
    )


def _world(seed: int, records: int, depth: int) -> World:
    rng = random.Random(seed)  # noqa: S311  # generated data
    domains = [[_QUASI[(seed + number + level) % 3] for number in range(2)] for level in range(depth)]
    roots = [_vertex(rng, domains, 0) for _ in range(records)]
    schema = Schema(tuple(_type(level, depth) for level in range(depth)))
    levels = [[vertex for root in roots for vertex in _of_type(root, level)] for level in range(depth)]
    hierarchies = [
        [
            domain.compile(Counter(vertex.quasi[number] for vertex in vertices), Path())
            for number, (domain, _) in enumerate(used)
        ]
        for vertices, used in zip(levels, domains, strict=True)
    ]
    counted = {
        f"$.{level}.s": Counter(vertex.sensitive[0] for vertex in vertices)
        for level, vertices in enumerate(levels)
    }
    for counts in counted.values():
        counts.pop(None, None)
    sensitive = [
        [SensitiveDomain.build(path, counts, SCALE, True, TAXONOMY)] for path, counts in counted.items()
    ]
    return World(encode(iter(roots), schema, hierarchies, sensitive), counted)


def _vertex(
    rng: random.Random, domains: Sequence[Sequence[tuple[QuasiDomain, tuple[Scalar, ...]]]], level: int
) -> Vertex:
    quasi: list[Scalar] = [
        None if rng.random() < 0.05 else rng.choice(values) for _, values in domains[level]
    ]
    sensitive: list[Scalar] = [None if rng.random() < 0.1 else rng.choice(_SENSITIVE)]
    most = 0 if level + 1 == len(domains) else rng.randint(0, 3 - level)
    return Vertex(level, quasi, sensitive, [], [_vertex(rng, domains, level + 1) for _ in range(most)])


def _type(level: int, depth: int) -> VertexType:
    quasi = [Attribute(f"$.{level}.q{number}", (f"q{number}",), Role.QUASI) for number in range(2)]
    sensitive = Attribute(f"$.{level}.s", ("s",), Role.SENSITIVE)
    return VertexType(
        index=level,
        path=f"$.{level}",
        steps=(f"t{level}",) if level else (),
        many=True,
        parent=level - 1 if level else None,
        children=(level + 1,) if level + 1 < depth else (),
        attributes=(*quasi, sensitive),
    )


def _of_type(vertex: Vertex, level: int) -> Iterator[Vertex]:
    if vertex.type == level:
        yield vertex
    for child in vertex.children:
        yield from _of_type(child, level)
