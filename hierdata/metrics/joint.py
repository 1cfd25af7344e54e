"""How sensitive values and published keys occur together, at the vertices of one type (DR section 4)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierdata.errors import PolicyError
from hierdata.forest import Forest
from hierdata.forms import places
from hierdata.metrics.rates import Split
from hierdata.publication import Publication
from hierdata.records.known import KeyForm, Weight
from hierdata.records.schema import Role, Schema, VertexType

_EXACT = 2**31
"""Up to here joint weights are made whole: that a rate is rational is told from the factors of numbers."""

Place = tuple[int, int]
"""A quasi-identifier: vertex type and position."""


def known_to(
    schema: Schema, kind: VertexType, keys: KeyForm | Sequence[str], path: str
) -> tuple[Place, ...] | None:
    """The quasi-identifiers that are meant by a form or by paths, seen from ``kind``; None: the whole record.

    Raises PolicyError for a path that is neither the vertex's own nor an ancestor's; ``path`` is whose keys.
    """
    if keys == "record":
        return None
    known: dict[str, Place] = {}
    above: VertexType | None = kind
    while above is not None:
        for place, attribute in enumerate(above.of_role(Role.QUASI)):
            known[attribute.path] = (above.index, place)
        above = None if above.parent is None or keys == "own" else schema.types[above.parent]
    if isinstance(keys, str):
        return tuple(known.values())
    for key in keys:
        if key not in known:
            raise PolicyError(
                f"a key of {path} is a quasi-identifier of its own vertex or of one above it", path=key
            )
    return tuple(known[key] for key in known if key in keys)


def keys_of(
    publication: Publication,
    forest: Forest,
    kind: int,
    vertices: NDArray[np.int64],
    keys: tuple[Place, ...] | None,
) -> NDArray[np.int64]:
    """For each published vertex of a type the number of what is known of it.

    Of the whole record it is the place: what else is seen of its vertices tells no more of their values.
    """
    if keys is None:
        return np.unique(publication.place[vertices], return_inverse=True)[1].reshape(-1).astype(np.int64)
    found = np.zeros(len(vertices), np.int64)
    own = vertices
    while True:
        first = forest.first_node[publication.shown[own]]
        for position in (position for of, position in keys if of == kind):
            labels = _label_numbers(forest, kind, position)
            shown = labels[publication.nodes[first + position]]
            found = np.unique(found * len(labels) + shown, return_inverse=True)[1].astype(np.int64)
        parent = forest.schema.types[kind].parent
        if parent is None:
            return found
        own, kind = forest.parent[own], parent


def _label_numbers(forest: Forest, kind: int, position: int) -> NDArray[np.int64]:
    """For each node a number that nodes share if they are published alike (a chain of single children)."""
    numbers: dict[tuple[type, object], int] = {}
    labels = forest.hierarchies[kind][position].labels
    return np.array([numbers.setdefault((type(label), label), len(numbers)) for label in labels], np.int64)


def forms_of(
    publication: Publication, forest: Forest, kind: int, vertices: NDArray[np.int64]
) -> NDArray[np.int64]:
    """For each published vertex of a type the number of its record's published form and its place in that."""
    if len(forest.schema.types) == 1:
        own = tuple((kind, position) for position in range(len(forest.hierarchies[kind])))
        return keys_of(publication, forest, kind, vertices, own)
    return places(forest, publication.shown, publication.nodes)[vertices]


@dataclass(frozen=True)
class Joint:
    """The weight of each pair of a key and a value that occurs; keys ascending, values too.

    Weights are whole where they are ``exact``: all multiplied by one number.
    """

    key: NDArray[np.int64]
    value: NDArray[np.int64]
    weight: NDArray[np.int64] | NDArray[np.float64]

    @property
    def exact(self) -> bool:
        """Whether weights are whole."""
        return self.weight.dtype.kind == "i"

    def given(self) -> Split:
        """The values by key. Nothing depends on how keys are numbered."""
        if not len(self.key):
            return Counter()
        starts = np.flatnonzero(np.diff(self.key, prepend=self.key[0] - 1))
        counts = np.diff(starts, append=len(self.key))
        wholes = np.repeat(np.add.reduceat(self.weight, starts), counts)
        # As complex numbers, since numpy sorts these several times as fast as pairs.
        pairs, times = np.unique(wholes + 1j * self.weight, return_counts=True)
        number = int if self.exact else float
        return Counter(
            {
                (number(pair.real), number(pair.imag)): count
                for pair, count in zip(pairs.tolist(), times.tolist(), strict=True)
            }
        )

    def values(self) -> dict[int, float]:
        """The weight of each value over all keys."""
        order = np.argsort(self.value, kind="stable")
        values, starts = np.unique(self.value[order], return_index=True)
        parts = np.split(self.weight[order], starts)[1:]
        return {
            value: int(own.sum()) if self.exact else math.fsum(own)
            for value, own in zip(values.tolist(), parts, strict=True)
        }


