"""Values as formats spell them: what stands once in XML, and whole numbers where there is text alone."""

from __future__ import annotations

from hierdata.document import Siblings, Value

_DIGITS = 19
"""More than any count has; a longer text is not read."""


def single(value: Value) -> Value:
    """What an element is that stands once."""
    return value[0] if isinstance(value, Siblings) and len(value) == 1 else value


def whole(value: Value) -> int | None:
    """A whole number from 0 on, None where it is none; XML and CSV have text alone.

    A number has one spelling: to who joins by text 07 and 7 are two groups, which tell members apart.

    >>> whole("12"), whole(0), whole("-1"), whole(True), whole("07")
    (12, 0, None, None, None)
    """
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= _DIGITS:
        number = int(value)
        return number if str(number) == value else None
    return value if type(value) is int and value >= 0 else None
