"""The cut: which record goes to which block, so that each block can be clustered by itself.

A binary tree over the records' histograms (see ``histograms``). Each of its nodes cuts along one direction:
a record goes right where its counts, times the whole numbers of the direction, sum up to a threshold. A
direction is a column, or many that vary together. Of the directions and thresholds that leave sides large
enough, a node takes the one that parts the fewest records from their nearest neighbors, measured by the
bound, against what sides of these sizes can part: what a class costs is decided by who is near.

Records with equal sums can be cut apart by a keyed hash of their ordinals, so equal records make no block
larger than others.

Everything that decides is whole numbers, and the same on every machine. Matrices are multiplied in floating
point only where the sum of all absolute products is one up to which every integer is exact (2^24 in single,
2^53 in double precision): there no order of summation changes a bit.
"""

from __future__ import annotations

from hierdata.engines.blocking.growing import cut
from hierdata.engines.blocking.tree import Cut, Sizes

__all__ = ["Cut", "Sizes", "cut"]
