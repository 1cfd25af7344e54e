"""The search where each sensitive table has groups of its own, beside the classes of quasi-identifiers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.enforce import coalesce
from hierdata.engines.guarding.guard import contents_of, suppressed_are_safe
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import Partition
from hierdata.ground.errors import PromiseError
from hierdata.ground.progress import Progress
from hierdata.pipeline.search import explain_failure, nothing_holds, run_steps
from hierdata.pipeline.unguarded import explain_unguarded
from hierdata.policy.plan.plan import Prepared
from hierdata.policy.plan.stages import Stage
from hierdata.release.recodings import Recoding


def search_tables(
    forest: Forest, prepared: Prepared, recoding: Recoding, rng: np.random.Generator, progress: Progress
) -> tuple[Forest, tuple[Partition, ...]]:
    """Return the classes of quasi-identifiers, and for each sensitive table its groups, of the same records.

    Also returns the forest with the nodes of the recoding (see ``search``).

    A record that one of the searches suppresses is in no class and no group: all are searched again without
    it, until none suppresses another one. Tables come first, since they alone ask for diversity. The records
    are a whole collection. Raises PromiseError if no class is found, or if the suppressed must satisfy the
    models and do not.
    """
    tables = recoding.divide_attributes(forest, forest.schema.root)
    run = _Run(forest, prepared, recoding, tables, rng, progress)
    while (found := run.search_round()) is None:
        pass
    forest, partitions = found
    asked = prepared.constraints
    if asked.guarded and run.gone.any() and not suppressed_are_safe(forest, partitions[0], asked):
        every = np.ones(forest.record_count, np.bool_)
        raise PromiseError(explain_unguarded(prepared, contents_of(forest, 0, asked, every)))
    return found


@dataclass
class _Run:
    """A search, with the records that are ``gone`` so far, and why."""

    forest: Forest
    prepared: Prepared
    recoding: Recoding
    tables: tuple[tuple[int, ...], ...]
    rng: np.random.Generator
    progress: Progress

    def __post_init__(self) -> None:
        self.gone: NDArray[np.bool_] = np.zeros(self.forest.record_count, np.bool_)
        self._reason = ""
        self._lost: Counter[str] = Counter()

    def search_round(self) -> tuple[Forest, tuple[Partition, ...]] | None:
        """Search groups and classes of the records that are left; None if some were suppressed."""
        before = int(self.gone.sum())
        of_tables, of_classes = self.prepared.stages
        groups = [self._partition(of_tables.of_table(own)) for own in self.tables]
        if self.gone.sum() > before:
            return None
        forest, classes = self.recoding.prepare(self.forest, self._partition(of_classes))
        classes = coalesce(forest, classes, of_classes.constraints)
        self._note_lost(classes)
        if self.gone.sum() > before:
            return None
        costs = classes.costs + sum((own.costs for own in groups), Counter[str]()) + self._lost
        return forest, (replace(classes, costs=costs, reason=self._reason), *groups)

    def _partition(self, stage: Stage) -> Partition:
        """Return the partition of a stage, and note what it suppresses."""
        forest = self.forest
        scope = Scope.of(forest, 0, self.gone)
        # Ties depend on the order of rows, so groups would reveal neighbours in the input.
        scope = scope.shuffle_rows(self.rng)
        total = forest.record_count
        found = run_steps(
            forest, scope, stage, self.rng, lambda done: self.progress("clustering", done, total)
        )
        if not found.class_count:
            reason = found.reason or nothing_holds(self.prepared)
            raise PromiseError(reason or explain_failure(forest, scope, stage, self.rng))
        self._note_lost(found)
        return found

    def _note_lost(self, found: Partition) -> None:
        lost = (found.equivalence_class < 0) & ~self.gone
        self._reason = self._reason or found.reason
        self._lost += Counter(records_that_no_group_accepts=int(lost.sum()))
        self.gone |= lost
