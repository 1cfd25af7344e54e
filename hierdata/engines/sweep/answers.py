"""Who may be a class: caps for compiled code, the other models asked once for each content."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.rows.asking import ClassConstraints
from hierdata.engines.rows.caps import pack_row_caps
from hierdata.engines.rows.decided_caps import split_decided
from hierdata.engines.rows.kernel import Places, keeps_caps
from hierdata.engines.rows.order import RowLine
from hierdata.engines.rows.table import codes_of, nodes_of
from hierdata.engines.sweep.kernel import Memory, mix_words, remember
from hierdata.forest.forest import Forest, Scope

NODES = 2**14
"""So many nodes are listed: all of eight quasi-identifiers with usual hierarchies, the cheapest of more."""


def best_depths(line: RowLine, generalized: Places, most: int = NODES) -> NDArray[np.int32]:
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


_REMEMBERED = 8
"""Places in the memory for each row."""


class Answers:
    """What the constraints say of classes of a scope's rows.

    ``marks`` are 64 mixed bits of what the models see of a row; the sum over a class is its print. That two
    contents have one print is not to be expected, and what is published is asked about once more.
    """

    def __init__(self, forest: Forest, scope: Scope, constraints: Constraints) -> None:
        bound, open_ones = split_decided(forest, scope, constraints)
        rows = len(scope.rows)
        self.least = constraints.min_class_size
        self.caps = pack_row_caps(bound, rows)
        self._asked = ClassConstraints(forest, scope, open_ones)
        self.asking = self._asked.has_constraints
        seen = codes_of(forest, scope)
        if constraints.population is not None:
            seen = np.hstack([seen, nodes_of(forest, scope)])
        alike = np.unique(seen, axis=0, return_inverse=True)[1] if self.asking else np.zeros(rows, np.int64)
        self.marks = mix_words(alike.ravel().astype(np.int64))
        places = 2 ** (_REMEMBERED * rows + 1024).bit_length() if self.asking else 2
        self.memory = Memory(np.zeros(places, np.uint64), np.zeros(places, np.int8), np.zeros(1, np.int64))

    def holds(self, rows: NDArray[np.int64]) -> bool:
        """Whether these rows may be a class."""
        return bool(keeps_caps(0, len(rows), rows, self.caps)) and (not self.asking or self._asked(rows))

    def ask(self, groups: Sequence[NDArray[np.int64]]) -> None:
        """Ask about groups that keep the caps, and remember what is said."""
        prints = np.array([self.marks[rows].sum(dtype=np.uint64) for rows in groups], np.uint64)
        remember(prints, np.array([self._asked(rows) for rows in groups], np.bool_), self.memory)
