"""The sweep, the gathering and the passes against their twin, and against the optimum of tiny tables."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import numpy as np
import pytest

from hierdata.engines import Constraints
from hierdata.engines.base import StepInput
from hierdata.engines.rows.table import RowLine, dense, losses_of, nodes_of
from hierdata.engines.sweep.engine import Sweep
from hierdata.engines.sweep.run import (
    Answers,
    close_classes,
    gather_classes,
    improve_classes,
    order_columns,
    pack_line,
)
from hierdata.forest.forest import Scope
from tests import naive_sweep
from tests.cases import with_worlds
from tests.engines.test_mondrian_twin import SETTINGS, judged, models, random_table
from tests.small_tables import Table

Setting = list[tuple[str, dict[str, Any]]]
every_setting = pytest.mark.parametrize("setting", SETTINGS, ids=str)
each_table = pytest.mark.parametrize(("missing", "below"), [(False, False), (True, False), (False, True)])


def twin_of(own: Table, constraints: Constraints) -> naive_sweep.Sweep:
    return naive_sweep.Sweep(
        nodes_of(own.forest, Scope.of(own.forest, own.kind)).tolist(),
        own.forest.hierarchies[own.kind],
        [losses.tolist() for losses in own.forest.losses[own.kind]],
        constraints.min_class_size,
        partial(judged, own, constraints),
    )


class Compiled:
    """What the compiled loops need of a table."""

    def __init__(self, own: Table, constraints: Constraints) -> None:
        scope = Scope.of(own.forest, own.kind)
        self.line = order_columns(RowLine.of(own.forest, scope))
        self.lines = pack_line(self.line)
        self.answers = Answers(own.forest, scope, constraints)


def sets(classes: np.ndarray[Any, Any], first: int = 0) -> list[frozenset[int]]:
    """The rows of each class from a number on; some may have none."""
    return [
        frozenset(np.flatnonzero(classes == at).tolist())
        for at in range(first, int(classes.max(initial=-1)) + 1)
    ]


@with_worlds(2, 25)
@every_setting
@each_table
def test_the_nodes_close_what_their_twin_closes(
    setting: Setting, missing: bool, below: bool, worlds: int
) -> None:
    made = 0
    for seed in range(worlds):
        own = random_table(seed, missing=missing, below=below)
        constraints = own.bind(*models(setting))
        compiled = Compiled(own, constraints)
        found = sets(close_classes(compiled.line, compiled.answers, lambda done: None))
        assert set(found) == set(twin_of(own, constraints).closed()), seed
        made += len(found)
    assert made


@every_setting
@each_table
@with_worlds(2, 36)
def test_rows_are_gathered_as_by_the_twin(setting: Setting, missing: bool, below: bool, worlds: int) -> None:
    made = 0
    for seed in range(worlds):
        own = random_table(seed, missing=missing, below=below)
        constraints = own.bind(*models(setting))
        compiled = Compiled(own, constraints)
        rng = random.Random(seed)
        rows = len(compiled.line.places)
        before = dense(np.array([rng.choice((-1, -1, 0)) for _ in range(rows)]))
        after = gather_classes(
            compiled.line, compiled.lines, compiled.answers, before, np.random.default_rng(seed)
        )
        assert (after[before == 0] == 0).all()
        left = np.flatnonzero(before < 0).tolist()
        found = sets(after, int(before.max()) + 1)
        assert found == twin_of(own, constraints).gathered(left), seed
        made += len(found)
    assert made


@each_table
@with_worlds(2, 36)
def test_passes_change_what_the_twin_changes(missing: bool, below: bool, worlds: int) -> None:
    changed = 0
    for seed, setting in enumerate(worlds * SETTINGS):
        own = random_table(100 + seed, missing=missing, below=below)
        constraints = own.bind(*models(setting))
        compiled, twin = Compiled(own, constraints), twin_of(own, constraints)
        before = by_chance(twin, seed)
        passes = seed % 3 + 1
        after = improve_classes(compiled.lines, compiled.answers, before, passes)
        found = sets(after)
        count = int(before.max(initial=-1)) + 1
        found += [frozenset()] * (count - len(found))
        assert found == naive_sweep.Passes(twin, sets(before)).run(passes), (seed, setting)
        changed += bool((after != before).any())
    assert changed > 5 * worlds // 3


def by_chance(twin: naive_sweep.Sweep, seed: int) -> np.ndarray[Any, Any]:
    """Classes by chance that hold: runs of a random order."""
    rows = len(twin.nodes)
    order = np.random.default_rng(seed).permutation(rows)
    classes, open_ones, made = np.full(rows, -1), [], 0
    for row in order.tolist():
        open_ones.append(row)
        if twin.may_be(frozenset(open_ones)):
            classes[open_ones] = made
            made, open_ones = made + 1, []
    return classes


@with_worlds(6, 100)
def test_no_pass_makes_the_loss_larger_and_the_optimum_is_a_bound(worlds: int) -> None:
    reached = 0
    for seed in range(worlds):
        own = random_table(seed)
        scope = Scope.of(own.forest)
        if len(scope.rows) > 7:
            continue
        for setting in SETTINGS:
            constraints = own.bind(*models(setting))
            least = naive_sweep.best(twin_of(own, constraints))
            before = None
            for passes in range(3):
                partition = Sweep(passes=passes).find_classes(
                    StepInput(own.forest, scope, constraints, None, np.random.default_rng(1))
                )
                if (partition.equivalence_class < 0).any():
                    continue
                assert least is not None
                loss = int(losses_of(own.forest, scope, partition.equivalence_class).sum())
                assert loss >= least
                assert before is None or loss <= before
                before = loss
            reached += before is not None and before == least
    assert reached > 20 * worlds // 100
