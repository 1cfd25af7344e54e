"""What lint foresees is what a release keeps, and what a remedy brings is what it brings in a release."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import pairwise
from math import comb
from pathlib import Path
from random import Random
from typing import Any

import pytest

import hierdata
from hierdata.ground.errors import PromiseError
from hierdata.pipeline.foresee import SAMPLE, Forecast, foresee_loss, take_sample
from hierdata.pipeline.look_over import survey_collection
from hierdata.policy.lint.lint import lint
from hierdata.policy.lint.remedies import LostPlace, suggest_remedies
from hierdata.policy.load import from_data, load
from hierdata.policy.policy import Policy
from hierdata.release.release import Release

FIXTURES = Path(__file__).parents[1] / "fixtures"
SEED = bytes(16)


def nested_policy(**more: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 5}],
        "suppressed": "as_published",
        "fields": {
            "$.born": {"role": "quasi", "interval": {"steps": [1, 5, 10]}},
            "$.visits[*].ward": {"role": "quasi", "flat": True},
            "$.visits[*].codes[*].code": {"role": "sensitive"},
        },
        **more,
    }


def people(count: int = 150, seed: int = 3) -> list[dict[str, Any]]:
    rng = Random(seed)
    return [
        {
            "born": rng.randint(1930, 2000),
            "visits": [
                {"ward": rng.choice("abc"), "codes": [{"code": rng.choice("uvw")}] * rng.choice((0, 1, 4))}
                for _ in range(rng.randint(0, 4))
            ],
        }
        for _ in range(count)
    ]


def foresee(source: object, policy: Policy) -> Forecast:
    return foresee_loss(source, policy, *survey_collection(source, policy), remedies=True)


def kept_at(release: Release, path: str) -> float:
    kept = release.report.kept
    assert kept is not None
    return float((kept.vertices.get(path) or kept.fields[path]).kept.value)


def published_at(release: Release, path: str) -> float:
    count = release.report.counts.vertices[path]
    return count.published / count.input


def test_all_records_are_searched_as_they_are_released() -> None:
    stated = nested_policy()
    found = foresee(people(), from_data(stated))
    release = hierdata.anonymize(people(), stated, seed=SEED)
    assert (found.searched, found.records) == (150, 150)
    assert found.places
    for place in found.places:
        assert place.kept == kept_at(release, place.path)
        if place.published is not None:
            assert place.published == published_at(release, place.path)


def test_a_remedy_brings_what_is_foreseen() -> None:
    policy = from_data(nested_policy())
    found = foresee(people(), policy)
    (codes,) = (place for place in found.places if place.path == "$.visits[*].codes[*]")
    helps = {one.text: one.kept for one in codes.helps}
    assert list(helps.values()) == sorted(helps.values(), reverse=True, key=float)
    lost = LostPlace(codes.path, ("$.visits[*].codes[*].code",), nested=True)
    tried = 0
    for remedy in suggest_remedies(policy, [lost]):
        if remedy.text in helps:
            stated = remedy.policy.model_dump(exclude_unset=True, exclude_none=True)
            if remedy.lift is not None:
                stated["shape"] = [{"lift": {"from": codes.path, "to": "$.codes"}}]
            release = hierdata.anonymize(people(), from_data(stated), seed=SEED)
            assert helps[remedy.text] == kept_at(release, remedy.moved or codes.path)
            tried += 1
    assert tried == len(helps) >= 2


@pytest.mark.full
def test_a_sample_foresees_the_students() -> None:
    source, file = FIXTURES / "students/students.json", FIXTURES / "policies/students-multilevel.yaml"
    found = foresee(source, load(file))
    release = hierdata.anonymize(source, file, seed=SEED)
    assert found.searched == SAMPLE < found.records == 600
    for place in found.places:
        assert place.kept is not None
        assert abs(place.kept - kept_at(release, place.path)) < 0.1
        if place.published is not None:
            assert abs(place.published - published_at(release, place.path)) < 0.1


def test_fields_that_are_published_as_nothing_are_named() -> None:
    fields: dict[str, Any] = {
        "$.born": {"role": "quasi", "flat": True},
        "$.ward": {"role": "quasi", "flat": True},
    }
    records = [{"born": at, "ward": "ab"[at % 2]} for at in range(60)]
    found = foresee(records, from_data(nested_policy(fields=fields)))
    assert [place.path for place in found.places] == ["$.born"]
    assert found.places[0].published is None


def test_nothing_is_named_where_nothing_is_lost() -> None:
    fields = {"$.ward": {"role": "quasi", "flat": True}}
    found = foresee([{"ward": "ab"[at % 2]} for at in range(60)], from_data(nested_policy(fields=fields)))
    assert (found.kept, found.places, found.failure) == (1.0, [], None)


def test_a_sample_is_spread_over_the_collection() -> None:
    rows: list[Any] = [{"at": at} for at in range(5 * SAMPLE + 3)]
    sample = [row["at"] for row in take_sample(rows, len(rows))]
    assert len(sample) == SAMPLE
    assert {later - before for before, later in pairwise(sample)} <= {5, 6}
    assert take_sample(rows[:SAMPLE], SAMPLE) == rows[:SAMPLE]


def test_a_forecast_tells_no_value() -> None:
    records = [{**person, "born": 4711} for person in people()]
    assert "4711" not in str(foresee(records, from_data(nested_policy())))


def test_only_policies_without_contradictions_are_tried() -> None:
    policy = load(FIXTURES / "policies/patients.yaml")
    lost = LostPlace("$.visits[*]", ("$.visits[*].year", "$.visits[*].diagnosis"))
    found = {remedy.text: remedy.policy for remedy in suggest_remedies(policy, [lost])}
    assert found["`weight: 5` on its fields"].fields["$.visits[*].year"].weight == 5
    assert found["no `engine`"].engine is None
    assert found["no `engine`"].models == policy.models
    preset = from_data(nested_policy(engine={"preset": "ClusTree"}, models=[{"kind": "k-anonymity", "k": 5}]))
    texts = [remedy.text for remedy in suggest_remedies(preset, [])]
    assert "no `preset`, with its models" in texts
    assert not any("recoding" in text for text in texts)  # a preset has its own


def test_levels_that_a_fixed_engine_cannot_publish_are_named() -> None:
    stated = nested_policy(
        models=[{"kind": "level-alpha-k", "k": 3}],
        engine={"preset": "MLevCluTree"},
        fields={
            "$.born": {"role": "quasi", "interval": {"steps": [1, 5, 10]}},
            "$.visits[*].codes[*].code": {
                "role": "sensitive",
                "levels": {"by": {"u": 1, "v": 2, "w": 5}},
            },
        },
        unlisted="drop",
    )
    policy = from_data(stated)
    survey, hints = survey_collection(people(), policy)
    (message,) = (one.message for one in lint(policy, survey, hints) if "level 5" in one.message)
    assert "classes of 10 can hold it, and this engine makes none. State `k: 10`" in message
    found = foresee_loss(people(), policy, survey, hints, remedies=True)
    (codes,) = (place for place in found.places if place.path == "$.visits[*].codes[*]")
    assert codes.helps[0].text == "no `preset`, with its models"
    assert "`k: 10`" in [remedy.text for remedy in suggest_remedies(policy, [])]


def test_what_cannot_be_foreseen_is_said() -> None:
    policy = from_data(nested_policy())
    survey, hints = survey_collection(people(), policy)
    survey.records = 4
    failure = foresee_loss(people(4), policy, survey, hints).failure
    assert failure is not None
    assert "too few records" in failure


def one_ward(count: int, others: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Records of which most have one ward, and a policy under which a third may have it."""
    fields = {"$.born": {"role": "quasi", "interval": {"steps": [10]}}, "$.ward": {"role": "sensitive"}}
    stated = nested_policy(
        models=[{"kind": "k-anonymity", "k": 3}, {"kind": "frequency-l-diversity", "l": 3}], fields=fields
    )
    wards = [*others, *("a" * (count - len(others)))]
    return [{"born": 1930 + at % 60, "ward": ward} for at, ward in enumerate(wards)], stated


