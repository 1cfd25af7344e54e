"""What a metric is: a number about a release, with its unit, range and better direction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

from hierdata.forest import Forest
from hierdata.publication import Publication


@dataclass(frozen=True)
class Figure:
    """One figure of a metric.

    ``value`` is a Fraction where it is exact, a float where the figure is irrational or a mean of shares;
    ``high`` is None where nothing bounds it.
    """

    name: str
    value: Fraction | float
    unit: str
    low: int
    high: int | None
    better: Literal["lower", "higher"]

    @property
    def exact(self) -> str | None:
        """The exact fraction as text; None where the value is a float."""
        return str(self.value) if isinstance(self.value, Fraction) else None

    def as_dict(self) -> dict[str, Any]:
        """Plain data: the float and the exact fraction as text."""
        return {
            "value": float(self.value),
            "exact": self.exact,
            "unit": self.unit,
            "low": self.low,
            "high": self.high,
            "better": self.better,
        }


class Metric(ABC):
    """A measure of what was lost or disclosed; knows neither engines nor decisions."""

    symbol: ClassVar[str]
    ties: ClassVar[bool] = False
    """Whether it looks at which sensitive values of one vertex belong together."""
    linked: ClassVar[bool] = False
    """Whether it looks at what each published vertex was in the original."""
    counts_exempt: ClassVar[bool] = False
    """Whether it counts vertices that hold nothing but an exempt value."""

    @classmethod
    def under(cls, diversity: Fraction | None) -> Metric:
        """The metric for releases under models that ask for so much diversity (l), None where none does."""
        return cls()

    @abstractmethod
    def figures(self, publication: Publication, forest: Forest) -> tuple[Figure, ...]:
        """All figures for one publication of the original forest; none where the metric does not apply."""
