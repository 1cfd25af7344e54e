"""A run that is stopped, or finds its place taken, leaves nothing of its own and touches nothing else."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer

from hierdata.cli.session import keep_signal_handlers, session
from hierdata.ground.errors import TargetError
from hierdata.release.release import place


def staged(folder: Path) -> Path:
    (folder / "public").mkdir(parents=True)
    (folder / "steward").mkdir(mode=0o700)
    (folder / "public" / "records.json").write_text("[]\n", "utf-8")
    return folder


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every folder seems to lie on a file system of its own."""
    rename = Path.rename

    def only_siblings(self: Path, target: Path) -> Path:
        assert self.parent == target.parent, "renamed across file systems"
        return rename(self, target)

    class Stat:
        def __init__(self, path: Path, found: object) -> None:
            self.st_dev, self._found = hash(path), found

        def __getattr__(self, name: str) -> object:
            return getattr(self._found, name)

    stat = Path.stat
    monkeypatch.setattr(Path, "rename", only_siblings)
    monkeypatch.setattr(Path, "stat", lambda self, **options: Stat(self, stat(self, **options)))


@pytest.mark.usefixtures("elsewhere")
def test_a_copy_takes_nobody_s_place(tmp_path: Path) -> None:
    theirs = tmp_path / "out" / ".release.moving"
    theirs.mkdir(parents=True)
    (theirs / "work").write_text("theirs", "utf-8")
    target = tmp_path / "out" / "release"
    place(staged(tmp_path / "work"), target)
    assert (theirs / "work").read_text("utf-8") == "theirs"
    assert {path.name for path in target.parent.iterdir()} == {".release.moving", "release"}
    assert target.joinpath("steward").stat().st_mode & 0o777 == 0o700
    assert target.stat().st_mode == target.joinpath("public").stat().st_mode


@pytest.mark.usefixtures("elsewhere")
def test_a_copy_that_fails_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "out").mkdir()
    work = staged(tmp_path / "work")
    monkeypatch.setattr("shutil.copytree", full)
    with pytest.raises(TargetError, match="No space left"):
        place(work, tmp_path / "out" / "release")
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("delay", [0.0, 0.01])
def test_a_signal_that_a_callback_swallows_still_stops_the_run(
    delay: float, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a delay it comes again while the interpreter still reports that it was lost."""
    monkeypatch.setattr("hierdata.cli.session._AGAIN", delay)

    @ctypes.CFUNCTYPE(None)
    def callback() -> None:
        signal.raise_signal(signal.SIGTERM)

    def run() -> None:
        with keep_signal_handlers(), session(as_json=False):
            callback()
            deadline = time.monotonic() + 10
            while time.monotonic() < deadline:
                time.sleep(0.01)

    with pytest.raises(typer.Exit) as stopped:
        run()
    assert stopped.value.exit_code == 128 + signal.SIGTERM
    assert capsys.readouterr().err == "hierdata: stopped by SIGTERM; partial results are removed\n"


def test_a_signal_after_the_last_step_is_told_that_all_was_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(result: Path) -> None:
        with keep_signal_handlers(), session(as_json=False, result=result):
            result.mkdir(exist_ok=True)
            signal.raise_signal(signal.SIGINT)

    for told, code in (
        (f" after all was done: {tmp_path / 'out'} is complete", 0),
        ("; partial results are removed", 130),  # the second time it was there before
    ):
        with pytest.raises(typer.Exit) as stopped:
            run(tmp_path / "out")
        assert stopped.value.exit_code == code
        assert capsys.readouterr().err == f"hierdata: stopped by SIGINT{told}\n"


def test_signals_after_the_end_change_nothing(tmp_path: Path) -> None:
    """The interpreter takes a while to end; its exit code is settled before."""
    late = """
import atexit, os, signal, sys
from hierdata.cli import main
atexit.register(lambda: [os.kill(os.getpid(), number) for number in (signal.SIGINT, signal.SIGTERM)])
sys.exit(main())
"""
    command = [sys.executable, "-c", late, "synth", "students", "--records", "1", "--quiet", "--out"]
    ended = subprocess.run([*command, str(tmp_path / "one.jsonl")], capture_output=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
