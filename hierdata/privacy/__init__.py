"""Privacy models. Each sees the sensitive values of one class at one vertex, nothing else."""

from __future__ import annotations

from hierdata.ground import plugins
from hierdata.privacy.alpha_k import AlphaK, LevelAlphaK
from hierdata.privacy.base import PrivacyModel
from hierdata.privacy.beta_likeness import BasicBetaLikeness, DeltaDisclosure, EnhancedBetaLikeness
from hierdata.privacy.bounded_knowledge import BoundedKnowledge
from hierdata.privacy.k_anonymity import DeltaPresence, KAnonymity, KMap, PSensitiveKAnonymity
from hierdata.privacy.l_diversity import (
    DistinctLDiversity,
    EntropyLDiversity,
    FrequencyLDiversity,
    RecursiveCLDiversity,
)
from hierdata.privacy.l_e_diversity import LEDiversity
from hierdata.privacy.neighbourhood import DeltaLDiversity, EpsilonMAnonymity
from hierdata.privacy.t_closeness import TCloseness

MODELS: dict[str, type[PrivacyModel]] = {
    "k-anonymity": KAnonymity,
    "distinct-l-diversity": DistinctLDiversity,
    "frequency-l-diversity": FrequencyLDiversity,
    "entropy-l-diversity": EntropyLDiversity,
    "recursive-cl-diversity": RecursiveCLDiversity,
    "alpha-k": AlphaK,
    "level-alpha-k": LevelAlphaK,
    "l-e-diversity": LEDiversity,
    "delta-l-diversity": DeltaLDiversity,
    "epsilon-m-anonymity": EpsilonMAnonymity,
    "p-sensitive-k-anonymity": PSensitiveKAnonymity,
    "t-closeness": TCloseness,
    "basic-beta-likeness": BasicBetaLikeness,
    "enhanced-beta-likeness": EnhancedBetaLikeness,
    "delta-disclosure": DeltaDisclosure,
    "k-map": KMap,
    "delta-presence": DeltaPresence,
    "bounded-knowledge": BoundedKnowledge,
}
"""The models by the name a policy gives them (``kind``)."""


def model_named(kind: str) -> type[PrivacyModel]:
    """Return the model class of a kind that a policy states, built in or of another distribution.

    Raises PolicyError if it cannot be imported, KeyError if there is none.
    """
    return MODELS[kind] if kind in MODELS else plugins.load("models", kind, PrivacyModel)  # type: ignore[type-abstract]


__all__ = [
    "MODELS",
    "AlphaK",
    "BasicBetaLikeness",
    "BoundedKnowledge",
    "DeltaDisclosure",
    "DeltaLDiversity",
    "DeltaPresence",
    "DistinctLDiversity",
    "EnhancedBetaLikeness",
    "EntropyLDiversity",
    "EpsilonMAnonymity",
    "FrequencyLDiversity",
    "KAnonymity",
    "KMap",
    "LEDiversity",
    "LevelAlphaK",
    "PSensitiveKAnonymity",
    "PrivacyModel",
    "RecursiveCLDiversity",
    "TCloseness",
    "model_named",
]
