"""Lists and values of several kinds at one key: each kind has a key of its own while a collection is treated.

Two policies make one: filters of a list's items (see ``filters``), and rules for both the single values and
the objects at a path. Records are separated as soon as they are read, and united again where they are
written, so that all between sees different vertex types. Published items of a list are in the order of the
policy's types, and have the texts that their filter compares.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from hierdata.documents.document import Document, Value
from hierdata.ground.errors import InputError
from hierdata.records.filters import Conditions
from hierdata.records.path import OBJECTS, Path, Step, jsonpath
from hierdata.records.record import MisfitError

Keys: TypeAlias = tuple[str, ...]

REST = "[?]"
"""The end of the key of items that no filter selects."""


@dataclass(frozen=True)
class ItemKind:
    """What one vertex type takes at a key: items that satisfy ``conditions``, or single values, or objects.

    ``key`` is its own while the records are treated; that of single values is the one in documents.
    """

    key: str
    path: str
    conditions: Conditions = ()
    is_object: bool = False


@dataclass(frozen=True)
class MixedKey:
    """A key with values of several kinds, in the objects at ``holder`` (keys as separated)."""

    holder: Keys
    name: str
    path: str
    kinds: tuple[ItemKind, ...]

    @cached_property
    def is_filtered(self) -> bool:
        """Whether the kinds are those of filters."""
        return bool(self.kinds[0].conditions)

    @cached_property
    def made_keys(self) -> frozenset[str]:
        """The keys that no document has."""
        return frozenset({self.name + REST, *(kind.key for kind in self.kinds)} - {self.name})

    @cached_property
    def _tables(self) -> list[tuple[tuple[Keys, ...], dict[tuple[str, ...], str]]]:
        """The fields that filters compare together, each with the kind's key by their texts."""
        tables: dict[tuple[Keys, ...], dict[tuple[str, ...], str]] = {}
        for kind in self.kinds:
            fields, texts = zip(*kind.conditions, strict=True)
            tables.setdefault(fields, {})[texts] = kind.key
        return list(tables.items())

    @cached_property
    def _by_text(self) -> tuple[Keys, Mapping[str, str]] | None:
        """The only field that the filters compare, and the kind's key by its text; None if there are more."""
        if len(self._tables) > 1 or len(self._tables[0][0]) > 1:
            return None
        (((keys,), table),) = self._tables
        return keys, {text: key for (text,), key in table.items()}

    def split(self, value: Value) -> dict[str, Value]:
        """Return the value's parts by the key of their kind; see ``put_parts``."""
        parts: dict[str, Value] = {}
        self.put_parts(value, parts)
        return parts

    def put_parts(self, value: Value, document: Document) -> None:
        """Put the value's parts into an object, by the key of their kind.

        Raises MisfitError for an item that two filters select, and for a filter on what is no list.
        """
        if not self.is_filtered:
            document.update(self._split_by_form(value))
        elif isinstance(value, list):
            self.put_items(value, document)
        elif value is not None:
            kind = "an object" if isinstance(value, dict) else "a single value"
            reason = f"a filter selects items of an array, and this is {kind}"
            raise MisfitError(self.kinds[0].path, reason)

    @cached_property
    def put_items(self) -> Callable[[Sequence[Any], dict[str, Any]], None]:
        """The function that puts items into lists of an object, by the key of the filter that selects each.

        Most filters compare one field of the item or of an object in it; these have a function of their own,
        since this is done for every item.
        """
        if self._by_text is None or len(self._by_text[0]) > 2:
            return self._put_each
        (first, *others), table = self._by_text
        last, rest = others[0] if others else None, self.name + REST

        def put(items: Sequence[Any], document: dict[str, Any]) -> None:
            for item in items:
                try:
                    key = table[item[first] if last is None else item[first][last]]
                except (KeyError, TypeError):  # no such field, or no text
                    key = rest
                if key in document:
                    document[key].append(item)
                else:
                    document[key] = [item]

        return put

    def _put_each(self, items: Sequence[Any], document: dict[str, Any]) -> None:
        for item in items:
            document.setdefault(self._key_of(item) or self.name + REST, []).append(item)

    def _key_of(self, item: Value) -> str | None:
        """Return the key of the kind whose filter selects an item, None if none does."""
        selected = None
        for fields, table in self._tables:
            key = table.get(tuple(_text_at(item, keys) or "" for keys in fields)) if fields else None
            if key is None or any(_text_at(item, keys) is None for keys in fields):
                continue
            if selected is not None:
                paths = [kind.path for kind in self.kinds if kind.key in (selected, key)]
                raise MisfitError(
                    paths[0], f"an item is selected by this filter and by {paths[1]}: make them exclusive"
                )
            selected = key
        return selected

    def _split_by_form(self, value: Value) -> dict[str, Value]:
        """Return the single values and the objects apart."""
        of_objects = next(kind.key for kind in self.kinds if kind.is_object)
        if isinstance(value, dict):
            return {of_objects: value}
        if not isinstance(value, list):
            return {self.name: value}
        objects: list[Value] = [item for item in value if isinstance(item, dict)]
        others: list[Value] = [item for item in value if not isinstance(item, dict)]
        parts: dict[str, Value] = {self.name: others, of_objects: objects}
        return {key: part for key, part in parts.items() if part} or {self.name: []}

    def join(self, document: Document) -> None:
        """Put the parts of an object together again, in place."""
        items: list[Value] = []
        several = False
        for kind in self.kinds:
            value = document.pop(kind.key, None)
            if value is None:
                continue
            several = several or isinstance(value, list)
            for item in value if isinstance(value, list) else (value,):
                for keys, text in reversed(kind.conditions):
                    item = _with_text(item, keys, text)
                items.append(item)
        if items:
            document[self.name] = items if several else items[0]


