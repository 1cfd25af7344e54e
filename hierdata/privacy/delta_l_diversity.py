"""(delta,l)-diversity: no number has too many others near it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import ClassVar, Literal

from hierdata.domains.number import Number, plain
from hierdata.domains.proximity import Neighbourhoods, fullest_window
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy.base import Constraint, Diversity, NotNegative, PrivacyModel
from hierdata.privacy.neighbourhood import BETWEEN_NUMBERS, limit_neighbourhoods, numbers_of
from hierdata.privacy.presence import NearPresence, Within, persons_who_show


class DeltaLDiversity(PrivacyModel):
    """Each value present is similar to at most 1/l of the values, itself included, in at least l records.

    DL definitions 3 to 5: values are similar if their closed intervals [v - delta, v + delta] overlap, that
    is, if they are at most 2 delta apart; touching counts (DL-6). l may be a fraction, and so is the achieved
    l: |E| / max n(v) (DL-7). Equal to absolute (epsilon,m)-anonymity with epsilon = 2 delta and m = l (DL-1).
    A vertex without values passes (erratum ML-7).

    Not monotone (DL-2): the union of two classes that satisfy it is only sure to achieve more than l/2. Steps
    that merge classes may maintain ``safe_to_merge``.

    >>> from hierdata.privacy.base import ClassView
    >>> bound = DeltaLDiversity(delta=7.5, l=2).bind(SensitiveDomain("$.a", (40, 50, 60, 80)))
    >>> bound.holds(ClassView(2, {0: 1, 2: 1})), bound.holds(ClassView(2, {1: 1, 3: 1}))
    (True, True)
    >>> bound.achieved_parameters(ClassView(4, {0: 1, 1: 1, 2: 1, 3: 1}))
    {'l': Fraction(4, 3)}
    """

    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"l": "min"}
    letters: ClassVar[Mapping[str, str]] = {
        "delta": "numbers at most twice delta apart count as similar",
        "l": "no number has more than 1/l of the numbers of a class similar to it",
    }
    limitation: ClassVar[str] = f"delta-l-diversity {BETWEEN_NUMBERS}"

    kind: Literal["delta-l-diversity"] = "delta-l-diversity"
    delta: NotNegative
    l: Diversity  # noqa: E741  (the papers' letter)

    def bind(self, domain: SensitiveDomain | None) -> Constraint:
        """Build the constraint for one attribute. Raises PolicyError if values are not numbers."""
        around = Neighbourhoods.absolute(numbers_of(domain, self.kind), 2 * self.delta)
        return limit_neighbourhoods("l", self.l, around, symmetric=True)

    @property
    def limits_presence(self) -> bool:
        """See PrivacyModel."""
        return True

    def bind_presence(
        self, domain: SensitiveDomain, within: Within = "place", *, tied: bool = True
    ) -> Constraint:
        """Build the constraint on the share of the records that show a value similar to one shown."""
        around = Neighbourhoods.absolute(numbers_of(domain, self.kind), 2 * self.delta)
        return NearPresence("l", self.l, around, self.bind(domain), within, tied)

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        near = plain(2 * self.delta)
        return (
            f"Nobody can tell from a class, with a probability above {1 / self.l}, that a sensitive value "
            f"lies within {near} of one that is shown there."
        )

    def promise_presence(self, within: Within, *, apart: bool = False, tied: bool = True) -> str:
        """Return one sentence for the reader."""
        near = plain(2 * self.delta)
        return (
            f"At most {1 / self.l} of {persons_who_show(within, tied)} have a sensitive value within {near} "
            "of any one that is shown there."
        )


def safe_to_merge(values: Sequence[Number], delta: Fraction, l: Fraction) -> bool:  # noqa: E741
    """Return whether no closed window of width 4 delta holds more than 1/l of the values.

    If so, the class is (delta,l)-diverse. Unlike (delta,l)-diversity itself (DL-2), this property is kept by
    the union of two classes. Raises ValueError for a class without values.

    >>> safe_to_merge([40, 60], Fraction(15, 2), Fraction(2))
    False
    """
    if not values:
        raise ValueError("a class without values is not safe")
    return fullest_window(values, 4 * delta) * l <= len(values)
