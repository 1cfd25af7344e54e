"""What one model promises of a random collection: constraints for engines, rules for the judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hierdata.documents.document import Scalar
from hierdata.domains.levels import Levels
from hierdata.engines import Constraints
from hierdata.judge import JudgeRules, SensitiveRule
from hierdata.privacy.base import PrivacyModel
from tests.random_collections import LEVELS, SEMANTICS, VALUES, Collection

SCALE = Levels(by=dict(zip(VALUES, LEVELS, strict=True))).compile({})


@dataclass(frozen=True)
class Column:
    """A column of a population table, by the keys of what it is compared with."""

    keys: tuple[str, ...]


@dataclass(frozen=True)
class Twins:
    """A population in which everybody of the collection has a twin."""

    built: Collection

    @cached_property
    def columns(self) -> list[Column]:
        return [Column(attribute.steps) for attribute in self.built.forest.schema.types[0].quasi]

    def fitting(self, nodes: Sequence[int]) -> int:
        """How many rows a root with these nodes stands for."""
        forest = self.built.forest
        found = 0
        for root in forest.roots[:-1]:
            first = forest.first_node[root]
            own = forest.nodes[first : first + len(nodes)].tolist()
            trees = forest.hierarchies[0]
            found += all(a in tree.ancestors[b] for tree, a, b in zip(trees, nodes, own, strict=True))
        return 2 * found

    def count(self, labels: Sequence[Scalar]) -> int:
        """The same by published labels."""
        trees = self.built.forest.hierarchies[0]
        return self.fitting([tree.labels.index(label) for tree, label in zip(trees, labels, strict=True)])


def bind(built: Collection, model: PrivacyModel) -> Constraints:
    if model.per_attribute:
        return built.bind(model)
    nothing = tuple(tuple(() for _ in own) for own in built.forest.domains)
    population = Twins(built).fitting if model.needs_population else None
    return Constraints((model.bind(None),), nothing, population)


def place_of(built: Collection, kind: int) -> tuple[str, ...]:
    own = built.forest.schema.types[kind]
    return () if own.parent is None else (*place_of(built, own.parent), *own.steps)


def promise(built: Collection, model: PrivacyModel, recoding: str) -> JudgeRules:
    """What the judge is told."""
    types = built.forest.schema.types
    sensitive = tuple(
        SensitiveRule(
            (*place_of(built, kind.index), *attribute.steps),
            attribute.path,
            SCALE,
            number=True,
            taxonomy=SEMANTICS,
            reference=_reference(built, kind.index, position),
        )
        for kind in types
        for position, attribute in enumerate(kind.sensitive)
    )
    vertices = frozenset(place_of(built, kind.index) for kind in types[1:])
    population: Any = Twins(built) if model.needs_population else None
    return JudgeRules(
        sensitive, ((model, None),), vertices=vertices, recoding=recoding, population=population
    )


def _reference(built: Collection, kind: int, position: int) -> Counter[Scalar]:
    """How often each value occurs in the collection."""
    of_type = (vertex for vertex in built.vertices() if vertex.type == str(kind))
    values = (vertex.sensitive[position] for vertex in of_type)
    return Counter(value for value in values if value is not None)
