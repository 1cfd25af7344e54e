"""Build a partition from finished classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from hierdata.engines.alignment.arrays import first_nodes, write_nodes
from hierdata.engines.k_member.grow import Grown
from hierdata.forest.forest import Forest
from hierdata.forest.partition import SUPPRESSED, Partition


def partition_of(forest: Forest, classes: Sequence[Grown], records: int, evaluated: int) -> Partition:
    """Build the partition of these classes; the vertices of a class's first member are the representatives.

    ``records`` is the number of records to cluster, ``evaluated`` the number of alignments, for the costs.
    """
    class_of = np.full(forest.record_count, SUPPRESSED, np.int64)
    stands_for = np.full(forest.vertex_count, SUPPRESSED, np.int64)
    nodes = forest.nodes.copy()
    starts = first_nodes(forest)
    lost_at_closing = 0
    for number, one in enumerate(classes):
        class_of[one.records] = number
        stands_for[one.members[:, one.kept]] = one.members[0, one.kept]
        lost_at_closing += int((~one.kept).sum()) * len(one.records)
        write_nodes(forest, starts, one.rows[one.kept], one.members[0, one.kept], nodes)
    published = class_of >= 0
    gone = int((np.repeat(published, np.diff(forest.roots)) & (stands_for < 0)).sum())
    costs = Counter(
        {
            "pair_losses": evaluated,
            "records_that_no_class_accepts": records - int(published.sum()),
            "vertices_lost_at_closing": lost_at_closing,
            "vertices_without_partner": gone - lost_at_closing,
        }
    )
    return Partition(class_of, stands_for, nodes, costs)
