"""Synthetic outpatients: a collection whose sensitive values are ranked by frequency (ML section 3.3)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from hierdata.ground.errors import PolicyError
from hierdata.synth.draws import Draws, limits
from hierdata.synth.vocabulary import ROOT

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
OLDEST, YOUNGEST = date(1940, 1, 1).toordinal(), date(2004, 12, 31).toordinal()


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
    return (_patient(draws, ordinal) for ordinal in range(1, records + 1))


def _patient(draws: Draws, ordinal: int) -> dict[str, Any]:
    return {
        "id": f"P{ordinal:06d}",
        "birth_date": date.fromordinal(draws.whole(OLDEST, YOUNGEST)).isoformat(),
        "postal_code": f"{draws.pick(REGIONS)}{draws.whole(0, 99):02d}",
        "sex": draws.pick(("female", "male")),
        "visits": [_visit(draws) for _ in range(0 if draws.chance(0.02) else draws.whole(1, 3))],
    }


def _visit(draws: Draws) -> dict[str, Any]:
    return {
        "year": draws.whole(2018, 2023),
        "department": draws.pick(DEPARTMENT_TAXONOMY)[0],
        "diagnosis": tuple(DIAGNOSES)[draws.index(_DIAGNOSIS_LIMITS)],
    }
