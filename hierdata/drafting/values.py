"""Profiles of single values: their types, formats and lengths, and a keyed hash for each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from hashlib import blake2b

import numpy as np

from hierdata.documents.document import Scalar
from hierdata.documents.scalars import NOT_FINITE, Binary, DateTime, ObjectId, Timestamp, Uuid
from hierdata.domains.base import Uncovered
from hierdata.domains.date_formats import parse_day
from hierdata.domains.number import Number, exact
from hierdata.drafting.dates import DateLooks
from hierdata.drafting.spectrum import Hashes
from hierdata.records.recognition.contents import is_numbered_address, number_of_person, shape_of_name

MISSING = frozenset({"", "?", "-", "--", "NA", "N/A", "n/a", "#N/A", "nan", "NULL", "null", *NOT_FINITE})
"""Texts that almost certainly mean a missing value."""

CATEGORIES = 100
"""Maximum number of distinct values kept in memory; a field with more is not a category."""

_REMEMBERED = 1 << 12
"""Maximum number of values of a field whose hashes are cached."""
_LONGEST_REMEMBERED = 64
_HUGE = 10**300
_NUMBERS = 512
"""Size of the sample of a field's distinct numbers, from which their spread is estimated."""

_FORMATS = re.compile(
    r"""
    (?P<email>[^@\s]{1,64}@[^@\s]{1,190}\.[A-Za-z]{2,24})
    |(?P<uuid>[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12})
    |(?P<object_id>(?=[0-9]*[A-Fa-f])[0-9A-Fa-f]{24})
    |(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ].{0,40})?|(?:18|19|20)[0-9]{6}T[0-9]{4,6}(?:\.[0-9]{1,9})?Z?
        |(?:18|19|20)[0-9]{6,16}(?:\.[0-9]{1,4})?[+-][0-9]{4})
    |(?P<compact_date>(?:18|19|20)[0-9]{2}(?:0[1-9]|1[0-2])[0-3][0-9](?:[0-9]{4}|[0-9]{6})?)
    |(?P<other_date>[0-9]{1,2}[./-][0-9]{1,2}[./-](?:[0-9]{4}|[0-9]{2})(?:[ ].{0,20})?
        |[0-9]{4}[./][0-9]{2}[./][0-9]{2})
    |(?P<ip>(?:[0-9]{1,3}\.){3}[0-9]{1,3}|(?=(?:[^:]*:){2})[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7})
    |(?P<url>(?:https?|ftp)://\S+)
    |(?P<phone>(?:tel:)?\+[1-9][0-9 ()/.-]{6,20}|(?:tel:)?\([0-9]{3}\)\ ?[0-9]{3}-[0-9]{4}
        |[679][0-9]{2}\ [0-9]{3}\ [0-9]{3}|\(?0[0-9]{1,5}\)?[ /-][0-9 /-]{4,16}|[0-9]{3}-[0-9]{3}-[0-9]{4})
    |(?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,6})?)
    |(?P<medical>[A-Z][0-9][0-9AB](?:\.[0-9A-Z]{1,4})?)
    |(?P<code>[A-Za-z]{0,6}[ ._/-]?[0-9]{1,10}(?:[._/-]?[A-Za-z0-9]{1,6}){0,2})
    """,
    re.VERBOSE | re.DOTALL,
)
_OF_TYPES: dict[type, str] = {
    ObjectId: "object_id",
    Uuid: "uuid",
    Binary: "binary",
    DateTime: "date",
    Timestamp: "date",
}
_ZEROS = re.compile(r"0[0-9]+")


