"""The policy of a release, from YAML, JSON, an annotated JSON Schema or plain Python data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hierdata.documents.limits import require_confined
from hierdata.errors import MissingPluginError, PolicyError
from hierdata.policy.checks import find_problems
from hierdata.policy.load.json_schema import is_schema, policy_of
from hierdata.policy.load.yaml import read
from hierdata.policy.policy import Policy
from hierdata.policy.problems import MISSING_PLUGIN, contradictions, mistakes


def load(path: str | Path, *, root: str | Path | None = None) -> Policy:
    """Load the policy in a YAML or JSON file, or in the annotations of a JSON Schema or an XSD.

    The files that it names must be below ``root`` (default: the parent of the policy's folder), since a
    policy may come from an untrusted source. Raises PolicyError with every problem, one per line, TargetError
    when the file cannot be opened.
    """
    path = Path(path)
    return from_data(plain(path), path.parent, root_of(path) if root is None else Path(root))


def plain(path: Path) -> Any:
    """Return what a policy file states, as plain data; raises as ``load`` does if it holds no policy."""
    if path.suffix.lower() == ".xsd":
        from hierdata.policy.load.xsd import policy_in

        return policy_in(path)
    data = read(path)
    return policy_of(data) if is_schema(data) else data


def root_of(path: Path) -> Path:
    """Return the default ``root`` for the files that a policy file names: the parent of its folder."""
    return path.absolute().parent.resolve().parent


def from_data(
    data: Mapping[str, Any] | Policy, folder: str | Path = "", root: str | Path | None = None
) -> Policy:
    """Build the policy from plain data, such as a dict; the files it names are relative to ``folder``.

    If ``root`` is given, they must be below it. Otherwise the data is trusted and may name any file.

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
        # A list whose items are refused is also reported as too short.
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
            require_confined(name, policy.folder, root)
        except PolicyError as error:
            problems.append(f"{where}: {error}")
    if problems:
        raise PolicyError("\n".join(problems))
