"""The draft of a policy for FHIR resources: tables, shape, promise, and a rule for what is published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from hierdata.documents.fhir.elements import elements_of
from hierdata.drafting.draft import IDENTIFIERS_ASKED
from hierdata.drafting.fhir.seen import TypeContents, judge_element, judge_extension, known_elements
from hierdata.drafting.standard import (
    ALL_FACTS,
    CLASSES,
    KNOWLEDGE,
    WITH_ALPHA,
    ElementRole,
    StandardDraft,
    StandardPromise,
    is_below,
)
from hierdata.ground.errors import InputError
from hierdata.policy.spec.safe_harbor import IDENTIFIERS

PATIENT = "Patient"
_MOST_SYSTEMS = 4
"""The most code systems of one element that get a rule each; codes of others are left out."""
_WEIGHT = 60
"""The weight of a date of the patient: without it large classes of all ages keep a little more of codes."""
_DATES = ("iso", "%Y-%m", "%Y")
"""How FHIR's type ``date`` is written: also without a day or a month."""
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


_OF_TYPES: dict[str, tuple[str, ...]] = {
    "HumanName": ("names",),
    "Address": ("places",),
    "ContactPoint": ("phones", "faxes", "emails", "urls"),
    "Identifier": ("social_security", "medical_records", "health_plans", "accounts", "licenses", "devices"),
    "Attachment": ("photos",),
    "url": ("urls",),
    **dict.fromkeys(("date", "dateTime", "instant", "Period", "Timing", "Age"), ("dates",)),
    **dict.fromkeys(("id", "string", "markdown", "Annotation", "Narrative"), ("other",)),
}
"""The identifiers of HIPAA's Safe Harbor that elements may hold, by data type."""
_OF_ELEMENTS = {"contact": ("names", "phones", "places"), "photo": ("photos",)}


class NoPatientError(InputError):
    """The resources have no Patient, so that FHIR does not say whose they are."""


