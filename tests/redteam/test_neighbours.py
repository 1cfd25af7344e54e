"""Groups of anatomy and slicing do not tell which records stood beside each other in the input."""

from __future__ import annotations

from typing import Any

import pytest

import hierdata

RECORDS = 240
MODELS: dict[str, list[dict[str, Any]]] = {
    "clustree": [{"kind": "k-anonymity", "k": 3}],
    "mbf": [{"kind": "frequency-l-diversity", "l": 3}],
    "mondrian": [{"kind": "frequency-l-diversity", "l": 3}, {"kind": "k-anonymity", "k": 3}],
    "spread": [{"kind": "delta-l-diversity", "delta": "1/4", "l": 3}],
}


SLICED: dict[str, list[dict[str, Any]]] = {
    "clustree": MODELS["clustree"],
    "msb": MODELS["mbf"],
    "msb kaca": MODELS["mondrian"],
    "msb kaca swap": [{"kind": "k-anonymity", "k": 4}, {"kind": "t-closeness", "t": "2/5"}],
}


@pytest.mark.parametrize(
    ("engine", "recoding", "models"),
    [
        pytest.param(engine, recoding, models, marks=[] if number < 2 else pytest.mark.full)
        for recoding, asked in (("anatomy", MODELS), ("slicing", SLICED))
        for number, (engine, models) in enumerate(asked.items())
    ],
)
def test_members_of_a_group_lie_as_far_apart_as_chance_has_it(
    engine: str, recoding: str, models: list[dict[str, Any]]
) -> None:
    """All quasi-identifiers are equal; ``exempt`` carries the place in the input to the release."""
    people = [{"age": 30, "pay": at * 7 % 6, "place": at} for at in range(RECORDS)]
    policy = {
        "version": 1,
        "models": models,
        "recoding": recoding,
        "engine": {"steps": [{"kind": kind} for kind in engine.split()]},
        "fields": {
            "$.age": {"role": "quasi", "flat": True},
            "$.pay": {"role": "sensitive"},
            "$.place": {"role": "insensitive", "exempt": "the test asks where a record came from"},
        },
    }
    spans: list[float] = []
    for seed in range(6):
        groups: dict[Any, list[Any]] = {}
        for record in hierdata.anonymize(people, policy, seed=bytes([seed]) * 16).records():
            groups.setdefault(record["group"], []).append(record["place"])
        for places in groups.values():
            # Of n random places the span is (n - 1) / (n + 1) of the whole on average.
            spans.append((max(places) - min(places)) / RECORDS * (len(places) + 1) / (len(places) - 1))
    assert 0.9 < sum(spans) / len(spans) < 1.1
