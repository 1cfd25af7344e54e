"""``hierdata lint``: everything at once, for people and machines, raw values for the steward alone."""

from __future__ import annotations

import csv
import stat

import pytest

from hierdata.cli.lint import show_forecast
from hierdata.pipeline.foresee import Forecast, ForeseenPlace
from tests.cli.conftest import PEOPLE, ROOT, Desk, Run, person

PATIENTS = ROOT / "fixtures" / "patients" / "patients.jsonl"
PATIENTS_POLICY = ROOT / "fixtures" / "policies" / "patients.yaml"


def test_a_sound_policy_passes(run: Run, desk: Desk) -> None:
    ran = run("lint", desk.policy)
    assert (ran.code, ran.out, ran.err) == (0, "Nothing is wrong.\n", "")
    assert run("lint", desk.policy, "--quiet").out == ""
    assert run("lint", desk.policy, "--json").json == {
        "findings": [],
        "memberships": {},
        "asked": {},
        "capacities": {},
        "forecast": None,
    }


def test_every_problem_of_a_policy_is_told(run: Run, desk: Desk) -> None:
    text = desk.policy.read_text()
    desk.policy.write_text(text.replace("role: identifier", "rol: identifier").replace("k: 2", "k: 0"))
    ran = run("lint", desk.policy, "--json")
    assert ran.code == 2
    assert ran.err == "hierdata: 2 errors in policy.yaml\n"
    messages = [finding["message"] for finding in ran.json["findings"]]
    assert any("did you mean role" in message for message in messages)
    assert any("models[0].k" in message for message in messages)


def test_mistakes_in_the_policy_do_not_hide_what_is_wrong_with_the_data(run: Run, desk: Desk) -> None:
    """Unknown keys and models, a rule that matches nothing, an unlisted field, a value outside: at once."""
    text = desk.policy.read_text().replace("$.visits[*].ward: {", "$.visits[*].wrd: {")
    text = text.replace("kind: frequency-l-diversity", "kind: frequency-diversity")
    desk.policy.write_text(text.replace("role: sensitive}", "role: sensitive, colour: red}") + "engin: {}\n")
    desk.write([*PEOPLE, person(5, 7319, "east", "flu")])
    ran = run("lint", desk.policy, "--data", desk.people, "--json")
    assert ran.code == 2
    findings = ran.json["findings"]
    mistakes = [finding["message"].partition(": ")[0] for finding in findings[:3]]
    assert mistakes == [
        "models[1]",
        "fields[$.visits[*].reason]",
        "unknown key 'engin'; did you mean engine?",
    ]
    assert [finding["path"] for finding in findings[3:]] == [
        "$.visits[*].wrd",
        "$.visits[*].<key>",
        "$.age",
    ]
    assert {finding["severity"] for finding in findings} == {"error"}
    desk.people.write_text("{")
    messages = [
        one["message"] for one in run("lint", desk.policy, "--data", desk.people, "--json").json["findings"]
    ]
    assert len(messages) == 4
    assert messages[-1].startswith("record 1: ")


def test_records_that_do_not_satisfy_the_json_schema_are_found(run: Run, desk: Desk) -> None:
    (desk.folder / "person.json").write_text('{"properties": {"age": {"maximum": 57}}}')
    desk.policy.write_text(desk.policy.read_text() + "schema: person.json\n")
    assert run("lint", desk.policy).code == 0
    ran = run("lint", desk.policy, "--data", desk.people, "--json")
    assert ran.code == 2
    (finding,) = ran.json["findings"]
    assert finding["path"] == "schema"
    assert finding["message"].startswith("record 3: ")
    assert "properties/age/maximum" in finding["message"]
    (desk.folder / "person.json").write_text('{"type": "objekt"}')
    assert [one["path"] for one in run("lint", desk.policy, "--json").json["findings"]] == ["schema"]


def test_findings_in_the_data_are_counted_and_their_values_kept_back(run: Run, desk: Desk) -> None:
    desk.write([*PEOPLE, person(5, 7319, "east", "flu")])
    ran = run("lint", desk.policy, "--data", desk.people)
    assert ran.code == 2
    assert "$.age" in ran.out
    assert "7319" not in ran.out + ran.err

    revealed = desk.folder / "revealed"
    ran = run("lint", desk.policy, "--data", desk.people, "--json", "--reveal", revealed)
    assert ran.code == 2
    assert "7319" not in ran.out + ran.err
    assert "$.age\t7319\n" in revealed.read_text()
    assert stat.S_IMODE(revealed.stat().st_mode) == 0o600