def joint(
    publication: Publication,
    forest: Forest,
    kind: int,
    position: int,
    keys: tuple[Place, ...] | None,
    blocks: Sequence[int],
    weight: Weight = "vertex",
) -> Joint:
    """The blocks of a sensitive attribute's values and what is known, at the published vertices of a type.

    A vertex may have any value of its place with the share that the value has there: so it is under anatomy,
    and it comes to the same where all vertices of a place show the same. Missing values are left out.
    """
    vertices = np.flatnonzero((publication.place >= 0) & (forest.type == kind))
    codes = forest.sensitive[forest.first_sensitive[vertices] + position]
    there = codes >= 0
    held_places, place = np.unique(publication.place[vertices], return_inverse=True)
    place = place.reshape(-1)
    (held_at, block), holding = _tally(place[there], np.array(blocks, np.int64)[codes[there]])
    siblings = sharing(forest, vertices, weight)
    key = keys_of(publication, forest, kind, vertices, keys)
    (at_key, of_person), showing = _tally(_numbered(place, key), siblings)
    shown_at, shown_key = _unnumbered(at_key, key)
    # Every key that a place shows meets every value that the place holds.
    holds = np.bincount(held_at, minlength=len(held_places))
    met = holds[shown_at]
    of_shown = np.repeat(np.arange(len(shown_at)), met)
    first = np.cumsum(holds) - holds
    of_held = first[shown_at[of_shown]] + np.arange(len(of_shown)) - np.repeat(np.cumsum(met) - met, met)
    over = np.bincount(place, minlength=len(held_places))[shown_at] * of_person
    common = np.gcd(showing, over)
    return _added(
        shown_key[of_shown],
        block[of_held],
        (showing // common)[of_shown] * holding[of_held],
        (over // common)[of_shown],
        len(vertices),
    )


def sharing(forest: Forest, vertices: NDArray[np.int64], weight: Weight) -> NDArray[np.int64]:
    """How many of these vertices share the weight 1 with each of them, itself among them."""
    if weight == "vertex":
        return np.ones(len(vertices), np.int64)
    records = forest.record_of[vertices]
    return np.bincount(records, minlength=forest.record_count)[records]


def tied(
    key: NDArray[np.int64], value: NDArray[np.int64], shared: NDArray[np.int64], there: NDArray[np.bool_]
) -> Joint:
    """Keys and values of vertices that have one of each, ``shared`` as above; of those that are ``there``."""
    ones = np.ones(int(there.sum()), np.int64)
    return _added(key[there], value[there], ones, shared[there], len(ones))


def _added(
    key: NDArray[np.int64],
    value: NDArray[np.int64],
    over: NDArray[np.int64],
    under: NDArray[np.int64],
    total: int,
) -> Joint:
    """The sum of the fractions over / under of each pair; ``total`` is no less than all of them together."""
    pairs, cell = np.unique(_numbered(key, value), return_inverse=True)
    bottoms, bottom = np.unique(under, return_inverse=True)
    summands, at = np.unique(cell.reshape(-1) * len(bottoms) + bottom.reshape(-1), return_inverse=True)
    top = np.zeros(len(summands), np.int64)
    np.add.at(top, at.reshape(-1), over)
    cell, below = summands // max(len(bottoms), 1), bottoms[summands % max(len(bottoms), 1)]
    scale = math.lcm(*bottoms.tolist())
    if scale == 1 or scale * total <= _EXACT:
        weight = np.zeros(len(pairs), np.int64)
        np.add.at(weight, cell, top * (scale // below))
        return Joint(*_unnumbered(pairs, value), weight)
    # By ascending denominators within a pair, so that no sum depends on the order of vertices.
    return Joint(*_unnumbered(pairs, value), np.bincount(cell, weights=top / below))


def _numbered(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    """One number for each pair; pairs in order have ascending numbers."""
    return left * (int(right.max(initial=0)) + 1) + right


def _unnumbered(
    pairs: NDArray[np.int64], right: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs again; ``right`` is what they were numbered with."""
    width = int(right.max(initial=0)) + 1
    return pairs // width, pairs % width


def _tally(
    left: NDArray[np.int64], right: NDArray[np.int64]
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]:
    """The pairs that occur, in order, and how often each does."""
    pairs, counts = np.unique(_numbered(left, right), return_counts=True)
    return _unnumbered(pairs, right), counts
