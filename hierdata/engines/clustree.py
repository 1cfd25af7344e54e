"""Clustering of records by the loss of aligning their trees: MLevCluTree and ClusTree (ML section 4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from hierdata.engines.base import Constraints, Engine, silent

if TYPE_CHECKING:
    import numpy as np

    from hierdata.forest import Forest, Scope
    from hierdata.partition import Partition


class CluStree(Engine):
    """Grow classes of equal size around random seed records, the cheapest alignment first.

    The class size is the least that all models allow. For a seed record all that remain are scanned once by
    the loss of aligning them with it; of the ``window`` nearest, the one whose alignment with the class
    representative is cheapest joins, until the class is full. ``pairing`` tells how children are matched:
    ``greedy`` as published (each child of the smaller side takes its cheapest free partner, in order),
    ``benefit`` compares what a pair saves against suppressing both (erratum ML-12), ``optimal`` solves the
    assignment (ML-11) and of equal losses takes one with the most pairs.

    Share caps are kept while a class grows (count <= share * size), every model is asked when the class
    closes; a vertex that fails then is suppressed with its subtree in all members, at the root the whole
    class (DECISIONS 22, 23).
    """

    aligns: ClassVar[bool] = True

    kind: Literal["clustree"] = "clustree"
    on: None = None
    window: int = Field(default=50, ge=1)
    pairing: Literal["greedy", "benefit", "optimal"] = "optimal"

    def step(
        self,
        forest: Forest,
        scope: Scope,
        constraints: Constraints,
        partition: Partition | None,
        rng: np.random.Generator,
        progress: Callable[[int], None] = silent,
    ) -> Partition:
        """Cluster all records; this engine starts from records, not from an earlier partition."""
        assert partition is None, "clustree starts from single records"
        assert scope.kind == 0, "clustree partitions whole records"
        from hierdata.engines.aligning.run import Run

        return Run(forest, constraints, self.window, self.pairing).run(rng, progress)
