"""Random collections in two forms: trees for the twin (tests.naive), a forest for the engine."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial

from hierdata.domains.base import Hierarchy
from hierdata.domains.sensitive import SensitiveDomain, heights_in, path_in
from hierdata.engines import Constraints
from hierdata.forest.encoding import encode
from hierdata.forest.forest import Forest
from hierdata.forest.worth import Worth
from hierdata.privacy import DeltaLDiversity, FrequencyLDiversity, LEDiversity, LevelAlphaK
from hierdata.privacy.base import PrivacyModel
from hierdata.records.record import Vertex
from hierdata.records.schema import Attribute, Role, Schema, VertexType
from tests import naive

VALUES = ("1", "2", "4", "5", "9", "12", "20", "21")
"""The sensitive values: text that spells numbers, so that every model may judge them."""
LEVELS = (1, 1, 1, 2, 2, 3, 4, 5)
KINDS = {"1": "few", "2": "few", "4": "some", "5": "some", "9": "many", "12": "many", "20": "*", "21": "*"}
"""The taxonomy of the sensitive values: its inner nodes lie under the root."""
MISSING = "missing"


class LevelDomain(SensitiveDomain):
    """A domain whose values are sensitivity levels."""

    def code_of(self, value: object) -> int:
        return self.values.index(value)


@dataclass(frozen=True)
class Shape:
    """A vertex type: parent, taxonomies, number of sensitive attributes, the most children of the type."""

    parent: int | None
    taxonomies: tuple[naive.Taxonomy, ...]
    sensitive: int
    most: int


@dataclass(frozen=True)
class Collection:
    """The same records for both programs. Sensitive values are of VALUES, with the level of LEVELS."""

    shapes: tuple[Shape, ...]
    trees: tuple[naive.Tree, ...]
    forest: Forest

    @cached_property
    def naive_schema(self) -> naive.Schema:
        taxonomies = {str(i): list(shape.taxonomies) for i, shape in enumerate(self.shapes)}
        worth = self.forest.sought
        if worth is None:
            return naive.Schema(taxonomies)
        return naive.Schema(
            taxonomies,
            {str(i): list(own) for i, own in enumerate(worth.quasi)},
            {str(i): worth.presence[i] + sum(own) for i, own in enumerate(worth.sensitive)},
        )

    def weighted(self, seed: int) -> Collection:
        """The same records where losses have random weights, many of them 0."""
        rng = random.Random(seed)

        def weights(count: int) -> tuple[int, ...]:
            return tuple(rng.choice((0, 0, 1, 1, 2, 7, 100)) for _ in range(count))

        worth = Worth(
            tuple(weights(len(shape.taxonomies)) for shape in self.shapes),
            tuple(weights(shape.sensitive) for shape in self.shapes),
            weights(len(self.shapes)),
        )
        return replace(self, forest=replace(self.forest, worth=worth, sought=worth))

    def vertices(self) -> list[naive.Tree]:
        """The original vertices of the trees in the order of the forest: breadth first, record by record."""
        ordered = []
        for tree in self.trees:
            queue = [tree]
            for vertex in queue:
                queue += vertex.children
            ordered += queue
        return ordered

    def bind(self, model: PrivacyModel) -> Constraints:
        """The model on every sensitive attribute."""
        return Constraints(
            (), tuple(tuple((model.bind(domain),) for domain in own) for own in self.forest.domains)
        )

    def bind_presence(self, model: PrivacyModel, *, tied: bool = True) -> Constraints:
        """The model on every sensitive attribute, asked for presence at places."""
        domains = self.forest.domains
        return Constraints(
            (),
            tuple(tuple((model.bind_presence(domain, tied=tied),) for domain in own) for own in domains),
        )

    def caps(self, model: PrivacyModel) -> list[naive.ShareCap]:
        """The same for the twin, from the model's parameters and the paper's definitions."""
        places = [(str(i), at) for i, shape in enumerate(self.shapes) for at in range(shape.sensitive)]
        number = dict(zip(VALUES, map(int, VALUES), strict=True))
        if isinstance(model, DeltaLDiversity):
            near = partial(_similar, 2 * model.delta, number)
            shares = dict.fromkeys(VALUES, 1 / model.l)
            return [naive.ShareCap(kind, at, str, shares.__getitem__, near=near) for kind, at in places]
        if isinstance(model, LEDiversity):
            assert model.repeats == "forbid"
            assert model.e == 1, "two values are 1 apart if they lie under one node, farther if not"
            full = dict.fromkeys(KINDS.values(), Fraction(1))
            return [
                naive.ShareCap(kind, at, KINDS.__getitem__, full.__getitem__, most=1) for kind, at in places
            ]
        if isinstance(model, LevelAlphaK):
            level = dict(zip(VALUES, LEVELS, strict=True))
            return [naive.level_alpha(kind, at, model.alpha, level.__getitem__) for kind, at in places]
        assert isinstance(model, FrequencyLDiversity)
        return [naive.frequency_l(kind, at, model.l) for kind, at in places]

    def closings(self, model: PrivacyModel) -> list[naive.Closing]:
        """What the twin asks of a finished class beside the caps: (l,e)-diversity wants l values."""
        if not isinstance(model, LEDiversity):
            return []
        least = model.l
        places = [(str(i), at) for i, shape in enumerate(self.shapes) for at in range(shape.sensitive)]
        return [naive.Closing(kind, at, lambda values: len(values) >= least) for kind, at in places]


def _similar(width: Fraction, number: Mapping[str, int], one: str, other: str) -> bool:
    """Whether two values are at most so far apart (DL definition 3)."""
    return abs(number[one] - number[other]) <= width


def taxonomy(rng: random.Random) -> naive.Taxonomy:
    """A ragged tree of 3 to 9 nodes; sometimes with a chain of single children."""
    parent: dict[str, str | None] = {"*": None}
    for i in range(rng.randint(2, 8)):
        parent[f"n{i}"] = rng.choice(list(parent))
    return naive.Taxonomy(parent, missing=MISSING)


def hierarchy(source: naive.Taxonomy) -> Hierarchy:
    """The twin's taxonomy in the engine's form."""
    nodes = sorted(source.parent, key=lambda node: (len(source.ancestors(node)), node))
    number = {node: i for i, node in enumerate(nodes)}
    chains = [source.ancestors(node)[::-1] for node in nodes]
    depth = max(map(len, chains))
    return Hierarchy(
        labels=tuple(None if node == MISSING else node for node in nodes),
        ancestors=tuple(
            tuple(number[chain[at]] if at < len(chain) else -1 for at in range(depth)) for chain in chains
        ),
        lm=tuple(Fraction(source.lm(node)) if node != MISSING else Fraction(0) for node in nodes),
        node_of=lambda value: number[MISSING if value is None else value],  # type: ignore[index]
        leaves=source.leaves(source.root),
    )


SEMANTICS = hierarchy(naive.Taxonomy({"*": None, **dict.fromkeys(set(KINDS.values()) - {"*"}, "*"), **KINDS}))


def domain(path: str, reference: Mapping[str | None, int]) -> SensitiveDomain:
    """The domain of sensitive values that occur so often."""
    return SensitiveDomain(
        path,
        tuple(map(int, VALUES)),
        LEVELS,
        5,
        True,
        tuple(path_in(SEMANTICS, value) for value in VALUES),
        tuple(reference.get(value, 0) for value in VALUES),
        heights_in(SEMANTICS),
    )


def shapes(rng: random.Random, depth: int, most: int | None) -> tuple[Shape, ...]:
    """Vertex types in pre-order: up to two child types each, down to ``depth`` levels."""
    found: list[Shape] = []

    def grow(parent: int | None, level: int) -> None:
        index = len(found)
        quasi = tuple(
            taxonomy(rng) for _ in range(rng.choice((1, 1, 1, 2) if parent is not None else (0, 1, 2)))
        )
        found.append(
            Shape(
                parent,
                quasi,
                rng.choice((0, 1, 1, 2)),
                (most or rng.choice((2, 3, 6))) if parent is not None else 1,
            )
        )
        if level < depth:
            for _ in range(rng.choice((1, 1, 2))):
                grow(index, level + 1)

    grow(None, 1)
    return tuple(found)


def schema(types: Sequence[Shape]) -> Schema:
    def attributes(i: int) -> tuple[Attribute, ...]:
        quasi = [Attribute(f"$.{i}.q{at}", (f"q{at}",), Role.QUASI) for at in range(len(types[i].taxonomies))]
        own = [Attribute(f"$.{i}.s{at}", (f"s{at}",), Role.SENSITIVE) for at in range(types[i].sensitive)]
        return (*quasi, *own)

    return Schema(
        tuple(
            VertexType(
                index=i,
                path=f"$.{i}",
                steps=() if shape.parent is None else (f"t{i}",),
                many=True,
                parent=shape.parent,
                children=tuple(j for j, other in enumerate(types) if other.parent == i),
                attributes=attributes(i),
            )
            for i, shape in enumerate(types)
        )
    )


def record(rng: random.Random, types: Sequence[Shape], kind: int) -> tuple[naive.Tree, Vertex]:
    shape = types[kind]
    quasi = [rng.choice([n for n in t.parent if n != t.root]) for t in shape.taxonomies]
    sensitive = [rng.choice(VALUES[:3] if rng.random() < 0.5 else VALUES) for _ in range(shape.sensitive)]
    values: list[str | None] = [None if rng.random() < 0.1 else value for value in sensitive]
    pairs = [
        record(rng, types, child)
        for child, other in enumerate(types)
        if other.parent == kind
        for _ in range(rng.randint(0, other.most))
    ]
    tree = naive.Tree(str(kind), list(quasi), list(values), [pair[0] for pair in pairs])
    labels = [None if node == MISSING else node for node in quasi]
    return tree, Vertex(kind, list(labels), list(values), [], [pair[1] for pair in pairs])


def collection(seed: int, records: int, depth: int, most: int | None = None, copies: int = 1) -> Collection:
    """A random collection, lists of children with up to ``most``; equal arguments, equal collection.

    Each of the records stands there ``copies`` times.
    """
    rng = random.Random(seed)
    types = shapes(rng, depth, most)
    pairs = [pair for pair in [record(rng, types, 0) for _ in range(records)] for _ in range(copies)]
    return collected(types, pairs)


def collected(types: tuple[Shape, ...], pairs: Sequence[tuple[naive.Tree, Vertex]]) -> Collection:
    """These records, each as a tree and as it is encoded."""
    hierarchies = [[hierarchy(t) for t in shape.taxonomies] for shape in types]
    counted = [[Counter[str | None]() for _ in range(shape.sensitive)] for shape in types]
    for tree, _ in pairs:
        for vertex in naive.pre_order(tree):
            for tally, value in zip(counted[int(vertex.type)], vertex.sensitive, strict=True):
                tally[value] += 1
    domains = [
        [domain(f"$.{i}.s{at}", tally) for at, tally in enumerate(own)] for i, own in enumerate(counted)
    ]
    forest = encode((vertex for _, vertex in pairs), schema(types), hierarchies, domains)
    return Collection(types, tuple(tree for tree, _ in pairs), forest)
