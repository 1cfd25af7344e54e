"""The vertices that the original has and the release lacks: suppressed ones. Their parents are unknown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.errors import VerificationError
from hierdata.forest.forest import MISSING, Forest
from hierdata.forest.partition import SUPPRESSED
from hierdata.records.record import Vertex
from hierdata.records.schema import Role, VertexType

_Codes = tuple[int, ...]
Marks = tuple[int, ...]
"""The groups of a vertex, one for each key of groups."""


class WithSuppressed:
    """Published records in their order, completed by the suppressed vertices, which are not linked to them.

    ``domains`` know the original's values; for the types ``untied`` nothing links the values of one vertex.
    ``groups`` has the groups of each published vertex, None without groups. ``marks`` has for every vertex
    that was yielded its groups, 0 for none, or SUPPRESSED, as often.
    """

    def __init__(
        self,
        original: Forest,
        domains: Sequence[Sequence[SensitiveDomain]],
        untied: Collection[int],
        groups: Sequence[Marks] | None,
    ) -> None:
        self._original, self._domains, self._untied, self._groups = original, domains, untied, groups
        self._left = [self._count_combinations(kind) for kind in original.schema.types]
        self._known: dict[int, Vertex] = {}
        self._seen = 0
        self.marks: list[Marks] = []

    def all(self, records: Iterable[Vertex]) -> Iterator[Vertex]:
        """Yield the records and the suppressed ones. Raises VerificationError if the original has fewer."""
        aside: list[Vertex] = []
        group_of: dict[int, Marks] = {}
        for record in records:
            own = _breadth_first(record)
            marks = self._marks(len(own))
            for vertex in own:
                self._take(vertex)
            if any(vertex.type not in self._known for vertex in own):  # suppressed vertices may be put here
                aside.append(record)
                group_of.update(zip(map(id, own), marks, strict=True))
                for vertex in own:
                    self._known.setdefault(vertex.type, vertex)
            else:
                self.marks += marks
                yield record
        if self._groups is not None and len(self._groups) != self._seen:
            raise VerificationError("a vertex of a group has no value where one is required")
        for record in (*aside, *self._suppressed_vertices()):
            self.marks += [group_of.get(id(vertex), self._none) for vertex in _breadth_first(record)]
            yield record

    @property
    def _none(self) -> Marks:
        """The marks of a suppressed vertex."""
        return (SUPPRESSED,) * (len(self._groups[0]) if self._groups else 1)

    def _marks(self, count: int) -> Sequence[Marks]:
        before, self._seen = self._seen, self._seen + count
        return [(0,)] * count if self._groups is None else self._groups[before : self._seen]

    def _count_combinations(self, kind: VertexType) -> list[Counter[_Codes]]:
        """Count each combination of sensitive values in the original; untied attributes one by one."""
        vertices = np.flatnonzero(self._original.type == kind.index)
        width = len(self._domains[kind.index])
        first = self._original.first_sensitive[vertices]
        codes = self._original.sensitive[first[:, None] + np.arange(width)]
        tables = [codes[:, [at]] for at in range(width)] if kind.index in self._untied else [codes]
        return [Counter(map(tuple, table.tolist())) for table in tables]

    def _take(self, vertex: Vertex) -> None:
        """Subtract a published vertex from what is left of the original."""
        codes = tuple(
            MISSING if value is None else domain.code_of(value)
            for domain, value in zip(self._domains[vertex.type], vertex.sensitive, strict=True)
        )
        own = [(code,) for code in codes] if vertex.type in self._untied else [codes]
        for left, held in zip(self._left[vertex.type], own, strict=True):
            left[held] -= 1
            if left[held] < 0:
                kind = self._original.schema.types[vertex.type]
                what = "sensitive values occur more often" if codes else "there are more of these vertices"
                raise VerificationError(
                    f"{what} in the release than in the original: it belongs to another input", path=kind.path
                )

    def _suppressed_vertices(self) -> list[Vertex]:
        """Put each suppressed vertex below any vertex of its parent's type; return the suppressed records."""
        gone: list[list[Vertex]] = []
        for kind in self._original.schema.types:
            parts = [list(left.elements()) for left in self._left[kind.index]]
            own = [self._vertex(kind, sum(codes, ())) for codes in zip(*parts, strict=True)]
            gone.append(own)
            if own and kind.parent is not None:
                parent = gone[kind.parent][0] if gone[kind.parent] else self._known[kind.parent]
                parent.children = sorted([*parent.children, *own], key=lambda vertex: vertex.type)
        return gone[0]

    def _vertex(self, kind: VertexType, codes: _Codes) -> Vertex:
        values = [
            None if code == MISSING else domain.values[code]
            for code, domain in zip(codes, self._domains[kind.index], strict=True)
        ]
        quasi, carried = (len(kind.of_role(role)) for role in (Role.QUASI, Role.CARRIED))
        return Vertex(kind.index, [None] * quasi, values, [None] * carried, [])


def _breadth_first(record: Vertex) -> list[Vertex]:
    own = [record]
    for vertex in own:
        own += vertex.children
    return own
