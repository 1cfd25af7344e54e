"""The engines, by the name that a policy gives them."""

from __future__ import annotations

from hierdata.engines.base import Constraints, Engine
from hierdata.engines.clustree import CluStree
from hierdata.engines.compose import Compose
from hierdata.engines.full_domain import FullDomain
from hierdata.engines.k_member import KMember
from hierdata.engines.kaca import KACA
from hierdata.engines.local_search import LocalSearch
from hierdata.engines.mbf import MBF
from hierdata.engines.mondrian import Mondrian
from hierdata.engines.msb import MSB
from hierdata.engines.spread import Spread
from hierdata.engines.swap import Swap
from hierdata.engines.swarm import Swarm
from hierdata.engines.sweep import Sweep

ENGINES: dict[str, type[Engine]] = {
    "clustree": CluStree,
    "compose": Compose,
    "full-domain": FullDomain,
    "k-member": KMember,
    "kaca": KACA,
    "local-search": LocalSearch,
    "mbf": MBF,
    "mondrian": Mondrian,
    "msb": MSB,
    "spread": Spread,
    "swap": Swap,
    "swarm": Swarm,
    "sweep": Sweep,
}

__all__ = ["ENGINES", "Constraints", "Engine"]
