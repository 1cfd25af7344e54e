"""Published documents as records, for all who need them as arrays: sensitive values return to their vertices.

Which of several indistinguishable vertices had which value is unknown and does not matter: they share an
equivalence position. Nothing is linked to the original.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import (
    COUNT,
    GROUP,
    LIST_IN_ITEM,
    TEXT,
    Document,
    Value,
    group_key,
    list_key,
    sensitive_part,
    single,
    whole,
)
from hierdata.ground.errors import VerificationError
from hierdata.ground.recodings import RecodingTraits
from hierdata.records.binding import Binding, bind_records
from hierdata.records.record import BoundRecords
from hierdata.records.schema import Schema, VertexType
from hierdata.records.survey import Keys


class PublishedRecords:
    """The records that published documents show, whatever the recoding, bound to the schema.

    ``groups`` are those of a release whose sensitive values lie apart, in ``beside``, by part; else None.
    ``documents`` is the number of the document of each record where a document is a class of them.
    """

    def __init__(
        self, binding: Binding, traits: RecodingTraits, beside: Mapping[str, Iterable[Document]]
    ) -> None:
        # Published vertices exist, even empty ones.
        self._binding = replace(binding, sparse=False)
        self._traits = traits
        self._read = 0
        self.documents: list[int] = []
        self.groups: ReleaseGroups | None = None
        if traits.separates_values:
            self.groups = ReleaseGroups(beside, binding.schema, apart=traits.groups_each_table)

    def bind(self, documents: Iterable[tuple[Document, int]], before: int = 0) -> Iterator[BoundRecords]:
        """Yield the records of documents, each given with how often it is there; ``before`` came before.

        Raises VerificationError for documents that another recoding writes, InputError for those that do not
        fit the records; after the last of a release ``check_complete`` must be called.
        """
        records: Iterator[Document] = (document for document, times in documents for _ in range(times))
        if self._traits.publishes_classes:
            return bind_records(self._expand(records), self._binding, before)
        records = self._binding.mixed.separate(records, before)
        if self.groups is not None:
            records = map(self.groups.join, map(deepcopy, records))
        return bind_records(records, self._binding, before)

    def check_complete(self) -> None:
        """Raise VerificationError if values of a group are left after all records."""
        if self.groups is not None:
            self.groups.check_joined()

    def _expand(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield the records of class representatives."""
        for document in documents:
            members = whole(single(document.get("@records", document.get("records"))))
            inner = single(document.get("representative", {}))
            if not members:
                raise VerificationError(
                    "a document is not a class representative: the release has another recoding than the "
                    "policy"
                )
            representative: Document = {TEXT: inner} if inner else {}
            if isinstance(inner, dict):
                (representative,) = self._binding.mixed.separate([inner], self._read)
            self.documents += [self._read] * members
            self._read += 1
            for member in range(members):
                record = deepcopy(representative)
                _change(record, self._binding.schema, partial(_own, member, members))
                yield record


def _own(member: int, members: int, kind: VertexType, vertex: Value) -> Value:
    """Return a vertex of the representative in which one of each list of values is left for the member."""
    scalar = _is_scalar(kind)
    for attribute in kind.sensitive:
        steps = (LIST_IN_ITEM,) if scalar else (*attribute.steps[:-1], list_key(attribute.steps[-1]))
        holder = _holder(vertex, steps)
        values = None if holder is None else holder.pop(steps[-1], None)
        listed = values if isinstance(values, list) else [] if values is None else [values]
        if len(listed) > members:
            raise VerificationError("a class shows more values than it has records", path=attribute.path)
        value = listed[member] if member < len(listed) else None
        if scalar:
            return value
        if value is not None and isinstance(vertex, dict):
            _put_value(vertex, attribute.steps, value)
    return vertex


