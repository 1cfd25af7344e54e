"""The policy of a release, from YAML, JSON, an annotated JSON Schema or plain Python data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hierdata.documents.limits import confined
from hierdata.errors import MissingPluginError, PolicyError
from hierdata.policy.checks import find_problems
from hierdata.policy.load.json_schema import is_schema, policy_of
from hierdata.policy.load.yaml import read
from hierdata.policy.policy import Policy
from hierdata.policy.problems import MISSING_PLUGIN, contradictions, mistakes


def load(path: str | Path, *, root: str | Path | None = None) -> Policy:
    """The policy in a YAML or JSON file, or in the annotations of a JSON Schema or an XSD.

    The files that it names must lie below ``root``, by default the folder above the policy's own: a policy
    may come from anybody. Raises PolicyError with every problem, one a line, TargetError when the file cannot
    be opened.
    """
    path = Path(path)
    return from_data(plain(path), path.parent, root_of(path) if root is None else Path(root))


def plain(path: Path) -> Any:
    """What a policy file states, as plain data; raises as ``load`` does where there is none in it."""
    if path.suffix.lower() == ".xsd":
        from hierdata.policy.load.xsd import policy_in

        return policy_in(path)
    data = read(path)
    return policy_of(data) if is_schema(data) else data


def root_of(path: Path) -> Path:
    """The folder below which the files named in a file must lie, where nothing is said: above its own."""
    return path.absolute().parent.resolve().parent


def from_data(
    data: Mapping[str, Any] | Policy, folder: str | Path = "", root: str | Path | None = None
) -> Policy:
    """The policy in plain data, such as a dict; the files it names are relative to ``folder``.

    Where ``root`` is given they must lie below it. Data is a program's own otherwise, and may name any file.

    >>> models = [{"kind": "k-anonymity", "k": 2}]
    >>> from_data({"version": 1, "models": models, "fields": {"$.a": {"rol": "quasi"}}})
    Traceback (most recent call last):
    hierdata.errors.PolicyError: fields[$.a]: unknown key 'rol'; did you mean role?
    """
    if isinstance(data, Policy):
        _check(data, {name: getattr(data, name) for name in data.model_fields_set})
        return data
    try:
        policy = Policy.model_validate(data)
    except ValidationError as error:
        kinds = {detail["type"] for detail in error.errors(include_url=False)}
        # A list whose items are refused is also too short.
        refusal = MissingPluginError if kinds - {"too_short"} == {MISSING_PLUGIN} else PolicyError
        raise refusal("\n".join(map(str, mistakes(error, Policy, data)))) from None
    _check(policy, data)
    policy._folder = Path(folder)
    if root is not None:
        _confine(policy, Path(root))
    return policy


def _check(policy: Policy, data: Mapping[str, Any]) -> None:
    """Raise PolicyError where parts of a policy contradict each other; a policy is checked once."""
    if policy._checked:
        return
    if problems := find_problems(policy):
        raise PolicyError("\n".join(map(str, contradictions(problems, data))))
    policy._checked = True


def _confine(policy: Policy, root: Path) -> None:
    problems = []
    for where, name in policy.files():
        try:
            confined(name, policy.folder, root)
        except PolicyError as error:
            problems.append(f"{where}: {error}")
    if problems:
        raise PolicyError("\n".join(problems))
