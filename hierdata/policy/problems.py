"""Problems of a policy, one line each: the key path, the reason, and the nearest known name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from pydantic import BaseModel

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

Problem: TypeAlias = tuple[tuple[int | str, ...], str]
"""The keys that lead to a problem in a policy, and the reason."""

MOST_TOLD = 100
"""Limit on the problems reported for one policy."""
_LONGEST_NAME = 100
_MOST_NAMES = 1000
"""The nearest name is searched for names up to this length, among this many known names."""
DRAFT = "draft"
"""A policy with this key is refused: ``init`` writes it, and the user removes it after a review."""
_IS_DRAFT = (
    "this policy is a draft: look at every field, decide what is marked CONFIRM, then remove this line"
)

MISSING_PLUGIN = "missing_plugin"
"""The validator's name for a kind that is not built in, near no built-in one, and not installed."""
_FEW_KEYS = 8
"""Where no known key resembles an unknown one, the known keys are listed if there are at most this many."""
_LONGEST_SHOWN = 60
_LONGEST_KEY = 500
_DUE = {
    "tuple_type": "a list",
    "list_type": "a list",
    "string_type": "text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
}
"""What is expected, by pydantic's type of the error."""
_SPELLED = {
    "delimiter": "one character other than a quote or a line end",
    "file": "the name of a file in the folder, without a path,",
}
"""How a text must be written, by its key."""


@dataclass(frozen=True)
class Mistake:
    """A mistake in a policy: the key path (empty: the whole policy), and the reason."""

    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


