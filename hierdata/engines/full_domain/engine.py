"""The best recoding of full domains: one depth for each quasi-identifier, found among all combinations."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from hierdata.engines.base import Engine, StepInput
from hierdata.errors import PolicyError
from hierdata.privacy.base import Share

if TYPE_CHECKING:
    from hierdata.domains.base import Hierarchy
    from hierdata.forest.partition import Partition

LARGEST = 10**7
"""So many nodes may a lattice have."""


class FullDomain(Engine):
    """Generalize every value of a quasi-identifier to one depth of its hierarchy, the same for all rows.

    A node of the lattice is one depth for each quasi-identifier. Rows that are published alike there are a
    class; classes that do not satisfy all models, or are smaller than these ever allow, are suppressed, which
    may be a share ``suppression`` of the rows at most (0: none). Of all nodes the one is taken that loses the
    least: the sum of LM' over all values, 1 for each of a suppressed row (exact integers, so ties are real).
    Of equal losses it is that which suppresses the fewest rows, then that of the greater depth in the first
    quasi-identifier where they differ; how many tie is told.

    Every node is looked at. Its classes are those of a finer node added up; where they are too small, or
    farther from the original than t-closeness allows, they are counted as lost, and all others as kept. That
    is a bound of the node's loss, whatever the models. By rising bounds the nodes are judged by all models,
    until none that is left can lose as little: nothing is assumed to be monotone. Depths at which no value
    of the table looks different are one. Where sums of losses do not fit into 64 bits, low bits are dropped.

    O(nodes of the lattice x different rows) at most; the tables of coarse nodes are small. A lattice of more
    than 10^7 nodes is refused, and so are vertices below the root: two of one record may be published alike.
    """

    kind: Literal["full-domain"] = "full-domain"
    suppression: Share = Field(default=Fraction(0), description="the largest share of rows suppressed, 0..1")

    def check(self, kind: int, hierarchies: Sequence[Hierarchy]) -> None:
        """See Engine.check: vertices below the records, and a lattice that is too large."""
        if kind:
            raise PolicyError(
                "full-domain makes one class of all that is published alike, and below the root that may be "
                "two vertices of one record: take mondrian"
            )
        nodes = prod(tree.depths for tree in hierarchies)
        if nodes > LARGEST:
            raise PolicyError(
                f"full-domain looks at all {nodes} combinations of depths of {len(hierarchies)} quasi-"
                f"identifiers, and {LARGEST} are the most it does: give some of them fewer depths, or take "
                "mondrian"
            )

    def find_classes(self, given: StepInput) -> Partition:
        """Partition the rows of the scope; this engine starts from all of them, not from other classes."""
        from hierdata.engines.full_domain.optimum import optimum

        return optimum(given, self.suppression)
