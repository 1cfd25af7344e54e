"""Long lists are matched among the best candidates of each vertex: against a twin, and what that costs."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from hierdata.engines.alignment.alignment import Alignment
from hierdata.forest.encoding import encode
from hierdata.forest.forest import Forest
from hierdata.policy.load import from_data
from hierdata.policy.plan.plan import Prepared, prepare
from hierdata.records.binding import bind
from hierdata.records.survey import survey
from tests.cases import first_few

FIELDS = {
    "$.items[*].kind": {"role": "quasi", "flat": True},
    "$.items[*].day": {"role": "quasi", "interval": {"steps": [1, 4, 16]}},
    "$.items[*].found": {"role": "sensitive"},
    "$.items[*].parts[*].of": {"role": "quasi", "flat": True},
    "$.items[*].marks[*].of": {"role": "quasi", "flat": True},
}
LONG, CANDIDATES = 16, 12  # LONG in this test; lists are matched in full up to 48


def record(rng: random.Random, items: int) -> dict[str, Any]:
    return {
        "items": [
            {
                "kind": rng.choice("abc"),
                "day": rng.randrange(32),
                "found": rng.choice("xyz"),
                "parts": [{"of": rng.choice("pq")} for _ in range(rng.randrange(4))],
                "marks": [{"of": rng.choice("rs")} for _ in range(rng.randrange(3))],
            }
            for _ in range(items)
        ]
    }


def collected(seed: int, lengths: list[int]) -> tuple[Prepared, Forest]:
    rng = random.Random(seed)
    documents = [record(rng, items) for items in lengths]
    models = [{"kind": "k-anonymity", "k": 2}, {"kind": "frequency-l-diversity", "l": 2}]
    policy = from_data({"version": 1, "models": models, "fields": FIELDS})
    prepared = prepare(policy, survey(documents, policy.declared_fields()))
    bound = bind(documents, prepared.binding)
    return prepared, encode(bound, prepared.schema, prepared.hierarchies, prepared.domains)


class Twin:
    def __init__(self, forest: Forest, limited: bool) -> None:
        self.forest, self.limited = forest, limited

    def own(self, x: int, y: int) -> int:
        kind = self.forest.type[x]
        saved = 2 * self.forest.scale * int(self.forest.own_weight[x])
        for at, tree in enumerate(self.forest.hierarchies[kind]):
            a, b = (self.forest.nodes[self.forest.first_node[v] + at] for v in (x, y))
            shared = [
                up for up, other in zip(tree.ancestors[a], tree.ancestors[b], strict=True) if up == other
            ]
            join = [up for up in shared if up >= 0][-1]
            saved -= 2 * int(self.forest.losses[kind][at][join])
        return saved

    def children(self, v: int, kind: int) -> list[int]:
        first = self.forest.first_child[v]
        every = range(first, first + self.forest.child_count[v])
        return [child for child in every if self.forest.type[child] == kind]

    def gain(self, x: int, y: int) -> int | None:
        """In classes of two each value may be there once."""
        firsts, counts = self.forest.first_sensitive, [len(own) for own in self.forest.domains]
        for at in range(counts[self.forest.type[x]]):
            if self.forest.sensitive[firsts[x] + at] == self.forest.sensitive[firsts[y] + at] >= 0:
                return None
        below = self.forest.schema.types[self.forest.type[x]].children
        return self.own(x, y) + sum(
            self.matched(self.children(x, kind), self.children(y, kind)) for kind in below
        )

    def likely(self, x: int, y: int) -> int:
        below = self.forest.schema.types[self.forest.type[x]].children
        sides = [
            sum(int(self.forest.weight[c]) for c in self.children(v, kind)) for v in (x, y) for kind in below
        ]
        common = sum(
            min(int(self.forest.weight[a]), int(self.forest.weight[b]))
            for kind in below
            for a, b in zip(self.children(x, kind), self.children(y, kind), strict=False)
        )
        return self.own(x, y) + self.forest.scale * (4 * common - sum(sides))

    def matched(self, these: list[int], those: list[int]) -> int:
        if not these or not those:
            return 0
        gains = np.zeros((len(these), len(those)), np.int64)
        for i, x in enumerate(these):
            places = range(len(those))
            if self.limited and min(len(these), len(those)) > LONG:
                start = i * len(those) // len(these)
                allowed = [j for j in places if self.gain(x, those[j]) is not None]
                around = sorted(allowed, key=lambda j: (j - start) % len(those))
                likely = [-self.likely(x, those[j]) for j in around]
                places = [j for _, _, j in sorted(zip(likely, range(len(around)), around, strict=True))][
                    :CANDIDATES
                ]
            for j in places:
                gains[i, j] = self.gain(x, those[j]) or 0
        rows, columns = linear_sum_assignment(gains, maximize=True)
        return int(gains[rows, columns].sum())

    def loss(self, a: int, b: int) -> int:
        x, y = (int(self.forest.roots[record]) for record in (a, b))
        whole = self.forest.scale * int(self.forest.weight[x] + self.forest.weight[y])
        gain = self.gain(x, y)
        assert gain is not None
        return whole - gain


@pytest.mark.parametrize("seed", first_few(1, range(3)))
def test_long_lists_are_matched_among_candidates(seed: int) -> None:
    prepared, forest = collected(seed, [17, 16, 20, 33, 70])
    alignment = Alignment(forest, prepared.constraints, 2, "optimal")
    alignment.settings = alignment.settings._replace(long=LONG)
    others = np.arange(forest.record_count)
    limited, full = 0, 0
    for record in others.tolist():
        rest = others[others != record]
        found = alignment.pair_losses(record, rest).tolist()
        assert found == [Twin(forest, limited=True).loss(record, other) for other in rest.tolist()]
        limited += sum(found)
        full += sum(Twin(forest, limited=False).loss(record, other) for other in rest.tolist())
    assert full <= limited <= 1.02 * full


def test_short_lists_are_matched_in_full() -> None:
    prepared, forest = collected(9, [16, 40, 12])
    alignment = Alignment(forest, prepared.constraints, 2, "optimal")
    alignment.settings = alignment.settings._replace(long=LONG)
    found = alignment.pair_losses(0, np.array([1, 2])).tolist()
    assert found == [Twin(forest, limited=False).loss(0, other) for other in (1, 2)]
