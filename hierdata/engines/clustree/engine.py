"""Clustering of records by the loss of aligning their trees: MLevCluTree and ClusTree (ML section 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, StrictBool

from hierdata.domains.bounds import Compared
from hierdata.engines.base import Engine, StepInput
from hierdata.ground.errors import PolicyError

if TYPE_CHECKING:
    from hierdata.forest.partition import Partition


class CluStree(Engine):
    """Grow classes around random seed records, the cheapest alignment first.

    A class has ``size`` records, by default the fewest that all models allow. All remaining records are
    scanned once by the loss of aligning them with the seed record. Of the ``window`` nearest, the one whose
    alignment with the class representative is cheapest joins, until the class is full. Alignments that a
    lower bound rules out (``lower_bounds``) are skipped, with the same result. ``pairing`` states how
    children are matched: ``greedy`` as published (each child of the smaller side takes its cheapest free
    partner, in order), ``benefit`` compares what a pair saves against suppressing both (erratum ML-12),
    ``optimal`` solves the assignment (ML-11), with the most pairs among equal losses.

    Share caps are kept while a class grows (count <= share * size); every other model is checked when the
    class is full. If one then fails at the root, ``grow`` lets the cheapest fitting records of the window
    join, one by one, until all hold; if none is left, the class is given up with its first ``size`` records.
    A vertex below the root that fails in the end is suppressed with its subtree in all members. Without
    ``grow`` a class that fails at the root is given up at once.

    Raises PolicyError when ``size`` is smaller than the models allow.
    """

    aligns: ClassVar[bool] = True

    kind: Literal["clustree"] = "clustree"
    on: None = None
    window: Compared = 50
    pairing: Literal["greedy", "benefit", "optimal"] = "optimal"
    size: Compared | None = Field(
        default=None, description="records in a class; by default the fewest allowed"
    )
    grow: StrictBool = Field(
        default=True, description="let a class that does not satisfy the models take in more of its window"
    )

    def find_classes(self, step: StepInput) -> Partition:
        """Cluster all records; this engine starts from records, not from an earlier partition."""
        least = step.constraints.min_class_size
        size = least if self.size is None else self.size
        if size < least:
            raise PolicyError(
                f"clustree: size {size} is too small: the models need {least} records in a class"
            )
        from hierdata.engines.clustree.run import ClusTreeRun

        run = ClusTreeRun(step.forest, step.constraints, size, self.window, self.pairing, self.grow)
        return run.run(step.scope.records, step.rng, step.progress)
