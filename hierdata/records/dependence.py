"""Fields that tell each other: how far the value of one field determines that of another at the same object.

A value that is unique determines everything. So only values that several records share are counted, and only
what chance does not explain.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from math import log10

from hierdata.documents.document import Document
from hierdata.domains.derived import key_of
from hierdata.records.derived import DerivedField, SeveralError, objects_at, read_single

_CHANCE = -6
"""Power of ten of the chance below which a dependence is none of chance."""
_EXCEPTIONS = 0.01
"""The largest share of objects that may contradict a dependence."""
_FIRST_LOOK = 512
_REFUTED = 0.9
MOST_PAIRS = 50_000
"""Limit on different pairs of values, so that memory does not grow with the data."""


@dataclass
class Dependence:
    """Which values of two fields occur together.

    ``pairs`` counts objects by the values of both, ``holders`` records by the value of the first; None is a
    missing value. With more than ``MOST_PAIRS`` different pairs nothing is counted any more, nor once they
    are ``refuted``, as most are early.
    """

    pairs: Counter[tuple[Hashable, Hashable]] = field(default_factory=Counter)
    holders: Counter[Hashable] = field(default_factory=Counter)
    refuted: bool = False

    def add(self, documents: Iterable[Document], fields: DerivedField, k: int = 0) -> Iterator[Document]:
        """Yield the documents, and count each; with ``k`` until values that k records share are refuted."""
        due = _FIRST_LOOK
        for number, document in enumerate(documents, 1):
            if not self.refuted and len(self.pairs) <= MOST_PAIRS:
                found = list(_pairs_of(document, fields))
                self.pairs.update(found)
                self.holders.update({first for first, _ in found})
                if k and number == due:
                    due *= 2
                    self.refuted = self._is_refuted(k)
            yield document

    def _groups(self, k: int) -> dict[Hashable, Counter[Hashable]]:
        """Return how often each second value occurs with each first one that ``k`` records share."""
        groups: defaultdict[Hashable, Counter[Hashable]] = defaultdict(Counter)
        for (first, second), count in self.pairs.items():
            if first is not None and second is not None and self.holders[first] >= k:
                groups[first][second] += count
        return groups

    def _is_refuted(self, k: int) -> bool:
        groups = self._groups(k).values()
        total = sum(group.total() for group in groups)
        return total > _FIRST_LOOK and sum(max(group.values()) for group in groups) < _REFUTED * total

    @property
    def is_function(self) -> bool:
        """Whether the first determines the second everywhere, and both are missing together."""
        firsts = [first for first, _ in self.pairs]
        together = all((first is None) == (second is None) for first, second in self.pairs)
        return together and len(firsts) == len(set(firsts))

    def count_told(self, k: int) -> int:
        """Return for how many values of the first, shared by ``k`` records, the second is determined.

        0 where some are not, or where that may be chance.
        """
        groups = {} if self.refuted else self._groups(k)
        every: Counter[Hashable] = sum(groups.values(), Counter())
        total = every.total()
        if len(every) < 2 or len(self.pairs) > MOST_PAIRS:
            return 0
        missed = 1 - sum(max(group.values()) for group in groups.values()) / total
        by_guess = 1 - max(every.values()) / total
        shares = [count / total for count in every.values()]
        chance = sum(_log_equal(shares, group.total()) for group in groups.values() if len(group) == 1)
        if missed > min(_EXCEPTIONS, by_guess / 10) or chance > _CHANCE:
            return 0
        return len(groups)


def _pairs_of(document: Document, fields: DerivedField) -> Iterator[tuple[Hashable, Hashable]]:
    for item in objects_at(document, fields.shared):
        try:
            first, second = read_single(item, fields.source_steps), read_single(item, fields.label_steps)
        except SeveralError:
            continue
        gone = fields.source_missing, fields.label_missing
        values = (
            None if value is None or str(value) in missing else key_of(value)
            for value, missing in zip((first, second), gone, strict=True)
        )
        yield next(values), next(values)


def _log_equal(shares: Iterable[float], count: int) -> float:
    """Return the power of ten of the chance that ``count`` drawn values are equal."""
    most = max(shares)
    return count * log10(most) + log10(sum((share / most) ** count for share in shares))
