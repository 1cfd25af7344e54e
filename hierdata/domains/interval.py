"""Numbers, generalized to intervals: ``interval: {steps: [1, 2, 5, 10]}``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import model_validator

from hierdata.documents.document import Scalar
from hierdata.domains.base import (
    Hierarchy,
    LabelLoss,
    Observed,
    QuasiDomain,
    Uncovered,
    finder,
    group_observed,
)
from hierdata.domains.bins import Bin, line
from hierdata.domains.number import Exact, Number, decimals, exact, plain, restore_type, spell_fixed
from hierdata.domains.published import line_losses


class Interval(QuasiDomain):
    """Bins anchored at multiples of each step, and above them the root.

    If all values, steps and bounds are integers, bins are spelled ``[1985, 1989]`` and a step of 1 is the
    value itself; otherwise ``[0.5, 1.0)``. LM' is (hi - lo) / (max - min) over ``domain``, or over the values
    without a domain (ML section 5.1, erratum ML-14, DECISIONS 15 and 17). ``outside: clamp`` moves a value
    beyond the domain to its nearer end.

    Steps need not nest, but then the result depends on the order of joins. With steps 4 and 6, 4 and 5 join
    to [4, 7], which no bin of 6 contains; 3 and 4 join to [0, 5], which contains 5 too.

    >>> years = Interval(steps=[1, 5, 10]).compile({1985: 1, 1987: 1, 1994: 1}, Path())
    >>> years.labels[years.join(years.node_of(1985), years.node_of(1987))]
    '[1985, 1989]'
    """

    called: ClassVar[str] = "interval"
    takes: ClassVar[str] = "numbers"

    steps: tuple[Exact, ...]
    domain: tuple[Exact, Exact] | None = None
    outside: Literal["refuse", "clamp"] = "refuse"

    @model_validator(mode="after")
    def _usable(self) -> Interval:
        if not self.steps or self.steps[0] <= 0 or any(a >= b for a, b in pairwise(self.steps)):
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
        originals = group_observed(observed, self._place)
        numbers = sorted(originals)
        bounds = self.domain or ((numbers[0], numbers[-1]) if numbers else (0, 0))
        digits = max(decimals(number) or 0 for number in (*numbers, *self.steps, *bounds))
        unit, integral = 10**digits, digits == 0
        steps = [step for step in reversed(self.steps) if not (integral and step == 1)]
        built = line(
            [(int(number * unit), _label(number, originals[number])) for number in numbers],
            [_bins_of(step, digits, integral) for step in steps],
            span=int((bounds[1] - bounds[0]) * unit),
            closed=integral,
        )
        nodes = {number: node for node, number in enumerate(numbers, built.axis.first)}
        node_of = finder(nodes, self._place, built.missing)
        codebook = self._codebook(integral)
        return Hierarchy(built.labels, built.ancestors, built.lm, node_of, codebook, axis=built.axis)

    def _place(self, value: Scalar) -> Number:
        """Return the number that is published without generalization. Raises Uncovered."""
        number = exact(value)
        if self.domain is None or self.domain[0] <= number <= self.domain[1]:
            return number
        if self.outside == "refuse":
            raise Uncovered
        return self.domain[0] if number < self.domain[0] else self.domain[1]

    def describe(self, labels: Collection[Scalar], folder: Path) -> dict[str, object]:
        """See QuasiDomain.describe; the form is decimal if any label shows that, or the policy."""
        stated = (*self.steps, *(self.domain or ()))
        return self._codebook(all(number.denominator == 1 for number in stated) and all(map(_whole, labels)))

    def published_losses(self, labels: Collection[Scalar], folder: Path, *, sets: bool) -> LabelLoss:
        """See QuasiDomain.published_losses; LM' is the width of a bin or range over that of the domain."""
        return line_losses(labels, _extent, sets, self.domain)

    def _codebook(self, integral: bool) -> dict[str, object]:
        book: dict[str, object] = {
            "kind": "interval",
            "form": "integer" if integral else "decimal",
            "steps": _spell_numbers(self.steps),
        }
        if self.domain is not None:
            book |= {"domain": _spell_numbers(self.domain), "outside": self.outside}
        return book


def _label(number: Number, originals: list[Scalar]) -> Scalar:
    """Return a number, or text if the collection has only text."""
    return (
        plain(number)
        if all(isinstance(value, str) for value in originals)
        else restore_type(number, originals)
    )


def _extent(label: Scalar) -> tuple[Number, Number]:
    """Return the ends of a published number, bin or range. Raises Uncovered for another label."""
    if not isinstance(label, str) or not label.startswith("["):
        number = exact(label)
        return number, number
    low, comma, high = label[1:-1].partition(", ")
    if not comma or label[-1] not in "])":
        raise Uncovered
    return exact(low), exact(high)


def _whole(label: Scalar) -> bool:
    """Return whether nothing in a label shows that the numbers are not whole."""
    text = str(label)
    return "." not in text and not text.endswith(")")


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
        return Bin(low, high, f"[{low}, {high - 1}]" if integral else f"[{spell(low)}, {spell(high)})")

    return bin_at
