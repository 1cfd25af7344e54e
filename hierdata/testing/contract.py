"""Common parts of the checks: the error, and the check of a member's parameters."""

from __future__ import annotations

import json
import pickle
from typing import Any

from pydantic import BaseModel, ValidationError


class ContractError(AssertionError):
    """A member of a family violates its family's contract; the message names the part of it."""


def require(kept: object, broken: str) -> None:
    """Raise ContractError with the message ``broken`` unless ``kept`` is true."""
    if not kept:
        raise ContractError(broken)


def check_parameters(member: BaseModel) -> None:
    """Check that parameters are frozen and closed, survive JSON, and can be sent to a worker process."""
    name = type(member).__name__
    require(member.model_config.get("frozen"), f"{name} must be frozen: use the model_config of its base")
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
        raise ContractError(f"{name} must refuse unknown keys: use the model_config of its base")
    require(type(member).model_json_schema(), f"{name} must have a JSON Schema")
    require(send_to_worker(member) == member, f"{name} must be the same after pickling")


def send_to_worker(value: Any) -> Any:
    """Return a value as a worker process receives it. Raises ContractError if it cannot be pickled."""
    try:
        return pickle.loads(pickle.dumps(value))  # noqa: S301  # pickled on the same line
    except (pickle.PicklingError, AttributeError, TypeError):
        raise ContractError(
            f"{type(value).__name__} cannot be pickled for worker processes: define everything it contains "
            "at the top level of a module"
        ) from None


def require_sentence(said: str, called: str) -> None:
    """Raise ContractError unless a text is one sentence on one line."""
    require(
        said.endswith(".") and "\n" not in said and said.strip(" .") != "",
        f"{called} must be a sentence on one line that ends with a full stop",
    )
