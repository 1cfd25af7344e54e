"""The policy's control: who is held out is no part of a release, for all who read the input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata.ground.errors import GateError, HierdataError, InputError, PolicyError, VerificationError
from hierdata.pipeline.resources import Resources
from tests.adversary.test_attack import SEED
from tests.adversary.test_measured_risks import TABLE, rows

POLICY: dict[str, Any] = {**TABLE, "control": {"share": 0.5}}


def written(folder: Path, records: list[dict[str, Any]]) -> Path:
    file = folder / "people.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in records))
    return file


def held_out(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "steward" / "control.json").read_text())
    return found


def test_those_held_out_are_no_part_of_the_release(tmp_path: Path) -> None:
    """One who is held out has values that nobody else has: they are nowhere, and no domain is wider."""
    records = rows(0, 850)
    file, out = written(tmp_path, records), tmp_path / "release"
    release = hierdata.anonymize(file, POLICY, out=out, seed=SEED)
    told = held_out(out)
    assert told["records"] == 850
    assert 330 < len(told["ordinals"]) < 520
    assert len(set(told["digests"])) == len(told["ordinals"])
    outside = [records[place] for place in told["ordinals"]]
    inside = [one for place, one in enumerate(records) if place not in set(told["ordinals"])]
    # The same release is that of the others alone, but for its order.
    alone = hierdata.anonymize(inside, TABLE, seed=SEED)
    assert sorted(map(str, release.records())) == sorted(map(str, alone.records()))
    assert release.report.counts.records.input == len(inside)
    wages = {one["wage"] for one in inside}
    assert {one["wage"] for one in release.records()} <= wages
    assert {one["wage"] for one in outside} - wages
    assert not {one["id"] for one in outside} & set((out / "steward" / "control.json").read_text().split('"'))

    assert hierdata.verify(out, POLICY, original=file).passed
    measured = hierdata.measure_release(out, POLICY, original=file)
    assert measured.metrics["kept"] == release.report.metrics["kept"]
    found = hierdata.attack(out, POLICY, original=file, facts=2, victims=200)
    assert (found.records, found.control) == (len(inside), len(outside))
    with pytest.raises(VerificationError):
        hierdata.verify(out, TABLE, original=file)


@pytest.mark.full
def test_the_control_does_not_depend_on_executor_and_order(tmp_path: Path) -> None:
    file = written(tmp_path, rows(0, 900))
    again = tmp_path / "again"
    again.mkdir()
    turned = written(again, rows(0, 900)[::-1])
    outs = [tmp_path / name for name in "abc"]
    for out, source, kind in zip(outs, (file, file, turned), ("serial", "processes", "serial"), strict=True):
        hierdata.anonymize(source, POLICY, out=out, seed=SEED, resources=Resources(kind, workers=2))
    first, second, third = map(held_out, outs)
    assert first == second
    assert sorted(first["digests"]) == sorted(third["digests"])
    other = tmp_path / "other"
    hierdata.anonymize(file, POLICY, out=other, seed=b"another seed of 16")
    assert held_out(other)["ordinals"] != first["ordinals"]


def test_all_records_of_an_individual_are_held_out_together(tmp_path: Path) -> None:
    records = [one | {"id": f"P{number // 3}"} for number, one in enumerate(rows(0, 300))]
    stated = {**POLICY, "individual": {"by": "$.id", "nest": "$.stays", "own": []}, "models": TABLE["models"]}
    stated["fields"] = {
        "$.id": {"role": "identifier"},
        "$.stays[*].age": {"role": "quasi", "interval": {"steps": [10, 50]}},
        "$.stays[*].town": {"role": "quasi", "flat": True},
        "$.stays[*].wage": {"role": "sensitive"},
        "$.stays[*].ill": {"role": "sensitive"},
    }
    del stated["attackers"], stated["engine"]
    out = tmp_path / "release"
    release = hierdata.anonymize(written(tmp_path, records), stated, out=out, seed=SEED)
    told = held_out(out)
    assert told["records"] == 100
    assert release.report.counts.records.input == 100 - len(told["ordinals"])
    assert hierdata.verify(out, stated, original=tmp_path / "people.jsonl").passed


def test_bad_controls(tmp_path: Path) -> None:
    wrong: list[tuple[dict[str, Any], int, type[HierdataError], str]] = [
        (
            {"share": 0.5},
            6,
            InputError,
            r"control: \d of 6 individuals are held out, and the \d that are left",
        ),
        ({"share": 0.6}, 6, PolicyError, "`share` must be above 0 and at most 1/2"),
        ({"share": 0}, 6, PolicyError, "`share` must be above 0"),
    ]
    for control, count, kind, message in wrong:
        with pytest.raises(kind, match=message):
            hierdata.anonymize(rows(0, count), {**TABLE, "control": control}, seed=SEED)
    out = tmp_path / "release"
    file = written(tmp_path, rows(0, 900))
    hierdata.anonymize(file, {**TABLE, "control": {"share": 0.1}}, out=out, seed=SEED)
    stated = {**TABLE, "control": {"share": 0.1}}
    with pytest.raises(InputError, match=r"individuals, so that half of an interval .* 385 are needed"):
        hierdata.attack(out, stated, original=file, facts=1)
    (records,) = (out / "public").glob("records.*")
    with pytest.raises(VerificationError, match=r"only steward/verification.json has"):
        hierdata.attack(records, stated, original=file, facts=1)


def gate(metric: str, figure: str, value: str) -> dict[str, Any]:
    return {"metric": metric, "figure": figure, "operator": "<=", "value": value}


def test_gates_limit_what_attacks_achieve_beyond_the_control(tmp_path: Path) -> None:
    file, out = written(tmp_path, rows(0, 850)), tmp_path / "release"
    gates = [gate("singling_out", "quasi_identifiers", "0.05"), gate("linkability", "worst", "0.2")]
    release = hierdata.anonymize(file, {**POLICY, "gates": gates}, out=out, seed=SEED)
    assert [own.passed for own in release.report.gates] == [True, True]
    assert release.report.metrics["singling_out"].model_extra["quasi_identifiers"] == 0
    # Wages are published as they are: most of them are one person's.
    assert release.report.metrics["singling_out"].model_extra["everything"] > 0.5
    told = json.loads((out / "public" / "release.json").read_text())
    assert [own["passed"] for own in told["gates"]] == [True, True]
    assert all("value" not in own for own in told["gates"])
    assert hierdata.verify(out, {**POLICY, "gates": gates}, original=file).passed
    failing = {**POLICY, "gates": [gates[0], gate("singling_out", "everything", "0.05")]}
    with pytest.raises(GateError, match=r"1 of 2 gates failed .*: singling_out everything is"):
        hierdata.anonymize(file, failing, out=tmp_path / "none", seed=SEED)
    assert not (tmp_path / "none").exists()
    with pytest.raises(InputError, match=r"the control has .* individuals"):
        hierdata.anonymize(rows(0, 450), {**POLICY, "gates": gates}, seed=SEED)


def test_a_policy_asks_for_risks_without_a_limit(tmp_path: Path) -> None:
    """They are in the steward's report and in comparisons, and in nothing that is given out."""
    asked = {**TABLE, "metrics": ["singling_out", "linkability", "inference"]}
    out = tmp_path / "release"
    report = hierdata.anonymize(rows(0, 200), asked, out=out, seed=SEED).report
    found = {name: dict(report.metrics[name].model_extra or {}) for name in asked["metrics"]}
    assert found["singling_out"]["quasi_identifiers"] == 0
    assert found["singling_out"]["everything"] > 0.5
    assert set(found["linkability"]) == set(found["inference"]) == {"worst"}
    page = (out / "steward" / "report.html").read_text("utf-8")
    assert "singling-out risk" in page
    for file in (out / "public").iterdir():
        assert not any(name in file.read_text("utf-8") for name in asked["metrics"])
    assert hierdata.verify(out, asked, original=rows(0, 200)).passed
    # Without a control the rates themselves are measured: they are those that `attack` observes.
    attacked = hierdata.attack(out, asked, original=rows(0, 200), facts=3)
    worst = max(own.raw_value for own in attacked.risks if own.risk == "inference")
    assert found["inference"]["worst"] == worst
    with pytest.raises(PolicyError, match="kept is measured for every release: leave it out"):
        hierdata.anonymize(rows(0, 200), {**TABLE, "metrics": ["kept"]})
    (one,) = hierdata.compare(rows(0, 200), asked, seed=SEED, workers=1)
    assert one.risks == {
        f"{name}.{figure}": value for name, own in found.items() for figure, value in own.items()
    }
    assert one.as_row()["singling_out.everything"] == found["singling_out"]["everything"]
