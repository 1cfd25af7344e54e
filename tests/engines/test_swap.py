"""swap against its slow twin, what it may not do, and what it says where t is out of reach."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from functools import partial, reduce
from typing import Any

import numpy as np
import pytest

from hierdata.documents.document import Scalar
from hierdata.domains import DOMAINS
from hierdata.engines import ENGINES, Constraints
from hierdata.engines.base import StepInput
from hierdata.engines.reassignment import arrangement
from hierdata.engines.reassignment.arrangement import Arrangement
from hierdata.engines.reassignment.descent import Descent, Unions
from hierdata.engines.rows.constraints import check_classes
from hierdata.engines.rows.table import classes_of, losses_of, nodes_of, partition_of
from hierdata.forest.forest import Scope
from hierdata.forest.partition import SUPPRESSED, Partition
from hierdata.privacy import EntropyLDiversity, FrequencyLDiversity, KAnonymity, LEDiversity, TCloseness
from hierdata.privacy.base import ClassView, Constraint, PrivacyModel
from tests import naive_distributions, semantic_tables
from tests import naive_reassigning as naive
from tests.cases import for_each
from tests.small_tables import Table, table

close_to = partial(TCloseness, distance="equal")

OTHERS: dict[str, PrivacyModel] = {
    "k": KAnonymity(k=2),
    "caps": FrequencyLDiversity(l="3/2"),
    "asked": EntropyLDiversity(l="5/4"),
}
Built = tuple[Table, list[list[Any]], np.ndarray[Any, Any]]


def random_table(seed: int, below: bool = False) -> Built:
    """Rows with two quasi-identifiers and two sensitive numbers, some missing, in classes of 2 to 4."""
    rng = random.Random(seed)
    sizes = [rng.randint(2, 4) for _ in range(rng.randint(2, 4))]
    count = sum(sizes)
    sensitive = [[rng.choice((1, 2, 2, 5, None)), rng.choice((1, 1, 3))] for _ in range(count)]
    quasi: list[list[Scalar]] = [[rng.randint(0, 9), rng.choice("abc")] for _ in range(count)]
    domains = [DOMAINS["interval"].model_validate({"steps": [2, 5]}), DOMAINS["flat"]()]
    classes = np.repeat(np.arange(len(sizes)), sizes)
    classes = classes[rng.sample(range(count), count)]
    owners = None
    if below:  # the first rows of two classes are one record's
        owners = [max(0, at - 1) for at in range(count)]
        classes[0], classes[1] = 0, 1
    return table(domains, quasi, sensitive, owners), sensitive, classes


def bound(built: Table, t: Fraction, by: str, other: PrivacyModel) -> Constraints:
    return built.bind(TCloseness.model_validate({"t": t, "distance": by}), other)


def twin_of(built: Table, sensitive: list[list[Any]], constraints: Constraints, t: Fraction, by: str) -> Any:
    """Everything that the twin needs, without its classes."""
    attributes = []
    for column in zip(*sensitive, strict=True):
        distance: Any = naive_distributions.equal
        if by == "ordered":
            numbers = sorted({value for value in column if value is not None})
            distance = partial(ordered, numbers)
        attributes.append(naive.Attribute(column, distance, t))
    scope = Scope.of(built.forest, built.kind)
    nodes = nodes_of(built.forest, scope).tolist()
    trees, losses = built.forest.hierarchies[built.kind], built.forest.losses[built.kind]

    def loss(rows: naive.Rows) -> int:
        joined = [reduce(tree.join, (nodes[row][at] for row in rows)) for at, tree in enumerate(trees)]
        return len(rows) * sum(int(own[node]) for own, node in zip(losses, joined, strict=True))

    left = constraints.without_mended({"closeness"})
    codes = [
        [-1 if row[at] is None else domain.code_of(row[at]) for row in sensitive]
        for at, domain in enumerate(built.forest.domains[built.kind])
    ]

    def allowed(rows: naive.Rows) -> bool:
        if len({int(scope.records[row]) for row in rows}) < len(rows):
            return False
        views = [ClassView(len(rows), Counter(own[row] for row in rows if own[row] >= 0)) for own in codes]
        return all(
            one.holds(view)
            for view, own in zip(views, left.on_values[built.kind], strict=True)
            for one in own
        )

    return partial(naive.Descent, attributes=attributes, loss=loss, allowed=allowed)


def ordered(numbers: Any, p: Any, q: Any) -> Fraction:
    return naive_distributions.ordered(p, q, numbers)


@for_each("below", [False, True])
@for_each("other", OTHERS)
@for_each("seed", range(12), few=1)
def test_swaps_are_those_of_the_twin(seed: int, other: str, below: bool) -> None:
    compare_with_twin(seed, other, below)


@for_each("seed", range(6))
def test_swaps_are_those_of_the_twin_without_room_for_what_is_foreseen(seed: int) -> None:
    """All combinations of sets share one slot, so each takes the place of another."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrangement, "_KEPT", 1)
        compare_with_twin(seed, "caps", below=False)


