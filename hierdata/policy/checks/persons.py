"""Whether each record is a person: what says whose it is, where it repeats, and what a policy must say.

k counts records. Where several are of one person, she may be all of a class, so a policy says with
``individual`` how records of one person become one, or why each counts as one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from hierdata.ground.errors import PolicyError
from hierdata.policy.policy import Policy
from hierdata.policy.problems import Problem
from hierdata.records.person_watch import PersonWatch
from hierdata.records.recognition.persons import PersonField, ValueRepeats
from hierdata.records.shape.individuals import name_field
from hierdata.records.survey import Keys, Survey

_FEWEST = 4
"""With fewer values a field that is called as a person is may be a kind of person."""
_FEW_EQUAL = 5


def check_accepted(policy: Policy) -> Iterator[Problem]:
    """Yield the accepted fields that no rule publishes."""
    for text in policy.accept.unique:
        where = ("accept", "unique", text)
        try:
            known = policy.rules_by_keys.get(policy.path(text).keys)
        except PolicyError as error:
            yield where, str(error)
            continue
        if known is None or known[1].published_as is None:
            yield where, "no rule publishes this field: name it as `fields` does"


def watch_persons(policy: Policy) -> PersonWatch | None:
    """Return what watches whose the records are; None where the policy says what an individual is."""
    if policy.individual is not None:
        return None
    stated = tuple(keys for keys in policy.rules_by_keys if not policy.is_inside(keys))
    missing = {text.casefold() for rule in policy.fields.values() for text in rule.missing}
    return PersonWatch(stated, frozenset(missing))


def find_repeating_persons(
    policy: Policy, survey: Survey
) -> list[tuple[Literal["error", "warning"], Keys, str]]:
    """Return the fields that say whose a record is and repeat, each with its severity and what to do.

    A name or key of the record's subject is an error, one of another person, or of one of whom that is
    unknown, a warning. Where a key of the subject is in all records and never repeats, each record is a
    person, and equal names are those of different persons.
    """
    repeating = {
        field: repeats
        for field, repeats in survey.persons.items()
        if repeats.repeated
        and not _is_link(policy, field)
        and not (field.is_vague and repeats.distinct < _FEWEST)
    }
    subjects = [
        field
        for field, repeats in repeating.items()
        if field.whose == "subject" and not _is_chance(field, repeats)
    ]
    keyed = any(
        field.tells_persons and repeats.present == repeats.distinct == survey.records
        for field, repeats in survey.persons.items()
    )
    return [
        ("error" if field in subjects and not keyed else "warning", *_describe(field, repeats, keyed))
        for field, repeats in repeating.items()
        if not (keyed and field in subjects and not field.is_key)
    ]


def _is_chance(watched: PersonField, repeats: ValueRepeats) -> bool:
    """Return whether few first and last names together repeat, as those of different persons do."""
    return len(watched.fields) > 1 and _FEW_EQUAL * repeats.repeated < repeats.distinct


def require_individual(policy: Policy, survey: Survey) -> None:
    """Raise PolicyError where records of one person would count as several persons."""
    lines = [
        f"{show_path(policy, keys)}: {advice}"
        for severity, keys, advice in find_repeating_persons(policy, survey)
        if severity == "error"
    ]
    if lines:
        raise PolicyError(lines)


def show_path(policy: Policy, keys: Keys) -> str:
    """Return the path of a field; that of one without a rule is not shown."""
    known = policy.rules_by_keys.get(keys)
    return name_field(keys, policy.paths) if known is None else str(known[0])


def _describe(watched: PersonField, repeats: ValueRepeats, keyed: bool) -> tuple[Keys, str]:
    several = "1 value repeats" if repeats.repeated == 1 else f"{repeats.repeated:,} values repeat"
    verb = "keys" if watched.is_key else "names"
    if watched.whose != "subject":
        who = "another person" if watched.whose == "other" else "a person"
        return watched.fields[0], (
            f"{several}, and the name of the field says that it {verb} {who}. If the record is about that "
            "person, k counts records, not persons: `individual` unites the records of each"
        )
    if keyed:
        contrast = "while another key of persons never does: find out which is right"
        return watched.fields[0], f"{several}, {contrast}"
    together = " (with the other parts of the name)" if len(watched.fields) > 1 else ""
    return watched.fields[0], (
        f"{several}{together}, and the field {verb} the person whom a record is about. So k would count "
        "records, not persons. State `individual: {by: ...}` with a key of persons, and `nest` if records of "
        "one differ. Or state `individual: {none: REASON}` where each record is another person"
    )


def _is_link(policy: Policy, watched: PersonField) -> bool:
    """Return whether these are references to a vertex that another field identifies: several may be equal."""
    tokens = policy.pseudonyms
    identified = {spec.domain for spec in tokens.values() if spec.is_identity}
    specs = [tokens[keys] for keys in watched.fields if keys in tokens]
    return any(spec.domain in identified and not spec.is_identity for spec in specs)
