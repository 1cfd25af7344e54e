"""Ten questions of research, asked of a FHIR export and of its release: ``EXPORT RELEASE`` are folders.

``python -m tests.benchmarks.fhir_questions export release``, where the release has the drafted policy; it is
made if none is named. A figure of the release is compared with that of the export by its relative error.
Groups of fewer than 20 patients of the export are not asked about. The figures are from plain dictionaries,
by no code of the package.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import hierdata
from hierdata.pipeline.draft_fhir import init_fhir
from tests.benchmarks.engine import header, row

FEWEST = 20
COMMONEST = 10
CODES = {
    "Condition": "code",
    "Procedure": "code",
    "MedicationRequest": "medicationCodeableConcept",
    "AllergyIntolerance": "code",
    "Immunization": "vaccineCode",
}
Figures = dict[Any, float]


class Person(NamedTuple):
    """A patient: sex, decade of birth, codes by type of resource, and encounters by class."""

    sex: str
    decade: str
    codes: dict[str, set[str]]
    visits: Counter[str]


def read_rows(folder: Path, kind: str) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob(f"{kind}*.ndjson")):
        with path.open(encoding="utf-8") as file:
            yield from map(json.loads, file)


def decade_of(patient: Mapping[str, Any]) -> str:
    """Return the decade of a birth date, or of the period that stands for it; "" where it is not told."""
    told = patient.get("birthDate", "")
    for one in patient.get("_birthDate", {}).get("extension", ()):
        told = one.get("valuePeriod", {}).get("start", told)
    return str(told)[:3]


def read_people(folder: Path) -> list[Person]:
    people = {
        f"Patient/{one['id']}": Person(one.get("gender", ""), decade_of(one), defaultdict(set), Counter())
        for one in read_rows(folder, "Patient")
    }
    for kind, element in CODES.items():
        for one in read_rows(folder, kind):
            owner = people[(one.get("subject") or one["patient"])["reference"]]
            codings = one.get(element, {}).get("coding", ())
            owner.codes[kind].update(own["code"] for own in codings if "code" in own)
    for one in read_rows(folder, "Encounter"):
        people[one["subject"]["reference"]].visits[one.get("class", {}).get("code", "")] += 1
    return list(people.values())


def prevalence(people: list[Person], kind: str, by: Callable[[Person], Any], codes: list[str]) -> Figures:
    """Return by group and code the share of patients who have it."""
    groups = defaultdict(list)
    for one in people:
        groups[by(one)].append(one)
    return {
        (group, code): sum(code in one.codes[kind] for one in own) / len(own)
        for group, own in groups.items()
        for code in codes
    }


def commonest(people: list[Person], kind: str) -> list[str]:
    found = Counter(code for one in people for code in one.codes[kind])
    return [code for code, _ in found.most_common(COMMONEST)]


def pairs_of(people: list[Person], first: str, second: str, codes: tuple[list[str], list[str]]) -> Figures:
    """Return for pairs of codes the share of patients who have both."""
    pairs = (
        set(combinations(sorted(codes[0]), 2))
        if first == second
        else {(a, b) for a in codes[0] for b in codes[1]}
    )
    both = Counter(
        (a, b) for one in people for a, b in pairs if a in one.codes[first] and b in one.codes[second]
    )
    return {pair: both[pair] / len(people) for pair in pairs}


def visits_each(people: list[Person]) -> Figures:
    total = sum((one.visits for one in people), Counter[str]())
    return {kind: count / len(people) for kind, count in total.items() if kind}


def ask(people: list[Person], asked: list[Person]) -> dict[str, Figures]:
    """Answer the questions for people; the codes that are asked about are those of the export."""
    top = {kind: commonest(asked, kind) for kind in CODES}

    def share(kind: str, by: Callable[[Person], Any]) -> Figures:
        return prevalence(people, kind, by, top[kind])

    return {
        "conditions of all": share("Condition", lambda one: "all"),
        "conditions by sex": share("Condition", lambda one: one.sex),
        "conditions by decade of birth": share("Condition", lambda one: one.decade),
        "conditions by sex and decade": share("Condition", lambda one: (one.sex, one.decade)),
        "encounters a patient, by class": visits_each(people),
        "procedures by sex": share("Procedure", lambda one: one.sex),
        "medicines by decade of birth": share("MedicationRequest", lambda one: one.decade),
        "pairs of medicines": pairs_of(
            people, "MedicationRequest", "MedicationRequest", (top["MedicationRequest"],) * 2
        ),
        "condition and medicine": pairs_of(
            people, "Condition", "MedicationRequest", (top["Condition"], top["MedicationRequest"])
        ),
        "immunizations by decade of birth": share("Immunization", lambda one: one.decade),
    }


def sizes_of(people: list[Person]) -> Counter[Any]:
    """Return how many patients each group has."""
    found: Counter[Any] = Counter()
    for one in people:
        found.update(("all", one.sex, one.decade, (one.sex, one.decade)))
    return found


def compare(export: Path, release: Path) -> dict[str, list[float]]:
    """Return the relative errors of each question; one that the release lacks is 1."""
    before, after = read_people(export), read_people(release / "public" / "records")
    sizes, truth, found = sizes_of(before), ask(before, before), ask(after, before)
    return {
        question: [
            abs(found[question].get(key, 0) - figure) / figure
            for key, figure in figures.items()
            if figure and not (isinstance(key, tuple) and 0 < sizes[key[0]] < FEWEST)
        ]
        for question, figures in truth.items()
    }


def kept_codes(export: Path, release: Path) -> dict[str, float]:
    """Return by type the share of codes, each once a patient, that a release still has."""
    before, after = read_people(export), read_people(release / "public" / "records")
    total = {kind: sum(len(one.codes[kind]) for one in before) for kind in CODES}
    return {
        kind: sum(len(one.codes[kind]) for one in after) / count for kind, count in total.items() if count
    }


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("export", type=Path)
    options.add_argument("release", type=Path, nargs="?", help="default: made with the drafted policy")
    return options


def main(argv: list[str] | None = None) -> None:
    """Print what is kept and how far answers differ."""
    stated = parser().parse_args(argv)
    if stated.release is not None:
        print_answers(stated.export, stated.release)
        return
    with tempfile.TemporaryDirectory(prefix="fhir-") as temporary:
        release = Path(temporary) / "release"
        hierdata.anonymize(stated.export, init_fhir(stated.export).confirmed(), out=release)
        print_answers(stated.export, release)


def print_answers(export: Path, release: Path) -> None:
    header("Codes", "type", "kept")
    for kind, share in kept_codes(export, release).items():
        row(kind, f"{share:.1%}")
    header("Relative errors", "question", "figures", "median", "nine in ten")
    for question, errors in compare(export, release).items():
        worst = sorted(errors)[int(len(errors) * 0.9)] if errors else 0.0
        row(question, len(errors), f"{median(errors):.1%}" if errors else "", f"{worst:.1%}")


if __name__ == "__main__":
    main()
