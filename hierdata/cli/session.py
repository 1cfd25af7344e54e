"""What all commands share: errors become one sentence and an exit code, and signals clean up.

Also where memory runs out: how that is recognized, and what is said.
"""

from __future__ import annotations

import errno
import gc
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from types import FrameType
from typing import Any, NoReturn

import typer

from hierdata.cli.terminal import LostOutputError, drop_output, print_json, tell
from hierdata.ground.errors import HierdataError, TargetError, file_error
from hierdata.ground.escaping import escape

EXIT_CODES = {
    0: "success; also where a signal came, or the output was lost, after a result was complete",
    1: "internal error",
    2: "usage, policy or lint",
    3: "the promise cannot be met",
    4: "not verified",
    5: "bad input",
    6: "a file, server or target that will not do as asked: missing, forbidden, already there",
    7: "a gate failed",
    8: "nothing was published, try again later: server lost, disk full, memory, worker lost",
    129: "stopped by SIGHUP",
    130: "stopped by SIGINT",
    141: "the reader of the output closed it",
    143: "stopped by SIGTERM",
}
"""The exit codes of all commands, as ``--help`` lists them."""

_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]  # Windows has no SIGHUP

_GARBAGE = 200_000
"""Threshold of the garbage collector: records are many objects without cycles, so searches are rare."""
_AGAIN = 0.01
"""Seconds until a lost signal is sent again, so that the callback that swallowed it has returned."""


