"""Models that bound how far a value's share in a class is from its share in the original collection.

- ``BasicBetaLikeness``: no value is much more frequent in a class than in the original collection.
- ``EnhancedBetaLikeness``: the same with a stricter bound for frequent values.
- ``DeltaDisclosure``: every share is near that in the original collection, in both directions.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import ceil, exp, floor, log
from typing import ClassVar, Literal

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy.base import (
    EXACTLY,
    ClassView,
    Constraint,
    FrequencyCaps,
    NotNegative,
    Positive,
    PrivacyModel,
    alike,
)
from hierdata.privacy.reference import decide_exactly, largest_below, least_room, require_original

_STEPS = 1_000_000
_SAFE = 1e-3
"""Far above the rounding error of such logarithms in steps (under 1e-7), far below a step."""
_VACUOUS = 50
"""e^50 > 10^21 exceeds any ratio of two shares of fewer than 10^20 values: larger deltas change nothing."""


_LARGEST_SPELLED = 5
"""Up to this delta e^delta is said as a number."""


class BasicBetaLikeness(PrivacyModel):
    """No share grows by more than beta of itself: q <= (1 + beta) p (Cao and Karras, VLDB 2012, def. 2).

    p is a value's share in the original collection, including suppressed records, q its share among the
    values present at a vertex of a class. Shares that shrink are not limited. A value that the original lacks
    has p = 0 and may not occur. ``achieved_parameters`` gives the largest (q - p) / p, at least 0.

    >>> domain = SensitiveDomain("$.a", ("flu", "HIV"), reference=(9, 1))
    >>> bound = BasicBetaLikeness(beta=1).bind(domain)
    >>> bound.holds(ClassView(5, {0: 4, 1: 1})), bound.holds(ClassView(4, {0: 3, 1: 1}))
    (True, False)
    """

    needs_reference: ClassVar[bool] = True
    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"beta": "max"}
    letters: ClassVar[Mapping[str, str]] = {
        "beta": "by how much of itself a value's share may grow from the whole collection to a class",
    }

    kind: Literal["basic-beta-likeness"] = "basic-beta-likeness"
    beta: NotNegative

    def bind(self, domain: SensitiveDomain | None) -> Constraint:
        """Build the constraint for one attribute. Raises PolicyError without a reference."""
        reference = require_original(domain, self.kind)
        return _Likeness(reference, (1 + self.beta,) * len(reference), None)

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        return (
            f"No sensitive value is more than {float(1 + self.beta):g} times as frequent {alike(apart)} as "
            "in the whole collection."
        )


class EnhancedBetaLikeness(PrivacyModel):
    """No share grows by more than min(beta, -ln p) of itself (Cao and Karras, VLDB 2012, def. 3).

    q <= (1 + min(beta, -ln p)) p for every value, p and q as in basic-beta-likeness. So q stays below 1 for
    every value except that of a constant attribute. For a rational p other than 1, ln p is irrational
    (Lindemann), so no share of counts ever equals the bound, and a fraction just below it decides exactly.
    ``achieved_parameters`` gives the least beta that would hold; nothing if -ln p rules out a value for every
    beta.

    >>> domain = SensitiveDomain("$.a", ("flu", "HIV"), reference=(9, 1))
    >>> bound = EnhancedBetaLikeness(beta=1).bind(domain)
    >>> bound.holds(ClassView(99, {0: 98, 1: 1})), bound.holds(ClassView(100, {0: 100}))
    (True, False)
    """

    needs_reference: ClassVar[bool] = True
    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"beta": "max"}
    letters: ClassVar[Mapping[str, str]] = {
        "beta": "by how much of itself a value's share may grow from the whole collection to a class, "
        "and at most by -ln of that share",
    }

    kind: Literal["enhanced-beta-likeness"] = "enhanced-beta-likeness"
    beta: NotNegative

    def bind(self, domain: SensitiveDomain | None) -> Constraint:
        """Build the constraint for one attribute. Raises PolicyError without a reference."""
        reference = require_original(domain, self.kind)
        total = sum(reference)
        by_count = {count: _ceiling(count, total) for count in set(reference)}
        ceilings = [by_count[count] for count in reference]
        return _Likeness(reference, [min(1 + self.beta, ceiling) for ceiling in ceilings], ceilings)

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        return (
            f"No sensitive value is more than {float(1 + self.beta):g} times as frequent {alike(apart)} as "
            f"in the whole collection. {EXACTLY}a value of which the collection has the share p gains at "
            f"most the share min({float(self.beta):g}, -ln p) of p."
        )


def _ceiling(count: int, total: int) -> Fraction:
    """Return 1 - ln p, from below; 1 for the only value of an attribute, and for one that does not occur."""
    if count in (0, total):
        return Fraction(1)
    return largest_below(lambda: 1 + Decimal(total).ln() - Decimal(count).ln())


class _Likeness(Constraint):
    """No value has more than ``ratios[code]`` times its share in the original collection.

    ``achieved_parameters`` gives the largest gain (q - p) / p as beta. If a ratio exceeds ``ceilings[code]``,
    or a value occurs that the original lacks, no beta suffices, and nothing is achieved.
    """

    closed_under_union = closed_under_pooling = True

    def __init__(
        self, reference: tuple[int, ...], ratios: Sequence[Fraction], ceilings: Sequence[Fraction] | None
    ) -> None:
        self._reference = reference
        self._ceilings = None if ceilings is None else [ceiling.as_integer_ratio() for ceiling in ceilings]
        self._total = total = max(1, sum(reference))
        shares = tuple(
            min(Fraction(1), ratio * count / total) for ratio, count in zip(ratios, reference, strict=True)
        )
        self._shares = tuple(share.as_integer_ratio() for share in shares)
        self.caps = FrequencyCaps(tuple(range(len(shares))), shares)
        self.min_class_size = least_room(shares)

    def holds(self, view: ClassView) -> bool:
        present, shares = view.present, self._shares
        return all(
            count * shares[code][1] <= shares[code][0] * present for code, count in view.counts.items()
        )

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        present, ceilings = view.present, self._ceilings
        top, bottom = 1, 1
        for code, count in view.counts.items():
            if count:
                share, before = count * self._total, self._reference[code] * present
                if not before:
                    return {}
                if ceilings is not None and share * ceilings[code][1] > ceilings[code][0] * before:
                    return {}
                if share * bottom > top * before:
                    top, bottom = share, before
        return {"beta": Fraction(top - bottom, bottom)} if present else {}

    def summary(self, counts: Mapping[int, int]) -> Hashable:
        return tuple(sorted(counts.items()))


class DeltaDisclosure(PrivacyModel):
    """|ln(q / p)| < delta for every value (Brickell and Shmatikov, KDD 2008, definition 2).

    p is a value's share in the original collection, including suppressed records, q its share among the
    values present at a vertex of a class. By the definition, a value of the original that is absent from the
    class (q = 0) violates the model for every delta: ``absent: refuse``. ARX and pycanon consider only the
    values present: ``absent: ignore``, which is weaker and not monotone. A value that the original lacks
    always violates the model.

    The logarithm is natural, as in the paper's e-based figures and in pycanon. ARX uses base 2: its delta
    times ln 2 (0.6931) is ours. For a rational delta above 0, e^delta is irrational (Lindemann), so no ratio
    of counts equals the bound, and a fraction just below e^delta decides the strict inequality exactly.
    ``achieved_parameters`` gives the least delta that holds, rounded up to a millionth; nothing if none does.

    >>> domain = SensitiveDomain("$.a", ("flu", "HIV"), reference=(2, 2))
    >>> bound = DeltaDisclosure(delta="0.5").bind(domain)
    >>> bound.holds(ClassView(5, {0: 3, 1: 2})), bound.holds(ClassView(4, {0: 3, 1: 1}))
    (True, False)
    """

    needs_reference: ClassVar[bool] = True
    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"delta": "max"}
    letters: ClassVar[Mapping[str, str]] = {
        "delta": "no share differs from that in the collection by a factor of e^delta or more",
    }
    limitation: ClassVar[str] = (
        "delta-disclosure with absent: ignore lets a class lack a value of the collection: who sees it "
        "learns that nobody there has that value."
    )

    kind: Literal["delta-disclosure"] = "delta-disclosure"
    delta: Positive
    absent: Literal["refuse", "ignore"] = "refuse"

    def bind(self, domain: SensitiveDomain | None) -> Constraint:
        """Build the constraint for one attribute. Raises PolicyError without a reference."""
        delta = min(self.delta, Fraction(_VACUOUS))
        ratio = largest_below(lambda: (Decimal(delta.numerator) / delta.denominator).exp())
        bound = _Disclosure if self.absent == "refuse" else _AmongPresent
        return bound(require_original(domain, self.kind), ratio)

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        absent = "" if self.absent == "refuse" else ", if it occurs there,"
        factor = f"e^{float(self.delta):g}"
        times = f"{ceil(100 * exp(self.delta)) / 100:g}" if self.delta <= _LARGEST_SPELLED else factor
        return (
            f"No sensitive value{absent} is {times} times as frequent, or as rare, {alike(apart)} as in the "
            f"whole collection. {EXACTLY}the shares differ by a factor below {factor}."
        )


class _Disclosure(Constraint):
    """``ratio`` is the largest fraction below e^delta."""

    closed_under_union = closed_under_pooling = True

    def __init__(self, reference: tuple[int, ...], ratio: Fraction) -> None:
        self._reference = reference
        self._total = max(1, sum(reference))
        self._occurring = sum(map(bool, reference))
        self._ratio = ratio.as_integer_ratio()
        shares = tuple(min(Fraction(1), ratio * count / self._total) for count in reference)
        self.caps = FrequencyCaps(tuple(range(len(shares))), shares, sufficient=False)
        self.min_class_size = self._least_size(shares)

    def _least_size(self, shares: tuple[Fraction, ...]) -> int:
        """Return a lower bound: every value must occur, and one occurrence must keep within its share."""
        rarest = min((share for share in shares if share), default=Fraction(1))
        return max(1, self._occurring, ceil(1 / rarest), least_room(shares))

    def _complete(self, present: int) -> bool:
        return present == self._occurring

    def _farthest(self, view: ClassView) -> tuple[int, int] | None:
        """Return the largest of q/p and p/q over all values as (numerator, denominator); None if infinite."""
        top, bottom = 1, 1
        size = view.present
        different = 0
        for code, count in view.counts.items():
            if count:
                before = self._reference[code]
                if not before:
                    return None
                different += 1
                more, less = count * self._total, before * size
                if more < less:
                    more, less = less, more
                if more * bottom > top * less:
                    top, bottom = more, less
        return (top, bottom) if not size or self._complete(different) else None

    def holds(self, view: ClassView) -> bool:
        farthest = self._farthest(view)
        if farthest is None:
            return False
        return farthest[0] * self._ratio[1] <= self._ratio[0] * farthest[1]

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        farthest = self._farthest(view)
        if farthest is None or not view.present:
            return {}
        return {"delta": Fraction(_steps_below(*farthest) + 1, _STEPS)}

    def summary(self, counts: Mapping[int, int]) -> Hashable:
        return tuple(sorted(counts.items()))


def _steps_below(top: int, bottom: int) -> int:
    """Return floor(10^6 ln(top / bottom)); floats decide only where rounding cannot matter."""
    if top == bottom:
        return 0
    steps = (log(top) - log(bottom)) * _STEPS
    if _SAFE < steps % 1 < 1 - _SAFE:
        return floor(steps)
    return decide_exactly(lambda: (Decimal(top).ln() - Decimal(bottom).ln()) * _STEPS, floor)


class _AmongPresent(_Disclosure):
    """A value that is rare in one class and absent from another can be too rare in their union."""

    closed_under_union = closed_under_pooling = False

    def _least_size(self, shares: tuple[Fraction, ...]) -> int:
        return least_room(shares)

    def _complete(self, present: int) -> bool:
        return True
