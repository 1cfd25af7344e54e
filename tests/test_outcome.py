"""What a report says, and what it leaves out."""

from __future__ import annotations

import hierdata

PEOPLE = [{"age": age, "reason": reason} for age in (30, 30, 40, 40) for reason in ("flu", "cold")]
POLICY = {
    "version": 1,
    "models": [{"kind": "k-anonymity", "k": 2}, {"kind": "frequency-l-diversity", "l": 2}],
    "fields": {"$.age": {"role": "quasi", "flat": True}, "$.reason": {"role": "sensitive"}},
}


def test_a_metric_that_does_not_apply_is_left_out() -> None:
    report = hierdata.anonymize(PEOPLE, POLICY).report
    assert set(report.metrics) == {"lm_cost", "suppression_ratio"}


def test_levels_bring_their_metric_and_table() -> None:
    fields = {**POLICY["fields"], "$.reason": {"role": "sensitive", "levels": {"by": {"flu": 1, "cold": 2}}}}
    report = hierdata.anonymize(PEOPLE, {**POLICY, "fields": fields}).report
    assert report.metrics["dissimilarity_degree"].figures["mean_level_distance"] > 0
    assert [row.count for row in report.levels["$.reason"].levels] == [4, 4]


def test_two_models_of_one_kind_are_told_apart() -> None:
    people = [{"age": 30, "reason": x, "ward": y} for x, y in ("ac", "ba", "cb", "bc", "ca", "ab")]
    models = [
        {"kind": "frequency-l-diversity", "l": 2, "on": ["$.reason"]},
        {"kind": "frequency-l-diversity", "l": "3/2", "on": ["$.ward"]},
    ]
    fields = {**POLICY["fields"], "$.ward": {"role": "sensitive"}}
    promises = hierdata.anonymize(people, {**POLICY, "models": models, "fields": fields}).report.promises
    assert [promise.paths for promise in promises] == [("$.reason",), ("$.ward",)]
    assert all(promise.held for promise in promises)
