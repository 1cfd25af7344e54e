"""Which fields of a draft are direct identifiers: by what values look like, by names, by both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hierdata.drafting.fields import Field
from hierdata.drafting.seen import ENOUGH, FEW, FieldFacts, K, Proposal
from hierdata.records.recognition.persons import Meaning, is_called_thing
from hierdata.records.recognition.words import DEED_ENDS, PARTS_ALONE, words_of
from hierdata.records.survey import Keys

_FORMATS = {
    "email": "e-mail addresses",
    "phone": "phone numbers",
    "uuid": "UUIDs",
    "object_id": "ObjectIds, which contain the time of their creation",
    "ip": "IP addresses",
    "url": "web addresses",
}
_REACH = ("email", "phone", "url", "ip")
"""Formats of which one field may hold several, such as a list of ways to reach a person."""
_NUMBERS = {"account": "bank accounts, whose check is right", "national": "national numbers of persons"}
_DATES = ("date", "compact_date", "other_date")
_CODES = 10
"""At most as many different values may be codes, such as a kind of address."""
_LONGEST_CODE = 12
_NAMED = 0.3
_GIVEN = 0.6
_SURELY = 0.9
_FEW_NAMES = 3
"""With fewer different values than this, nearly all must have given names of persons."""
_MANY = 20
"""Different values from which texts that are written like full names may be those of persons."""
_MOSTLY = 0.8
_REPEATS = (
    "does a person have several records? A model counts records, not people; use another role if it does not "
    "identify a person"
)
_GIVEN_NAMES = "the values look like given names of persons"
_WHOSE = "are they names of people? If they are names of things, use `role: quasi`"


def propose_identifier(facts: FieldFacts) -> Proposal | None:
    """Return the proposal for a field that identifies a person, None for another field."""
    format_words = _looks_like(facts)
    if format_words is not None:
        return Proposal({"role": "identifier"}, f"the values look like {format_words}")
    if facts.looks.mostly("binary"):
        return Proposal({"role": "free_text"}, "binary data, which may say anything")
    meaning = facts.field.meaning
    if meaning is not None and meaning.kind == "bare":
        return _propose_name(facts)
    if meaning is None or not meaning.identifies:
        return _propose_subject(facts) or _propose_full_names(facts)
    if meaning.kind == "key" and meaning.whose == "unknown":
        return _propose_full_names(facts)
    if _is_no_identifier(facts, meaning):
        return None
    keyed = (
        meaning.kind in ("key", "person")
        and meaning.whose != "other"
        and not facts.field.inside
        and facts.unique < 0.5
    )
    return Proposal({"role": "identifier"}, meaning.reason, _REPEATS if keyed else "")


def _propose_subject(facts: FieldFacts) -> Proposal | None:
    """Decide whether ``subject`` holds keys of persons, by their form; it may also be that of a lesson."""
    words = words_of(facts.field.names[0]) if facts.field.names else []
    if words in (["subject"], ["individual"]) and facts.looks.mostly("code") and facts.distinct > 2:
        doubt = "are they keys of persons? If they are codes of a field of study, use `role: quasi`"
        return Proposal({"role": "identifier"}, "the values look like keys of subjects", doubt)
    return None


def describe_thing(facts: FieldFacts) -> str:
    """Return why a field that is called a name is not taken for one of a person; empty if it is not."""
    meaning = facts.field.meaning
    if meaning is None or meaning.kind not in ("thing", "bare"):
        return ""
    if meaning.kind == "thing":
        return f"the name or key of a thing ({meaning.word}), not of a person" if facts.looks.texts else ""
    return "a name, but its values do not look like names of persons"


def _looks_like(facts: FieldFacts) -> str | None:
    """Return what the values look like, if that identifies persons whatever the field is called."""
    looks = facts.looks
    for name, words in _FORMATS.items():
        if looks.mostly(name):
            return None if name == "url" and not _is_own_address(facts) else words
    if looks.mostly(*_REACH) and not _is_vocabulary(facts):
        return "ways to reach a person"
    if facts.distinct > 1:
        for name, words in _NUMBERS.items():
            if looks.share_like(name) >= 0.9:
                return words
    return None


def _is_own_address(facts: FieldFacts) -> bool:
    """Return whether web addresses are of single things or persons: of no vocabulary, or ids with numbers."""
    is_numbered_id = facts.hint == "reference" and facts.looks.share_like("address") >= _MOSTLY
    return not _is_vocabulary(facts) or (is_numbered_id and facts.distinct > 1)


def _is_vocabulary(facts: FieldFacts) -> bool:
    """Return whether few values are shared by many records each, as addresses of terminologies are."""
    attribute = facts.field.attribute
    assert attribute is not None
    rare = attribute.values.below(K) / max(1, attribute.present)
    return facts.distinct == 1 or (facts.distinct <= FEW and rare < 0.1 and attribute.present >= ENOUGH)


def _propose_name(facts: FieldFacts) -> Proposal | None:
    """Decide by the values, and by the fields beside it, whether ``name`` is that of a person."""
    looks = facts.looks
    if looks.numeric or looks.mostly(*_DATES) or not looks.texts:
        return None
    named = looks.share_like("named", "titled", "given")
    if named >= _NAMED and looks.share_like("named", "titled", "full", "given", "word") >= _MOSTLY:
        return Proposal({"role": "identifier"}, "a name, and many values have given names of persons")
    if facts.field.is_of_person and facts.distinct > 2:
        return Proposal({"role": "identifier"}, "a name beside what only persons have")
    if looks.share_like("named", "titled", "full") >= _MOSTLY and len(facts.field.names) == 1:
        return Proposal({"role": "identifier"}, "a name, and its values have the form of full names", _WHOSE)
    return None


def _propose_full_names(facts: FieldFacts) -> Proposal | None:
    """Return the proposal for texts that are names of persons by their form and by given names in them."""
    looks = facts.looks
    full = looks.share_like("named", "titled", "full") >= _MOSTLY
    few = facts.distinct < _FEW_NAMES
    # Brands have titles too: of what is called a thing, only given names tell.
    is_thing = bool(facts.field.names) and is_called_thing(facts.field.names[0])
    named = looks.share_like("named") if is_thing else looks.share_like("named", "titled")
    if full and named >= (_SURELY if few else _NAMED):
        return Proposal({"role": "identifier"}, "the values look like full names of persons")
    if facts.hint is not None or is_thing or describe_thing(facts):
        return None
    if (
        facts.distinct >= _MANY
        and full
        and looks.share_like("named", "titled", "full") >= _SURELY
        and looks.words_each < 3
    ):
        return Proposal({"role": "identifier"}, "the values have the form of full names", _WHOSE)
    if not few and looks.share_like("given") >= _GIVEN:
        return Proposal({"role": "identifier"}, _GIVEN_NAMES)
    return None


def propose_surnames(fields: Iterable[Field], proposed: Mapping[Keys, Proposal]) -> dict[Keys, Proposal]:
    """Return proposals for words beside given names, in fields whose names say nothing: surnames perhaps."""
    of_persons = {keys[:-1] for keys, proposal in proposed.items() if proposal.reason == _GIVEN_NAMES}
    return {
        field.keys: Proposal({"role": "identifier"}, "words beside given names of persons", _WHOSE)
        for field in fields
        if field.keys[:-1] in of_persons
        and proposed[field.keys].is_published
        and field.attribute is not None
        and field.attribute.values.distinct >= _CODES
        and field.attribute.looks.share_like("named", "titled", "full", "given", "word") >= _MOSTLY
        and field.hint is None
        and field.meaning is None
        and not (field.names and is_called_thing(field.names[0]))
    }


def _is_no_identifier(facts: FieldFacts, meaning: Meaning) -> bool:
    """Return whether the values show that the field is not what its name says: dates, flags, a few codes."""
    looks = facts.looks
    if looks.mostly(*_DATES) or looks.only("boolean"):
        return meaning.kind not in ("key", "number")  # some national numbers begin with the day of birth
    if meaning.kind == "part" and meaning.word in PARTS_ALONE and not meaning.outer:
        return looks.share_like("named", "titled", "full", "given", "word") < _MOSTLY
    if meaning.kind == "contact" and looks.mostly("url") and _is_vocabulary(facts):
        return True
    if meaning.kind not in ("contact", "person", "number") or facts.distinct > _CODES:
        return False
    if looks.numeric:
        of_somebody = meaning.whose == "subject" or (meaning.whose == "other" and meaning.kind == "contact")
        return meaning.kind != "number" and not of_somebody and looks.spread() < 100
    short = looks.only("text", "boolean") and looks.words_each <= 1 and looks.longest <= _LONGEST_CODE
    if meaning.kind == "person":
        if not DEED_ENDS.isdisjoint(meaning.word.split()):
            return False  # ``entered_by``: initials and codes of staff
        return short and looks.share_like("word", "given", "named", "titled", "full") == 0
    return short
