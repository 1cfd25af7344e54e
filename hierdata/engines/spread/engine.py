"""(delta,l)-diversity reached with as few rows suppressed as can be: what paper DL leaves open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from hierdata.engines.base import Engine, StepInput

if TYPE_CHECKING:
    from hierdata.forest.partition import Partition


class Spread(Engine):
    """Classes whose numbers lie pairwise apart, of as many rows as any partition can publish.

    For (delta,l)-diversity and whatever limits, in the order of the values, how many near a value may stand
    beside it. Let W(S) be the most values of S in a closed window of width 2 delta.

    - *Bound.* If S is partitioned into classes that satisfy (delta,l), then W(S) <= |S| / l: within a class,
      a window that holds a value lies within its neighbourhood, so it holds at most size / l; and both
      sides add up over classes.
    - *Enough.* If W(S) <= g and S is dealt in ascending order to g classes in turn, two members of a class
      have g - 1 others between them, so they are more than 2 delta apart. With g <= |S| / s a class has s
      members or more: for s = l rounded up, the classes satisfy (delta,l).
    - *Least suppression.* The most rows with at most g in any window, f(g), are kept by going from the least
      up and keeping a value iff the g-th last kept one is more than 2 delta below. Since f(g) / g does not
      rise, the largest g with f(g) >= s g is found by bisection.

    So for whole l no partition, with any suppression, publishes more rows, as long as no model asks for
    larger classes than l. Otherwise classes have s rows pairwise apart, s the least size that all models
    allow, and ``reason`` states the bound for l itself: the gap is what more could be published at best.
    Where s is above l rounded up, that asks for more than the models do: the table is cut by ``mondrian``
    too, and what publishes more rows, or as many with less loss, is taken.

    Quasi-identifiers are kept close by the cuts of ``mondrian`` under another rule: both sides must keep
    W * s <= size, which adds up over sides, so that no row is lost by cutting. The final blocks are dealt in
    rounds; 32 rows at a time go to the 32 classes whose turn it is by the assignment of least loss.
    O(rows log rows).

    Every class is then asked by all models. Rows of those that fail, rows with a missing value, and rows that
    were not kept where l does not settle it, join the nearest class that accepts them or are suppressed.
    Below the root a class takes at most one vertex of any record.
    """

    kind: Literal["spread"] = "spread"

    def find_classes(self, given: StepInput) -> Partition:
        """Partition the rows of the scope. Raises PolicyError where no model limits what lies near."""
        from hierdata.engines.spread.run import spread

        return spread(given)
