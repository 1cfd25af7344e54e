"""Fictional people, places and institutions, as FHIR resources."""

from __future__ import annotations

from datetime import date
from hashlib import blake2b
from typing import Any, NamedTuple

from hierdata.synth.vocabulary import Draws, limits

CORE = "http://hl7.org/fhir/us/core/StructureDefinition/"
_EXTENSION = "http://hl7.org/fhir/StructureDefinition/"
_V2 = "http://terminology.hl7.org/CodeSystem/v2-0203"
SITE = "https://records.example"

FEMALE = (
    "Abela", "Brinda", "Corisa", "Delwyn", "Elvira", "Fenna", "Gislaine", "Hedda", "Ilka", "Jorunn", "Kalea",
    "Lisbet", "Mireya", "Nadja", "Odile", "Pilar", "Quilla", "Rosaura", "Solveig", "Tamsin", "Ulla", "Vesna",
)  # fmt: skip
MALE = (
    "Aldous", "Bastian", "Corwin", "Dario", "Emrys", "Florian", "Gustav", "Halvor", "Ivo", "Jarek", "Kasimir",
    "Leandro", "Matteo", "Nils", "Orrin", "Piet", "Quentin", "Ruben", "Stellan", "Tobias", "Ulrich", "Viggo",
)  # fmt: skip
FAMILY = (
    "Abernuck", "Birchfen", "Calloway", "Dunmore", "Eastlake", "Fairholm", "Grimsby", "Hollander", "Ingleby",
    "Jessop", "Kettering", "Lindqvist", "Marlowe", "Northcott", "Oldcastle", "Penhallow", "Quillfeather",
    "Ravensworth", "Stillwater", "Thornbury", "Underhill", "Vandermeer", "Whitlock", "Yarrow", "Zellweger",
)  # fmt: skip
STREETS = ("Alder", "Birch", "Chapel", "Dock", "Elm", "Ferry", "Garden", "Harbor", "Juniper", "Kiln", "Mill")


class Town(NamedTuple):
    """A town of Massachusetts with the first four digits of its postal codes and about where it lies."""

    name: str
    prefix: str
    latitude: float
    longitude: float
    weight: float


TOWNS = (
    Town("Boston", "0211", 42.36, -71.06, 22), Town("Worcester", "0160", 42.26, -71.80, 9),
    Town("Springfield", "0110", 42.10, -72.59, 8), Town("Cambridge", "0213", 42.37, -71.11, 6),
    Town("Lowell", "0185", 42.63, -71.32, 5), Town("Brockton", "0230", 42.08, -71.02, 5),
    Town("Quincy", "0216", 42.25, -71.00, 5), Town("Lynn", "0190", 42.47, -70.95, 4),
    Town("New Bedford", "0274", 41.64, -70.93, 4), Town("Fall River", "0272", 41.70, -71.16, 4),
    Town("Newton", "0245", 42.34, -71.21, 4), Town("Somerville", "0214", 42.39, -71.10, 3),
    Town("Framingham", "0170", 42.28, -71.42, 3), Town("Haverhill", "0183", 42.78, -71.08, 3),
    Town("Pittsfield", "0120", 42.45, -73.25, 2), Town("Barnstable", "0260", 41.70, -70.30, 2),
)  # fmt: skip
_TOWN = limits([town.weight for town in TOWNS])
RACES = (
    ("2106-3", "White", 77), ("2054-5", "Black or African American", 9), ("2028-9", "Asian", 7),
    ("2131-1", "Other", 5), ("1002-5", "American Indian or Alaska Native", 1),
    ("2076-8", "Native Hawaiian or Other Pacific Islander", 0.4),
)  # fmt: skip
_RACE = limits([weight for _, _, weight in RACES])
LANGUAGES = (
    ("en-US", "English (United States)", 82), ("es", "Spanish", 10), ("pt", "Portuguese", 3),
    ("zh", "Chinese", 2.5), ("fr", "French", 1.5), ("ru", "Russian", 0.6), ("ar", "Arabic", 0.3),
)  # fmt: skip
_LANGUAGE = limits([weight for _, _, weight in LANGUAGES])
_STATUS = "http://terminology.hl7.org/CodeSystem/v3-MaritalStatus"
MARITAL = (("M", "Married", 58), ("S", "Never Married", 27), ("D", "Divorced", 10), ("W", "Widowed", 5))
_MARITAL = limits([weight for _, _, weight in MARITAL])


