"""The recodings, by the name that a policy gives them."""

from __future__ import annotations

from hierdata.recodings.anatomy import Anatomy
from hierdata.recodings.base import Recoding
from hierdata.recodings.generalization import Generalization
from hierdata.recodings.representatives import Representatives

RECODINGS: dict[str, type[Recoding]] = {
    "generalization": Generalization,
    "representatives": Representatives,
    "anatomy": Anatomy,
}

__all__ = ["RECODINGS", "Recoding"]