def compare_with_twin(seed: int, other: str, below: bool) -> None:
    built, sensitive, classes = random_table(seed, below)
    t, by = (Fraction(1, 4), "equal") if seed % 2 else (Fraction(1, 8), "ordered")
    constraints = bound(built, t, by, OTHERS[other])
    scope = Scope.of(built.forest, built.kind)
    made = Arrangement.of(built.forest, scope, constraints, classes)
    starts = made.classes.starts
    twin = twin_of(built, sensitive, constraints, t, by)(
        [own.tolist() for own in np.split(made.classes.members, starts[1:-1])]
    )
    assert made.classes.beyond.tolist() == [twin.beyond(rows) for rows in twin.classes]
    assert made.classes.loss.tolist() == [twin.loss(rows) for rows in twin.classes]
    descent = Descent(made, window=10**6)
    descent.towards_closeness(lambda done: None)
    descent.reduce_loss(1, lambda done: None)
    twin.run(1)
    assert [own.tolist() for own in np.split(made.classes.members, starts[1:-1])] == twin.classes
    assert made.classes.beyond.tolist() == [twin.beyond(rows) for rows in twin.classes]
    assert made.classes.loss.tolist() == [twin.loss(rows) for rows in twin.classes]


def step(
    built: Table, classes: np.ndarray[Any, Any], constraints: Constraints, **setting: Any
) -> tuple[Partition, np.ndarray[Any, Any]]:
    scope = Scope.of(built.forest, built.kind)
    before = partition_of(built.forest, scope, classes, Counter())
    engine = ENGINES["swap"].model_validate({"kind": "swap", **setting})
    partition = engine.find_classes(
        StepInput(built.forest, scope, constraints, before, np.random.default_rng(1))
    )
    return partition, classes_of(partition, scope)


@for_each("seed", range(20))
def test_all_models_hold_and_passes_lower_the_loss(seed: int) -> None:
    built, _, classes = random_table(seed, below=seed % 3 == 0)
    constraints = bound(built, Fraction(2, 5), "equal", OTHERS["caps"])
    scope = Scope.of(built.forest, built.kind)
    costs = []
    for passes in (0, 3):
        partition, found = step(built, classes, constraints, passes=passes)
        assert check_classes(built.forest, scope, constraints, found).all()
        assert (
            partition.costs[
                "vertices_that_no_class_accepts" if built.kind else "records_that_no_class_accepts"
            ]
            == (found == SUPPRESSED).sum()
        )
        united = partition.costs["classes_united"], (found == SUPPRESSED).sum()
        costs.append((united, int(losses_of(built.forest, scope, found).sum())))
    if costs[0][0] == costs[1][0] == (0, 0):
        assert costs[1][1] <= costs[0][1]


def test_a_swap_that_costs_diversity_is_not_made() -> None:
    """Of the swaps that closeness of the first attribute asks for, the second allows some only."""
    rows = [[1, 1], [1, 2], [2, 1], [2, 2]]
    free = [[1, 1], [1, 2], [2, 2], [2, 1]]
    for sensitive, diverse in ((rows, 1), (rows, 2), (free, 2)):
        built = table([DOMAINS["flat"]()], [["a"]] * 4, sensitive)
        ((first, second),) = built.forest.domains
        bound_to = (
            (close_to(t=0).bind(first),),
            (FrequencyLDiversity(l=diverse).bind(second),),
        )
        constraints = Constraints((), (bound_to,))
        scope = Scope.of(built.forest)
        made = Arrangement.of(built.forest, scope, constraints, np.array([0, 0, 1, 1]))
        descent = Descent(made, window=100)
        descent.towards_closeness(lambda done: None)
        assert check_classes(built.forest, scope, constraints, made.numbers()).all()
        if diverse == 2:
            one = [sensitive[row][1] for row in np.flatnonzero(made.numbers() == 0)]
            assert sorted(one) == [1, 2]


