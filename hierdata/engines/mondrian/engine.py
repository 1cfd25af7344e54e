"""Recursive cuts of a table, the cut of least loss first: local recoding under any models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from hierdata.engines.base import Engine, StepInput

if TYPE_CHECKING:
    from hierdata.forest.partition import Partition


class Mondrian(Engine):
    """Cut the rows in two recursively, each time by the cut of least loss that every model allows.

    The values of each quasi-identifier, whatever its domain, are in the depth-first order of its hierarchy.
    A cut separates the first values of one quasi-identifier, or all values below one node, from the rest. Its
    loss is that of publishing both sides: rows times LM' of the join of all nodes on a side, summed over the
    quasi-identifiers (exact integers, so ties are real). Ties go to the most even cut, then to the first. A
    cut that saves nothing is made too, since later ones may save; classes with equal nodes are united again
    if the union satisfies the models. Frequency caps are decided in compiled code; other models are checked
    for at most 64 cuts of a region, the cheapest first. O(rows log rows) if cuts are not lopsided.

    A class that no cut divides is dealt into smaller classes if that loses less and they satisfy the models.
    Rows are dealt in the order of the sensitive values, so that each class has a similar share of every
    value. That helps if the models allow little more than the distribution of the whole class.

    If a group of values has more than its share of the whole table, as few rows as possible are removed
    first, at random. Parts that satisfy the models are also found in a region that violates them (possible
    for models that are not closed under unions). Leftover rows join the nearest class that accepts them, or
    are suppressed. Below the root a class has at most one vertex of any record.
    """

    kind: Literal["mondrian"] = "mondrian"

    def find_classes(self, step: StepInput) -> Partition:
        """Cut the rows of the scope, starting from all rows."""
        from hierdata.engines.mondrian.run import mondrian

        return mondrian(step)
