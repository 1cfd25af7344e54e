"""Records against the JSON Schema that a policy names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hierdata.documents.document import Document
from hierdata.documents.limits import SCHEMA
from hierdata.errors import InputError, PolicyError, TargetError
from hierdata.policy.load.yaml import read

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

    from hierdata.sources.json_schema.keywords import Work

_BAD_PATTERN = (
    "a pattern that cannot be checked in time that grows with the text alone: leave out look-around, back "
    "references and repeats above 1000"
)


def checked(documents: Iterable[Document], schema: Path) -> Iterator[Document]:
    """Pass documents on that satisfy a JSON Schema; InputError for the first that does not.

    Only the place in the record and in the schema is told: the validator's own message would quote the value.
    """
    from referencing.exceptions import Unresolvable  # what jsonschema itself resolves references with

    from hierdata.sources.json_schema.keywords import BadPattern, TooManySteps

    validator, work = _validator(schema)
    for ordinal, document in enumerate(documents, 1):
        work.begin(document)
        try:
            error = next(validator.iter_errors(cast("Any", document)), None)
        except Unresolvable:
            raise PolicyError(
                f"{schema.name} refers to a schema that it does not hold, and no other is fetched"
            ) from None
        except RecursionError:
            raise PolicyError(f"{schema.name} refers to itself without end") from None
        except TooManySteps:
            raise PolicyError(
                f"{schema.name} asks for too many steps: its references lead to the same places over and over"
            ) from None
        except BadPattern:
            raise PolicyError(f"{schema.name} has {_BAD_PATTERN}") from None
        if error is not None:
            rule = "/".join(map(str, error.absolute_schema_path))
            raise InputError(
                f"the record does not satisfy the JSON Schema (rule {rule} of {schema.name})", record=ordinal
            )
        yield document


def _validator(schema: Path) -> tuple[Validator, Work]:
    """What checks the records, and counts its steps."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import extend, validator_for
    from referencing import Registry

    from hierdata.sources.json_schema.keywords import BadPattern, Patterns, Work, keywords

    patterns, work = Patterns(), Work()
    stated = _stated(schema)
    kind = validator_for(stated, default=Draft202012Validator)
    try:
        kind.check_schema(stated, format_checker=patterns.checker())  # type: ignore[call-arg]  # they lack it
    except SchemaError as error:
        if isinstance(error.cause, BadPattern):
            raise PolicyError(f"{schema.name} has {_BAD_PATTERN}") from None
        raise PolicyError(f"{schema.name} is no JSON Schema ({type(error).__name__})") from None
    types = kind.TYPE_CHECKER
    if types.is_type(1.0, "integer"):  # not so before draft 6
        types = types.redefine("integer", _is_integer)
    bounded = extend(kind, keywords(kind.VALIDATORS, patterns, work), type_checker=types)  # type: ignore[no-untyped-call]
    # The default registry would fetch what the schema refers to from the network or from other files.
    return cast("type[Validator]", bounded)(stated, registry=Registry()), work


def _stated(schema: Path) -> Any:
    """What the file holds. Raises PolicyError for one that holds no JSON Schema of ours."""
    try:
        stated = read(schema, SCHEMA)
    except TargetError:
        raise PolicyError(f"the JSON Schema {schema.name} cannot be read") from None
    named = stated.get("$schema", "") if isinstance(stated, dict) else ""
    if not isinstance(stated, dict | bool) or not isinstance(named, str):
        raise PolicyError(f"{schema.name} is no JSON Schema")
    if {"unevaluatedProperties", "patternProperties"} <= _keys(stated):
        raise PolicyError(
            f"{schema.name} has unevaluatedProperties and patternProperties, which are not checked together: "
            "write additionalProperties"
        )
    return stated


def _keys(data: object) -> set[str]:
    """Every key of plain data."""
    found: set[str] = set()
    todo = [data]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            found |= value.keys()
            todo.extend(value.values())
        elif isinstance(value, list):
            todo.extend(value)
    return found


def _is_integer(_: object, value: object) -> bool:
    """JSON Schema goes by the value: 1.0 is an integer."""
    if isinstance(value, Decimal):
        return value == value.to_integral_value()
    return isinstance(value, int) and not isinstance(value, bool)
