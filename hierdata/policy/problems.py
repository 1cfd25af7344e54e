"""Problems of a policy, one line each: the key path, the reason, and the nearest known name.

Also the positions of keys in a policy's file, for error messages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, get_args

from pydantic import BaseModel

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails


Location: TypeAlias = tuple[int | str, ...]
"""The keys and indexes that lead to a part of a policy."""

Problem: TypeAlias = tuple[Location, str]
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
_LONGEST_NUMBER = 200
"""Bits of a number that is shown."""
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
    "label": "1 to 200 characters without line ends or other control characters",
}
"""How a text must be written, by its key."""


@dataclass(frozen=True)
class Mistake:
    """A mistake in a policy: the key path (empty: the whole policy), and the reason.

    ``keys`` lead to the part of the data that shows it, such as the unknown key itself.
    """

    where: str
    message: str
    keys: Location = field(default=(), compare=False)

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
    by_place: dict[str, dict[Mistake, Location]] = {}
    details = error.errors(include_url=False)[:MOST_TOLD]
    for detail in details:
        if _is_other_form(detail, details):
            continue
        for mistake, tried in _problems(detail, model, data):
            by_place.setdefault(mistake.where, {}).setdefault(mistake, tried)
    return [mistake for alternatives in by_place.values() for mistake in _join(alternatives)]


def _join(alternatives: Mapping[Mistake, Location]) -> Iterator[Mistake]:
    """Yield the mistakes at one place; those from alternatives, none of which fits, are joined."""
    tried = {mistake: alternative for mistake, alternative in alternatives.items() if alternative}
    yield from (mistake for mistake in alternatives if mistake not in tried)
    if len(set(tried.values())) < 2 or not next(iter(tried)).where:
        yield from tried
        return
    keys = {mistake.keys for mistake in tried}
    location = keys.pop() if len(keys) == 1 else min(keys, key=len)
    yield Mistake(next(iter(tried)).where, ", or ".join(mistake.message for mistake in tried), location)


def _is_other_form(detail: ErrorDetails, details: Sequence[ErrorDetails]) -> bool:
    """Return whether a word would do where a mapping is stated, and parts of the mapping are wrong."""
    *location, form = detail["loc"] or ("",)
    return (
        str(form).startswith("literal[")
        and isinstance(detail["input"], Mapping)
        and any(other["loc"][: len(location)] == tuple(location) for other in details if other is not detail)
    )


def contradictions(problems: Iterable[Problem], data: object) -> list[Mistake]:
    """Return the contradictions between parts of a policy, each once, with its place in ``data``."""
    return list(
        dict.fromkeys(
            Mistake(key_path(keys, data), reason, known_part(keys, data)) for keys, reason in problems
        )
    )


def _problems(
    detail: ErrorDetails, model: type[BaseModel], data: object
) -> Iterator[tuple[Mistake, Location]]:
    """Yield what is wrong, each with the alternative for which it is, () for a contradiction."""
    kind, loc, context = detail["type"], detail["loc"], detail.get("ctx", {})
    if kind == "too_short" and context["actual_length"] < len(detail["input"]):
        return  # the items themselves are wrong and reported
    if kind == "value_error" and isinstance(error := context["error"], InconsistencyError):
        for mistake in contradictions(((loc + keys, reason) for keys, reason in error.problems), data):
            yield mistake, ()
        return
    is_draft = kind == "extra_forbidden" and loc == (DRAFT,)
    above = kind in ("extra_forbidden", "missing", "invalid_key") and not is_draft
    there = loc[:-1] if above else loc
    message = _IS_DRAFT if is_draft else _message(detail, model, data)
    keys = known_part(loc if kind == "extra_forbidden" else there, data)
    yield Mistake(key_path(there, data), message, keys), there


def _message(detail: ErrorDetails, model: type[BaseModel], data: object) -> str:
    """Return the reason without its place."""
    kind, loc, context = detail["type"], detail["loc"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        known = known_keys(loc[:-1], model)
        listed = f"; known here: {', '.join(known)}" if len(known) <= _FEW_KEYS else ""
        return f"unknown key {str(loc[-1])!r}{nearest(loc[-1], known) or listed}"
    if kind == "missing":
        return f"the key {str(loc[-1])!r} is missing"
    if kind == "value_error":
        return str(context["error"])
    if kind in ("literal_error", "union_tag_invalid"):
        expected = str(context.get("expected") or context["expected_tags"])
        stated = context.get("tag", detail["input"])
        hint = nearest(stated, re.findall(r"'([^']*)'", expected))
        return f"{_quote_value(stated)} is not one of {expected}{hint}"
    if kind == "invalid_key":
        reason = "some YAML readers take on, off, yes and no for booleans: put the key in quotes"
        return f"a key is {_quote_value(detail['input'])}, not text; {reason}"
    if kind in ("model_type", "dict_type", "model_attributes_type"):
        return _mapping_due(key_path(loc, data), detail["input"], known_keys(loc, model))
    return _due(detail)


def _due(detail: ErrorDetails) -> str:
    """Return what a value must be instead."""
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == MISSING_PLUGIN:
        return detail["msg"]
    if kind == "too_short":
        return f"at least {context['min_length']} must be given, not {context['actual_length']}"
    if kind == "too_long":
        return f"at most {context['max_length']} may be given, not {len(detail['input'])}"
    if kind == "union_tag_not_found":
        return "the key 'kind' is missing"
    is_spelling = kind in ("string_pattern_mismatch", "string_too_long")
    due = _SPELLED.get(str(detail["loc"][-1])) if is_spelling else _DUE.get(kind)
    if due is not None:
        return f"must be {due}, not {_quote_value(detail['input'])}"
    message = re.sub(r"^(Input|Tuple|List|Dictionary|String) should ", "must ", detail["msg"])
    return f"{message}, not {_quote_value(detail['input'])}"


def _mapping_due(where: str, value: object, known: Sequence[str]) -> str:
    """Return the message for a value that must be a mapping. If it is the whole file, none of it is shown."""
    if not where:
        kind = "text" if isinstance(value, str) else _quote_value(value)
        return f"a policy must be a mapping with the keys version, models and fields, not {kind}"
    keys = f" with {' or '.join(known)}" if len(known) <= 3 else ""
    return f"must be a mapping{keys}, not {_quote_value(value)}"


def _quote_value(value: object) -> str:
    if isinstance(value, str) and len(value) > _LONGEST_SHOWN:
        return f"a text of {len(value)} characters"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
        return "a longer number"
    return str(value) if isinstance(value, int | Decimal) else repr(value)


def key_path(loc: Iterable[int | str], data: object) -> str:
    """Return the place of an error in the file.

    >>> key_path(("models", 0, "alpha-k", "k"), {"models": [{"k": 1}]})
    'models[0].k'
    """
    text = ""
    for part in known_part(loc, data):
        if isinstance(part, int):
            text += f"[{part}]"
            continue
        name = part if len(part) <= _LONGEST_KEY else f"a key of {len(part)} characters"
        plain = re.fullmatch(r"\w+", name)
        text += f"{'.' if text else ''}{name}" if plain else f"[{name}]"
    return text


def known_part(loc: Iterable[int | str], data: object) -> Location:
    """Return the keys of a location that are in the data; others name an alternative that was tried.

    >>> known_part(("models", 0, "alpha-k", "k"), {"models": [{"k": 1}]})
    ('models', 0, 'k')
    """
    keys: list[int | str] = []
    for part in loc:
        if isinstance(part, int) and isinstance(data, list | tuple) and part < len(data):
            data = data[part]
            keys.append(part)
        elif isinstance(data, Mapping) and part in data:
            data = data[part]
            keys.append(str(part))
    return tuple(keys)


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


class Position(NamedTuple):
    """A line, and a column if it is known, both from 1."""

    line: int
    column: int | None = None

    @property
    def order(self) -> tuple[int, int]:
        """The sort key."""
        return self.line, self.column or 0

    def __str__(self) -> str:
        return f"line {self.line}" + ("" if self.column is None else f", column {self.column}")


Positions: TypeAlias = "Mapping[Location, Position]"


@dataclass(frozen=True)
class PolicyFile:
    """A policy file as plain data.

    ``find`` returns the position of each key and item in the file; it is called for error messages only.
    ``origins`` maps parts of the data to the places in the file that they were made from, where these differ.
    """

    name: str
    data: Any
    find: Callable[[], Positions] = field(default=dict, compare=False, repr=False)
    origins: Mapping[Location, Location] = field(default_factory=dict, repr=False)

    @cached_property
    def _positions(self) -> Positions:
        return self.find()

    def position(self, location: Location) -> Position:
        """Return the position of a part of the data: that of its key or item, else that of what holds it."""
        for end in range(len(location), 0, -1):
            if (origin := self.origins.get(location[:end])) is not None:
                location = origin + location[end:]
                break
        known = (location[:end] for end in range(len(location), 0, -1))
        return next((self._positions[part] for part in known if part in self._positions), Position(1, 1))

    def describe(self, location: Location) -> str:
        """Return the file with the position of a part of the data."""
        return f"{self.name}, {self.position(location)}"
