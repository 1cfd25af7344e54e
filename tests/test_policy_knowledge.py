"""What bounded knowledge goes with, before any search, and what lint says of a collection."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest

import hierdata
from hierdata.engines.specialize.division_search import DivisionSearch
from hierdata.ground.errors import PolicyError, PromiseError
from hierdata.pipeline.look_over import read_policy
from hierdata.policy.lint.lint import Finding, lint
from hierdata.policy.load import from_data
from hierdata.policy.plan.plan import prepare
from hierdata.policy.policy import Policy
from hierdata.records.survey import survey

FLAT: dict[str, Any] = {"role": "quasi", "flat": True}
FIELDS: dict[str, Any] = {"$.town": FLAT, "$.visits[*].ward": FLAT, "$.visits[*].ill": {"role": "sensitive"}}
K5: dict[str, Any] = {"kind": "bounded-knowledge", "k": 5, "m": 2}


def stated(model: dict[str, Any] = {}, fields: dict[str, Any] = FIELDS, **more: Any) -> dict[str, Any]:  # noqa: B006
    return {"version": 1, "models": [K5 | model], "fields": fields, **more}


def test_it_is_accepted_alone_and_beside_models_of_root_classes() -> None:
    alone = read_policy(stated())
    assert alone.knowledge is not None
    assert not alone.guards_suppressed
    beside = {"kind": "distinct-l-diversity", "l": 2}
    assert read_policy(stated() | {"models": [K5, beside]}).knowledge == alone.knowledge


@pytest.mark.parametrize(
    ("policy", "what"),
    [
        (stated({"m": 0}), r"m: must be greater than or equal to 1, not 0"),
        (stated({"m": 4}), r"m: must be less than or equal to 3, not 4"),
        (stated({"on": ["$.visits[*].ill"]}), "judges whole records"),
        (stated({"values": {"$.visits[*].ill": ["HIV"]}}), "state alpha too"),
        (stated({"counts": {"$.visits[*]": [2, 1]}}), "the edges of .* must increase"),
        (stated({"counts": {"$.visits[*]": []}}), r"counts\[.*\]: at least 1 must be given, not 0"),
        (stated({"counts": {"$.visits": [1, 2]}}), r"\$\.visits does not repeat"),
        (stated({"alpha": "0.5", "values": {"$.town": ["a"]}}), r"\$.town is not a sensitive field"),
        (stated({"alpha": "0.5"}, {"$.town": FLAT, "$.v[*].w": FLAT}), "there are none: leave it out"),
        (stated(fields={"$.town": FLAT}), "m bounds nothing: take k-anonymity, or state `root: counted`"),
        (
            stated(recoding="anatomy"),
            "needs values by nodes, each in its record: use recoding generalization",
        ),
        (stated(suppressed="guarded"), "no record is suppressed: leave `suppressed` out"),
        (stated(unlisted={"keep": "all of it"}), "give each field a rule, and use error or drop"),
        (stated(engine={"preset": "MLevCluTree"}), "cannot be combined with bounded-knowledge"),
        (stated(engine={"steps": [{"kind": "clustree"}]}), "goes with the engine specialize only"),
        (stated() | {"models": [K5, K5 | {"m": 1}]}, "is stated twice: state it once"),
        (
            stated(engine={"steps": [{"kind": "specialize"}]})
            | {"models": [{"kind": "k-anonymity", "k": 5}]},
            "searches under bounded knowledge only",
        ),
        (
            stated(
                fields={
                    **FIELDS,
                    "$.visits[*].id": {
                        "role": "identifier",
                        "action": {"pseudonym": {"domain": "v", "identity": True}},
                    },
                    "$.visits[*].before": {
                        "role": "identifier",
                        "action": {"pseudonym": {"domain": "v"}},
                        "exempt": "none",
                    },
                }
            ),
            "a reference that leads to nothing would tell of them",
        ),
    ],
)
def test_what_it_does_not_go_with_is_one_sentence(policy: dict[str, Any], what: str) -> None:
    with pytest.raises(PolicyError, match=what) as failure:
        read_policy(policy)
    assert "\n" not in str(failure.value)


def test_a_collection_without_anything_below_its_records_is_refused() -> None:
    fields = {"$.town": FLAT, "$.home.street": FLAT}
    policy = read_policy(stated(fields=fields))
    records = [{"town": "a", "home": {"street": "b"}}] * 5
    with pytest.raises(PolicyError, match="the collection has no facts below the record"):
        prepare(policy, survey(records, policy.declared_fields()))


def test_alpha_is_a_model_that_limits_presence() -> None:
    asked = {**FIELDS, "$.visits[*].ill": {"role": "sensitive", "asks": "presence"}}
    assert read_policy(stated({"alpha": "0.5"}, asked)).knowledge is not None
    for model in ({}, {"alpha": "0.5", "values": {"$.job": ["x"]}}):
        with pytest.raises(PolicyError, match="bounded-knowledge with alpha"):
            read_policy(stated(model, {**asked, "$.job": {"role": "sensitive"}}))


def findings(policy: Policy, records: list[dict[str, Any]]) -> list[Finding]:
    return lint(policy, survey(records, policy.declared_fields(identifiers=True), holders=True))


def test_lint_says_which_values_are_above_alpha_everywhere() -> None:
    fields = {**FIELDS, "$.visits[*].ill": {"role": "sensitive", "asks": "value"}}
    records = [{"town": "a", "visits": [{"ward": "x", "ill": ill}]} for ill in ["flu"] * 6 + ["HIV"] * 4]
    found = findings(from_data(stated({"alpha": "0.5"}, fields)), records)
    (one,) = [finding for finding in found if "alpha" in finding.message]
    assert one.message == (
        "bounded-knowledge: in the whole collection 1 value has more than alpha = 0.5 of the values, up to "
        "0.6. Name under `values` those that matter, or raise alpha"
    )
    assert one.revealed == ("flu",)
    assert one.path == "$.visits[*].ill"
    named = {"alpha": "0.5", "values": {"$.visits[*].ill": ["HIV"]}}
    assert not any(
        "alpha" in finding.message for finding in findings(from_data(stated(named, fields)), records)
    )
    assert any(
        "no model limits" in finding.message for finding in findings(from_data(stated({}, fields)), records)
    )


@pytest.mark.full
def test_lint_estimates_the_patterns_to_count(monkeypatch: pytest.MonkeyPatch) -> None:
    # Three visits with two facts: 6 facts, 15 pairs and 20 triples a record.
    fields = {"$.town": FLAT, "$.visits[*].ward": FLAT, "$.visits[*].year": FLAT}
    records = [{"town": "a", "visits": [{"ward": "x", "year": 1}] * 3}] * 10
    policy = from_data(stated({"m": 3}, fields))
    assert not any("patterns" in finding.message for finding in findings(policy, records))
    monkeypatch.setattr("hierdata.privacy.bounded_knowledge._MOST_OCCURRENCES", 410)
    (one,) = [finding for finding in findings(policy, records) if "patterns" in finding.message]
    assert "a record has 6 facts on average" in one.message
    assert "at least about 4e+02 occurrences" in one.message
    assert "about 30 minutes of a processor" in one.message
    told: list[str] = []
    hierdata.anonymize(records, policy, seed=bytes(16), notice=told.append)
    assert one.message in told


def test_lint_estimates_no_more_patterns_than_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two lists of four each: all records have eight facts, more than one list has; 28 pairs and 8 facts."""
    fields = {"$.town": FLAT, "$.visits[*].ward": FLAT, "$.drugs[*].code": FLAT}
    records = [{"town": "a", "visits": [{"ward": "x"}] * 4, "drugs": [{"code": "y"}] * 4}] * 10
    monkeypatch.setattr("hierdata.privacy.bounded_knowledge._MOST_OCCURRENCES", 360)
    (one,) = [own for own in findings(from_data(stated({}, fields)), records) if "patterns" in own.message]
    assert "one has at least 8. To judge m = 2 takes about" in one.message
    assert "at least about 4e+02 occurrences" in one.message


