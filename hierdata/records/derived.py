"""Derived fields: labels that follow from another field of the same object, such as the name of a code.

They are no part of a record that is bound. Their pairs with the source are found in the input, they are put
beside what is published of the source, and read again in published records.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from hierdata.documents.document import TEXT, Document, Scalar, Siblings, Value, put_value, single
from hierdata.domains.derived import LabelPair, key_of
from hierdata.domains.number import spell_once
from hierdata.records.values import Missing

Keys: TypeAlias = tuple[str, ...]


class SeveralError(Exception):
    """There is a list or an object where a single value belongs."""


@dataclass(frozen=True)
class DerivedField:
    """A derived field: the keys of the ``source`` and of its ``label``, and their spellings of missing."""

    source: Keys
    label: Keys
    source_missing: frozenset[str] = frozenset()
    label_missing: frozenset[str] = frozenset()

    @cached_property
    def shared(self) -> Keys:
        """The keys of the deepest object that holds both."""
        pairs = zip(self.source[:-1], self.label[:-1], strict=False)
        count = next((number for number, (step, other) in enumerate(pairs) if step != other), None)
        return self.source[: min(len(self.source), len(self.label)) - 1 if count is None else count]

    @property
    def source_steps(self) -> Keys:
        """The keys from that object to the source."""
        return self.source[len(self.shared) :]

    @property
    def label_steps(self) -> Keys:
        """The keys from that object to the label."""
        return self.label[len(self.shared) :]

    def put(self, document: Document, find: Callable[[Scalar], Scalar]) -> None:
        """Put the label that ``find`` gives for the published source into each object of a record."""
        for item in objects_at(document, self.shared):
            label = find(read_single(item, self.source_steps))
            if label is not None:
                put_value(item, self.label_steps, label)


@dataclass
class LabelPairs:
    """The labels of the values of one source, in a part of a collection.

    ``unlike`` are the values that have several labels. ``lacking`` counts objects with a value and no label,
    ``stray`` those with a label and no value, ``several`` those where one of them is not a single value.
    """

    pairs: dict[Hashable, LabelPair] = field(default_factory=dict)
    unlike: set[Hashable] = field(default_factory=set)
    lacking: int = 0
    stray: int = 0
    several: int = 0

    def add(self, documents: Iterable[Document], derived: DerivedField) -> None:
        """Add the pairs of some records."""
        gone = Missing(derived.source_missing), Missing(derived.label_missing)
        steps = derived.source_steps, derived.label_steps
        for document in documents:
            for item in objects_at(document, derived.shared):
                try:
                    value, label = (
                        None if (scalar := read_single(item, keys)) in missing else scalar
                        for keys, missing in zip(steps, gone, strict=True)
                    )
                except SeveralError:
                    self.several += 1
                    continue
                if value is not None and label is not None:
                    self._add_pair(key_of(value), (value, spell_once(label)))
                else:
                    self.lacking += value is not None
                    self.stray += label is not None

    @property
    def faults(self) -> str:
        """What keeps the label from being a function of its source; empty if it is one."""
        faults = [
            (len(self.unlike), f"of {len(self.pairs)} values of the source have several labels"),
            (self.lacking, "values of the source have no label"),
            (self.stray, "labels have no value of the source"),
            (self.several, "are lists or objects instead of single values"),
        ]
        listed = ", ".join(f"{count} {fault}" for count, fault in faults if count)
        return listed and f"{listed}; correct the data, or give the field a role of its own"

    def merge(self, other: LabelPairs) -> None:
        """Add those of another part."""
        for key, pair in other.pairs.items():
            self._add_pair(key, pair)
        self.unlike |= other.unlike
        self.lacking += other.lacking
        self.stray += other.stray
        self.several += other.several

    def _add_pair(self, key: Hashable, pair: LabelPair) -> None:
        known = self.pairs.setdefault(key, pair)
        if known is not pair and key_of(known[1]) != key_of(pair[1]):
            self.unlike.add(key)


def objects_at(value: Value, keys: Keys) -> Iterator[Document]:
    """Yield the objects at some keys, through all lists; an element with text alone is one too."""
    for item in value if isinstance(value, list) else (value,):
        if isinstance(item, dict) and not keys:
            yield item
        elif isinstance(item, dict) and keys[0] in item:
            yield from objects_at(item[keys[0]], keys[1:])
        elif isinstance(item, str) and not keys and isinstance(value, Siblings):
            yield {TEXT: item}


def read_single(item: Document, steps: Keys) -> Scalar:
    """Return the single value at some keys of an object, None if there is none."""
    value: Value = item
    for step in steps:
        if isinstance(value, str):  # an element without attributes and children
            value = value if step == TEXT else None
        elif isinstance(value, dict):
            value = single(value.get(step))
        elif value is not None:
            raise SeveralError
    if isinstance(value, dict | list):
        raise SeveralError
    return value
