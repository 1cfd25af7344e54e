"""Which fields a field determines: for each of its values the others have one value in all records."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hierdata.drafting.spectrum import ABSENT, Hashes
from hierdata.records.survey import Keys

_MOST = 4096
"""Maximum number of different values of the determining field that are followed."""


class Determined:
    """The fields that the field ``by`` determines, from the records seen so far.

    At most ``_MOST`` of its values are followed, those whose hash ends in ``level`` zero bits, each in all of
    its records. A missing value contradicts nothing.

    >>> found = Determined(("a",))
    >>> found.add({("a",): np.array([8, 8, 3], np.uint64), ("b",): np.array([5, 5, 7], np.uint64)})
    >>> found.add({("a",): np.array([3], np.uint64), ("b",): np.array([9], np.uint64)})
    >>> found.holds(("b",)), found.holds(("c",))
    (False, True)
    """

    def __init__(self, by: Keys) -> None:
        self.by = by
        self._level = 0
        self._values: Hashes = np.empty(0, np.uint64)
        self._pairs: dict[Keys, Hashes] = {}
        self._differing: set[Keys] = set()

    def add(self, hashes: Mapping[Keys, Hashes]) -> None:
        """Add records by the hashes of their values, 0 for a missing one."""
        own = hashes.get(self.by)
        if own is None:
            return
        followed = self._follows(own)
        self._values = np.union1d(self._values, own[followed])
        for keys, others in hashes.items():
            if keys != self.by and keys not in self._differing:
                there = followed & (others != ABSENT)
                new = np.stack((own[there], others[there]), axis=1)
                known = self._pairs.get(keys)
                pairs = np.unique(new if known is None else np.concatenate((known, new)), axis=0)
                self._pairs[keys] = pairs
                if len(np.unique(pairs[:, 0])) < len(pairs):
                    self._differing.add(keys)
                    del self._pairs[keys]
        while len(self._values) > _MOST:
            self._level += 1
            self._values = self._values[self._follows(self._values)]
            self._pairs = {keys: pairs[self._follows(pairs[:, 0])] for keys, pairs in self._pairs.items()}

    def holds(self, keys: Keys) -> bool:
        """Return whether the other field has one value for each value of this one, as far as was seen."""
        return keys not in self._differing

    def _follows(self, hashes: Hashes) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        mask = np.uint64((1 << self._level) - 1)
        found: np.ndarray[tuple[int], np.dtype[np.bool_]] = (hashes & mask == 0) & (hashes != ABSENT)
        return found
