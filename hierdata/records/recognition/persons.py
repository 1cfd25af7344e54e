"""What the name of a field says of persons: a name, a key, a way to reach somebody, and whose it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, TypeAlias

from hierdata.records.recognition.field_names import HINTS, OF_PERSONS
from hierdata.records.recognition.words import (
    DEED_ENDS,
    DEEDS,
    PARTS_ALONE,
    PARTS_OF_NAMES,
    SENSE_OF,
    Sense,
    singular,
    split_compound,
    word_set,
    words_of,
)

Kind: TypeAlias = Literal["name", "part", "contact", "number", "key", "person", "thing", "bare"]
"""``name``: of a person, ``part``: a part of it, ``contact``: how to reach a person, or what only one has,
``number``: given to a person by an authority, ``key``: of a person, ``person``: the field is called as a
person is, ``thing``: a name or key of a thing, ``bare``: ``name`` alone, of whatever."""
Whose: TypeAlias = Literal["subject", "other", "unknown"]

_ATTRIBUTES = frozenset(word for word, hint in HINTS.items() if hint != "reference")
_GENERIC = frozenset({"text", "value", "number", "extension", "line", "content", "#text", "string"})
"""Names below an object that say nothing: the object's own name counts."""
_STRUCTURE = word_set(
    """
    code codesystem country city county district end kind lang language period postal postalcode
    postcode profile rank root start state status system type unit url use version zip
    """
)
"""Names below an object that are no part of what it is called."""

_IDENTIFIERS = word_set(
    """
    id ids ident identifier identifiers identifiant identificador kennung
    """
)


@dataclass(frozen=True)
class Meaning:
    """What a field is of a person, by the ``word`` of its name; ``outer``: of a name around it."""

    kind: Kind
    word: str
    whose: Whose = "unknown"
    outer: bool = False

    @property
    def identifies(self) -> bool:
        """Whether its values identify a person, if they are what the name says."""
        return self.kind not in ("thing", "bare")

    @property
    def reason(self) -> str:
        """The reason for a proposal."""
        return (
            f"the name around it says so ({self.word})" if self.outer else f"its name says so ({self.word})"
        )


Word: TypeAlias = tuple[str, Sense | None]


@lru_cache(maxsize=8192)
def _senses(name: str) -> tuple[Word, ...]:
    """Return the words of a name with what each says; those of a compound apart."""
    senses: list[Word] = []
    words = words_of(name)
    # ``guardian1`` and ``approver_l2`` are what they are without the number.
    telling = [word for word in words if len(word) > 1 and not word.isdigit()]
    for word in _join_words(telling or words):
        for part in split_compound(word, _ATTRIBUTES):
            known = singular(part, SENSE_OF)
            sense = SENSE_OF.get(known)
            if sense in (None, "filler") and not {part, part.removesuffix("s")}.isdisjoint(_ATTRIBUTES):
                sense = "attribute"
            senses.append((known, sense))
    return tuple(senses)


_JOINED: tuple[Sense, ...] = ("part", "contact", "number", "other", "subject")


def _join_words(words: list[str]) -> list[str]:
    """Return the words, those as one that are one elsewhere: ``ship to``, ``first name``, ``next of kin``."""
    position, joined = 0, []
    while position < len(words):
        for count in (3, 2, 1):
            whole = "".join(words[position : position + count])
            if count == 1 or (
                position + count <= len(words) and SENSE_OF.get(singular(whole, SENSE_OF)) in _JOINED
            ):
                joined.append(whole)
                position += count
                break
    return joined


def meaning_of(names: Sequence[str]) -> Meaning | None:
    """Return what a field is of a person by its own name, the first, and those around it, innermost first.

    >>> [own.kind for name in ("lastName", "Kundennummer", "nom_patient") if (own := meaning_of([name]))]
    ['part', 'key', 'name']
    >>> meaning_of(["name", "courses"]), meaning_of(["value", "telecom"]).kind, meaning_of(["age"])
    (Meaning(kind='thing', word='course', whose='unknown', outer=True), 'contact', None)
    """
    if not names:
        return None
    name, around = names[0], list(names[1:])
    while around and name.lower() in ("#text", ""):
        name, around = around[0], around[1:]
    meaning = None if _is_count(name) else _of_own(_senses(name))
    if meaning is None or (meaning.kind == "key" and meaning.whose == "unknown"):
        below = _of_outer(name, around)
        if below is None and name.lower() in PARTS_ALONE:
            return Meaning("part", name.lower(), _whose_around(around))
        if (
            below is None
            and meaning is not None
            and around
            and _whose_container(_senses(around[0])) == "other"
        ):
            # A number of a judge is no fact of a person whom the record is about.
            return None if "code" in words_of(name) else replace(meaning, whose="other")
        return below if below is not None else meaning
    if meaning.kind == "bare":
        return _resolve_bare(meaning, around)
    if meaning.whose == "unknown" and meaning.kind != "thing":
        return replace(meaning, whose=_whose_around(around))
    return meaning


