"""What mondrian does beyond its cuts: who is thinned out, united, attached, and why nothing may be left."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hierdata.documents.document import Scalar
from hierdata.domains import DOMAINS
from hierdata.domains.base import QuasiDomain
from hierdata.engines.base import StepInput
from hierdata.engines.mondrian.engine import Mondrian
from hierdata.engines.rows.constraints import RowCaps, check_classes
from hierdata.engines.rows.dealing import redealt, thin_rows
from hierdata.engines.rows.table import RowLine, dense, depth_first, joins, nodes_of
from hierdata.forest.forest import Scope
from hierdata.forest.partition import Partition
from hierdata.privacy import MODELS
from hierdata.privacy.base import FrequencyCaps, PrivacyModel
from tests.cases import with_worlds
from tests.engines.test_mondrian_twin import COLUMNS
from tests.small_tables import Table, table

INTERVAL = DOMAINS["interval"](steps=[1, 2, 4, 8])


def run(own: Table, *models: PrivacyModel, seed: int = 1) -> Partition:
    scope = Scope.of(own.forest, own.kind)
    return Mondrian().find_classes(
        StepInput(own.forest, scope, own.bind(*models), None, np.random.default_rng(seed))
    )


def model(kind: str, **parameters: Any) -> PrivacyModel:
    return MODELS[kind](**parameters)


def ages(values: Sequence[Scalar], sensitive: Sequence[Scalar], owners: Sequence[int] | None = None) -> Table:
    return table([INTERVAL], [[value] for value in values], [[value] for value in sensitive], owners)


def members(partition: Partition) -> list[list[int]]:
    return [np.flatnonzero(partition.equivalence_class == at).tolist() for at in range(partition.class_count)]


@pytest.mark.parametrize(("domain", "values"), COLUMNS)
def test_in_depth_first_order_first_and_last_join_to_the_join_of_all(
    domain: QuasiDomain, values: list[Scalar]
) -> None:
    rng = random.Random(0)
    tree = domain.compile(Counter(values), Path())
    nodes = [tree.node_of(value) for value in values]
    line = [nodes[at] for at in depth_first(tree, nodes)]
    for _ in range(300):
        chosen = sorted(rng.sample(range(len(line)), rng.randint(1, len(line))))
        held = np.array([[line[at]] for at in chosen], np.int32)
        joined = joins([tree], held, np.zeros(len(held), np.int64))[0, 0]
        assert tree.join(line[chosen[0]], line[chosen[-1]]) == joined


def test_the_cut_of_least_loss_is_made() -> None:
    """Bins of 2 cost 1/15 a row, bins of 4 cost 3/15: four bins of 2 are the best there is."""
    partition = run(ages([0, 0, 1, 1, 2, 2, 3, 3, 15, 15], range(10)), model("k-anonymity", k=2))
    assert members(partition) == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]
    partition = run(ages([0, 1, 2, 3, 8, 9, 15, 14], range(8)), model("k-anonymity", k=2))
    assert members(partition) == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_no_two_classes_have_equal_nodes_where_the_union_holds() -> None:
    rng = random.Random(2)
    for seed in range(20):
        values = [rng.randint(0, 15) for _ in range(60)]
        own = ages(values, [rng.randint(0, 5) for _ in range(60)])
        partition = run(own, model("frequency-l-diversity", l=2), seed=seed)
        scope = Scope.of(own.forest)
        kept = partition.equivalence_class
        published = joins(own.forest.hierarchies[0], nodes_of(own.forest, scope), kept)
        assert len(np.unique(published, axis=0)) == len(published)


def test_as_few_rows_as_possible_are_thinned_out() -> None:
    rng = random.Random(4)
    for _ in range(200):
        sizes = [rng.randint(0, 6) for _ in range(rng.randint(1, 4))]
        shares = [Fraction(rng.randint(0, 6), 6) for _ in sizes]
        groups = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        caps = FrequencyCaps(tuple(range(len(sizes))), tuple(shares))
        kept = thin_rows(np.arange(len(groups)), [RowCaps(groups, caps)], np.random.default_rng(1))
        found = np.bincount(groups[kept], minlength=len(sizes)).tolist()
        best = max(
            sum(chosen)
            for chosen in product(*(range(size + 1) for size in sizes))
            if all(count <= share * sum(chosen) for count, share in zip(chosen, shares, strict=True))
        )
        assert sum(found) == best
        assert all(count <= share * best for count, share in zip(found, shares, strict=True))


def test_what_a_dominant_value_leaves_no_room_for_is_suppressed_and_no_more() -> None:
    """30 of one value and 10 others: with l = 2 twenty can be published."""
    rng = random.Random(5)
    partition = run(
        ages([rng.randint(0, 15) for _ in range(40)], [0] * 30 + list(range(1, 11))),
        model("frequency-l-diversity", l=2),
    )
    assert int((partition.equivalence_class >= 0).sum()) == 20
    assert partition.costs["records_that_no_class_accepts"] == 20


@pytest.mark.parametrize(
    ("models", "sentence"),
    [
        ([model("k-anonymity", k=7)], "6 is the largest k or l"),
        ([model("frequency-l-diversity", l=4)], "3 is the largest l"),
        ([model("delta-l-diversity", delta=1, l=3)], "2 is the largest l"),
    ],
)
def test_where_nothing_can_be_the_reason_names_what_could(models: list[PrivacyModel], sentence: str) -> None:
    partition = run(ages(range(6), [1, 1, 2, 2, 7, 7]), *models)
    assert partition.class_count == 0
    assert sentence in partition.reason


def test_below_the_root_nobody_meets_himself() -> None:
    rng = random.Random(7)
    for k in (2, 3, 5):
        owners = sorted(rng.randrange(12) for _ in range(60))
        own = ages([rng.randint(0, 15) for _ in owners], [1] * 60, owners)
        partition = run(own, model("k-anonymity", k=k))
        for rows in members(partition):
            records = [owners[row] for row in rows]
            assert len(set(records)) == len(records) >= k
        assert int((partition.equivalence_class >= 0).sum()) >= 57


def test_a_table_without_quasi_identifiers_is_one_class() -> None:
    partition = run(table([], [[]] * 5, [[at] for at in range(5)]), model("k-anonymity", k=2))
    assert members(partition) == [[0, 1, 2, 3, 4]]


def test_losses_that_would_not_fit_steer_all_the_same() -> None:
    """Prime spans make denominators whose sums over many rows pass 64 bits."""
    spans = (999_983, 999_979, 15_485_863)
    domains = [DOMAINS["interval"](steps=[span // 3], domain=[0, span]) for span in spans]
    rng = random.Random(9)
    quasi: list[list[Scalar]] = [[rng.randint(0, span) for span in spans] for _ in range(400)]
    own = table(domains, quasi, [[1]] * 400)
    partition = run(own, model("k-anonymity", k=4))
    assert partition.class_count > 20
    assert (partition.equivalence_class >= 0).all()


REDEALT: list[list[PrivacyModel]] = [
    [model("k-anonymity", k=3), model("frequency-l-diversity", l=2)],
    [model("distinct-l-diversity", l=3)],
    [model("entropy-l-diversity", l="3/2")],
    [model("t-closeness", t="0.3")],
    [model("delta-l-diversity", delta=1, l=2)],
]


@pytest.mark.parametrize("models", REDEALT, ids=lambda models: models[-1].kind)
@pytest.mark.parametrize("below", [False, True])
@with_worlds(30, 90)
def test_classes_are_dealt_where_that_loses_less_and_keeps_every_model(
    models: list[PrivacyModel], below: bool, worlds: int
) -> None:
    divided = 0
    for seed in range(worlds):
        rng = random.Random(seed)
        rows = rng.randint(8, 60)
        owners = sorted(rng.randrange(rows) for _ in range(rows)) if below else None
        own = ages(
            [rng.randint(0, 15) for _ in range(rows)], [rng.randint(0, 6) for _ in range(rows)], owners
        )
        scope, constraints = Scope.of(own.forest, own.kind), own.bind(*models)
        before = dense(np.array([rng.choice((-1, 0, 0, 0, 1, 1)) for _ in range(rows)]))
        after = redealt(own.forest, scope, constraints, RowLine.of(own.forest, scope), before)
        assert ((after < 0) == (before < 0)).all()
        for at in range(int(before.max()) + 1):
            parts = np.unique(after[before == at]).tolist()
            assert set(before[np.isin(after, parts)].tolist()) == {at}
            if len(parts) > 1:
                divided += 1
                assert sum(loss(own, after == part) for part in parts) < loss(own, before == at)
                for part in parts:
                    alone = np.where(after == part, 0, -1)
                    assert check_classes(own.forest, scope, constraints, alone).all()
                    assert len(set(scope.records[after == part].tolist())) == int((after == part).sum())
    assert divided


def loss(own: Table, members: np.ndarray[Any, Any]) -> int:
    scope = Scope.of(own.forest, own.kind)
    classes = np.where(members, 0, -1)
    (tree,) = own.forest.hierarchies[own.kind]
    joined = joins([tree], nodes_of(own.forest, scope), classes)[0, 0]
    return int(members.sum()) * int(own.forest.losses[own.kind][0][joined])


def test_a_dealt_class_has_a_like_share_of_every_value() -> None:
    """Of 12 rows 3 have each value, whose ages are alike: no cut holds, and 3 classes of 4 can be dealt."""
    own = ages([0, 4, 8] * 4, [value for value in range(4) for _ in range(3)])
    partition = run(own, model("frequency-l-diversity", l=4))
    assert members(partition) == [[0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8, 11]]
