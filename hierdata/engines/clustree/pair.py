"""Algorithm 1 (ML section 4) on two records alone."""

from __future__ import annotations

import numpy as np

from hierdata.engines.alignment.alignment import Alignment
from hierdata.engines.alignment.arrays import find_unpaired, first_nodes, write_nodes
from hierdata.engines.alignment.kernels.representative import begin, grow
from hierdata.engines.alignment.lower_bounds import histograms
from hierdata.engines.base import Constraints
from hierdata.forest.forest import Forest
from hierdata.forest.partition import SUPPRESSED, Partition


def align_pair(forest: Forest, constraints: Constraints, size: int) -> Partition:
    """Align the two records of a forest by greedy pairing, under the caps of classes of ``size`` records.

    The partition has one class of both, or none if a model does not allow their roots in one class. Nothing
    but the caps is checked: see ``check_cons`` in ML section 4.
    """
    aligned = Alignment(forest, constraints, size, "greedy", largest=2)
    unpaired = find_unpaired(forest, aligned.rows, aligned.settings.first_slot, aligned.rules.caps)
    bounds = histograms(forest, unpaired)
    near, near_losses, joined = np.empty(1, np.int64), np.empty(1, np.int64), np.zeros(2, np.int64)
    both = np.arange(2)
    begin(0, both, near, near_losses, bounds, aligned.buffers, aligned.arrays)
    count, lost_at, _ = grow(
        int(forest.roots[1]),
        1,
        2,
        False,
        near,
        near_losses,
        1,
        joined,
        bounds,
        aligned.buffers,
        aligned.arrays,
    )
    shown = np.full(forest.vertex_count, SUPPRESSED)
    nodes = forest.nodes.copy()
    if lost_at:
        return Partition(np.full(2, SUPPRESSED), shown, nodes)
    rows, members = aligned.representative[:count], aligned.members[:2, :count]
    shown[members] = members[0]
    write_nodes(forest, first_nodes(forest), rows, members[0], nodes)
    return Partition(np.zeros(2, np.int64), shown, nodes)
