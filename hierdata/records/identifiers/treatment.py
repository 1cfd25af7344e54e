"""What a policy does to the documents that come in, before anything looks at them.

Maps become arrays of their entries, and the values of fields with an action are replaced. All steps of a run
see treated documents alone: the survey, so that domains fit what is published, and the encoding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from hierdata.documents.document import TEXT, Document, Scalar, Siblings, Value
from hierdata.errors import InputError
from hierdata.records.identifiers.base import Action, RefusedError, Replace, text_of
from hierdata.records.identifiers.key import Key
from hierdata.records.maps import unfolded
from hierdata.records.survey import Keys
from hierdata.records.values import Missing

MARK = 16
"""Bytes by which two pseudonyms are told apart."""


@dataclass(frozen=True)
class Treated:
    """A field with an action; values spelled as one of ``missing`` stay as they are."""

    keys: Keys
    path: str
    action: Action
    missing: frozenset[str] = frozenset()


@dataclass
class Traces:
    """What replacing leaves behind for the survey.

    ``made`` counts the pseudonyms of each field; ``marks`` has by domain the first bytes of each pseudonym,
    once for each record in which it stands.
    """

    made: Counter[Keys] = field(default_factory=Counter)
    marks: dict[str, bytearray] = field(default_factory=dict)


class _MisfitError(Exception):
    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path


@dataclass(frozen=True)
class Treatment:
    """Maps by their keys, each with its path, and fields.

    ``by`` are the keys of the value that shifts go by. With ``kept`` what needs a key is worked out and
    counted, but the values stay: for who looks at a collection and publishes nothing.
    """

    maps: tuple[tuple[Keys, str], ...] = ()
    fields: tuple[Treated, ...] = ()
    by: Keys | None = None
    key: Key | None = None
    kept: bool = False

    @property
    def keyed(self) -> bool:
        """Whether anything is replaced by the key."""
        return any(treated.action.keyed for treated in self.fields)

    def documents(
        self, documents: Iterable[Document], before: int = 0, traces: Traces | None = None
    ) -> Iterator[Document]:
        """Treat documents, each where it is, of which ``before`` came before these.

        Raises InputError with the record's number (from 1) and the path, never a value.
        """
        if not self.maps and not self.fields:
            yield from documents
            return
        work = _Work(self, traces)
        for number, document in enumerate(documents, before + 1):
            refused = work.treat(document)
            if refused is not None:
                raise InputError(str(refused), record=number, path=refused.path)
            yield document


UNTREATED = Treatment()
"""Documents as they come in."""


class _Node:
    """What is done at a path, and below it."""

    __slots__ = ("below", "domain", "keys", "map", "missing", "path", "replace", "stays")

    def __init__(self) -> None:
        self.below: dict[str, _Node] = {}
        self.path = ""
        self.keys: Keys = ()
        self.map = False
        self.replace: Replace | None = None
        self.missing: Missing | None = None
        self.domain: str | None = None
        self.stays = False


class _Work:
    """A treatment in one process."""

    def __init__(self, treatment: Treatment, traces: Traces | None) -> None:
        self._traces = traces
        self._root = _Node()
        self._by = treatment.by
        self._by_path = ""
        self._offset: Callable[[str], int] | None = None
        for keys, path in treatment.maps:
            node = self._at(keys)
            node.map, node.path = True, path
        for treated in treatment.fields:
            replace = treated.action.replace(treated.path, treatment.key)
            if replace is None:
                continue
            node = self._at(treated.keys)
            node.path, node.keys, node.replace = treated.path, treated.keys, replace
            node.missing = Missing(treated.missing) if treated.missing else None
            node.stays = treatment.kept and treated.action.keyed
            if (tokens := treated.action.tokens(treated.path)) is not None:
                node.domain = tokens.domain
            if (shift := treated.action.date_shift()) is not None:
                assert treatment.key is not None
                self._offset = treated.action.offsets(treatment.key)
                self._by_path = shift.by or ""
        self._days = 0
        self._seen: set[tuple[str, str]] = set()

    def _at(self, keys: Keys) -> _Node:
        node = self._root
        for key in keys:
            node = node.below.setdefault(key, _Node())
        return node

    def treat(self, document: Document) -> _MisfitError | None:
        """Treat a record; what is wrong with it, if anything is."""
        try:
            if self._offset is not None:
                self._days = self._offset(self._identity(document))
            self._object(self._root, document)
        except _MisfitError as misfit:
            return misfit
        if self._traces is not None:
            for domain, token in self._seen:
                mark = bytes.fromhex(token[: 2 * MARK].ljust(2 * MARK, "0"))
                self._traces.marks.setdefault(domain, bytearray()).extend(mark)
            self._seen.clear()
        return None

    def _identity(self, document: Document) -> str:
        """What decides how far the dates of a record are moved."""
        if self._by is None:
            return repr(document)
        value: Value = document
        for step in self._by:
            value = value.get(step) if isinstance(value, dict) else None
            value = value[0] if isinstance(value, Siblings) and len(value) == 1 else value
        if value is None or isinstance(value, dict | list):
            raise _MisfitError(
                self._by_path, "the dates of a record are moved by this value, and it has none"
            )
        return text_of(value)

    def _object(self, node: _Node, document: Document) -> None:
        for key, below in node.below.items():
            if key in document:
                document[key] = self._value(below, document[key])

    def _value(self, node: _Node, value: Value) -> Value:
        if node.map and value is not None:
            entries = unfolded(value)
            if entries is None:
                raise _MisfitError(node.path, "the policy says that this is a map, and here it is no object")
            value = entries
        if isinstance(value, list):
            elements = isinstance(value, Siblings)
            for place, item in enumerate(value):
                value[place] = self._item(node, item, elements)
            return value
        return self._item(node, value, False)

    def _item(self, node: _Node, value: Value, element: bool) -> Value:
        if isinstance(value, dict):
            self._object(node, value)
            return value
        if isinstance(value, list):  # arrays in arrays: binding refuses them
            return value
        if node.replace is not None:
            return self._replaced(node, value)
        text = node.below.get(TEXT)
        if element and value != "" and text is not None and text.replace is not None:
            return self._replaced(text, value)
        return value

    def _replaced(self, node: _Node, value: Scalar) -> Scalar:
        assert node.replace is not None
        if value is None or (node.missing is not None and value in node.missing):
            return value
        refused = None
        try:
            found = node.replace(value, self._days)
        except RefusedError as error:
            refused = str(error)
        if refused is not None:
            raise _MisfitError(node.path, refused)
        if node.domain is not None and self._traces is not None:
            self._traces.made[node.keys] += 1
            self._seen.add((node.domain, str(found)))
        return value if node.stays else found
