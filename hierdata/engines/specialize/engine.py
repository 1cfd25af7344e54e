"""Top-down specialization under bounded knowledge."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, PrivateAttr

from hierdata.domains.bounds import Compared
from hierdata.engines.base import Constraints, Engine, StepInput, Trial

if TYPE_CHECKING:
    import numpy as np

    from hierdata.engines.compiler.ahead import KernelCall
    from hierdata.forest.forest import Forest, Scope
    from hierdata.forest.partition import Partition


class Specialize(Engine):
    """Specialize root classes and cuts from the top down, and delete the facts that are still too rare.

    - **Root classes.** All records start as one class at the roots of all hierarchies, as in top-down
      specialization (Fung, Wang, Yu, ICDE 2005). A class is split by the quasi-identifier of the root that
      saves most, as long as that is expected to save anything and all models hold; children of fewer than k
      records stay together in their class. Classes unite again where that proves to lose less: in large
      collections only those of the finest division that is not much worse than the best. In small
      collections, of up to 10^5 occurrences of patterns, classes are split further where that proves to
      lose less.
    - **Cuts.** In each class, a dynamic program finds the cut of each taxonomy that is expected to lose
      least: of a node that s of n records have, the share 1 / (1 + (s / tau)^2) is expected to be deleted,
      with tau = c * k^(1/m) * n^(1 - 1/m). Several c are tried in each class.
    - **Deletion.** Patterns of one fact, then of two and of three are counted. In each record that matches a
      pattern that fewer than k records match, the fact or vertex goes that mends most for what it loses;
      counts are kept exact. Then the same is done with absent values counted as the facts that they are.
      What no pattern needs to lose is put back.
    - **Improvement.** Records are mended one after the other, so each may delete a fact that k of them could
      have kept together. So deletions of one kind are undone in all records of a class at once: removed
      vertices, with or without their values, or the absent values of a column or of a node. The class is
      mended again, and the result is kept if less is lost. Classes that are tried are improved once, those
      that are published several times; none are at m = 3, where it takes too long.
    - **Blocks.** In a collection of eight blocks or more, four of them try all this. All blocks then use the
      division and the c that lost least in these, or the finest division with classes united.
    - **Shares.** Under alpha the share of each bounded value is counted at each anchor of each pattern. Where
      one is too large, records that add to it lose a fact of the pattern, until it is not.

    With ``root: counted`` all records are one group, and root values are facts. Sensitive values that may be
    known are facts too: quasi-identifiers of a flat domain.
    """

    aligns: ClassVar[bool] = True
    chooses_from: ClassVar[int | None] = 8
    bounds_knowledge: ClassVar[bool] = True

    kind: Literal["specialize"] = "specialize"
    on: None = None
    effort: Compared = Field(
        default=4,
        description="how many divisions into root classes are tried, from coarse to fine; the best is taken",
    )
    _way: Any = PrivateAttr(default=None)

    def find_classes(self, step: StepInput) -> Partition:
        """Divide all records into root classes, and delete what must not be published."""
        from hierdata.engines.specialize.run import leave_out_frequent, specialize
        from hierdata.forest.sensitive_facts import take_out_facts

        step = _with_facts(step)
        partition = leave_out_frequent(step, self.effort, self._way)
        if partition is None:
            partition = specialize(step, self.effort, self._way)
        return take_out_facts(step.forest, partition)

    def calls(self, forest: Forest, constraints: Constraints) -> list[KernelCall]:
        """Return calls of the kernels that take longest to compile, but for the first of them."""
        from hierdata.engines.alignment import lower_bounds
        from hierdata.engines.specialize import mending

        return [*mending.list_calls(), *lower_bounds.list_calls()]

    def run_trials(
        self, forest: Forest, scope: Scope, constraints: Constraints, rng: np.random.Generator
    ) -> Mapping[Hashable, Trial]:
        """Return what each division loses by each factor, where that is not much more than the least."""
        from hierdata.engines.specialize.run import try_ways

        step = _with_facts(StepInput(forest, scope, constraints, None, rng))
        return dict(try_ways(step, self.effort).items())

    def choose_by_trials(self, trials: Mapping[Hashable, Trial]) -> Specialize:
        """Return a copy that searches by what loses least; an equal one if nothing was good in all blocks."""
        from hierdata.engines.specialize.run import Way, choose_way

        chosen = self.model_copy()
        chosen._way = choose_way({way: trial for way, trial in trials.items() if isinstance(way, Way)})
        return chosen


def _with_facts(step: StepInput) -> StepInput:
    """Return the input with the sensitive values that may be known as facts."""
    from hierdata.forest.sensitive_facts import add_sensitive_facts

    return replace(step, forest=add_sensitive_facts(step.forest, step.constraints.facts))
