"""Texts from outside (policies, files, keys) made safe: nothing in them moves, hides or ends a line."""

from __future__ import annotations

import json
import re

_UNSEEN = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Characters that count as printable and show nothing: fillers, joiners and variation selectors."""
_WORD = re.compile(r"[A-Za-z0-9_.$@*/:~(){}'\[\]-]+")
"""A name or path without a space, a comma or a sign of equality."""


def escape(text: str) -> str:
    r"""Return a text with an escape for each character that is not seen as itself.

    These are control characters (line ends and tabs too), those that change the direction or are invisible,
    spaces other than the plain one, lone surrogates, and code points without a meaning. A backslash stays, so
    escaping twice changes nothing.

    >>> print(escape("a\nb \x1b[1m \u202e \ud800 \\n"))
    a\nb \x1b[1m \u202e \ud800 \n
    """
    if _is_shown(text):
        return text
    return "".join(
        char if _is_shown(char) else char.encode("unicode_escape").decode("ascii") for char in text
    )


def _is_shown(text: str) -> bool:
    return text.isprintable() and not _UNSEEN.search(text)


def escape_json(line: str) -> str:
    r"""Return a line of JSON with the same content, escaped where ``escape`` does it.

    >>> print(escape_json('"a\u202eb"'))
    "a\u202eb"
    """
    if _is_shown(line):
        return line
    return "".join(
        char if _is_shown(char) else "\\u007f" if char == "\x7f" else json.dumps(char)[1:-1] for char in line
    )


def quote(text: str) -> str:
    """Return a text that cannot be taken for words of our own: a plain name or path, or in quotes.

    Several spaces become one, so that they cannot push the rest to a new line of a terminal.

    >>> print(quote("students"), quote("$.visits[*].code"), quote('x" k = 50   held'))
    students $.visits[*].code "x' k = 50 held"
    """
    if _WORD.fullmatch(text):
        return text
    return '"' + " ".join(escape(text).replace('"', "'").split()) + '"'