class Ids:
    """New ids in the form of a UUID: the same for the same seed and the same number of calls.

    >>> Ids(1).new() == Ids(1).new()
    True
    """

    def __init__(self, seed: int) -> None:
        self._key = str(seed).encode()
        self._count = 0

    def new(self) -> str:
        """Return the next id."""
        self._count += 1
        digits = blake2b(str(self._count).encode(), digest_size=16, key=self._key).hexdigest()
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


class Person(NamedTuple):
    """A patient: the resource, and what their history depends on."""

    resource: dict[str, Any]
    birth: date
    female: bool
    dead: date | None


def draw_person(draws: Draws, ids: Ids, today: date) -> Person:
    """Return a patient of 0 to 99 years, one in ten of the older ones dead for less than ten years."""
    female = draws.chance(0.51)
    days = int(36_500 * draws.share() * (0.55 + 0.45 * draws.share()))
    birth = date.fromordinal(today.toordinal() - days)
    dead = None
    if days > 60 * 365 and draws.chance(0.25):
        dead = date.fromordinal(today.toordinal() - draws.whole(1, 3_000))
    first_name, family = draws.pick(FEMALE if female else MALE), draws.pick(FAMILY)
    first_name, family = f"{first_name}{draws.whole(1, 999)}", f"{family}{draws.whole(1, 999)}"
    adult = days > 18 * 365
    names = [
        {"use": "official", "family": family, "given": [first_name, draws.pick(FEMALE if female else MALE)]}
    ]
    if adult:
        names[0]["prefix"] = ["Mrs." if female else "Mr."]
    marital = MARITAL[draws.index(_MARITAL)] if adult else MARITAL[1]
    if female and marital[0] in "MW" and adult:
        names.append({"use": "maiden", "family": draws.pick(FAMILY), "given": [first_name]})
    language = LANGUAGES[draws.index(_LANGUAGE)]
    resource: dict[str, Any] = {
        "resourceType": "Patient",
        "id": ids.new(),
        "meta": {"profile": [f"{CORE}us-core-patient"], "lastUpdated": f"{today}T04:00:00.000-05:00"},
        "text": _narrative(f"Synthetic record of {first_name} {family}, born on {birth}"),
        "extension": _extensions(draws, female),
        "identifier": _identifiers(draws, ids, adult),
        "name": names,
        "telecom": [{"system": "phone", "value": _phone(draws), "use": "home"}],
        "gender": "female" if female else "male",
        "birthDate": birth.isoformat(),
        "address": [_address(draws)],
        "maritalStatus": {
            "coding": [{"system": _STATUS, "code": marital[0], "display": marital[1]}],
            "text": marital[1],
        },
        "multipleBirthBoolean": draws.chance(0.03),
        "communication": [
            {
                "language": {
                    "coding": [{"system": "urn:ietf:bcp:47", "code": language[0], "display": language[1]}],
                    "text": language[1],
                }
            }
        ],
    }
    if dead is not None:
        resource["deceasedDateTime"] = f"{dead}T09:{draws.whole(10, 59)}:00-05:00"
    return Person(resource, birth, female, dead)


def _narrative(text: str) -> dict[str, str]:
    return {"status": "generated", "div": f'<div xmlns="http://www.w3.org/1999/xhtml">{text}.</div>'}


def _extensions(draws: Draws, female: bool) -> list[dict[str, Any]]:
    race = RACES[draws.index(_RACE)]
    hispanic = draws.chance(0.12)
    ethnicity = ("2135-2", "Hispanic or Latino") if hispanic else ("2186-5", "Not Hispanic or Latino")
    town = TOWNS[draws.index(_TOWN)]
    return [
        {"url": f"{CORE}us-core-race", "extension": _category(race[0], race[1])},
        {"url": f"{CORE}us-core-ethnicity", "extension": _category(*ethnicity)},
        {
            "url": f"{_EXTENSION}patient-mothersMaidenName",
            "valueString": f"{draws.pick(FEMALE)} {draws.pick(FAMILY)}",
        },
        {"url": f"{CORE}us-core-birthsex", "valueCode": "F" if female else "M"},
        {
            "url": f"{_EXTENSION}patient-birthPlace",
            "valueAddress": {"city": town.name, "state": "Massachusetts", "country": "US"},
        },
    ]


