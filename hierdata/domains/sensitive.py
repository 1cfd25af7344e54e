"""The domain of one sensitive attribute: its values, and the sensitivity level of each.

``Sameness`` says which of its texts count as one value: ``same: [trim, nfkc, fold]``.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal, Self, TypeAlias

from hierdata.documents.document import Scalar
from hierdata.domains.base import Hierarchy, Observed, Uncovered, memoize
from hierdata.domains.number import Number, canonical, exact, identity
from hierdata.domains.scales import LevelScale
from hierdata.domains.sensitive_forms import SensitiveForm
from hierdata.ground.errors import PolicyError

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


ALL_DIFFER = Sameness()
"""Texts are one value only if they are equal."""


@dataclass(frozen=True)
class SensitiveDomain:
    """The distinct values of a sensitive attribute: ``values[code]``, codes 0..n-1, missing left out.

    ``levels[code]`` is the sensitivity level, 1 (least) .. ``level_count`` (most sensitive); None if the
    policy gives the attribute no levels. Equal numbers are one value, however they are spelled; with
    ``number`` text is read as a number too. ``paths[code]`` are the nodes of the taxonomy from the root down
    to the value, so ``len(paths[code]) - 1`` is its depth. ``heights[node]`` is the length of the longest
    path from a node of the whole taxonomy down to a leaf (erratum TC-3). Both are None without a taxonomy.
    ``reference[code]`` is how often the value occurs in the original collection, including suppressed
    records, 0 for a value that only a release shows; None if unknown. Texts that are the ``same`` are
    one value. ``form`` is the coarser one in which values are published, None if they are as they were.
    """

    path: str
    values: tuple[Scalar, ...]
    levels: tuple[int, ...] | None = None
    level_count: int = 5
    number: bool = False
    paths: tuple[tuple[int, ...], ...] | None = None
    reference: tuple[int, ...] | None = None
    heights: tuple[int, ...] | None = None
    same: Sameness = ALL_DIFFER
    form: SensitiveForm | None = None

    @classmethod
    def of(cls, domain: SensitiveDomain) -> Self:
        """Copy a domain into one of this class."""
        return cls(**{field.name: getattr(domain, field.name) for field in fields(domain)})

    @classmethod
    def build(
        cls,
        path: str,
        counted: Observed,
        scale: LevelScale | None = None,
        number: bool = False,
        taxonomy: Hierarchy | None = None,
        same: Sameness = ALL_DIFFER,
        form: SensitiveForm | None = None,
    ) -> SensitiveDomain:
        """Build the domain of the counted values of a collection, which are also its reference.

        Values without a level, outside the taxonomy, or without a required number are left out: binding
        refuses them. Codes do not depend on the order of the values: numbers ascending, then text.
        """
        number = number or (scale is not None and scale.reads_numbers)
        levels: dict[str | Number, int] = {}
        paths: dict[str | Number, tuple[int, ...]] = {}
        reference: Counter[str | Number] = Counter()
        for value, count in counted.items():
            value = same.value_of(value)
            if value is None:
                continue
            try:
                key = identity(value, number)
                if key not in levels and (scale is None or scale.covers(value)):
                    paths[key] = path_in(taxonomy, value)
                    levels[key] = scale.level(value) if scale else 0
            except Uncovered:
                continue
            reference[key] += count
        keys = sorted(levels, key=lambda key: (isinstance(key, str), key))
        return cls(
            path,
            tuple(key if isinstance(key, str) else canonical(key) for key in keys),
            tuple(levels[key] for key in keys) if scale else None,
            scale.count if scale else 5,
            number,
            tuple(paths[key] for key in keys) if taxonomy else None,
            tuple(reference[key] for key in keys),
            heights_in(taxonomy),
            same,
            form,
        )

    @cached_property
    def numbers(self) -> tuple[Number, ...] | None:
        """The values as exact numbers, by code; None if one is not a number (text needs ``number``).

        Of bins these are their beginnings.
        """
        if self.form is not None and not self.form.is_number:
            try:
                return tuple(map(self.form.number_of, self.values))
            except Uncovered:
                return None
        if not self.number and any(isinstance(value, str) for value in self.values):
            return None
        try:
            return tuple(map(exact, self.values))
        except Uncovered:
            return None

    @property
    def width(self) -> Number:
        """How much nearer to each other two values may be than ``numbers`` are: the width of bins."""
        return 0 if self.form is None else self.form.width

    @cached_property
    def losses(self) -> tuple[Fraction, ...] | None:
        """LM' of each value by code: the detail that its published form lacks. None if all are whole."""
        return None if self.form is None else self.form.losses(self.values)

    @cached_property
    def code_of(self) -> Callable[[Scalar], int]:
        """The function that returns a value's code; it raises Uncovered for a value outside the domain."""
        codes = {identity(value, self.number): code for code, value in enumerate(self.values)}

        def find(value: Scalar) -> int:
            code = None if value is None else codes.get(identity(self.same.value_of(value), self.number))
            if code is None:
                raise Uncovered
            return code

        return memoize(find)


def path_in(taxonomy: Hierarchy | None, value: Scalar) -> tuple[int, ...]:
    """Return the nodes from the root down to a value, () without a taxonomy. Raises Uncovered."""
    if taxonomy is None:
        return ()
    return tuple(node for node in taxonomy.ancestors[taxonomy.node_of(value)] if node >= 0)


def unite_same(taxonomy: Hierarchy, same: Sameness, called: str) -> Hierarchy:
    """Return the taxonomy with values found by the texts that stand for them.

    Raises PolicyError if two of its values are the same.
    """
    if not same:
        return taxonomy
    nodes: dict[str, int] = {}
    for label in taxonomy.labels:
        if isinstance(label, str):
            try:
                node = taxonomy.node_of(label)
            except Uncovered:
                continue
            if nodes.setdefault(same.text_of(label), node) != node:
                raise PolicyError(f"two values of the {called} are one value under `same`")

    def find(value: Scalar) -> int:
        united = same.value_of(value)
        return nodes[united] if isinstance(united, str) and united in nodes else taxonomy.node_of(united)

    return replace(taxonomy, node_of=memoize(find))


def heights_in(taxonomy: Hierarchy | None) -> tuple[int, ...] | None:
    """Return each node's height, the longest path down to a leaf; the missing value does not count as one."""
    if taxonomy is None:
        return None
    heights = [0] * len(taxonomy.labels)
    for label, row in zip(taxonomy.labels, taxonomy.ancestors, strict=True):
        path = [] if label is None else [node for node in row if node >= 0]
        for height, node in enumerate(reversed(path)):
            heights[node] = max(heights[node], height)
    return tuple(heights)


def remove_invisible(text: str) -> str:
    """Return the text without characters that are not seen."""
    return text if text.isascii() else "".join(filter(_is_seen, text))


def _is_seen(character: str) -> bool:
    selector = "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
    return unicodedata.category(character) != "Cf" and character not in _FILLERS and not selector
