"""What a metric is: a number about a release, with its unit, range and better direction."""

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
"""What is counted of a part of a release: picklable, and equal questions are the same.

Its answers for all parts add up to that for the whole, exactly and in any order. Parts are of different
records, and what looks alike once it is published is in one part; they have the schema, hierarchies, domains
and scale in common.
"""


class Tallies(Sums[Question, Any]):
    """Answers by their questions: ``+`` adds those for two parts of a release."""

    @classmethod
    def of(cls, questions: Iterable[Question], publication: Publication, forest: Forest) -> Tallies:
        """What one part answers; a question that is asked twice is answered once."""
        return cls({question: question(publication, forest) for question in dict.fromkeys(questions)})


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
    """A measure of what was lost or disclosed; knows neither engines nor decisions.

    It asks questions of each part of a release, and makes its figures of the sums of the answers: they are
    those of the whole to the bit, however it was cut into parts and in whatever order these were added.
    """

    symbol: ClassVar[str]
    better: ClassVar[Literal["lower", "higher"]]
    gated: ClassVar[tuple[str, ...]] = ()
    """The figures that a gate may limit; empty where there is one for each sensitive attribute (see Risk)."""
    explanation: ClassVar[str]
    """One line for a reader of the report who did not write the policy."""
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
    def questions(self, forest: Forest) -> tuple[Question, ...]:
        """What is asked of each part of a release; the same of all."""

    @abstractmethod
    def figures(self, tallies: Tallies) -> tuple[Figure, ...]:
        """All figures of a release from what its parts answered; none where the metric does not apply."""

    def tally(self, publication: Publication, forest: Forest) -> Tallies:
        """What a part of a release answers."""
        return Tallies.of(self.questions(forest), publication, forest)

    def of(self, publication: Publication, forest: Forest) -> tuple[Figure, ...]:
        """All figures of a publication of the original forest, as a release of one part."""
        return self.figures(self.tally(publication, forest))
