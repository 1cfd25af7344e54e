"""What all commands share: usage errors, internal errors, signals, progress, start-up."""

from __future__ import annotations

import io
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import NoReturn

import pytest

from hierdata.cli import main
from hierdata.cli.feedback import Feedback
from tests.cli.conftest import Desk, Run


def raising(error: Exception) -> Callable[..., NoReturn]:
    def fail(*_: object, **__: object) -> NoReturn:
        raise error

    return fail


def test_without_arguments_help_is_shown(run: Run) -> None:
    ran = run()
    assert ran.code == 0
    assert all(command in ran.out for command in ("anonymize", "verify", "lint", "synth"))


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("anonimize",), "Did you mean 'anonymize'"),
        (("anonymize",), "INPUT"),
        (("anonymize", "in.json", "--out", "x"), "--policy"),
        (("synth", "students", "--out", "x.json", "--records", "many"), "--records"),
    ],
)
def test_usage_errors_are_one_sentence(run: Run, arguments: tuple[str, ...], hint: str) -> None:
    ran = run(*arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("hierdata: ")
    assert hint in ran.err
    assert run(*arguments, "--json").json["error"]["exit_code"] == 2


def test_usage_errors_point_at_the_help_of_their_command(run: Run) -> None:
    assert "'hierdata verify --help'" in run("verify", "--polcy", "x").err
    assert "'hierdata --help'" in run("verfy").err


def test_an_internal_error_tells_its_type_and_place_alone(
    run: Run, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hierdata.release.files.write_files", raising(ValueError("marker-7319")))
    ran = run(*desk.command, "--json")
    assert ran.code == 1
    assert "ValueError at hierdata/pipeline/anonymize.py:" in ran.err
    assert ran.err.count("\n") == 1
    assert ran.json["error"]["kind"] == "InternalError"
    assert "marker" not in ran.out + ran.err
    assert desk.names() == {"people.jsonl", "policy.yaml"}


def test_trouble_with_files_is_no_internal_error(
    run: Run, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "hierdata.release.files.write_files", raising(OSError(28, os.strerror(28), "somewhere"))
    )
    ran = run(*desk.command)
    assert (ran.code, ran.err) == (8, f"hierdata: somewhere: {os.strerror(28)}\n")
    assert desk.names() == {"people.jsonl", "policy.yaml"}


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_leaves_nothing_behind(
    run: Run,
    desk: Desk,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    number: signal.Signals,
    code: int,
) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:  # nohup has it ignored, and so do we then
        request.addfinalizer(lambda: signal.signal(number, signal.SIG_IGN))
        signal.signal(number, signal.SIG_DFL)
    seen = []

    def interrupted(*_: object) -> None:
        seen.extend(desk.names())
        os.kill(os.getpid(), number)

    before = signal.getsignal(number)
    monkeypatch.setattr("hierdata.release.files.write_files", interrupted)
    ran = run(*desk.command, "--json")
    assert ran.code == code
    assert ran.json["error"] == {
        "kind": "Stopped",
        "message": f"stopped by {number.name}; partial results are removed",
        "exit_code": code,
    }
    assert any(name.startswith(".hierdata-") for name in seen), "the work had begun"
    assert desk.names() == {"people.jsonl", "policy.yaml"}
    assert signal.getsignal(number) is before


def test_a_signal_that_a_library_answers_with_an_error_of_its_own_is_a_signal(
    run: Run, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> NoReturn:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)
        except BaseException as stop:
            raise SystemError("returned a result with an exception set") from stop
        raise AssertionError

    monkeypatch.setattr("hierdata.release.files.write_files", interrupted)
    ran = run(*desk.command)
    assert (ran.code, ran.err) == (143, "hierdata: stopped by SIGTERM; partial results are removed\n")


def test_a_stopped_command_says_what_it_could_not_remove(
    run: Run, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)
        except BaseException as stop:
            stop.add_note("unfinished collections could not be removed")
            raise

    monkeypatch.setattr("hierdata.release.files.write_files", interrupted)
    ran = run(*desk.command)
    assert (ran.code, ran.err) == (
        143,
        "hierdata: stopped by SIGTERM; unfinished collections could not be removed\n",
    )


def test_a_second_signal_does_not_stop_the_cleaning(
    run: Run, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("hierdata.release.files.write_files", interrupted)
    assert run(*desk.command).code == 130
    assert desk.names() == {"people.jsonl", "policy.yaml"}


def test_an_ignored_signal_stays_ignored(run: Run, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from hierdata.release.files import write_files

    def interrupted(*arguments: object) -> object:
        os.kill(os.getpid(), signal.SIGHUP)
        return write_files(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("hierdata.release.files.write_files", interrupted)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert run(*desk.command).code == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_reader_that_went_away_changes_nothing_in_a_release(
    compiled: None, desk: Desk, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*command: object) -> tuple[int, str]:
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "w") as gone, monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", gone)
            return main([str(argument) for argument in command]), capfd.readouterr().err

    done = f"hierdata: the output was lost (Broken pipe) after all was done: {desk.out} is complete\n"
    assert run(*desk.command) == (0, done)
    assert run("lint", desk.policy) == (141, "")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_shows_counts_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("hierdata.cli.feedback.PATIENCE", 0.0)
    with Feedback(quiet=False) as feedback:
        assert feedback.listener is not None
        feedback.listener("reading [x]", 120, 200)
        wait_for(lambda: "120/200" in terminal.getvalue())
        feedback.listener("clustering", 0, None)
        wait_for(lambda: "clustering" in terminal.getvalue())
    assert "reading [x]" in terminal.getvalue(), "a stage is plain text, no markup"


def test_no_time_is_said_to_remain_where_the_total_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("hierdata.cli.feedback.PATIENCE", 0.0)
    with Feedback(quiet=False) as feedback:
        assert feedback.listener is not None
        for done in range(40):
            feedback.listener("surveying", done, None)
            time.sleep(0.02)
        wait_for(lambda: "surveying" in terminal.getvalue())
        assert "remaining" not in terminal.getvalue()
        assert "--:--" not in terminal.getvalue()
        for done in range(200):
            feedback.listener("judging", done, 1000)
            time.sleep(0.01)
        wait_for(lambda: "remaining" in terminal.getvalue())


def wait_for(condition: Callable[[], bool]) -> None:
    limit = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.01)


def test_progress_waits_for_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("hierdata.cli.feedback.PATIENCE", 3600.0)
    with Feedback(quiet=False) as feedback:
        assert feedback.listener is not None
        feedback.listener("reading", 120, 200)
    assert terminal.getvalue() == ""


def test_progress_is_for_terminals_and_notices_for_whoever_wants_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for quiet in (False, True):
        with Feedback(quiet) as feedback:
            assert feedback.listener is None
            feedback.notice("compiling")
    assert capsys.readouterr().err == "hierdata: compiling\n"
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Feedback(quiet=True) as feedback:
        assert feedback.listener is None
