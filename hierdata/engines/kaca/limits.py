"""Limits on the rows of one class that no later merge can repair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.rows.table import codes_of
from hierdata.forest.forest import MISSING, Forest, Scope, look_up


class ModelLimits:
    """At most one row per record, and per group of values at most the rows allowed in a class of any size."""

    def __init__(self, forest: Forest, scope: Scope, constraints: Constraints) -> None:
        codes = codes_of(forest, scope)
        columns = [
            (look_up(caps.group_of, codes[:, position]).tolist(), caps.most)
            for position, caps in constraints.caps(scope.kind)
            if caps.necessary and caps.most is not None
        ]
        if scope.kind:  # at the root a record has one row
            columns.append((scope.records.tolist(), 1))
        self._columns = columns

    @property
    def none(self) -> bool:
        """Whether there are no limits."""
        return not self._columns

    def allow(self, *parts: Collection[int]) -> bool:
        """Whether the rows of all parts may be in one class."""
        for groups, most in self._columns:
            counts = Counter(groups[row] for row in chain(*parts))
            counts.pop(MISSING, None)
            if counts and max(counts.values()) > most:
                return False
        return True

    def equal_rows(self, nodes: NDArray[np.int32]) -> NDArray[np.int64]:
        """Group rows with equal nodes into classes, numbered in the order of their first rows.

        A row joins the first class of equal rows that the limits allow; if there is none, it starts another.
        """
        if self.none:
            whole = np.unique(nodes, axis=0, return_inverse=True)[1].ravel()
        else:
            keys = map(bytes, np.ascontiguousarray(nodes))
            whole = np.fromiter(self._first_fit(keys), np.int64, len(nodes))
        firsts, numbers = np.unique(whole, return_index=True, return_inverse=True)[1:]
        ranks = np.argsort(np.argsort(firsts))
        classes: NDArray[np.int64] = ranks[numbers.ravel()]
        return classes

    def _first_fit(self, keys: Iterable[bytes]) -> Iterable[int]:
        """Iterate, by row, over the first class of equal rows that may hold it."""
        begun: dict[bytes, list[tuple[int, list[Counter[int]]]]] = {}
        count = 0
        for row, key in enumerate(keys):
            own = [(groups[row], most) for groups, most in self._columns]
            alike = begun.setdefault(key, [])
            fit = next((one for one in alike if _has_room(one[1], own)), None)
            if fit is None:
                fit = count, [Counter() for _ in own]
                alike.append(fit)
                count += 1
            for counter, (group, _) in zip(fit[1], own, strict=True):
                counter[group] += 1
            yield fit[0]


def _has_room(held: list[Counter[int]], own: list[tuple[int, int]]) -> bool:
    pairs = zip(held, own, strict=True)
    return all(group == MISSING or counter[group] < most for counter, (group, most) in pairs)
