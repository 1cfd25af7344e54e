"""Frequency caps on rows: the group of every row, and the layout of compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.rows.kernel import Caps
from hierdata.forest.forest import look_up
from hierdata.privacy.base import FrequencyCaps

_UNBOUNDED = 2**62


@dataclass(frozen=True)
class RowCaps:
    """Frequency caps with the group of every row, -1 for a missing value."""

    groups: NDArray[np.int32]
    caps: FrequencyCaps

    def fits(self) -> bool:
        """Whether count * denominator fits into 64 bits at every size."""
        return all(share.denominator * len(self.groups) < _UNBOUNDED for share in self.caps.share)


def pack_row_caps(bound: Sequence[RowCaps], rows: int) -> Caps:
    """Pack the caps on a table of ``rows`` rows for compiled code; without caps, every region passes."""
    counts = [len(own.caps.share) for own in bound]
    alone = [[(group, group) for group in range(count)] for count in counts]
    reach = [own.caps.reach or single for own, single in zip(bound, alone, strict=True)]
    shares = [(share.numerator, share.denominator) for own in bound for share in own.caps.share]
    return Caps(
        np.array([own.groups for own in bound], np.int32).reshape(len(bound), rows),
        np.cumsum([0, *counts]),
        np.array([_UNBOUNDED if own.caps.most is None else own.caps.most for own in bound], np.int64),
        np.array([pair for own in reach for pair in own], np.int64).reshape(-1, 2),
        np.array(shares, np.int64).reshape(-1, 2),
        np.zeros(max(counts, default=0), np.int64),
    )


def row_caps(codes: NDArray[np.int32], caps: FrequencyCaps) -> RowCaps:
    """Build the caps of rows with these codes."""
    return RowCaps(look_up(caps.group_of, codes), caps)
