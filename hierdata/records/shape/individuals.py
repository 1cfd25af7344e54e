"""Several documents of one individual as one: objects are united, lists are concatenated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from hierdata.documents.document import Document, Siblings, Value, field_at
from hierdata.records.identifiers.base import text_of
from hierdata.records.path import Path
from hierdata.records.shape.places import SIZE, ShapeNotation, digest_value, is_scalar, scalar_of
from hierdata.records.survey import Keys


def digest_individual(document: Document, identity: Sequence[Keys]) -> bytes | None:
    """Return the digest of the values that say whose document it is, None if it has none of them.

    Values are equal as those of pseudonyms are: 5, 5.0 and "5" are one.
    """
    texts = [_text_at(document, keys) for keys in identity]
    if not any(texts):
        return None
    written = b"".join(len(text).to_bytes(8) + text for text in texts) if len(texts) > 1 else texts[0]
    return blake2b(written, digest_size=SIZE).digest()


def _text_at(document: Document, keys: Keys) -> bytes:
    value = field_at(document, keys)
    if value is None or value == "" or not is_scalar(value):
        return b""
    return text_of(scalar_of(value)).encode("utf-8", "surrogatepass")


@dataclass(frozen=True)
class Nesting:
    """What a document tells of its individual itself, and the list ``key`` whose item all else becomes.

    ``names`` are the keys of the individual's own fields.
    """

    names: frozenset[str]
    key: str
    notation: ShapeNotation

    def nest(self, document: Document) -> Document:
        """Return the document of an individual that has only this one."""
        individual: Document = {key: value for key, value in document.items() if key in self.names}
        rest: Document = {key: value for key, value in document.items() if key not in self.names}
        individual[self.key] = self.notation.make_list([rest])
        return individual


@dataclass
class Merging:
    """The documents of individuals, united one after the other.

    ``identity`` are the fields that say whose document it is. Fields below ``dropped`` are not published,
    so they may differ: the first is kept. Elements at ``repeated`` (XML) are lists; others occur once.
    ``differing`` counts the individuals whose documents have different values in a field.
    """

    identity: Collection[Keys]
    dropped: Collection[Keys] = ()
    listed: Collection[Keys] | None = None
    repeated: Collection[Keys] = ()
    differing: Counter[Keys] = field(default_factory=Counter)

    def merge(self, documents: Sequence[Document]) -> Document:
        """Return the one document of an individual; the given ones are used up."""
        whole, differing = documents[0], set[Keys]()
        for document in documents[1:]:
            self._add(whole, document, (), differing)
        self.differing.update(differing)
        return whole

    def _add(self, whole: Document, document: Document, keys: Keys, differing: set[Keys]) -> None:
        for key, value in document.items():
            if value is not None:
                below = (*keys, key)
                known = whole.get(key)
                whole[key] = value if known is None else self._unite(known, value, below, differing)

    def _unite(self, known: Value, value: Value, keys: Keys, differing: set[Keys]) -> Value:
        if self._is_single(known, value, keys):
            assert isinstance(known, Siblings)
            assert isinstance(value, Siblings)
            return Siblings([self._unite(known[0], value[0], keys, differing)])
        if isinstance(known, list) or isinstance(value, list):
            first: list[Value] = known if isinstance(known, list) else [known]
            first += value if isinstance(value, list) else [value]
            return first
        if isinstance(known, dict) and isinstance(value, dict):
            self._add(known, value, keys, differing)
        elif not self._may_differ(keys) and digest_value(known) != digest_value(value):
            differing.add(keys)
        return known

    def _is_single(self, known: Value, value: Value, keys: Keys) -> bool:
        """Return whether both values are an element that occurs once."""
        both = isinstance(known, Siblings) and isinstance(value, Siblings)
        return both and len(known) == len(value) == 1 and keys not in self.repeated  # type: ignore[arg-type]

    def _may_differ(self, keys: Keys) -> bool:
        """Return whether a field is not published, so that its values need not agree."""
        if keys in self.identity:
            return True  # equal already, in another spelling
        if any(keys[:count] in self.dropped for count in range(1, len(keys) + 1)):
            return True
        return self.listed is not None and keys not in self.listed


def find_repeated(value: Value, keys: Keys, repeated: set[Keys]) -> None:
    """Add the keys of all elements that occur several times next to each other."""
    if isinstance(value, dict):
        for key, item in value.items():
            find_repeated(item, (*keys, key), repeated)
    elif isinstance(value, list):
        if isinstance(value, Siblings) and len(value) > 1:
            repeated.add(keys)
        for item in value:
            find_repeated(item, keys, repeated)


def name_field(keys: Keys, paths: Collection[Path]) -> str:
    """Return the path of a field as a policy writes it; the names of other fields are left out."""
    for count in range(len(keys), 0, -1):
        for path in paths:
            if path.keys[:count] == keys[:count]:
                return path.prefix(count) if count == len(keys) else path.below(count)
    return next((path.below(0) for path in paths), "<key>")
