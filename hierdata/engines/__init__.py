"""The engines, by the name that a policy gives them."""

from __future__ import annotations

from hierdata.engines.base import Constraints, Engine
from hierdata.engines.clustree import CluStree

ENGINES: dict[str, type[Engine]] = {"clustree": CluStree}

__all__ = ["ENGINES", "Constraints", "Engine"]