def is_called_thing(name: str) -> bool:
    """Return whether a field is called as a thing is, and as nothing of a person.

    >>> [is_called_thing(name) for name in ("brand", "product_line", "brand_manager", "name")]
    [True, True, False, False]
    """
    return {"thing"} <= {sense for _, sense in _senses(name)} <= {"thing", "filler", "attribute", None}


def are_of_person(names: Iterable[str]) -> bool:
    """Return whether some of the names of one object are of what only persons have: an age, a surname.

    So are those of one object with a key of persons, unless it has something of a thing too.

    >>> are_of_person(["Name", "Vorname"]), are_of_person(["name", "price"])
    (True, False)
    >>> are_of_person(["NAME1", "KUNDENNR"]), are_of_person(["name", "customer_id", "product_id"])
    (True, False)
    """
    senses = {name: {sense for _, sense in _senses(name)} for name in names}
    if any(not OF_PERSONS.isdisjoint(words_of(name)) or "part" in said for name, said in senses.items()):
        return True
    is_keyed = any({"subject", "key"} <= said or "number" in said for said in senses.values())
    return is_keyed and not any("thing" in said for said in senses.values())


_COUNTED = frozenset({"num", "number", "no", "nr", "nb", "n", "numero", "nombre", "anzahl", "count", "qty"})
_MANY = frozenset({"children", "people", "men", "women", "personnes"})


def _is_count(name: str) -> bool:
    """Return whether a name says how many there are, such as ``num_workers``, and not which one.

    >>> [_is_count(name) for name in ("numWorkers", "number_of_clients", "clientNumber", "numero_de_cliente")]
    [True, True, False, False]
    """
    first, *rest = words_of(name) or [""]
    if first not in _COUNTED or not rest:
        return False
    last = rest[-1]
    return last in _MANY or (last not in SENSE_OF and singular(last, SENSE_OF) in SENSE_OF)


def _of_own(words: Sequence[Word]) -> Meaning | None:
    senses = {sense for _, sense in words}
    if not words:
        return None
    by_deed = words[-1][0] in DEED_ENDS and any(word in DEEDS for word, _ in words)
    if by_deed:
        return Meaning("person", name_shown(words), "other")
    if "modifier" in senses and _is_fact(words):
        return None
    whose = _whose(words)
    if "name" in senses:
        return _of_name(words, whose)
    for kind in ("part", "number", "contact"):
        if kind in senses:
            # A city of an address is a city.
            last = words[-1][1] == "attribute" or words[0][1] == "attribute"
            return None if last else Meaning(kind, _word(words, kind), whose)
    if "key" in senses:
        return _of_key(words, whose)
    people: set[Sense | None] = {"subject", "other", "filler"}
    if words and senses & {"subject", "other"} and (senses <= people or words[-1][1] == "other"):
        return Meaning("person", name_shown(words), whose)
    return None


def _is_fact(words: Sequence[Word]) -> bool:
    """Return whether a modifier makes the name one of a fact, as in ``last_login`` and ``name_type``."""
    last, modifiers = words[-1][1], [word for word, sense in words if sense == "modifier"]
    if last == "other" or (last == "part" and set(modifiers) <= {"preferred"}):
        return False
    return last == "modifier" or all(sense != "name" for _, sense in words)


def _of_name(words: Sequence[Word], whose: Whose) -> Meaning:
    senses = {sense for _, sense in words}
    word = _word(words, "name")
    if whose != "unknown":
        return Meaning("name", name_shown(words), whose)
    if "contact" in senses:
        return Meaning("contact", _word(words, "contact"))
    for sense in ("thing", "attribute", "modifier"):
        if sense in senses and not (sense == "attribute" and _is_part(words)):
            return Meaning("thing", _word(words, sense))
    if _is_part(words) or "part" in senses:
        return Meaning("part", name_shown(words), whose)
    return Meaning("bare", word)


