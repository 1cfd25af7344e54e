"""Which fields of a draft are direct identifiers: by what values look like, by names, by both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hierdata.drafting.fields import Field
from hierdata.drafting.seen import ENOUGH, FEW, K, Proposal, SeenField
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


def propose_identifier(seen: SeenField) -> Proposal | None:
    """Return the proposal for a field that identifies a person, None for another field."""
    what = _looks_like(seen)
    if what is not None:
        return Proposal({"role": "identifier"}, f"the values look like {what}")
    if seen.looks.mostly("binary"):
        return Proposal({"role": "free_text"}, "binary data, which may say anything")
    meaning = seen.of.meaning
    if meaning is not None and meaning.kind == "bare":
        return _propose_name(seen)
    if meaning is None or not meaning.identifies:
        return _propose_subject(seen) or _propose_full_names(seen)
    if meaning.kind == "key" and meaning.whose == "unknown":
        return _propose_full_names(seen)
    if _is_no_identifier(seen, meaning):
        return None
    keyed = (
        meaning.kind in ("key", "person")
        and meaning.whose != "other"
        and not seen.of.inside
        and seen.unique < 0.5
    )
    return Proposal({"role": "identifier"}, meaning.reason, _REPEATS if keyed else "")


def _propose_subject(seen: SeenField) -> Proposal | None:
    """Decide whether ``subject`` holds keys of persons, by their form; it may also be that of a lesson."""
    own = words_of(seen.of.names[0]) if seen.of.names else []
    if own in (["subject"], ["individual"]) and seen.looks.mostly("code") and seen.distinct > 2:
        doubt = "are they keys of persons? If they are codes of a field of study, use `role: quasi`"
        return Proposal({"role": "identifier"}, "the values look like keys of subjects", doubt)
    return None


def describe_thing(seen: SeenField) -> str:
    """Return why a field that is called a name is not taken for one of a person; empty if it is not."""
    meaning = seen.of.meaning
    if meaning is None or meaning.kind not in ("thing", "bare"):
        return ""
    if meaning.kind == "thing":
        return f"the name or key of a thing ({meaning.word}), not of a person" if seen.looks.texts else ""
    return "a name, but its values do not look like names of persons"


def _looks_like(seen: SeenField) -> str | None:
    """Return what the values look like, if that identifies persons whatever the field is called."""
    looks = seen.looks
    for name, what in _FORMATS.items():
        if looks.mostly(name):
            return None if name == "url" and not _is_own_address(seen) else what
    if looks.mostly(*_REACH) and not _is_vocabulary(seen):
        return "ways to reach a person"
    if seen.distinct > 1:
        for name, what in _NUMBERS.items():
            if looks.share_like(name) >= 0.9:
                return what
    return None


def _is_own_address(seen: SeenField) -> bool:
    """Return whether web addresses are of single things or persons: of no vocabulary, or ids with numbers."""
    is_numbered_id = seen.hint == "reference" and seen.looks.share_like("address") >= _MOSTLY
    return not _is_vocabulary(seen) or (is_numbered_id and seen.distinct > 1)


def _is_vocabulary(seen: SeenField) -> bool:
    """Return whether few values are shared by many records each, as addresses of terminologies are."""
    attribute = seen.of.attribute
    assert attribute is not None
    rare = attribute.values.below(K) / max(1, attribute.present)
    return seen.distinct == 1 or (seen.distinct <= FEW and rare < 0.1 and attribute.present >= ENOUGH)


def _propose_name(seen: SeenField) -> Proposal | None:
    """Decide by the values, and by the fields beside it, whether ``name`` is that of a person."""
    looks = seen.looks
    if looks.numeric or looks.mostly(*_DATES) or not looks.texts:
        return None
    given = looks.share_like("named", "titled", "given")
    if given >= _NAMED and looks.share_like("named", "titled", "full", "given", "word") >= _MOSTLY:
        return Proposal({"role": "identifier"}, "a name, and many values have given names of persons")
    if seen.of.is_of_person and seen.distinct > 2:
        return Proposal({"role": "identifier"}, "a name beside what only persons have")
    if looks.share_like("named", "titled", "full") >= _MOSTLY and len(seen.of.names) == 1:
        return Proposal({"role": "identifier"}, "a name, and its values have the form of full names", _WHOSE)
    return None


def _propose_full_names(seen: SeenField) -> Proposal | None:
    """Return the proposal for texts that are names of persons by their form and by given names in them."""
    looks = seen.looks
    full = looks.share_like("named", "titled", "full") >= _MOSTLY
    few = seen.distinct < _FEW_NAMES
    # Brands have titles too: of what is called a thing, only given names tell.
    is_thing = bool(seen.of.names) and is_called_thing(seen.of.names[0])
    named = looks.share_like("named") if is_thing else looks.share_like("named", "titled")
    if full and named >= (_SURELY if few else _NAMED):
        return Proposal({"role": "identifier"}, "the values look like full names of persons")
    if seen.hint is not None or is_thing or describe_thing(seen):
        return None
    if (
        seen.distinct >= _MANY
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
    of_persons = {keys[:-1] for keys, one in proposed.items() if one.reason == _GIVEN_NAMES}
    return {
        one.keys: Proposal({"role": "identifier"}, "words beside given names of persons", _WHOSE)
        for one in fields
        if one.keys[:-1] in of_persons
        and proposed[one.keys].is_published
        and one.attribute is not None
        and one.attribute.values.distinct >= _CODES
        and one.attribute.looks.share_like("named", "titled", "full", "given", "word") >= _MOSTLY
        and one.hint is None
        and one.meaning is None
        and not (one.names and is_called_thing(one.names[0]))
    }


def _is_no_identifier(seen: SeenField, meaning: Meaning) -> bool:
    """Return whether the values show that the field is not what its name says: dates, flags, a few codes."""
    looks = seen.looks
    if looks.mostly(*_DATES) or looks.only("boolean"):
        return meaning.kind not in ("key", "number")  # some national numbers begin with the day of birth
    if meaning.kind == "part" and meaning.word in PARTS_ALONE and not meaning.outer:
        return looks.share_like("named", "titled", "full", "given", "word") < _MOSTLY
    if meaning.kind == "contact" and looks.mostly("url") and _is_vocabulary(seen):
        return True
    if meaning.kind not in ("contact", "person", "number") or seen.distinct > _CODES:
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
