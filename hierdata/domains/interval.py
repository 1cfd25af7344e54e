"""Numbers, generalized to intervals: ``interval: {steps: [1, 2, 5, 10]}``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from hierdata.documents.document import Scalar
from hierdata.domains.base import (
    OLDEST,
    ROOT_LABEL,
    Bin,
    Hierarchy,
    LabelKind,
    LabelLoss,
    Labels,
    Observed,
    QuasiDomain,
    Remainder,
    Uncovered,
    group_observed,
)
from hierdata.domains.bins import bins_around, line_up
from hierdata.domains.bounds import MOST_STEPS
from hierdata.domains.number import Exact, Number, decimals, exact, plain, spell_fixed
from hierdata.domains.published import line_losses


class Interval(QuasiDomain):
    """Bins anchored at multiples of each step, and above them the root.

    The first step is the finest form: a value is published by its bin, or by more. If all steps and bounds
    are integers, the values must be too: bins are spelled ``[1985, 1989]`` and a step of 1 is the value
    itself. Otherwise, or with ``decimals``, bins are spelled ``[0.5, 1.0)``. So the spelling depends on the
    policy alone and tells nothing about any record. LM' is (hi - lo) / (max - min) over ``domain``, or over
    the values without a domain (ML section 5.1, erratum ML-14). ``outside: clamp``
    moves a value beyond the domain to its nearer end.

    Steps need not nest, but then the result depends on the order of joins. With steps 4 and 6, 4 and 5 join
    to [4, 7], which no bin of 6 contains; 3 and 4 join to [0, 5], which contains 5 too.

    >>> years = Interval(steps=[1, 5, 10]).compile({1985: 1, 1987: 1, 1994: 1}, Path())
    >>> years.labels[years.join(years.node_of(1985), years.node_of(1987))]
    '[1985, 1989]'
    """

    called: ClassVar[str] = "interval"
    labels_are: ClassVar[LabelKind] = "bins"
    takes: ClassVar[str] = "numbers, only whole ones unless a step, a bound or `decimals` says otherwise"

    steps: Annotated[tuple[Exact, ...], Field(min_length=1, max_length=MOST_STEPS)]
    domain: tuple[Exact, Exact] | None = None
    outside: Literal["refuse", "clamp"] = "refuse"
    decimals: bool = Field(
        default=False, description="numbers may have decimal places although all steps are whole: [0, 5)"
    )

    @model_validator(mode="after")
    def _usable(self) -> Interval:
        if self.steps[0] <= 0 or any(a >= b for a, b in pairwise(self.steps)):
            raise ValueError("steps must be positive numbers in ascending order")
        if self.domain is not None and self.domain[0] > self.domain[1]:
            raise ValueError("domain must be [least, greatest]")
        if any(decimals(number) is None for number in (*self.steps, *(self.domain or ()))):
            raise ValueError("steps and domain must be decimal numbers, since they are published")
        if self.outside == "clamp" and self.domain is None:
            raise ValueError("outside: clamp needs a domain")
        return self

    def compile(self, observed: Observed, folder: Path) -> Hierarchy:
        """Build the hierarchy over the observed numbers. Text is read as numbers, booleans are uncovered."""
        numbers = sorted(group_observed(observed, self._number_of))
        bounds = self.domain or ((numbers[0], numbers[-1]) if numbers else (0, 0))
        digits = max(decimals(number) or 0 for number in (*numbers, *self.steps, *bounds))
        unit, integral = 10**digits, self.is_integral
        points = [int(number * unit) for number in numbers]
        finest, *wider = self.steps
        if integral and finest == 1:
            bins = [Bin(int(n), int(n) + 1, int(n), str(n), str(n)) for n in numbers]
        else:
            bins = bins_around(points, _bins_of(finest, digits, integral))
        return line_up(
            dict(zip(numbers, points, strict=True)),
            self._number_of,
            bins,
            [_bins_of(step, digits, integral) for step in reversed(wider)],
            span=int((bounds[1] - bounds[0]) * unit),
            closed=integral,
            codebook=self._codebook(),
        )

    @property
    def remainder(self) -> Remainder | None:
        """See QuasiDomain.remainder: ages, of which the highest are one group."""
        if self.outside != "clamp" or self.domain is None or self.domain[1] > OLDEST + 1:
            return None
        return Remainder("dates", f"in groups; all from {plain(self.domain[1])} on are one")

    def labels(self, folder: Path) -> Labels:
        """Return the labels of the bins of each step."""
        return _IntervalLabels(self.steps, self.is_integral, self.domain, self._number_of)

    @property
    def is_integral(self) -> bool:
        """Whether only integers are covered."""
        stated = (*self.steps, *(self.domain or ()))
        return not self.decimals and all(number.denominator == 1 for number in stated)

    def _number_of(self, value: Scalar) -> Number:
        """Return the number that is generalized: that at the end of the domain for one beyond it.

        Raises Uncovered.
        """
        number = exact(value)
        if self.is_integral and number.denominator != 1:
            raise Uncovered
        if self.domain is None or self.domain[0] <= number <= self.domain[1]:
            return number
        if self.outside == "refuse":
            raise Uncovered
        return self.domain[0] if number < self.domain[0] else self.domain[1]

    def published_losses(self, labels: Collection[Scalar], folder: Path, *, sets: bool) -> LabelLoss:
        """See QuasiDomain.published_losses; LM' is the width of a bin or range over that of the domain."""
        return line_losses(labels, _extent, sets, self.domain)

    def _codebook(self) -> dict[str, object]:
        book: dict[str, object] = {
            "kind": "interval",
            "form": "integer" if self.is_integral else "decimal",
            "steps": _spell_numbers(self.steps),
        }
        if self.domain is not None:
            book |= {"domain": _spell_numbers(self.domain), "outside": self.outside}
        return book


