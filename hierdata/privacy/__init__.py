"""Privacy models, one a file. Each sees the sensitive values of one class at one vertex, and nothing else."""

from __future__ import annotations

from hierdata.privacy.alpha_k import AlphaK
from hierdata.privacy.base import PrivacyModel
from hierdata.privacy.delta_l_diversity import DeltaLDiversity
from hierdata.privacy.distinct_l_diversity import DistinctLDiversity
from hierdata.privacy.entropy_l_diversity import EntropyLDiversity
from hierdata.privacy.epsilon_m_anonymity import EpsilonMAnonymity
from hierdata.privacy.frequency_l_diversity import FrequencyLDiversity
from hierdata.privacy.k_anonymity import KAnonymity
from hierdata.privacy.l_e_diversity import LEDiversity
from hierdata.privacy.level_alpha_k import LevelAlphaK
from hierdata.privacy.recursive_cl_diversity import RecursiveCLDiversity

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
}
"""The models by the name a policy gives them (``kind``)."""

__all__ = [
    "MODELS",
    "AlphaK",
    "DeltaLDiversity",
    "DistinctLDiversity",
    "EntropyLDiversity",
    "EpsilonMAnonymity",
    "FrequencyLDiversity",
    "KAnonymity",
    "LEDiversity",
    "LevelAlphaK",
    "PrivacyModel",
    "RecursiveCLDiversity",
]
