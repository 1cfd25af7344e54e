"""compose against its slow twin: what is known of classes, what is allowed, what is lost; and the optimum."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.domains import DOMAINS
from hierdata.engines.base import StepInput
from hierdata.engines.compiler.plain import without_compiler
from hierdata.engines.compose import kernel as composing
from hierdata.engines.compose.engine import Compose
from hierdata.engines.compose.kernel import (
    ComposedClasses,
    ComposedRows,
    Targets,
    chunks,
    compose,
    fill,
    is_close,
)
from hierdata.engines.compose.run import (
    ClosenessBound,
    PackedModels,
    classes_in,
    combinations,
    rows_of,
    targets_of,
)
from hierdata.engines.mondrian.engine import Mondrian
from hierdata.engines.rows.table import RowLine, class_sizes, codes_of, losses_of, nodes_of
from hierdata.forest.forest import Scope
from hierdata.forest.partition import SUPPRESSED, Partition
from hierdata.privacy import MODELS
from hierdata.privacy.base import Closeness, PrivacyModel
from tests.cases import examples
from tests.naive_compose import Records, exchanged, moved
from tests.small_tables import Table, table

NEAR_STEPS = np.rint(-1024 * np.log((np.arange(64) + 0.5) / 64)).astype(np.int64)


def small(seed: int, rows: int, sensitive: int = 1, below: bool = False) -> Table:
    """Three quasi-identifiers, one of them of steps that do not nest; some values are missing."""
    rng = random.Random(seed)
    domains = [
        DOMAINS["interval"](steps=[1, 2, 5, 10]),
        DOMAINS["flat"](),
        DOMAINS["interval"](steps=[1, 4, 8]),
    ]
    quasi = [[rng.randrange(20), rng.choice("abc"), rng.randrange(16)] for _ in range(rows)]
    values = [
        [None if rng.random() < 0.1 else rng.choice((1, 1, 2, 3)) for _ in range(sensitive)]
        for _ in range(rows)
    ]
    return table(
        domains, quasi, values, sorted(rng.randrange(rows // 2) for _ in range(rows)) if below else None
    )


def closeness(t: str, distance: str = "equal") -> PrivacyModel:
    return MODELS["t-closeness"](t=t, distance=distance)


MODELS_OF = [
    (MODELS["k-anonymity"](k=2), closeness("0.5")),
    (MODELS["k-anonymity"](k=3), closeness("0.3", "ordered")),
    (closeness("0.4"), closeness("0.25", "ordered")),
]


class Work:
    """A table as the kernel sees it, and as the twin does."""

    def __init__(self, own: Table, models: tuple[PrivacyModel, ...], seed: int) -> None:
        self.scope = Scope.of(own.forest, own.kind)
        self.constraints = own.bind(*models)
        self.rng = np.random.default_rng(seed)
        codes = codes_of(own.forest, self.scope)
        values, different = combinations(codes)
        self.targets: Targets = targets_of(
            PackedModels.of(own.forest, self.scope, self.constraints), self.constraints, different
        )
        self.rows: ComposedRows = rows_of(RowLine.of(own.forest, self.scope), self.scope, values, self.rng)
        self.twin = Records(
            nodes_of(own.forest, self.scope).tolist(), codes.tolist(), own.forest.hierarchies[own.kind],
            [losses.tolist() for losses in own.forest.losses[own.kind]], self.constraints, own.kind,
        )  # fmt: skip

    def filled(self, classes: np.ndarray[Any, np.dtype[np.int64]]) -> ComposedClasses:
        tables, _ = classes_in(classes, len(classes), self.rows.places.shape[1], self.targets)
        fill(self.rows, self.targets, tables)
        return tables


def lists(tables: ComposedClasses) -> list[list[int]]:
    return [
        tables.members[own, : tables.sizes[own]].tolist() for own in range(len(tables.sizes))
    ]  # fmt: skip


def check(work: Work, tables: ComposedClasses) -> None:
    """All that is remembered is what the rows say."""
    for own, rows in enumerate(lists(tables)):
        assert sorted(rows) == np.flatnonzero(tables.class_of == own).tolist()
        assert [int(tables.position[row]) for row in rows] == list(range(len(rows)))
        assert len(rows) * int(tables.loss[own]) == work.twin.loss(rows)
        sized = bool(work.targets.sized[len(rows)])
        assert (is_close(own, work.targets, tables) and sized) == work.twin.allowed(rows)
        for row in rows:
            rest = [other for other in rows if other != row]
            lost = work.twin.loss(rest) // len(rest) if rest else 0
            assert int(tables.relief[row]) == work.twin.loss(rows) // len(rows) - lost


@pytest.mark.parametrize("models", MODELS_OF, ids=str)
@pytest.mark.parametrize("below", [False, True])
def test_what_is_remembered_after_a_pass_is_what_the_rows_say(models: tuple[Any, ...], below: bool) -> None:
    changed = 0
    for seed in range(6):
        work = Work(small(seed, 40, 2, below), models, seed)
        classes = np.arange(40, dtype=np.int64) % 3
        if below:
            records = work.scope.records
            classes = np.array([int((records[:at] == records[at]).sum()) for at in range(40)], np.int64)
        tables = work.filled(classes)
        check(work, tables)
        allowed = [work.twin.allowed(rows) for rows in lists(tables)]
        state = np.array([seed + 1], np.uint64)
        for heat in (3, 1, 0):
            before = work.twin.lost(lists(tables))
            changed += compose(heat, NEAR_STEPS, state, work.rows, work.targets, tables)
            check(work, tables)
            assert heat or work.twin.lost(lists(tables)) <= before
            after = [work.twin.allowed(rows) for rows in lists(tables)]
            assert all(now for was, now in zip(allowed, after, strict=True) if was), "a class lost a model"
            for rows in lists(tables):
                assert not below or len({int(work.scope.records[row]) for row in rows}) == len(rows)
    assert changed


@pytest.mark.parametrize("models", MODELS_OF, ids=str)
def test_every_change_is_allowed_and_lost_as_the_twin_says(models: tuple[Any, ...]) -> None:
    """The search itself, run uncompiled: each answer of the two neighbourhoods against the definitions."""
    with without_compiler():
        assert check_changes(models)


def check_changes(models: tuple[Any, ...]) -> int:
    """Check every answer; return how many there were."""
    answers = 0
    work = Work(small(3, 24, 2), models, 3)
    tables = work.filled(np.arange(24, dtype=np.int64) % 3)
    state = np.array([11], np.uint64)
    for row in range(24):
        classes = lists(tables)
        before = work.twin.lost(classes)
        for room in (0, 2**40):
            partner, more = composing._exchange(row, room, state, work.rows, work.targets, tables)
            if partner >= 0:
                one, two = exchanged(classes, row, int(partner))
                assert work.twin.allowed(one)
                assert work.twin.allowed(two)
                kept = [own for own in classes if row not in own and partner not in own]
                assert work.twin.lost([*kept, one, two]) == before + more
                assert more < room
                answers += 1
            other, more = composing._move(row, room, state, work.rows, work.targets, tables)
            if other >= 0:
                one, two = moved(classes, row, classes[other])
                assert work.twin.allowed(one)
                assert work.twin.allowed(two)
                kept = [own for at, own in enumerate(classes) if row not in own and at != other]
                assert work.twin.lost([*kept, one, two]) == before + more
                answers += 1
    return answers


@pytest.mark.parametrize("models", MODELS_OF, ids=str)
def test_chunks_are_the_shortest_that_are_allowed_and_the_last_joins(models: tuple[Any, ...]) -> None:
    found = 0
    for seed in range(8):
        work = Work(small(seed, 40), models, seed)
        sequence = work.rng.permutation(40)
        class_of = np.full(40, SUPPRESSED, np.int64)
        tables = classes_in(np.zeros(40, np.int64), 40, 3, work.targets)[0]
        tables = tables._replace(class_of=class_of)
        count = chunks(2, sequence, work.rows.values, work.targets, tables)
        expected: list[list[int]] = [[]]
        for row in sequence.tolist():
            expected[-1].append(row)
            if len(expected[-1]) >= 2 and work.twin.allowed(expected[-1]):
                expected.append([])
        while expected and not (expected[-1] and work.twin.allowed(expected[-1])):
            last = expected.pop()
            if not expected:
                break
            expected[-1] += last
        assert count == len(expected)
        for at, rows in enumerate(expected):
            assert class_of[rows].tolist() == [at] * len(rows)
        found += count
    assert found > 8


def run(own: Table, *models: PrivacyModel, passes: int = 10, seed: int = 1) -> Partition:
    scope = Scope.of(own.forest, own.kind)
    rng = np.random.default_rng(seed)
    return Compose(passes=passes).find_classes(StepInput(own.forest, scope, own.bind(*models), None, rng))


@examples(25)
@given(st.integers(0, 10_000), st.sampled_from(MODELS_OF))
def test_never_worse_than_mondrian(seed: int, models: tuple[PrivacyModel, ...]) -> None:
    own = small(seed, 30, below=seed % 2 == 1)
    scope = Scope.of(own.forest, own.kind)
    cut = Mondrian().find_classes(
        StepInput(own.forest, scope, own.bind(*models), None, np.random.default_rng(1))
    )
    found = run(own, *models)
    figures = [
        (
            (each.equivalence_class < 0).sum(),
            losses_of(own.forest, scope, each.equivalence_class[scope.rows]).sum(),
        )
        for each in (found, cut)
    ]
    assert figures[0] <= figures[1]


@pytest.mark.parametrize("models", MODELS_OF[:2], ids=str)
def test_tiny_tables_come_near_the_optimum(models: tuple[PrivacyModel, ...]) -> None:
    """Never below it, and reached more often than not."""
    reached = 0
    for seed in range(8):
        own = small(seed, 8)
        work = Work(own, models, seed)
        partition = run(own, *models, passes=20)
        rows = [
            np.flatnonzero(partition.equivalence_class == at).tolist() for at in range(partition.class_count)
        ]
        least = work.twin.least()
        if (partition.equivalence_class < 0).any():
            continue
        assert least is not None
        lost = work.twin.lost(rows)
        assert lost >= least
        reached += lost == least
    assert reached >= 4


def test_other_models_on_values_leave_what_classes_hold() -> None:
    own = small(5, 60)
    models = (MODELS["distinct-l-diversity"](l=2), MODELS["k-anonymity"](k=3))
    scope = Scope.of(own.forest, own.kind)
    cut = Mondrian().find_classes(
        StepInput(own.forest, scope, own.bind(*models), None, np.random.default_rng(1))
    )
    found = run(own, *models, passes=30)
    codes = codes_of(own.forest, scope)[:, 0]
    held = [
        sorted(sorted(codes[each.equivalence_class == at].tolist()) for at in range(each.class_count))
        for each in (found, cut)
    ]
    assert held[0] == held[1]
    lost = [losses_of(own.forest, scope, each.equivalence_class).sum() for each in (found, cut)]
    assert lost[0] <= lost[1]


def test_ten_million_rows_do_not_overflow() -> None:
    """The largest class and the largest product that it needs; a wide distance makes classes smaller."""
    total = 10**7
    for sets in (14, 4_000):
        one = ClosenessBound.of(
            0,
            Closeness(
                tuple(range(sets)),
                (-1,) * sets,
                (10,) * sets,
                (total // sets,) * sets,
                total,
                20,
                Fraction(1, 5),
            ),
        )
        assert one.largest >= 1000
        assert one.largest * total * 10 * sets < 2**63
        assert one.limit(one.largest) < 2**63


def test_more_passes_lose_less() -> None:
    own = small(9, 300)
    scope = Scope.of(own.forest)
    models = MODELS_OF[0]
    lost = [
        losses_of(own.forest, scope, run(own, *models, passes=count).equivalence_class).sum()
        for count in (1, 40)
    ]
    assert lost[1] < lost[0]
    assert class_sizes(run(own, *models).equivalence_class).min() >= 2
