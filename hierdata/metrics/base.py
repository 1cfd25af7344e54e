"""The base of metrics: numbers about a release, with unit, range and better direction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeAlias

from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.metrics.sums import Sums

Question: TypeAlias = Callable[[Publication, Forest], Any]
"""Something to count in a part of a release: a picklable function; equal questions are asked once.

The answers for all parts add up to the answer for the whole, exactly and in any order. Parts have different
records, and records that look alike once they are published are in one part. All parts have the same schema,
hierarchies, domains and scale.
"""


class Tallies(Sums[Question, Any]):
    """Answers by question; ``+`` adds the answers for two parts of a release."""

    @classmethod
    def of(cls, questions: Iterable[Question], publication: Publication, forest: Forest) -> Tallies:
        """Answer the questions for one part; repeated questions are answered once."""
        return cls({question: question(publication, forest) for question in dict.fromkeys(questions)})


@dataclass(frozen=True)
class Figure:
    """One figure of a metric.

    ``value`` is a Fraction where it is exact, a float where the figure is irrational or a mean of shares;
    ``high`` is None without an upper bound.
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
        """Return plain data, with the float and the exact fraction as text."""
        return {
            "value": float(self.value),
            "exact": self.exact,
            "unit": self.unit,
            "low": self.low,
            "high": self.high,
            "better": self.better,
        }


class Metric(ABC):
    """A measure of what was lost or disclosed; independent of engines and of the policy's decisions.

    It asks questions of each part of a release, and computes its figures from the sums of the answers: they
    equal those of the whole to the bit, for any division into parts and any order of addition.
    """

    symbol: ClassVar[str]
    better: ClassVar[Literal["lower", "higher"]]
    gated: ClassVar[tuple[str, ...]] = ()
    """The figures that a gate may limit; empty if there is one for each sensitive attribute (see Risk)."""
    explanation: ClassVar[str]
    """One line for readers of the report who did not write the policy."""
    ties: ClassVar[bool] = False
    """Whether it depends on which sensitive values belong to one vertex."""
    aligned: ClassVar[tuple[str, ...]] = ()
    """The figures that depend on which vertices of a class are aligned, which published files do not tell."""
    linked: ClassVar[bool] = False
    """Whether it depends on the original of each published vertex."""
    takes_place: ClassVar[bool] = False
    """Whether a gate may limit it at one field or vertex type, which the metric is built for."""
    counts_exempt: ClassVar[bool] = False
    """Whether it counts vertices that have only an exempt value."""

    @classmethod
    def under(cls, diversity: Fraction | None) -> Metric:
        """Build the metric for models that ask for a diversity l; None if no model asks for one."""
        return cls()

    @abstractmethod
    def questions(self, forest: Forest) -> tuple[Question, ...]:
        """Return the questions that are asked of each part of a release, the same for all parts."""

    @abstractmethod
    def figures(self, tallies: Tallies) -> tuple[Figure, ...]:
        """Compute all figures of a release from its tallies; empty where the metric does not apply."""

    def tally(self, publication: Publication, forest: Forest) -> Tallies:
        """Answer the metric's questions for a part of a release."""
        return Tallies.of(self.questions(forest), publication, forest)

    def of(self, publication: Publication, forest: Forest) -> tuple[Figure, ...]:
        """Compute all figures of a publication of the original forest, as a release of one part."""
        return self.figures(self.tally(publication, forest))
