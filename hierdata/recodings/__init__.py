"""The recodings, by the name that a policy gives them."""

from __future__ import annotations

from hierdata.recodings.anatomy import Anatomy
from hierdata.recodings.base import Recoding
from hierdata.recodings.full_domain import FullDomain
from hierdata.recodings.generalization import Generalization
from hierdata.recodings.representatives import Representatives
from hierdata.recodings.sets_and_ranges import SetsAndRanges
from hierdata.recodings.slicing import Slicing

RECODINGS: dict[str, type[Recoding]] = {
    "generalization": Generalization,
    "representatives": Representatives,
    "anatomy": Anatomy,
    "full_domain": FullDomain,
    "sets_and_ranges": SetsAndRanges,
    "slicing": Slicing,
}

__all__ = ["RECODINGS", "Recoding"]
