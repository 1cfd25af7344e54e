"""Proposals that several drafts have in common: those before a draft accepts its first class."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.k_member.grow import Grown
from hierdata.engines.k_member.kernel import Proposals

Mask = NDArray[np.bool_]


class Begun(NamedTuple):
    """The proposals of the ``seeds`` while the records ``there`` are free.

    ``ready`` are the classes of those about which all models have been asked, by seed.
    """

    there: Mask
    seeds: Mask
    proposals: Proposals
    ready: dict[int, Grown]

    def copy(self) -> Begun:
        """Return a copy that stays as it is."""
        columns: dict[str, Any] = {name: own.copy() for name, own in self.proposals._asdict().items()}
        return Begun(self.there.copy(), self.seeds.copy(), Proposals(**columns), self.ready.copy())

    def take_up(self, other: Begun) -> Mask:
        """Take up the proposals of another draft if the same records were free; mark the seeds that have one.

        A seed around which no class could be built has one too.
        """
        if not np.array_equal(self.there, other.there):
            return np.zeros_like(self.seeds)
        both = self.seeds & other.seeds
        for own, known in zip(self.proposals, other.proposals, strict=True):
            own[both] = known[both]
        self.ready.update((seed, one) for seed, one in other.ready.items() if both[seed])
        return both
