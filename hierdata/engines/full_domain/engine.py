"""Full-domain recoding: the best combination of depths, one depth for each quasi-identifier."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from hierdata.engines.base import Engine, StepInput
from hierdata.ground.errors import PolicyError
from hierdata.privacy.base import Share

if TYPE_CHECKING:
    from hierdata.domains.base import Hierarchy
    from hierdata.forest.partition import Partition

LARGEST = 10**7
"""The most nodes of a lattice."""


class FullDomain(Engine):
    """Generalize every value of a quasi-identifier to one depth of its hierarchy, the same for all rows.

    A node of the lattice is one depth for each quasi-identifier. Rows that are published alike at a node form
    a class. Classes that violate a model, or are smaller than the least size of all models, are suppressed; a
    node may suppress at most a share ``suppression`` of the rows (0: none), and only such rows as may stay
    suppressed where these are guarded. The node with the least loss is
    used: the sum of LM' over all values, 1 for each value of a suppressed row (exact integers, so ties are
    real). Ties go to the node that suppresses the fewest rows, then to the one with the greater depth in the
    first quasi-identifier where they differ; the number of ties is reported.

    Every node is evaluated. Its classes are sums of the classes of a finer node. Classes that are too small,
    or farther from the original than t-closeness allows, count as lost, all others as kept; this is a lower
    bound of the node's loss for any models. The nodes are checked against all models by rising bound, until
    no other node can lose as little; nothing is assumed to be monotone. Depths that publish all values of
    the table alike count as one. If sums of losses do not fit into 64 bits, low bits are dropped.

    O(nodes of the lattice x different rows) at most; the tables of coarse nodes are small. A lattice of more
    than 10^7 nodes is refused, and so are vertices below the root: two of one record may be published alike.
    """

    kind: Literal["full-domain"] = "full-domain"
    suppression: Share = Field(default=Fraction(0), description="the largest share of rows suppressed, 0..1")

    def check(self, kind: int, hierarchies: Sequence[Hierarchy]) -> None:
        """Raise PolicyError for vertices below the root, and for a lattice that is too large."""
        if kind:
            raise PolicyError(
                "full-domain puts all vertices that are published alike into one class, and below the root "
                "these may be two vertices of one record: use mondrian"
            )
        nodes = prod(tree.depths for tree in hierarchies)
        if nodes > LARGEST:
            raise PolicyError(
                f"full-domain searches all {nodes} combinations of depths of {len(hierarchies)} quasi-"
                f"identifiers, and the limit is {LARGEST}: give some of them fewer depths, or use mondrian"
            )

    def find_classes(self, step: StepInput) -> Partition:
        """Partition the rows of the scope, starting from all rows."""
        from hierdata.engines.full_domain.optimum import optimum

        return optimum(step, self.suppression)