def test_membership_degrees_are_shown_without_the_categories(run: Run, desk: Desk) -> None:
    revealed = desk.folder / "revealed"
    ran = run("lint", PATIENTS_POLICY, "--data", PATIENTS, "--reveal", revealed, "--metrics")
    assert ran.code == 0
    assert "Membership degrees of $.visits[*].diagnosis" in ran.out
    assert "flu" not in ran.out + ran.err
    assert "$.visits[*].diagnosis\tv1\tflu\n" in revealed.read_text()


def test_membership_degrees_for_machines(run: Run) -> None:
    rows = run("lint", PATIENTS_POLICY, "--data", PATIENTS, "--json").json["memberships"][
        "$.visits[*].diagnosis"
    ]
    assert [row["at"] for row in rows] == [f"v{place}" for place in range(1, len(rows) + 1)]
    assert {len(row["degrees"]) for row in rows} == {5}


def test_capacities_are_shown_by_class_size(run: Run) -> None:
    policy = ROOT / "fixtures" / "policies" / "students-multilevel.yaml"
    ran = run("lint", policy, "--metrics")
    assert "Most values of $.courses[*].grade in a class" in ran.out
    rows = run("lint", policy, "--json").json["capacities"]["$.courses[*].grade"]
    assert [row["class_size"] for row in rows] == [5, 6, 7, 8, 9, 10]
    assert rows[0]["by_level"] == [4, 3, 2, 1, 0]
    assert rows[-1]["by_level"] == [8, 6, 4, 2, 1]


def test_an_engine_that_does_not_go_with_the_records_is_found(run: Run, desk: Desk) -> None:
    desk.policy.write_text(desk.policy.read_text() + "engine: {steps: [{kind: mondrian}]}\n")
    ran = run("lint", desk.policy, "--data", desk.people, "--json")
    assert ran.code == 2
    (error,) = (one["message"] for one in ran.json["findings"] if one["severity"] == "error")
    assert error.startswith("mondrian partitions rows of one vertex type")


def test_kept_fields_go_with_engines(run: Run, desk: Desk) -> None:
    text = desk.policy.read_text().replace(
        "$.visits[*].ward:", "$.visits[*].wing: {role: quasi, flat: true, optional: true}\n  # "
    )
    desk.policy.write_text(text + "unlisted: {keep: they are harmless}\n")
    assert run("lint", desk.policy, "--data", desk.people, "--json").code == 0


def test_at_most_twenty_rows_of_levels_are_printed_and_the_rest_goes_to_a_file(run: Run, desk: Desk) -> None:
    rule = "{role: sensitive, levels: {by: frequency, sensitive: rare}}"
    desk.policy.write_text(
        desk.policy.read_text().replace(
            "$.visits[*].reason: {role: sensitive}", f"$.visits[*].reason: {rule}"
        )
    )
    desk.write([person(place, 31, "east", f"marker-7319-{place % 45}") for place in range(90)])
    ran = run("lint", desk.policy, "--data", desk.people, "--metrics")
    assert [f" v{place} " in ran.out for place in (1, 20, 21, 45)] == [True, True, False, False]
    assert "25 more rows: --levels FILE writes all of them" in ran.out

    rest = desk.folder / "levels.csv"
    ran = run("lint", desk.policy, "--data", desk.people, "--levels", rest)
    assert f"hierdata: all rows of the level tables are in {rest}\n" in ran.err
    assert stat.S_IMODE(rest.stat().st_mode) == 0o600
    header, *rows = csv.reader(rest.read_text().splitlines())
    assert header == ["path", "at", "level", "A1", "A2", "A3", "A4", "A5"]
    assert [row[:2] for row in rows] == [["$.visits[*].reason", f"v{place}"] for place in range(1, 46)]
    assert "7319" not in ran.out + ran.err + rest.read_text()
    assert run("lint", desk.policy, "--data", desk.people, "--levels", rest).code == 6
    as_json = run("lint", desk.policy, "--data", desk.people, "--json").json
    assert len(as_json["memberships"]["$.visits[*].reason"]) == 45


# Degrees of any value (ML table 1)

LEVELS = """version: 1
models: [{kind: k-anonymity, k: 2}]
fields:
  $.gpa: {role: sensitive, levels: {domain: [0, 4], sensitive: low}}
  $.illness: {role: sensitive, same: [trim], levels: {by: frequency, sensitive: rare}}
  $.grade: {role: sensitive, optional: true, levels: {by: {A: 1, B: 2}}}
  $.age: {role: quasi, flat: true}
"""


