"""The chart of one synthetic patient: FHIR resources that refer to the patient and to each other."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from hierdata.synth.fhir.codes import CVX, LOINC, RXNORM, SNOMED, StandardCode
from hierdata.synth.fhir.people import SITE, Ids

_HL7 = "http://terminology.hl7.org/CodeSystem/"
_CORE = "http://hl7.org/fhir/us/core/StructureDefinition/us-core-"
_UNITS = "http://unitsofmeasure.org"
Resource = dict[str, Any]


def concept(system: str, code: StandardCode) -> Resource:
    """Return a CodeableConcept with one coding."""
    return {"coding": [{"system": system, "code": code.code, "display": code.text}], "text": code.text}


def _hl7(name: str, code: str) -> Resource:
    return {"coding": [{"system": f"{_HL7}{name}", "code": code}]}


def quantity(value: float, unit: str) -> Resource:
    """Return a Quantity in units of UCUM."""
    return {"value": value, "unit": unit, "system": _UNITS, "code": unit}


def timestamp(when: datetime) -> str:
    """Return a dateTime with zone."""
    return when.strftime("%Y-%m-%dT%H:%M:%S-05:00")


class Chart:
    """The resources of one patient, in the order in which they came about.

    ``ahead`` is written before an id to refer to a resource: ``urn:uuid:`` in Bundles, ``Type/`` in files.
    """

    def __init__(self, patient: Resource, ids: Ids, ahead: str) -> None:
        self.resources = [patient]
        self.used: dict[str, Resource] = {}
        self._ids, self._ahead = ids, ahead
        name = patient["name"][0]
        self._subject = {**self.refer(patient), "display": f"{name['given'][0]} {name['family']}"}

    def refer(self, resource: Resource) -> Resource:
        """Return a reference to a resource."""
        return {"reference": self._ahead.format(type=resource["resourceType"]) + resource["id"]}

    def look_up(self, resource: Resource) -> Resource:
        """Return a reference to an institution or a doctor, whom the chart then needs."""
        self.used[resource["id"]] = resource
        name = resource["name"]
        shown = name if isinstance(name, str) else f"Dr. {name[0]['given'][0]} {name[0]['family']}"
        return {**self.refer(resource), "display": shown}

    def _during(self, encounter: Resource) -> Resource:
        return {"subject": self._subject, "encounter": self.refer(encounter)}

    def _because_of(self, reason: Resource | None) -> Resource:
        return {} if reason is None else {"reasonReference": [self.refer(reason)]}

    def _add(self, kind: str, content: Resource, profile: str = "") -> Resource:
        head: Resource = {"resourceType": kind, "id": self._ids.new()}
        if profile:
            head["meta"] = {"profile": [_CORE + profile]}
        resource = head | content
        self.resources.append(resource)
        return resource

    def add_encounter(
        self,
        setting: str,
        type_: StandardCode,
        when: datetime,
        minutes: int,
        staff: tuple[Resource, Resource],
    ) -> Resource:
        """Add a finished encounter at an institution with a doctor."""
        organization, practitioner = staff
        period = {"start": timestamp(when), "end": timestamp(when + timedelta(minutes=minutes))}
        return self._add(
            "Encounter",
            {
                "identifier": [{"use": "official", "system": SITE, "value": self._ids.new()}],
                "status": "finished",
                "class": {"system": f"{_HL7}v3-ActCode", "code": setting},
                "type": [concept(SNOMED, type_)],
                "subject": self._subject,
                "participant": [
                    {
                        "type": [_hl7("v3-ParticipationType", "PPRF")],
                        "period": period,
                        "individual": self.look_up(practitioner),
                    }
                ],
                "period": period,
                "serviceProvider": self.look_up(organization),
            },
            "encounter",
        )

    def add_condition(
        self, code: StandardCode, encounter: Resource, onset: datetime, end: datetime | None
    ) -> Resource:
        """Add a condition, resolved if it has an end."""
        ended = {} if end is None else {"abatementDateTime": timestamp(end)}
        return self._add(
            "Condition",
            {
                "clinicalStatus": _hl7("condition-clinical", "active" if end is None else "resolved"),
                "verificationStatus": _hl7("condition-ver-status", "confirmed"),
                "category": [_hl7("condition-category", "encounter-diagnosis")],
                "code": concept(SNOMED, code),
                **self._during(encounter),
                "onsetDateTime": timestamp(onset),
                **ended,
                "recordedDate": timestamp(onset),
            },
            "condition",
        )

    def add_observation(
        self, category: str, code: StandardCode, encounter: Resource, when: datetime, value: Resource
    ) -> Resource:
        """Add a final observation; ``value`` is its value[x] or its components."""
        return self._add(
            "Observation",
            {
                "status": "final",
                "category": [_hl7("observation-category", category)],
                "code": concept(LOINC, code),
                **self._during(encounter),
                "effectiveDateTime": timestamp(when),
                "issued": when.strftime("%Y-%m-%dT%H:%M:%S.247-05:00"),
                **value,
            },
        )

    def add_report(
        self, code: StandardCode, encounter: Resource, when: datetime, results: Sequence[Resource]
    ) -> Resource:
        """Add a report of laboratory results."""
        shown = [{**self.refer(result), "display": result["code"]["text"]} for result in results]
        return self._add(
            "DiagnosticReport",
            {
                "status": "final",
                "category": [_hl7("v2-0074", "LAB")],
                "code": concept(LOINC, code),
                **self._during(encounter),
                "effectiveDateTime": timestamp(when),
                "issued": when.strftime("%Y-%m-%dT%H:%M:%S.247-05:00"),
                "performer": [encounter["serviceProvider"]],
                "result": shown,
            },
            "diagnosticreport-lab",
        )

    def add_procedure(
        self, code: StandardCode, encounter: Resource, when: datetime, reason: Resource | None
    ) -> Resource:
        """Add a completed procedure of a quarter of an hour."""
        end = when + timedelta(minutes=15)
        return self._add(
            "Procedure",
            {
                "status": "completed",
                "code": concept(SNOMED, code),
                **self._during(encounter),
                "performedPeriod": {"start": timestamp(when), "end": timestamp(end)},
                **self._because_of(reason),
            },
            "procedure",
        )

    def add_medication(
        self, code: StandardCode, encounter: Resource, when: datetime, active: bool, reason: Resource | None
    ) -> Resource:
        """Add an order of a medicine, once a day."""
        timing = {"repeat": {"frequency": 1, "period": 1, "periodUnit": "d"}}
        return self._add(
            "MedicationRequest",
            {
                "status": "active" if active else "stopped",
                "intent": "order",
                "medicationCodeableConcept": concept(RXNORM, code),
                **self._during(encounter),
                "authoredOn": timestamp(when),
                "requester": encounter["participant"][0]["individual"],
                **self._because_of(reason),
                "dosageInstruction": [{"sequence": 1, "timing": timing, "asNeededBoolean": False}],
            },
            "medicationrequest",
        )

    def add_immunization(self, code: StandardCode, encounter: Resource, when: datetime) -> Resource:
        """Add a vaccination."""
        return self._add(
            "Immunization",
            {
                "status": "completed",
                "vaccineCode": concept(CVX, code),
                "patient": self._subject,
                "encounter": self.refer(encounter),
                "occurrenceDateTime": timestamp(when),
                "primarySource": True,
            },
            "immunization",
        )

    def add_allergy(self, code: StandardCode, reaction: StandardCode, when: datetime, food: bool) -> Resource:
        """Add an allergy with a mild reaction."""
        return self._add(
            "AllergyIntolerance",
            {
                "clinicalStatus": _hl7("allergyintolerance-clinical", "active"),
                "verificationStatus": _hl7("allergyintolerance-verification", "confirmed"),
                "type": "allergy",
                "category": ["food" if food else "environment"],
                "criticality": "low",
                "code": concept(SNOMED, code),
                "patient": self._subject,
                "recordedDate": timestamp(when),
                "reaction": [{"manifestation": [concept(SNOMED, reaction)], "severity": "mild"}],
            },
            "allergyintolerance",
        )

    def add_plan(
        self,
        code: StandardCode,
        activities: Sequence[StandardCode],
        encounter: Resource,
        when: datetime,
        reason: Resource,
    ) -> Resource:
        """Add an active plan of care for a condition."""
        return self._add(
            "CarePlan",
            {
                "text": {
                    "status": "generated",
                    "div": f'<div xmlns="http://www.w3.org/1999/xhtml">Plan: {code.text}.</div>',
                },
                "status": "active",
                "intent": "order",
                "category": [concept(SNOMED, code)],
                **self._during(encounter),
                "period": {"start": timestamp(when)},
                "addresses": [self.refer(reason)],
                "activity": [
                    {"detail": {"code": concept(SNOMED, activity), "status": "in-progress"}}
                    for activity in activities
                ],
            },
            "careplan",
        )

    def add_claim(
        self, encounter: Resource, when: datetime, total: float, about: Resource | None, drug: bool
    ) -> Resource:
        """Add a claim for an encounter, or for a medicine ordered there."""
        diagnosis: Resource = {}
        if about is not None and not drug:
            diagnosis = {"diagnosis": [{"sequence": 1, "diagnosisReference": self.refer(about)}]}
        ordered = {"prescription": self.refer(about)} if about is not None and drug else {}
        paid_for = about["medicationCodeableConcept"] if about is not None and drug else encounter["type"][0]
        return self._add(
            "Claim",
            {
                "status": "active",
                "type": _hl7("claim-type", "pharmacy" if drug else "institutional"),
                "use": "claim",
                "patient": self._subject,
                "billablePeriod": encounter["period"],
                "created": timestamp(when),
                "provider": encounter["serviceProvider"],
                "priority": _hl7("processpriority", "normal"),
                **ordered,
                **diagnosis,
                "insurance": [{"sequence": 1, "focal": True, "coverage": {"display": "Example Mutual"}}],
                "item": [{"sequence": 1, "productOrService": paid_for, "encounter": [self.refer(encounter)]}],
                "total": {"value": total, "currency": "USD"},
            },
        )
