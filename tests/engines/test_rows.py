"""What engines on rows share, against the obvious way: joins, contents, leftovers, partitions."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from hierdata.engines import Constraints
from hierdata.engines.rows import leftovers
from hierdata.engines.rows.constraints import Contents, check_classes
from hierdata.engines.rows.leftovers import attach
from hierdata.engines.rows.table import dense, dissolve_failing, joins, nodes_of, partition_of
from hierdata.forest.partition import SUPPRESSED
from hierdata.metrics import METRICS
from hierdata.privacy import EntropyLDiversity, FrequencyLDiversity, KAnonymity, LEDiversity
from hierdata.privacy.base import ClassView, Constraint
from tests import naive_mbf as naive
from tests.cases import for_each
from tests.semantic_tables import Table, classes_of

Parents = dict[str, str | None]
TREE: Parents = {"r": None, "a": "r", "b": "r", "x": "a", "y": "a", "z": "b", "w": "b", "d": "r"}
VALUES = ("x", "y", "z", "w", "d", None)


def random_table(seed: int, below: bool = False, attributes: int = 1) -> tuple[Table, np.ndarray[Any, Any]]:
    """A table and classes of its rows, some left out."""
    rng = random.Random(seed)
    count = rng.randint(1, 30)
    rows = [[rng.choice(VALUES) for _ in range(attributes)] for _ in range(count)]
    ages = [rng.randint(0, 99) for _ in range(count)]
    owners = sorted(rng.randrange(1 + count // 2) for _ in range(count)) if below else None
    if owners is not None:
        owners = [sum(a != b for a, b in pairwise(owners[: at + 1])) for at in range(count)]
    classes = np.array([rng.randint(-1, count // 3) for _ in range(count)], np.int64)
    return Table([TREE] * attributes, rows, ages, owners), dense(classes)


def members(classes: np.ndarray[Any, Any]) -> list[list[int]]:
    return [np.flatnonzero(classes == own).tolist() for own in range(int(classes.max(initial=-1)) + 1)]


def codes(table: Table, at: int = 0) -> list[int]:
    first = table.forest.first_sensitive[table.scope.vertices]
    found: list[int] = table.forest.sensitive[first + at].tolist()
    return found


@for_each("seed", range(40), few=10)
def test_joins_are_the_deepest_nodes_above_all_members(seed: int) -> None:
    table, classes = random_table(seed)
    nodes = nodes_of(table.forest, table.scope)
    found = joins(table.forest.hierarchies[0], nodes, classes)
    for own, joined in zip(members(classes), found[:, 0].tolist(), strict=True):
        above = [set(table.age.ancestors[node]) - {-1} for node in nodes[own, 0].tolist()]
        shared = set.intersection(*above)
        assert joined == max(shared, key=table.age.ancestors[nodes[own[0], 0]].index)


@for_each("below", [False, True])
@for_each("seed", range(20), few=5)
def test_a_partition_shows_members_by_the_first_and_nothing_below_what_is_gone(
    seed: int, below: bool
) -> None:
    table, classes = random_table(seed, below)
    partition = partition_of(
        table.forest, table.scope, np.where(classes < 0, SUPPRESSED, classes * 7), Counter(given=3), "why"
    )
    assert classes_of(partition) == members(classes)
    assert (partition.kind, partition.costs, partition.reason) == (table.kind, Counter(given=3), "why")
    for own in members(classes):
        vertices = table.scope.vertices[own]
        assert set(partition.representative[vertices].tolist()) == {int(vertices[0])}
    gone = table.scope.vertices[classes == SUPPRESSED]
    assert (partition.representative[gone] == SUPPRESSED).all()
    others = np.setdiff1d(np.arange(table.forest.vertex_count), table.scope.vertices)
    assert (partition.representative[others] == others).all()


@for_each("seed", range(40), few=10)
def test_contents_are_the_counts_of_each_class(seed: int) -> None:
    table, classes = random_table(seed)
    column = np.array(codes(table), np.int64)
    contents = Contents(classes, column)
    for number, own in enumerate(members(classes)):
        counted = Counter(code for code in column[own].tolist() if code >= 0)
        assert contents.views[contents.of_class[number]] == ClassView(len(own), dict(counted))
    seen = {(view.records, *sorted(view.counts.items())) for view in contents.views}
    assert len(seen) == len(contents.views), "classes alike share a view"


def holds(constraints: Constraints, table: Table, own: list[int]) -> bool:
    def view(at: int) -> ClassView:
        column = codes(table, at)
        return ClassView(len(own), Counter(column[row] for row in own if column[row] >= 0))

    bound: list[tuple[Constraint, int]] = [(one, 0) for one in constraints.on_records]
    bound += [(one, at) for at, some in enumerate(constraints.on_values[table.kind]) for one in some]
    return all(one.holds(view(at)) for one, at in bound)


@for_each("below", [False, True])
@for_each("seed", range(40), few=10)
def test_leftovers_join_wherever_every_model_and_record_allows(seed: int, below: bool) -> None:
    table, classes = random_table(seed, below, attributes=1 + seed % 2)
    bound = table.bind(LEDiversity(l=1, e=1)) if seed % 3 else table.bind(FrequencyLDiversity(l="4/3"))
    constraints = Constraints((KAnonymity(k=1 + seed % 2).bind(None),), bound.on_values)
    right = check_classes(table.forest, table.scope, constraints, classes)
    assert right.tolist() == [holds(constraints, table, own) for own in members(classes)]

    classes = dissolve_failing(classes, ~right)
    for own in members(classes):
        for a, b in pairwise(own):
            if table.scope.records[a] == table.scope.records[b]:
                classes[b] = SUPPRESSED
    classes = dense(classes)
    classes = dissolve_failing(classes, ~check_classes(table.forest, table.scope, constraints, classes))
    left = np.flatnonzero(classes == SUPPRESSED)
    after = attach(table.forest, table.scope, constraints, classes, left, np.random.default_rng(seed))
    assert (after[classes >= 0] == classes[classes >= 0]).all()
    for own in members(after):
        assert holds(constraints, table, own)
        assert len(set(table.scope.records[own].tolist())) == len(own)
    if members(classes):
        for row in np.flatnonzero(after == SUPPRESSED).tolist():
            fitting = [
                own
                for own in members(after)
                if holds(constraints, table, [*own, row])
                and table.scope.records[row] not in table.scope.records[own]
            ]
            assert not fitting or seed % 3 == 0, "a share that grows with the class may leave room later"


def test_the_nearest_class_is_taken_then_the_smaller_then_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    ages = [10, 11, 30, 31, 30, 90, 91, 12]
    rows: list[list[str | None]] = [[None]] * 8
    table = Table([TREE], rows, ages)
    constraints = Constraints((KAnonymity(k=2).bind(None),), (((),),))

    def joined(classes: list[int], leftover: int) -> int:
        before = np.array(classes, np.int64)
        after = attach(
            table.forest, table.scope, constraints, before, np.array([leftover]), np.random.default_rng(0)
        )
        return int(after[leftover])

    assert joined([0, 0, 1, 1, 1, 2, 2, -1], 7) == 0, "10 to 14 is narrower than 0 to 99"
    assert joined([0, 0, 1, 1, 1, -1, 0, 1], 5) == 0, "all joins are the root: three rows before four"
    assert joined([1, 1, 0, 0, -1, -1, 1, 0], 5) == 0, "all alike: the lower number"
    monkeypatch.setattr(leftovers, "_AFFORDED", 0)
    monkeypatch.setattr(leftovers, "_COMPARED", 1)
    assert joined([0, 0, 1, 1, 1, 2, 2, -1], 7) == 0, "eight distances are enough for three classes"


@for_each("window", [0, 2**24])
@for_each("below", [False, True])
@for_each("seed", range(30), few=4)
def test_a_leftover_goes_where_the_twin_puts_it(
    seed: int, below: bool, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a window of nothing, classes are looked at until one accepts: to any, if there is one."""
    monkeypatch.setattr(leftovers, "_AFFORDED", window)
    monkeypatch.setattr(leftovers, "_COMPARED", 0)
    table, classes = random_table(seed, below, attributes=1 + seed % 2)
    model = (LEDiversity(l=1, e=1), FrequencyLDiversity(l="4/3"), EntropyLDiversity(l="4/3"))[seed % 3]
    constraints = table.bind(model)
    records = table.scope.records
    meetings = np.unique(np.column_stack([classes, records]), axis=0, return_index=True)[1]
    classes = dense(np.where(np.isin(np.arange(len(classes)), meetings), classes, SUPPRESSED))
    classes = dissolve_failing(classes, ~check_classes(table.forest, table.scope, constraints, classes))

    def accepts(own: Sequence[int]) -> bool:
        return holds(constraints, table, list(own)) and len(set(records[list(own)].tolist())) == len(own)

    def far(record: int, own: Sequence[int]) -> int:
        nodes = nodes_of(table.forest, table.scope)[[*own, record]]
        joined = joins(table.forest.hierarchies[table.kind], nodes, np.zeros(len(nodes), np.int64))
        return int(table.forest.losses[table.kind][0][joined[0, 0]])

    for row in np.flatnonzero(classes == SUPPRESSED).tolist():
        rng = np.random.default_rng(seed)
        after = attach(table.forest, table.scope, constraints, classes, np.array([row]), rng)
        wanted = naive.attach(members(classes), [row], accepts, far)
        assert (after[row] >= 0) == any(row in own for own in wanted)
        assert all(map(accepts, members(after)))
        assert not window or members(after) == [sorted(own) for own in wanted]


