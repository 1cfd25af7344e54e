"""Labels of fields on pages: what is shown for a path, also where a policy states hostile ones."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata.cli.overview import overview
from hierdata.ground.errors import PolicyError
from hierdata.metrics import LIMITED
from hierdata.policy.load import from_data
from hierdata.policy.policy import Policy
from hierdata.release.report.models import dump
from hierdata.release.report.names import METRICS, Names, name_figure
from hierdata.release.report.page import render_report, render_summary
from tests.report.sample import GPA, GRADE, release_file, steward_report
from tests.report.test_page import Page, drawn_report

LABELS = {GRADE: "Grade of the course", GPA: "Average", "$.year": "Year of birth"}


def test_sentences_name_a_field_by_its_label_and_only_where_it_is_meant() -> None:
    names = Names(
        {"$.a": "Age", "$.b[*].c": "Code of it", "age": "Years"}, ["$.a.b", "$.ab", "most", "place"]
    )
    cases = {
        "At $.a and $.b[*].c: a class.": 'At Age and "Code of it": a class.',
        "At $.a.b and $.ab: a class.": "At $.a.b and $.ab: a class.",
        "It is $.a.": "It is Age.",
        "$.a.c or $.a[*] or x$.a or $.a-b": "$.a.c or $.a[*] or x$.a or $.a-b",
        'Reason given: "as $.a at age is"': 'Reason given: "as $.a at age is"',
        "at age and place, at most": "at Years and place, at most",
        "The age at which one is of age": "The age at which one is of age",
        "age is published as it stands": "Years is published as it stands",
    }
    assert {told: names.text(told) for told in cases} == cases


def test_without_labels_nothing_changes_and_equal_labels_keep_their_paths() -> None:
    assert Names({}, ["$.a"]).text("At $.a: x") == "At $.a: x"
    alike = Names({"$.a": "Age", "$.b": "Age", "$.c": "$.d"}, ["$.d"])
    assert [alike.show(path) for path in ("$.a", "$.b", "$.c")] == ["Age ($.a)", "Age ($.b)", "$.d ($.c)"]
    assert alike.behind("$.a", "field") == ("Age ($.a)", "")
    assert alike.behind("$.a", "reason") == ("$.a", "")
    assert b"labels" not in dump(release_file()) + dump(steward_report())


def test_pages_and_the_first_screen_show_labels_with_the_path_in_small_print() -> None:
    report = drawn_report().model_copy(update={"labels": LABELS})
    judged = report.promises[1].model_copy(
        update={"statement": f"At {GPA} and {GRADE}: limited.", "finding": ""}
    )
    report = report.model_copy(update={"promises": (report.promises[0], judged)})
    release = release_file().model_copy(update={"labels": LABELS, "promises": (judged,)})
    said = 'At Average and "Grade of the course": limited.'
    for text in (render_report(report), render_summary(release)):
        assert said in Page(text).text
        paths = [re.escape(path) for path in LABELS]
        assert not re.search(rf"(?<!<small>)({'|'.join(paths)})", text), "paths stand in small print only"
    assert "<small>$.courses[*].grade</small>" in render_report(report)
    screen = " ".join(" ".join(overview(report, Path("out"))).split())
    assert said in screen
    assert "$.gpa" not in screen
    kept = json.loads(dump(release))
    assert kept["labels"] == LABELS
    assert kept["promises"][0]["paths"] == [GPA, GRADE]


@pytest.mark.parametrize(
    "label",
    ["<script>alert(1)</script>", '" onload="x', "{{ 7*7 }}", "x\u202ey\u200b", "$.gpa", "at $.gpa: held"],
)
def test_hostile_labels_are_shown_and_do_nothing(label: str) -> None:
    base, labelled = drawn_report(), {GRADE: label, "$.year": label, "$.courses[*]": label}
    report = type(base).model_validate(base.model_dump() | {"labels": labelled})
    release = type(own := release_file()).model_validate(own.model_dump() | {"labels": labelled})
    for text, plain in (
        (render_report(report), render_report(base.model_copy(update={"labels": LABELS}))),
        (render_summary(release), render_summary(release_file())),
    ):
        page = Page(text)
        assert {tag for tag, _ in page.tags} <= {tag for tag, _ in Page(plain).tags}
        assert not {"onload", "style", "src"} & {name for _, attributes in page.tags for name in attributes}
        assert not re.search("[\u202e\u200b]", text)
    assert not re.search("[\u202e\u200b]", "".join(overview(report, Path("out"))))
    quoted = Names({"$.x": "held. All is well"}).text("At $.x: limited.")
    assert quoted == 'At "held. All is well": limited.'


def test_a_label_is_a_short_text_of_any_rule() -> None:
    rules: dict[str, dict[str, Any]] = {
        "$.a": {"role": "quasi", "flat": True, "label": "A"},
        "$.b": {"role": "sensitive", "label": "B " * 100},
        "$.c": {"role": "identifier", "label": "C"},
        "$.d": {"derived": "$.a", "label": "D"},
        "$.e": {"vertex": True, "label": "E"},
    }
    policy = Policy.model_validate(
        {"version": 1, "models": [{"kind": "k-anonymity", "k": 2}], "fields": rules}
    )
    assert policy.labels == {path: rule["label"] for path, rule in rules.items()}
    for wrong in ("", "x" * 201, "a\nb", "a\x1b[1m", "a\x9b"):
        field = {"role": "quasi", "flat": True, "label": wrong}
        with pytest.raises(
            PolicyError, match=r"\$\.a\]\.label: must be 1 to 200 characters without line ends"
        ):
            from_data({"version": 1, "models": [{"kind": "k-anonymity", "k": 2}], "fields": {"$.a": field}})


def test_a_release_with_labels_is_verified_and_its_records_are_those_without(tmp_path: Path) -> None:
    records = [{"age": at // 4, "ill": f"i{at % 3}"} for at in range(24)]
    made = []
    for label in ({}, {"label": "Illness (main)"}):
        policy = {
            "version": 1,
            "models": [{"kind": "k-anonymity", "k": 2}, {"kind": "distinct-l-diversity", "l": 2}],
            "fields": {"$.age": {"role": "quasi", "flat": True}, "$.ill": {"role": "sensitive", **label}},
        }
        release = hierdata.anonymize(records, policy, seed=bytes(range(16)))
        assert hierdata.verify(release.folder, policy, original=records).passed
        made.append(release)
    without, labelled = (release.folder / "public" for release in made)
    assert (without / "records.json").read_bytes() == (labelled / "records.json").read_bytes()
    stated = json.loads((labelled / "release.json").read_bytes())
    assert stated.pop("labels") == {"$.ill": "Illness (main)"}
    assert stated["worst_guess"].keys() == {"$.ill"}
    assert "Illness (main)" in (labelled / "summary.html").read_text("utf-8")
    assert "labels" not in json.loads((without / "release.json").read_bytes())


def test_every_metric_has_a_name_that_readers_know_and_its_short_name_stays_in_small_print() -> None:
    assert METRICS.keys() == LIMITED.keys()
    assert name_figure("disclosure_rate", "$.gpa", ["$.gpa"]).text.endswith(" at $.gpa")
    assert name_figure("own:metric", "per_value", []) == ("own:metric, per value", "own:metric.per_value")
    text = render_report(drawn_report())
    assert '<th scope="row">loss metric (LM), per value <small>lm_cost.per_value</small></th>' in text
    folded = text[text.index('id="loss"') : text.index("loss metric (LM), per value")]
    assert "<details>" in folded
    assert "</details>" not in folded


def test_a_long_label_keeps_its_quotes_where_it_is_cut() -> None:
    names = Names({"$.x": "Where held. All is well and nothing can go wrong"}, ["$.courses[*].evaluations"])
    assert names.name("$.x", 20) == '"Where held. All i..."'
    assert names.name("$.courses[*].evaluations", 20) == "...es[*].evaluations"
