"""(delta,l)-diversity with as few suppressed rows as possible, a question that paper DL leaves open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from hierdata.engines.base import Engine, StepInput

if TYPE_CHECKING:
    from hierdata.forest.partition import Partition


class Spread(Engine):
    """Build classes of numbers that are pairwise apart, from as many rows as any partition can publish.

    This is for (delta,l)-diversity and other models that limit how many values near a value, in the order of
    the values, may be in its class. Let W(S) be the most values of S in a closed window of width 2 delta.

    - *Bound.* If S is partitioned into classes that satisfy (delta,l), then W(S) <= |S| / l: within a class,
      a window that holds a value is part of its neighbourhood, so it holds at most size / l values; and both
      sides add up over classes.
    - *Enough.* If W(S) <= g and S is dealt in ascending order to g classes in turn, two members of a class
      have g - 1 others between them, so they are more than 2 delta apart. With g <= |S| / s a class has s
      members or more: for s = l rounded up, the classes satisfy (delta,l).
    - *Least suppression.* Let f(g) be the most rows with at most g in any window. They are found by going up
      from the least value and keeping a value iff the g-th last kept one is more than 2 delta below. Since
      f(g) / g does not rise, the largest g with f(g) >= s g is found by bisection.

    So for whole l no partition, with any suppression, publishes more rows, as long as no model requires
    larger classes than l and classes do not look alike once published. Otherwise classes have s rows pairwise
    apart, where s is the least size that all models allow, and ``reason`` states the bound for l itself; the
    difference is how many more rows could be published at best. If s is above l rounded up, this is stricter
    than the models: the table is also cut by ``mondrian``, and the result that publishes more rows, or as
    many with less loss, is used.

    The cuts of ``mondrian``, under another rule, keep quasi-identifiers close: both sides must keep
    W * s <= size, which adds up over sides, so that cutting loses no row. The final blocks are dealt in
    rounds: 32 rows at a time go to the next 32 classes by the assignment of least loss. O(rows log rows).

    Classes of records that look alike are one class to a reader. If it is not safe, their rows are dealt
    again to as few classes as they need, and each of these but one is generalized, with the least loss, to a
    form that no other class has. That needs as many forms as there are classes.

    Every class is then checked against all models. Rows of failing classes, rows with a missing value, and
    rows that were not kept although the bound does not exclude them, join the nearest class that accepts them
    or are suppressed. Below the root a class has at most one vertex of any record.
    """

    kind: Literal["spread"] = "spread"

    def find_classes(self, step: StepInput) -> Partition:
        """Partition the rows of the scope. Raises PolicyError if no model limits values near each other."""
        from hierdata.engines.spread.run import spread_rows

        return spread_rows(step)
