"""Write synthetic FHIR records: files of resources by type, or a Bundle for each patient."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from hierdata.ground.errors import PolicyError, TargetError, file_error
from hierdata.synth.fhir.chart import Chart, Resource
from hierdata.synth.fhir.history import TODAY, Clinic, History
from hierdata.synth.fhir.people import Ids, draw_organization, draw_person, draw_practitioner
from hierdata.synth.vocabulary import Draws

MEANS = {
    "Encounter": 29.0,
    "Condition": 9.0,
    "Observation": 164.0,
    "Procedure": 24.0,
    "MedicationRequest": 8.3,
    "Immunization": 13.2,
    "AllergyIntolerance": 0.5,
    "DiagnosticReport": 11.5,
    "CarePlan": 2.9,
    "Claim": 36.2,
}
"""Resources a patient, fixed before the generator was written; it keeps within 15 % of each.

Observation, MedicationRequest, Immunization, DiagnosticReport, CarePlan and Claim are those of a run of
Synthea over ten years of history that Aidbox's documentation prints ("Synthea by Bulk API": 124 patients with
20,382, 1,028, 1,636, 1,430, 356 and 4,488 of them). The others are about what such runs give: an explanation
of benefit, so an encounter, 27.9 times a patient there.
"""
MEGABYTES = 0.24
"""Megabytes a patient as NDJSON; Synthea's Bundles are indented, with explanations of benefit, and larger."""
YEARS, MOST_YEARS = 10, 100
"""Years of history by default, as in Synthea's exports, and at most."""
ORGANIZATIONS, PRACTITIONERS = 48, 120


class Cohort(NamedTuple):
    """The lookups, and the charts of the patients one at a time."""

    lookups: list[Resource]
    charts: Iterator[Chart]


def draw_cohort(patients: int, seed: int, ahead: str, years: int = YEARS) -> Cohort:
    """Return a cohort; a longer one begins with the patients of a shorter one of the same seed."""
    draws, ids = Draws(seed), Ids(seed)
    clinic = Clinic(
        [draw_organization(draws, ids, number) for number in range(ORGANIZATIONS)],
        [draw_practitioner(draws, ids) for _ in range(PRACTITIONERS)],
    )

    def charts() -> Iterator[Chart]:
        for _ in range(patients):
            person = draw_person(draws, ids, TODAY)
            chart = Chart(person.resource, ids, ahead)
            History(draws, person, chart, clinic, years).draw()
            yield chart

    return Cohort([*clinic.organizations, *clinic.practitioners], charts())


def _line(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _write_ndjson(cohort: Cohort, folder: Path, done: Callable[[], None]) -> None:
    """Write one file a type, as a bulk export does."""
    with ExitStack() as files:
        streams: dict[str, BinaryIO] = {}

        def write(resource: Resource) -> None:
            kind = resource["resourceType"]
            if kind not in streams:
                streams[kind] = files.enter_context((folder / f"{kind}.ndjson").open("xb"))
            streams[kind].write(_line(resource))

        for lookup in cohort.lookups:
            write(lookup)
        for chart in cohort.charts:
            for resource in chart.resources:
                write(resource)
            done()


def _write_bundles(cohort: Cohort, folder: Path, done: Callable[[], None]) -> None:
    """Write one Bundle a patient, with the institutions and doctors that it refers to."""
    for chart in cohort.charts:
        resources = [*chart.resources, *chart.used.values()]
        bundle = {
            "resourceType": "Bundle",
            "type": "collection",
            "entry": [
                {"fullUrl": f"urn:uuid:{resource['id']}", "resource": resource} for resource in resources
            ],
        }
        (folder / f"{chart.resources[0]['id']}.json").write_bytes(_line(bundle))
        done()


FORMS: dict[str, tuple[str, Callable[[Cohort, Path, Callable[[], None]], None]]] = {
    "ndjson": ("{type}/", _write_ndjson),
    "bundles": ("urn:uuid:", _write_bundles),
}
"""By form, what is written before an id in a reference, and the writer."""


def write_fhir(
    patients: int,
    out: Path,
    seed: int,
    form: str = "ndjson",
    years: int = YEARS,
    done: Callable[[], None] = lambda: None,
) -> None:
    """Write ``patients`` patients with their records to a new folder, as FHIR R4.

    ``form`` is ``ndjson``, a file a resource type, or ``bundles``, a file a patient. ``years`` from 1 to 100
    are the years of history. ``seed`` is 0 or more;
    the same seed makes the same bytes. ``done`` is called after each patient. Only one patient is held in
    memory. Raises PolicyError for arguments outside these ranges, TargetError if the folder exists or cannot
    be written; then nothing is left behind.
    """
    if patients < 0 or seed < 0 or not 1 <= years <= MOST_YEARS:
        raise PolicyError(
            f"the number of patients and the seed must be 0 or more, the years from 1 to {MOST_YEARS}"
        )
    if form not in FORMS:
        raise PolicyError(f"FHIR records are written as {' or '.join(FORMS)}")
    ahead, write = FORMS[form]
    try:
        out.mkdir()
    except FileExistsError as error:
        raise TargetError(f"{out} is already there; nothing was written") from error
    except OSError as error:
        raise file_error(error, f"{out} cannot be written: {error.strerror}") from error
    try:
        write(draw_cohort(patients, seed, ahead, years), out, done)
    except BaseException as error:
        shutil.rmtree(out, ignore_errors=True)
        if isinstance(error, OSError):
            raise file_error(error, f"{out} cannot be written: {error.strerror}") from error
        raise
