"""Compare published records with the records of the original that they are linked to (DECISION 36).

Links come from a witness and are not trusted: they must lead to vertices of the same type below the same
parent, and to none twice. Then each published value must generalize that of its original, and each sensitive
value must be that of its original, or of its group. Nothing here depends on how the release was made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Scalar
from hierdata.forest.encoded import Frame
from hierdata.forest.forest import Forest
from hierdata.measurement.release.labels import Cover, Terms
from hierdata.measurement.release.links import LinkedRecords
from hierdata.records.schema import Role, Schema, VertexType

TWICE = "the published record shows an original that another one shows too: records were copied"
VERTEX_TWICE = "two published vertices show one vertex of the original: vertices were copied"
ELSEWHERE = "the witness links a published vertex to another place of the original than its own"
LABEL = "the published value does not generalize that of its original"
SENSITIVE = "the published sensitive value is not that of its original"
OF_GROUP = "the published sensitive values of a group are not those of its originals"
UNCHANGED = "the value is published unchanged, but its original has another one"
PSEUDONYMS = (
    "one pseudonym is published for two values of the original, or two pseudonyms for one value: pseudonyms "
    "were exchanged or invented"
)

Tokens = dict[str, set[tuple[bytes, bytes]]]
"""By domain of pseudonyms the pairs of a value of the original and its published pseudonym, as digests."""


class Difference(NamedTuple):
    """What is wrong with a published record, by its number; the first of a release is reported."""

    record: int
    path: str
    message: str


class Comparison(NamedTuple):
    """The first problem of some records, None if there is none, and their pseudonyms."""

    difference: Difference | None
    tokens: Tokens


def compare(
    linked: Iterable[LinkedRecords], original: Forest, before: int, frame: Frame, terms: Terms
) -> Comparison:
    """Compare published records with a part of the original; ``before`` records came before that part."""
    taken = np.zeros(original.vertex_count, np.bool_)
    covers = [[Cover(tree, terms) for tree in trees] for trees in original.hierarchies]
    differences: list[Difference] = []
    tokens: Tokens = {}
    for records in linked:
        pair = _Pair.of(records, original, before, frame)
        differing = pair.find_misplaced(taken)
        if not differing:
            differing = [
                *pair.compare_labels(covers),
                *pair.compare_sensitive(terms),
                *pair.compare_carried(terms, tokens),
            ]
        differences += differing
    return Comparison(min(differences, default=None), tokens)


@dataclass(frozen=True)
class _Pair:
    """Published records, and the original: ``target`` is the vertex of the original of each published one."""

    linked: LinkedRecords
    shown: Forest
    original: Forest
    target: NDArray[np.int64]

    @classmethod
    def of(cls, linked: LinkedRecords, original: Forest, before: int, frame: Frame) -> _Pair:
        shown = frame.forest(linked.shown.encoded)
        record = linked.targets[shown.record_of] - before
        size = np.diff(original.roots)[record]
        inside = linked.places < size
        target = np.where(inside, original.roots[record] + linked.places, -1)
        return cls(linked, shown, original, target)

    @property
    def schema(self) -> Schema:
        return self.original.schema

    def find_misplaced(self, taken: NDArray[np.bool_]) -> list[Difference]:
        """Return the first vertex that is linked to a wrong place, or to one that is ``taken``; take all."""
        shown, original, target = self.shown, self.original, self.target
        parent = np.where(shown.parent >= 0, target[shown.parent], -1)
        wrong = (target < 0) | (original.type[target] != shown.type) | (original.parent[target] != parent)
        if wrong.any():
            return [self.difference(wrong, ELSEWHERE)]
        first = np.zeros(len(target), np.bool_)
        first[np.unique(target, return_index=True)[1]] = True
        again = taken[target] | ~first
        taken[target] = True
        if not again.any():
            return []
        vertex = int(np.flatnonzero(again)[0])
        return [self.difference(again, TWICE if shown.parent[vertex] < 0 else VERTEX_TWICE)]

    def difference(self, wrong: NDArray[np.bool_], message: str, path: str | None = None) -> Difference:
        """Return the problem of the first wrong vertex."""
        vertex = int(np.flatnonzero(wrong)[0])
        record = int(self.linked.shown.encoded.ordinals[self.shown.record_of[vertex]])
        return Difference(
            record, self.schema.types[self.shown.type[vertex]].path if path is None else path, message
        )

    def _by_type(self) -> Iterator[tuple[VertexType, NDArray[np.int64]]]:
        for kind in self.schema.types:
            vertices = np.flatnonzero(self.shown.type == kind.index)
            if len(vertices):
                yield kind, vertices

    def _wrong(self, vertices: NDArray[np.int64]) -> NDArray[np.bool_]:
        wrong = np.zeros(len(self.target), np.bool_)
        wrong[vertices] = True
        return wrong

    def compare_labels(self, covers: Sequence[Sequence[Cover]]) -> Iterator[Difference]:
        """Yield the first label of each quasi-identifier that does not generalize its original."""
        for kind, vertices in self._by_type():
            for position, attribute in enumerate(kind.quasi):
                labels = self.linked.shown.labels[kind.index][position]
                shown = self.shown.nodes[self.shown.first_node[vertices] + position]
                nodes = self.original.nodes[self.original.first_node[self.target[vertices]] + position]
                failing = _failing(shown, nodes, partial(covers[kind.index][position].covers_number, labels))
                if failing.any():
                    yield self.difference(self._wrong(vertices[failing]), LABEL, attribute.path)

    def compare_sensitive(self, terms: Terms) -> Iterator[Difference]:
        """Yield the first sensitive value of each attribute that is not that of its original or group."""
        groups = self.linked.shown.groups
        for kind, vertices in self._by_type():
            if groups is not None:
                yield from self._of_groups(kind, vertices, groups, terms)
                continue
            for position, attribute in enumerate(kind.sensitive):
                shown, stated = self._spellings(vertices, position)
                number = self.original.domains[kind.index][position].number
                failing = _failing(shown, stated, self._same(terms, number))
                if attribute.path in terms.known:
                    failing &= shown >= 0
                if failing.any():
                    yield self.difference(self._wrong(vertices[failing]), SENSITIVE, attribute.path)

    def _spellings(
        self, vertices: NDArray[np.int64], position: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        shown = self.shown.spelling[self.shown.first_sensitive[vertices] + position]
        return shown, self.original.spelling[self.original.first_sensitive[self.target[vertices]] + position]

    def _same(self, terms: Terms, number: bool) -> Callable[[int, int], bool]:
        shown, stated = (*self.shown.spellings, None), (*self.original.spellings, None)
        return lambda a, b: terms.same(shown[a], stated[b], number)

    def _of_groups(
        self,
        kind: VertexType,
        vertices: NDArray[np.int64],
        by_part: Mapping[str, NDArray[np.int64]],
        terms: Terms,
    ) -> Iterator[Difference]:
        """Compare the values of each group, table by table: rows are the values of one vertex."""
        sensitive = kind.sensitive
        for part, table in self._tables(kind, terms):
            codes: dict[object, int] = {}
            none = np.zeros(len(self.target), np.int64)
            groups = by_part.get(part, next(iter(by_part.values()), none))[vertices]
            rows = [[groups], [groups]]
            for position in table:
                number = self.original.domains[kind.index][position].number
                for column, spelling, spellings in zip(
                    rows,
                    self._spellings(vertices, position),
                    (self.shown.spellings, self.original.spellings),
                    strict=True,
                ):
                    keys = [*(terms.key(value, number) for value in spellings), None]
                    of = np.array([codes.setdefault(key, len(codes)) for key in keys], np.int64)
                    column.append(of[spelling])
            shown, stated = (np.array(columns)[:, np.lexsort(columns[::-1])] for columns in rows)
            differs = (shown != stated).any(axis=0)
            if differs.any():
                group = shown[0][np.flatnonzero(differs)[0]]
                wrong = self._wrong(vertices[groups == group])
                yield self.difference(wrong, OF_GROUP, sensitive[table[0]].path)

    def _tables(self, kind: VertexType, terms: Terms) -> list[tuple[str, tuple[int, ...]]]:
        """Return by part the positions of the attributes whose values are tied to each other in a vertex.

        An attribute without any published value is in no part: all its values must be missing, so that its
        groups do not matter.
        """
        paths = [attribute.path for attribute in kind.sensitive]
        by_part = {
            part: tuple(position for position, path in enumerate(paths) if path in of_part)
            for part, of_part in terms.tables.items()
        }
        tables = [(part, positions) for part, positions in by_part.items() if positions]
        alone = set(range(len(paths))) - {position for _, positions in tables for position in positions}
        return [*tables, *(("", (position,)) for position in sorted(alone))]

    def compare_carried(self, terms: Terms, tokens: Tokens) -> Iterator[Difference]:
        """Yield the first unchanged value of each field that differs; collect pseudonyms."""
        if terms.traits.publishes_classes:
            return
        for kind, vertices in self._by_type():
            attributes = kind.of_role(Role.CARRIED)
            if not attributes:
                continue
            none = (None,) * len(attributes)
            failing: dict[str, int] = {}
            for vertex, target in zip(vertices.tolist(), self.target[vertices].tolist(), strict=True):
                values = zip(
                    attributes,
                    self.shown.carried.get(vertex, none),
                    self.original.carried.get(target, none),
                    strict=True,
                )
                for attribute, shown, stated in values:
                    domain = terms.tokens.get(attribute.path)
                    if domain is not None and shown is not None and stated is not None:
                        tokens.setdefault(domain, set()).add((_digest(stated), _digest(shown)))
                    elif shown is None and attribute.path in terms.references:
                        continue  # the judge knows that all of its class lack it
                    elif not terms.same(shown, stated):
                        failing.setdefault(attribute.path, vertex)
            for path, vertex in failing.items():
                yield self.difference(self._wrong(np.array([vertex])), UNCHANGED, path)


def _failing(
    shown: NDArray[np.int32], stated: NDArray[np.int32], holds: Callable[[int, int], bool]
) -> NDArray[np.bool_]:
    """Return where a pair of numbers fails; equal pairs are decided once."""
    width = int(stated.max(initial=0)) + 2
    pairs, number = np.unique((shown.astype(np.int64) + 1) * width + stated + 1, return_inverse=True)
    fails = np.array([not holds(pair // width - 1, pair % width - 1) for pair in pairs.tolist()], np.bool_)
    failing: NDArray[np.bool_] = fails[number.reshape(-1)]
    return failing


def _digest(value: Scalar) -> bytes:
    return hashlib.blake2b(str(value).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def find_unequal(tokens: Iterable[Tokens]) -> str | None:
    """Return a domain in which pseudonyms and values do not correspond one to one; None if there is none."""
    every: dict[str, set[tuple[bytes, bytes]]] = {}
    for of_part in tokens:
        for domain, pairs in of_part.items():
            every.setdefault(domain, set()).update(pairs)
    for domain in sorted(every):
        pairs = every[domain]
        sides: Sequence[set[bytes]] = ({value for value, _ in pairs}, {token for _, token in pairs})
        if any(len(side) != len(pairs) for side in sides):
            return domain
    return None
