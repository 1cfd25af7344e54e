"""Presence: no group of values is among those of more than its share of the persons."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Literal, TypeAlias

from hierdata.domains.proximity import Neighbourhoods
from hierdata.domains.similarity import NodePath, components, least_distance
from hierdata.privacy.base import ClassView, Constraint, FrequencyCaps, SensitiveReading, chance

Within: TypeAlias = Literal["place", "record"]


class PresenceConstraint(Constraint):
    """A bound on the share of the records that show a value of a group, among those that show any value.

    The caps bound the values of single vertices: they are necessary, since a place shows at least what one of
    its vertices shows, but they do not decide. Two places may show a value of different records, so presence
    is never closed under pooling. ``tied`` is False where the file does not tie values to records. Then a
    reader can only count. The share is over the least number of records that can show the values; as many of
    them may show a group as it has occurrences. Where the view has sets, of records that are not in the file,
    these decide.
    """

    closed_under_union = True  # a union's share is a mean of the classes' shares
    closed_under_pooling = False

    def __init__(self, least: int, caps: FrequencyCaps | None, within: Within, tied: bool) -> None:
        self.min_class_size = least
        self.caps = None if caps is None else replace(caps, sufficient=False, of_records=True)
        self.reading = SensitiveReading("presence", within)
        self.tied = tied
        # Without ties and with several vertices a record, fewer records may show the values of a union than
        # show those of its classes one by one.
        self.closed_under_union = tied and self.closed_under_union

    def count_records(self, view: ClassView) -> tuple[dict[int, int], int]:
        """Return how many records show each group, and of how many records this is a share."""
        shown, total = self._shown_sets(view)
        return {group: min(count, total) for group, count in self._by_group(shown).items()}, total

    def _shown_sets(self, view: ClassView) -> tuple[Mapping[frozenset[int], int], int]:
        """Return the sets of values, as if of one record each, and how many records show any."""
        shown = view.record_sets
        return shown, sum(shown.values()) if self.tied or view.sets is not None else view.fewest_showing

    def _by_group(self, shown: Mapping[frozenset[int], int]) -> dict[int, int]:
        raise NotImplementedError

    def summary(self, counts: Mapping[int, int]) -> Hashable:
        """Return the counts; with ``ClassView.sets``, the answers depend on these too."""
        return frozenset(counts.items())


class GroupPresence(PresenceConstraint):
    """Each group is shown by at most its share of the records that show any value.

    Groups, shares and the least class size are those of ``bound``, the constraint on values. ``bounded`` is
    the number of groups that the model bounds; the others have a share of 1. ``least`` is how many records
    each class must have even where it shows no values. ``letter`` names what is achieved: ``alpha`` the
    largest share, ``levels`` that of each level, any other 1 / the largest share (``whole``: rounded down).
    """

    def __init__(
        self,
        letter: str,
        least: int,
        bound: Constraint,
        within: Within,
        tied: bool,
        *,
        bounded: int | None = None,
        whole: bool = False,
    ) -> None:
        caps = bound.caps
        assert caps is not None, "a model on presence bounds shares of groups"
        super().__init__(bound.min_class_size, caps, within, tied)
        self._letter = letter
        self._least = least
        self._group_of = caps.group_of
        self._shares = tuple(share.as_integer_ratio() for share in caps.share)
        self._bounded = len(caps.share) if bounded is None else bounded
        self._whole = whole

    def _by_group(self, shown: Mapping[frozenset[int], int]) -> dict[int, int]:
        counts: dict[int, int] = defaultdict(int)
        group_of = self._group_of
        for codes, times in shown.items():
            for group in {group_of[code] for code in codes}:
                if group < self._bounded:
                    counts[group] += times
        return counts

    def holds(self, view: ClassView) -> bool:
        """See Constraint."""
        if view.records < self._least:
            return False
        counts, total = self.count_records(view)
        shares = self._shares
        return all(count * shares[group][1] <= shares[group][0] * total for group, count in counts.items())

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        """See Constraint."""
        reached = {"k": Fraction(view.records)} if self._least else {}
        counts, total = self.count_records(view)
        if not total:
            return reached
        if self._letter == "levels":
            for group in range(self._bounded):
                reached[f"alpha_{group + 1}"] = Fraction(counts.get(group, 0), total)
            return reached
        most = max(counts.values(), default=0)
        if self._letter == "alpha":
            return reached | {"alpha": Fraction(most, total)}
        strongest = Fraction(total, most)
        return reached | {self._letter: Fraction(int(strongest)) if self._whole else strongest}


class NearPresence(PresenceConstraint):
    """Around each value that is shown, at most 1/``least`` of the records show a value (DL)."""

    closed_under_union = False  # DL-2

    def __init__(
        self,
        letter: str,
        least: Fraction,
        around: Neighbourhoods,
        bound: Constraint,
        within: Within,
        tied: bool,
    ) -> None:
        super().__init__(bound.min_class_size, bound.caps, within, tied)
        self._letter = letter
        self._least = least
        self._around = around

    def _by_group(self, shown: Mapping[frozenset[int], int]) -> dict[int, int]:
        """Return by value that is shown how many records show one in the interval around it."""
        rank, reach = self._around.rank, self._around.reach
        centres = {code for codes in shown for code in codes}
        counts = dict.fromkeys(centres, 0)
        for codes, times in shown.items():
            for centre in centres:
                low, high = reach[rank[centre]]
                if any(low <= rank[code] <= high for code in codes):
                    counts[centre] += times
        return counts

    def holds(self, view: ClassView) -> bool:
        """See Constraint."""
        counts, total = self.count_records(view)
        most = max(counts.values(), default=0)
        return most * self._least.numerator <= total * self._least.denominator

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        """See Constraint."""
        counts, total = self.count_records(view)
        return {self._letter: Fraction(total, max(counts.values()))} if total else {}


class ApartPresence(PresenceConstraint):
    """As many records as a class needs show values, and those of two records are more than e apart (LE)."""

    closed_under_union = False  # LE-9

    def __init__(
        self, e: Fraction, paths: Sequence[NodePath], bound: Constraint, within: Within, tied: bool
    ) -> None:
        super().__init__(bound.min_class_size, bound.caps, within, tied)
        self._e = e
        self._paths = paths
        self._bucket_of = components(tuple(paths), e)

    def _records(self, view: ClassView) -> tuple[list[frozenset[int]], int]:
        """Return the sets of the records, equal ones at most twice, and how many records show values."""
        shown, total = self._shown_sets(view)
        return [codes for codes, times in shown.items() for _ in range(min(times, 2))], total

    def holds(self, view: ClassView) -> bool:
        """See Constraint."""
        records, total = self._records(view)
        return not total or (total >= self.min_class_size and self._are_apart(records))

    def _are_apart(self, records: list[frozenset[int]]) -> bool:
        """Return whether no two records have values that are near; values of two buckets never are."""
        buckets: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for record, codes in enumerate(records):
            for code in codes:
                buckets[self._bucket_of[code]].append((record, code))
        return not any(
            record != other and self._is_near(code, other_code)
            for bucket in buckets.values()
            for (record, code), (other, other_code) in combinations(bucket, 2)
        )

    def _is_near(self, code: int, other: int) -> bool:
        if code == other:
            return True
        distance = least_distance([self._paths[code], self._paths[other]])
        return distance is not None and distance <= self._e

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        """See Constraint."""
        records, total = self._records(view)
        return {"l": Fraction(total)} if total and self._are_apart(records) else {}


def limit_persons(most: Fraction, have: str, within: Within, tied: bool, apart: bool) -> str:
    """Return the promise that a limited share of the people who show a value ``have`` something."""
    whose = "the people of a group who" if apart else "people whose records look alike and"
    where = "" if not tied else " anywhere" if within == "record" else " at the same place"
    limited = f"Among {whose} show a value{where}, at most {chance(most)} {have}."
    if tied:
        return limited
    return f"{limited} These are taken to be the fewest people that the published counts allow."
