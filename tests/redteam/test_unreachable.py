"""A t that no class keeps: exit code 3 with the smallest that was reached, whatever the engine."""

from __future__ import annotations

import random
from typing import Any

import pytest

import hierdata

SEED = b"sixteen bytes or"
CLOSE = [{"kind": "k-anonymity", "k": 2}, {"kind": "t-closeness", "t": "1/1000"}]


def refusal(records: list[dict[str, Any]], **policy: Any) -> str:
    with pytest.raises(hierdata.PromiseError) as refused:
        hierdata.anonymize(records, {"version": 1, "models": CLOSE, **policy}, seed=SEED)
    return str(refused.value)


@pytest.mark.parametrize("engine", ["kaca", "mondrian", "sweep"])
def test_below_the_root_all_vertices_are_no_class(engine: str) -> None:
    """Two of one record may not be in it, so no union of classes is as close as is asked for."""
    rng = random.Random(3)
    records = [
        {"visits": [{"ward": rng.choice("pqr"), "cost": rng.choice("abbc")} for _ in range(2)]}
        for _ in range(200)
    ]
    fields = {
        "$.visits[*].ward": {"role": "quasi", "flat": True},
        "$.visits[*].cost": {"role": "sensitive"},
    }
    steps = {"steps": [{"kind": engine}]}
    told = refusal(records, fields=fields, recoding="anatomy", engine=steps)
    assert "the smallest t that a class reached is 0.0" in told


def test_clustree_is_told_what_comes_within() -> None:
    rng = random.Random(1)
    records = [
        {"sex": rng.choice("xyz"), "age": rng.randint(1, 30), "ill": rng.choice([1, 1, 2, 4, 5])}
        for _ in range(300)
    ]
    fields = {
        "$.sex": {"role": "quasi", "flat": True},
        "$.age": {"role": "quasi", "interval": {"steps": [1, 5]}},
        "$.ill": {"role": "sensitive"},
    }
    told = refusal(records, fields=fields, engine={"steps": [{"kind": "clustree"}]})
    assert "the steps mondrian, swap come within the t" in told
    release = hierdata.anonymize(
        records,
        {
            "version": 1,
            "models": CLOSE,
            "fields": fields,
            "engine": {"steps": [{"kind": "mondrian"}, {"kind": "swap"}]},
        },
        seed=SEED,
    )
    assert release.report.counts.records.suppressed == 0


def test_what_asks_for_more_records_than_there_are_is_named() -> None:
    people = [{"a": "x", "s": value} for value in ("flu", "cold", "rash")]
    policy = {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 2}, {"kind": "distinct-l-diversity", "l": 4}],
        "fields": {"a": {"role": "quasi", "flat": True}, "s": {"role": "sensitive"}},
    }
    with pytest.raises(hierdata.PromiseError, match="under distinct-l-diversity at s a class needs"):
        hierdata.anonymize(people, policy)
