"""Rows of one person: which field says whose a record is, and what else of it is the person's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hierdata.documents.document import TEXT
from hierdata.drafting.fields import Field, Notation, fields
from hierdata.drafting.profile import FieldGroup, Profile, Related
from hierdata.drafting.seen import K
from hierdata.drafting.spectrum import Spectrum
from hierdata.drafting.values import Looks
from hierdata.policy.spec.families import list_tabular_presets
from hierdata.records.path import Step
from hierdata.records.person_watch import find_person_fields
from hierdata.records.recognition.field_names import OF_PERSONS, hint_of
from hierdata.records.recognition.persons import PersonField, meaning_of
from hierdata.records.recognition.words import words_of
from hierdata.records.survey import Keys

_MOST_KEYS = 8
"""The most fields of which is measured what they determine."""
_SURPLUS = 10
"""With fewer records beyond the first of each value, what a field determines may be chance."""
_FEWEST = 3
_SELDOM = 5
"""Of so many names one may repeat by chance."""
_ATTRIBUTES = 2
"""A field whose name says nothing of persons is a key of them if it determines as many facts of persons."""
_MOSTLY = 0.8
_LISTS = ("entries", "rows", "documents")


@dataclass(frozen=True)
class Persons:
    """Records that repeat persons: ``by`` the field at ``path``, ``persons`` of them in ``records``.

    ``rule`` is the policy's key ``individual``, None where none can unite them; ``is_name``: the field is no
    key but a name.
    """

    path: str
    rule: str | dict[str, Any] | None
    records: int
    persons: int
    is_name: bool = False


def choose_related(profile: Profile) -> Related:
    """Return the fields of a first batch that may say whose a record is, alone or together.

    The latter are the parts of names, with what tells persons of one name apart.
    """
    parts = [part for part in find_person_fields(_single(profile)) if len(part.fields) > 1]
    joint = [(*part.fields, *part.beside) for part in parts if part.whose == "subject"]
    return _choose_keys(profile), joint


def _choose_keys(profile: Profile) -> list[Keys]:
    """Return the fields of a first batch that may say whose a record is, the likeliest first."""
    single = _single(profile)
    ranked = sorted((_rank(keys, profile, single), position) for position, keys in enumerate(single))
    return [single[position] for rank, position in ranked if rank < _UNLIKELY][:_MOST_KEYS]


def find_persons(profile: Profile, notation: Notation) -> Persons | None:
    """Return how the records repeat persons; None if that cannot be found."""
    fields_of_record = _single(profile)
    named = _name_fields(fields_of_record)
    candidates = [keys for keys in _choose_keys(profile) if _repeats(keys, profile)]
    if any(_is_unique_key(keys, profile, named) for keys in fields_of_record):
        return None
    known = list(fields(profile, notation))
    for keys in candidates:
        if _is_of_persons(keys, profile, named):
            key = _find_key(keys, candidates, profile, named)
            single = FieldGroup((key,), profile.attributes[key].records, profile.determined[key])
            return _describe(single, profile.records, notation, known, is_name=_is_name(key, named))
    for joint in profile.joint:
        if joint.holders == profile.records and _is_no_chance(joint.records):
            return _describe(joint, profile.records, notation, known, is_name=True)
    return None


def _is_no_chance(records: Spectrum) -> bool:
    """Return whether names repeat more often than those of different persons do."""
    return records.distinct >= _FEWEST and _SELDOM * (records.distinct - records.below(2)) >= records.distinct


_UNLIKELY = 9


def _single(profile: Profile) -> list[Keys]:
    """Return the fields with one value in a record at most, in no list."""
    present = (keys for keys, attribute in profile.attributes.items() if attribute.present)
    return [keys for keys in present if not _is_listed(keys, profile)]


def _is_listed(keys: Keys, profile: Profile) -> bool:
    for depth in range(1, len(keys) + 1):
        shape = profile.shape.find(keys[:depth])
        if shape is not None and (shape.arrays or shape.longest > 1):
            return True
    return False


def _name_fields(single: Sequence[Keys]) -> dict[Keys, PersonField]:
    return {field.fields[0]: field for field in find_person_fields(single) if len(field.fields) == 1}


def _rank(keys: Keys, profile: Profile, single: Sequence[Keys]) -> int:
    """Return how unlikely a field says whose a record is; ``_UNLIKELY`` if it does not at all."""
    person_field = _name_fields(single).get(keys)
    if person_field is not None and person_field.whose == "subject":
        meaning = meaning_of([key.removeprefix("@") for key in reversed(keys)])
        is_contact = meaning is not None and meaning.kind == "contact"
        return 3 if is_contact else 1 if person_field.is_vague else 0 if person_field.is_key else 2
    if person_field is not None and person_field.whose == "other":
        return _UNLIKELY
    looks = profile.attributes[keys].looks
    hint = hint_of(keys[-1] if keys[-1] != TEXT or len(keys) == 1 else keys[-2])
    if person_field is not None or (hint is not None and hint[0] == "reference"):
        return 3
    return 4 if hint is None and _may_be_key(looks) else _UNLIKELY


def _may_be_key(looks: Looks) -> bool:
    dates = looks.mostly("date", "compact_date", "other_date")
    return not dates and not looks.formats["boolean"] and (not looks.numeric or looks.whole)


def _repeats(keys: Keys, profile: Profile) -> bool:
    attribute = profile.attributes[keys]
    several = attribute.records.distinct >= _FEWEST and attribute.records.largest > 1
    return attribute.holders == profile.records and several


def _is_unique_key(keys: Keys, profile: Profile, named: Mapping[Keys, PersonField]) -> bool:
    """Return whether a field is a key of the subject that never repeats: each record is a person."""
    person_field, attribute = named.get(keys), profile.attributes[keys]
    is_key = person_field is not None and person_field.tells_persons
    # Of many values a sample is counted, each value with all of its records.
    return is_key and attribute.holders == profile.records and attribute.records.largest == 1


def _is_name(keys: Keys, named: Mapping[Keys, PersonField]) -> bool:
    return keys in named and not named[keys].is_key


def _is_of_persons(keys: Keys, profile: Profile, named: Mapping[Keys, PersonField]) -> bool:
    person_field = named.get(keys)
    if person_field is not None and (person_field.whose == "subject" or _holds_names(keys, profile)):
        return True
    records = profile.attributes[keys].records
    surplus = records.total - records.distinct
    determined = profile.determined.get(keys)
    if determined is None or surplus < _SURPLUS or 10 * surplus < profile.records:
        return False
    if records.distinct < K:
        return False
    facts = [other for other in _of_persons(profile, named) if other != keys and determined.holds(other)]
    return len(facts) >= (1 if person_field is not None else _ATTRIBUTES)


def _holds_names(keys: Keys, profile: Profile) -> bool:
    """Return whether a field that is called a name, of whatever, has full names that repeat."""
    attribute = profile.attributes[keys]
    meaning = meaning_of([key.removeprefix("@") for key in reversed(keys)])
    is_name = meaning is not None and meaning.kind == "bare" and len(words_of(keys[-1])) == 1
    full = attribute.looks.share_like("named", "titled", "full")
    return is_name and full >= _MOSTLY and _is_no_chance(attribute.records)


def _of_persons(profile: Profile, named: Mapping[Keys, PersonField]) -> Iterator[Keys]:
    """Yield the fields with facts of persons that differ between records."""
    for keys in _single(profile):
        words = {word for key in keys for word in words_of(key)}
        subject = keys in named and named[keys].whose == "subject"
        if (subject or not words.isdisjoint(OF_PERSONS)) and profile.attributes[keys].records.distinct > 1:
            yield keys


def _find_key(
    keys: Keys, candidates: Sequence[Keys], profile: Profile, named: Mapping[Keys, PersonField]
) -> Keys:
    """Return a key in place of a name, if there is one that says the same."""
    if not _is_name(keys, named):
        return keys
    for other in candidates:
        there, back = profile.determined.get(keys), profile.determined.get(other)
        if other == keys or _is_name(other, named) or there is None or back is None:
            continue
        if there.holds(other) and back.holds(keys):
            return other
    return keys


def _describe(
    identity: FieldGroup, records: int, notation: Notation, known: Sequence[Field], *, is_name: bool
) -> Persons:
    determined, whose = identity.determined, {keys[0] for keys in identity.fields}
    tops = dict.fromkeys(field.keys[0] for field in known)
    differing = {
        field.keys[0]
        for field in known
        if field.keys[0] not in whose and (field.inside or field.obstacle or not determined.holds(field.keys))
    }
    scalars = {field.keys[0] for field in known if not field.inside and not determined.holds(field.keys)}
    paths = [notation.text(tuple(Step(key, False) for key in keys)) for keys in identity.fields]
    rule: str | dict[str, Any] | None = paths[0] if len(paths) == 1 else {"by": paths}
    if whose & scalars:
        rule = None
    elif scalars:
        nest = next(name for name in _LISTS if name not in tops)
        own_paths = [
            notation.text((Step(top, False),)) for top in tops if top not in differing and top not in whose
        ]
        rule = {"by": paths[0] if len(paths) == 1 else paths, "nest": notation.text((Step(nest, False),))}
        if own_paths:
            rule["own"] = own_paths
    return Persons(" and ".join(paths), rule, records, identity.records.distinct, is_name)


def describe_persons(persons: Persons, *, united: bool) -> str:
    """Return what a draft says of records that repeat persons; ``united``: it is for united records."""
    sentences = (
        f"CONFIRM: by {persons.path}, {persons.records:,} records are of {persons.persons:,} persons: k "
        "would count records, and all of a class could be one person. "
    )
    sentences += (
        "`individual` unites the records of each."
        if united
        else "State `individual`, with this field or a key of persons, to unite the records of each."
    )
    if persons.is_name:
        sentences += (
            " This is a name, not a key: a person whose name has two spellings counts as two, and persons of "
            "one name count as one. Is there a key of persons?"
        )
    if isinstance(persons.rule, dict):
        sentences += (
            f" United records are nested, so that what is for tables does not take them: the presets "
            f"{', '.join(list_tabular_presets())}, and engines for tables."
        )
    return sentences
