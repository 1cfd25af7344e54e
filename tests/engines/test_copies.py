"""Many equal records, each kind of one sensitivity level: whoever is like them may not be whom they need."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hierdata.engines import ENGINES, Engine
from hierdata.engines.base import StepInput
from hierdata.forest.forest import Scope
from hierdata.metrics import METRICS
from hierdata.policy.load import from_data
from tests.benchmarks.collections import Encoded, encoded
from tests.publications import publication_of

KINDS = (
    ("physics", "A", ("P1", "P2", "C1")),
    ("chemistry", "B", ("C1", "C2", "P1")),
    ("history", "A", ("H1", "H2", "L1")),
    ("law", "B", ("L1", "L2", "H1")),
)
"""Major, gpa and courses; a gpa of A is of level 1, which may have whole classes, B of level 2."""
LEVELS = {"levels": {"by": {"A": 1, "B": 2}}}
POLICY: dict[str, Any] = {
    "version": 1,
    "dataset": "copies",
    "models": [{"kind": "level-alpha-k", "k": 5, "alpha": [1, "0.6"]}],
    "engine": {"preset": "MLevCluTree"},
    "fields": {
        "$.major": {
            "role": "quasi",
            "taxonomy": {"tree": {"*": {"science": ["physics", "chemistry"], "arts": ["history", "law"]}}},
        },
        "$.gpa": {"role": "sensitive", **LEVELS},
        "$.courses[*].code": {
            "role": "quasi",
            "taxonomy": {"tree": {"*": {"S": ["P1", "P2", "C1", "C2"], "R": ["H1", "H2", "L1", "L2"]}}},
        },
        "$.courses[*].grade": {"role": "sensitive", **LEVELS},
    },
}


def copies(folder: Path, each: int) -> Encoded:
    lines = [
        {"major": major, "gpa": gpa, "courses": [{"code": code, "grade": "A"} for code in codes]}
        for _ in range(each)
        for major, gpa, codes in KINDS
    ]
    file = folder / "copies.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return encoded(file, from_data(POLICY, folder))


def outcome(data: Encoded, *steps: Engine) -> tuple[float, int]:
    """What the release loses, and how many records are suppressed."""
    partition, rng = None, np.random.default_rng(7)
    for step in steps:
        partition = step.find_classes(
            StepInput(data.forest, Scope.of(data.forest), data.prepared.constraints, partition, rng)
        )
    assert partition is not None
    loss = METRICS["lm_cost"]().of(publication_of(data.forest, partition), data.forest)[0]
    return float(loss.value), int((partition.equivalence_class < 0).sum())


@pytest.mark.parametrize("each", [20, pytest.param(60, marks=pytest.mark.full)])
def test_those_who_may_not_be_a_class_by_themselves_join_others_together(tmp_path: Path, each: int) -> None:
    data = copies(tmp_path, each)
    published = outcome(data, *data.prepared.policy.steps)
    begun = ENGINES["k-member"](kind="k-member")
    alone, together = outcome(data, begun), outcome(data, begun, ENGINES["local-search"](kind="local-search"))
    assert alone[1] == 2 * each, "classes of the first level alone keep most and are made first"
    assert together[1] == 0
    assert together[0] < published[0] < alone[0]
