"""Measuring: what one block adds to the figures of a release."""

from __future__ import annotations

from dataclasses import dataclass

from hierdata.metrics.base import Metric
from hierdata.pieces import Frame
from hierdata.recodings import Recoding
from hierdata.tallies import Tallies, tally
from hierdata.tasks.cluster import Block


@dataclass(frozen=True)
class TallyBlock:
    """What the metrics ask, answered for a block."""

    recoding: Recoding
    frame: Frame
    heaviest: int
    metrics: tuple[Metric, ...]

    def __call__(self, block: Block) -> Tallies:
        """The answers."""
        forest = block.at(self.frame, self.heaviest)
        publication = self.recoding.publish(forest, block.partitions, range(forest.record_count))
        return tally(publication, forest, self.metrics)
