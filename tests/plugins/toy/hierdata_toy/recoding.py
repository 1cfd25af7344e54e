"""A recoding: each record by the nodes of its class, which is what the judge knows as generalization."""

from __future__ import annotations

from typing import ClassVar

from hierdata.ground.recodings import RecodingTraits
from hierdata.release.recodings.base import ByRecord


class Local(ByRecord):
    """Local recoding, written as ByRecord writes it."""

    traits: ClassVar[RecodingTraits] = RecodingTraits(
        judged_as="generalization",
        limitation="A published record keeps its own sensitive values together, says the toy.",
    )
