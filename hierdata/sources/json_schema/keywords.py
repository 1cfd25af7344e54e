"""JSON Schema in bounded time: patterns by an engine that never backtracks, steps counted for each record.

A schema may come from anybody. Python's own engine takes exponential time for patterns such as ``(a+)+$``,
and a chain of forty definitions with two references each asks for a billion checks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jsonschema import FormatChecker
from jsonschema.exceptions import ValidationError

Keyword = Callable[[Any, Any, Any, Any], "Iterator[ValidationError] | None"]

_FREE_STEPS = 30_000
_STEPS_FOR_A_VALUE = 1_000
"""Keywords that may be looked at for one record, and for each value in it where that is more."""
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|.)", re.DOTALL)


class TooManySteps(Exception):  # noqa: N818  a signal to whoever checks records
    """A schema asks for more than a record can be worth."""


class BadPattern(ValueError):  # noqa: N818  told in words of the schema's file by whoever reads it
    """A pattern that the linear engine does not know."""


class Work:
    """The steps taken for one record."""

    def __init__(self) -> None:
        self._document: object = None
        self._steps = 0
        self._most = _FREE_STEPS

    def begin(self, document: object) -> None:
        """The next record."""
        self._document, self._steps, self._most = document, 0, _FREE_STEPS

    def step(self) -> None:
        """One keyword. Raises TooManySteps."""
        self._steps += 1
        if self._steps > self._most:
            self._most = _STEPS_FOR_A_VALUE * _values(self._document)
            if self._steps > self._most:
                raise TooManySteps


def _values(document: object) -> int:
    """The values of a document, lists and objects among them."""
    count, todo = 0, [document]
    while todo:
        count += 1
        value = todo.pop()
        if isinstance(value, dict):
            todo.extend(value.values())
        elif isinstance(value, list):
            todo.extend(value)
    return count


class Patterns:
    """Regular expressions of a schema, each compiled once: time linear in the text, whatever it says.

    >>> found = Patterns().search
    >>> found("^(a+)+$", "a" * 1000), found("^(a+)+$", "a" * 1000 + "!"), found("^\\\\u00e9$", "é")
    (True, False, True)
    """

    def __init__(self) -> None:
        self._compiled: dict[str, Any] = {}

    def search(self, pattern: str, text: str) -> bool:
        """Whether a pattern is found in a text. Raises BadPattern for one that cannot be compiled."""
        return self.compiled(pattern).search(text) is not None

    def compiled(self, pattern: str) -> Any:
        """The compiled pattern. JSON Schema spells characters as ``\\uXXXX``, the engine does not."""
        found = self._compiled.get(pattern)
        if found is None:
            import re2

            options = re2.Options()
            options.log_errors = False
            try:
                found = re2.compile(_ESCAPE.sub(_respelled, pattern), options)
            except re2.error:
                raise BadPattern from None
            self._compiled[pattern] = found
        return found

    def checker(self) -> FormatChecker:
        """What finds bad patterns when a schema is checked by its own."""
        checker = FormatChecker(formats=())

        @checker.checks("regex", raises=BadPattern)
        def _is_pattern(value: object) -> bool:
            return not isinstance(value, str) or self.compiled(value) is not None

        return checker


def _respelled(escape: re.Match[str]) -> str:
    return escape[0] if escape[1] is None else f"\\x{{{escape[1]}}}"


def keywords(known: Mapping[str, Keyword], patterns: Patterns, work: Work) -> dict[str, Keyword]:
    """The keywords of a draft, with patterns by our engine, and each counted when it is looked at."""
    own = {
        "pattern": _pattern(patterns),
        "patternProperties": _pattern_properties(patterns),
        "additionalProperties": _additional_properties(patterns),
    }
    return {name: _counted(own.get(name, keyword), work) for name, keyword in known.items()}


def _counted(keyword: Keyword, work: Work) -> Keyword:
    def look(validator: Any, stated: Any, value: Any, schema: Any) -> Iterator[ValidationError] | None:
        work.step()
        return keyword(validator, stated, value, schema)

    return look


def _pattern(patterns: Patterns) -> Keyword:
    def look(validator: Any, pattern: str, value: Any, _: Any) -> Iterator[ValidationError]:
        if validator.is_type(value, "string") and not patterns.search(pattern, value):
            yield ValidationError("the text does not match the pattern")

    return look


def _pattern_properties(patterns: Patterns) -> Keyword:
    def look(validator: Any, stated: Any, value: Any, _: Any) -> Iterator[ValidationError]:
        if validator.is_type(value, "object"):
            for pattern, below in stated.items():
                for key, item in value.items():
                    if patterns.search(pattern, key):
                        yield from validator.descend(item, below, path=key, schema_path=pattern)

    return look


def _additional_properties(patterns: Patterns) -> Keyword:
    def look(validator: Any, stated: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
        if not validator.is_type(value, "object"):
            return
        known, alike = schema.get("properties", {}), schema.get("patternProperties", {})
        for key, item in value.items():
            if key in known or any(patterns.search(pattern, key) for pattern in alike):
                continue
            if validator.is_type(stated, "object"):
                yield from validator.descend(item, stated, path=key)
            elif not stated:
                yield ValidationError("there is a property that the schema does not know")

    return look
