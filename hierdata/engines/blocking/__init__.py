"""The cut: assign records to blocks, so that each block can be clustered independently.

The cut is a binary tree over the records' histograms (see ``histograms``). Each node cuts along one
direction, a vector of integers: a record goes right if the dot product of its counts and the direction
reaches a threshold. A direction is one column, or many that vary together. Among the directions and
thresholds that leave both sides large enough, a node takes the one that separates the fewest records from
their nearest neighbors, measured by the lower bound, relative to the sizes of the sides. The loss of a class
depends on such neighbors. Cuts are avoided after which the two sides could not publish values that the
records together can, because one side has more of a group than its share (``shares``).

Records with equal sums can be separated by a keyed hash of their ordinals, so equal records make no block
larger than others.

All decisions depend on integers and are the same on every machine. Matrices are multiplied in floating point
only if the sum of all absolute products stays in the range of exact integers (2^24 in single, 2^53 in double
precision), so that the order of summation does not matter.
"""

from __future__ import annotations

from hierdata.engines.blocking.growing import grow_cut
from hierdata.engines.blocking.tree import Cut, Sizes

__all__ = ["Cut", "Sizes", "grow_cut"]