class Looks:
    """Formats, lengths and spread of the values of one field; each distinct value is examined at least once.

    ``formats`` counts the examined values by format: ``number``, ``boolean``, ``binary``, ``text`` (none of
    the others) or a name of ``_FORMATS``; ``persons`` by what they may be of a person, in the words of
    ``recognition.contents``. Lengths and words are those of texts.
    """

    def __init__(self) -> None:
        self.formats: Counter[str] = Counter()
        self.persons: Counter[str] = Counter()
        self.missing: set[str] = set()
        self.texts = 0
        self.words = 0
        self.shortest = 1 << 62
        self.longest = 0
        self.whole = True
        self.padded = False
        self.starred = False
        self.root = False
        self.dates = DateLooks()
        self._numbers: dict[int, float] = {}
        self._level = 0

    @property
    def seen_count(self) -> int:
        """How many values were examined."""
        return sum(self.formats.values())

    @property
    def numeric(self) -> bool:
        """Whether all values are numbers; digits that may be a date are numbers too."""
        return self.formats["number"] > 0 and self.only("number", "compact_date")

    def only(self, *formats: str) -> bool:
        """Return whether all values have one of these formats."""
        return 0 < self.seen_count == sum(self.formats[name] for name in formats)

    def mostly(self, *formats: str) -> bool:
        """Return whether nine in ten of the examined values have one of these formats."""
        return 0 < 9 * self.seen_count <= 10 * sum(self.formats[name] for name in formats)

    def share_like(self, *shapes: str) -> float:
        """Return the share of the examined values that may be one of these of a person."""
        return sum(self.persons[shape] for shape in shapes) / max(1, self.seen_count)

    @property
    def words_each(self) -> float:
        """Average number of words in a text."""
        return self.words / self.texts if self.texts else 0

    def least_digits(self) -> int:
        """Return the digits of the smallest number of a sample, 0 where some are not whole."""
        return len(f"{int(min(map(abs, self._numbers.values()), default=0))}") if self.whole else 0

    def spread(self) -> float:
        """Return the range of the numbers without the outermost 2.5 % at each end, by a sample."""
        numbers = sorted(self._numbers.values())
        if not numbers:
            return 0
        edge = len(numbers) // 40
        return numbers[len(numbers) - 1 - edge] - numbers[edge]

    def merge(self, other: Looks) -> None:
        """Add the values of another field."""
        self.formats.update(other.formats)
        self.persons.update(other.persons)
        self.missing |= other.missing
        self.texts += other.texts
        self.words += other.words
        self.shortest = min(self.shortest, other.shortest)
        self.longest = max(self.longest, other.longest)
        self.whole &= other.whole
        self.padded |= other.padded
        self.starred |= other.starred
        self.root |= other.root
        self._numbers |= other._numbers
        self.dates.merge(other.dates)
        self._level = max(self._level, other._level)
        self._thin()

    def look(self, value: Scalar, bits: int) -> None:
        """Examine one value; ``bits`` is its hash."""
        if isinstance(value, str):
            self._text(value, bits)
            self.dates.look(value, bits)
            return
        self.dates.note_other()
        if isinstance(value, bool):
            self.formats["boolean"] += 1
        elif isinstance(value, int | Decimal):
            if number_of_person(str(value)):
                self.persons["national"] += 1
            self._number(value, bits)
        else:
            self.formats[type(value).__name__] += 1

    def _text(self, value: str, bits: int) -> None:
        self.texts += 1
        self.shortest = min(self.shortest, len(value))
        self.longest = max(self.longest, len(value))
        self.words += value.count(" ") + 1
        self.starred |= "*" in value
        self.root |= value == "*"
        name = _format(value)
        if shape := number_of_person(value) or (shape_of_name(value) if name in ("text", "code") else ""):
            self.persons[shape] += 1
        elif name == "url" and is_numbered_address(value):
            self.persons["address"] += 1
        if name == "number":
            self.padded |= _ZEROS.fullmatch(value) is not None
            self._number(value, bits)
            return
        self.formats[name] += 1
        if name == "compact_date":
            self._keep(exact(value), bits)

    def _number(self, value: Scalar, bits: int) -> None:
        try:
            number = exact(value)
        except Uncovered:
            self.formats["text"] += 1
            return
        self.formats["number"] += 1
        self.whole = self.whole and number.denominator == 1
        self._keep(number, bits)

    def _keep(self, number: Number, bits: int) -> None:
        """Add a number to the sample if its hash ends in ``_level`` zero bits."""
        if bits & ((1 << self._level) - 1):
            return
        if -_HUGE < number < _HUGE:
            self._numbers[bits] = float(number)
        if len(self._numbers) > _NUMBERS:
            self._level += 1
            self._thin()

    def _thin(self) -> None:
        """Raise ``_level`` until at most ``_NUMBERS`` numbers have hashes that end in as many zero bits."""
        while True:
            mask = (1 << self._level) - 1
            self._numbers = {bits: number for bits, number in self._numbers.items() if not bits & mask}
            if len(self._numbers) <= _NUMBERS:
                return
            self._level += 1


def _format(value: str) -> str:
    """Return the name of a text's format, by its Python type if that determines it."""
    name = _OF_TYPES.get(type(value))
    if name is None:
        match = _FORMATS.fullmatch(value)
        name = "text" if match is None or match.lastgroup is None else match.lastgroup
    if name in ("date", "compact_date"):
        try:
            parse_day(value)
        except Uncovered:
            return "number" if name == "compact_date" else "other_date"
    return name


class SeenHashes(dict[Scalar, int]):
    """The hashes of a field's values. A new value is examined; a full cache is cleared."""

    def __init__(self, key: bytes) -> None:
        super().__init__()
        self._key = key
        self._flags = {flag: _hash(b"f%d" % flag, key) for flag in (False, True)}
        self.looks = Looks()

    def __missing__(self, value: Scalar) -> int:
        if value is None or (isinstance(value, str) and value in MISSING):
            if value is not None:
                self.looks.missing.add(value)
            return 0
        bits = _hash(_bytes(value), self._key)
        self.looks.look(value, bits)
        if len(self) >= _REMEMBERED:
            self.clear()
        if not isinstance(value, str) or len(value) <= _LONGEST_REMEMBERED:
            self[value] = bits
        return bits

    def hashes(self, values: Sequence[Scalar]) -> Hashes:
        """Return the hash of each value, 0 for a missing value. Equal numbers have equal hashes."""
        if bool not in set(map(type, values)):
            return np.fromiter(map(self.__getitem__, values), np.uint64, len(values))
        self.looks.formats["boolean"] += 1
        hashes = [self._flags[value] if isinstance(value, bool) else self[value] for value in values]
        return np.array(hashes, np.uint64)


def _hash(data: bytes, key: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8, key=key).digest(), "little") or 1


def _bytes(value: Scalar) -> bytes:
    """Return the bytes to hash: the same for equal numbers, others for a text with the same digits."""
    if isinstance(value, str):
        return b"t" + value.encode("utf-8", "surrogatepass")
    if isinstance(value, int):
        sign, digits, exponent = "-" if value < 0 else "", str(abs(value)), 0
    elif isinstance(value, Decimal):
        parts = value.as_tuple()
        assert isinstance(parts.exponent, int), "numbers are finite"
        sign = "-" if parts.sign else ""
        digits, exponent = "".join(map(str, parts.digits)).lstrip("0"), parts.exponent
    else:
        return f"{type(value).__name__} {value!r}".encode()
    kept = digits.rstrip("0")
    return f"n{sign}{kept}e{exponent + len(digits) - len(kept)}".encode() if kept else b"n0"
