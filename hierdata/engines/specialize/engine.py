"""Top-down specialization under bounded knowledge."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from hierdata.domains.bounds import Compared
from hierdata.engines.base import Engine, StepInput

if TYPE_CHECKING:
    from hierdata.forest.partition import Partition


class Specialize(Engine):
    """Specialize root classes and cuts from the top down, and delete the facts that are still too rare.

    - **Root classes.** All records start as one class at the roots of all hierarchies, as in top-down
      specialization (Fung, Wang, Yu, ICDE 2005). A class is split by the quasi-identifier of the root that
      saves most, as long as that is expected to save anything and all models hold; children of fewer than k
      records stay together in their class. Classes unite again where that proves to lose less: in large
      collections only those of the finest division, if it is not much worse than the best.
    - **Cuts.** In each class, a dynamic program finds the cut of each taxonomy that is expected to lose
      least: of a node that s of n records have, the share 1 / (1 + (s / tau)^2) is expected to be deleted,
      with tau = c * k^(1/m) * n^(1 - 1/m). Several c are tried in each class.
    - **Deletion.** Patterns of one fact, then of two and of three are counted. In each record that matches a
      pattern that fewer than k records match, the fact or vertex goes that mends most for what it loses;
      counts are kept exact. At last absent values are counted as the facts that they are. What no pattern
      needs to lose is put back.
    - **Shares.** Under alpha the share of each bounded value is counted at each anchor of each pattern. Where
      one is too large, records that add to it lose a fact of the pattern, until it is not.

    With ``root: counted`` all records are one group, and root values are facts.
    """

    aligns: ClassVar[bool] = True
    bounds_knowledge: ClassVar[bool] = True

    kind: Literal["specialize"] = "specialize"
    on: None = None
    effort: Compared = Field(
        default=4,
        description="how many divisions into root classes are tried, from coarse to fine; the best is taken",
    )

    def find_classes(self, given: StepInput) -> Partition:
        """Divide all records into root classes, and delete what must not be published."""
        from hierdata.engines.specialize.run import specialize

        return specialize(given, self.effort)
