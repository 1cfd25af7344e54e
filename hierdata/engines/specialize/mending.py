"""Mend the cut of one group: stages of deletion, and what is put back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.specialize.groups import GroupRecords, bits_of, loss_of, row_of
from hierdata.engines.specialize.kernel_change import restore_group
from hierdata.engines.specialize.kernel_facts import FactGroup
from hierdata.engines.specialize.kernel_mending import mend_group
from hierdata.engines.specialize.kernel_table import Asked
from hierdata.privacy import BoundedKnowledge

TRACE = 2.0
"""How much more an absent value counts than it loses: it is a fact itself, a removed vertex is none."""
_OCCURRENCES = 2**16
_CHANGES = 2**14


@dataclass(frozen=True)
class Mended:
    """A group in which every pattern is matched by none or enough records, and what it loses.

    ``published`` is the node of each fact by the cut.
    """

    group: FactGroup
    published: NDArray[np.int64]
    loss: int


def mend(records: GroupRecords, cut: list[NDArray[np.int64]], knowledge: BoundedKnowledge) -> Mended | None:
    """Delete what a cut leaves to too few; None where that cannot be done."""
    group, published, absents = records.group(cut)
    labels, depths = bits_of(group)
    whole = knowledge.vertex == "whole"
    asked = Asked(knowledge.k, knowledge.m, absents, False, whole, labels, depths, TRACE)
    row = row_of(group)
    found, changed = np.zeros((_OCCURRENCES, 6), np.int64), np.zeros(_CHANGES, np.int64)
    for most in range(1, knowledge.m + 1):
        stage = asked._replace(m=most, blind=True)
        *_, mended = mend_group(group, stage, row, found, changed)
        if not mended:
            return None
    table, clauses, mended = mend_group(group, asked, row, found, changed)
    if not mended:
        return None
    restore_group(group, asked, table, clauses, row, changed)
    return Mended(group, published, loss_of(group))
