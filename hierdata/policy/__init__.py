"""The policy of a release, from YAML, JSON, an annotated JSON Schema or plain Python data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hierdata.errors import PolicyError
from hierdata.policy.annotated import is_schema, policy_of
from hierdata.policy.families import EngineSpec
from hierdata.policy.fields import FieldRule
from hierdata.policy.model import Keep, Policy
from hierdata.policy.problems import mistakes
from hierdata.policy.reading import read

__all__ = ["EngineSpec", "FieldRule", "Keep", "Policy", "from_data", "load", "plain"]


def load(path: str | Path) -> Policy:
    """The policy in a YAML or JSON file, or in the ``x-hierdata`` annotations of a JSON Schema.

    Raises PolicyError with every problem, one a line, TargetError when the file cannot be opened.
    """
    path = Path(path)
    return from_data(plain(path), path.parent)


def plain(path: Path) -> Any:
    """What a policy file states, as plain data; raises as ``load`` does where there is none in it."""
    data = read(path)
    return policy_of(data) if is_schema(data) else data


def from_data(data: Mapping[str, Any] | Policy, folder: str | Path = "") -> Policy:
    """The policy in plain data, such as a dict; the files it names are relative to ``folder``.

    >>> models = [{"kind": "k-anonymity", "k": 2}]
    >>> from_data({"version": 1, "models": models, "fields": {"$.a": {"rol": "quasi"}}})
    Traceback (most recent call last):
    hierdata.errors.PolicyError: fields[$.a]: unknown key 'rol'; did you mean role?
    """
    if isinstance(data, Policy):
        return data
    try:
        policy = Policy.model_validate(data)
    except ValidationError as error:
        raise PolicyError("\n".join(map(str, mistakes(error, Policy, data)))) from None
    policy._folder = Path(folder)
    return policy
