"""Small random collections of the shape of the real ones, for smoke runs: the same files and columns.

Values are few, so that classes are found among few records.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hierdata.reproduction.study import COLUMNS
from tests.benchmarks import adult

RECORDS = 40
ROWS = 300
"""Records of a collection, and rows of Adult."""
MANY_ROWS = 2100
"""Rows of Adult without missing values: a fifth of them is a control of at least 385."""

Record = dict[str, Any]


def write_collections(folder: Path) -> None:
    """Write all collections to a folder that ``HIERDATA_COLLECTIONS`` may name."""
    for name, write in {
        "adult": write_adult,
        "oulad": write_oulad,
        "diabetes130": write_diabetes,
        "census_households": write_census,
        "travel_survey": write_travel,
        "ccda_xml": write_summaries,
    }.items():
        own = folder / name
        own.mkdir(parents=True)
        (own / "SOURCE.md").write_text("Made up.\n", "utf-8")
        write(own, random.Random(name))


def write_adult(folder: Path, rng: random.Random) -> None:
    """Both tables, and a hierarchy of two steps for each column."""
    columns = (*adult.QUASI[:-1], adult.SENSITIVE, adult.QUASI[-1])
    plain, complete = adult.synthetic(columns, MANY_ROWS), adult.synthetic(COLUMNS, ROWS)
    adult.write(plain, folder / adult.WITHOUT_MISSING)
    adult.write(complete, folder / adult.COMPLETE, ",")
    (folder / "hierarchies").mkdir()
    for name in columns:
        values = sorted({*plain[name].values, *complete[name].values} - {adult.MISSING})
        lines = [f"{value};group {at // 5};*\n" for at, value in enumerate(values)]
        adult.hierarchy(name, folder).write_text("".join(lines), "utf-8")


def write_oulad(folder: Path, rng: random.Random) -> None:
    def assessment() -> Record:
        return {
            "id_assessment": rng.randrange(10**6),
            "assessment_type": rng.choice(["TMA", "CMA"]),
            "weight": 10.0,
            "due_day": 19,
            "submitted_day": rng.randrange(20),
            "is_banked": False,
            "score": rng.randrange(101),
        }

    def registration() -> Record:
        return {
            "code_module": rng.choice(["AAA", "BBB"]),
            "code_presentation": rng.choice(["2013B", "2014J"]),
            "studied_credits": rng.choice([60, 120]),
            "num_of_prev_attempts": 0,
            "date_registration": -rng.randrange(100),
            "date_unregistration": None,
            "final_result": rng.choice(["Pass", "Pass", "Withdrawn", "Fail"]),
            "assessments": [assessment()],
        }

    _write_lines(
        folder / "students_nested.jsonl.gz",
        (
            {
                "id_student": number,
                "gender": rng.choice("MF"),
                "region": rng.choice(["Scotland", "Wales"]),
                "highest_education": "HE Qualification",
                "imd_band": rng.choice(["20-30%", "90-100%"]),
                "age_band": rng.choice(["0-35", "35-55"]),
                "disability": False,
                "registrations": [registration()],
            }
            for number in range(RECORDS)
        ),
    )


def write_diabetes(folder: Path, rng: random.Random) -> None:
    dropped = [
        *("num_lab_procedures", "num_procedures", "num_medications", "number_outpatient"),
        *("number_emergency", "number_inpatient", "number_diagnoses"),
    ]

    def encounter() -> Record:
        return {
            "encounter_id": rng.randrange(10**6),
            "age": rng.choice(["[50-60)", "[70-80)"]),
            "weight": None,
            "payer_code": rng.choice([None, "MC"]),
            "medical_specialty": None,
            "admission_type_id": rng.choice([1, 3]),
            "discharge_disposition_id": 1,
            "admission_source_id": 7,
            "time_in_hospital": rng.randrange(1, 9),
            **dict.fromkeys(dropped, 0),
            "diagnoses": rng.sample(["250.01", "276", "401", "V27", "E885"], 2),
            "labs": {},
            "medications": {"insulin": "Up"},
            "readmitted": rng.choice(["NO", ">30"]),
        }

    _write_lines(
        folder / "patients_nested.jsonl.gz",
        (
            {
                "patient_nbr": number,
                "race": "Caucasian",
                "gender": rng.choice(["Female", "Male"]),
                "encounters": [encounter()],
            }
            for number in range(RECORDS)
        ),
    )


def write_census(folder: Path, rng: random.Random) -> None:
    households = [
        {
            "household_id": 1000 + number,
            "persons": 2,
            "age_of_head": rng.randrange(20, 80),
            "race_id": rng.choice([1, 4]),
            "cars": rng.randrange(3),
            "children": 0,
            "type": 1,
            "hincp": 1000 * rng.randrange(150),
            "adjinc": 1010145,
            "hht": rng.choice([1, 6]),
            "maz": 22688,
            "taz": rng.choice([2109, 2110]),
        }
        for number in range(RECORDS)
    ]
    persons = [
        {
            "person_id": 2 * household["household_id"] + member,
            "age": rng.randrange(20, 80),
            "household_id": household["household_id"],
            "member_id": member + 1,
            "sex": rng.choice([1, 2]),
            "relate": member,
            "race_id": household["race_id"],
            "esr": rng.choice([1, 1, 6, 3]),
            "wkhp": -9,
            "wkw": -9,
            "schg": -9,
            "mil": 4,
            "naicsp": -9,
            "industry": 0,
            "maz_seqid": 22688,
            "zone_id": household["taz"],
        }
        for household in households
        for member in range(2)
    ]
    _write_tables(folder, households=households, persons=persons)


def write_travel(folder: Path, rng: random.Random) -> None:
    households = [
        {
            "household_id": number,
            "home_zone_id": rng.choice([898, 900]),
            "income": 1000 * rng.randrange(150),
            "hhsize": 1,
            "HHT": rng.choice([4, 6]),
            "auto_ownership": rng.randrange(2),
            "num_workers": 1,
        }
        for number in range(RECORDS)
    ]
    persons = [
        {
            "person_id": 1000 + household["household_id"],
            "household_id": household["household_id"],
            "age": rng.randrange(20, 60),
            "PNUM": 1,
            "sex": rng.choice([1, 2]),
            "pemploy": 1,
            "pstudent": 3,
            "ptype": rng.choice([1, 2]),
            "school_zone_id": -1,
            "workplace_zone_id": rng.choice([412, 430]),
            "free_parking_at_work": False,
        }
        for household in households
    ]
    tours = [
        {
            "tour_id": 5000 + number,
            "person_id": person["person_id"],
            "household_id": person["household_id"],
            "tour_type": rng.choice(["work", "school", "shopping"]),
            "tour_category": "mandatory",
            "destination": 412.0,
            "origin": 898.0,
            "start": float(rng.randrange(7, 10)),
            "end": float(rng.randrange(16, 19)),
            "tour_mode": rng.choice(["WALK", "BIKE"]),
            "parent_tour_id": rng.choice(["", 5000]),
        }
        for number, person in enumerate(persons)
    ]
    trips = [
        {
            "trip_id": 10 * tour["tour_id"] + number,
            "person_id": tour["person_id"],
            "household_id": tour["household_id"],
            "tour_id": tour["tour_id"],
            "outbound": number == 0,
            "purpose": rng.choice(["Home", "work", "eatout"]),
            "destination": 465,
            "origin": 494,
            "depart": tour["end" if number else "start"],
            "trip_mode": tour["tour_mode"],
        }
        for tour in tours
        for number in range(2)
    ]
    _write_tables(folder, households=households, persons=persons, tours=tours, trips=trips)


SUMMARY = """<?xml version="1.0" encoding="utf-8"?>
<ClinicalDocument xmlns="urn:hl7-org:v3">
  <recordTarget><patientRole>
    <addr><state>{state}</state><postalCode>{postal}</postalCode></addr>
    <patient>
      <administrativeGenderCode code="{gender}"/><birthTime value="{year}0408"/>
      <maritalStatusCode code="M"/><religiousAffiliationCode code="{religion}"/>
      <raceCode code="2054-5"/><ethnicGroupCode code="2186-5"/>
    </patient>
  </patientRole></recordTarget>
  <component><structuredBody>{sections}</structuredBody></component>
