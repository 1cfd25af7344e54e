"""Sensitive values in the judge: a code for each value, finally their domain, and how often they occur."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from hierdata.documents.document import Scalar
from hierdata.domains.base import Uncovered
from hierdata.domains.number import canonical, identity, spelling
from hierdata.domains.sensitive import SensitiveDomain, heights_in, path_in
from hierdata.judge.checks import REMEMBERED, Pattern
from hierdata.judge.rules import SensitiveRule

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
RESPELLED = " (equal values that are spelled differently)"
"""The end of the name under which a path is forbidden for that."""


class SensitiveValues:
    """The values met at one sensitive path, with a code for each; equal numbers are one value.

    ``values`` are those met so far, by code, as they were first spelled; ``uncovered`` counts those without
    a level or outside the taxonomy, ``unmatched`` those that do not match the rule's pattern, or are
    finer than its published form. ``respelled`` counts the other spellings of these values, unless the rule
    allows them: a record that spells a value as no other does could be found again by it.
    """

    def __init__(self, rule: SensitiveRule) -> None:
        self.rule = rule
        self.uncovered = 0
        self.unmatched = 0
        self._pattern = None if rule.pattern is None else Pattern(rule.keys, rule.pattern)
        self.respelled = 0
        self.values: list[Scalar] = []
        self._levels: list[int] = []
        self._paths: list[tuple[int, ...]] = []
        self._known: dict[Any, int] = {}
        self._codes: dict[Any, int] = {}
        self._missing_numbers = {Decimal(text) for text in rule.missing if _NUMBER.fullmatch(text)}

    def code(self, value: Scalar) -> int:
        """Return the value's code, -1 for a missing value."""
        key = value if type(value) is str else spelling(value)
        code = self._known.get(key)
        if code is None:
            code = self._code(value)
            if len(self._known) < REMEMBERED:
                self._known[key] = code
        return code

    def _code(self, value: Scalar) -> int:
        if self._is_missing(value):
            return -1
        form = self.rule.form
        matches = self._pattern is None or self._pattern.matches(value)
        self.unmatched += not matches or (form is not None and not form.is_form(value))
        spelled, value = value, self.rule.same.value_of(value)
        canonical = self._canonical(value)
        code = self._codes.get(canonical)
        if code is not None:
            self.respelled += not self.rule.respelled and spelling(self.values[code]) != spelling(spelled)
        else:
            code = self._codes[canonical] = len(self.values)
            self.values.append(spelled)
            try:
                self._paths.append(path_in(self.rule.taxonomy, value))
                if self.rule.scale is not None:
                    self._levels.append(self.rule.scale.level(value))
            except Uncovered:
                self.uncovered += 1
        return code

    def label_of(self, code: int) -> Scalar:
        """Return the one spelling of a value by its code."""
        value = self.rule.same.value_of(self.values[code])
        key = self._canonical(value)
        if isinstance(key, int | Fraction):
            return canonical(key)
        return key if isinstance(key, str) else value

    def findings(self) -> dict[str, int]:
        """Return how many values must not be published, by what is wrong with them."""
        unmatched = {self.rule.path: self.unmatched} if self.unmatched else {}
        return unmatched | self.find_respelled()

    def find_respelled(self) -> dict[str, int]:
        """Return 1 for the path if equal values are spelled differently, however often that is."""
        return {f"{self.rule.path}{RESPELLED}": 1} if self.respelled else {}

    def _is_missing(self, value: Scalar) -> bool:
        """Return whether the policy counts a value as missing: text by its text, a number by its value."""
        if isinstance(value, str | bool):
            return (value if isinstance(value, str) else str(value).lower()) in self.rule.missing
        return value is None or value in self._missing_numbers

    def _canonical(self, value: Scalar) -> object:
        scale = self.rule.scale
        try:
            return identity(value, self.rule.number) if scale is None else scale.canonical(value)
        except Uncovered:
            return type(value), value

    def domain(self) -> SensitiveDomain:
        """Return the values met and those of the reference, with levels and paths if all are covered.

        Call it after all documents have been walked: a value of the reference that no document shows gets its
        code here.
        """
        rule = self.rule
        number = rule.number or (rule.scale is not None and rule.scale.reads_numbers)
        reference: tuple[int, ...] | None = None
        if rule.reference is not None:
            counted: Counter[int] = Counter()
            respelled = self.respelled  # by documents, not by frozen facts
            for value, count in rule.reference.items():
                counted[self.code(value)] += count
            self.respelled = respelled
            reference = tuple(counted[code] for code in range(len(self.values)))
        domain = SensitiveDomain(
            rule.path,
            tuple(map(rule.same.value_of, self.values)),
            number=number,
            reference=reference,
            heights=heights_in(rule.taxonomy),
            same=rule.same,
            form=rule.form,
        )
        if rule.scale is not None and not self.uncovered:
            domain = replace(domain, levels=tuple(self._levels), level_count=rule.scale.count)
        if rule.taxonomy is not None and not self.uncovered:
            domain = replace(domain, paths=tuple(self._paths))
        return domain


Tally: TypeAlias = Mapping[int, int]
"""Counts of values, by ``code * attributes + index of the attribute``."""
Sets: TypeAlias = "dict[frozenset[int], int]"
"""The number of records that show each set of an attribute's codes."""


@dataclass(frozen=True)
class PlaceContent:
    """The values at one place, over all records of the class.

    ``tally`` counts them. ``siblings`` is the largest number of vertices that a record has there. ``sets``
    has, by the index of the attribute, the sets that the records show; an attribute is absent where nobody
    asks for its presence, or the file does not tie values to records.
    """

    tally: Tally
    sets: Mapping[int, Sets] = field(default_factory=dict)
    siblings: int = 1


@dataclass(frozen=True)
class RecordContent:
    """The values of the records of a class at all their places together.

    ``anywhere`` counts the records that show each value at least once, or the occurrences of each value where
    the file does not tie them to records. ``sets`` are as in ``PlaceContent``. ``siblings`` has, by
    attribute, the largest number of vertices that a record has where there are such values.
    """

    anywhere: Tally
    sets: Mapping[int, Sets] = field(default_factory=dict)
    siblings: Mapping[int, int] = field(default_factory=dict)


def add_sets(sets: dict[int, Sets], codes: set[int], attributes: int, times: int) -> None:
    """Add what one record, which occurs ``times`` times, shows: its joint codes, by attribute."""
    by_attribute: dict[int, list[int]] = {}
    for joint in codes:
        code, index = divmod(joint, attributes)
        by_attribute.setdefault(index, []).append(code)
    for index, listed in by_attribute.items():
        counts, shown = sets.setdefault(index, {}), frozenset(listed)
        counts[shown] = counts.get(shown, 0) + times
