"""Synthetic patients with long histories of encounters, and synthetic outpatients.

The outpatients are the second bundled collection, whose sensitive values are ranked by frequency (ML 3.3).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from hierdata.ground.errors import PolicyError
from hierdata.synth.vocabulary import ROOT, Draws, limits

OLDEST, YOUNGEST = date(1940, 1, 1).toordinal(), date(2004, 12, 31).toordinal()

DIAGNOSES = {
    "flu": 30,
    "common cold": 26,
    "sprain": 20,
    "gastritis": 15,
    "pneumonia": 9,
    "hepatitis": 2,
    "HIV": 1,
}
"""Relative frequencies, chosen so that levels by frequency include all five levels."""
_DIAGNOSIS_LIMITS = limits(tuple(DIAGNOSES.values()))
WARDS = {
    "Primary care": ("General practice", "Emergency"),
    "Internal medicine": ("Pulmonology", "Gastroenterology", "Infectious diseases"),
    "Surgery": ("Orthopaedics", "General surgery"),
}
DEPARTMENT_TAXONOMY = tuple((ward, group, ROOT) for group, wards in WARDS.items() for ward in wards)
REGIONS = ("481", "482", "483", "490", "491", "043")
MOST_ENCOUNTERS = 100_000
"""Most encounters of one patient."""
SYSTEMS = (
    "heart", "vessels", "lungs", "stomach", "kidneys", "skin", "nerves", "bones", "joints", "eyes", "ears",
    "hormones",
)  # fmt: skip
CONDITIONS = {system: tuple(f"{system} disorder {number}" for number in range(1, 11)) for system in SYSTEMS}
PROCEDURES = {system: tuple(f"{system} procedure {number}" for number in range(1, 7)) for system in SYSTEMS}
MEDICATIONS = {system: tuple(f"{system} medicine {number}" for number in range(1, 9)) for system in SYSTEMS}
OBSERVATIONS = {system: tuple(f"{system} test {number}" for number in range(1, 5)) for system in SYSTEMS}
RESULTS = {"normal": 40, "low": 25, "high": 25, "critical": 10}
ENCOUNTERS = {
    "routine care": ("wellness", "ambulatory", "outpatient"),
    "acute care": ("emergency", "urgent care", "inpatient"),
}
PATIENT_TAXONOMIES = {
    "encounter": tuple((name, care, ROOT) for care, names in ENCOUNTERS.items() for name in names),
    "procedure": tuple((name, system, ROOT) for system, names in PROCEDURES.items() for name in names),
    "observation": tuple((name, system, ROOT) for system, names in OBSERVATIONS.items() for name in names),
}
"""The taxonomies of the patients by name."""
_CHECK_UPS = 10
"""About this many encounters of a patient are check-ups, with many entries; the others have few."""
_AT_CHECK_UP = {"conditions": (0, 2), "procedures": (1, 3), "medications": (0, 2), "observations": (2, 5)}
"""Fewest and most entries at a check-up."""
_ELSEWHERE = {"conditions": 0.15, "procedures": 0.25, "medications": 0.15, "observations": 0.2}
"""The probability of an entry at another encounter."""
_CODES = {
    "conditions": CONDITIONS, "procedures": PROCEDURES, "medications": MEDICATIONS,
    "observations": OBSERVATIONS,
}  # fmt: skip
_OWN_SYSTEM = 0.6
"""The share of entries that concern one of the two systems in which a patient has trouble."""
_RANKS = {len(codes[SYSTEMS[0]]) for codes in _CODES.values()}
_BY_RANK = {size: limits([1 / rank for rank in range(1, size + 1)]) for size in _RANKS}
"""The n-th code of a system has the weight 1 / n."""
_RESULT_LIMITS = limits(tuple(RESULTS.values()))

_FIRST_DAY, _LAST_DAY = date(2005, 1, 1).toordinal(), date(2023, 12, 31).toordinal()


def patients(records: int, seed: int, encounters: tuple[int, int] = (1, 160)) -> Iterator[dict[str, Any]]:
    """Yield ``records`` patients, one at a time; a longer run begins with the patients of a shorter one.

    ``encounters`` are the fewest and the most encounters of a patient; of 1 to 160 the mean is about 30 and
    the median 25. Conditions, procedures, medications and observations are below the encounters; all
    together, 1 to 160 encounters make about 112 entries on average and up to about 380. ``seed`` is 0 or
    more. Raises PolicyError for arguments outside these ranges.

    >>> patient = next(patients(1, seed=1))
    >>> list(patient), list(patient["encounters"][0])[:3]
    (['id', 'birth_date', 'postal_code', 'sex', 'encounters'], ['start', 'class', 'conditions'])
    """
    if records < 0 or seed < 0:
        raise PolicyError("the number of records and the seed must be 0 or more")
    fewest, most = encounters
    if not 0 <= fewest <= most <= MOST_ENCOUNTERS:
        raise PolicyError(
            f"the numbers of encounters must be from 0 to {MOST_ENCOUNTERS}, with the smaller one first"
        )
    draws = Draws(seed)
    return (_patient(draws, ordinal, fewest, most) for ordinal in range(1, records + 1))


def _patient(draws: Draws, ordinal: int, fewest: int, most: int) -> dict[str, Any]:
    steady, fourth = draws.share(), draws.share()
    for _ in range(2):
        fourth *= fourth  # products instead of a power, which platforms compute differently
    number = fewest + int((most - fewest + 1) * (0.25 * steady + 0.75 * fourth * fourth * fourth))
    troubled = (draws.pick(SYSTEMS), draws.pick(SYSTEMS))
    return {
        **_person(draws, ordinal),
        "encounters": [
            _encounter(draws, day, draws.chance(_CHECK_UPS / number), troubled)
            for day in sorted(draws.whole(_FIRST_DAY, _LAST_DAY) for _ in range(number))
        ],
    }


def _person(draws: Draws, ordinal: int) -> dict[str, Any]:
    return {
        "id": f"P{ordinal:06d}",
        "birth_date": date.fromordinal(draws.whole(OLDEST, YOUNGEST)).isoformat(),
        "postal_code": f"{draws.pick(REGIONS)}{draws.whole(0, 99):02d}",
        "sex": draws.pick(("female", "male")),
    }


def _encounter(draws: Draws, day: int, check_up: bool, troubled: Sequence[str]) -> dict[str, Any]:
    encounter: dict[str, Any] = {
        "start": date.fromordinal(day).isoformat(),
        "class": draws.pick(draws.pick(tuple(ENCOUNTERS.values()))),
    }
    for name, codes in _CODES.items():
        number = draws.whole(*_AT_CHECK_UP[name]) if check_up else int(draws.chance(_ELSEWHERE[name]))
        encounter[name] = [{"code": _code(draws, codes, troubled)} for _ in range(number)]
    for observation in encounter["observations"]:
        observation["result"] = tuple(RESULTS)[draws.index(_RESULT_LIMITS)]
    return encounter


def _code(draws: Draws, codes: dict[str, tuple[str, ...]], troubled: Sequence[str]) -> str:
    of_system = codes[draws.pick(troubled if draws.chance(_OWN_SYSTEM) else SYSTEMS)]
    return of_system[draws.index(_BY_RANK[len(of_system)])]


def outpatients(records: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield ``records`` patients with one to three visits each, a few with none.

    Visits have year, department and diagnosis; flu is common, HIV rare. ``seed`` is 0 or more. Raises
    PolicyError if an argument is negative.

    >>> list(next(outpatients(1, seed=1)))
    ['id', 'birth_date', 'postal_code', 'sex', 'visits']
    """
    if records < 0 or seed < 0:
        raise PolicyError("the number of records and the seed must be 0 or more")
    draws = Draws(seed)
    return (_outpatient(draws, ordinal) for ordinal in range(1, records + 1))


def _outpatient(draws: Draws, ordinal: int) -> dict[str, Any]:
    person = _person(draws, ordinal)
    number = 0 if draws.chance(0.02) else draws.whole(1, 3)
    return {**person, "visits": [_visit(draws) for _ in range(number)]}


def _visit(draws: Draws) -> dict[str, Any]:
    return {
        "year": draws.whole(2018, 2023),
        "department": draws.pick(DEPARTMENT_TAXONOMY)[0],
        "diagnosis": tuple(DIAGNOSES)[draws.index(_DIAGNOSIS_LIMITS)],
    }
