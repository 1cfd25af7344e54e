"""The cut that ``specialize`` finds in each group is the best of all cuts, by the stated expectation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from hierdata.engines.specialize.facts import Column, columns_of, find_facts
from hierdata.engines.specialize.splitting import Cutter, Supports, cut_nodes
from tests.engines.test_specialize import documents, encoded

FACTORS = (0.3, 1.0)


def list_cuts(column: Column, node: int) -> Iterator[frozenset[int]]:
    """Yield every set of published nodes at or below one of which none is below another."""
    below = [
        child for child, parent in enumerate(column.parents) if parent == node and child != column.missing
    ]
    cuts = [frozenset[int]()]
    for child in below:
        cuts = [one | other for one in cuts for other in list_cuts(column, child)]
    yield from cuts
    if node and column.published[node]:
        yield frozenset({node})


def find_above(column: Column, node: int, cut: frozenset[int]) -> int:
    """Return the node of a cut at or above a node, 0 if there is none."""
    while node and node not in cut:
        node = int(column.parents[node])
    return node


def expect_loss(column: Column, held: list[tuple[int, int]], cut: frozenset[int], tau: float) -> float:
    """Return what a cut is expected to lose; ``held`` are pairs of a record and its node."""
    shown = [(record, find_above(column, node, cut)) for record, node in held]
    support = Counter(node for _, node in set(shown))
    lost = 0.0
    for _, node in shown:
        deleted = 1 / (1 + (support[node] / tau) ** 2) if node else 1.0
        lost += deleted * float(column.losses[0]) + (1 - deleted) * float(column.losses[node])
    return lost


def test_each_group_gets_the_cut_that_is_expected_to_lose_least() -> None:
    rng = Random(3)
    for _ in range(6):
        own = encoded(documents(rng, 30), k=2, m=2)
        forest = own.forest
        facts = find_facts(forest, columns_of(forest, counted=True), frozenset())
        group_of = np.array([rng.randrange(-1, 3) for _ in range(forest.record_count)], np.int64)
        for factor in FACTORS:
            lost, chosen = Cutter(Supports(facts), 2, 2, False).lose(group_of, 3, factor)
            for group in range(3):
                size = int((group_of == group).sum())
                tau = factor * 2 ** (1 / 2) * max(size, 1) ** (1 / 2)
                total = 0.0
                for number, column in enumerate(facts.columns):
                    if column.position is None:
                        continue
                    held = [
                        (int(facts.record[fact]), int(facts.node[fact]))
                        for fact in facts.by_column[number].tolist()
                        if group_of[facts.record[fact]] == group and facts.node[fact] != column.missing
                    ]
                    own_cut = frozenset(cut_nodes(column, chosen[number][group]).tolist()) - {0}
                    found = expect_loss(column, held, own_cut, tau)
                    least = min(expect_loss(column, held, cut, tau) for cut in list_cuts(column, 0))
                    assert found == pytest.approx(least, rel=1e-12, abs=1e-9)
                    total += least
                assert lost[group] == pytest.approx(total, rel=1e-12, abs=1e-9)