@for_each("below", [False, True])
@for_each("seed", range(40), few=10)
def test_the_metrics_are_those_of_the_twin(seed: int, below: bool) -> None:
    table, classes = random_table(seed, below, attributes=1 + seed % 2)
    publication = table.published(members(classes))
    attributes = range(len(table.domains))
    columns = [codes(table, at) for at in attributes]
    tuples = [tuple(column[row] for column in columns) for row in range(len(classes))]
    complete = [row for row, values in enumerate(tuples) if min(values) >= 0]
    inside = [[tuples[row] for row in own if row in complete] for own in members(classes)]
    suppressed = sum(classes[row] < 0 for row in complete)
    figures = METRICS["reconstruction_error"]().of(publication, table.forest)
    assert bool(figures) == bool(complete)
    if figures:
        assert figures[0].value == naive.information_loss_total(inside, suppressed)
        assert figures[1].value == figures[0].value / len(complete)

    shown = [
        [str(table.domains[at].values[columns[at][row]]) for row in own if columns[at][row] >= 0]
        for at in attributes
        for own in members(classes)
    ]
    shown = [values for values in shown if len(values) > 1]
    printed, mean = METRICS["diversity_degree"]().of(publication, table.forest)
    places = max(len(shown), 1)
    assert printed.value == sum(naive.diversity_degree(TREE, values) for values in shown) / places
    assert mean.value == sum(naive.mean_pair_distance(TREE, values) for values in shown) / places
