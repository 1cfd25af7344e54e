"""Whose a record is: its own fields that name or key a person, and whether their values repeat.

A field of the record itself is in no list. A name in parts (first and last) is one name; a part alone names
nobody. Digests of values are kept, not values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain, islice

from hierdata.documents.document import Document, Siblings, Value, field_at
from hierdata.records.identifiers.base import text_of
from hierdata.records.recognition.contents import shape_of_name
from hierdata.records.recognition.field_names import BORN
from hierdata.records.recognition.persons import Meaning, PersonField, are_of_person, meaning_of
from hierdata.records.recognition.words import word_set, words_of
from hierdata.records.shape.places import SIZE, is_scalar, scalar_of
from hierdata.records.survey import Keys

_LOOKED_AT = 100
"""Documents of a part of a collection in which fields are looked for that no rule names."""
_DEEPEST = 4
_MISSING = frozenset({"", "?", "-", "--", "na", "n/a", "#n/a", "nan", "null", "none", "unknown"})
_APART = BORN | word_set("sex gender geschlecht sexe sexo sesso geslacht genero")
"""Words for what persons of one name differ in."""
_WHOLE_NAMES = word_set(
    "fullname username login loginname screenname displayname legalname nominativo pseudo mononym alias"
)


def find_person_fields(known: Iterable[Keys]) -> tuple[PersonField, ...]:
    """Return what says of a record with these fields whose it is; keys that say nothing are left out.

    >>> [(own.fields, own.whose) for own in find_person_fields([("patient_id",), ("manager",), ("age",)])]
    [((('patient_id',),), 'subject'), ((('manager',),), 'other')]
    """
    listed = list(known)
    of_person = are_of_person(keys[0] for keys in listed if len(keys) == 1)
    beside = tuple(keys for keys in listed if not _APART.isdisjoint(words_of(keys[-1])))
    fields, parts = list[PersonField](), list[Keys]()
    meanings = {keys: meaning_of([key.removeprefix("@") for key in reversed(keys)]) for keys in listed}
    parted = {keys[:-1] for keys, meaning in meanings.items() if meaning is not None and _is_part(meaning)}
    for keys, meaning in meanings.items():
        if (
            meaning is None
            or meaning.kind == "thing"
            or (meaning.kind == "key" and meaning.whose == "unknown")
        ):
            continue
        whose = meaning.whose
        if meaning.kind in ("part", "number") and whose == "unknown":
            whose = "subject"
        if meaning.kind == "bare" and of_person:
            whose = "subject"
        # ``Name`` beside ``Vorname`` is the rest of the name.
        is_rest = meaning.kind in ("bare", "name") and keys[:-1] in parted
        if (_is_part(meaning) or is_rest) and whose == "subject":
            parts.append(keys)
        else:
            is_key = meaning.kind in ("key", "number")
            apart = () if is_key or whose != "subject" else beside
            is_vague = meaning.kind in ("person", "contact")
            fields.append(PersonField((keys,), is_key, whose, is_vague, apart))
    if parts:
        whose = "subject" if len(parts) > 1 else "unknown"
        fields.append(PersonField(tuple(parts), False, whose, beside=beside))
    return tuple(fields)


def _is_part(meaning: Meaning) -> bool:
    return meaning.kind == "part" and meaning.word not in _WHOLE_NAMES


@dataclass
class PersonWatch:
    """Digests of what says whose the records are that pass; ``stated`` are the fields that rules name.

    ``marks`` has a digest of ``SIZE`` bytes for each record with a value.
    """

    stated: tuple[Keys, ...]
    missing: Collection[str] = ()
    marks: dict[PersonField, bytearray] = field(default_factory=dict)

    def watch_documents(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield the documents unchanged, and keep the digests."""
        waiting = iter(documents)
        first = list(islice(waiting, _LOOKED_AT))
        known = dict.fromkeys(self.stated)
        for document in first:
            known.update(dict.fromkeys(_list_fields(document, ())))
        watched = find_person_fields(known)
        self.marks = {watched_field: bytearray() for watched_field in watched}
        for document in chain(first, waiting):
            for watched_field, marks in self.marks.items():
                digest = self._digest(document, watched_field)
                if digest is not None:
                    marks += digest
            yield document

    def _digest(self, document: Document, watched: PersonField) -> bytes | None:
        texts = [self._text(field_at(document, keys)) for keys in watched.fields]
        if all(text is None for text in texts):
            return None
        if watched.is_vague and not _may_be_person(texts[0] or ""):
            return None
        texts += [self._text(field_at(document, keys)) for keys in watched.beside]
        written = "\0".join(text or "" for text in texts)
        return blake2b(written.encode("utf-8", "surrogatepass"), digest_size=SIZE).digest()

    def _text(self, value: Value) -> str | None:
        if value is None or value == "" or not is_scalar(value):
            return None
        text = " ".join(text_of(scalar_of(value)).split()).casefold()
        return None if text in self.missing or text in _MISSING else text


def _may_be_person(text: str) -> bool:
    return any(map(str.isdigit, text)) or "@" in text or shape_of_name(text.title()) not in ("", "coded")


def _list_fields(value: Value, keys: Keys) -> Iterator[Keys]:
    """Yield the fields of a document that are in no list."""
    if isinstance(value, Siblings) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict) and len(keys) < _DEEPEST:
        for key, below in value.items():
            yield from _list_fields(below, (*keys, key))
    elif keys and not isinstance(value, list | dict) and value is not None:
        yield keys
