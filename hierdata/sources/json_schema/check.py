"""Check records against the JSON Schema that a policy names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hierdata.documents.document import Document
from hierdata.documents.limits import SCHEMA
from hierdata.ground.errors import InputError, PolicyError, TargetError
from hierdata.policy.load.yaml import read

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

    from hierdata.sources.json_schema.keywords import Work

_BAD_PATTERN = (
    "a pattern that cannot be checked in linear time: remove look-around, back references and repeats above "
    "1000"
)


def check_documents(documents: Iterable[Document], schema: Path) -> Iterator[Document]:
    """Yield the documents; raise InputError for the first that does not satisfy a JSON Schema.

    The error contains only the record number and the rule: the validator's own message would quote the value.
    """
    from referencing.exceptions import Unresolvable  # jsonschema resolves references with this library

    from hierdata.sources.json_schema.keywords import BadPattern, TooManySteps

    validator, work = _validator(schema)
    for ordinal, document in enumerate(documents, 1):
        work.begin(document)
        try:
            error = next(validator.iter_errors(cast("Any", document)), None)
        except Unresolvable:
            raise PolicyError(
                f"{schema.name} refers to a schema outside the file: include it, since none is fetched"
            ) from None
        except RecursionError:
            raise PolicyError(f"{schema.name} refers to itself endlessly") from None
        except TooManySteps:
            raise PolicyError(
                f"{schema.name} needs too many steps: its references lead to the same schemas over and over"
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
    """Return the validator and the counter of its steps."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import extend, validator_for
    from referencing import Registry

    from hierdata.sources.json_schema.keywords import BadPattern, Patterns, Work, keywords

    patterns, work = Patterns(), Work()
    stated = _load_schema(schema)
    kind = validator_for(stated, default=Draft202012Validator)
    try:
        kind.check_schema(stated, format_checker=patterns.checker())  # type: ignore[call-arg]  # they lack it
    except SchemaError as error:
        if isinstance(error.cause, BadPattern):
            raise PolicyError(f"{schema.name} has {_BAD_PATTERN}") from None
        raise PolicyError(f"{schema.name} is not a JSON Schema ({type(error).__name__})") from None
    types = kind.TYPE_CHECKER
    if types.is_type(1.0, "integer"):  # False before draft 6
        types = types.redefine("integer", _is_integer)
    bounded = extend(kind, keywords(kind.VALIDATORS, patterns, work), type_checker=types)  # type: ignore[no-untyped-call]
    # The default registry would fetch referenced schemas from the network or from other files.
    return cast("type[Validator]", bounded)(stated, registry=Registry()), work


def _load_schema(schema: Path) -> Any:
    """Return the content of the file. Raises PolicyError if it is not a JSON Schema that can be checked."""
    from hierdata.sources.json_schema.keywords import walk_values

    try:
        stated = read(schema, SCHEMA)
    except TargetError:
        message = f"the JSON Schema {schema.name} cannot be read: correct `schema` in the policy"
        raise PolicyError(message) from None
    named = stated.get("$schema", "") if isinstance(stated, dict) else ""
    if not isinstance(stated, dict | bool) or not isinstance(named, str):
        raise PolicyError(f"{schema.name} is not a JSON Schema")
    keys = {key for value in walk_values(stated) if isinstance(value, dict) for key in value}
    if {"unevaluatedProperties", "patternProperties"} <= keys:
        raise PolicyError(
            f"{schema.name} has unevaluatedProperties and patternProperties, which cannot be checked "
            "together: use additionalProperties"
        )
    return stated


def _is_integer(_: object, value: object) -> bool:
    """Return whether a value is an integer in JSON Schema, which includes 1.0."""
    if isinstance(value, Decimal):
        return value == value.to_integral_value()
    return isinstance(value, int) and not isinstance(value, bool)
