"""What a report says, and what it leaves out."""

from __future__ import annotations

import pytest

import hierdata

PEOPLE = [{"age": age, "reason": reason} for age in (30, 30, 40, 40) for reason in ("flu", "cold")]
POLICY = {
    "version": 1,
    "models": [{"kind": "k-anonymity", "k": 2}, {"kind": "frequency-l-diversity", "l": 2}],
    "fields": {"$.age": {"role": "quasi", "flat": True}, "$.reason": {"role": "sensitive"}},
}


def test_a_metric_that_does_not_apply_is_left_out() -> None:
    report = hierdata.anonymize(PEOPLE, POLICY).report
    assert "lm_cost" in report.metrics
    assert "dissimilarity_degree" not in report.metrics


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


def test_verify_takes_what_anonymize_takes() -> None:
    release = hierdata.anonymize(PEOPLE, POLICY)
    records = list(release.records())
    assert hierdata.verify(records, POLICY).passed
    assert not hierdata.verify(records[:-1], {**POLICY, "models": [{"kind": "k-anonymity", "k": 9}]}).passed


def test_an_lxml_tree_is_its_records() -> None:
    from lxml import etree

    people = "".join(
        f"<p age='{age}'><reason>{reason}</reason></p>" for age, reason in map(dict.values, PEOPLE)
    )
    tree = etree.ElementTree(etree.fromstring(f"<people><!-- all --><note/>{people}</people>"))
    fields = {"/people/p/@age": {"role": "quasi", "flat": True}, "/people/p/reason": {"role": "sensitive"}}
    report = hierdata.anonymize(tree, {**POLICY, "fields": fields}).report
    assert report.counts.records.input == len(PEOPLE)


def test_the_signer_is_told_what_becomes_of_each_field_and_what_is_doubtful() -> None:
    levels = {"by": {"flu": 1, "cold": 5}}
    fields = {**POLICY["fields"], "$.reason": {"role": "sensitive", "levels": levels}}
    models = [{"kind": "level-alpha-k", "k": 2, "alpha": ["0.5", "0.5", "0.5", "0.5", "0.5"]}]
    report = hierdata.anonymize(PEOPLE, {**POLICY, "fields": fields, "models": models}).report
    assert report.fields["$.age"] == "quasi-identifier: generalized (flat)"
    assert report.fields["$.reason"].startswith("sensitive")


def test_a_part_that_the_release_has_not_is_refused_at_once() -> None:
    release = hierdata.anonymize(PEOPLE, POLICY)
    with pytest.raises(hierdata.PolicyError, match="it has records"):
        release.part("sensitive")


def test_whoever_listens_is_told_of_compiling_in_his_own_run_only() -> None:
    from numba.core import event

    before = len(event._registered["numba:compile"])
    hierdata.anonymize(PEOPLE, POLICY, notice=lambda _: None)
    assert len(event._registered["numba:compile"]) == before
