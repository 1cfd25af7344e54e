"""The metrics, by the name under which a report shows them."""

from __future__ import annotations

from collections.abc import Iterable

from hierdata.ground import plugins
from hierdata.metrics.attacked import ATTACKED
from hierdata.metrics.base import Metric
from hierdata.metrics.diversity import DissimilarityDegree, DiversityDegree
from hierdata.metrics.guesses import ClassificationMetric, DisclosureRate, ReconstructionError
from hierdata.metrics.kept import KeptWorth
from hierdata.metrics.losses import AdditionalInformationLoss, CertaintyPenalty, LMCost, SuppressionRatio
from hierdata.metrics.risk import (
    BackgroundResistance,
    DiscriminationRate,
    IdentityRisk,
    Risk,
    Skewness,
    SkewnessDistance,
    SkewnessDivergence,
)

METRICS: dict[str, type[Metric]] = {
    "lm_cost": LMCost,
    "kept": KeptWorth,
    "certainty_penalty": CertaintyPenalty,
    "suppression_ratio": SuppressionRatio,
    "dissimilarity_degree": DissimilarityDegree,
    "discrimination_rate": DiscriminationRate,
    "reconstruction_error": ReconstructionError,
    "diversity_degree": DiversityDegree,
    "additional_information_loss": AdditionalInformationLoss,
    "disclosure_rate": DisclosureRate,
    "classification_metric": ClassificationMetric,
    "background_resistance": BackgroundResistance,
    "identity_risk": IdentityRisk,
    "skewness": Skewness,
    "skewness_distance": SkewnessDistance,
    "skewness_divergence": SkewnessDivergence,
}
ATTACKS: dict[str, type[Metric]] = {metric.name: metric for metric in ATTACKED}
"""The metrics that attacks on published files measure, where a policy asks for one or limits it."""
LIMITED: dict[str, type[Metric]] = METRICS | ATTACKS
"""The metrics that gates may limit."""
RISKS: dict[str, type[Risk]] = {name: metric for name, metric in METRICS.items() if issubclass(metric, Risk)}
"""The metrics of an attacker who knows keys and wants to learn sensitive values."""


def metric_named(name: str) -> type[Metric]:
    """Return the metric of a name that a policy gives: built in, or of another distribution.

    Raises PolicyError for one that cannot be imported, KeyError for an unknown name.
    """
    return LIMITED[name] if name in LIMITED else plugins.load("metrics", name, Metric)  # type: ignore[type-abstract]


def metrics_of(names: Iterable[str]) -> dict[str, type[Metric]]:
    """Return all built-in metrics, and those of other distributions that a policy names."""
    return LIMITED | {name: metric_named(name) for name in names}


__all__ = ["ATTACKS", "LIMITED", "METRICS", "RISKS", "Metric", "Risk", "metric_named", "metrics_of"]
