"""A scale maps numbers to places on an axis, with ticks at round numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

_ROUND = (1, 2, 5, 10)
_ABOUT = 5
"""About how many steps an axis has."""


@dataclass(frozen=True)
class Scale:
    """A linear scale from ``low`` to ``high``; ``ticks`` are round numbers from one end to the other."""

    low: float
    high: float
    ticks: tuple[float, ...]

    @classmethod
    def over(cls, values: Iterable[float], *, from_zero: bool) -> Scale:
        """Make the scale that shows all values, and 0 if ``from_zero``. Without values it is 0 to 1.

        >>> Scale.over([3, 18], from_zero=True).ticks
        (0.0, 5.0, 10.0, 15.0, 20.0)
        """
        shown = [*values, *([0.0] if from_zero else [])]
        low, high = (min(shown), max(shown)) if shown else (0.0, 1.0)
        if low == high:
            low, high = (low - 1, high + 1) if low and not from_zero else (min(low, 0.0), max(high, 1.0))
        step = _round_step((high - low) / _ABOUT)
        first, last = math.floor(low / step), math.ceil(high / step)
        ticks = tuple(float(step * at) for at in range(first, last + 1))
        return cls(ticks[0], ticks[-1], ticks)

    @classmethod
    def at(cls, values: Iterable[float]) -> Scale:
        """Make a scale with a tick at each of the values, such as few whole numbers."""
        ticks = tuple(sorted(set(values)))
        margin = (ticks[-1] - ticks[0]) / 20 or 1
        return cls(ticks[0] - margin, ticks[-1] + margin, ticks)

    def place(self, value: float, start: float, end: float) -> float:
        """Return where a value lies between the places of ``low`` and ``high``."""
        return start + (value - self.low) / (self.high - self.low) * (end - start)


def _round_step(least: float) -> Fraction:
    """Return the smallest 1, 2 or 5 times a power of ten that is at least ``least``."""
    power = Fraction(10) ** math.floor(math.log10(least))
    return next(power * digit for digit in _ROUND if power * digit >= least * (1 - 1e-9))


def write_tick(value: float) -> str:
    """Return a tick's label, short.

    >>> [write_tick(value) for value in (0.0, 0.25, 1500, 2_000_000, 1e-7)]
    ['0', '0.25', '1,500', '2,000,000', '1e-07']
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
