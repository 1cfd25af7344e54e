"""What all values at a path must look like: pseudonyms and constants."""

from __future__ import annotations

import re

from hierdata.document import Value
from hierdata.judge.rules import Keys


class Pattern:
    """A regular expression, and the path where it is due."""

    __slots__ = ("_expression", "path")

    def __init__(self, keys: Keys, expression: str) -> None:
        self.path = ".".join(keys)
        self._expression = re.compile(expression)

    def matches(self, value: Value) -> bool:
        """Whether a value is as it must be; a missing one is.

        >>> token = Pattern(("id",), "[0-9a-f]{4}")
        >>> token.matches("00ff"), token.matches(None), token.matches("00FF"), token.matches(1234)
        (True, True, False, False)
        """
        return value is None or (isinstance(value, str) and self._expression.fullmatch(value) is not None)
