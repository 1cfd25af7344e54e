"""Programs of users are checked against the types of the package: it ships ``py.typed``."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import hierdata

ROOT = Path(__file__).parents[2]
PROGRAM = """
from fractions import Fraction
from typing import Any, assert_type

import hierdata

policy = {"version": 1, "models": [{"kind": "k-anonymity", "k": 2}], "fields": {"a": {"role": "sensitive"}}}
release = hierdata.anonymize([{"a": 1}], policy)
assert_type(release, hierdata.Release)
assert_type(release.metrics, dict[str, float])
assert_type(release.report.counts.records.published, int)
assert_type(release.report.promises[0].achieved["k"].fraction, Fraction)
for record in release.records():
    assert_type(record, dict[str, Any])
verdict = hierdata.verify(release, policy, original=[{"a": 1}])
assert_type(verdict, hierdata.Verdict)
assert_type(verdict.k, int)
assert_type(hierdata.load_policy("policy.yaml"), hierdata.Policy)
assert_type(hierdata.measure([{"a": 1}], keys=["a"], sensitive="a"), hierdata.Measurement)
assert_type(hierdata.attack(release, policy, original=[{"a": 1}], facts=2), hierdata.Attack)
assert_type(hierdata.init([{"a": 1}]), hierdata.Draft)
assert_type(hierdata.show_tree({"a": 1}, policy), None)
resources = hierdata.Resources("processes", workers=2)
hierdata.anonymize(hierdata.Rows("postgresql://host/base", table="t"), "policy.yaml", resources=resources)
hierdata.anonymise  # WRONG
hierdata.anonymize([{"a": 1}], policy, sed=b"")  # WRONG
hierdata.anonymize([{"a": 1}], 7)  # WRONG
try:
    release.save("there")
except hierdata.TargetError as error:
    assert_type(error.path, str | None)
"""


@pytest.mark.full
def test_a_strict_program_sees_every_type(tmp_path: Path) -> None:
    from mypy import api

    program = tmp_path / "program.py"
    program.write_text(PROGRAM, "utf-8")
    # The checkout may be found before the installed package: what is wrong in it is told by other tests.
    options = ["--strict", "--config-file=", "--follow-imports=silent", f"--cache-dir={tmp_path}"]
    told, problems, _ = api.run([*options, str(program)])
    wrong = [number for number, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("# WRONG")]
    assert problems == ""
    assert [int(line.split(":")[1]) for line in told.splitlines() if ": error: " in line] == wrong, told


def test_what_the_checker_sees_is_what_can_be_imported() -> None:
    """The names for type checkers and those that are looked up at run time are two lists."""
    source = Path(hierdata.__file__).read_text("utf-8")
    for name in hierdata.__all__:
        assert getattr(hierdata, name) is not None
        if name != "__version__":
            assert source.count(f'    "{name}": "') == 1


def test_the_marker_is_in_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "py.typed" in project["tool"]["setuptools"]["package-data"]["hierdata"]
    assert (ROOT / "hierdata" / "py.typed").read_bytes() == b""