@dataclass(frozen=True)
class _IntervalLabels(Labels):
    """``integral``: labels are spelled as those of integers; ``number_of`` finds the number of a value."""

    steps: tuple[Number, ...]
    integral: bool
    domain: tuple[Number, Number] | None
    number_of: Callable[[Scalar], Number]

    def is_finest(self, label: Scalar) -> bool:
        return self._is_bin(label, self.steps[0])

    def is_coarser(self, label: Scalar) -> bool:
        return any(self._is_bin(label, step) for step in self.steps[1:])

    def extent(self, label: Scalar) -> tuple[Any, Any]:
        ends = read_ends(label)
        if ends is None:
            return (exact(label), 0), (exact(label), 0)
        low, high, closed = ends
        return (low, 0), (high, 0 if closed else -1)

    def leaf(self, value: Scalar) -> Hashable:
        return self.number_of(value)

    def leaves(self, label: Scalar, known: Collection[Hashable]) -> Iterable[Hashable]:
        ends = self.domain if label == ROOT_LABEL and self.integral else read_ends(label)
        if ends is None:
            return (exact(label),)
        low, high = ends[:2]
        if self.domain is not None:
            low, high = max(low, self.domain[0]), min(high, self.domain[1])
        if not self.integral or high - low >= len(known):
            raise Uncovered
        return range(int(low), int(high) + 1)

    def is_range(self, label: str) -> bool:
        bins = self._read_bins(label, self.steps[0])
        return bins is not None and bins[0] < bins[1]

    def _is_bin(self, label: Scalar, step: Number) -> bool:
        if step == 1 and self.integral:  # spelled as the number itself
            return _is_whole_number(label)
        bins = self._read_bins(label, step)
        return bins is not None and bins[0] == bins[1]

    def _read_bins(self, label: Scalar, step: Number) -> tuple[Number, Number] | None:
        """Return where the first and the last bin of a step in a range begin; None for another label."""
        ends = read_ends(label)
        if ends is None or ends[2] != self.integral:
            return None
        low, high, integral = ends
        last = high - step + integral
        is_spelled = low % step == last % step == 0 and label == spell_range(low, high, step, integral)
        return (low, last) if is_spelled else None


def _is_whole_number(label: Scalar) -> bool:
    try:
        return exact(label).denominator == 1
    except Uncovered:
        return False


def read_ends(label: Scalar) -> tuple[Number, Number, bool] | None:
    """Return the ends of a bin or range, and whether it is one of integers; None for another label."""
    if not isinstance(label, str) or label[:1] != "[" or label[-1:] not in ("]", ")"):
        return None
    least, _, greatest = label[1:-1].partition(", ")
    try:
        return exact(least), exact(greatest), label[-1] == "]"
    except Uncovered:
        return None


def spell_range(low: Number, high: Number, step: Number, integral: bool) -> str:
    """Spell the range of bins of one step from ``low`` to ``high``, both ends as in ``Axis.label``."""
    digits = decimals(step) or 0
    least, greatest = (spell_fixed(int(end * 10**digits), digits) for end in (low, high))
    return f"[{least}, {greatest}{']' if integral else ')'}"


def _extent(label: Scalar) -> tuple[Number, Number]:
    """Return the ends of a published number, bin or range. Raises Uncovered for another label."""
    ends = read_ends(label)
    return ends[:2] if ends is not None else (exact(label), exact(label))


def _spell_numbers(numbers: Iterable[Number]) -> list[str]:
    return [plain(number) for number in numbers]


def _bins_of(step: Number, digits: int, integral: bool) -> Callable[[int], Bin]:
    """Return the function that finds the bin of a point, in units of 10**-``digits``, for one step."""
    size = int(step * 10**digits)
    own_digits = decimals(step) or 0
    coarser = 10 ** (digits - own_digits)

    def spell(point: int) -> str:
        return spell_fixed(point // coarser, own_digits)

    def bin_at(point: int) -> Bin:
        low = point // size * size
        high = low + size
        least, greatest = (str(low), str(high - 1)) if integral else (spell(low), spell(high))
        return Bin(low, high, f"[{least}, {greatest}{']' if integral else ')'}", least, greatest)

    return bin_at
