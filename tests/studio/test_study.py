"""A study keeps every state of its policy, and what was meant for another state is refused."""

from __future__ import annotations

import json
import os
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from hierdata.cli import main
from hierdata.cli import studio as command
from hierdata.ground.errors import PolicyError, TargetError
from hierdata.policy.load import load
from hierdata.policy.load.yaml import fragment
from hierdata.studio.opening import continue_study, open_study
from hierdata.studio.pages.roles import list_questions
from hierdata.studio.serve import _listen
from hierdata.studio.study import StaleError, StudyFolder
from hierdata.studio.work import Works, WorkState
from hierdata.studio.worker import describe_fault, run
from hierdata.studio.yaml_edit import remove_entry, set_entry, set_items
from tests.studio.client import Client


def test_undo_goes_back_change_by_change_and_forgets_answers(study: StudyFolder) -> None:
    first = study.policy_text()
    study.change(study.version(), first + "# a\n", "one", ["x"])
    study.change(study.version(), first + "# b\n", "two", ["y"])
    assert study.list_answers() == {"x", "y"}
    undone = study.undo(study.version())
    assert undone is not None
    assert undone.what == "two"
    assert (study.policy_text(), study.list_answers()) == (first + "# a\n", {"x"})
    study.change(study.version(), first + "# c\n", "three")
    study.undo(study.version())
    study.undo(study.version())
    assert (study.policy_text(), study.list_answers()) == (first, set())
    assert study.undo(study.version()) is None
    assert StudyFolder(study.folder).changes() == study.changes()


def test_a_stale_change_is_refused_and_one_from_outside_is_entered(study: StudyFolder) -> None:
    version, text = study.version(), study.policy_text()
    (study.folder / "policy.yaml").write_text(text + "# by hand\n", "utf-8")
    with pytest.raises(StaleError):
        study.change(version, text, "stale")
    assert study.policy_text() == text + "# by hand\n"
    assert study.changes()[-1].outside
    study.undo(study.version())
    assert study.policy_text() == text


def test_a_study_is_its_owners_alone(study: StudyFolder) -> None:
    study.change(study.version(), study.policy_text() + "# a\n", "one")
    assert stat.S_IMODE(study.folder.stat().st_mode) == 0o700
    for file in (
        "policy.yaml",
        "study.json",
        "figures/values.json",
        "history/0001.yaml",
        "history/log.jsonl",
    ):
        assert stat.S_IMODE((study.folder / file).stat().st_mode) == 0o600, file


def test_edits_keep_comments_order_and_unknown_keys(study: StudyFolder) -> None:
    text = study.policy_text().replace("version: 1", "version: 1  # ours\nshape_of_things: {a: [1, 2.50]}")
    edited = set_entry(text, ("fields", "$.sex", "weight"), 2)
    edited = set_entry(edited, ("fields", "$.visits[*].year", "role"), "sensitive")
    edited = set_entry(edited, ("fields", "$.new[*]"), {"role": "quasi", "flat": True})
    edited = set_items(edited, "models", [{"kind": "k-anonymity", "k": 7}])
    edited = remove_entry(edited, "draft")
    before, after = fragment(text, "before"), fragment(edited, "after")
    assert after.pop("models") == [{"kind": "k-anonymity", "k": 7}]
    assert after["fields"].pop("$.new[*]") == {"role": "quasi", "flat": True}
    assert after["fields"]["$.sex"].pop("weight") == 2
    assert after["fields"]["$.visits[*].year"]["role"] == "sensitive"
    after["fields"]["$.visits[*].year"]["role"] = "quasi"
    before.pop("draft")
    before.pop("models")
    assert after == before
    assert "version: 1  # ours\nshape_of_things: {a: [1, 2.50]}" in edited
    kept = [line for line in text.splitlines() if line.startswith("  # ") and "class" not in line]
    assert all(line in edited for line in kept if "require more" not in line and "5: 10" not in line)


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ("a:\n  b:\n    c: 1\n    # c\nd: 2\n", ("a", "b"), "a:\n  b: [x]\n    # c\nd: 2\n"),
        ("a:\nb: 1\n", ("a",), "a: [x]\nb: 1\n"),
        ("a: 'q' # c\n", ("a",), "a: [x] # c\n"),
        ("a: {}\n", ("a", "k k"), "a: {k k: [x]}\n"),
        ("a: 1", ("b",), "a: 1\nb: [x]\n"),
        ("a:\n  - 1\n  - 2 # t\n# u\n", ("a",), "a: [x] # t\n# u\n"),
        ('"a": "é" # ä\nb: 1\n', ("b",), '"a": "é" # ä\nb: [x]\n'),
    ],
)
def test_an_entry_is_replaced_wherever_it_is(text: str, place: tuple[str, ...], expected: str) -> None:
    assert set_entry(text, place, ["x"]) == expected


