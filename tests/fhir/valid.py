"""Published records, checked by ``fhir.resources`` (R4B): a resource at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

from hierdata.documents.fhir.elements import elements_of, is_resource


def resources_of(record: dict[str, Any], kind: str = "Patient") -> Iterator[dict[str, Any]]:
    """Yield the resources of a record whose children hang below it, with what joining writes."""
    own = {key: value for key, value in record.items() if not is_resource(key)}
    subject = "patient" if "patient" in elements_of(kind) else "subject"
    if kind != "Patient":
        own[subject] = {"reference": "Patient/1"}
    yield {"resourceType": kind, **own}
    for key, value in record.items():
        if is_resource(key):
            for child in value:
                yield from resources_of(child, key)


@cache
def _model(kind: str) -> Any:
    return getattr(import_module(f"fhir.resources.R4B.{kind.lower()}"), kind)


def validate(resource: dict[str, Any]) -> None:
    """Raise pydantic's ValidationError if a resource is not valid."""
    # fhir.resources accepts a reason in place of a required value, as FHIR does, but not for choices.
    told = {"occurrenceString": "masked"} if "_occurrenceDateTime" in resource else {}
    text = json.dumps({**resource, **told}, default=float)
    _model(resource["resourceType"]).model_validate_json(text)


def validate_record(record: dict[str, Any]) -> None:
    """Check all resources of a record."""
    for resource in resources_of(record):
        validate(resource)
