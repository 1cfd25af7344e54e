"""What is logged under ``hierdata``: what happened, and no value."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

import hierdata
from tests.adversarial.marked import CHANGES, MARKS, SEED, json_policy, planted


def test_stages_and_results_are_logged_and_no_value(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "hierdata")
    policy = json_policy()
    people = planted(("town",), CHANGES["text"])
    release = hierdata.anonymize(people, policy, seed=SEED)
    hierdata.verify(release, policy, original=people)
    told = [(record.name, record.levelname, record.getMessage()) for record in caplog.records]
    assert all(name.startswith("hierdata.") for name, _, _ in told)
    infos = [text for _, level, text in told if level == "INFO"]
    published = release.report.counts.records.published
    assert infos[0] == f"surveyed: {len(people)} records"
    assert infos[1].startswith(f"judged: passed; published {published} of {len(people)} records in ")
    assert infos[-1].startswith(f"judged: passed; {published} records in ")
    assert [text for _, level, text in told if level == "WARNING"] == list(release.report.warnings)
    assert any(level == "DEBUG" and text.startswith("clustering") for _, level, text in told)
    assert not [mark for mark in MARKS if mark in caplog.text]


def test_a_program_that_sets_up_no_logging_sees_none() -> None:
    code = (
        "import hierdata, logging;"
        "import hierdata.pipeline;"
        "logging.getLogger('hierdata.pipeline').warning('a warning')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
