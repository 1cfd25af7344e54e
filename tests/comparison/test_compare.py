"""Policies are compared on one input: the figures are those of their releases, and are measured once."""

from __future__ import annotations

import json
import stat
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata.cli import main
from hierdata.comparison.compare import DATA, PAGE
from hierdata.comparison.variants import list_variants, parse_grid
from hierdata.ground.errors import InputError, PolicyError, TargetError

PEOPLE = [
    {"age": 20 + 3 * (at % 9), "town": "abc"[at % 3], "ill": "uvwxyz"[at * at % 6], "pay": at % 5}
    for at in range(30)
]
POLICY: dict[str, Any] = {
    "version": 1,
    "models": [{"kind": "k-anonymity", "k": 3}, {"kind": "distinct-l-diversity", "l": 2}],
    "fields": {
        "$.age": {"role": "quasi", "interval": {"steps": [1, 10, 40]}},
        "$.town": {"role": "quasi", "flat": True},
        "$.ill": {"role": "sensitive"},
        "$.pay": {"role": "sensitive", "label": "Pay, per year"},
    },
}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "people.json").write_text(json.dumps(PEOPLE))
    (tmp_path / "policy.json").write_text(json.dumps(POLICY))
    weak = POLICY | {"models": [{"kind": "k-anonymity", "k": 2}]}
    (tmp_path / "weak.json").write_text(json.dumps(weak))
    (tmp_path / "strong.json").write_text(json.dumps(POLICY | {"models": [{"kind": "k-anonymity", "k": 31}]}))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.full
def test_figures_are_those_of_the_releases() -> None:
    found = hierdata.compare(PEOPLE, POLICY, grid={"k": [2, 6]}, workers=1)
    assert [one.name for one in found] == ["as stated", "k = 2", "k = 6"]
    for one in found:
        release = hierdata.anonymize(PEOPLE, one.policy, seed=bytes(16))
        report = release.report
        assert report.kept.total is not None
        assert one.kept == report.kept.total.kept.fraction
        assert one.worst_guess == {path: own.fraction for path, own in report.worst_guess.items()}
        assert one.kept_fields == {path: own.kept.fraction for path, own in report.kept.fields.items()}
        assert (one.published, one.classes, one.smallest) == (
            report.counts.records.published,
            report.counts.classes,
            report.counts.smallest_class,
        )
    for one in found:
        naive = [
            other.number
            for other in found
            if other is not one
            and (other.kept or 0) >= (one.kept or 0)
            and other.smallest >= one.smallest
            and all(other.worst_guess[path] <= one.worst_guess[path] for path in one.worst_guess)
            and (other.kept, other.smallest, other.worst_guess) != (one.kept, one.smallest, one.worst_guess)
            and other.policy["models"][0]["k"] >= one.policy["models"][0]["k"]
        ]
        assert list(one.dominated_by) == naive
    assert found[1:] == found.policies[1:]
    assert [row["kept"] for row in found.rows()] == [float(one.kept or 0) for one in found]
    shown = found._repr_html_()
    assert "<svg" in shown
    assert "<script" not in shown
    assert repr(found).startswith("<PolicyComparison of 3 policies")


@pytest.mark.full
def test_what_a_promise_costs() -> None:
    found = hierdata.compare(PEOPLE, POLICY, without=["distinct-l-diversity"], workers=1)
    stated, weaker = found
    (cost,) = found.costs
    assert cost.model == "distinct-l-diversity"
    assert [model["kind"] for model in weaker.policy["models"]] == ["k-anonymity"]
    assert cost.kept == (weaker.kept or 0) - (stated.kept or Fraction(0))
    assert cost.worst_guess == {
        path: share - stated.worst_guess[path] for path, share in weaker.worst_guess.items()
    }


