"""Lattice nodes by rising loss, each closing what it can: local recoding under any model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from hierdata.engines.base import Engine, StepInput

if TYPE_CHECKING:
    from hierdata.forest.partition import Partition


class Sweep(Engine):
    """Close what every node of the generalization lattice can close, the least loss first; then improve.

    A node of the lattice is a depth for every quasi-identifier. Nodes are visited by rising loss of the whole
    table at these depths. At each, the rows that are left are grouped by their ancestors there (a value whose
    path ends above a depth, or skips it, stays at the depth before), and every group that is large enough and
    satisfies all models is a class. It is published by the join of its members, which may lie below the node.
    Most rows are closed by the first few nodes (half of Adult by the first), so later ones visit few.

    The lattice of many quasi-identifiers is too large: the 2^14 best nodes are listed (exactly, by adding one
    quasi-identifier after the other), and the sweep ends when every row has been visited 256 times on
    average. Of rows that are left then, classes are gathered where they stand closest: around a row, the
    nearest ones join that raise the loss least. What is left after that joins the nearest class that accepts
    it. Where models ask for the mix of the whole table, groups that fail leave rows behind that fail too: if
    the nodes leave more than one row in 64, ``mondrian`` cuts the table as well, and what suppresses fewer
    rows, then loses less, is kept; if gathering leaves one in 8, only the cuts are.

    At last come ``passes`` over classes and rows that have lost most and were looked at least: a class is
    dissolved if its rows lose less in other classes, together, each in the one whose loss it raises least of
    those that accept it; a single row moves if both classes then lose less together. No pass makes the loss
    larger, and in all classes all models hold throughout. Losses are exact integers: of equal ones the lower
    number of a class, then of a row, is taken. A pass looks at no more than 64 classes for each row (2^23 in
    small tables) to dissolve, and as many to move, so that passes cost the same for any models and tables.

    Share caps are decided in compiled code, other models are asked once for each content. Below the root a
    class takes at most one vertex of any record. O(rows) for each node and pass.
    """

    kind: Literal["sweep"] = "sweep"
    passes: int = Field(
        default=2, strict=True, ge=0, description="how often classes are looked at again to lose less"
    )

    def find_classes(self, given: StepInput) -> Partition:
        """Partition the rows of the scope; this engine starts from rows, not from an earlier partition."""
        from hierdata.engines.sweep.run import swept

        return swept(given, self.passes)
