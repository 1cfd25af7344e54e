"""Checks of published values: patterns, labels, pseudonyms that no two records share, references."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2b
from itertools import pairwise
from struct import iter_unpack
from typing import TypeAlias

from hierdata.documents.document import Scalar, Value
from hierdata.domains.base import ROOT_LABEL, Uncovered
from hierdata.domains.published import MISSING, Member, split_set
from hierdata.judge.rules import Keys, QuasiRule

REMEMBERED = 100_000
"""Limit on cached spellings, so that memory grows with the classes and not with the values."""


class Pattern:
    """A regular expression, and the path at which it is required."""

    __slots__ = ("_expression", "path")

    def __init__(self, keys: Keys, expression: str) -> None:
        self.path = ".".join(keys)
        self._expression = re.compile(expression)

    def matches(self, value: Value) -> bool:
        """Return whether a value matches; a missing one does.

        >>> token = Pattern(("id",), "[0-9a-f]{4}")
        >>> token.matches("00ff"), token.matches(None), token.matches("00FF"), token.matches(1234)
        (True, True, False, False)
        """
        return value is None or (isinstance(value, str) and self._expression.fullmatch(value) is not None)


SHARED = "a pseudonym in several records"
"""The name under which shared pseudonyms are counted as forbidden."""

_SIZE = 16
_MARK = f"{_SIZE}s"


class Tokens:
    """The pseudonyms of documents, each by its hash, once for each record that it occurs in.

    >>> tokens = Tokens()
    >>> for record in ({("people", "00ff"), ("people", "01ff")}, {("people", "00ff")}, {("wards", "01ff")}):
    ...     tokens.add(record)
    >>> count_repeated(tokens.take_buckets(1)[0])
    1
    """

    def __init__(self) -> None:
        self._marks = bytearray()

    def add(self, found: set[tuple[str, str]], times: int = 1) -> None:
        """Add the pseudonyms of a record that occurs ``times`` times, each with its domain."""
        for domain, token in found:
            text = f"{domain}\0{token}".encode("utf-8", "surrogatepass")
            self._marks += blake2b(text, digest_size=_SIZE).digest() * min(times, 2)

    def take_buckets(self, buckets: int) -> list[bytes]:
        """Return the hashes added since the last call; equal ones are in one bucket."""
        if buckets == 1:
            parted = [self._marks]
        else:
            parted = [bytearray() for _ in range(buckets)]
            for (mark,) in iter_unpack(_MARK, self._marks):
                parted[int.from_bytes(mark[:8]) % buckets] += mark
        self._marks = bytearray()
        return list(map(bytes, parted))


def count_repeated(marks: bytes | bytearray) -> int:
    """Return how many pseudonyms in a bucket occur in more than one record."""
    ordered = sorted(iter_unpack(_MARK, marks))
    return len({mark for mark, following in pairwise(ordered) if mark == following})


DANGLING = "a reference to what is not published"
"""The name under which references without target are counted as forbidden."""

Marks: TypeAlias = tuple[bytes, bytes]
"""The hashes of identities and of references, one after the other."""


class Links:
    """The identities and references of documents, each by its hash, once for each record.

    >>> links = Links()
    >>> for token, identifies in (("00ff", True), ("00ff", False), ("01ff", False)):
    ...     links.add({("people", identifies, token)})
    >>> count_dangling(links.take_buckets(1))
    1
    """

    def __init__(self) -> None:
        self._marks = (bytearray(), bytearray())

    def add(self, found: set[tuple[str, bool, str]]) -> None:
        """Add the pseudonyms of a record, each with its domain and whether it identifies a vertex."""
        for domain, identifies, token in found:
            text = f"{domain}\0{token}".encode("utf-8", "surrogatepass")
            self._marks[not identifies].extend(blake2b(text, digest_size=_SIZE).digest())

    def take_buckets(self, buckets: int) -> list[Marks]:
        """Return the hashes added since the last call; equal ones are in one bucket."""
        parted = [(bytearray(), bytearray()) for _ in range(buckets)]
        for at, marks in enumerate(self._marks):
            for (mark,) in iter_unpack(_MARK, marks):
                parted[int.from_bytes(mark[:8]) % buckets][at].extend(mark)
        self._marks = (bytearray(), bytearray())
        return [(bytes(identities), bytes(references)) for identities, references in parted]


def count_dangling(marks: Iterable[Marks]) -> int:
    """Return how many references of a bucket, counted once for each record, lead to no identity."""
    identities: set[bytes] = set()
    references: list[bytes] = []
    for known, asked in marks:
        identities.update(mark for (mark,) in iter_unpack(_MARK, known))
        references += (mark for (mark,) in iter_unpack(_MARK, asked))
    return sum(mark not in identities for mark in references)


class LabelCheck:
    """The labels of one quasi-identifier; each distinct one is looked up once.

    A label is the root, a missing value, or that of a node at the policy's finest form or above. With
    ``sets`` it may also be a set of finest ones, or a range between two of them.
    """

    __slots__ = ("_known", "_rule", "_sets", "path")

    def __init__(self, rule: QuasiRule, sets: bool) -> None:
        self.path = f"{rule.path} (finer than the policy allows, or no label of its domain)"
        self._rule = rule
        self._sets = sets
        self._known: dict[tuple[type, Scalar], bool] = {}

    def matches(self, value: Value) -> bool:
        """Return whether a value may be published; an object or array may not."""
        if isinstance(value, list | dict):
            return False
        key = value.__class__, value
        known = self._known.get(key)
        if known is None:
            known = self._matches(value)
            if len(self._known) < REMEMBERED:
                self._known[key] = known
        return known

    def _matches(self, label: Scalar) -> bool:
        labels = self._rule.labels
        if label is None or label in ("", ROOT_LABEL) or label in self._rule.missing:
            return True
        if labels.is_finest(label) or labels.is_coarser(label):
            return True
        if not self._sets or not isinstance(label, str):
            return False
        if label[:1] != "{" or label[-1:] != "}":
            return labels.is_range(label)
        try:
            return all(map(self._is_member, split_set(label)))
        except Uncovered:
            return False

    def _is_member(self, member: Member) -> bool:
        labels, text = self._rule.labels, member.text
        return labels.is_finest(text) or (not member.quoted and (text == MISSING or labels.is_range(text)))