def test_a_comparison_resumes_and_measures_what_is_missing(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["compare", "people.json", "--policy", "policy.json", "--out", "out", "--workers", "1"]
    assert main([*command, "--grid", "k=2,3"]) == 0
    assert stat.S_IMODE((desk / "out").stat().st_mode) == 0o700
    figures = {file: file.stat().st_mtime_ns for file in (desk / "out" / "figures").iterdir()}
    assert len(figures) == 2  # k = 3 is the policy as stated
    assert main([*command, "--grid", "k=2,3,5", "--policies", "weak.json", "strong.json"]) == 0
    now = {file: file.stat().st_mtime_ns for file in (desk / "out" / "figures").iterdir()}
    assert len(now) == 5
    assert figures.items() <= now.items()
    out = capsys.readouterr().out
    assert "strong.json" in out
    assert "no release" in out
    assert all(
        len(line) <= 80 for line in out.splitlines() if not line.startswith(("The", "5:", " ")) or "%" in line
    )
    page = (desk / "out" / PAGE).read_text("utf-8")
    assert page.count("<svg") == 3  # both fields together, and each
    assert "<script" not in page
    figures_of_page = page[: page.index("<pre")]
    assert "Kept against worst guess at Pay, per year" in figures_of_page
    assert "pay" not in figures_of_page
    data = json.loads((desk / "out" / DATA).read_text("utf-8"))
    assert data["policies"][0]["name"] == "as stated"
    assert data["policies"][-1]["refused"]
    (desk / "people.json").write_text(json.dumps(PEOPLE[1:]))
    assert main([*command, "--grid", "k=2,3"]) == InputError.exit_code
    assert "has changed" in capsys.readouterr().err


def test_figures_hold_no_record(desk: Path) -> None:
    marked = [{**one, "ill": f"marker-{at % 4}", "town": "Markerton"} for at, one in enumerate(PEOPLE)]
    hierdata.compare(marked, POLICY, grid={"k": [2]}, out=desk / "out", workers=1)
    for file in (desk / "out").rglob("*"):
        assert not file.is_file() or "arker" not in file.read_text("utf-8"), file


def test_an_input_that_changes_meanwhile_is_told(desk: Path) -> None:
    def change(stage: str, done: int, total: int | None) -> None:
        (desk / "people.json").write_text(json.dumps([*PEOPLE, PEOPLE[0]]))

    with pytest.raises(InputError, match="changed while"):
        hierdata.compare("people.json", "policy.json", out="out", workers=1, progress=change)
    assert not (desk / "out" / PAGE).exists()


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        (
            {"grid": {"alpha": ["0.5"]}},
            PolicyError,
            "no model of the policy has this parameter; they have .*k, l",
        ),
        ({"grid": {"alpha-k.k": [2]}}, PolicyError, "no model of the policy"),
        ({"grid": {"fields": [1]}}, PolicyError, "no model of the policy"),
        ({"without": ["t-closeness"]}, PolicyError, "it has k-anonymity, distinct-l-diversity"),
        ({"policies": ["a/x.json", "b/x.json"]}, PolicyError, "same name"),
        ({"grid": {"k": range(2000)}}, PolicyError, "at most 1000"),
        ({"source": "nowhere.json"}, TargetError, "no such file"),
        ({"source": "mongodb://localhost/a/b"}, PolicyError, "name a file"),
        ({"out": "."}, TargetError, "no folder of a comparison"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    desk: Path, asked: dict[str, Any], error: type[Exception], words: str
) -> None:
    arguments: dict[str, Any] = {"source": "people.json", "policy": "policy.json"} | asked
    with pytest.raises(error, match=words):
        hierdata.compare(**arguments)
    assert not (desk / "out").exists()


def test_the_only_model_is_not_left_out() -> None:
    with pytest.raises(PolicyError, match="the only model"):
        list_variants(POLICY | {"models": [{"kind": "k-anonymity", "k": 2}]}, {}, {}, ["k-anonymity"])


@pytest.mark.parametrize("text", ["k", "k=", "k=[", "=3"])
def test_a_grid_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(PolicyError):
        list_variants(POLICY, parse_grid([text]), {}, [])


def test_models_of_a_preset_have_their_parameters() -> None:
    policy = {**POLICY, "engine": {"preset": "ClusTree"}}
    del policy["models"]
    found = list_variants(policy, {"l": [2, 4]}, {}, [])
    assert [one.name for one in found] == ["as stated", "l = 2", "l = 4"]
    assert all(any("l" in model for model in one.policy["models"]) for one in found)
