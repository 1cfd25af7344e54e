"""Each record with generalized quasi-identifiers and its own sensitive values."""

from __future__ import annotations

from typing import ClassVar

from hierdata.ground.recodings import TRAITS, RecodingTraits
from hierdata.release.recodings.base import ByRecord


class Generalization(ByRecord):
    """Local recoding: each class is published by the nodes that the search gave it, as ByRecord writes it."""

    traits: ClassVar[RecodingTraits] = TRAITS["generalization"]
