"""Promises at their edges: what holds must not be refused, and what is refused must say what would hold."""

from __future__ import annotations

from typing import Any

import pytest

import hierdata

SEED = b"sixteen bytes or"


@pytest.mark.parametrize(
    "model",
    [
        {"kind": "basic-beta-likeness", "beta": 1},
        {"kind": "enhanced-beta-likeness", "beta": 1},
        {"kind": "delta-disclosure", "delta": 1},
        {"kind": "delta-disclosure", "delta": 1, "absent": "ignore"},
        {"kind": "t-closeness", "t": 0.1},
    ],
    ids=str,
)
@pytest.mark.parametrize("engine", ["clustree", "mbf", "mondrian"])
def test_an_attribute_without_any_value_asks_for_nothing(model: dict[str, Any], engine: str) -> None:
    policy = {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 2}, model],
        "engine": {"steps": [{"kind": engine}]},
        "fields": {
            "$.zip": {"role": "quasi", "flat": True},
            "$.ill": {"role": "sensitive", "optional": True},
        },
    }
    release = hierdata.anonymize([{"zip": "ab"[at % 2]} for at in range(12)], policy, seed=SEED)
    assert release.report.counts.records.published == 12
