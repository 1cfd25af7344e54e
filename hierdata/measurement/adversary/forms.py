"""Published records by what a reader sees of their quasi-identifiers, with an index of their values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from hierdata.domains.base import Hierarchy
from hierdata.forest.forest import Forest
from hierdata.forest.isomorphism import number_keys
from hierdata.forest.partition import SUPPRESSED
from hierdata.forest.publication import Publication
from hierdata.measurement.adversary.embedding import KnownFacts, Vertices
from hierdata.measurement.adversary.kernel import count_agreeing, count_first_agreeing
from hierdata.measurement.adversary.knowledge import PRESENT, Absence, Fact, KnownTree

_KEPT = 1 << 26
"""Bytes of rows that are remembered, of each sort."""


@dataclass(frozen=True)
class Forms:
    """The forms of published records: records of one form cannot be told apart by their quasi-identifiers.

    ``first[f]`` is the first record of form f in ``forest`` and ``records[f]`` the number of its records.
    ``place[v]`` is the first vertex that looks as v does; vertices that are not published have -1.
    ``persons`` numbers by record whose it is, None where each record is a person.
    """

    forest: Forest
    publication: Publication
    place: NDArray[np.int64]
    first: NDArray[np.int64]
    records: NDArray[np.int64]
    persons: NDArray[np.int64] | None = None

    @classmethod
    def of(
        cls,
        forest: Forest,
        publication: Publication,
        place: NDArray[np.int64],
        persons: NDArray[np.int64] | None = None,
    ) -> Forms:
        """Find the forms of what is published; ``place`` and ``persons`` as above."""
        of_root = place[forest.roots[:-1]]
        shown = np.flatnonzero(of_root >= 0)
        _, first, records = np.unique(of_root[shown], return_index=True, return_counts=True)
        # What is written is not needed here, and cannot be sent to another process.
        return cls(forest, replace(publication, parts=()), place, shown[first], records, persons)

    @classmethod
    def of_original(
        cls,
        forest: Forest,
        persons: NDArray[np.int64] | None = None,
        among: NDArray[np.bool_] | None = None,
    ) -> Forms:
        """Return the original as forms, one for each record: what dropping identifiers alone publishes.

        ``among`` marks the records that are published.
        """
        every = np.arange(forest.vertex_count)
        if among is not None:
            every[~among[forest.record_of]] = SUPPRESSED
        publication = Publication((), every, forest.nodes, every, forest.record_of)
        return cls.of(forest, publication, every, persons)

    def count(self, chosen: NDArray[np.int64]) -> int:
        """Return how many records have one of these forms, or how many persons have such a record."""
        if self.persons is None:
            return int(self.records[chosen].sum())
        persons = [self._persons_of[form] for form in chosen.tolist()]
        return len(np.unique(np.concatenate(persons))) if persons else 0

    @cached_property
    def _persons_of(self) -> list[NDArray[np.int64]]:
        """The persons with a record of each form."""
        assert self.persons is not None
        shown = np.flatnonzero(self.place[self.forest.roots[:-1]] >= 0)
        return [self.persons[shown[records]] for records in self.records_of]

    @cached_property
    def records_of(self) -> list[NDArray[np.int64]]:
        """The records of each form, numbered from 0 in the order of the published ones."""
        of_root = self.place[self.forest.roots[:-1]]
        _, form = np.unique(of_root[of_root >= 0], return_inverse=True)
        order = np.argsort(form, kind="stable")
        ends = np.cumsum(np.bincount(form))[:-1]
        return np.split(order, ends)

    @cached_property
    def roots(self) -> NDArray[np.int64]:
        """The root of each form's first record."""
        return self.forest.roots[self.first]

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The number of vertices of each form, published or not."""
        return self.forest.roots[self.first + 1] - self.roots

    @cached_property
    def vertices(self) -> Vertices:
        """What the kernels need; a vertex that is not published has no type."""
        forest = self.forest
        kind = np.where(self.publication.shown >= 0, forest.type, -1)
        return Vertices(
            kind.astype(np.int64),
            forest.first_child,
            forest.child_count,
            forest.first_node,
            self.publication.nodes.astype(np.int64),
        )

    @cached_property
    def by_kind(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """By type the published vertices of the forms' first records, and the form of each."""
        form_of = np.full(self.forest.record_count, -1)
        form_of[self.first] = np.arange(len(self.first))
        form_of_vertex = form_of[self.forest.record_of]
        return [
            (vertices, form_of_vertex[vertices])
            for kind in range(len(self.forest.hierarchies))
            for vertices in [np.flatnonzero((self.vertices.kind == kind) & (form_of_vertex >= 0))]
        ]

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """The number of published vertices of each form by type."""
        counts = [np.bincount(forms, minlength=len(self.first)) for _, forms in self.by_kind]
        return np.stack(counts, axis=1)

    def nodes_at(self, kind: int, position: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the nodes published at a quasi-identifier, and the form of each."""
        vertices, forms = self.by_kind[kind]
        return self.vertices.nodes[self.forest.first_node[vertices] + position], forms


class Index:
    """Finds the forms that may agree with what is known, without looking at each: an inverted index.

    Of each node that is published at a quasi-identifier it lists the forms that have it. What was asked of
    late is remembered, within ``_KEPT`` bytes.
    """

    def __init__(self, forms: Forms) -> None:
        self.forms = forms
        widest = max((len(tree.labels) for trees in forms.forest.hierarchies for tree in trees), default=1)
        self.covers = lru_cache(_KEPT // widest + 1)(self._find_covering)
        self._having = lru_cache(_KEPT // max(len(forms.first), 1) + 1)(self._mark)
        self._postings: dict[tuple[int, int], tuple[NDArray[np.int64], NDArray[np.int64]]] = {}

    def at_root(self, nodes: tuple[int, ...]) -> NDArray[np.int64]:
        """Return the forms whose root may be that of a person with these quasi-identifiers."""
        agree = np.ones(len(self.forms.first), np.bool_)
        for position, node in enumerate(nodes):
            agree &= self._having(0, position, node, False)
        return np.flatnonzero(agree)

    def with_fact(self, fact: Fact) -> NDArray[np.bool_]:
        """Return which forms have a vertex that may be the fact's."""
        return self._having(fact.kind, fact.position, fact.node, False)

    def with_value(self, absence: Absence) -> NDArray[np.bool_]:
        """Return which forms show the very value, so that they are no one's who does not have it."""
        return self._having(absence.kind, absence.position, absence.node, True)

    def _find_covering(self, kind: int, position: int, node: int) -> NDArray[np.bool_]:
        return find_covering(self.forms.forest.hierarchies[kind][position], node)

    def _mark(self, kind: int, position: int, node: int, exactly: bool) -> NDArray[np.bool_]:
        """Return which forms have the node, or a node that covers it unless it is asked for ``exactly``."""
        marks = np.zeros(len(self.forms.first), np.bool_)
        if position == PRESENT:
            marks[self.forms.by_kind[kind][1]] = True
            return marks
        first, forms = self._list_postings(kind, position)
        wanted = [node] if exactly else np.flatnonzero(self.covers(kind, position, node)).tolist()
        for covering in wanted:
            marks[forms[first[covering] : first[covering + 1]]] = True
        return marks

    def _list_postings(self, kind: int, position: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the forms that have a node at a quasi-identifier, node by node, and where each begins."""
        if (kind, position) not in self._postings:
            nodes, forms = self.forms.nodes_at(kind, position)
            count = len(self.forms.first)
            size = len(self.forms.forest.hierarchies[kind][position].labels)
            keys = nodes * count + forms
            of_node, form = np.divmod(keys[number_keys(keys)[0]], count)
            self._postings[kind, position] = np.searchsorted(of_node, np.arange(size + 1)), form
        return self._postings[kind, position]

    def prepare_tree(self, tree: KnownTree) -> KnownFacts:
        """Pack a known tree for the kernels."""
        at_vertex, below = [0] * len(tree.vertices), [0] * len(tree.vertices)
        rows: list[NDArray[np.bool_]] = []
        for bit, fact in enumerate(tree.facts):
            vertex = tree.index[fact.vertex]
            at_vertex[vertex] |= 1 << bit
            while vertex >= 0:
                below[vertex] |= 1 << bit
                vertex = tree.above[vertex]
            is_value = fact.position != PRESENT
            empty = np.zeros(0, np.bool_)
            rows.append(self.covers(fact.kind, fact.position, fact.node) if is_value else empty)
        lengths = list(map(len, rows))
        return KnownFacts(
            np.array(tree.above, np.int64),
            np.array(tree.kinds, np.int64),
            np.array(at_vertex, np.int64),
            np.array(below, np.int64),
            np.array([tree.index[fact.vertex] for fact in tree.facts], np.int64),
            np.array([fact.position for fact in tree.facts], np.int64),
            np.cumsum([0, *lengths])[:-1].astype(np.int64),
            np.concatenate([np.zeros(0, np.bool_), *rows]),
            *list_masks(len(rows)),
        )

    def count_first_agreeing(
        self, chosen: NDArray[np.int64], known: KnownFacts, most: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return for some forms how many of the first facts each agrees with together, ``most`` at best."""
        forms = self.forms
        return count_first_agreeing(forms.roots[chosen], forms.sizes[chosen], most, forms.vertices, known)

    def count_agreeing(self, chosen: NDArray[np.int64], known: KnownFacts, facts: int) -> NDArray[np.int64]:
        """Return for some forms the largest number of the first ``facts`` facts that each agrees with."""
        forms, (masks, _) = self.forms, list_masks(facts)
        return count_agreeing(forms.roots[chosen], forms.sizes[chosen], forms.vertices, known, masks)


@cache
def list_masks(facts: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all sets of facts, larger ones first, and by size where sets of that size begin."""
    masks = sorted(range(1 << facts), key=lambda mask: (-mask.bit_count(), mask))
    sizes = [mask.bit_count() for mask in masks]
    return np.array(masks, np.int64), np.array([sizes.index(size) for size in range(facts + 1)], np.int64)


def find_covering(tree: Hierarchy, node: int) -> NDArray[np.bool_]:
    """Return for each node of a hierarchy whether a value of ``node`` may be published as it."""
    above = {ancestor for ancestor in tree.ancestors[node] if ancestor >= 0} | {node}
    covers = np.zeros(len(tree.labels), np.bool_)
    covers[list(above)] = True
    first = len(tree.labels) - len(tree.made_of)
    for made, ranges in enumerate(tree.made_of, first):
        covers[made] |= any(ancestor in covered for covered in ranges for ancestor in above)
    return covers