def test_lint_says_that_one_record_has_too_many_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its longest list alone; and what cannot be searched is refused in the same words before it begins."""
    fields = {"$.town": FLAT, "$.visits[*].ward": FLAT, "$.visits[*].ill": {"role": "sensitive"}}
    visits = [{"ward": "x", "ill": "flu"}, {"ward": "y", "ill": "HIV"}]
    records = [{"town": "a", "visits": visits * times} for times in [1] * 9 + [10]]
    monkeypatch.setattr("hierdata.privacy.bounded_knowledge._MOST_WITH_ALPHA", 1_300)
    policy = from_data(stated({"m": 3, "alpha": "0.5"}, fields))
    (one,) = [own for own in findings(policy, records) if "Patterns" in own.message]
    # 20 facts, 190 pairs and 1,140 triples of the longest, 2 facts and a pair of the others.
    assert "one has at least 20. Patterns of up to 3 facts occur at least about 1e+03 times" in one.message
    assert "at most 1e+03 are counted" in one.message
    with (
        patch.object(DivisionSearch, "mend_divisions") as searched,
        pytest.raises(PromiseError, match=r"10 records have 1,377 occurrences .* at most 1,300"),
    ):
        hierdata.anonymize(records, policy, seed=bytes(16))
    searched.assert_not_called()