def _text_at(item: Value, keys: Keys) -> str | None:
    """Return the text at some keys of an item, None if there is none."""
    for key in keys:
        if type(item) is not dict:
            return None
        item = item.get(key)
    return item if type(item) is str else None


def _with_text(item: Value, keys: Keys, text: str) -> Document:
    """Return an object with a text at some keys, which come first."""
    fields = item if isinstance(item, dict) else {}
    rest = {key: value for key, value in fields.items() if key != keys[0]}
    return {keys[0]: text if len(keys) == 1 else _with_text(fields.get(keys[0]), keys[1:], text), **rest}


def _without_text(item: Value, keys: Keys) -> Value:
    """Return an object without the value at some keys."""
    if not isinstance(item, dict) or keys[0] not in item:
        return item
    if len(keys) == 1:
        return {key: value for key, value in item.items() if key != keys[0]}
    return {**item, keys[0]: _without_text(item[keys[0]], keys[1:])}


@dataclass(slots=True)
class _MixedNode:
    """What is done in the objects at a path: ``mixed`` keys, and the keys that lead to others."""

    below: dict[str, _MixedNode] = field(default_factory=dict)
    mixed: list[MixedKey] = field(default_factory=list)


@dataclass(frozen=True)
class Mixed:
    """The mixed keys of a policy; those of one list are together."""

    keys: tuple[MixedKey, ...] = ()

    @classmethod
    def of(cls, paths: Iterable[Path]) -> Mixed:
        """Return those of the paths of a policy."""
        kinds_at: dict[tuple[Keys, str], dict[str, ItemKind]] = {}
        texts: dict[tuple[Keys, str], str] = {}
        for path in paths:
            for depth, step in enumerate(path.steps):
                if step.conditions or step.apart:
                    kind = ItemKind(step.key, path.prefix(depth + 1), step.conditions, step.is_object)
                    text = path.text[: path.ends[depth + 1]]
                    if step.conditions:
                        text = path.text[: path.ends[depth]] + jsonpath(
                            [Step(step.document_key, False)]
                        ).lstrip("$")
                    texts.setdefault((path.keys[:depth], step.document_key), text)
                    kinds_at.setdefault((path.keys[:depth], step.document_key), {}).setdefault(step.key, kind)
        return cls(
            tuple(MixedKey(*key, texts[key], tuple(kinds.values())) for key, kinds in kinds_at.items())
        )

    def __bool__(self) -> bool:
        return bool(self.keys)

    def separate(self, documents: Iterable[Document], before: int = 0) -> Iterator[Document]:
        """Yield published records separated, without the fields that filters compare; nothing is changed.

        ``before`` records came before these. Raises InputError with the record's number, from 1.
        """
        if not self.keys:
            yield from documents
            return
        for number, document in enumerate(documents, before + 1):
            try:
                yield _separate(self._root, document)
            except MisfitError as misfit:
                raise InputError(str(misfit), record=number, path=misfit.path) from None

    def open(self, document: Document) -> None:
        """Separate a record of the input in place. Raises MisfitError."""
        if self.keys:
            _open(self._root, (document,))

    def unite(self, document: Document) -> Document:
        """Unite a separated record in place, and return it."""
        if self.keys:
            _unite(self._root, document)
        return document

    def apart_from(self, maps: Collection[Keys]) -> tuple[Mixed, tuple[MixedKey, ...]]:
        """Return those that are in no map, and the others: these are met when the map has become an array."""
        inside = tuple(
            key for key in self.keys if any(key.holder[:end] in maps for end in range(1, len(key.holder) + 1))
        )
        return Mixed(tuple(key for key in self.keys if key not in inside)), inside

    @cached_property
    def _root(self) -> _MixedNode:
        root = _MixedNode()
        for mixed in self.keys:
            node = root
            for key in mixed.holder:
                node = node.below.setdefault(key, _MixedNode())
            node.mixed.append(mixed)
        return root


