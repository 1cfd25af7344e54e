"""The engine against the twin where the paths through the compiled code differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from hierdata.engines import Constraints
from hierdata.engines.alignment import alignment
from hierdata.engines.alignment.alignment import Alignment
from hierdata.engines.base import StepInput
from hierdata.engines.clustree.engine import CluStree
from hierdata.forest.forest import Forest, Scope
from hierdata.ground.errors import PolicyError
from hierdata.metrics import METRICS
from hierdata.policy.load import load
from hierdata.privacy import EntropyLDiversity, KAnonymity, KMap, LevelAlphaK, RecursiveCLDiversity
from hierdata.privacy.base import PrivacyModel
from tests import naive, naive_models
from tests.benchmarks.collections import by_lm, encoded
from tests.cases import for_each
from tests.publications import publication_of
from tests.random_collections import collection
from tests.twin import caps_of, schema_of, trees_of

FIXTURES = Path(__file__).parents[2] / "fixtures"


def assert_equal_runs(
    forest: Forest,
    constraints: Constraints,
    closings: list[naive.Closing],
    seed: int = 5,
    *,
    size: int | None = None,
    grow: bool = False,
) -> naive.Result:
    """The same classes, kept vertices and total loss."""
    partition = CluStree(pairing="greedy", size=size, grow=grow).find_classes(
        StepInput(forest, Scope.of(forest), constraints, None, np.random.default_rng(seed))
    )
    size = size or constraints.min_class_size
    draws = np.random.default_rng(seed).integers(0, 2**63 - 1, size=forest.record_count // size + 1)
    trees = trees_of(forest)
    result = naive.mlevclutree(
        trees,
        schema_of(forest),
        size,
        caps_of(constraints),
        closings,
        iter(draws.tolist()),
        grow=grow,
    )
    published = [sorted(c.members) for c in result.classes if c.representative is not None]
    assert [
        np.flatnonzero(partition.equivalence_class == at).tolist() for at in range(partition.class_count)
    ] == published
    vertices = []
    for tree in trees:
        queue = [tree]
        for vertex in queue:
            queue += vertex.children
        vertices += queue
    kept = [result.representative_of(vertex) is not None for vertex in vertices]
    assert (partition.representative >= 0).tolist() == kept
    loss = METRICS["lm_cost"]().of(publication_of(forest, partition), forest)
    assert loss[0].value == Fraction(result.total_loss)
    return result


@pytest.mark.full
def test_bundled_students_with_bins_that_do_not_nest(tmp_path: Path) -> None:
    lines = (FIXTURES / "students" / "students.jsonl").read_text().splitlines(keepends=True)
    some = tmp_path / "some.jsonl"
    some.write_text("".join(lines[:150]))
    data = encoded(some, load(FIXTURES / "policies" / "students-multilevel.yaml"))
    assert_equal_runs(by_lm(data).forest, data.prepared.constraints, [])


@pytest.mark.parametrize("seed", range(6))
def test_hierarchies_too_large_for_a_table(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alignment, "_LARGEST_PAIR_TABLE", 20)  # some hierarchies have one, some not
    built = collection(400 + seed, records=24, depth=3)
    assert_equal_runs(built.forest, built.bind(LevelAlphaK(k=3)), [])


@pytest.mark.parametrize("most", [30, 70, pytest.param(140, marks=pytest.mark.full)])
def test_long_lists_of_children(most: int) -> None:
    """Sets of partners are kept 64 to a word."""
    built = collection(7, records=8, depth=2, most=most)
    assert int(built.forest.child_count.max()) > most // 2
    assert_equal_runs(built.forest, built.bind(LevelAlphaK(k=3)), [])


def entropy(size: int, codes: list[int]) -> bool:
    return naive_models.entropy_l(size, codes, Fraction(3, 2))


def recursive(size: int, codes: list[int]) -> bool:
    return naive_models.recursive_cl(size, codes, Fraction(2), 2)


@pytest.mark.parametrize("grow", [False, True], ids=["given up", "growing"])
@pytest.mark.parametrize("size", [None, 5])
@pytest.mark.parametrize(
    ("model", "holds"),
    [(EntropyLDiversity(l="3/2"), entropy), (RecursiveCLDiversity(c=2, l=2), recursive)],
    ids=["entropy", "recursive"],
)
def test_models_that_are_asked_when_a_class_closes(
    model: PrivacyModel, holds: Callable[[int, list[int]], bool], size: int | None, grow: bool
) -> None:
    lost = grown = 0
    for seed in range(8):
        built = collection(700 + seed, records=20, depth=2)
        constraints = built.bind(model)
        least = constraints.min_class_size
        closings = [
            naive.Closing(str(kind), at, partial(holds, least))
            for kind, own in enumerate(built.forest.domains)
            for at in range(len(own))
        ]
        result = assert_equal_runs(built.forest, constraints, closings, seed, size=size, grow=grow)
        lost += sum(c.representative is None for c in result.classes)
        grown += sum(len(c.members) > (size or least) for c in result.classes)
    assert grown if grow else lost, "nothing failed at closing: the collections are too easy"


def test_a_class_smaller_than_the_models_allow_is_refused() -> None:
    built = collection(1, records=9, depth=1)
    with pytest.raises(PolicyError, match="size 2 is too small: the models need 3 records in a class"):
        CluStree(size=2).find_classes(
            StepInput(
                built.forest,
                Scope.of(built.forest),
                Constraints((KAnonymity(k=3).bind(None),), ((),)),
                None,
                np.random.default_rng(0),
            )
        )


def test_a_class_grows_until_enough_of_the_population_fits() -> None:
    """k-map allows classes of one record: what is not asked while they grow is asked at the end."""
    built = collection(5, records=12, depth=1)
    forest = built.forest
    nodes = forest.nodes.reshape(forest.record_count, -1)
    trees = forest.hierarchies[0]

    def fitting(root: Sequence[int]) -> int:
        return sum(
            all(above in tree.ancestors[node] for tree, above, node in zip(trees, root, row, strict=True))
            for row in nodes.tolist()
        )

    constraints = Constraints((KMap(k=4).bind(None),), tuple(() for _ in forest.domains), fitting)
    partition = CluStree().find_classes(
        StepInput(forest, Scope.of(forest), constraints, None, np.random.default_rng(0))
    )
    assert partition.class_count
    sizes = np.bincount(partition.equivalence_class[partition.equivalence_class >= 0]).tolist()
    assert min(sizes) < 4, "classes are no larger than they must be"
    for at in range(partition.class_count):
        first = int(partition.representative[np.flatnonzero(partition.equivalence_class == at)[0]])
        start = int(forest.first_node[first])
        assert fitting(partition.nodes[start : start + len(trees)].tolist()) >= 4


@for_each("seed", range(40), few=5)
def test_optimal_pairing_is_the_cheapest_of_all(seed: int) -> None:
    built = collection(900 + seed, records=5, depth=3, most=2)
    constraints = built.bind(LevelAlphaK(k=4))
    alignment = Alignment(built.forest, constraints, constraints.min_class_size, "optimal")
    rules = naive.Rules(built.naive_schema, 4, built.caps(LevelAlphaK(k=4)), "optimal")
    for a, tree in enumerate(built.trees):
        losses = alignment.pair_losses(a, np.arange(len(built.trees)))
        expected = [naive.pair_loss(tree, other, rules) for other in built.trees]
        # Roots are aligned whenever they can be; children only when it gains something.
        assert [Fraction(int(loss), built.forest.scale) for loss in losses] == expected