def test_what_cannot_be_opened_is_refused_in_one_sentence(study: StudyFolder, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text("[]")
    with pytest.raises(PolicyError, match="another collection"):
        open_study(str(other), study.folder)
    with pytest.raises(TargetError, match="is no study"):
        open_study(str(other), tmp_path)
    with pytest.raises(TargetError, match="no such file"):
        open_study(str(tmp_path / "none.json"), tmp_path / "new")
    with pytest.raises(TargetError, match="no such study"):
        continue_study(tmp_path / "new")
    assert open_study(study.source, study.folder).version() == study.version()
    with _listen(0) as taken, pytest.raises(TargetError, match="name another one by --port"):
        _listen(taken.getsockname()[1])


def test_without_the_extra_the_command_to_install_it_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(command.__globals__, "find_spec", lambda name: None)
    assert main(["studio", "x.json"]) == 2
    assert "pip install 'hierdata[studio]'" in capsys.readouterr().err


def test_a_work_tells_how_it_ended_and_never_what_it_read(
    study: StudyFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(study.source).write_text('{"id": "SECRET"\n', "utf-8")
    told: list[dict[str, object]] = []
    run(study.folder, "survey", {}, told.append)
    assert told[-1]["ended"] == "failed"

    def fail(*given: object) -> None:
        raise ValueError("SECRET")

    monkeypatch.setitem(run.__globals__["TASKS"], "survey", fail)
    run(study.folder, "survey", {}, told.append)
    assert "ValueError at hierdata/studio/worker.py" in str(told[-1]["why"])
    assert "SECRET" not in str(told)
    assert "SECRET" not in describe_fault(KeyError("SECRET"))


@pytest.mark.full
def test_a_survey_is_followed_by_what_prepares_a_preview(study: StudyFolder) -> None:
    works, deadline = Works(), time.monotonic() + 300
    try:
        works.start(study, "survey", {})
        while works.state("prepare") is None or works.is_running("prepare"):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert works.state("prepare") == WorkState("prepare", "compiling", 3, 3, "done")
    finally:
        works.close()
    assert study.figures("prepare") is None
    assert study.figures("preview") is None


def survey_export(folder: Path, resources: list[dict[str, Any]]) -> StudyFolder:
    """Write resources as a bulk export, and survey it as the studio does."""
    export = folder / "export"
    export.mkdir()
    for kind in {one["resourceType"] for one in resources}:
        lines = [json.dumps(one) for one in resources if one["resourceType"] == kind]
        (export / f"{kind}.ndjson").write_text("\n".join(lines) + "\n", "utf-8")
    study = StudyFolder.create(folder / "study", str(export))
    told: list[dict[str, object]] = []
    run(study.folder, "survey", {}, told.append)
    assert told[-1]["ended"] == "done", told
    return study


PATIENTS = [
    {"resourceType": "Patient", "id": f"p{at}", "gender": "female", "name": [{"family": "Marlowe"}]}
    for at in range(6)
]
CONDITIONS = [
    {
        "resourceType": "Condition",
        "id": f"c{at}",
        "subject": {"reference": f"Patient/p{at % 6}"},
        "code": {"coding": [{"system": "http://snomed.info/sct", "code": str(at % 2)}]},
    }
    for at in range(12)
]


def test_resources_of_patients_are_one_tree_a_patient(tmp_path: Path) -> None:
    study = survey_export(tmp_path, PATIENTS + CONDITIONS)
    found = study.figures("survey")
    assert found["records"] == 6
    paths = {one["path"]: one["role"] for one in found["fields"]}
    assert paths["$.gender"] == "quasi"
    assert paths["$.Condition[*].code.coding[*].code"] == "sensitive"
    assert not [path for path in paths if "name" in path]
    assert "standard: fhir-r4" in study.policy_text()
    assert len(list_questions(study, found, study.policy_text())) == len(found["questions"]) > 0
    assert set(study.figures("values")) == set(paths)


def test_codes_of_two_systems_have_figures_of_their_own(tmp_path: Path) -> None:
    icd = {"system": "http://hl7.org/fhir/sid/icd-10", "code": "E11.9"}
    coded = [{**one, "code": {"coding": [*one["code"]["coding"], icd]}} for one in CONDITIONS]  # type: ignore[index]
    study = survey_export(tmp_path, PATIENTS + coded)
    figures = {one["path"]: one for one in study.figures("survey")["fields"]}
    values = study.figures("values")
    for system, distinct in (("http://snomed.info/sct", 2), (icd["system"], 1)):
        path = f"$.Condition[*].code.coding[?@.system == '{system}'].code"
        assert figures[path]["distinct"] == distinct == len(values[path]["values"])


@pytest.mark.full
@pytest.mark.parametrize("prefix", ["", "p:"])
def test_xml_has_a_preview_with_records_before_and_after(tmp_path: Path, prefix: str) -> None:
    people = "".join(
        f'<{prefix}person sex="{"mf"[at % 2]}" year="{1950 + at % 7}">'
        f"<{prefix}ill>{'abc'[at % 3]}</{prefix}ill></{prefix}person>"
        for at in range(60)
    )
    source = tmp_path / "people.xml"
    space = ' xmlns:p="urn:p"' if prefix else ""
    source.write_text(f"<{prefix}people{space}>{people}</{prefix}people>", "utf-8")
    study = StudyFolder.create(tmp_path / "study", str(source))
    told: list[dict[str, object]] = []
    run(study.folder, "survey", {}, told.append)
    study.change(study.version(), remove_entry(study.policy_text(), "draft"), "confirmed")
    run(study.folder, "preview", {"version": study.version()}, told.append)
    preview = study.figures("preview")
    assert preview["refused"] is None, preview
    assert preview["sampled"] == 60
    assert {one["risk"] for one in preview["risks"]} >= {"singling_out", "inference"}
    assert preview["kept"] > 0
    assert all("@sex" in before and "@sex" in after for before, after in study.figures("records"))


def test_resources_without_patients_are_records(tmp_path: Path) -> None:
    study = survey_export(tmp_path, CONDITIONS)
    assert study.figures("survey")["records"] == 6  # united by their subject
    assert "standard" not in study.policy_text()
    assert study.figures("survey")["questions"] == []


def test_the_draft_is_a_policy_once_it_is_confirmed(study: StudyFolder) -> None:
    with pytest.raises(PolicyError, match="draft"):
        load(study.folder / "policy.yaml")
    study.change(study.version(), remove_entry(study.policy_text(), "draft"), "confirmed")
    assert load(study.folder / "policy.yaml").models


def test_pages_without_data_show_none(client: Client, study: StudyFolder) -> None:
    raw = {"48162", "1974-08-28", "P000001", "gastritis", "Pulmonology"}
    assert raw & set(client.get("/values?field=$.visits[*].diagnosis").readable.split()) == {"gastritis"}
    for name in ("tree", "release"):
        page = client.get(f"/{name}").readable
        assert not [one for one in raw if one in page], name
    assert os.fspath(study.folder) in client.get("/tree").readable
