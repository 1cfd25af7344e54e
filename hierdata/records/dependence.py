"""Functional dependence: how far the value of one field determines that of another at the same object.

A value that is unique determines everything. So ``count_told`` counts only values that several records share,
and only what chance does not explain.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from math import log10

from hierdata.documents.document import Document, Scalar
from hierdata.domains.derived import key_of
from hierdata.records.derived import DerivedField, SeveralError, objects_at, read_single

_CHANCE = -6
"""Power of ten of the chance below which a dependence is none of chance."""
_EXCEPTIONS = 0.01
"""The largest share of objects that may contradict a dependence."""
_FIRST_LOOK = 512
_BITS = 64


@dataclass
class Dependence:
    """Which values of two fields occur together, by hashes of 64 bits, 0 for a missing value.

    ``pairs`` counts objects by the values of both, ``holders`` records by the value of the first. With more
    than ``most`` different pairs only those are followed whose first value has a hash that ends in ``level``
    zero bits, each in all of its objects. Nothing is counted any more once the pairs are ``refuted``, as most
    are early: more than ``tolerated``, a share of the objects, contradict them, by values of the first that
    ``k`` records share.

    >>> dependence = Dependence(tolerated=0)
    >>> dependence.add_records([8, 8, 3], [5, 5, 7])
    >>> dependence.is_contradicted
    False
    >>> dependence.add_records([3], [9])
    >>> dependence.is_contradicted
    True
    """

    k: int = 1
    tolerated: float = 1
    most: int = 50_000
    level: int = 0
    pairs: Counter[tuple[int, int]] = field(default_factory=Counter)
    holders: Counter[int] = field(default_factory=Counter)
    refuted: bool = False
    _records: int = 0
    _due: int = _FIRST_LOOK

    def add(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Count the pairs of one record."""
        if not self.refuted:
            followed = [pair for pair in pairs if self._follows(pair[0])] if self.level else pairs
            self.pairs.update(followed)
            self.holders.update({first for first, _ in followed})
            self._grow(1)

    def add_records(self, firsts: Sequence[int], seconds: Sequence[int]) -> None:
        """Count records that have one pair each."""
        if not self.refuted:
            pairs = zip(firsts, seconds, strict=True)
            followed = [pair for pair in pairs if self._follows(pair[0])]
            self.pairs.update(followed)
            self.holders.update(first for first, _ in followed)
            self._grow(len(firsts))

    def _grow(self, records: int) -> None:
        """Note more records; now and then, and before pairs are forgotten, see whether they are refuted."""
        self._records += records
        if self._records < self._due and len(self.pairs) <= self.most:
            return
        self._due = 2 * self._records
        self.refuted = self._is_refuted()
        while len(self.pairs) > self.most and not self.refuted:
            self.level += 1
            self.pairs = Counter(
                {pair: count for pair, count in self.pairs.items() if self._follows(pair[0])}
            )
            self.holders = Counter(
                {first: count for first, count in self.holders.items() if self._follows(first)}
            )
            self.refuted = self.level == _BITS
        if self.refuted:
            self.pairs.clear()
            self.holders.clear()

    def _follows(self, first: int) -> bool:
        return not first & ((1 << self.level) - 1)

    def _groups(self, k: int) -> dict[int, Counter[int]]:
        """Return how often each second value occurs with each first one that ``k`` records share."""
        groups: defaultdict[int, Counter[int]] = defaultdict(Counter)
        for (first, second), count in self.pairs.items():
            if first and second and self.holders[first] >= k:
                groups[first][second] += count
        return groups

    def _is_refuted(self) -> bool:
        groups = self._groups(self.k).values()
        total = sum(group.total() for group in groups)
        missed = total - sum(max(group.values()) for group in groups)
        return missed > self.tolerated * max(total, _FIRST_LOOK)

    @property
    def is_contradicted(self) -> bool:
        """Whether a value of the first occurs with two of the second; a missing one contradicts nothing."""
        firsts = [first for first, second in self.pairs if first and second]
        return self.refuted or len(firsts) > len(set(firsts))

    @property
    def is_one_to_one(self) -> bool:
        """Whether each determines the other everywhere, and both are missing together."""
        together = all((not first) == (not second) for first, second in self.pairs)
        ends = (len(set(hashes)) for hashes in zip(*self.pairs, strict=True))
        return not self.refuted and together and all(count == len(self.pairs) for count in ends)

    def count_told(self, k: int) -> int:
        """Return for how many values of the first, shared by ``k`` records, the second is determined.

        0 where some are not, or where that may be chance. Only values that were followed are counted.
        """
        groups = self._groups(k)
        every: Counter[int] = sum(groups.values(), Counter())
        total = every.total()
        if len(every) < 2:
            return 0
        missed = 1 - sum(max(group.values()) for group in groups.values()) / total
        by_guess = 1 - max(every.values()) / total
        shares = [count / total for count in every.values()]
        chance = sum(_log_equal(shares, group.total()) for group in groups.values() if len(group) == 1)
        if missed > min(_EXCEPTIONS, by_guess / 10) or chance > _CHANCE:
            return 0
        return len(groups)


def pairs_of(document: Document, fields: DerivedField) -> Iterator[tuple[Scalar, Scalar]]:
    """Yield the values of both fields of each object of a record; None is a missing one."""
    gone = fields.source_missing, fields.label_missing
    for item in objects_at(document, fields.shared):
        try:
            both = read_single(item, fields.source_steps), read_single(item, fields.label_steps)
        except SeveralError:
            continue
        first, second = (
            None if value is None or str(value) in missing else value
            for value, missing in zip(both, gone, strict=True)
        )
        yield first, second


def count_pairs(
    documents: Iterable[Document], fields: DerivedField, dependence: Dependence
) -> Iterator[Document]:
    """Yield the documents, and count the pairs of each."""
    for document in documents:
        if not dependence.refuted:
            dependence.add([(_hash(first), _hash(second)) for first, second in pairs_of(document, fields)])
        yield document


@lru_cache(maxsize=1 << 13, typed=True)
def _hash(value: Scalar) -> int:
    if value is None:
        return 0
    return int.from_bytes(blake2b(repr(key_of(value)).encode(), digest_size=8).digest(), "little") or 1


def _log_equal(shares: Iterable[float], count: int) -> float:
    """Return the power of ten of the chance that ``count`` drawn values are equal."""
    most = max(shares)
    return count * log10(most) + log10(sum((share / most) ** count for share in shares))
