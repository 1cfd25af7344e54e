"""The labels of records by attribute, and which records satisfy facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, reduce
from operator import and_

import numpy as np
from numpy.typing import NDArray

from hierdata.forest.forest import MISSING, Forest
from hierdata.measurement.risks.facts import FactField, Ints, PublishedFact

_FEW = 64
"""Labels whose records are looked up one by one; with more, all vertices are looked at."""
_WORD = 64
"""Records of which one machine word holds the bits."""
_KEPT = 2**25
"""Machine words of the sets that are kept: 256 MB."""


class LabelColumn:
    """The labels of one attribute, one for each vertex, by record; vertices are in the order of records."""

    def __init__(self, records: Ints, labels: Ints, record_count: int) -> None:
        self.records, self.labels, self.record_count = records, labels, record_count

    @cached_property
    def is_flat(self) -> bool:
        """Whether each record has one vertex."""
        return len(self.records) == self.record_count and bool((np.diff(self.records) == 1).all())

    @cached_property
    def counts(self) -> Ints:
        """The number of vertices with each label."""
        return np.bincount(self.labels + 1, minlength=1)[1:]

    @cached_property
    def _by_record(self) -> tuple[Ints, Ints]:
        """The different labels of each record, ascending, and where those of each begin."""
        there = self.labels != MISSING
        labels = max(len(self.counts), 1)
        keys = np.sort(self.records[there] * labels + self.labels[there], kind="stable")  # nearly sorted
        records, of_record = np.divmod(keys[np.diff(keys, prepend=-1) > 0], labels)
        return of_record, np.searchsorted(records, np.arange(self.record_count + 1))

    @cached_property
    def _by_label(self) -> tuple[Ints, Ints]:
        """The records with each label, ascending, and where those of each begin."""
        labels, starts = self._by_record
        records = np.repeat(np.arange(self.record_count), np.diff(starts))
        order = np.argsort(labels, kind="stable")
        return records[order], np.searchsorted(labels[order], np.arange(len(self.counts) + 1))

    def mark(self, labels: Ints) -> NDArray[np.bool_]:
        """Mark the records with one of these labels."""
        marks = np.zeros(self.record_count, np.bool_)
        wanted = labels[labels < len(self.counts)]
        if len(wanted) <= _FEW:
            records, starts = self._by_label
            for label in wanted.tolist():
                marks[records[starts[label] : starts[label + 1]]] = True
        else:
            is_wanted = np.zeros(len(self.counts) + 1, np.bool_)
            is_wanted[wanted] = True  # the last stands for no label, -1
            marks[self.records[is_wanted[self.labels]]] = True
        return marks

    def find(self, labels: Ints) -> Ints:
        """Return the records with one of these labels, ascending, each once."""
        return np.flatnonzero(self.mark(labels))

    def list_rare(self) -> list[int]:
        """List the labels that one record alone has."""
        return np.flatnonzero(np.diff(self._by_label[1]) == 1).tolist()

    def of_record(self, record: int) -> list[int]:
        """Return the labels of a record, each once, without vertices that have none."""
        labels, starts = self._by_record
        of_record: list[int] = labels[starts[record] : starts[record + 1]].tolist()
        return of_record


class FactIndex:
    """The records that satisfy facts: those of a fact are found once, and kept as bits.

    ``list_labels`` lists the labels of a column that satisfy a fact.
    """

    def __init__(self, columns: Sequence[LabelColumn], list_labels: Callable[[PublishedFact], Ints]) -> None:
        self._columns, self._list_labels = columns, list_labels
        self._words = max((-(-column.record_count // _WORD) for column in columns), default=0)
        self._known: dict[PublishedFact, NDArray[np.uint64]] = {}

    def find(self, facts: Sequence[PublishedFact]) -> Ints:
        """Return the records that have, for each fact, a vertex that satisfies it."""
        bits = np.unpackbits(self._intersect(facts).view(np.uint8), bitorder="little")
        return np.flatnonzero(bits)

    def is_single(self, facts: Sequence[PublishedFact]) -> bool:
        """Return whether ``find`` would find one record."""
        words = self._intersect(facts)
        there = np.flatnonzero(words)
        return len(there) == 1 and int(words[there[0]]).bit_count() == 1

    def _intersect(self, facts: Sequence[PublishedFact]) -> NDArray[np.uint64]:
        return reduce(and_, map(self._find_bits, facts))

    def _find_bits(self, fact: PublishedFact) -> NDArray[np.uint64]:
        bits = self._known.get(fact)
        if bits is None:
            marks = np.zeros(self._words * _WORD, np.bool_)
            column = self._columns[fact.attribute]
            marks[: column.record_count] = column.mark(self._list_labels(fact))
            bits = np.packbits(marks, bitorder="little").view(np.uint64)
            if (len(self._known) + 1) * self._words > _KEPT:
                self._known.clear()
            self._known[fact] = bits
        return bits


def observe(
    forest: Forest, attributes: Sequence[FactField], records: NDArray[np.bool_]
) -> tuple[LabelColumn, ...]:
    """Return the columns of the marked records of an input; they are numbered anew."""
    number = np.cumsum(records) - 1
    inside = records[forest.record_of]
    columns = []
    for attribute in attributes:
        vertices = np.flatnonzero(inside & (forest.type == attribute.kind))
        codes = codes_of(forest, attribute, vertices, forest.nodes)
        columns.append(LabelColumn(number[forest.record_of[vertices]], codes, int(records.sum())))
    return tuple(columns)


def codes_of(forest: Forest, attribute: FactField, vertices: Ints, nodes: NDArray[np.int32]) -> Ints:
    """Return the label of an attribute at each vertex: a node, or the code of a sensitive value."""
    if attribute.is_quasi:
        return nodes[forest.first_node[vertices] + attribute.position].astype(np.int64)
    return forest.sensitive[forest.first_sensitive[vertices] + attribute.position].astype(np.int64)
