"""Checks of published values: patterns, labels, pseudonyms that no two records share, references."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
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
DANGLING = "a reference to what is not published"
"""The name under which references without target are counted as forbidden."""
Marks: TypeAlias = tuple[bytes, ...]
"""The hashes of pseudonyms that no two records may share, of identities, and of references."""

_SIZE = 16
_MARK = f"{_SIZE}s"


class Pseudonyms:
    """The pseudonyms of documents, each by its hash, once for each record that it occurs in.

    >>> pseudonyms = Pseudonyms()
    >>> for record in ({("people", "00ff"), ("people", "01ff")}, {("people", "00ff")}, {("wards", "01ff")}):
    ...     pseudonyms.add(record, ())
    >>> pseudonyms.add((), {("people", True, "00ff"), ("people", False, "00ff"), ("people", False, "01ff")})
    >>> sorted(count_wrong_pseudonyms(pseudonyms.take_buckets(1)).items())
    [('a pseudonym in several records', 1), ('a reference to what is not published', 1)]
    """

    def __init__(self) -> None:
        self._marks = _make_room()

    def add(
        self, tokens: Collection[tuple[str, str]], links: Collection[tuple[str, bool, str]], times: int = 1
    ) -> None:
        """Add the pseudonyms of a record that occurs ``times`` times, each with its domain.

        ``links`` say of each whether it identifies a vertex or refers to one.
        """
        shared, identities, references = self._marks
        for domain, token in tokens:
            shared.extend(_hash(domain, token) * min(times, 2))
        for domain, identifies, token in links:
            (identities if identifies else references).extend(_hash(domain, token))

    def take_buckets(self, buckets: int) -> list[Marks]:
        """Return the hashes added since the last call; equal ones are in one bucket."""
        added, self._marks = self._marks, _make_room()
        if buckets == 1:
            return [tuple(map(bytes, added))]
        parted = [_make_room() for _ in range(buckets)]
        for role, hashes in enumerate(added):
            for (mark,) in iter_unpack(_MARK, hashes):
                parted[int.from_bytes(mark[:8]) % buckets][role].extend(mark)
        return [tuple(map(bytes, bucket)) for bucket in parted]


def _make_room() -> tuple[bytearray, bytearray, bytearray]:
    return bytearray(), bytearray(), bytearray()


def _hash(domain: str, token: str) -> bytes:
    return blake2b(f"{domain}\0{token}".encode("utf-8", "surrogatepass"), digest_size=_SIZE).digest()


def count_wrong_pseudonyms(marks: Iterable[Marks]) -> Counter[str]:
    """Count the pseudonyms of a bucket that several records share, and references that lead to no identity.

    A reference counts once for each record.
    """
    tokens, identities, references = (
        [mark for (mark,) in iter_unpack(_MARK, b"".join(hashes))]
        for hashes in zip((b"", b"", b""), *marks, strict=True)
    )
    tokens.sort()
    shared = {mark for mark, following in pairwise(tokens) if mark == following}
    targets = set(identities)
    dangling = sum(mark not in targets for mark in references)
    return +Counter({SHARED: len(shared), DANGLING: dangling})


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