@pytest.mark.parametrize(("others", "suppressed"), [("", "as_published"), ("", None), ("bcbcbcbc", None)])
def test_a_refusal_is_foreseen_in_the_words_of_the_refusal(others: str, suppressed: str | None) -> None:
    records, stated = one_ward(60, others)
    stated["suppressed"] = suppressed
    policy = from_data({key: own for key, own in stated.items() if own is not None})
    with pytest.raises(PromiseError) as refused:
        hierdata.anonymize(records, policy, seed=SEED)
    found = foresee(records, policy)
    assert found.refusal == str(refused.value)
    assert found.failure is None
    policy = policy.model_copy(update={"suppressed": "as_published"})
    assert (foresee(records, policy).refusal is None) == bool(others)


def test_a_refusal_is_a_guess_where_a_sample_was_searched() -> None:
    records, stated = one_ward(3 * SAMPLE, "")
    refusal = foresee(records, from_data(stated)).refusal
    assert refusal is not None
    assert refusal.endswith(f"in a search of {SAMPLE} of {3 * SAMPLE:,} records")
    records, stated = one_ward(3 * SAMPLE, "bc" * SAMPLE)
    assert foresee(records, from_data(stated)).refusal is None


def test_classes_larger_than_the_sample_are_said_to_be() -> None:
    stated = nested_policy(models=[{"kind": "k-anonymity", "k": SAMPLE + 1}])
    failure = foresee(people(2 * SAMPLE + 2), from_data(stated)).failure
    assert failure == f"a class needs {SAMPLE + 1} records, more than the {SAMPLE} that are searched"


