"""Hints from the names of fields: a small table of English words."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

Hint: TypeAlias = Literal["identifier", "reference", "quasi", "postal", "sensitive", "free_text"]
"""``reference`` identifies people if its values hardly repeat; ``postal`` is a quasi-identifier of codes."""

_WORDS: dict[Hint, str] = {
    "identifier": """
        account address email fax fingerprint firstname forename fullname givenname familyname iban imei
        ip lastname license licence login mail maidenname middlename mobile mrn nickname
        passport passwd password phone photo plate signature ssn street surname telephone url username
    """,
    "reference": """
        cid guid id identifier key name no nr number oid pid pk ref reference rowid serial sid uid uuid
    """,
    "free_text": "comment comments description memo message narrative note notes remark remarks summary text",
    "sensitive": """
        allergy balance belief cause condition conviction crime debt diagnoses diagnosis
        disability disease disorder drug drugs finding gpa grade hiv icd illness income loan
        mark medication offence offense orientation outcome party politics pregnancy procedure
        prognosis rating reason religion result salary score symptom symptoms test therapy
        treatment union violation wage
    """,
    "postal": "plz postal postalcode postcode zip zipcode",
    "quasi": """
        admission admitted age birth birthdate birthday birthplace born children citizenship
        city class country county date day degree department discharge discharged district dob
        education employer ethnic ethnicity gender height hospital household instructor job
        language latitude lat lon longitude major marital minor month municipality nationality
        native occupation position profession province race rank region school sex site start
        state status term time title town visit ward weight workclass year
    """,
}
PERSONS = frozenset(
    [
        "client",
        "customer",
        "employee",
        "household",
        "individual",
        "member",
        "participant",
        "patient",
        "person",
        "pupil",
        "respondent",
        "staff",
        "student",
        "subject",
        "user",
    ]
)
"""Words for people that a record may be about: their ids identify them, even if they occur repeatedly."""
HINTS: dict[str, Hint] = {word: hint for hint, words in _WORDS.items() for word in words.split()}

_TOKEN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def words_of(name: str) -> list[str]:
    """Return the words of a name, in lower case.

    >>> words_of("patientId"), words_of("date_of_birth"), words_of("{urn:x}PLZ")
    (['patient', 'id'], ['date', 'of', 'birth'], ['plz'])
    """
    return [word.lower() for word in _TOKEN.findall(name.rpartition("}")[2])]


def hint_of(name: str) -> tuple[Hint, str] | None:
    """Return the hint of a name and the word that gives it, or None.

    The whole name is tried first, then a word that always identifies people, then the last known word.

    >>> hint_of("postal_code"), hint_of("dateOfBirth"), hint_of("patientId"), hint_of("foo")
    (('postal', 'postalcode'), ('quasi', 'birth'), ('reference', 'id'), None)
    """
    words = words_of(name)
    together = "".join(words)
    for word in (together, together.removesuffix("s")):
        if word in HINTS:
            return HINTS[word], word
    known = [word if word in HINTS else word.removesuffix("s") for word in words]
    known = [word for word in known if word in HINTS]
    naming = next((word for word in known if HINTS[word] == "identifier"), None)
    if naming is not None:
        return "identifier", naming
    telling = next((word for word in reversed(known) if HINTS[word] != "reference"), None)
    if telling is not None and known[-1] not in ("id", "uuid", "guid", "key"):
        return HINTS[telling], telling
    return (HINTS[known[-1]], known[-1]) if known else None
