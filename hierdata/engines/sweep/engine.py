"""Close classes at lattice nodes by rising loss: local recoding under any models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from hierdata.domains.bounds import Passes
from hierdata.engines.base import Engine, StepInput

if TYPE_CHECKING:
    from hierdata.forest.partition import Partition


class Sweep(Engine):
    """Build classes at the nodes of the generalization lattice, the least loss first; then improve them.

    A node of the lattice is one depth for each quasi-identifier. Nodes are visited by rising loss of the
    whole table at these depths. At each node, the remaining rows are grouped by their ancestors there (a
    value with a path that ends above a depth, or skips it, stays at the depth before). Every group that is
    large enough and satisfies all models becomes a class. It is published by the join of its members, which
    may be below the node. Most rows are closed by the first few nodes (half of Adult by the first), so later
    nodes visit few rows.

    The lattice of many quasi-identifiers is too large to visit in full. The 2^14 best nodes are listed
    (exactly, by adding one quasi-identifier after the other), and the sweep ends when every row has been
    visited 256 times on average. Classes are then gathered from the remaining rows, where rows are closest
    first: the nearest rows that raise the loss least join a row. Rows that still remain join the nearest
    class that accepts them. If models require the mix of the whole table, failing groups leave rows behind
    that fail too. So if the nodes leave more than 1 row in 64, ``mondrian`` also cuts the table, and the
    result that suppresses fewer rows, then loses less, is kept; if gathering leaves more than 1 in 8, only
    the result of the cuts is used.

    Finally ``passes`` improve the classes and rows that lose most, those considered least often first. A
    class is dissolved if its rows together lose less in other classes; each row joins the class that accepts
    it with the least increase in loss. A single row moves if both classes then lose less together. No pass
    raises the loss, and all models hold in all classes throughout. Losses are exact integers; ties go to the
    lower number of a class, then of a row. A pass considers at most 64 classes per row (2^23 in small tables)
    to dissolve classes, and as many to move rows, so that passes cost the same for any models and tables.

    Frequency caps are decided in compiled code; other models are checked once for each content. Below the
    root a class has at most one vertex of any record. O(rows) for each node and pass.
    """

    kind: Literal["sweep"] = "sweep"
    passes: Passes = Field(default=2, description="number of passes over the classes that lower the loss")

    def find_classes(self, step: StepInput) -> Partition:
        """Partition the rows of the scope, starting from single rows."""
        from hierdata.engines.sweep.run import sweep_rows

        return sweep_rows(step, self.passes)