class InconsistencyError(ValueError):
    """Parts of a policy that contradict each other: the keys of each, and the reason."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(reason for _, reason in problems))
        self.problems = problems


def nearest(name: object, names: Iterable[str]) -> str:
    """Return a hint for a near miss, empty where nothing is near.

    >>> nearest("tpye", ["type", "kind"]), nearest("x", ["type"])
    ('; did you mean type?', '')
    >>> nearest("quasi-identifier", ["quasi", "identifier"]), nearest("mbf", ["MBF"])
    ('; did you mean quasi?', '; did you mean MBF?')
    """
    stated, known = str(name), list(islice(names, _MOST_NAMES))
    if len(stated) > _LONGEST_NAME:
        return ""
    alike = [other for other in known if other.casefold() == stated.casefold()]
    begun = [other for other in known if len(other) > 3 and stated.startswith(other)]
    near = alike or begun or get_close_matches(stated, known, n=1, cutoff=0.65)
    return f"; did you mean {near[0]}?" if near else ""


def mistakes(error: ValidationError, model: type[BaseModel], data: object) -> list[Mistake]:
    """Describe why ``data`` failed the validation by ``model``; the first ``MOST_TOLD`` errors."""
    found: dict[tuple[str, bool], list[str]] = {}
    for detail in error.errors(include_url=False)[:MOST_TOLD]:
        # A value that fits no alternative has an error for each, and they are joined. Errors at the top, and
        # contradictions between parts of a policy, are separate problems.
        apart = isinstance(detail.get("ctx", {}).get("error"), InconsistencyError)
        for where, message in _problems(detail, model, data):
            messages = found.setdefault((where, apart or not where), [])
            if message not in messages:
                messages.append(message)
    return [
        Mistake(where, message)
        for (where, apart), messages in found.items()
        for message in (messages if apart else [", or ".join(messages)])
    ]


def contradictions(problems: Iterable[Problem], data: object) -> list[Mistake]:
    """Return the contradictions between parts of a policy, each once, with its place in ``data``."""
    return list(dict.fromkeys(Mistake(key_path(keys, data), reason) for keys, reason in problems))


def _problems(detail: ErrorDetails, model: type[BaseModel], data: object) -> Iterator[tuple[str, str]]:
    kind, loc, context = detail["type"], detail["loc"], detail.get("ctx", {})
    where = key_path(loc, data)
    if kind == "too_short" and context["actual_length"] < len(detail["input"]):
        return  # the items themselves are wrong and reported
    if kind == "extra_forbidden" and loc == (DRAFT,):
        yield where, _IS_DRAFT
    elif kind == "extra_forbidden":
        known = known_keys(loc[:-1], model)
        listed = f"; known here: {', '.join(known)}" if len(known) <= _FEW_KEYS else ""
        hint = nearest(loc[-1], known) or listed
        yield key_path(loc[:-1], data), f"unknown key {str(loc[-1])!r}{hint}"
    elif kind == "missing":
        yield key_path(loc[:-1], data), f"the key {str(loc[-1])!r} is missing"
    elif kind == "value_error":
        error = context["error"]
        if isinstance(error, InconsistencyError):
            yield from ((key_path(loc + keys, data), reason) for keys, reason in error.problems)
        else:
            yield where, str(error)
    elif kind in ("literal_error", "union_tag_invalid"):
        expected = str(context.get("expected") or context["expected_tags"])
        found = str(context.get("tag", detail["input"]))
        hint = nearest(found, re.findall(r"'([^']*)'", expected))
        yield where, f"{_quote_value(context.get('tag', detail['input']))} is not one of {expected}{hint}"
    elif kind == "invalid_key":
        reason = "some YAML readers take on, off, yes and no for booleans: put the key in quotes"
        yield key_path(loc[:-1], data), f"a key is {_quote_value(detail['input'])}, not text; {reason}"
    elif kind in ("model_type", "dict_type", "model_attributes_type"):
        yield where, _mapping_due(where, detail["input"], known_keys(loc, model))
    else:
        yield where, _due(detail)


def _due(detail: ErrorDetails) -> str:
    """Return what a value must be instead."""
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == MISSING_PLUGIN:
        return detail["msg"]
    if kind == "too_short":
        return f"at least {context['min_length']} must be given, not {context['actual_length']}"
    if kind == "union_tag_not_found":
        return "the key 'kind' is missing"
    due = _SPELLED.get(str(detail["loc"][-1])) if kind == "string_pattern_mismatch" else _DUE.get(kind)
    if due is not None:
        return f"must be {due}, not {_quote_value(detail['input'])}"
    message = re.sub(r"^(Input|Tuple|List|Dictionary|String) should ", "must ", detail["msg"])
    return f"{message}, not {_quote_value(detail['input'])}"


def _mapping_due(where: str, found: object, known: Sequence[str]) -> str:
    """Return the message for a value that must be a mapping. If it is the whole file, none of it is shown."""
    if not where:
        kind = "text" if isinstance(found, str) else _quote_value(found)
        return f"a policy must be a mapping with the keys version, models and fields, not {kind}"
    keys = f" with {' or '.join(known)}" if len(known) <= 3 else ""
    return f"must be a mapping{keys}, not {_quote_value(found)}"


def _quote_value(value: object) -> str:
    if isinstance(value, str) and len(value) > _LONGEST_SHOWN:
        return f"a text of {len(value)} characters"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value) if isinstance(value, int | Decimal) else repr(value)


def key_path(loc: Iterable[int | str], data: object) -> str:
    """Return the place of an error in the file.

    >>> key_path(("models", 0, "alpha-k", "k"), {"models": [{"k": 1}]})
    'models[0].k'
    """
    text = ""
    for part in loc:
        # A part that is not a key of the data names an alternative that was tried.
        if isinstance(part, int) and isinstance(data, list | tuple) and part < len(data):
            data = data[part]
            text += f"[{part}]"
        elif isinstance(data, Mapping) and part in data:
            data = data[part]
            name = str(part) if len(str(part)) <= _LONGEST_KEY else f"a key of {len(str(part))} characters"
            plain = re.fullmatch(r"\w+", name)
            text += f"{'.' if text else ''}{name}" if plain else f"[{name}]"
    return text


def known_keys(loc: Iterable[int | str], model: type[BaseModel]) -> list[str]:
    """Return the keys that are allowed at a place."""
    current = {model}
    for part in loc:
        below = {
            inner
            for owner in current
            for name, info in owner.model_fields.items()
            if part == (info.alias or name)
            for inner in _models(info.annotation)
        }
        named = {owner for owner in current if "kind" in owner.model_fields and part == _kind(owner)}
        current = below or named or current
    return sorted({info.alias or name for owner in current for name, info in owner.model_fields.items()})


def _kind(model: type[BaseModel]) -> object:
    return next(iter(get_args(model.model_fields["kind"].annotation)), None)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)
