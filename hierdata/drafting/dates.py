"""How the dates of one field are written: the formats that a draft states, or why it cannot."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from hierdata.documents.days import date_of
from hierdata.documents.scalars import DateTime, Timestamp
from hierdata.domains.base import Uncovered
from hierdata.domains.date_formats import ISO, NoSuchDay, check_formats, format_of, read_period

_DAYS = (
    *("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%m.%d.%Y", "%Y/%m/%d", "%Y.%m.%d"),
    *("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%Y-%m-%d", "%d-%b-%Y", "%d %b %Y", "%d %B %Y", "%d. %B %Y"),
    *("%B %d, %Y", "%b %d, %Y", "%d-%b-%y", "%d%b%Y", "%d %b, %Y", "%b %d %Y"),
)
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p", "T%H:%M:%S", " %H:%M:%S.%f")
_PARTIAL = ("%Y-%m", "%Y", "%m/%Y", "%b %Y", "%B %Y", "%Y/%m")
_YEARS = (1850, 2100)
"""Years that a value without a day, or of digits alone, must be in: codes are spelled like that too."""
_FORMATS = (ISO, *(day + time for time, day in product(_TIMES, _DAYS)), *_PARTIAL)
_PLAUSIBLE = re.compile(r"(?=.*[0-9])[0-9A-Za-z][0-9A-Za-z .,:/+\[\]_-]{3,60}", re.ASCII)
_STEPS = ("day", "month", "year", "decade")
_SURE = 100
_FEW = 10
"""Values that name no day may be one in so many."""
_MOST_NOTED = 1000
_LOINC = len("2345-7")
"""Characters of codes that would read as a year and a month."""


@dataclass(frozen=True)
class DateReading:
    """The formats of a field's dates, and how many different values name no day.

    ``undecided`` are the formats among which the values do not decide.
    """

    formats: tuple[str, ...]
    impossible: int = 0
    undecided: tuple[str, ...] = ()

    @property
    def steps(self) -> list[str]:
        """The steps of a domain: from the finest that the formats give."""
        finest = max(3 if name == ISO else format_of(name).precision for name in self.formats)
        return [step for step in _STEPS if finest == 3 or step != "day"]

    @property
    def domain(self) -> dict[str, Any]:
        """The domain as a policy states it."""
        stated: dict[str, Any] = {"steps": self.steps}
        if self.formats != (ISO,):
            stated["format"] = self.formats[0] if len(self.formats) == 1 else list(self.formats)
        return stated | ({"missing": "impossible"} if self.impossible else {})


@dataclass
class DateLooks:
    """Counts which formats read the texts of a field; stops where hardly any text is a date."""

    _read: Counter[frozenset[str]] = field(default_factory=Counter)
    _impossible: dict[frozenset[str], set[int]] = field(default_factory=dict)
    _alive: set[str] = field(default_factory=set)
    _seen: int = 0
    _others: int = 0

    def look(self, text: str, bits: int) -> None:
        """Examine a text; ``bits`` is its hash."""
        self._seen += 1
        if self._others * 2 > max(self._seen, _SURE):
            self._others += 1
            return
        read, impossible = self._formats_of(text, sorted(self._alive))
        if not read:
            read, impossible = self._formats_of(text, _FORMATS)
            self._alive |= read
        if read:
            self._read[read] += 1
        elif impossible:
            noted = self._impossible.setdefault(impossible, set())
            if len(noted) < _MOST_NOTED:
                noted.add(bits)
        else:
            self._others += 1

    @staticmethod
    def _formats_of(text: str, formats: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
        """Return the formats that read a text, and those whose form it has without naming a day."""
        read, impossible = set[str](), set[str]()
        if isinstance(text, DateTime | Timestamp):
            return frozenset({ISO}), frozenset()
        if _PLAUSIBLE.fullmatch(text) is None:
            return frozenset(), frozenset()
        for name in formats:
            try:
                first, _ = read_period(text, (name,))
            except NoSuchDay:
                impossible.add(name)
            except Uncovered:
                continue
            else:
                year = date_of(first)[0]
                is_like_codes = name in _PARTIAL or text.isdigit()
                if not is_like_codes or (_YEARS[0] <= year <= _YEARS[1] and len(text) != _LOINC):
                    read.add(name)
        return frozenset(read), frozenset(impossible - set(_PARTIAL))

    def note_other(self) -> None:
        """Count a value that is no text."""
        self._seen += 1
        self._others += 1

    def merge(self, other: DateLooks) -> None:
        """Add the values of another field."""
        self._read.update(other._read)
        for names, bits in other._impossible.items():
            self._impossible.setdefault(names, set()).update(bits)
        self._alive |= other._alive
        self._seen += other._seen
        self._others += other._others

    def reading(self) -> DateReading | None:
        """Return how the dates are written; None unless all values are dates, but for a few impossible ones.

        Values that are years alone are numbers.
        """
        if self._others or not self._read:
            return None
        uncovered, chosen, undecided = Counter(self._read), list[str](), list[str]()
        while uncovered:
            counts = Counter[str]()
            for names, count in uncovered.items():
                counts.update(dict.fromkeys(names, count))
            best, *others = [name for name in _FORMATS if counts[name] == max(counts.values())]
            chosen.append(best)
            undecided += [other for other in others if not _agree((best, other))]
            uncovered = Counter({names: count for names, count in uncovered.items() if best not in names})
        if not _agree(chosen) or (set(chosen) <= set(_PARTIAL) and "%Y" in chosen):
            return None
        fitting = [bits for names, bits in self._impossible.items() if names & set(chosen)]
        impossible = len(set().union(*fitting)) if fitting else 0
        if len(fitting) < len(self._impossible) or impossible * _FEW > self._seen:
            return None
        order = sorted(chosen, key=_FORMATS.index)
        return DateReading(tuple(order), impossible, tuple(undecided))


def _agree(formats: Sequence[str]) -> bool:
    """Return whether no two of the formats read one text as different days."""
    try:
        check_formats(formats)
    except ValueError:
        return False
    return True
