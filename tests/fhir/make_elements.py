"""Write the table of the elements of FHIR R4 that the package reads: ``python -m tests.fhir.make_elements``.

An element is its type, ``*`` if it repeats, ``!`` if it is required, and ``:`` with the choice that it is of.

The elements, their types and cardinalities are read from the models of ``fhir.resources`` (R4B, BSD licence),
which are generated from the definitions of FHIR (HL7, CC0).
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import typing
from pathlib import Path
from types import UnionType
from typing import Any
from uuid import UUID

from fhir.resources import R4B
from pydantic import AnyUrl, BaseModel

TABLE = Path(__file__).parents[2] / "hierdata/documents/fhir/r4.json"
_PRIMITIVES = {
    "Base64Binary": "base64Binary", "Boolean": "boolean", "Canonical": "canonical", "Code": "code",
    "Date": "date", "DateTime": "dateTime", "Decimal": "decimal", "Id": "id", "Instant": "instant",
    "Integer": "integer", "Integer64": "integer64", "Markdown": "markdown", "Oid": "oid",
    "PositiveInt": "positiveInt", "String": "string", "Time": "time", "UnsignedInt": "unsignedInt",
    "Uri": "uri", "Url": "url", "Uuid": "uuid", "Xhtml": "xhtml",
}  # fmt: skip
_CLASSES: dict[type, str] = {
    bool: "boolean",
    bytes: "base64Binary",
    UUID: "uuid",
    AnyUrl: "url",
}


def spell_type(annotation: Any) -> tuple[str, bool]:
    """Return the FHIR type of a model's field, and whether it repeats."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        named = (_PRIMITIVES.get(type(note).__name__) for note in annotation.__metadata__)
        kind = next((name for name in named if name is not None), None)
        return (kind or _CLASSES[annotation.__origin__], False)
    if origin in (typing.Union, UnionType):
        (inner,) = (one for one in typing.get_args(annotation) if one is not type(None))
        return spell_type(inner)
    if origin is list:
        return spell_type(typing.get_args(annotation)[0])[0], True
    if annotation in _CLASSES:
        return _CLASSES[annotation], False
    name = annotation.__name__
    assert name.endswith("Type"), annotation
    return name.removesuffix("Type"), False


def spell_element(field: Any) -> str:
    """Return the type of an element, ``*`` if it repeats, ``!`` if it is required, and its choice."""
    kind, many = spell_type(field.annotation)
    extra = field.json_schema_extra or {}
    required = (
        field.is_required()
        or extra.get("element_required", False)
        or extra.get("one_of_many_required", False)
    )
    choice = f":{extra['one_of_many']}" if "one_of_many" in extra else ""
    return f"{kind}{'*' * many}{'!' * required}{choice}"


def elements_of(model: type[BaseModel]) -> dict[str, str]:
    """Return the elements of a type by their names in JSON."""
    return {
        field.alias or name: spell_element(field)
        for name, field in model.model_fields.items()
        if (field.json_schema_extra or {}).get("element_property")
    }


def build_table() -> dict[str, dict[str, str]]:
    """Return the elements of all resources, of their parts and of data types, by name."""
    found: dict[str, dict[str, str]] = {}
    for module in pkgutil.iter_modules(R4B.__path__):
        if module.ispkg or module.name.startswith("fhirtypes"):
            continue
        named = importlib.import_module(f"{R4B.__name__}.{module.name}")
        for name, model in vars(named).items():
            if (
                isinstance(model, type)
                and model.__module__ == named.__name__
                and hasattr(model, "model_fields")
            ):
                found[name] = elements_of(model)
    return found


def spell_table(table: dict[str, dict[str, str]]) -> str:
    """Return the table as JSON, with one type a line."""
    lines = (f"{json.dumps(name)}: {json.dumps(own, separators=(',', ':'))}" for name, own in table.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    TABLE.write_text(spell_table(build_table()), "utf-8")
