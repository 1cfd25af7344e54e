"""What commands refuse before they read anything, and what they say of input that has nothing in it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from hierdata.cli import main
from hierdata.cli.terminal import LostOutputError, _Stdout
from hierdata.comparison.compare import digest_input
from hierdata.comparison.variants import parse_grid
from hierdata.ground.errors import InputError, PolicyError
from hierdata.pipeline.seeds import seed_of
from hierdata.reproduction.study import read_adult
from hierdata.synth.fhir.write import write_fhir
from hierdata.synth.patients import outpatients
from tests.provoked import provoke


def test_options_that_do_not_go_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "{version: 1, models: [{kind: k-anonymity, k: 2}], fields: {a: {role: quasi, flat: true}}}"
    )
    rows = tmp_path / "rows.csv"
    rows.write_text("a,s\n1,2\n")
    cases: dict[str, tuple[object, ...]] = {
        "need an INPUT that is the address of PostgreSQL": ("init", rows, "--table", "t"),
        "name a RELEASE, or other records by --data, one of them": (
            "attack",
            "--original",
            rows,
            "--policy",
            policy,
        ),
        "--key-fd is for a release": ("measure", rows, "--key", "a", "--sensitive", "s", "--key-fd", "3"),
        "--grid: k occurs twice": (
            "compare",
            rows,
            "--policy",
            policy,
            "--grid",
            "k=2",
            "--grid",
            "k=3",
            "--out",
            tmp_path / "c",
        ),
    }
    for said, arguments in cases.items():
        assert main([*map(str, arguments)]) == 2, said
        assert said in " ".join(capsys.readouterr().err.split())


def test_arguments_in_python_that_nothing_can_be_made_of(tmp_path: Path) -> None:
    (tmp_path / "adult.csv").touch()
    os.truncate(tmp_path / "adult.csv", 2**31)
    provoke(
        PolicyError,
        ("cannot be sent to worker processes: name a file", lambda: digest_input([lambda: 1])),
        ("--grid: k occurs twice", lambda: parse_grid(["k=2", "k=3"])),
        ("a seed must be secret bytes, such as os.urandom(16); it has the type int", lambda: seed_of(7)),
        ("the number of records and the seed must be 0 or more", lambda: [*outpatients(-1, 1)]),
        ("the number of patients and the seed must be", lambda: write_fhir(-1, tmp_path / "x", 1)),
        ("FHIR records are written as ndjson or bundles", lambda: write_fhir(1, tmp_path / "x", 1, "xml")),
    )
    provoke(
        InputError,
        ("adult.csv: the file is too large for the table Adult", lambda: read_adult(tmp_path)),
    )


def test_stdout_without_room() -> None:
    with open("/dev/full", "wb", buffering=0) as full:  # noqa: PTH123  a file number is needed
        out = _Stdout(os.dup(full.fileno()), "wb")
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("hierdata.cli.terminal.drop_output", lambda: None)
            with pytest.raises(LostOutputError) as lost:
                out.write(b"x")
        out.close()
    assert lost.value.cause.errno == errno.ENOSPC