class ReleaseGroups:
    """The values of groups, and the groups of each vertex in the order of the records (anatomy, slicing).

    ``tables`` lists for each part its sensitive attributes. ``groups_of`` has a tuple for each vertex, with
    the group of each key of ``names``, 0 for vertices of types without any. ``apart``: tables have groups of
    their own. Raises VerificationError for parts and rows that are not valid.
    """

    def __init__(
        self, beside: Mapping[str, Iterable[Document]], schema: Schema, *, apart: bool = False
    ) -> None:
        self._schema = schema
        self._rows: defaultdict[tuple[int, str, int], dict[str, list[dict[Keys, Value]]]] = defaultdict(dict)
        self._apart = apart
        self.tables = {part: self._read_part(part, rows) for part, rows in beside.items()}
        self.names = list(dict.fromkeys(map(self.name_in, self.tables))) if apart else [group_key()]
        self.groups_of: list[tuple[int, ...]] = []

    def name_in(self, part: str) -> str:
        """Return the key of the group that leads to a part."""
        if not self._apart:
            return group_key()
        number = whole(part.removeprefix(sensitive_part(()) + "-"))
        if not number:
            raise VerificationError(f"the part {part} belongs to no group of the records")
        return group_key(number)

    def by_part(self) -> dict[str, NDArray[np.int64]]:
        """Return the group of each vertex by part if tables have groups of their own, else as that of ""."""
        if not self.names:  # a release without rows
            return {}
        every = np.array(self.groups_of, np.int64).reshape(-1, len(self.names)).T
        if not self._apart:
            return {"": every[0]}
        return {part: every[self.names.index(self.name_in(part))] for part in self.tables}

    def _read_part(self, part: str, rows: Iterable[Document]) -> tuple[str, ...]:
        """Store the rows of a part, each as often as its count; return the attributes that have values."""
        kind, name = self._kind(part), self.name_in(part)
        there: set[str] = set()
        for row in rows:
            number, count = whole(single(row.get(GROUP))), whole(single(row.get(COUNT)))
            if number is None or not count:
                raise VerificationError(f"a row of {part} has no valid group or count")
            values = {
                attribute: value
                for attribute in kind.sensitive
                if (value := _value(row, attribute.steps or (LIST_IN_ITEM,))) is not None
            }
            there.update(attribute.path for attribute in values)
            held: dict[Keys, Value] = {attribute.steps: value for attribute, value in values.items()}
            self._rows[kind.index, name, number].setdefault(part, []).extend([held] * count)
        return tuple(attribute.path for attribute in kind.sensitive if attribute.path in there)

    def _kind(self, part: str) -> VertexType:
        for kind in self._schema.types:
            name = sensitive_part(self._schema.keys(kind.index))
            if kind.sensitive and (part == name or whole(part.removeprefix(f"{name}-"))):
                return kind
        raise VerificationError(f"the part {part} belongs to no vertex type of the original")

    def join(self, record: Document) -> Document:
        """Return a record with values of its groups at each vertex. Raises VerificationError on a mismatch.

        After the last record ``check_joined`` must be called.
        """
        _change(record, self._schema, self._with_values)
        return record

    def check_joined(self) -> None:
        """Raise VerificationError if values of a group are left after all records."""
        if any(rows for parts in self._rows.values() for rows in parts.values()):
            raise VerificationError("a group has more values than vertices")

    def _with_values(self, kind: VertexType, vertex: Value) -> Value:
        if not kind.sensitive:
            self.groups_of.append((0,) * len(self.names))
            return vertex
        fields: Document = vertex if isinstance(vertex, dict) else {}
        groups: list[int] = []
        values: dict[Keys, Value] = {}
        for name in self.names:
            number = whole(single(fields.pop(name, None)))
            if not number:
                raise VerificationError("a vertex has no valid group", path=kind.path)
            groups.append(number)
            for rows in self._rows[kind.index, name, number].values():
                if not rows:
                    raise VerificationError("a group has fewer values than vertices", path=kind.path)
                values |= rows.pop()
        self.groups_of.append(tuple(groups))
        if _is_scalar(kind):
            return values.get(())
        for steps, value in values.items():
            _put_value(fields, steps, value)
        return vertex


def _is_scalar(kind: VertexType) -> bool:
    """Whether vertices of the type are scalar items of an array."""
    return bool(kind.attributes) and not kind.attributes[0].steps


def _change(record: Document, schema: Schema, change: Callable[[VertexType, Value], Value]) -> None:
    """Replace each vertex by what ``change`` returns for it, in breadth-first order."""
    change(schema.root, record)
    queue: list[tuple[VertexType, Value]] = [(schema.root, record)]
    for kind, vertex in queue:
        for child in (schema.types[index] for index in kind.children):
            holder = _holder(vertex, child.steps)
            value = None if holder is None else holder.get(child.steps[-1])
            if holder is None or value is None:
                continue
            items = [change(child, item) for item in (value if isinstance(value, list) else [value])]
            holder[child.steps[-1]] = type(value)(items) if isinstance(value, list) else items[0]
            queue += [(child, item) for item in items]


def _holder(vertex: Value, steps: Keys) -> Document | None:
    """Return the object that may hold the last of the keys; None where there is none."""
    for step in steps[:-1]:
        vertex = single(vertex.get(step)) if isinstance(vertex, dict) else None
    return vertex if isinstance(vertex, dict) else None


def _put_value(vertex: Document, steps: Keys, value: Value) -> None:
    """Put a value under the keys; elements on the way become single."""
    for step in steps[:-1]:
        inner = single(vertex.get(step))
        if not isinstance(inner, dict):
            inner = {TEXT: inner} if inner else {}
        vertex[step] = inner
        vertex = inner
    vertex[steps[-1]] = value


def _value(row: Document, steps: Keys) -> Value:
    """Return the value under the keys; an element with nothing but text is that text."""
    value: Value = row
    for step in steps:
        if step == TEXT and not isinstance(value, dict):
            return value
        value = single(value.get(step)) if isinstance(value, dict) else None
    return value
