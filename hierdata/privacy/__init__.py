"""Privacy models, one per file. Each sees the sensitive values of one class at one vertex, nothing else."""

from __future__ import annotations

from hierdata.ground import plugins
from hierdata.privacy.alpha_k import AlphaK
from hierdata.privacy.base import PrivacyModel
from hierdata.privacy.basic_beta_likeness import BasicBetaLikeness
from hierdata.privacy.bounded_knowledge import BoundedKnowledge
from hierdata.privacy.delta_disclosure import DeltaDisclosure
from hierdata.privacy.delta_l_diversity import DeltaLDiversity
from hierdata.privacy.delta_presence import DeltaPresence
from hierdata.privacy.distinct_l_diversity import DistinctLDiversity
from hierdata.privacy.enhanced_beta_likeness import EnhancedBetaLikeness
from hierdata.privacy.entropy_l_diversity import EntropyLDiversity
from hierdata.privacy.epsilon_m_anonymity import EpsilonMAnonymity
from hierdata.privacy.frequency_l_diversity import FrequencyLDiversity
from hierdata.privacy.k_anonymity import KAnonymity
from hierdata.privacy.k_map import KMap
from hierdata.privacy.l_e_diversity import LEDiversity
from hierdata.privacy.level_alpha_k import LevelAlphaK
from hierdata.privacy.p_sensitive_k_anonymity import PSensitiveKAnonymity
from hierdata.privacy.recursive_cl_diversity import RecursiveCLDiversity
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
