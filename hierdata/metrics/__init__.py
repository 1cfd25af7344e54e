"""The metrics, by the name under which a report shows them."""

from __future__ import annotations

from hierdata.metrics.additional_information_loss import AdditionalInformationLoss
from hierdata.metrics.base import Metric
from hierdata.metrics.certainty_penalty import CertaintyPenalty
from hierdata.metrics.classification_metric import ClassificationMetric
from hierdata.metrics.disclosure_rate import DisclosureRate
from hierdata.metrics.discrimination_rate import DiscriminationRate
from hierdata.metrics.dissimilarity_degree import DissimilarityDegree
from hierdata.metrics.diversity_degree import DiversityDegree
from hierdata.metrics.lm_cost import LMCost
from hierdata.metrics.reconstruction_error import ReconstructionError
from hierdata.metrics.suppression_ratio import SuppressionRatio

METRICS: dict[str, type[Metric]] = {
    "lm_cost": LMCost,
    "certainty_penalty": CertaintyPenalty,
    "suppression_ratio": SuppressionRatio,
    "dissimilarity_degree": DissimilarityDegree,
    "discrimination_rate": DiscriminationRate,
    "reconstruction_error": ReconstructionError,
    "diversity_degree": DiversityDegree,
    "additional_information_loss": AdditionalInformationLoss,
    "disclosure_rate": DisclosureRate,
    "classification_metric": ClassificationMetric,
}

__all__ = ["METRICS", "Metric"]
