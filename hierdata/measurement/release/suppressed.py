"""The vertices that the original has and the release lacks: suppressed ones. Their parents are unknown."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Scalar
from hierdata.forest.encoded import Encoded, Frame, join_encoded
from hierdata.forest.encoding import RecordEncoder
from hierdata.forest.forest import MISSING, Forest
from hierdata.forest.isomorphism import number_keys
from hierdata.forest.partition import SUPPRESSED
from hierdata.forest.sensitive_facts import Positions
from hierdata.ground.errors import VerificationError
from hierdata.records.record import BoundRecords, Vertex, bind_by_column, together, vertices
from hierdata.records.schema import Role, VertexType

_Codes = tuple[int, ...]
Marks = tuple[int, ...]
"""The groups of a vertex, one for each key of groups."""


class WithSuppressed:
    """Encodes published records, and completes them by the suppressed vertices, which are not linked to them.

    ``frame`` reads the labels and knows the original's values; for the types ``untied`` nothing links the
    values of one vertex. ``groups`` has the groups of each published vertex, None without groups. By type,
    the values of ``known`` attributes may be left out at published vertices: ``left_out`` are their codes.
    """

    def __init__(
        self,
        original: Forest,
        frame: Frame,
        untied: Collection[int],
        groups: Sequence[Marks] | None,
        known: Positions = (),
    ) -> None:
        self._original, self._frame, self._groups = original, frame, groups
        self._known_values = known or ((),) * len(frame.domains)
        self._untied = {*untied, *(kind for kind, attributes in enumerate(self._known_values) if attributes)}
        self.left_out: dict[tuple[int, int], NDArray[np.integer]] = {}
        self._encoder = RecordEncoder(frame, 0)
        self._records = 0
        self._known: dict[int, Vertex] = {}
        self._aside: dict[int, Vertex] = {}

    def add(self, batch: BoundRecords) -> None:
        """Encode some published records. Raises VerificationError for values that the original lacks."""
        there = {kind for kind, rows in enumerate(batch.rows) if rows is not None}
        before, self._records = self._records, self._records + batch.size
        self._encoder.add(batch if there <= self._known.keys() else self._put_aside(batch, before))

    def _put_aside(self, batch: BoundRecords, before: int) -> BoundRecords:
        """Put the first record with each type aside, since suppressed vertices may be put there."""
        others = []
        for number, record in enumerate(vertices(batch, self._frame.schema), before):
            record_vertices = _breadth_first(record)
            if all(vertex.type in self._known for vertex in record_vertices):
                others.append(record)
                continue
            self._aside[number] = record
            for vertex in record_vertices:
                self._known.setdefault(vertex.type, vertex)
        return together(others, self._frame.schema)

    @property
    def places(self) -> NDArray[np.int64]:
        """The place of each published record among those added, in the order of ``take``."""
        others = np.setdiff1d(np.arange(self._records), list(self._aside))
        return np.concatenate((others, np.array(list(self._aside), np.int64)))

    def take(self) -> tuple[Encoded, NDArray[np.int64]]:
        """Return all records, last those put aside and the suppressed ones, and the groups of each vertex.

        These are a row for each vertex, 0 for none, SUPPRESSED where it was. Raises VerificationError if the
        original has fewer of any vertices.
        """
        published = [self._encoder.take_encoded(), self._encode(list(self._aside.values()))]
        marks, marked = self._list_marks(*published)
        last = [*self._aside.values(), *self._suppressed_vertices(published)]
        none = (SUPPRESSED,) * marks.shape[1]
        of_last = [marked.get(id(vertex), none) for record in last for vertex in _breadth_first(record)]
        every = np.concatenate((marks, np.array(of_last, np.int64).reshape(-1, marks.shape[1])))
        return join_encoded([published[0], self._encode(last)]), every

    def _encode(self, records: Sequence[Vertex]) -> Encoded:
        for batch in bind_by_column(records, self._frame.schema):
            self._encoder.add(batch)
        return self._encoder.take_encoded()

    def _list_marks(self, others: Encoded, aside: Encoded) -> tuple[NDArray[np.int64], dict[int, Marks]]:
        """Return the groups of each vertex of the other records, and by id of each put aside."""
        is_aside = np.zeros(self._records, np.bool_)
        is_aside[list(self._aside)] = True
        size = np.empty(self._records, np.int64)
        size[is_aside], size[~is_aside] = aside.size, others.size
        inside = np.repeat(is_aside, size)
        groups = np.zeros((len(inside), 1), np.int64)
        if self._groups is not None:
            if len(self._groups) != len(inside):
                raise VerificationError("a vertex of a group has no value where one is required")
            groups = np.array(self._groups, np.int64).reshape(len(inside), -1)
        ids = [id(vertex) for record in self._aside.values() for vertex in _breadth_first(record)]
        return groups[~inside], dict(zip(ids, map(tuple, groups[inside].tolist()), strict=True))

    def _suppressed_vertices(self, published: Sequence[Encoded]) -> list[Vertex]:
        """Put each suppressed vertex below any vertex of its parent's type; return the suppressed records."""
        forests = [self._original, *map(self._frame.forest, published)]
        gone: list[list[Vertex]] = []
        for kind in self._original.schema.types:
            quasi, carried = (len(kind.of_role(role)) for role in (Role.QUASI, Role.CARRIED))
            suppressed = [
                Vertex(kind.index, [None] * quasi, self._values(kind, codes), [None] * carried, [])
                for codes in self._list_missing(kind, forests)
            ]
            gone.append(suppressed)
            if suppressed and kind.parent is not None:
                parent = gone[kind.parent][0] if gone[kind.parent] else self._known[kind.parent]
                parent.children = sorted([*parent.children, *suppressed], key=lambda vertex: vertex.type)
        return gone[0]

    def _list_missing(self, kind: VertexType, forests: Sequence[Forest]) -> Iterator[_Codes]:
        """Yield the sensitive values of the vertices that the first forest has and the others lack.

        Untied attributes are counted one by one.
        """
        width = len(self._frame.domains[kind.index])
        by_forest = []
        for forest in forests:
            first = forest.first_sensitive[forest.type == kind.index]
            by_forest.append(forest.sensitive[first[:, None] + np.arange(width)])
        codes, before = np.concatenate(by_forest), len(by_forest[0])
        tables = [codes[:, [column]] for column in range(width)] if kind.index in self._untied else [codes]
        gone = 2 * before - len(codes)
        parts = [
            self._divide_left(kind, table, before, gone, position)
            if position in self._known_values[kind.index]
            else self._subtract(kind, table, before)
            for position, table in enumerate(tables)
        ]
        return (sum(each, ()) for each in zip(*parts, strict=True))

    def _divide_left(
        self, kind: VertexType, codes: NDArray[np.integer], before: int, gone: int, position: int
    ) -> list[_Codes]:
        """Give the values that the release lacks to the ``gone`` vertices first, then to published ones."""
        there = codes[:, 0] != MISSING
        first = there.copy()
        first[before:] = False
        shown = np.concatenate((codes[first], codes[there & ~first]))
        lacking = self._subtract(kind, shown, int(first.sum()))
        self.left_out[kind.index, position] = np.array([code for (code,) in lacking[gone:]], np.int32)
        return [*lacking[:gone], *[(MISSING,)] * (gone - len(lacking))]

    def _subtract(self, kind: VertexType, codes: NDArray[np.integer], before: int) -> list[_Codes]:
        """Return the rows that the first ``before`` have more often than the others, as often, in order."""
        number = np.zeros(len(codes), np.int64)
        for column in codes.T:
            pairs = number * (int(column.max(initial=MISSING)) - MISSING + 1) + (column - MISSING)
            number = number_keys(pairs)[1]
        kinds = int(number.max(initial=-1)) + 1
        lacking = np.bincount(number[:before], minlength=kinds)
        lacking -= np.bincount(number[before:], minlength=kinds)
        if (lacking < 0).any():
            has = codes.shape[1] > 0
            subject = "sensitive values occur more often" if has else "there are more of these vertices"
            raise VerificationError(
                f"{subject} in the release than in the original: it belongs to another input", path=kind.path
            )
        first, _ = number_keys(number[:before])
        there, order = number[first], np.argsort(first)
        rows = np.repeat(codes[first[order]], lacking[there[order]], axis=0)
        return list(map(tuple, rows.tolist()))

    def _values(self, kind: VertexType, codes: _Codes) -> list[Scalar]:
        return [
            None if code == MISSING else domain.values[code]
            for code, domain in zip(codes, self._frame.domains[kind.index], strict=True)
        ]


def _breadth_first(record: Vertex) -> list[Vertex]:
    listed = [record]
    for vertex in listed:
        listed += vertex.children
    return listed
