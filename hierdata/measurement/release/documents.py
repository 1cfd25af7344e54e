"""Published documents as records again: sensitive values put back, wherever the recoding put them.

Which of the vertices that cannot be told apart had which value is not known and does not matter: they stand
at one place. Nothing is linked to the original.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from functools import partial

from hierdata.documents.document import (
    COUNT,
    GROUP,
    LIST_IN_ITEM,
    TEXT,
    Document,
    Value,
    list_key,
    sensitive_part,
)
from hierdata.errors import VerificationError
from hierdata.judge.tokens import single, whole
from hierdata.records.schema import Role, Schema, VertexType
from hierdata.records.survey import Keys


def expanded(documents: Iterable[tuple[Document, int]], schema: Schema) -> Iterator[Document]:
    """The records behind class representatives (recoding representatives). Raises VerificationError."""
    for document, times in documents:
        members = whole(single(document.get("@records", document.get("records"))))
        inner = single(document.get("representative", {}))
        if not members:
            raise VerificationError("a document says of no records what they are: this is another recoding")
        representative: Document = {TEXT: inner} if inner else {}
        if isinstance(inner, dict):
            representative = inner
        for _ in range(times):
            for member in range(members):
                record = deepcopy(representative)
                _change(record, schema, partial(_own, member, members))
                yield record


def _own(member: int, members: int, kind: VertexType, vertex: Value) -> Value:
    """A vertex of the representative with a member's own of the values listed there."""
    scalar = _is_scalar(kind)
    for attribute in kind.of_role(Role.SENSITIVE):
        steps = (LIST_IN_ITEM,) if scalar else (*attribute.steps[:-1], list_key(attribute.steps[-1]))
        holder = _holder(vertex, steps)
        values = None if holder is None else holder.pop(steps[-1], None)
        listed = values if isinstance(values, list) else [] if values is None else [values]
        if len(listed) > members:
            raise VerificationError("a class shows more values than it has records", path=attribute.path)
        own = listed[member] if member < len(listed) else None
        if scalar:
            return own
        if own is not None and isinstance(vertex, dict):
            _put(vertex, attribute.steps, own)
    return vertex


class Groups:
    """The values of groups, and the group of each vertex in the order of the records (anatomy, slicing).

    ``tables`` names for each part the sensitive attributes that it has, ``group_of`` is 0 for vertices
    without any. Raises VerificationError for parts and rows that are none.
    """

    def __init__(self, beside: Mapping[str, Iterable[Document]], schema: Schema) -> None:
        self._schema = schema
        self._rows: defaultdict[tuple[int, int], dict[str, list[dict[Keys, Value]]]] = defaultdict(dict)
        self.tables = {part: self._read(part, rows) for part, rows in beside.items()}
        self.group_of: list[int] = []

    def _read(self, part: str, rows: Iterable[Document]) -> tuple[str, ...]:
        """Keep the rows of a part, each as often as it counts; which attributes there are."""
        kind = self._kind(part)
        there: set[str] = set()
        for row in rows:
            number, count = whole(single(row.get(GROUP))), whole(single(row.get(COUNT)))
            if number is None or not count:
                raise VerificationError(f"a row of {part} names no group, or no count")
            values = {
                one: value
                for one in kind.of_role(Role.SENSITIVE)
                if (value := _value(row, one.steps or (LIST_IN_ITEM,))) is not None
            }
            there.update(one.path for one in values)
            held: dict[Keys, Value] = {one.steps: value for one, value in values.items()}
            self._rows[kind.index, number].setdefault(part, []).extend([held] * count)
        return tuple(one.path for one in kind.of_role(Role.SENSITIVE) if one.path in there)

    def _kind(self, part: str) -> VertexType:
        for kind in self._schema.types:
            name = sensitive_part(self._schema.keys(kind.index))
            if kind.of_role(Role.SENSITIVE) and (part == name or whole(part.removeprefix(f"{name}-"))):
                return kind
        raise VerificationError(f"the part {part} belongs to no vertices of the original")

    def joined(self, documents: Iterable[tuple[Document, int]]) -> Iterator[Document]:
        """The records, each vertex with values of its group; VerificationError where they do not fit."""
        for document, times in documents:
            for _ in range(times):
                record = deepcopy(document)
                _change(record, self._schema, self._with_values)
                yield record
        if any(rows for parts in self._rows.values() for rows in parts.values()):
            raise VerificationError("a group has more values than vertices")

    def _with_values(self, kind: VertexType, vertex: Value) -> Value:
        if not kind.of_role(Role.SENSITIVE):
            self.group_of.append(0)
            return vertex
        number = whole(single(vertex.pop(GROUP, None))) if isinstance(vertex, dict) else None
        if not number or not isinstance(vertex, dict):
            raise VerificationError("a vertex names no group", path=kind.path)
        self.group_of.append(number)
        values: dict[Keys, Value] = {}
        for rows in self._rows[kind.index, number].values():
            if not rows:
                raise VerificationError("a group has fewer values than vertices", path=kind.path)
            values |= rows.pop()
        if _is_scalar(kind):
            return values.get(())
        for steps, value in values.items():
            _put(vertex, steps, value)
        return vertex


def _is_scalar(kind: VertexType) -> bool:
    """Whether vertices of the type are scalar items of an array."""
    return bool(kind.attributes) and not kind.attributes[0].steps


def _change(record: Document, schema: Schema, change: Callable[[VertexType, Value], Value]) -> None:
    """Put what ``change`` makes of each vertex in its place, in the breadth-first order of records."""
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
    """The object that has the last of the keys, where there is one."""
    for step in steps[:-1]:
        vertex = single(vertex.get(step)) if isinstance(vertex, dict) else None
    return vertex if isinstance(vertex, dict) else None


def _put(vertex: Document, steps: Keys, value: Value) -> None:
    """Put a value where the keys lead; an element on the way stands once."""
    for step in steps[:-1]:
        inner = single(vertex.get(step))
        if not isinstance(inner, dict):
            inner = {TEXT: inner} if inner else {}
        vertex[step] = inner
        vertex = inner
    vertex[steps[-1]] = value


def _value(row: Document, steps: Keys) -> Value:
    """What stands under the keys; an element that has nothing but its text is that text."""
    found: Value = row
    for step in steps:
        if step == TEXT and not isinstance(found, dict):
            return found
        found = single(found.get(step)) if isinstance(found, dict) else None
    return found