</ClinicalDocument>
"""
SECTION = """<component><section>
    <code code="{code}"/><title>Problems</title>
    <entry><act><entryRelationship><observation>
      <value displayName="{problem}"/>
    </observation></entryRelationship></act></entry>
  </section></component>"""


def write_summaries(folder: Path, rng: random.Random) -> None:
    with tarfile.open(folder / "emerge_ccda.tar.gz", "w:gz") as archive:
        for number in range(RECORDS):
            problems = rng.choices(["Asthma", "Hypertension", "Migraine"], k=2)
            sections = [
                SECTION.format(code=code, problem=problem)
                for code, problem in zip(("11450-4", "48765-2"), problems, strict=True)
            ]
            content = SUMMARY.format(
                state=rng.choice(["WI", "OH"]),
                postal=rng.choice(["53086", "53090"]),
                gender=rng.choice("MF"),
                year=rng.randrange(1950, 1990),
                religion=rng.choice(["1013", "1020", "1041"]),
                sections="".join(sections),
            ).encode()
            member = tarfile.TarInfo(f"emerge/Patient-{number:03}.xml")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def _write_lines(file: Path, records: Iterable[Record]) -> None:
    with gzip.open(file, "wt", encoding="utf-8") as stream:
        stream.writelines(json.dumps(record) + "\n" for record in records)


def _write_tables(folder: Path, **tables: list[Record]) -> None:
    for name, rows in tables.items():
        with gzip.open(folder / f"{name}.csv.gz", "wt", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