def test_a_forecast_is_json() -> None:
    found = asdict(foresee(people(), from_data(nested_policy())))
    assert json.loads(json.dumps(found))["places"][0]["numbers"]


def test_pseudonyms_that_every_record_has_are_not_missed() -> None:
    """They are counted over the whole collection, of which a sample is searched."""
    people = [{"id": f"p{at}", "a": at % 2} for at in range(40)]
    stated: dict[str, Any] = {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 2}],
        "fields": {
            "$.id": {"role": "identifier", "action": {"pseudonym": {"domain": "people"}}},
            "$.a": {"role": "quasi", "flat": True},
        },
    }
    policy = from_data(stated)
    assert not foresee(people, policy).failure
    del people[3]["id"]
    assert "1 of 40 have no value here" in foresee(people, policy).failure


def test_a_sample_is_limited_by_the_patterns_that_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    records = people(150)
    fields = {**nested_policy()["fields"], "$.visits[*].codes[*].code": {"role": "quasi", "flat": True}}
    stated = nested_policy(fields=fields, models=[{"kind": "bounded-knowledge", "k": 5, "m": 2}])
    policy = from_data({key: own for key, own in stated.items() if key != "suppressed"})
    facts = [sum(1 + len(visit["codes"]) for visit in one["visits"]) for one in records]
    patterns = sum(count + comb(count, 2) for count in facts)
    monkeypatch.setattr("hierdata.pipeline.foresee._PATTERNS", patterns)
    assert foresee_loss(records, policy, *survey_collection(records, policy)).searched == 150
    monkeypatch.setattr("hierdata.pipeline.foresee._PATTERNS", patterns - 1)
    assert foresee_loss(records, policy, *survey_collection(records, policy)).searched == 112
    # So few records that fewer tell nothing are not searched for long either.
    monkeypatch.setattr("hierdata.pipeline.foresee._PATTERNS", 1)
    monkeypatch.setattr("hierdata.pipeline.foresee._MOST_PATTERNS", patterns // 2)
    told = foresee_loss(records, policy, *survey_collection(records, policy))
    assert told.failure is not None
    assert told.failure.startswith("100 records, the fewest that tell something, have about ")
