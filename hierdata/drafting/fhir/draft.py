"""The draft of a policy for FHIR resources: tables, shape, promise, and a rule for what is published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hierdata.documents.fhir.elements import elements_of
from hierdata.drafting.draft import EDITOR_LINE, comment, flow, save_text, text
from hierdata.drafting.fhir.seen import SeenType, judge_element, judge_extension, known_elements
from hierdata.ground.errors import InputError

PATIENT = "Patient"
_MOST_SYSTEMS = 4
"""The most code systems of one element that get a rule each; codes of others are left out."""
_WEIGHT = 60
"""The weight of a date of the patient: without it large classes of all ages keep a little more of codes."""
_DATES = ("iso", "%Y-%m", "%Y")
"""How FHIR's type ``date`` is written: also without a day or a month."""
_CLASSES: dict[str, Any] = {"kind": "k-anonymity", "k": 5}
_KNOWLEDGE: dict[str, Any] = {"kind": "bounded-knowledge", "k": 5, "m": 2}
_ALL_FACTS: dict[str, Any] = {**_KNOWLEDGE, "facts": "all"}
_BY_CLASSES = "classes of whole records, whatever someone knows of"
QUESTIONS = (
    "Is what others may know complete: sex, year or decade of birth, visits by class, vaccinations? Should "
    "diagnoses be among it, take the model with facts.",
    "Does order or place in an encounter matter? As drafted each code is once a patient, and dates, states, "
    "severity, and which encounter it belongs to are lost. Without `shape` each resource stays by itself.",
    "Are dates of encounters needed? `$.Encounter[*].period.start` with `date: {steps: [year]}` makes them "
    "known facts, and loses more.",
    "Is a place needed? `$.address[*].state` or `postalCode` with `prefix` is known to all, so that records "
    "of one place must be alike.",
    "Are race, ethnicity or indigenous status needed? They are known to others, and left out.",
    "Is it needed who has died, and when? It is known from obituaries, and left out.",
    "Are results of observations needed? Name the few that are, each with a filter of its LOINC code.",
    "Do your codes tell a place or a person by themselves, as codes of your house do? Drop their system.",
)
"""What a machine cannot know, for the steward; at most ten."""


class NoPatientError(InputError):
    """The resources have no Patient, so that FHIR does not say whose they are."""


@dataclass(frozen=True)
class FhirPromise:
    """A model that a draft proposes or names, with who it is for."""

    name: str
    model: dict[str, Any]
    why: str


