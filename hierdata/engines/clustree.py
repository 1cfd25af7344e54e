"""Clustering of records by the loss of aligning their trees: MLevCluTree and ClusTree (ML section 4, algorithms 1 and 2)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from hierdata.engines.base import Constraints, Engine
from hierdata.privacy.base import ClassView, Constraint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hierdata.forest import Forest
    from hierdata.partition import Partition

Pairing = Literal["greedy", "benefit", "optimal"]


class CluStree(Engine):
    """Grow classes of equal size around random seed records, the cheapest alignment first.

    The class size is the least that all models allow. For a seed record all that remain are scanned once by the loss of
    aligning them with it; of the ``window`` nearest, the one whose alignment with the class representative is
    cheapest joins, until the class is full. ``pairing`` tells how children are matched: ``greedy`` as
    published (each child of the smaller side takes its cheapest free partner, in order), ``benefit`` compares
    what a pair saves against suppressing both (erratum ML-12), ``optimal`` solves the assignment (ML-11).

    Share caps are kept while a class grows (count <= share * size), every model is asked when the class closes; a
    vertex that fails then is suppressed with its subtree in all members, at the root the whole class (DECISIONS 22, 23).
    """

    kind: Literal["clustree"] = "clustree"
    window: int = 50
    pairing: Pairing = "optimal"

    def step(
        self, forest: Forest, constraints: Constraints, partition: Partition | None, rng: np.random.Generator
    ) -> Partition:
        """Cluster all records; a partition of an earlier step is refused, as this engine starts from records."""
        assert partition is None, "clustree starts from single records"
        return _Run(forest, constraints, self.window, self.pairing).run(rng)


class _Run:
    """One run over one forest: packed arrays, buffers and what has been found so far."""

    def __init__(self, forest: Forest, constraints: Constraints, window: int, pairing: Pairing) -> None:
        import numpy as np

        from hierdata.engines.arrays import first_nodes, pack_rows, pack_rules, share_caps
        from hierdata.kernels import anonytree
        from hierdata.kernels.arrays import scratch

        self._forest = forest
        self._constraints = constraints
        self._size = constraints.min_class_size
        self._window = max(window, self._size - 1)
        self._pairing = {
            "greedy": anonytree.GREEDY,
            "benefit": anonytree.BENEFIT,
            "optimal": anonytree.OPTIMAL,
        }[pairing]
        caps = share_caps(constraints)
        self._rows, self._first_slot = pack_rows(forest, caps)
        self._rules = pack_rules(forest, caps, self._size)
        vertices = int(np.diff(forest.roots).max(initial=1))
        width = self._first_slot + max(map(len, caps), default=0) * self._size
        self._scratch = scratch(
            depth=len(forest.schema.types),
            children=int(forest.child_count.max(initial=1)),
            nodes=len(self._rules.losses),
            frame=anonytree.FRAME,
            assigning=pairing == "optimal",
        )
        self._queue = np.empty((vertices, 2), np.int64)
        self._joined = np.empty(self._size, np.int64)
        self._representative, self._members, self._new, self._new_members = (
            np.empty((vertices, width), np.int32),
            np.empty((self._size, vertices), np.int64),
            np.empty((vertices, width), np.int32),
            np.empty((self._size, vertices), np.int64),
        )
        self._first_nodes = first_nodes(forest)
        self._closing = _closing_attributes(forest, constraints)
        self._class_of = np.full(forest.record_count, -1, np.int64)
        self._stands_for = np.full(forest.vertex_count, -1, np.int64)
        self._nodes = forest.nodes.copy()
        self._costs: Counter[str] = Counter()
        self._classes = 0

    def run(self, rng: np.random.Generator) -> Partition:
        import numpy as np

        from hierdata.kernels.growth import grow
        from hierdata.partition import Partition

        forest, size = self._forest, self._size
        remaining = np.arange(forest.record_count, dtype=np.int64)
        draws = rng.integers(0, 2**63 - 1, size=forest.record_count // size + 1)
        for draw in draws:
            if len(remaining) < size:
                break
            seed = remaining[int(draw) % len(remaining)]
            count, lost_at, evaluated = grow(
                seed, remaining, self._window, self._pairing, forest.scale, self._first_slot,
                *self._scratch, self._queue, self._joined, self._representative, self._members,
                self._new, self._new_members, forest.roots, self._rows, *self._rules,
            )  # fmt: skip
            self._costs["pair_losses"] += evaluated
            remaining = remaining[~np.isin(remaining, self._joined)]
            if lost_at == 1:
                self._costs["records_lost_with_a_seed"] += size
            elif lost_at > 1:
                self._costs["records_lost_in_a_dead_end"] += size
            else:
                self._close(count)
        self._costs["records_left_over"] += len(remaining)
        return Partition(self._class_of, self._stands_for, self._nodes, self._costs)

    def _close(self, count: int) -> None:
        """Ask the models, suppress what fails, and enter the class into the partition."""
        import numpy as np

        from hierdata.kernels.arrays import FIRST_NODE, KIND

        rows, members = self._representative[:count], self._members[:, :count]
        kept = np.ones(count, np.bool_)
        if self._closing:
            self._suppress_failing(kept, rows, members)
        if not kept[0]:
            self._costs["records_lost_at_closing"] += self._size
            return
        self._costs["vertices_lost_at_closing"] += int((~kept).sum()) * self._size
        self._stands_for[members[:, kept]] = members[0, kept]
        for kind, starts in enumerate(self._first_nodes):
            chosen = np.flatnonzero(kept & (rows[:, KIND] == kind))
            for position, start in enumerate(starts):
                at = self._forest.first_node[members[0, chosen]] + position
                self._nodes[at] = rows[chosen, FIRST_NODE + position] - start
        self._class_of[self._joined] = self._classes
        self._classes += 1

    def _suppress_failing(
        self, kept: NDArray[np.bool_], rows: NDArray[np.int32], members: NDArray[np.int64]
    ) -> None:
        """Clear ``kept`` at every vertex where a model fails, and below it."""
        from hierdata.kernels.arrays import CHILD_COUNT, FIRST_CHILD, KIND

        forest = self._forest
        for v in range(len(kept)):
            for position, constraints in self._closing.get(int(rows[v, KIND]), ()):
                codes = forest.sensitive[forest.first_sensitive[members[:, v]] + position].tolist()
                view = ClassView(self._size, Counter(code for code in codes if code >= 0))
                if kept[v] and not all(constraint.holds(view) for constraint in constraints):
                    kept[v] = False
            if not kept[v]:
                first = rows[v, FIRST_CHILD]
                kept[first : first + rows[v, CHILD_COUNT]] = False


def _closing_attributes(
    forest: Forest, constraints: Constraints
) -> dict[int, list[tuple[int, tuple[Constraint, ...]]]]:
    """The sensitive attributes that must be looked at when a class closes, by vertex type.

    A share cap is settled by its growth check when every record has a value (erratum ML-8).
    """
    import numpy as np

    closing: dict[int, list[tuple[int, tuple[Constraint, ...]]]] = {}
    for kind, attributes in enumerate(constraints.on_values):
        vertices = np.flatnonzero(forest.type == kind)
        for position, bound in enumerate(attributes):
            some_missing = bool((forest.sensitive[forest.first_sensitive[vertices] + position] < 0).any())
            asked = tuple(one for one in bound if one.caps is None or some_missing)
            if asked:
                closing.setdefault(kind, []).append((position, asked))
    return closing
