"""Recursive cuts of a table by what they save: local recoding under k-anonymity and any model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from hierdata.engines.base import Engine, StepInput

if TYPE_CHECKING:
    from hierdata.forest.partition import Partition


class Mondrian(Engine):
    """Cut the rows in two again and again, at each time by the cut of least loss that every model allows.

    The values of each quasi-identifier, whatever its domain, stand in the depth-first order of its hierarchy.
    A cut takes out the first values of one of them, or all below one node. Its loss is that of publishing
    both sides: rows times LM' of the join of all nodes on a side, summed over the quasi-identifiers (exact
    integers, so ties are real). Of equal losses the most even cut is taken, then the first. A cut that saves
    nothing is made too, since later ones may; classes that come out with equal nodes are united again where
    the union holds. Share caps are decided in compiled code, other models are asked, for at most 64 cuts of a
    region, the cheapest first. O(rows log rows) while cuts are not lopsided.

    A class that no cut divides is dealt to smaller ones, where that loses less and they satisfy the models:
    in the order of the sensitive values, so that each has a like share of every value. That helps where
    models are near what the whole class allows.

    Where a group of values has more than its share of the whole table, as few rows as possible are taken out
    first, by chance. Parts that satisfy the models are found in a region that does not (it may be so for
    models that are not monotone). What is left over joins the nearest class that accepts it, or is
    suppressed. Below the root a class takes at most one vertex of any record.
    """

    kind: Literal["mondrian"] = "mondrian"

    def find_classes(self, given: StepInput) -> Partition:
        """Cut the rows of the scope; this engine starts from all of them, not from an earlier partition."""
        from hierdata.engines.mondrian.run import mondrian

        return mondrian(given)
