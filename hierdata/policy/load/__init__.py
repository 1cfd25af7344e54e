"""The policy of a release, from YAML, JSON, an annotated JSON Schema or plain Python data."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hierdata.documents.formats import FORMATS, format_named
from hierdata.documents.limits import require_confined
from hierdata.ground import plugins
from hierdata.ground.errors import MissingPluginError, PolicyError
from hierdata.ground.escaping import escape
from hierdata.policy.checks import find_problems
from hierdata.policy.checks.sensitive import class_size
from hierdata.policy.load.json_schema import is_schema, policy_of
from hierdata.policy.load.yaml import is_json, json_positions, read_with_text, yaml_positions
from hierdata.policy.policy import Policy
from hierdata.policy.problems import MISSING_PLUGIN, Mistake, PolicyFile, Problem, contradictions, mistakes
from hierdata.policy.spec.fields import FieldRule
from hierdata.policy.spec.values import Keep
from hierdata.records.schema import Role
from hierdata.records.survey import Keys, PathSurvey
from hierdata.records.unlisted import keep_unlisted


def load(path: str | Path, *, root: str | Path | None = None) -> Policy:
    """Load the policy in a YAML or JSON file, or in the annotations of a JSON Schema or an XSD.

    The files that it names must be below ``root`` (default: the parent of the policy's folder), since a
    policy may come from an untrusted source. Raises PolicyError with every problem, one per line, each with
    its line and column, and TargetError when the file cannot be opened.
    """
    path = Path(path)
    return from_file(read_file(path), path, root)


def in_format(policy: Policy, name: str | None) -> Policy:
    """Return a policy with another format, if one is given. Raises PolicyError for an unknown name."""
    if name is None:
        return policy
    if name not in FORMATS and plugins.find("formats", name) is None:
        raise PolicyError(f"--format takes one of {', '.join(FORMATS)}")
    format_named(name)
    return policy.model_copy(update={"format": name})


def read_file(path: Path) -> PolicyFile:
    """Return what a policy file states, as plain data; raises as ``load`` does if it holds no policy."""
    name = path.name
    if path.suffix.lower() == ".xsd":
        from hierdata.policy.load.xsd import policy_in

        data, lines = policy_in(path)
        return PolicyFile(name, data, lambda: lines)
    data, text = read_with_text(path)
    find = partial(json_positions if is_json(path) else yaml_positions, text)
    if not is_schema(data):
        return PolicyFile(name, data, find)
    try:
        policy, origins = policy_of(data)
    except PolicyError as error:
        raise PolicyError(f"{name}: {line}" for line in str(error).split("\n")) from None
    return PolicyFile(name, policy, find, origins)


def root_of(path: Path) -> Path:
    """Return the default ``root`` for the files that a policy file names: the parent of its folder."""
    return path.absolute().parent.resolve().parent


def from_file(file: PolicyFile, path: Path, root: str | Path | None = None) -> Policy:
    """Build the policy of a file that was read (see ``load``)."""
    return _build(file.data, path.parent, root_of(path) if root is None else Path(root), file)


def from_data(
    data: Mapping[str, Any] | Policy, folder: str | Path = "", root: str | Path | None = None
) -> Policy:
    """Build the policy from plain data, such as a dict; the files it names are relative to ``folder``.

    If ``root`` is given, they must be below it. Otherwise the data is trusted and may name any file.

    >>> models = [{"kind": "k-anonymity", "k": 2}]
    >>> from_data({"version": 1, "models": models, "fields": {"$.a": {"rol": "quasi"}}})
    Traceback (most recent call last):
    hierdata.ground.errors.PolicyError: fields[$.a]: unknown key 'rol'; did you mean role?
    """
    if isinstance(data, Policy):
        _check(data, {name: getattr(data, name) for name in data.model_fields_set}, None)
        return data
    plain = dict(data) if isinstance(data, Mapping) else data
    return _build(plain, Path(folder), None if root is None else Path(root), None)


def _build(data: Any, folder: Path, root: Path | None, file: PolicyFile | None) -> Policy:
    try:
        policy = Policy.model_validate(data)
    except ValidationError as error:
        kinds = {detail["type"] for detail in error.errors(include_url=False)}
        # A list whose items are refused is also reported as too short.
        refusal = MissingPluginError if kinds - {"too_short"} == {MISSING_PLUGIN} else PolicyError
        raise refusal(_describe(mistakes(error, Policy, data), file)) from None
    _check(policy, data, file)
    policy._folder = folder
    policy._file = file
    if root is not None:
        _confine(policy, data, root, file)
    return policy


def _check(policy: Policy, data: Mapping[str, Any], file: PolicyFile | None) -> None:
    """Raise PolicyError where parts of a policy contradict each other; a policy is checked once."""
    if policy._checked:
        return
    if problems := find_problems(policy):
        raise PolicyError(_describe(contradictions(problems, data), file))
    policy._checked = True


def _confine(policy: Policy, data: Any, root: Path, file: PolicyFile | None) -> None:
    problems: list[Problem] = []
    for keys, name in policy.files():
        try:
            require_confined(name, policy.folder, root)
        except PolicyError as error:
            problems.append((keys, str(error)))
    if problems:
        raise PolicyError(_describe(contradictions(problems, data), file))


def _describe(reported: Iterable[Mistake], file: PolicyFile | None) -> list[str]:
    """Return one line for each mistake, with its position if the policy is a file."""
    if file is None:
        return list(map(str, reported))
    in_order = sorted(reported, key=lambda mistake: file.position(mistake.keys).order)
    return [f"{file.describe(mistake.keys)}: {mistake}" for mistake in in_order]


@contextmanager
def name_positions(policy: Policy) -> Iterator[None]:
    """Add the position in the policy's file to each line of a PolicyError that begins with a field."""
    try:
        yield
    except PolicyError as error:
        file = policy._file
        if file is None:
            raise
        written = {escape(str(path)): text for path, text in zip(policy.paths, policy.fields, strict=True)}
        lines = []
        for line in str(error).split("\n"):
            text = written.get(line.partition(": ")[0])
            lines.append(line if text is None else f"{file.describe(('fields', text))}: {line}")
        located = type(error)(lines, revealed=error.revealed)
        located.path = error.path
        raise located from None


def change_policy(policy: Policy, **changes: Any) -> Policy:
    """Return the policy with other values for some keys; None leaves a key out. Nothing is checked."""
    stated = {name: getattr(policy, name) for name in policy.model_fields_set} | changes
    stated = {name: value for name, value in stated.items() if name not in changes or value is not None}
    if "record_schema" in stated:
        stated["schema"] = stated.pop("record_schema")
    changed = Policy.model_validate(stated)
    changed._folder = policy._folder
    changed._file = policy._file
    return changed


def without_required_fields(policy: Policy) -> Policy:
    """Return the policy for single shaped records, which need not have every field of their collection."""
    fields = {path: rule.model_copy(update={"optional": True}) for path, rule in policy.fields.items()}
    changed = change_policy(policy, fields=fields)
    return changed.model_copy(update={"shape": (), "individual": None, "control": None})


def add_unlisted(
    policy: Policy, shape: PathSurvey, many_hints: Collection[Keys] = (), *, least: int | None = None
) -> Policy:
    """Return the policy with a rule for each field that ``unlisted: {keep: ...}`` publishes.

    These are the fields that at least as many records hold as the smallest class has, or as ``least`` says.
    """
    if not isinstance(policy.unlisted, Keep):
        return policy
    least = class_size(policy) if least is None else least
    unlisted = keep_unlisted(policy.rules(), shape, Role.QUASI, many_hints, policy.maps, least)
    added = {str(rule.path): FieldRule(role="insensitive") for rule in unlisted}
    return change_policy(policy, fields={**policy.fields, **added}) if added else policy