def test_what_blocks_every_swap_leaves_the_classes_to_be_united() -> None:
    """Closeness of the first attribute needs a swap that the model on the second refuses."""
    built = table([DOMAINS["flat"]()], [["a"]] * 4, [[1, 1], [1, 1], [2, 2], [2, 2]])
    ((first, second),) = built.forest.domains
    close, same = close_to(t=0).bind(first), FrequencyLDiversity(l=1).bind(second)
    never = Never(second)
    scope = Scope.of(built.forest)
    for other, swapped in ((same, True), (never, False)):
        constraints = Constraints((), (((close,), (other,)),))
        made = Arrangement.of(built.forest, scope, constraints, np.array([0, 0, 1, 1]))
        descent = Descent(made, window=100)
        descent.towards_closeness(lambda done: None)
        assert bool(descent.made) == swapped
    partition, found = step(built, np.array([0, 0, 1, 1]), constraints)
    assert (found == SUPPRESSED).all(), "the model fails in the union too, and is never published"
    assert partition.class_count == 0


class Never(Constraint):
    """Only classes of one value: what no swap between these classes keeps."""

    closed_under_union = closed_under_pooling = False
    min_class_size = 1

    def __init__(self, domain: Any) -> None:
        self.domain = domain

    def holds(self, view: ClassView) -> bool:
        return len(view.counts) <= 1

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        return {}


def test_a_t_out_of_reach_is_told_with_the_smallest_that_was_reached() -> None:
    """Three x and two y, no value twice in a class: pairs are 1/10 away, all rows as one are forbidden."""
    own = semantic_tables.Table(
        [{"r": None, "x": "r", "y": "r"}], [["x"], ["x"], ["y"], ["y"], ["x"]], [1] * 5
    )
    scope = own.scope
    (domain,) = own.forest.domains[0]
    domain = type(domain)(
        domain.path,
        domain.values,
        paths=domain.paths,
        reference=tuple(3 if value == "x" else 2 for value in domain.values),
        heights=domain.heights,
    )
    close = close_to(t="1/20").bind(domain)
    alone = LEDiversity(l=2, e="1/2").bind(domain)
    constraints = Constraints((), (((close, alone),),))
    before = partition_of(own.forest, scope, np.array([0, 1, 0, 1, -1]), Counter())
    partition = ENGINES["swap"](kind="swap").find_classes(
        StepInput(own.forest, scope, constraints, before, np.random.default_rng(0))
    )
    assert partition.class_count == 0
    assert "the smallest t that a class reached is 0.1 (1/10)" in partition.reason
    assert partition.costs["records_that_no_class_accepts"] == 5


def test_classes_that_stay_too_far_are_united() -> None:
    """Three of four rows have one value: no two pairs are within 0, all four are."""
    built = table([DOMAINS["flat"]()], [["a"], ["b"], ["c"], ["d"]], [[1], [1], [1], [2]])
    partition, found = step(built, np.array([0, 0, 1, 1]), built.bind(close_to(t=0)))
    assert found.tolist() == [0] * 4
    assert partition.costs["classes_united"] == 1


@for_each("seed", range(12))
def test_unions_are_ordered_by_what_they_lose(seed: int) -> None:
    built, _, classes = random_table(seed)
    scope = Scope.of(built.forest)
    unions = Unions(built.forest, scope, classes)
    nodes = nodes_of(built.forest, scope)
    trees, losses = built.forest.hierarchies[0], built.forest.losses[0]

    def loss(rows: np.ndarray[Any, Any]) -> int:
        roots = [reduce(tree.join, nodes[rows, at].tolist()) for at, tree in enumerate(trees)]
        return len(rows) * sum(int(own[root]) for own, root in zip(losses, roots, strict=True))

    for taken in ([], [1], [0, 1]):
        unions.free[taken] = False
        for own in range(len(unions.free)):
            others = [at for at in np.flatnonzero(unions.free).tolist() if at != own]
            due = sorted(
                others,
                key=lambda at: (
                    loss(np.isin(classes, (own, at)).nonzero()[0]) - loss(np.flatnonzero(classes == at))
                ),
            )
            assert unions.nearest(own) == due
            assert unions.nearest_one(own) == (due[0] if due else None)
