"""What the caps leave of an alignment: a lower bound of its loss that histograms do not see."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.kernels.arrays import KIND
from hierdata.engines.alignment.kernels.vertices import FEW_GROUPS, full_of
from hierdata.engines.jit import part


class CappedValues(NamedTuple):
    """The values of records that caps count.

    The slots of a vertex type are consecutive, and so are the groups of a slot.
    """

    counts: NDArray[np.int32]  # [record, group]: values of the record in the group
    vertices: NDArray[np.int32]  # [record, vertex type]
    slots: NDArray[np.int64]  # [slot, (vertex type, first group, group after the last)]
    above: NDArray[np.int64]  # [vertex type]: the type of the parent, -1 for the root
    weights: NDArray[np.int64]  # [vertex type]: the weight of a vertex without those below it
    over: NDArray[np.int64]  # [record]: as bits the groups that have more than their share in the record
    under: NDArray[np.int64]  # [record]: as bits the groups that have less
    open_: NDArray[np.int64]  # [group]: working memory of ``find_room``: vertices that a value may still join
    present: NDArray[np.int64]  # [vertex type]: working memory: vertices of the representative
    pairs: NDArray[np.int64]  # [vertex type]: working memory of ``loss_by_room``


@part
def find_room(
    count: int,
    size: int,
    first_slot: int,
    rep: NDArray[np.int32],
    caps: NDArray[np.int64],
    full: NDArray[np.int64],
    values: CappedValues,
) -> bool:
    """Count by group the vertices of a representative that a further value may join.

    Return whether some group has fewer than its vertices. Only caps on single groups are looked at.
    """
    open_, present, slots = values.open_, values.present, values.slots
    for at in range(len(present)):
        present[at] = 0
    for group in range(len(open_)):
        open_[group] = 0
    if len(slots) == 0 or (full[full.shape[0] - 1, 0] >> FEW_GROUPS) & 1 == 0:
        return False
    some = False
    one = np.int64(1)
    for v in range(count):
        kind = np.int64(rep[v, KIND])
        present[kind] += 1
        mask = full_of(v, size, first_slot, rep, caps, full)
        for slot in range(len(slots)):
            if slots[slot, 0] == kind:
                for group in range(slots[slot, 1], slots[slot, 2]):
                    if mask & (one << group) == 0:
                        open_[group] += 1
                    else:
                        some = True
    return some


@part
def loss_by_room(record: int, scale: int, values: CappedValues) -> np.int64:
    """Return a lower bound of the loss of aligning a record with the representative of ``find_room``.

    A vertex without a partner loses its weight. At most so many vertices of a type find one as both sides
    have, and as many values of each group as there are vertices that they may join.
    """
    counts, vertices, slots, above, weights, _, _, open_, present, pairs = values
    for kind in range(len(present)):
        pairs[kind] = min(present[kind], np.int64(vertices[record, kind]))
    for slot in range(len(slots)):
        kind = slots[slot, 0]
        fitting = np.int64(vertices[record, kind])
        for group in range(slots[slot, 1], slots[slot, 2]):
            fitting -= max(np.int64(counts[record, group]) - open_[group], np.int64(0))
        pairs[kind] = min(pairs[kind], fitting)
    loss = np.int64(0)
    for kind in range(len(present)):
        if above[kind] >= 0 and pairs[above[kind]] == 0:
            pairs[kind] = 0
        loss += weights[kind] * (present[kind] + np.int64(vertices[record, kind]) - 2 * pairs[kind])
    return scale * loss
