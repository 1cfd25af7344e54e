"""The search for classes: run the stages of a policy in order, each with its engines.

``search_tables`` is the search where each sensitive table has groups of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines import ENGINES
from hierdata.engines.base import StepInput, Trial, silent
from hierdata.engines.buckets.attainable import (
    JointCounts,
    coordinates_of,
    draw_rows,
    explain_left_out,
    explain_shortage,
    keep_most,
)
from hierdata.engines.compiler.ahead import KernelCall, compiling_ahead
from hierdata.engines.compiler.cache import is_first_compilation
from hierdata.engines.enforce import coalesce
from hierdata.engines.guarding.contents import GroupContents
from hierdata.engines.guarding.guard import contents_of, kept_by_record, suppressed_are_safe
from hierdata.engines.jit import announcing_compilation
from hierdata.executors import Held, HeldHere
from hierdata.executors.local import processors
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import Partition
from hierdata.forest.sensitive_facts import hide
from hierdata.forest.worth import NOTHING
from hierdata.ground.errors import PromiseError
from hierdata.ground.progress import Progress
from hierdata.pipeline.block import Block
from hierdata.pipeline.guard_blocks import Guard, explain_unguarded
from hierdata.policy.lint.attainable import shortfalls
from hierdata.policy.plan.plan import Prepared
from hierdata.policy.plan.stages import Stage
from hierdata.release.recodings import Recoding

NO_CLASS = "no class that was tried satisfies all models, and every record would be suppressed"


@contextmanager
def announcing(notice: Callable[[str], None] | None) -> Iterator[None]:
    """Call ``notice`` if kernels must be compiled first, and were never compiled on this machine."""
    if notice is None:
        yield
        return
    message = "compiling for this machine, once: about half a minute; later runs start at once"

    def announce() -> None:
        if is_first_compilation():
            notice(message)

    with announcing_compilation(announce):
        yield


def search(
    block: Block,
    prepared: Prepared,
    recoding: Recoding,
    rng: np.random.Generator,
    alone: bool,
    progress: Progress,
) -> Block:
    """Run the engines' steps, one vertex type after the other; a step does not see suppressed vertices.

    Returns the block with the partitions as the recoding prepared them, and the forest with its nodes. The
    records are a block of a collection, or ``alone`` the whole collection: then PromiseError is raised if a
    stage finds no class.
    """
    original = forest = block.open_forest(prepared.frame, NOTHING)
    total = forest.record_count

    def report_progress(done: int) -> None:
        progress("clustering", done, total)

    report_progress(0)
    gone = np.zeros(forest.vertex_count, np.bool_)
    partitions = []
    for stage in prepared.stages:
        scope = Scope.of(original, stage.kind, gone)
        if prepared.policy.recoding_traits.separates_values:
            # Ties depend on the order of rows, so groups would reveal neighbours in the input.
            scope = scope.shuffle_rows(rng)
        with compiling_ahead(partial(_list_calls, original, stage), processors() if alone else 1):
            searched = run_steps(original, scope, stage, rng, report_progress)
        of_stage = _StageSearch(block, stage, scope, prepared, recoding)
        forest, partition = of_stage.prepare(searched)
        if alone and partition.class_count == 0:
            raise PromiseError(
                _too_few_by_counts(original, scope, stage, prepared)
                or partition.reason
                or _nothing_is_left(forest, stage, prepared)
                or nothing_holds(prepared)
                or explain_failure(original, scope, stage, rng),
                path=forest.schema.types[stage.kind].path if stage.kind else None,
            )
        if alone:
            forest, partition = of_stage.guard(searched, (forest, partition), rng)
        gone |= partition.representative < 0
        partitions.append(partition)
    return replace(block, forest=hide(forest, partitions), partitions=tuple(partitions))


def run_steps(
    forest: Forest,
    scope: Scope,
    stage: Stage,
    rng: np.random.Generator,
    progress: Callable[[int], None],
) -> Partition:
    """Return the partition of a scope by the steps of a stage, one after the other."""
    partition: Partition | None = None
    for engine, constraints in stage.work():
        assert engine.begins if partition is None else engine.goes_on, f"{engine.kind} is out of place"
        assert not (engine.aligns and scope.kind), f"{engine.kind} partitions whole records"
        partition = engine.find_classes(StepInput(forest, scope, constraints, partition, rng, progress))
    assert partition is not None, "a stage has at least one step"
    return partition


def _list_calls(forest: Forest, stage: Stage) -> list[KernelCall]:
    return [call for engine, constraints in stage.work() for call in engine.calls(forest, constraints)]


Recoded: TypeAlias = tuple[Forest, Partition]
"""A partition, and the forest with the nodes by which the recoding publishes it."""


@dataclass(frozen=True)
class _StageSearch:
    """What one stage of a search of a block makes of the partitions that its steps find."""

    block: Block
    stage: Stage
    scope: Scope
    prepared: Prepared
    recoding: Recoding

    @property
    def forest(self) -> Forest:
        """The forest of the block, without the nodes of the recoding."""
        return self.block.open_forest(self.prepared.frame, NOTHING)

    def prepare(self, partition: Partition) -> Recoded:
        """Prepare a partition as the recoding does, and judge together what will look alike."""
        if self.prepared.policy.recoding_traits.partitions_each_type:
            return self.forest, partition
        forest, partition = self.recoding.prepare(self.forest, partition)
        return forest, coalesce(forest, partition, self.stage.constraints)

    def guard(self, partition: Partition, prepared: Recoded, rng: np.random.Generator) -> Recoded:
        """Guard the suppressed (see ``Guard.mend``); return the forest and partition as prepared again.

        ``partition`` is the one before it was ``prepared``. If it must be mended, the last step is asked
        too to take the suppressed in, and what keeps more is returned. Raises PromiseError if it cannot be
        done.
        """
        mended = self._mend(prepared)
        if mended is prepared:
            return prepared
        ways = [mended]
        if not self.prepared.policy.recoding_traits.partitions_each_type:
            constraints = self.stage.constraints
            step_input = StepInput(self.forest, self.scope, constraints, partition, rng, silent)
            taken = self.stage.steps[-1].take_in(step_input)
            ways += [] if taken is None else [self._mend(self.prepare(taken))]
        possible = [way for way in ways if way is not None]
        if not possible:
            raise PromiseError(explain_unguarded(self.prepared, _whole(self.forest, self.stage)))
        return max(possible, key=lambda way: sum(kept_by_record(*way).tolist()))

    def _mend(self, prepared: Recoded) -> Recoded | None:
        """Return the forest and the partition with the suppressed guarded, None if that cannot be done."""
        blocks = self._open(*prepared)
        mended = self._guard.mend(blocks)
        if mended is blocks:
            return prepared
        if mended is None:
            return None
        (block,) = mended.collect()
        (guarded,) = block.partitions
        forest, partition = self.prepare(guarded)
        same = (partition.equivalence_class == guarded.equivalence_class).all()
        return (forest, partition) if same else None

    def _open(self, forest: Forest, partition: Partition) -> Held[Block]:
        return HeldHere([replace(self.block, forest=forest, partitions=(partition,))])

    @property
    def _guard(self) -> Guard:
        traits = self.prepared.policy.recoding_traits
        aligned = self.stage.steps[0].aligns or not traits.partitions_each_type
        heaviest = self.forest.heaviest
        return Guard(self.prepared.frame, heaviest, self.stage.constraints, traits, aligned, self.scope.rows)


def _too_few_by_counts(forest: Forest, scope: Scope, stage: Stage, prepared: Prepared) -> str:
    """Explain the failure where the counts of the values alone leave no class; "" if they leave one."""
    if not prepared.policy.recoding_traits.separates_values:
        return ""
    constraints = stage.constraints.at(stage.kind)
    cells = JointCounts.of(coordinates_of(forest, scope, constraints), len(scope.rows))
    return explain_shortage(cells, len(scope.rows), constraints.min_class_size)


def _nothing_is_left(forest: Forest, stage: Stage, prepared: Prepared) -> str:
    """Explain the failure of an engine that guards the suppressed itself; "" for others."""
    if not (stage.constraints.guarded and prepared.policy.recoding_traits.uses_one_depth):
        return ""
    whole = _whole(forest, stage)
    return "" if whole.satisfies(stage.constraints) else explain_unguarded(prepared, whole)


def _whole(forest: Forest, stage: Stage) -> GroupContents:
    """Return what all rows of a stage hold."""
    every = np.ones(int((forest.type == stage.kind).sum()), np.bool_)
    return contents_of(forest, stage.kind, stage.constraints, every)


def try_first_step(forest: Forest, stage: Stage, rng: np.random.Generator) -> Mapping[Hashable, Trial]:
    """Return the loss of each alternative of the first step of a stage on these records."""
    engine, constraints = next(stage.work())
    return engine.run_trials(forest, Scope.of(forest, stage.kind), constraints, rng)


def nothing_holds(prepared: Prepared) -> str:
    """Name the models that fail even for all records together, and what they reach; "" if none does."""
    policy = prepared.policy
    short = [f"{policy.spell_path(keys)}: {reason}" for keys, reason in shortfalls(policy, prepared.survey)]
    return f"{NO_CLASS}: {'; '.join(short)}" if short else ""


def explain_failure(forest: Forest, scope: Scope, stage: Stage, rng: np.random.Generator) -> str:
    """Explain why no class was found although all records together would be one.

    If the models limit t-closeness, report how near swaps come to t: they exchange records between the
    classes that the first step finds without this limit.
    """
    remedy = "ask for less; `hierdata lint --data` shows which levels have no room at this k"
    others = stage.constraints.without_mended({"closeness"})
    trees = stage.steps[0].aligns and len(forest.schema.types) > 1
    if trees or len([*others.all()]) == len([*stage.constraints.all()]):
        return f"{NO_CLASS}: {remedy}"
    first = ENGINES["mondrian"](kind="mondrian") if stage.steps[0].aligns else stage.steps[0]
    start = first.find_classes(StepInput(forest, scope, others, None, rng))
    if start.class_count:
        swap = ENGINES["swap"](kind="swap")
        closest = swap.find_classes(StepInput(forest, scope, stage.constraints, start, rng))
        if closest.class_count:
            return f"{NO_CLASS}: the steps {first.kind}, swap come within the t that is asked for"
        if closest.reason:
            return closest.reason
    return f"{NO_CLASS}: {remedy}"


_OTHER_CHOICES = 4
"""Choices of records that are tried where tables could not group nearly all of the first."""
_NEARLY_ALL = 0.99


def search_tables(
    forest: Forest, prepared: Prepared, recoding: Recoding, rng: np.random.Generator, progress: Progress
) -> tuple[Forest, tuple[Partition, ...]]:
    """Return the classes of quasi-identifiers, and for each sensitive table its groups, of the same records.

    Also returns the forest with the nodes of the recoding (see ``search``).

    First the records are chosen for all tables together: as many as can be published (``keep_most``). A
    record that one of the searches suppresses all the same is in no class and no group: records are chosen
    again without it, until none suppresses another one. Where that loses more than a few, other choices of
    as many records are tried too, and the best is taken. Tables come first, since they alone ask for
    diversity. The records are a whole collection. Raises PromiseError if no class is found, or if the
    suppressed must satisfy the models and do not.
    """
    tables = recoding.divide_attributes(forest, forest.schema.root)
    run = _TableSearch(forest, prepared, recoding, tables, rng, progress)
    best = run.search()
    for _ in range(_OTHER_CHOICES if run.is_short else 0):
        other = replace(run, vary=True)
        with suppress(PromiseError):
            of_other = other.search()
            if other.gone.sum() < run.gone.sum():
                run, best = other, of_other
    forest, partitions = best
    asked = prepared.constraints
    if asked.guarded and run.gone.any() and not suppressed_are_safe(forest, partitions[0], asked):
        every = np.ones(forest.record_count, np.bool_)
        raise PromiseError(explain_unguarded(prepared, contents_of(forest, 0, asked, every)))
    return best


@dataclass
class _TableSearch:
    """A search, with the records that are ``gone`` so far, and why."""

    forest: Forest
    prepared: Prepared
    recoding: Recoding
    tables: tuple[tuple[int, ...], ...]
    rng: np.random.Generator
    progress: Progress
    vary: bool = False
    """Whether to take any of the choices of the most records, instead of the same one each time."""

    def __post_init__(self) -> None:
        self.gone: NDArray[np.bool_] = np.zeros(self.forest.record_count, np.bool_)
        self.is_short = False
        """Whether searches suppressed more than a few of the records that were chosen."""
        self._reason = ""
        self._lost: Counter[str] = Counter()
        of_tables = self.prepared.stages[0].constraints
        scope = Scope.of(self.forest, 0)
        by_table = (of_tables.on_attributes(0, table) for table in self.tables)
        coordinates = [axis for table in by_table for axis in coordinates_of(self.forest, scope, table)]
        self._cells = JointCounts.of(coordinates, self.forest.record_count)

    def search(self) -> tuple[Forest, tuple[Partition, ...]]:
        """Choose records and search, until no search suppresses another one."""
        self._choose_records()
        chosen = int((~self.gone).sum())
        while (round_ := self._search_round()) is None:
            self._choose_records()
        self.is_short = int((~self.gone).sum()) < _NEARLY_ALL * chosen
        return round_

    def _choose_records(self) -> None:
        """Leave out as few records as possible so that no table has too much of a value; note them as gone.

        Where the suppressed must satisfy the models, they are none or enough to do so. Raises PromiseError.
        """
        asked, cells = self.prepared.constraints, self._cells
        there = cells.count(~self.gone)
        if asked.guarded and any(cells.excesses(cells.count())):
            raise PromiseError(explain_unguarded(self.prepared, _whole(self.forest, self.prepared.stages[0])))
        least = self.prepared.stages[1].constraints.min_class_size
        left_out = cells.count(self.gone) if asked.guarded and self.gone.any() else None
        kept = keep_most(cells, there, left_out, least, self.rng if self.vary else None)
        if kept.sum() < least and (why := explain_shortage(cells, self.forest.record_count, least)):
            raise PromiseError(why)
        if 0 < kept.sum() < there.sum():
            self._reason = self._reason or explain_left_out(cells, int(kept.sum()), len(self.gone))
            chosen = draw_rows(cells, kept, ~self.gone, self.rng)
            self._lost += Counter(records_that_no_group_accepts=int((~self.gone & ~chosen).sum()))
            self.gone |= ~chosen

    def _search_round(self) -> tuple[Forest, tuple[Partition, ...]] | None:
        """Search groups and classes of the records that are left; None if some were suppressed."""
        before = int(self.gone.sum())
        of_tables, of_classes = self.prepared.stages
        groups = [self._partition(of_tables.of_table(table)) for table in self.tables]
        if self.gone.sum() > before:
            return None
        forest, classes = self.recoding.prepare(self.forest, self._partition(of_classes))
        classes = coalesce(forest, classes, of_classes.constraints)
        self._note_lost(classes)
        if self.gone.sum() > before:
            return None
        costs = classes.costs + sum((group.costs for group in groups), Counter[str]()) + self._lost
        return forest, (replace(classes, costs=costs, reason=self._reason), *groups)

    def _partition(self, stage: Stage) -> Partition:
        """Return the partition of a stage, and note what it suppresses."""
        forest = self.forest
        scope = Scope.of(forest, 0, self.gone)
        # Ties depend on the order of rows, so groups would reveal neighbours in the input.
        scope = scope.shuffle_rows(self.rng)
        total = forest.record_count
        partition = run_steps(
            forest, scope, stage, self.rng, lambda done: self.progress("clustering", done, total)
        )
        if not partition.class_count:
            reason = partition.reason or nothing_holds(self.prepared)
            raise PromiseError(reason or explain_failure(forest, scope, stage, self.rng))
        self._note_lost(partition)
        return partition

    def _note_lost(self, partition: Partition) -> None:
        lost = (partition.equivalence_class < 0) & ~self.gone
        self._reason = self._reason or partition.reason
        self._lost += Counter(records_that_no_group_accepts=int(lost.sum()))
        self.gone |= lost
