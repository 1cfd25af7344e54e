"""Releases under the models that compare with the original: published, verified, and forged."""

from __future__ import annotations

import json
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata.ground.errors import PolicyError, VerificationError
from tests import naive_distributions as naive
from tests.naive_distributions import Node

SEED = b"a seed of sixteen bytes"
ILLNESSES = {"*": {"lungs": ["flu", "cold"], "blood": {"virus": ["HIV", "Ebola"]}}}
TREE = Node(
    "*",
    (
        Node("lungs", (Node("flu"), Node("cold"))),
        Node("blood", (Node("virus", (Node("HIV"), Node("Ebola"))),)),
    ),
)


def records(count: int = 60) -> list[dict[str, Any]]:
    rng = random.Random(3)
    return [
        {
            "sex": rng.choice("mf"),
            "visits": [
                {"ward": rng.choice("ab"), "ill": rng.choice(["flu", "flu", "cold", "HIV", None])}
                for _ in range(rng.randint(1, 2))
            ],
            "income": rng.choice([10, 20, 30, 40, 50]),
        }
        for _ in range(count)
    ]


def policy(*models: dict[str, Any], k: int = 6) -> dict[str, Any]:
    return {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": k}, *models],
        "fields": {
            "$.sex": {"role": "quasi", "flat": True},
            "$.visits[*].ward": {"role": "quasi", "flat": True},
            "$.visits[*].ill": {"role": "sensitive", "taxonomy": {"tree": ILLNESSES}},
            "$.income": {"role": "sensitive"},
        },
    }


ILL, INCOME = ["$.visits[*].ill"], ["$.income"]
MODELS: list[dict[str, Any]] = [
    {"kind": "t-closeness", "t": "1/2", "on": ILL},
    {"kind": "t-closeness", "t": "2/5", "distance": "hierarchical", "on": ILL},
    {"kind": "t-closeness", "t": "2/5", "distance": "ordered", "on": INCOME},
    {"kind": "basic-beta-likeness", "beta": "3/2"},
    {"kind": "enhanced-beta-likeness", "beta": 2},
    {"kind": "delta-disclosure", "delta": 1, "absent": "ignore"},
    {"kind": "delta-disclosure", "delta": "3/2", "on": ILL},
    {"kind": "p-sensitive-k-anonymity", "p": 2, "k": 6},
]
each_model = pytest.mark.parametrize(
    "model", MODELS, ids=lambda model: f"{model['kind']}-{model.get('distance')}"
)


def named(model: dict[str, Any]) -> str:
    return str(model["kind"])


@each_model
def test_a_release_is_made_and_verified_in_every_way(model: dict[str, Any], tmp_path: Path) -> None:
    stated = policy(model)
    hierdata.anonymize(records(), stated, seed=SEED).save(tmp_path / "out")
    for verdict in (
        hierdata.verify(tmp_path / "out", stated),
        hierdata.verify(tmp_path / "out", stated, original=records()),
    ):
        assert verdict.passed
        assert all(judgement.held for judgement in verdict.judgements)
        assert {judgement.model for judgement in verdict.judgements} == {"k-anonymity", named(model)}


def test_what_is_achieved_is_measured_against_the_original_with_what_was_suppressed() -> None:
    stated = policy({"kind": "t-closeness", "t": "2/5", "distance": "hierarchical", "on": ILL})
    release = hierdata.anonymize(records(), stated, seed=SEED)
    verdict = hierdata.verify(release.folder, stated)
    original = [visit["ill"] for one in records() for visit in one["visits"] if visit["ill"] is not None]
    vertices: dict[str, list[str]] = {}
    for published in release.records():
        wards = sorted(str(visit["ward"]) for visit in published.get("visits", []))
        for visit in published.get("visits", []):
            place = f"{published['sex']} {wards} {visit['ward']}"
            vertices.setdefault(place, []).extend(filter(None, [visit.get("ill")]))
    found = [
        naive.t_of(values, original, lambda p, q: naive.hierarchical(p, q, TREE))
        for values in vertices.values()
    ]
    (judgement,) = (one for one in verdict.judgements if one.model == "t-closeness")
    assert judgement.achieved == {"t": max(found)}
    assert 0 < judgement.achieved["t"] <= Fraction(2, 5)


@pytest.mark.parametrize(
    "model", [one for one in MODELS if named(one) != "p-sensitive-k-anonymity"], ids=named
)
def test_without_the_original_s_figures_nothing_is_judged(model: dict[str, Any], tmp_path: Path) -> None:
    stated = policy(model)
    hierdata.anonymize(records(), stated, seed=SEED).save(tmp_path / "out")
    (alone,) = (tmp_path / "out" / "public").glob("records.*")
    verdict = hierdata.verify(alone, stated)
    assert not verdict.passed
    assert all(one.held is None for one in verdict.judgements if one.model == named(model))
    assert all("original" in one.reason for one in verdict.judgements if one.model == named(model))


def test_reference_counts_that_were_changed_are_found_by_the_original(tmp_path: Path) -> None:
    stated = policy(MODELS[0])
    hierdata.anonymize(records(), stated, seed=SEED).save(tmp_path / "out")
    file = tmp_path / "out" / "steward" / "verification.json"
    facts = json.loads(file.read_text("utf-8"))
    counted = Counter(
        visit["ill"] for one in records() for visit in one["visits"] if visit["ill"] is not None
    )
    assert facts["sensitive"][ILL[0]]["reference"]["texts"] == counted
    assert facts["sensitive"][INCOME[0]]["reference"] is None
    facts["sensitive"][ILL[0]]["reference"]["texts"]["HIV"] += 1
    file.write_text(json.dumps(facts), "utf-8")
    with pytest.raises(VerificationError):
        hierdata.verify(tmp_path / "out", stated, original=records())


def test_a_class_that_is_far_from_the_original_fails() -> None:
    stated = policy({"kind": "t-closeness", "t": "1/10", "on": INCOME}, k=2)
    forged = [{"sex": "m", "visits": [], "income": 10} for _ in range(6)]
    verdict = hierdata.verify(forged, stated, original=[*forged, *records()])
    (judgement,) = (one for one in verdict.judgements if one.model == "t-closeness")
    assert judgement.held is False
    assert judgement.failing_classes == 1


def test_what_a_model_needs_is_said_before_anything_is_read_twice() -> None:
    with pytest.raises(PolicyError, match="taxonomy"):
        hierdata.anonymize(
            records(), policy({"kind": "t-closeness", "t": 1, "distance": "hierarchical", "on": INCOME})
        )
    with pytest.raises(PolicyError, match="number: true"):
        hierdata.anonymize(
            records(), policy({"kind": "t-closeness", "t": 1, "distance": "ordered", "on": ILL})
        )
