"""Records against the JSON Schema that a policy names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hierdata.document import Document
from hierdata.errors import InputError, PolicyError

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


def checked(documents: Iterable[Document], schema: Path) -> Iterator[Document]:
    """Pass documents on that satisfy a JSON Schema; InputError for the first that does not.

    Only the place in the record and in the schema is told: the validator's own message would quote the value.
    """
    from referencing.exceptions import Unresolvable  # what jsonschema itself resolves references with

    validator = _validator(schema)
    for ordinal, document in enumerate(documents, 1):
        try:
            error = next(validator.iter_errors(cast("Any", document)), None)
        except Unresolvable:
            raise PolicyError(
                f"{schema.name} refers to a schema that it does not hold, and no other is fetched"
            ) from None
        except RecursionError:
            raise PolicyError(f"{schema.name} refers to itself without end") from None
        if error is not None:
            rule = "/".join(map(str, error.absolute_schema_path))
            raise InputError(
                f"the record does not satisfy the JSON Schema (rule {rule} of {schema.name})", record=ordinal
            )
        yield document


def _validator(schema: Path) -> Validator:
    import json

    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import extend, validator_for
    from referencing import Registry

    try:
        stated = json.loads(schema.read_text(encoding="utf-8"), parse_float=Decimal)
        kind = validator_for(stated, default=Draft202012Validator)
        kind.check_schema(stated)
    except OSError as error:
        raise PolicyError(f"the JSON Schema {schema.name} cannot be read ({error.strerror})") from None
    except (ValueError, SchemaError) as error:
        raise PolicyError(f"{schema.name} is no JSON Schema ({type(error).__name__})") from None
    if kind.TYPE_CHECKER.is_type(1.0, "integer"):  # not so before draft 6
        types = kind.TYPE_CHECKER.redefine("integer", _is_integer)
        kind = cast("type[Validator]", extend(kind, type_checker=types))  # type: ignore[no-untyped-call]
    # The default registry would fetch what the schema refers to from the network or from other files.
    return kind(stated, registry=Registry())


def _is_integer(_: object, value: object) -> bool:
    """JSON Schema goes by the value: 1.0 is an integer."""
    if isinstance(value, Decimal):
        return value == value.to_integral_value()
    return isinstance(value, int) and not isinstance(value, bool)