@dataclass(frozen=True)
class FhirDraft:
    """A policy proposed for FHIR R4. ``str`` returns the file, which has no value of a person.

    ``kept`` has the share of the information that a sample keeps, by the name of the promise; None where it
    could not be told.
    """

    seen: Mapping[str, SeenType]
    kept: Mapping[str, float | None]

    @property
    def records(self) -> int:
        """The number of patients."""
        return self.seen[PATIENT].count

    @property
    def promises(self) -> tuple[FhirPromise, ...]:
        """What is proposed, and then other promises that the draft names, each with who it is for.

        Which make sense depends on what is published below the patient: what others may know, codes or
        nothing.
        """
        tables = dict(_tables(self.seen))
        below = [rule.get("role") for path, rule in _fields(self.seen, tables) if "[" in path]
        finds = "finds at least 5 patients. What these have in common can be learned"
        if "quasi" in below:
            return (
                FhirPromise(
                    "draft",
                    _KNOWLEDGE,
                    f"Someone who knows sex and birth and any two visits or vaccinations {finds}, and "
                    "someone who knows two diagnoses may find the patient",
                ),
                FhirPromise(
                    "alpha",
                    {**_KNOWLEDGE, "alpha": "4/5"},
                    "Or, where no code may be guessed with more than 80 %: codes that most patients have are "
                    "lost first",
                ),
                FhirPromise(
                    "facts",
                    _ALL_FACTS,
                    "Or, where a reader may know diagnoses too (a relative, an insurance): every code is a "
                    "fact",
                ),
                FhirPromise(
                    "classes", _CLASSES, f"Or, the stricter choice: {_BY_CLASSES} visits and vaccinations"
                ),
            )
        if "sensitive" in below:
            return (
                FhirPromise("draft", _ALL_FACTS, f"Who knows sex and birth and any two codes {finds}"),
                FhirPromise("classes", _CLASSES, f"Or, where nobody knows codes: {_BY_CLASSES} the patient"),
            )
        return (FhirPromise("draft", _CLASSES, f"Someone who knows sex and birth {finds}"),)

    def policy(self, model: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the policy as a dict, with another model than the drafted one if given."""
        tables = dict(_tables(self.seen))
        fields = dict(_fields(self.seen, tables))
        steps = [
            {"distinct": {"path": f"$.{kind}", "fields": [name]}} for kind, name in _codes(self.seen, tables)
        ]
        return {
            "version": 1,
            "standard": "fhir-r4",
            "unlisted": "drop",
            "tables": tables,
            **({"shape": steps} if steps else {}),
            "models": [dict(self.promises[0].model if model is None else model)],
            "fields": fields,
        }

    def confirmed(self) -> dict[str, Any]:
        """Return the policy as a dict without the key ``draft``: call it after reviewing the draft."""
        return self.policy()

    def with_kept(self, kept: Mapping[str, float | None]) -> FhirDraft:
        """Return the draft with the shares that were measured."""
        return replace(self, kept=kept)

    def list_roles(self) -> Iterator[tuple[str, str, str, bool]]:
        """Yield path, role, reason and whether it is published, of every element that was seen."""
        published = self.policy()["fields"]
        for kind, seen in sorted(self.seen.items(), key=lambda item: (item[0] != PATIENT, item[0])):
            above = "$" if kind == PATIENT else f"$.{kind}[*]"
            for name in sorted(seen.elements):
                path = f"{above}.{name}"
                yield path, *judge_element(kind, name), any(_is_below(one, path) for one in published)
            for url in sorted(seen.extensions):
                named = f"[?@.url == '{url}']" if url else "[*]"
                yield f"{above}.extension{named}", *judge_extension(url), False

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON output; it has no value of a person."""
        return {
            "records": self.records,
            "standard": "fhir-r4",
            "resources": {kind: seen.count for kind, seen in sorted(self.seen.items())},
            "kept": dict(self.kept),
            "questions": list(QUESTIONS),
            "fields": [
                {"path": path, "role": role, "reason": why, "published": published}
                for path, role, why, published in self.list_roles()
            ],
        }

    def save(self, path: str | Path) -> None:
        """Write the draft to a new file. Raises TargetError if it exists or cannot be written."""
        save_text(path, str(self))

    def __str__(self) -> str:
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        policy = self.policy()
        yield EDITOR_LINE
        counts = ", ".join(f"{kind} {seen.count:,}" for kind, seen in sorted(self.seen.items()))
        yield from comment(
            f"A draft by `hierdata init` for FHIR R4, from {self.records:,} patients. It contains no value "
            "of the data but systems of codes. Roles are those of FHIR's elements.",
            "",
        )
        yield from comment(f"Resources: {counts}.", "")
        for number, question in enumerate(QUESTIONS, 1):
            yield from comment(f"CONFIRM {number}: {question}", "")
        yield f"draft: {text(f'answer the {len(QUESTIONS)} marked CONFIRM, then remove this line')}"
        for key in ("version", "standard", "unlisted"):
            yield f"{key}: {flow(policy[key])}"
        yield "tables:"
        yield from (f"  {name}: {flow(table)}" for name, table in policy["tables"].items())
        if "shape" in policy:
            yield "# Each code once a patient: dates, states, order and place in an encounter are lost."
            yield "shape:"
            yield from (f"  - {flow(step)}" for step in policy["shape"])
        yield from self._models()
        yield "fields:"
        for path, rule in policy["fields"].items():
            yield f"  {text(path)}: {flow(rule)}"
        yield from self._left_out()

    def _models(self) -> Iterator[str]:
        yield "models:"
        first, *others = self.promises
        yield from comment(f"{first.why}.{self._say(first.name)}", "  ")
        yield f"  - {flow(first.model)}"
        for one in others:
            yield from comment(f"{one.why}: {flow(one.model)}.{self._say(one.name)}", "  ")

    def _say(self, name: str) -> str:
        kept = self.kept.get(name)
        return "" if kept is None else f" A sample keeps {kept:.0%}.".replace("%", " %")

    def _left_out(self) -> Iterator[str]:
        yield "# Left out, by what FHIR says of each element:"
        for path, role, why, published in self.list_roles():
            if not published:
                yield from comment(f"{path}: {role}, {why}", "  ")


def _is_below(path: str, above: str) -> bool:
    return path == above or path.startswith((f"{above}.", f"{above}["))


def draft_resources(seen: Mapping[str, SeenType]) -> FhirDraft:
    """Return the draft for what was seen. Raises NoPatientError if there is no patient."""
    if PATIENT not in seen:
        raise NoPatientError("there is no resource of the type Patient: whose are the records?")
    return FhirDraft(seen, {})


def _tables(seen: Mapping[str, SeenType]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the types that are published, each below the patient, and medicines that orders refer to."""
    yield PATIENT, {}
    kinds = dict.fromkeys(kind for (kind, _), known in known_elements().items() if known.rule)
    uses = {}
    for kind in kinds:
        if kind == PATIENT or kind not in seen:
            continue
        owner = "subject" if "subject" in elements_of(kind) else "patient"
        yield kind, {"parent": PATIENT, "on": f"{owner}.reference"}
        if "medicationReference" in seen[kind].elements:
            uses[f"{kind}.medicationReference.reference"] = {"code": "medicationCodeableConcept"}
    if uses and "Medication" in seen:
        yield "Medication", {"lookup": uses}


def _codes(seen: Mapping[str, SeenType], tables: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield type and element of the codes that are published."""
    for (kind, name), known in known_elements().items():
        if (
            known.rule == "codes"
            and kind in tables
            and (name in seen[kind].elements or "Medication" in tables)
        ):
            yield kind, name


def _fields(seen: Mapping[str, SeenType], tables: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield path and rule of what is published."""
    for (kind, name), known in known_elements().items():
        if not known.rule or kind not in tables:
            continue
        path = f"$.{name}" if kind == PATIENT else f"$.{kind}[*].{name}"
        rule: dict[str, Any] = {"role": known.role}
        if known.rule == "date":
            rule |= {"date": {"steps": ["year", "decade"], "format": list(_DATES)}, "weight": _WEIGHT}
        elif known.role == "quasi":
            rule["flat"] = True
        if known.rule == "codes":
            yield from _rules_of_codes(path, rule, seen[kind].systems.get(name, {}))
        elif name not in seen[kind].elements:
            continue
        elif known.rule == "class":
            yield f"{path}.code", rule
            if seen[kind].systems[name].keys() != {""}:
                yield f"{path}.system", {"derived": f"{path}.code"}
        else:
            yield path, rule


def _rules_of_codes(
    path: str, rule: dict[str, Any], systems: Mapping[str, int]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield rules for codings: one for all of one system, else one for each system."""
    if len(systems) == 1 and "" not in systems:
        yield f"{path}.coding[*].code", rule
        yield f"{path}.coding[*].system", {"derived": f"{path}.coding[*].code"}
        return
    often = sorted((system for system in systems if system), key=lambda own: (-systems[own], own))
    for system in often[:_MOST_SYSTEMS]:
        if "'" not in system and "\\" not in system:
            yield f"{path}.coding[?@.system == '{system}'].code", rule