def test_degrees_of_any_value(run: Run, desk: Desk) -> None:
    """The six values of table 1, and their sensitivity levels of table 2."""
    desk.policy.write_text(LEVELS)
    values = ("0.8", "1.6", "2.3", "2.7", "3.5", "3.9")
    asked = [part for value in values for part in ("--degrees", f"$.gpa={value}")]
    ran = run("lint", desk.policy, *asked, "--degrees", "$.grade=B", "--json")
    rows = ran.json["asked"]["$.gpa"]
    assert [(row["at"], row["level"]) for row in rows] == list(zip(values, (5, 4, 3, 2, 1, 1), strict=True))
    assert [row["degrees"] for row in rows] == [
        [0.4, 0.2, 0, 0, 0],
        [0, 0.6, 0.4, 0, 0],
        [0, 0, 0.55, 0.45, 0],
        [0, 0, 0, 0.95, 0.025],
        [0, 0, 0, 0, 0.625],
        [0, 0, 0, 0, 0.925],
    ]
    assert ran.json["asked"]["$.grade"] == [{"at": "B", "level": 2, "degrees": []}]
    out = run("lint", desk.policy, *asked).out
    assert "Degrees of values of $.gpa" in out
    assert ["2.3", "3", "0", "0", "0.55", "0.45", "0"] in [line.split() for line in out.splitlines()]


def test_degrees_by_frequency_need_the_data(run: Run, desk: Desk) -> None:
    """Counts 9, 5 and 1 over 1..9: 5 is the middle."""
    desk.policy.write_text(LEVELS)
    held = ["flu"] * 9 + ["cold "] * 5 + ["hiv"]
    desk.write([{"age": 1, "gpa": 2, "illness": own} for own in held])
    asked = [part for own in ("flu", "cold", "hiv") for part in ("--degrees", f"$.illness={own}")]
    rows = run("lint", desk.policy, "--data", desk.people, *asked, "--json").json["asked"]["$.illness"]
    assert [(row["at"], row["level"]) for row in rows] == [("flu", 1), ("cold", 3), ("hiv", 5)]
    assert [row["degrees"] for row in rows] == [[0, 0, 0, 0, 1], [0, 0, 1, 0, 0], [1, 0, 0, 0, 0]]
    ran = run("lint", desk.policy, *asked)
    assert (ran.code, "levels by frequency need the data: name it with --data" in ran.err) == (2, True)
    ran = run("lint", desk.policy, "--data", desk.people, "--degrees", "$.illness=rash")
    assert (ran.code, ran.err) == (2, "hierdata: $.illness: the value given does not occur in the data\n")


def test_degrees_that_cannot_be_told(run: Run, desk: Desk) -> None:
    desk.policy.write_text(LEVELS)
    for asked, message in {
        "$.gpa": "--degrees takes PATH=VALUE, such as --degrees '$.gpa=3.2'",
        "$.gpb=1": "$.gpb: no sensitive attribute with levels; did you mean $.gpa?",
        "$.age=1": "$.age: no sensitive attribute with levels",
        "$.gpa=4.5": "$.gpa: the value given has no level",
        "$.gpa=low": "$.gpa: the value given has no level",
        "$.grade=Z": "$.grade: the value given has no level",
    }.items():
        ran = run("lint", desk.policy, "--degrees", asked)
        assert ran.code == 2
        assert ran.err.startswith(f"hierdata: {message}")


def test_remedies_are_named_until_they_were_tried(capsys: pytest.CaptureFixture[str]) -> None:
    """Also where none of them helped."""
    lost = Forecast(5, 5, 0.2, [ForeseenPlace("$.ward", None, 0.0, None, ())])
    for tried in (False, True):
        show_forecast(lost, tried=tried)
        assert ("--remedies" in capsys.readouterr().out) == (not tried)


def test_a_published_form_that_hides_nothing_is_found(run: Run, desk: Desk) -> None:
    text = desk.policy.read_text()
    finer = "{role: sensitive, taxonomy: {tree: {'*': {a: [x], b: [y]}}}, publish: {depth: 2}}"
    desk.policy.write_text(text.replace("{role: sensitive}", finer))
    ran = run("lint", desk.policy)
    assert ran.code == 2
    assert "publish: {depth: 2} is finer than the taxonomy" in ran.out
