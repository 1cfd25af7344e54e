"""Texts that count as one value: ``same: [trim, nfkc, fold]``."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal, TypeAlias

from hierdata.documents.document import Scalar

SameStep: TypeAlias = Literal["trim", "nfkc", "fold"]

_SPACE = re.compile(r"\s+")
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0")
"""Characters that are not seen, and are not of the category Cf."""


@dataclass(frozen=True)
class Sameness:
    """Which texts count as one value; the one that is published is computed from the text alone.

    ``trim`` removes white space at both ends and characters that are not seen (zero width, joiners,
    direction marks, variation selectors), and makes every other run of white space one space. ``nfkc`` is the
    Unicode normalization of that name: composed and decomposed, full width and half width are one. ``fold``
    ignores case.

    >>> Sameness(frozenset({"trim", "fold"})).text_of(" H\\u200bIV "), Sameness().text_of(" HIV ")
    ('hiv', ' HIV ')
    """

    steps: frozenset[SameStep] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.steps)

    def text_of(self, text: str) -> str:
        """Return the text that stands for all texts that are the same."""
        last = None
        while text != last:  # case folding may need another normalization, and that another trimming
            last, text = text, self._step(text)
        return text

    def value_of(self, value: Scalar) -> Scalar:
        """Return the value that stands for all that are the same; only texts are changed."""
        return self.text_of(str(value)) if self.steps and isinstance(value, str) else value

    def _step(self, text: str) -> str:
        if "nfkc" in self.steps:
            text = unicodedata.normalize("NFKC", text)
        if "fold" in self.steps:
            text = text.casefold()
        if "trim" in self.steps:
            text = _SPACE.sub(" ", remove_invisible(text)).strip(" ")
        return text


def remove_invisible(text: str) -> str:
    """Return the text without characters that are not seen."""
    return text if text.isascii() else "".join(filter(_is_seen, text))


def _is_seen(character: str) -> bool:
    selector = "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
    return unicodedata.category(character) != "Cf" and character not in _FILLERS and not selector


ALL_DIFFER = Sameness()
"""Texts are one value only if they are equal."""