def _of_key(words: Sequence[Word], whose: Whose) -> Meaning | None:
    senses = {sense for _, sense in words}
    if "attribute" in senses:
        return None
    if any(word == "subject" for word, _ in words):
        whose = "subject"
    if "thing" in senses and whose == "unknown":
        return Meaning("thing", _word(words, "thing"))
    return Meaning("key", name_shown(words), whose)


def _is_part(words: Sequence[Word]) -> bool:
    return any(word in PARTS_OF_NAMES for word, _ in words)


def _whose(words: Sequence[Word]) -> Whose:
    senses = {sense for _, sense in words}
    return "other" if "other" in senses else "subject" if "subject" in senses else "unknown"


def _word(words: Sequence[Word], sense: Sense) -> str:
    return next(word for word, said in words if said == sense)


def name_shown(words: Sequence[Word]) -> str:
    """Return the words that say what a field is, for a reason."""
    telling = [word for word, sense in words if sense not in (None, "filler")]
    return " ".join(telling or [word for word, _ in words])


def _resolve_bare(bare: Meaning, around: Sequence[str]) -> Meaning:
    """Return whose name it is by the names around it."""
    for name in around:
        words = _senses(name)
        if (whose := _whose_container(words)) != "unknown":
            return Meaning("name", _word_of_person(words), whose, outer=True)
        thing = next((word for word, sense in words if sense in ("thing", "attribute")), None)
        if thing is not None:
            return Meaning("thing", thing, outer=True)
        if not {sense for _, sense in words} <= {"name", "key", "filler", "contact"}:
            break
    return bare


def _whose_container(words: Sequence[Word]) -> Whose:
    if [word for word, _ in words] in (["subject"], ["individual"]):
        return "subject"
    return _whose(words)


def _word_of_person(words: Sequence[Word]) -> str:
    return next((word for word, sense in words if sense in ("other", "subject")), words[0][0])


def _whose_around(around: Sequence[str]) -> Whose:
    """Return whose it is by the nearest name around it that names a person."""
    persons = (_whose_container(_senses(name)) for name in around)
    return next((whose for whose in persons if whose != "unknown"), "unknown")


def _of_outer(name: str, around: Sequence[str]) -> Meaning | None:
    """Return what a field is whose own name says nothing of persons, by the names around it."""
    if not around:
        return None
    words, low = _senses(around[0]), name.lower()
    senses = {sense for _, sense in words}
    if low in _STRUCTURE:
        return None
    is_generic = low in _GENERIC or all(sense in (None, "filler") for _, sense in _senses(name))
    whose = _whose_around(around)
    if senses and senses <= {"name", "filler"} and "name" in senses:
        resolved = _resolve_bare(Meaning("bare", words[0][0], outer=True), around[1:])
        if resolved.kind == "thing":
            return resolved
        return Meaning("part", words[0][0], whose, True) if is_generic or low in PARTS_OF_NAMES else None
    if "contact" in senses and "attribute" not in senses and is_generic:
        return Meaning("contact", _word(words, "contact"), whose, True)
    of_person = _whose_container(words)
    if of_person != "unknown" and (low in ("reference", "display", "id", "key", "number", *_GENERIC)):
        kind: Kind = "name" if low == "display" else "person" if low in ("text", "value", "#text") else "key"
        return Meaning(kind, f"{_word_of_person(words)} {low}", of_person, True)
    if words and words[0][0] in _IDENTIFIERS and senses <= {"key", "filler"} and is_generic:
        return Meaning("key", words[0][0], whose, True)
    return None


@dataclass(frozen=True)
class PersonField:
    """A field that says whose a record is, or several that do so together.

    A name counts together with day of birth and sex (``beside``), where the record has them: persons of one
    name who differ in these are different persons.

    ``is_key``: its values are keys; ``whose`` person it is. ``is_vague``: it is called as a person or an
    address is, and may be something else, such as a kind of them.
    """

    fields: tuple[tuple[str, ...], ...]
    is_key: bool
    whose: Whose
    is_vague: bool = False
    beside: tuple[tuple[str, ...], ...] = ()

    @property
    def tells_persons(self) -> bool:
        """Whether each record is a person if no value repeats: a key, or called as a person is."""
        return self.whose == "subject" and (self.is_key or self.is_vague)


@dataclass(frozen=True)
class ValueRepeats:
    """How often the values of such a field occur: in how many records, how many values, how many repeat."""

    present: int
    distinct: int
    repeated: int
