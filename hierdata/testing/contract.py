"""What all checks share: the error, and what every member with parameters must keep."""

from __future__ import annotations

import json
import pickle
from typing import Any

from pydantic import BaseModel, ValidationError


class ContractError(AssertionError):
    """A member of a family does not keep its family's contract; the message says which part of it."""


def require(kept: object, broken: str) -> None:
    """Raise ContractError with a sentence unless something is kept."""
    if not kept:
        raise ContractError(broken)


def check_parameters(member: BaseModel) -> None:
    """Parameters are frozen, closed, survive JSON, and can be sent to a worker process."""
    name = type(member).__name__
    require(member.model_config.get("frozen"), f"{name} must be frozen: take the model_config of its base")
    stated = json.loads(member.model_dump_json())
    try:
        again: BaseModel | None = type(member).model_validate(stated)
    except ValidationError:
        again = None
    require(again == member, f"{name} must be the same after a round trip through JSON")
    try:
        type(member).model_validate({**stated, "no such key": 1})
    except ValidationError:
        pass
    else:
        raise ContractError(f"{name} must refuse unknown keys: take the model_config of its base")
    require(type(member).model_json_schema(), f"{name} must have a JSON Schema")
    require(sent(member) == member, f"{name} must be the same after pickling")


def sent(value: Any) -> Any:
    """A value as a worker process receives it. Raises ContractError for one that cannot be pickled."""
    try:
        return pickle.loads(pickle.dumps(value))  # noqa: S301  # pickled on the same line
    except (pickle.PicklingError, AttributeError, TypeError):
        raise ContractError(
            f"{type(value).__name__} cannot be pickled, as worker processes need: define what it holds at "
            "the top of a module"
        ) from None
