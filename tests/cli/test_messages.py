"""Messages that name what is wrong: each with the case that provokes it."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from hierdata.executors.spark import _translate_errors
from hierdata.ground.errors import PolicyError, UnavailableError
from tests.cli.conftest import Desk, Run


def test_inputs_and_targets_that_are_not_there(run: Run, desk: Desk) -> None:
    (desk.folder / "sheet.xlsx").write_bytes(b"PK")
    (desk.folder / "taken").write_text("")
    cases = {
        ("nope",): (6, "nope: there is no such file"),
        ("nope.xlsx",): (6, "nope.xlsx: there is no such file"),
        ("-",): (2, "records are not read from stdin: write them to a file, and name it"),
        (desk.folder / "sheet.xlsx",): (2, "sheet.xlsx: the file is a spreadsheet: export the sheet as CSV"),
    }
    for (given,), (code, said) in cases.items():
        ran = run("anonymize", given, "--policy", desk.policy, "--out", desk.folder / "new")
        assert (ran.code, said in ran.err) == (code, True), (given, ran.err)


def test_a_target_in_a_folder_of_no_use_names_it(run: Run, desk: Desk) -> None:
    if not Path("/proc/self").exists():
        pytest.skip("this system has no folder in which not even root can create one")
    ran = run("anonymize", desk.people, "--policy", desk.policy, "--out", "/proc/out")
    assert ran.code == 6
    assert "hierdata: /proc: cannot create a folder" in ran.err


def test_a_taxonomy_of_many_columns(run: Run, desk: Desk) -> None:
    (desk.folder / "wide.csv").write_text(",".join(f"c{at}" for at in range(2000)))
    policy = {"version": 1, "models": [{"kind": "k-anonymity", "k": 2}]}
    policy |= {"fields": {"$.a": {"role": "quasi", "taxonomy": "wide.csv"}}}
    desk.policy.write_text(json.dumps(policy))
    said = " ".join(run("lint", desk.policy).out.split())
    assert "line 1: the row has 2,000 cells: a row is a leaf and at most 64 nodes above it" in said


def test_an_application_that_spark_gave_up_is_no_lack_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    protocol = pytest.importorskip("py4j.protocol")

    class Failed(protocol.Py4JJavaError):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.java_exception = "org.apache.spark.SparkException: Master removed our application: FAILED"

        def __str__(self) -> str:
            return "failed"

    with pytest.raises(UnavailableError, match="could not start its executors"), _translate_errors():
        raise Failed


def test_a_table_with_dots_in_its_name() -> None:
    pytest.importorskip("psycopg")
    from hierdata.sources.stores.postgresql_server import parse_name

    with pytest.raises(PolicyError, match="in double quotes, which the shell must pass on"):
        parse_name("a.b.c")


def test_files_of_the_steward_are_for_the_owner_alone(run: Run, desk: Desk) -> None:
    assert run(*desk.command).code == 0
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (desk.out / "steward").iterdir()}
    assert {*modes.values()} == {0o600}, modes
