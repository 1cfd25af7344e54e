"""JSON Schema in bounded time: patterns are matched without backtracking, steps are counted for each record.

A schema may come from an untrusted source. Python's own engine takes exponential time for patterns such as
``(a+)+$``, and a chain of forty definitions with two references each leads to a billion checks.
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
"""Keywords that may be evaluated for one record, or for each value in it, whichever is more."""
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|.)", re.DOTALL)


class TooManySteps(Exception):  # noqa: N818  a signal to check_documents
    """A schema needs more steps than the limit for a record."""


class BadPattern(ValueError):  # noqa: N818  a signal to the functions that read the schema
    """A pattern that the linear engine does not support."""


class Work:
    """The steps taken for one record."""

    def __init__(self) -> None:
        self._document: object = None
        self._steps = 0
        self._most = _FREE_STEPS

    def begin(self, document: object) -> None:
        """Start counting for the next record."""
        self._document, self._steps, self._most = document, 0, _FREE_STEPS

    def step(self) -> None:
        """Count one keyword. Raises TooManySteps."""
        self._steps += 1
        if self._steps > self._most:
            self._most = _STEPS_FOR_A_VALUE * sum(1 for _ in walk_values(self._document))
            if self._steps > self._most:
                raise TooManySteps


def walk_values(data: object) -> Iterator[object]:
    """Yield every value of plain data, including lists and objects."""
    todo = [data]
    while todo:
        value = todo.pop()
        yield value
        if isinstance(value, dict):
            todo.extend(value.values())
        elif isinstance(value, list):
            todo.extend(value)


class Patterns:
    """Regular expressions of a schema, each compiled once; a search takes time linear in the text.

    >>> found = Patterns().search
    >>> found("^(a+)+$", "a" * 1000), found("^(a+)+$", "a" * 1000 + "!"), found("^\\\\u00e9$", "é")
    (True, False, True)
    """

    def __init__(self) -> None:
        self._compiled: dict[str, Any] = {}

    def search(self, pattern: str, text: str) -> bool:
        """Return whether a pattern is found in a text. Raises BadPattern for one that cannot be compiled."""
        return self.compile_pattern(pattern).search(text) is not None

    def compile_pattern(self, pattern: str) -> Any:
        """Compile a pattern once. ``\\uXXXX``, which the engine does not know, is translated."""
        compiled = self._compiled.get(pattern)
        if compiled is None:
            import re2

            options = re2.Options()
            options.log_errors = False
            try:
                compiled = re2.compile(_ESCAPE.sub(_respell_escape, pattern), options)
            except re2.error:
                raise BadPattern from None
            self._compiled[pattern] = compiled
        return compiled

    def checker(self) -> FormatChecker:
        """Return a checker that finds bad patterns when a schema is checked against its meta-schema."""
        checker = FormatChecker(formats=())

        @checker.checks("regex", raises=BadPattern)
        def _is_pattern(value: object) -> bool:
            return not isinstance(value, str) or self.compile_pattern(value) is not None

        return checker


def _respell_escape(escape: re.Match[str]) -> str:
    return escape[0] if escape[1] is None else f"\\x{{{escape[1]}}}"


def keywords(known: Mapping[str, Keyword], patterns: Patterns, work: Work) -> dict[str, Keyword]:
    """Return the keywords of a draft, with patterns searched by this engine and every evaluation counted."""
    linear = {
        "pattern": _pattern(patterns),
        "patternProperties": _pattern_properties(patterns),
        "additionalProperties": _additional_properties(patterns),
    }
    return {name: _count_keyword(linear.get(name, keyword), work) for name, keyword in known.items()}


def _count_keyword(keyword: Keyword, work: Work) -> Keyword:
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