def _category(code: str, text: str) -> list[dict[str, Any]]:
    coding = {"system": "urn:oid:2.16.840.1.113883.6.238", "code": code, "display": text}
    return [{"url": "ombCategory", "valueCoding": coding}, {"url": "text", "valueString": text}]


def _identifiers(draws: Draws, ids: Ids, adult: bool) -> list[dict[str, Any]]:
    identifiers: list[dict[str, Any]] = [{"system": SITE, "value": ids.new()}]
    values = {"MR": (f"{SITE}/mrn", ids.new()), "SS": ("http://hl7.org/fhir/sid/us-ssn", _ssn(draws))}
    if adult:
        values["DL"] = ("urn:oid:2.16.840.1.113883.4.3.25", f"S{draws.whole(10_000_000, 99_999_999)}")
    if adult and draws.chance(0.5):
        values["PPN"] = (f"{SITE}/passport", f"X{draws.whole(10_000_000, 99_999_999)}X")
    for code, (system, value) in values.items():
        identifiers.append(
            {"type": {"coding": [{"system": _V2, "code": code}]}, "system": system, "value": value}
        )
    return identifiers


def _ssn(draws: Draws) -> str:
    """Return a number of the form of a social security number, of the area 999, which nobody has."""
    return f"999-{draws.whole(10, 99)}-{draws.whole(1000, 9999)}"


def _phone(draws: Draws) -> str:
    return f"555-{draws.whole(100, 999)}-{draws.whole(1000, 9999)}"


def _address(draws: Draws) -> dict[str, Any]:
    town = TOWNS[draws.index(_TOWN)]
    line = f"{draws.whole(1, 1099)} {draws.pick(STREETS)} Street"
    if draws.chance(0.3):
        line += f" Unit {draws.whole(1, 99)}"
    return {
        "extension": [
            {
                "url": f"{_EXTENSION}geolocation",
                "extension": [
                    {"url": "latitude", "valueDecimal": round(town.latitude + draws.share() / 10, 6)},
                    {"url": "longitude", "valueDecimal": round(town.longitude + draws.share() / 10, 6)},
                ],
            }
        ],
        "line": [line],
        "city": town.name,
        "state": "MA",
        "postalCode": f"{town.prefix}{draws.whole(0, 9)}",
        "country": "US",
    }


def draw_organization(draws: Draws, ids: Ids, number: int) -> dict[str, Any]:
    """Return a hospital or a practice."""
    town = TOWNS[number % len(TOWNS)]
    kind = ("Hospital", "Family Practice", "Clinic")[number % 3]
    return {
        "resourceType": "Organization",
        "id": ids.new(),
        "identifier": [{"system": f"{SITE}/organization", "value": ids.new()}],
        "active": True,
        "name": f"{town.name} {draws.pick(STREETS)} {kind} {number + 1}",
        "telecom": [{"system": "phone", "value": _phone(draws)}],
        "address": [_address(draws)],
    }


def draw_practitioner(draws: Draws, ids: Ids) -> dict[str, Any]:
    """Return a doctor."""
    female = draws.chance(0.5)
    first_name, family = draws.pick(FEMALE if female else MALE), draws.pick(FAMILY)
    number = draws.whole(1, 999)
    return {
        "resourceType": "Practitioner",
        "id": ids.new(),
        "identifier": [
            {"system": "http://hl7.org/fhir/sid/us-npi", "value": f"99999{draws.whole(10_000, 99_999)}"}
        ],
        "active": True,
        "name": [{"family": f"{family}{number}", "given": [f"{first_name}{number}"], "prefix": ["Dr."]}],
        "telecom": [
            {"system": "email", "value": f"{first_name}.{family}{number}@records.example", "use": "work"}
        ],
        "gender": "female" if female else "male",
    }
