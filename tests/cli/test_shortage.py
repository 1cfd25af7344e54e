"""Where memory runs out there is a sentence, exit code 8, and nothing is written."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from hierdata.cli.session import keep_signal_handlers, session
from hierdata.executors.processes import Processes

ROOT = Path(__file__).parents[2]
MEBIBYTE = 2**20


def too_large() -> None:
    import numpy as np

    np.empty((1 << 22, 1 << 22))


def no_memory() -> None:
    raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))


def no_library() -> None:
    raise ImportError("libx.so: failed to map segment from shared object")


def no_room() -> None:
    raise OSError("libx.so: cannot allocate memory in static TLS block")


@pytest.mark.parametrize("work", [too_large, no_memory, no_library, no_room])
def test_whoever_says_it(work: Callable[[], None], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as ended, keep_signal_handlers(), session(True):
        work()
    assert ended.value.exit_code == 8
    out, err = capsys.readouterr()
    assert err.startswith("hierdata: memory ran out, and nothing was written: allow")
    assert json.loads(out)["error"]["kind"] == "MemoryError"


def test_another_error_of_a_library_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as ended, keep_signal_handlers(), session(False):
        raise ImportError("libx.so: undefined symbol")
    assert ended.value.exit_code == 1


def test_in_a_worker_too(tmp_path: Path) -> None:
    with Processes(workers=1, folder=tmp_path) as executor, pytest.raises(MemoryError):
        executor.hold([1]).map(lambda value: too_large())


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere addresses cannot be limited")
@pytest.mark.parametrize("mebibytes", [100, 300])
def test_a_process_with_few_addresses(mebibytes: int, tmp_path: Path) -> None:
    import resource

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (mebibytes * MEBIBYTE, mebibytes * MEBIBYTE))

    command = [
        sys.executable,
        "-m",
        "hierdata",
        "anonymize",
        str(ROOT / "fixtures" / "students" / "students.json"),
        "--out",
        str(tmp_path / "out"),
    ]
    run = subprocess.run(
        [*command, "--policy", str(ROOT / "fixtures" / "policies" / "students-multilevel.yaml")],
        capture_output=True,
        text=True,
        preexec_fn=limit,
        check=False,
        timeout=120,
    )
    assert run.returncode == 8
    assert run.stderr == (
        f"hierdata: this process may use only {mebibytes} MiB of addresses (ulimit -v), and needs at least "
        "512 MiB: allow more\n"
    )
    assert [*tmp_path.iterdir()] == []
