"""The worst guess of somebody who knows one other sensitive value, where each table has groups of its own.

The adversary knows the quasi-identifiers of a person, and so the class, and one sensitive value of this
person, or that it is missing. Of the assignments of values to persons that fit the files, all are equally
likely. So a record of the class counts with the share that the known value has in its group, and the guess is
the mean of the other table's shares with these weights. Values of one table are in one row.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import lcm
from typing import TypeAlias

Row: TypeAlias = tuple[int, ...]
"""The codes of the values of a row, -1 for a missing one."""
Ids: TypeAlias = tuple[int, ...]
"""The group ids of a record, one for each table."""
Pair: TypeAlias = tuple[int, int]
"""Two groups, or two values, of a known attribute and of one that is guessed."""


@dataclass
class RowsOfTable:
    """The rows of one table: its attributes by index, and by group how often each row occurs."""

    attributes: tuple[int, ...]
    groups: defaultdict[int, Counter[Row]] = field(default_factory=lambda: defaultdict(Counter))

    def counts(self, group: int, attribute: int) -> Counter[int]:
        """Count the values of an attribute in a group, missing ones as -1."""
        at = self.attributes.index(attribute)
        counted: Counter[int] = Counter()
        for row, count in self.groups[group].items():
            counted[row[at]] += count
        return counted


class KnownValue:
    """Finds, for each attribute, the largest share of a value to somebody who knows one of another.

    ``table_of`` is, by the index of each attribute with values, the number of its table.
    """

    def __init__(self, tables: Sequence[RowsOfTable], table_of: Mapping[int, int]) -> None:
        self._tables = tables
        self._table_of = table_of
        self._counted: dict[Pair, Counter[int]] = {}
        self._most: dict[Pair, Fraction] = {}
        self.best = {own: Fraction(0) for own in table_of}

    def add(self, records: Mapping[Ids, int]) -> None:
        """Add a class: how many of its records have each combination of ids."""
        for guessed in self._table_of:
            for known in self._table_of:
                if known != guessed and self._may_be_worse(guessed, known, records):
                    self._compare(guessed, known, records)

    def _may_be_worse(self, guessed: int, known: int, records: Iterable[Ids]) -> bool:
        """Whether the class can raise the largest share: no mean is above the largest share of a group."""
        table = self._table_of[guessed]
        if table == self._table_of[known]:
            return self.best[guessed] < 1
        return any(self._largest(ids[table], guessed) > self.best[guessed] for ids in records)

    def _largest(self, group: int, attribute: int) -> Fraction:
        found = self._most.get((group, attribute))
        if found is None:
            counts = self._counts(group, attribute)
            most = max((count for code, count in counts.items() if code >= 0), default=0)
            found = self._most[group, attribute] = Fraction(most, max(1, counts.total()))
        return found

    def _counts(self, group: int, attribute: int) -> Counter[int]:
        found = self._counted.get((group, attribute))
        if found is None:
            table = self._tables[self._table_of[attribute]]
            found = self._counted[group, attribute] = table.counts(group, attribute)
        return found

    def _compare(self, guessed: int, known: int, records: Mapping[Ids, int]) -> None:
        """Raise the largest share of ``guessed`` by what a class shows to who knows ``known``."""
        pairs, weight = Counter[Pair](), Counter[int]()
        for (given, value), count in self._joint(guessed, known, records).items():
            weight[given] += count
            if value >= 0:
                pairs[given, value] = count
        for (given, _), count in pairs.items():
            self.best[guessed] = max(self.best[guessed], Fraction(count, weight[given]))

    def _joint(self, guessed: int, known: int, records: Mapping[Ids, int]) -> Counter[Pair]:
        """Weigh each pair of a known and a guessed value over the records of a class, in integers."""
        inner, outer = self._table_of[guessed], self._table_of[known]
        members: Counter[Pair] = Counter()
        for ids, times in records.items():
            members[ids[outer], ids[inner]] += times
        shown = {
            groups: self._rows(groups[0], known, guessed)
            if inner == outer
            else self._all_pairs(groups, known, guessed)
            for groups in members
        }
        common = lcm(*(max(1, pairs.total()) for pairs in shown.values()))
        joint: Counter[Pair] = Counter()
        for groups, pairs in shown.items():
            weight = members[groups] * (common // max(1, pairs.total()))
            for pair, count in pairs.items():
                joint[pair] += weight * count
        return joint

    def _rows(self, group: int, known: int, guessed: int) -> Counter[Pair]:
        """Count the pairs of values in the rows of a group."""
        table = self._tables[self._table_of[guessed]]
        first, second = table.attributes.index(known), table.attributes.index(guessed)
        pairs: Counter[Pair] = Counter()
        for row, count in table.groups[group].items():
            pairs[row[first], row[second]] += count
        return pairs

    def _all_pairs(self, groups: Pair, known: int, guessed: int) -> Counter[Pair]:
        """Count the pairs of a value of one group and one of another: any of them may be of one person."""
        left, right = self._counts(groups[0], known), self._counts(groups[1], guessed)
        return Counter(
            {(a, b): count * held for (a, count), (b, held) in product(left.items(), right.items())}
        )
