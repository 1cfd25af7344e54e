"""The nodes of the generalization lattice by rising loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.cutting.places import Line
from hierdata.kernels.cutting import Places

NODES = 2**14
"""So many nodes are listed: all of eight quasi-identifiers with usual hierarchies, the cheapest of more."""


def by_loss(line: Line, generalized: Places, most: int = NODES) -> NDArray[np.int32]:
    """The depths of every quasi-identifier at the ``most`` nodes of least loss, best first.

    The loss of a node is what publishing all rows at its depths would lose. It is a sum over the
    quasi-identifiers, so the best nodes are among the best of all but the last, each with every depth of
    the last. Equal losses stand in the order of the depths. Depths that change nothing are left out.
    """
    sums = np.zeros(1, np.int64)
    nodes = np.zeros((1, 0), np.int32)
    for column, start in enumerate(line.first[:-1].tolist()):
        places = line.places[:, column]
        own = generalized[start : start + int(places.max(initial=-1)) + 1]
        depths = [0] + [at for at in range(1, own.shape[1]) if (own[:, at] != own[:, at - 1]).any()]
        losses = [int(line.losses[own[places, depth]].sum()) for depth in depths]
        sums = (sums[:, None] + np.array(losses, np.int64)).ravel()
        with_depth = np.tile(np.array(depths, np.int32), len(nodes))[:, None]
        nodes = np.hstack([np.repeat(nodes, len(depths), axis=0), with_depth])
        kept = np.sort(np.argsort(sums, kind="stable")[:most])
        sums, nodes = sums[kept], nodes[kept]
    found: NDArray[np.int32] = nodes[np.argsort(sums, kind="stable")]
    return found
