"""The engines, by their name in a policy."""

from __future__ import annotations

from hierdata.engines.base import Constraints, Engine
from hierdata.engines.buckets.engine import MBF, MSB
from hierdata.engines.clustree.engine import CluStree
from hierdata.engines.compose.engine import Compose
from hierdata.engines.full_domain.engine import FullDomain
from hierdata.engines.k_member.engine import KMember
from hierdata.engines.kaca.engine import KACA
from hierdata.engines.local_search.engine import LocalSearch
from hierdata.engines.mondrian.engine import Mondrian
from hierdata.engines.reassignment.engine import Swap, Swarm
from hierdata.engines.specialize.engine import Specialize
from hierdata.engines.spread.engine import Spread
from hierdata.engines.sweep.engine import Sweep

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
    "specialize": Specialize,
    "spread": Spread,
    "swap": Swap,
    "swarm": Swarm,
    "sweep": Sweep,
}

__all__ = ["ENGINES", "Constraints", "Engine"]
