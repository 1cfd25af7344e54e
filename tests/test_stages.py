"""Which engine partitions what: named by the policy, or chosen by records and models."""

from __future__ import annotations

from typing import Any

import pytest

from hierdata.engines.local_search.engine import LocalSearch
from hierdata.ground.errors import PolicyError
from hierdata.policy.load import from_data
from hierdata.policy.plan.plan import Prepared, prepare
from hierdata.records.survey import survey

TREES = [{"age": 30 + at % 3, "pay": at, "visits": [{"ward": "a", "ill": f"x{at % 4}"}]} for at in range(12)]
ROWS = [{"age": 30 + at % 3, "pay": at} for at in range(12)]
FIELDS: dict[str, Any] = {
    "$.age": {"role": "quasi", "flat": True},
    "$.pay": {"role": "sensitive"},
    "$.visits[*].ward": {"role": "quasi", "flat": True},
    "$.visits[*].ill": {"role": "sensitive"},
}


def prepared(records: list[dict[str, Any]], *models: dict[str, Any], **stated: Any) -> Prepared:
    fields = {path: rule for path, rule in FIELDS.items() if records is TREES or "visits" not in path}
    policy = from_data({"version": 1, "models": models, "fields": fields} | stated)
    return prepare(policy, survey(records, policy.declared_fields()))


def engines(found: Prepared) -> list[tuple[int, str]]:
    return [(stage.kind, step.kind) for stage in found.stages for step in stage.steps]


K, DISTINCT = {"kind": "k-anonymity", "k": 2}, {"kind": "frequency-l-diversity", "l": 2}
NEAR = {"kind": "delta-l-diversity", "delta": 1, "l": 2, "on": ["$.pay"]}
ON_ILL = {**DISTINCT, "on": ["$.visits[*].ill"]}
APART = {"recoding": "anatomy"}
ALIGNED = [(0, "k-member"), (0, "local-search")]


def test_tables_are_swept_and_trees_are_aligned() -> None:
    assert engines(prepared(ROWS, K)) == [(0, "sweep")]
    assert engines(prepared(TREES, K)) == ALIGNED


def test_effort_says_how_often_classes_of_trees_are_looked_at_again() -> None:
    first, search = prepared(TREES, K, effort=7).stages[0].steps
    assert (first.kind, search) == ("k-member", LocalSearch(passes=7))
    assert engines(prepared(TREES, K, effort=0)) == ALIGNED[:1]
    assert engines(prepared(ROWS, K, effort=7)) == [(0, "sweep")]
    with pytest.raises(PolicyError, match="set `passes` of a step"):
        prepared(TREES, K, effort=7, engine={"preset": "MLevCluTree"})


def test_rows_that_must_be_distributed_like_the_whole_are_composed() -> None:
    near = {"kind": "t-closeness", "t": "0.3"}
    assert engines(prepared(ROWS, K, near)) == [(0, "compose")]
    assert engines(prepared(TREES, K, near)) == ALIGNED
    assert engines(prepared(ROWS, K, near, recoding="full_domain")) == [(0, "full-domain")]


def test_groups_are_made_by_the_engine_that_publishes_most() -> None:
    assert engines(prepared(ROWS, DISTINCT, **APART)) == [(0, "mbf")]
    assert engines(prepared(ROWS, NEAR, **APART)) == [(0, "spread")]
    assert engines(prepared(ROWS, K, **APART)) == [(0, "mondrian")]
    assert engines(prepared(TREES, NEAR, ON_ILL, **APART)) == [(0, "spread"), (1, "mbf")]


def test_numbers_of_several_attributes_are_no_task_for_spread() -> None:
    near = {key: value for key, value in NEAR.items() if key != "on"}
    rows = [{**row, "age": row["pay"]} for row in ROWS]
    fields = {"$.age": {"role": "sensitive"}, "$.pay": {"role": "sensitive"}}
    assert engines(prepared(rows, near, **APART, fields=fields)) == [(0, "mondrian")]


def test_a_step_is_pointed_at_one_vertex_type() -> None:
    steps = [{"kind": "mbf", "on": "$.visits[*]"}, {"kind": "spread", "on": "$"}]
    found = prepared(TREES, NEAR, ON_ILL, **APART, engine={"steps": steps})
    assert engines(found) == [(0, "spread"), (1, "mbf")]


@pytest.mark.parametrize(
    ("steps", "stated", "message"),
    [
        (["clustree", "clustree"], {}, "cannot continue from another step"),
        (["clustree", "mondrian"], {}, "cannot be combined"),
        (["mondrian"], {}, "clustree aligns whole records"),
        ([("mbf", "$.visits[*]")], APART, "no step partitions these values"),
        ([("mbf", "$.visits[*]"), ("mbf", "$.wards[*]")], APART, r"only at \$, \$.visits"),
        (["mbf", "mbf"], APART, "cannot continue from another step"),
    ],
)
def test_steps_that_do_not_fit_are_refused(steps: list[Any], stated: dict[str, Any], message: str) -> None:
    named = [
        {"kind": step} if isinstance(step, str) else dict(zip(("kind", "on"), step, strict=True))
        for step in steps
    ]
    with pytest.raises(PolicyError, match=message):
        prepared(TREES, K, **stated, engine={"steps": named})


def test_groups_that_nothing_judges_are_refused() -> None:
    with pytest.raises(PolicyError, match="no model judges these values") as refused:
        prepared(TREES, ON_ILL, **APART)
    assert refused.value.path == "$.pay"
    assert engines(prepared(TREES, ON_ILL, K, **APART)) == [(0, "mondrian"), (1, "mbf")]
