"""The risks of WP 216, which attacks on the published files measure: singling out, linkability, inference.

No part of a release has an answer: the pipeline attacks the whole, beside the control, and adds what it found
to the tallies. Without an attack the metrics do not apply.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.metrics.base import Figure, Metric, Question, Tallies

NOT_SINGLED_OUT = "share of right attacks beyond the control"


def answer_by_attack(publication: Publication, forest: Forest) -> Mapping[str, float]:
    """Return nothing: this is the question whose answer the pipeline adds, figures by metric and name."""
    return {}


class AttackedRisk(Metric):
    """The largest residual rate of right attacks, (attack - control) / (1 - control), 0..1."""

    better = "lower"
    name: ClassVar[str]

    def questions(self, forest: Forest) -> tuple[Question, ...]:
        """Return none: see the module."""
        return ()

    def figures(self, tallies: Tallies) -> tuple[Figure, ...]:
        """See Metric.figures."""
        rates: Mapping[str, float] = tallies.get(answer_by_attack, {})
        return tuple(
            Figure(figure, rates[f"{self.name}.{figure}"], NOT_SINGLED_OUT, 0, 1, "lower")
            for figure in self.gated
            if f"{self.name}.{figure}" in rates
        )


class SinglingOut(AttackedRisk):
    """Singling out (Giomi et al. 2023, 4.1), by quasi-identifiers and by everything published."""

    name = "singling_out"
    symbol = "SO"
    gated = ("quasi_identifiers", "everything")
    explanation = (
        "How often a guess made of up to three published facts isolates one person, beyond what it does to "
        "people who are not in the release; the worst number of facts."
    )


class Linkability(AttackedRisk):
    """Linkability (Giomi et al. 2023, 4.2) by two readers with disjoint fields."""

    name = "linkability"
    symbol = "LI"
    gated = ("worst",)
    explanation = (
        "How often two readers who know up to three different facts of a person each find the same record, "
        "beyond people who are not in the release; the worst number of facts."
    )


class Inference(AttackedRisk):
    """Inference (Giomi et al. 2023, 4.3) of the sensitive attribute that is guessed best."""

    name = "inference"
    symbol = "IN"
    gated = ("worst",)
    explanation = (
        "How often the best guess of a sensitive value is right, beyond people who are not in the release; "
        "the worst attribute and number of facts."
    )


ATTACKED = (SinglingOut, Linkability, Inference)