@dataclass(frozen=True)
class FhirDraft(StandardDraft):
    """A policy proposed for FHIR R4 (see StandardDraft).

    ``earliest`` is the year that earlier dates count as, where the draft is by HIPAA's Safe Harbor.
    """

    types: Mapping[str, TypeContents]
    earliest: int | None = None

    standard: ClassVar[str] = "fhir-r4"
    called: ClassVar[str] = "FHIR"

    @property
    def questions(self) -> tuple[str, ...]:
        """What a machine cannot know (see StandardDraft)."""
        return QUESTIONS if self.earliest is None else (*QUESTIONS, IDENTIFIERS_ASKED.capitalize())

    @property
    def records(self) -> int:
        """The number of patients."""
        return self.types[PATIENT].count

    @property
    def promises(self) -> tuple[StandardPromise, ...]:
        """What is proposed, and then other promises that the draft names, each with who it is for.

        Which make sense depends on what is published below the patient: what others may know, codes or
        nothing.
        """
        tables = dict(_tables(self.types))
        below = [rule.get("role") for path, rule in _fields(self.types, tables) if "[" in path]
        finds = "finds at least 5 patients. What these have in common can be learned"
        if "quasi" in below:
            return (
                StandardPromise(
                    "draft",
                    KNOWLEDGE,
                    f"Someone who knows sex and birth and any two visits or vaccinations {finds}, and "
                    "someone who knows two diagnoses may find the patient",
                ),
                StandardPromise(
                    "alpha",
                    WITH_ALPHA,
                    "Or, where no code may be guessed with more than 80 %: codes that most patients have are "
                    "lost first",
                ),
                StandardPromise(
                    "facts",
                    ALL_FACTS,
                    "Or, where a reader may know diagnoses too (a relative, an insurance): every code is a "
                    "fact",
                ),
                StandardPromise(
                    "classes", CLASSES, f"Or, the stricter choice: {_BY_CLASSES} visits and vaccinations"
                ),
            )
        if "sensitive" in below:
            return (
                StandardPromise("draft", ALL_FACTS, f"Who knows sex and birth and any two codes {finds}"),
                StandardPromise(
                    "classes", CLASSES, f"Or, where nobody knows codes: {_BY_CLASSES} the patient"
                ),
            )
        return (StandardPromise("draft", CLASSES, f"Someone who knows sex and birth {finds}"),)

    def policy(self, model: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the policy as a dict, with another model than the drafted one if given."""
        tables = dict(_tables(self.types))
        fields = dict(_fields(self.types, tables))
        if self.earliest is not None:
            for rule in fields.values():
                if "date" in rule:
                    rule["date"] = {**rule["date"], "earliest": self.earliest}
        steps = [
            {"distinct": {"path": f"$.{kind}", "fields": [name]}} for kind, name in _codes(self.types, tables)
        ]
        return {
            "version": 1,
            "standard": "fhir-r4",
            "unlisted": "drop",
            "tables": tables,
            **({"shape": steps} if steps else {}),
            "models": [dict(self.promises[0].model if model is None else model)],
            **({} if self.earliest is None else {"safe_harbor": self._hold_identifiers(tables)}),
            "fields": fields,
        }

    def _hold_identifiers(self, tables: Mapping[str, Any]) -> dict[str, list[str]]:
        """Return the elements that hold each identifier, in the types of resources that are read."""
        held: dict[str, list[str]] = {name: [] for name in IDENTIFIERS}
        for kind in (name for name, table in tables.items() if "lookup" not in table):
            above = "$" if kind == PATIENT else f"$.{kind}[*]"
            for name in sorted(self.types[kind].elements):
                element = elements_of(kind).get(name)
                holds = _OF_ELEMENTS.get(name) or _OF_TYPES.get(element.type if element else "", ())
                for identifier in holds:
                    held[identifier].append(f"{above}.{name}")
        return held

    def list_roles(self) -> Iterator[ElementRole]:
        """Yield every element that was seen (see StandardDraft)."""
        published = self.policy()["fields"]
        for kind, contents in sorted(self.types.items(), key=lambda item: (item[0] != PATIENT, item[0])):
            above = "$" if kind == PATIENT else f"$.{kind}[*]"
            for name in sorted(contents.elements):
                path = f"{above}.{name}"
                is_published = any(is_below(below, path) for below in published)
                yield ElementRole(path, *judge_element(kind, name), is_published)
            for url in sorted(contents.extensions):
                named = f"[?@.url == '{url}']" if url else "[*]"
                yield ElementRole(f"{above}.extension{named}", *judge_extension(url), False)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON output (see StandardDraft)."""
        resources = {kind: contents.count for kind, contents in sorted(self.types.items())}
        return super().as_dict() | {"resources": resources}

    @property
    def head(self) -> Sequence[str]:
        """Say what was seen (see StandardDraft)."""
        counts = ", ".join(f"{kind} {contents.count:,}" for kind, contents in sorted(self.types.items()))
        return (
            f"A draft by `hierdata init` for FHIR R4, from {self.records:,} patients. It contains no value "
            "of the data but systems of codes. Roles are those of FHIR's elements.",
            f"Resources: {counts}.",
        )


def draft_resources(types: Mapping[str, TypeContents], earliest: int | None = None) -> FhirDraft:
    """Return the draft for what was seen (see FhirDraft). Raises NoPatientError if there is no patient."""
    if PATIENT not in types:
        raise NoPatientError("there is no resource of the type Patient: whose are the records?")
    return FhirDraft({}, types, earliest)


def _tables(types: Mapping[str, TypeContents]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the types that are published, each below the patient, and medicines that orders refer to."""
    yield PATIENT, {}
    kinds = dict.fromkeys(kind for (kind, _), known in known_elements().items() if known.rule)
    uses = {}
    for kind in kinds:
        if kind == PATIENT or kind not in types:
            continue
        owner = "subject" if "subject" in elements_of(kind) else "patient"
        yield kind, {"parent": PATIENT, "on": f"{owner}.reference"}
        if "medicationReference" in types[kind].elements:
            uses[f"{kind}.medicationReference.reference"] = {"code": "medicationCodeableConcept"}
    if uses and "Medication" in types:
        yield "Medication", {"lookup": uses}


def _codes(types: Mapping[str, TypeContents], tables: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield type and element of the codes that are published."""
    for (kind, name), known in known_elements().items():
        if (
            known.rule == "codes"
            and kind in tables
            and (name in types[kind].elements or "Medication" in tables)
        ):
            yield kind, name


def _fields(
    types: Mapping[str, TypeContents], tables: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
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
            yield from _rules_of_codes(path, rule, types[kind].systems.get(name, {}))
        elif name not in types[kind].elements:
            continue
        elif known.rule == "class":
            yield f"{path}.code", rule
            if types[kind].systems[name].keys() != {""}:
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
    often = sorted((system for system in systems if system), key=lambda system: (-systems[system], system))
    for system in often[:_MOST_SYSTEMS]:
        if "'" not in system and "\\" not in system:
            yield f"{path}.coding[?@.system == '{system}'].code", rule