class Stopped(BaseException):
    """A signal asked the process to end; open files and partial results are closed and removed."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def session(as_json: bool, reveal: Path | None = None, result: Path | None = None) -> Iterator[None]:
    """Run a command: errors become a sentence on stderr (and JSON on stdout) and an exit code.

    Raw values of an error are written to the file ``reveal`` and nowhere else. ``result`` appears complete,
    as the last step before the output; whatever happens after that, the message says that the result is
    complete, and the exit code is 0. After the session signals are ignored, so that the reported outcome
    stays true (see ``keep_signal_handlers``).
    """
    gc.set_threshold(_GARBAGE)
    awaited = None if result is None or os.path.lexists(result) else result
    stops: list[Stopped] = []
    try:
        with _Stoppable(stops):
            if reveal is not None:
                require_absent(reveal)
            if too_little := explain_limit():
                raise typer.Exit(explain("MemoryError", too_little, _NO_MEMORY_CODE, as_json))
            yield
            sys.stdout.flush()
    except typer.Exit:
        raise
    except (Stopped, Exception) as error:  # noqa: BLE001  (a traceback could show raw values)
        # A C library interrupted in a callback by a signal may raise an error of its own.
        if stops:
            _end(stops[0], as_json, awaited)
        if is_shortage(error):
            if _is_done("memory ran out", awaited):
                raise typer.Exit(0) from None
            raise typer.Exit(explain("MemoryError", _NO_MEMORY, _NO_MEMORY_CODE, as_json)) from None
        if isinstance(error, BrokenPipeError):
            drop_output()
            error = LostOutputError(error)
        if isinstance(error, LostOutputError):
            raise typer.Exit(explain_lost(error, awaited)) from None
        _fail(error, as_json, reveal)


def _end(stop: Stopped, as_json: bool, result: Path | None) -> NoReturn:
    name = signal.Signals(stop.number).name
    if _is_done(f"stopped by {name}", result):
        raise typer.Exit(0) from None
    notes = getattr(stop, "__notes__", ["partial results are removed"])
    message = f"stopped by {name}; {'; '.join(notes)}"
    raise typer.Exit(explain("Stopped", message, 128 + stop.number, as_json)) from None


def explain_lost(error: LostOutputError, result: Path | None = None) -> int:
    """Say that stdout cannot be written, and return the exit code: 0 if the result is complete.

    Nothing is said where the reader of a pipe went away: it knows.
    """
    cause = error.cause
    if _is_done(f"the output was lost ({cause.strerror})", result):
        return 0
    if isinstance(cause, BrokenPipeError):
        return 128 + signal.SIGPIPE
    refused = file_error(cause, f"the output cannot be written ({cause.strerror})")
    tell(str(refused))
    return refused.exit_code


def _is_done(why: str, result: Path | None) -> bool:
    """Return whether the result is complete, and say so: what came after does not change it."""
    if result is None or not result.exists():
        return False
    tell(f"{why} after all was done: {result} is complete")
    return True


def _fail(error: BaseException, as_json: bool, reveal: Path | None) -> NoReturn:
    if isinstance(error, HierdataError):
        _refuse(error, as_json, reveal)
    if isinstance(error, OSError) and error.strerror is not None:
        name = None if error.filename is None else os.fsdecode(error.filename)
        _refuse(file_error(error, error.strerror, path=name), as_json, None)
    _crash(error, as_json)


class _Stoppable:
    """Raises Stopped at the first signal and ignores later ones, so that nothing interrupts the cleanup.

    An exception raised inside a callback (of the compiler, of a finalizer) is lost; then the signal is sent
    again, until it is raised outside.
    """

    def __init__(self, stops: list[Stopped]) -> None:
        self._stops = stops
        usual = (signal.SIG_DFL, signal.default_int_handler)
        handlers = {number: signal.getsignal(number) for number in _SIGNALS}
        self._signals = [number for number, handler in handlers.items() if handler in usual]
        self._hook = sys.unraisablehook
        self._sender: Thread | None = None
        self._has_ended = Event()
        self._is_in_hook = False

    def __enter__(self) -> None:
        sys.unraisablehook = self._resend_lost_signal
        self._handle_by(self._stop)

    def __exit__(self, *exception: object) -> None:
        self._handle_by(signal.SIG_IGN)
        sys.unraisablehook = self._hook
        self._has_ended.set()
        if self._sender is not None:
            self._sender.join()

    def _handle_by(self, handler: signal.Handlers | Callable[[int, FrameType | None], None]) -> None:
        for number in self._signals:
            signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if self._is_in_hook:  # it would be lost again
            return
        self._handle_by(signal.SIG_IGN)
        self._stops.append(Stopped(number))
        raise self._stops[-1]

    def _resend_lost_signal(self, unraisable: sys.UnraisableHookArgs) -> None:
        if not isinstance(unraisable.exc_value, Stopped):
            self._hook(unraisable)
            return
        self._is_in_hook = True
        self._handle_by(self._stop)
        if self._sender is None:
            self._sender = Thread(target=self._send_again, args=(unraisable.exc_value.number,), daemon=True)
            self._sender.start()
        self._is_in_hook = False

    def _send_again(self, number: int) -> None:
        while not self._has_ended.wait(_AGAIN):
            os.kill(os.getpid(), number)


@contextmanager
def keep_signal_handlers() -> Iterator[None]:
    """Restore the signal handlers in a process that goes on after the command."""
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is not handler:
                signal.signal(number, handler)


def explain(kind: str, lines: str | Sequence[str], code: int, as_json: bool, **details: Any) -> int:
    """Print the lines of an error on stderr, with ``--json`` on stdout too, and return the exit code."""
    shown = [hide_user(escape(line)) for line in ([lines] if isinstance(lines, str) else lines)]
    for name, text in details.items():
        details[name] = hide_user(escape(text)) if isinstance(text, str) else text
    tell(*shown)
    if as_json:
        message = "\n".join(shown)
        print_json({"error": {"kind": kind, "message": message, "exit_code": code, **details}})
    return code


def hide_user(text: str) -> str:
    """Remove user and password of an address from a text, such as an address given as a file name.

    >>> hide_user("mongodb:/steward:secret@host: there is no such folder")
    'mongodb:/...@host: there is no such folder'
    """
    return re.sub(r"(:/+)\S*@", r"\1...@", text)


def _refuse(error: HierdataError, as_json: bool, reveal: Path | None) -> NoReturn:
    details = {"record": error.record, "path": error.path}
    code = explain(type(error).__name__, str(error).split("\n"), error.exit_code, as_json, **details)
    if error.revealed and reveal is None:
        tell("--reveal FILE writes the values to a file that only you can read")
    elif reveal is not None:
        try:
            reveal_values(reveal, error.revealed)
        except TargetError as failed:
            tell(str(failed))
    raise typer.Exit(code) from None


def _crash(error: BaseException, as_json: bool) -> NoReturn:
    """Report an internal error by type and place only: its message could quote the data."""
    from hierdata.ground.plugins import FAULT, fault_of

    if fault := vars(error).get(FAULT) or fault_of(error):
        message = f"error in a plug-in ({type(error).__name__} at {fault}); please report it to its authors"
        raise typer.Exit(explain("InternalError", message, 1, as_json, at=fault)) from None
    ours = Path(__file__).parents[1]
    frames = [(Path(frame.filename), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    file, line = next((frame for frame in reversed(frames) if ours in frame[0].parents), frames[-1])
    where = f"{file.relative_to(ours.parent).as_posix() if ours in file.parents else file.name}:{line}"
    message = (
        f"internal error ({type(error).__name__} at {where}); this is a fault of hierdata, please report it"
    )
    raise typer.Exit(explain("InternalError", message, 1, as_json, at=where)) from None


def require_absent(target: Path) -> None:
    """Raise TargetError if a path that is to be written already exists."""
    if target.exists() or target.is_symlink():
        raise TargetError("is already there; choose a new name", path=str(target))


def reveal_values(target: Path, lines: Sequence[str]) -> None:
    """Write raw values to a new file (see ``write_private``)."""
    write_private(target, lines, "the values")


def write_private(target: Path, lines: Sequence[str], contents: str) -> None:
    """Write lines to a new file that only its owner can read; without lines write no file.

    A value has no line of its own making: control characters are escaped, except the tabs between columns.
    Raises TargetError if the file exists or cannot be written.
    """
    if not lines:
        return
    try:
        target.touch(mode=0o600, exist_ok=False)
        columns = (map(escape, line.split("\t")) for line in lines)
        target.write_text("".join("\t".join(line) + "\n" for line in columns), encoding="utf-8")
    except OSError as error:
        raise file_error(error, f"cannot be written ({error.strerror})", path=str(target)) from None
    tell(f"{contents} are in {target}")


_NO_MEMORY_CODE = 8
"""As of a worker process that was killed, probably for lack of memory."""
_NO_MEMORY = (
    "memory ran out, and nothing was written: allow the process more memory, use fewer --workers, or state "
    "smaller `blocks` in the policy"
)
_LEAST_ADDRESSES = 512 * 2**20
"""Bytes of addresses that a process needs for the interpreter, the libraries and the compiler. With less, the
libraries end the process or lock it up, without an exception that could be reported."""
_UNMAPPED = ("cannot allocate memory", "failed to map segment")
"""What the loader says of a library that finds no room."""


def is_shortage(error: BaseException) -> bool:
    """Return whether an error means that memory ran out, whichever library raised it."""
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return True
    if isinstance(error, OSError | ImportError):
        return any(text in str(error).lower() for text in _UNMAPPED)
    return False


def explain_limit() -> str:
    """Return why no command can run within the limit on addresses (``ulimit -v``); empty if one can."""
    if sys.platform == "win32":
        return ""
    import resource

    allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
    if allowed == resource.RLIM_INFINITY or allowed >= _LEAST_ADDRESSES:
        return ""
    return (
        f"this process may use only {allowed // 2**20} MiB of addresses (ulimit -v), and needs at least "
        f"{_LEAST_ADDRESSES // 2**20} MiB: allow more"
    )
