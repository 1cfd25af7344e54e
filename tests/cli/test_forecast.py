"""A long search is announced before it starts, with an estimate and what would shorten it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hierdata.engines import ENGINES
from hierdata.pipeline.block import Load
from hierdata.pipeline.cluster import announce_search, estimate_seconds
from hierdata.synth import beside_patients, patients, write
from tests.benchmarks.collections import Encoded, encoded, policy_for
from tests.cli.conftest import Run


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Encoded:
    file = tmp_path_factory.mktemp("few") / "patients.jsonl"
    write(patients(12, seed=1, encounters=(1, 3)), file, beside_patients())
    return encoded(file, policy_for(file))


def told(few: Encoded, loads: list[Load], workers: int = 1) -> list[str]:
    found: list[str] = []
    announce_search(loads, few.prepared, workers, found.append)
    return found


def test_wide_records_are_announced_with_an_estimate_and_what_helps(few: Encoded) -> None:
    (sentence,) = told(few, [Load(0, 600, 600 * 1000, 1000)])
    assert re.search(r"about \d+ (minutes|hours): records have 1000 vertices on average", sentence)
    assert all(word in sentence for word in ("shape", "aligned", "ClusTree"))


def test_short_searches_are_not_announced(few: Encoded) -> None:
    assert told(few, [Load(0, 600, 600 * 21, 60)]) == []
    assert told(few, []) == []
    announce_search([Load(0, 600, 600 * 1000, 1000)], few.prepared, 1, None)


def test_the_estimate_grows_with_records_and_the_square_of_their_vertices(few: Encoded) -> None:
    one, wider, two = (
        estimate_seconds(loads, few.prepared)
        for loads in (
            [Load(0, 600, 600 * 100, 100)],
            [Load(0, 600, 600 * 200, 200)],
            [Load(0, 600, 600 * 100, 100), Load(600, 600, 600 * 100, 100)],
        )
    )
    assert one > 0
    assert (wider, two) == (pytest.approx(4 * one), pytest.approx(2 * one))


def test_fewer_alignments_are_less_work_and_presets_none_to_speak_of(few: Encoded) -> None:
    constraints = few.prepared.constraints
    stated: tuple[dict[str, int], ...] = ({}, {"aligned": 4})
    most, some = (ENGINES["k-member"](**more).estimate_work(600, 60_000, constraints) for more in stated)
    assert 0 < some < most
    assert ENGINES["clustree"]().estimate_work(600, 60_000, constraints) == 0


def test_the_command_announces_on_stderr_alone(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hierdata.pipeline.cluster._LONG", 0.0)
    file = tmp_path / "patients.jsonl"
    write(patients(12, seed=1, encounters=(1, 3)), file, beside_patients())
    options = ("--policy", tmp_path / "patients.policy.yaml", "--json")
    ran = run("anonymize", file, *options, "--out", tmp_path / "out")
    assert "the search will take about" in ran.err
    assert "the search will take about" not in ran.out
    quiet = run("anonymize", file, *options, "--quiet", "--out", tmp_path / "quiet")
    assert quiet.err == ""
