"""Numbers for the known keys of vertices, with the same meaning in every part of a release."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hierdata.forest.forest import Forest
from hierdata.forest.isomorphism import exempt_types
from hierdata.forest.publication import Publication
from hierdata.ground.errors import PolicyError
from hierdata.metrics.cells import Array, pack_columns, rank_cells
from hierdata.records.schema import KeyForm, Schema, VertexType

Place: TypeAlias = tuple[int, int]
"""A quasi-identifier: vertex type and position."""
Keys: TypeAlias = tuple[Place, ...] | None
"""The known quasi-identifiers; None: the whole record."""
Answer = TypeVar("Answer")

_Words: TypeAlias = NDArray[np.uint64]

_LARGEST = 2**62
_SEEDS = (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03)
"""One for each lane of a digest."""


@dataclass(frozen=True)
class Numbers:
    """What is known of some vertices, as lanes: equal if the same is known, in any part of a release.

    ``span`` is an exclusive upper bound of a single lane, None for several lanes. ``local`` numbers are valid
    in this part only, and no other part has the same knowledge.
    """

    lanes: tuple[Array, ...]
    span: int | None = None
    local: bool = False

    def of(self, vertices: NDArray[Any]) -> Numbers:
        """Select vertices by index or mask."""
        return Numbers(tuple(lane[vertices] for lane in self.lanes), self.span, self.local)


def known_to(schema: Schema, kind: VertexType, keys: KeyForm | Sequence[str], path: str) -> Keys:
    """Return the quasi-identifiers that ``keys`` names, seen from ``kind``; None: the whole record.

    ``path`` is the sensitive attribute, for messages. Raises PolicyError for a key that is neither the
    vertex's own nor an ancestor's.
    """
    if keys == "record":
        return None
    known: dict[str, Place] = {}
    above: VertexType | None = kind
    while above is not None:
        for position, attribute in enumerate(above.quasi):
            known[attribute.path] = (above.index, position)
        above = None if above.parent is None or keys == "own" else schema.types[above.parent]
    if isinstance(keys, str):
        return tuple(known.values())
    for key in keys:
        if key not in known:
            raise PolicyError(
                f"a key of {path} must be a quasi-identifier of its own vertex or of one above it", path=key
            )
    return tuple(known[key] for key in known if key in keys)


def remember_answer(
    publication: Publication, forest: Forest, name: Hashable, find: Callable[[], Answer]
) -> Answer:
    """Compute once what several metrics need of one part, and cache it with the publication."""
    known = publication.metric_cache.get((id(forest), name))
    if known is None:  # keep the forest alive, so that its id is not reused
        known = publication.metric_cache[id(forest), name] = (forest, find())
    answer: Answer = known[1]
    return answer


def published_vertices(publication: Publication, forest: Forest, kind: int) -> Array:
    """Return the published vertices of a type."""
    return remember_answer(
        publication,
        forest,
        ("vertices", kind),
        lambda: np.flatnonzero((publication.equivalence_position >= 0) & (forest.type == kind)),
    )


def published_keys(publication: Publication, forest: Forest, kind: int, keys: Keys) -> Numbers:
    """Number what is published of the published vertices of a type; for whole records, their position.

    What else is shown of the vertices of one equivalence position reveals no more of their values.
    """

    def find() -> Numbers:
        vertices = published_vertices(publication, forest, kind)
        if keys is None:
            first, rank = rank_cells([publication.equivalence_position[vertices]])
            return Numbers((rank,), len(first), local=True)
        return _label_vertices(
            publication, forest, publication.shown, publication.nodes, kind, vertices, keys
        )

    return remember_answer(publication, forest, ("published", kind, keys), find)


def published_forms(publication: Publication, forest: Forest, kind: int) -> Numbers:
    """Number the published vertices of a type by equivalence position and all that is shown of them."""
    vertices = published_vertices(publication, forest, kind)
    shown, nodes = publication.shown, publication.nodes
    if len(forest.schema.types) == 1:
        forms = _label_vertices(
            publication, forest, shown, nodes, kind, vertices, every_key(forest, kind)
        ).lanes
    else:
        forms = tuple(lane[vertices] for lane in _form_digests(publication, forest, shown, nodes))
    first, rank = rank_cells([publication.equivalence_position[vertices], *forms])
    return Numbers((rank,), len(first), local=True)


def original_keys(publication: Publication, forest: Forest, kind: int, keys: Keys) -> Numbers:
    """Number the original keys of all vertices of a type; for whole records, form and position in it."""
    every = np.arange(forest.vertex_count)

    def find() -> Numbers:
        vertices = np.flatnonzero(forest.type == kind)
        if keys is None and len(forest.schema.types) > 1:
            digests = _form_digests(publication, forest, every, forest.nodes)
            return Numbers(tuple(lane[vertices] for lane in digests))
        known = every_key(forest, kind) if keys is None else keys
        return _label_vertices(publication, forest, every, forest.nodes, kind, vertices, known)

    return remember_answer(publication, forest, ("original", kind, keys), find)


def every_key(forest: Forest, kind: int) -> tuple[Place, ...]:
    """Return all quasi-identifiers of a type."""
    return tuple((kind, position) for position in range(len(forest.hierarchies[kind])))


def _label_vertices(
    publication: Publication,
    forest: Forest,
    shown: Array,
    nodes: NDArray[np.int32],
    kind: int,
    vertices: Array,
    keys: tuple[Place, ...],
) -> Numbers:
    """Number the labels of some quasi-identifiers of vertices and of their ancestors."""
    columns: list[tuple[Array, int]] = [(np.zeros(len(vertices), np.int64), 1)]
    at_or_above, above = vertices, kind
    while True:
        first = forest.first_node[shown[at_or_above]]
        for position in (position for of, position in keys if of == above):
            held = nodes[first + position]
            for numbers, width in _label_numbers(publication, forest, above, position):
                columns.append((numbers[held], width))
        parent = forest.schema.types[above].parent
        if parent is None:
            break
        at_or_above, above = forest.parent[at_or_above], parent
    lanes, span = pack_columns(columns)
    if len(lanes) == 1:
        return Numbers((lanes[0],), span)
    return Numbers(tuple(lanes) if len(lanes) == 2 else _digest(lanes))


def _label_numbers(
    publication: Publication, forest: Forest, kind: int, position: int
) -> list[tuple[Array, int]]:
    """Return columns of numbers with widths; nodes that are published alike have the same numbers.

    A chain of single children repeats a label. If some nodes were made for this part alone, their numbers
    are digests of 122 bits of their labels, in two columns.
    """

    def find() -> list[tuple[Array, int]]:
        tree = forest.hierarchies[kind][position]
        number_of: dict[tuple[type, object], int] = {}
        shared = len(tree.labels) - (tree.made or 0)
        keys = ((type(label), label) for label in tree.labels[:shared])
        numbers = [number_of.setdefault(key, len(number_of)) for key in keys]
        if tree.made is None:
            return [(np.array(numbers, np.int64), len(number_of))]
        pairs = [(number, 0) for number in numbers]
        for label in tree.labels[shared:]:
            known = number_of.get((type(label), label))
            pairs.append(_digest_of(label) if known is None else (known, 0))
        return [(column, _LARGEST) for column in np.array(pairs, np.int64).reshape(-1, 2).T]

    return remember_answer(publication, forest, ("labels", kind, position), find)


def _digest_of(label: object) -> tuple[int, int]:
    """Return two numbers of 61 bits; the second is not 0."""
    words = hashlib.blake2b(repr(label).encode(), digest_size=16).digest()
    return int.from_bytes(words[:8], "big") >> 3, int.from_bytes(words[8:], "big") >> 3 or 1


def _form_digests(
    publication: Publication, forest: Forest, shown: Array, nodes: NDArray[np.int32]
) -> tuple[Array, ...]:
    """Digest the form of each published vertex's record and the position in it, in 128 bits.

    Equal for vertices that cannot be told apart (see isomorphism.places): vertices of one form below one
    parent position have one position. It depends on labels alone, so it is the same in every part.
    """
    every = np.arange(forest.vertex_count)
    is_representative, kept, beside = shown == every, shown >= 0, exempt_types(forest.schema)
    digests = []
    for seed in _SEEDS:
        form, below, place = (np.zeros(forest.vertex_count, np.uint64) for _ in range(3))
        for kind in reversed(forest.schema.types):  # children have a later type than their parents
            vertices = np.flatnonzero(is_representative & (forest.type == kind.index))
            state = np.full(len(vertices), seed + kind.index, np.uint64)
            for position in range(len(forest.hierarchies[kind.index])):
                held = nodes[forest.first_node[vertices] + position]
                for numbers, _ in _label_numbers(publication, forest, kind.index, position):
                    state = _chain_numbers(state, numbers[held].astype(np.uint64))
            form[vertices] = state = _chain_numbers(state, below[vertices])
            if kind.parent is not None and kind.index not in beside:
                # A sum of mixed words: independent of the order of children, and counts equal ones.
                np.add.at(below, forest.parent[vertices], _mix_words(state))
        for kind in forest.schema.types:
            vertices = np.flatnonzero(is_representative & (forest.type == kind.index))
            above = np.zeros(len(vertices), np.uint64)
            if kind.parent is not None:
                above = place[forest.parent[vertices]]
            place[vertices] = _chain_numbers(above, form[vertices])
        place[kept] = place[shown[kept]]
        digests.append(place.view(np.int64))
    return tuple(digests)


def _digest(lanes: Sequence[Array]) -> tuple[Array, ...]:
    """Digest each cell in 128 bits, in two lanes."""
    digests = []
    for seed in _SEEDS:
        state = np.full(len(lanes[0]), seed, np.uint64)
        for lane in lanes:
            state = _chain_numbers(state, lane.view(np.uint64))
        digests.append(state.view(np.int64))
    return tuple(digests)


def _chain_numbers(state: _Words, numbers: _Words) -> _Words:
    return _mix_words(_mix_words(state) + numbers)


def _mix_words(numbers: _Words) -> _Words:
    """Apply the bijective finalizer of SplitMix64: each bit depends on all bits."""
    mixed = numbers + np.uint64(_SEEDS[0])
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    words: _Words = mixed ^ (mixed >> np.uint64(31))
    return words