UNMIXED = Mixed()
"""Documents as they come in."""


def open_mixed(documents: Sequence[Document], mixed: Sequence[MixedKey]) -> None:
    """Separate the mixed keys of some objects, in place. Raises MisfitError."""
    for mixed_key in mixed:
        made, name, put_parts = mixed_key.made_keys, mixed_key.name, mixed_key.put_parts
        put_items = mixed_key.put_items if mixed_key.is_filtered else None
        for document in documents:
            if not made.isdisjoint(document):
                raise MisfitError(mixed_key.kinds[0].path, "a field has the name of a filter: rename it")
            if name in document:
                value = document.pop(name)
                if put_items is not None and type(value) is list:
                    put_items(value, document)
                else:
                    put_parts(value, document)


def _open(node: _MixedNode, objects: Sequence[Document]) -> None:
    """Separate objects at a path and what is below them, in place, all objects together."""
    open_mixed(objects, node.mixed)
    for key, below in node.below.items():
        inner: list[Document] = []
        for document in objects:
            value = document.get(key)
            if type(value) is dict:
                inner.append(value)
            elif isinstance(value, list):
                inner += [item for item in value if type(item) is dict]
        if inner:
            _open(below, inner)


def _separate(node: _MixedNode, document: Document) -> Document:
    document = dict(document)
    open_mixed((document,), node.mixed)
    for mixed in node.mixed:
        for kind in mixed.kinds:
            if kind.conditions and kind.key in document:
                items = document[kind.key]
                assert isinstance(items, list)
                for keys, _ in kind.conditions:
                    items = [_without_text(item, keys) for item in items]
                document[kind.key] = items
    for key, below in node.below.items():
        value = document.get(key)
        if isinstance(value, list):
            document[key] = [_separate(below, item) if isinstance(item, dict) else item for item in value]
        elif isinstance(value, dict):
            document[key] = _separate(below, value)
    return document


def _unite(node: _MixedNode, document: Document) -> None:
    for key, below in node.below.items():
        value = document.get(key)
        for item in value if isinstance(value, list) else (value,):
            if isinstance(item, dict):
                _unite(below, item)
    for mixed in node.mixed:
        mixed.join(document)


def tell_forms_apart(path: Path, both: Iterable[Keys]) -> Path:
    """Return a path in which single values and objects at the same keys, ``both``, are apart.

    >>> from hierdata.records.path import parse
    >>> [tell_forms_apart(parse(text), {("reason",)}).keys for text in ("$.reason", "$.reason.text")]
    [('reason',), ('reason.*', 'text')]
    """
    steps: list[Step] = []
    for depth, step in enumerate(path.steps, 1):
        if path.keys[:depth] in both:
            last = depth == len(path.steps)
            key, name = (step.key, None) if last else (step.key + OBJECTS, step.key)
            step = Step(key, step.many, step.inner, name, apart=True)
        steps.append(step)
    return Path(tuple(steps), path.text, path.place, path.ends, path.named)


def compared_fields(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the paths of the fields that the filters in some paths compare, each once."""
    known: set[Keys] = set()
    for path in paths:
        for depth, step in enumerate(path.steps, 1):
            for keys, _ in step.conditions:
                if (*path.keys[:depth], *keys) not in known:
                    known.add((*path.keys[:depth], *keys))
                    steps = (*path.steps[:depth], *(Step(key, False) for key in keys))
                    start = path.text[: path.ends[depth]]
                    ends = [*path.ends[: depth + 1]]
                    for key in keys:
                        start += jsonpath([Step(key, False)]).removeprefix("$")
                        ends.append(len(start))
                    yield Path(steps, start, path.place, tuple(ends))
