"""What a draft must know of FHIR resources: their types, elements, extensions and code systems.

What is known of elements, data types and extensions before any data is read is in the tables beside this
file: ``roles.csv`` by element, ``types.csv`` by data type, ``extensions.csv`` by address.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hierdata.documents.document import Document, Value
from hierdata.documents.fhir.elements import elements_of, is_resource
from hierdata.ground.errors import InputError

TYPE = "resourceType"
UNKNOWN = ("structure", "an element that FHIR R4 does not have")
_EXTENSION = ("structure", "an extension whose meaning is not known")


class KnownElement(NamedTuple):
    """What is known of an element: its role, how it is published (empty: it is left out), and why."""

    role: str
    rule: str
    why: str


def _read(name: str) -> Iterator[dict[str, str]]:
    with Path(__file__).with_name(name).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, delimiter=";")


@cache
def known_elements() -> Mapping[tuple[str, str], KnownElement]:
    """Return what is known by resource type and element; element "" is the whole resource."""
    rows = _read("roles.csv")
    return {
        (row["resource"], row["element"]): KnownElement(row["role"], row["rule"], row["why"]) for row in rows
    }


@cache
def _types() -> Mapping[str, tuple[str, str]]:
    return {row["type"]: (row["role"], row["why"]) for row in _read("types.csv")}


@cache
def _extensions() -> Mapping[str, tuple[str, str]]:
    return {row["url"]: (row["role"], row["why"]) for row in _read("extensions.csv")}


@dataclass
class TypeContents:
    """The resources of one type."""

    count: int = 0
    elements: Counter[str] = field(default_factory=Counter)
    extensions: Counter[str] = field(default_factory=Counter)
    """Known addresses of extensions; others are counted as ""."""
    systems: dict[str, Counter[str]] = field(default_factory=dict)
    """By element of codes, the systems of its codings; "" for a coding without system or code."""


def read_resources(documents: Iterable[Document]) -> dict[str, TypeContents]:
    """Count what resources have; a Bundle counts as what is in it.

    Raises InputError for what is no resource of FHIR R4.
    """
    types: dict[str, TypeContents] = {}
    for ordinal, document in enumerate(documents, 1):
        for resource in _open(document):
            kind = resource.get(TYPE)
            if not isinstance(kind, str) or not is_resource(kind):
                raise InputError(
                    f"record {ordinal} has no resourceType of FHIR R4: correct it, or leave out --as"
                )
            _note(types.setdefault(kind, TypeContents()), kind, resource)
    return types


def _open(document: Document) -> Iterator[Document]:
    if document.get(TYPE) != "Bundle":
        yield document
        return
    entries = document.get("entry")
    for item in entries if isinstance(entries, list) else ():
        resource = item.get("resource") if isinstance(item, dict) else None
        if isinstance(resource, dict):
            yield resource


def _note(contents: TypeContents, kind: str, resource: Document) -> None:
    contents.count += 1
    for name, value in resource.items():
        if name == TYPE or name.startswith("_"):
            continue
        if name == "extension":
            items = value if isinstance(value, list) else ()
            urls = (item.get("url") for item in items if isinstance(item, dict))
            contents.extensions.update(
                url if isinstance(url, str) and url in _extensions() else "" for url in urls
            )
            continue
        contents.elements[name] += 1
        if (known := known_elements().get((kind, name))) is not None and known.rule in ("codes", "class"):
            _note_systems(contents.systems.setdefault(name, Counter()), value)


def _note_systems(systems: Counter[str], value: Value) -> None:
    codings = value.get("coding", [value]) if isinstance(value, dict) else None
    for coding in codings if isinstance(codings, list) else ():
        system = coding.get("system") if isinstance(coding, dict) and "code" in coding else None
        systems[system if isinstance(system, str) else ""] += 1


def judge_element(kind: str, name: str) -> tuple[str, str]:
    """Return the role of an element and why, by its own line or by its data type.

    >>> judge_element("Patient", "telecom")[0], judge_element("Observation", "effectiveDateTime")[0]
    ('identifier', 'quasi')
    """
    known = known_elements().get((kind, name))
    if known is not None:
        return known.role, known.why
    element = elements_of(kind).get(name)
    if element is None:
        return UNKNOWN
    return _types().get(element.type, _types()["BackboneElement"])


def judge_extension(url: str) -> tuple[str, str]:
    """Return the role of an extension and why; "" is any that is not in the table."""
    return _extensions().get(url, _EXTENSION)
