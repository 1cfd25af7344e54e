"""The elements of FHIR R4: types, cardinalities and choices, from the table ``r4.json`` beside this file.

The table is made by ``python -m tests.fhir.make_elements`` from the models of ``fhir.resources`` (BSD
licence), which come from HL7's definitions (CC0).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

_SPELLED = re.compile(r"(\w+)(\*?)(!?)(?::(\w+))?")


class Element(NamedTuple):
    """An element of a type: its own ``type``, whether it repeats (``many``) and is ``required``.

    ``choice`` is the name without type of an element like ``value[x]``, of which one type may be there; then
    ``required`` says that one must be. It is "" for others.
    """

    type: str
    many: bool
    required: bool
    choice: str


@cache
def _table() -> Mapping[str, Mapping[str, str]]:
    table: dict[str, dict[str, str]] = json.loads(Path(__file__).with_name("r4.json").read_text("utf-8"))
    return table


@cache
def elements_of(name: str) -> Mapping[str, Element]:
    """Return the elements of a resource, of a part of one, or of a data type; none of a primitive type.

    >>> elements_of("Condition")["onsetAge"]
    Element(type='Age', many=False, required=False, choice='onset')
    >>> elements_of("date")
    {}
    """
    elements = {}
    for key, text in _table().get(name, {}).items():
        match = _SPELLED.fullmatch(text)
        assert match is not None, "the table is made by a script"
        elements[key] = Element(match[1], bool(match[2]), bool(match[3]), match[4] or "")
    return elements


def is_resource(name: str) -> bool:
    """Return whether a name is that of a resource.

    >>> is_resource("Observation"), is_resource("ObservationComponent"), is_resource("Ward")
    (True, False, False)
    """
    return "implicitRules" in _table().get(name, {}) and name not in ("Resource", "DomainResource")


def is_primitive(name: str) -> bool:
    """Return whether a type has a single value.

    >>> is_primitive("date"), is_primitive("Quantity")
    (True, False)
    """
    return name[:1].islower()


def range_of(name: str, key: str) -> str | None:
    """Return the element that takes a range in place of a quantity, None if no choice has one.

    >>> range_of("Observation", "valueQuantity"), range_of("Condition", "onsetAge")
    ('valueRange', 'onsetRange')
    >>> range_of("Encounter", "length")
    """
    elements = elements_of(name)
    element = elements.get(key)
    if element is None or not element.choice or "value" not in elements_of(element.type):
        return None
    range_name = f"{element.choice}Range"
    return range_name if range_name in elements else None


def type_below(name: str, key: str) -> str | None:
    """Return the type of an element, or of a resource that hangs below another one; None if there is none.

    >>> type_below("Patient", "birthDate"), type_below("Patient", "Encounter"), type_below("Patient", "born")
    ('date', 'Encounter', None)
    """
    element = elements_of(name).get(key)
    if element is not None:
        return element.type
    return key if is_resource(name) and is_resource(key) else None
