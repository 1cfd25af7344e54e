"""Every message of the package has a test that provokes it: ``pytest -n auto --messages FILE`` compares.

Listed are the places that raise or build an error with a message. While tests run, the places that were
reached are noted: those in whose lines an error was built, or that an error passed before it was told in
another's words. FILE gets all, each with a test that reached it. If the whole fast tier ran, the run fails
where a place was not reached.
"""

from __future__ import annotations

import ast
import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import FrameType, ModuleType, TracebackType
from typing import Any

import pytest
from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from hierdata.documents.formats.csv import _RefusedError
from hierdata.documents.formats.decoder import RefusedTextError
from hierdata.documents.formats.extended_json import _MisspelledError
from hierdata.ground import errors
from hierdata.ground.errors import HierdataError
from hierdata.records.identifiers.base import RefusedValueError
from hierdata.records.record import MisfitError
from tests.cases import FAST

PACKAGE = Path(errors.__file__).parents[1]
_INSIDE = f"{PACKAGE}{os.sep}"
_SILENT = {"typer.Exit", "StopIteration", "HTTPException", "AssertionError"}
"""What is raised without a message for a user."""
_BUILDERS = {"file_error", "missing_extra"}
_SIGNALS: tuple[type[Exception], ...] = (
    RefusedTextError,
    _RefusedError,
    _MisspelledError,
    RefusedValueError,
    MisfitError,
)
"""Errors whose words are told later, when they are handled no more."""

_CUSTOM = ("hierdata.policy.spec.families", "hierdata.policy.spec.gates")
"""Modules that build errors of pydantic_core."""

Line = tuple[str, int]
Reached = dict[Line, str]
"""Lines of the package on which an error was built or passed, with the test that ran."""

_REACHED: pytest.StashKey[Reached] = pytest.StashKey()
_FAULTS: pytest.StashKey[list[str]] = pytest.StashKey()


@dataclass(frozen=True)
class Site:
    """A place that raises or builds an error: file, function, text, and its lines."""

    file: str
    function: str
    text: str
    lines: range

    @property
    def key(self) -> str:
        """What names the place as long as neither function nor text change."""
        return f"{self.file} {self.function}: {self.text}"


def list_sites(package: Path = PACKAGE, files: str = "**/*.py") -> list[Site]:
    """Return all places that raise an error with a message, or build one of the package."""
    return [site for path in sorted(package.glob(files)) for site in _sites_of(path, package)]


def _sites_of(path: Path, package: Path) -> Iterator[Site]:
    file = path.relative_to(package).as_posix()

    def walk(node: ast.AST, function: str) -> Iterator[Site]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from walk(child, f"{function}.{child.name}".lstrip("."))
                continue
            call = child.exc if isinstance(child, ast.Raise) else child
            if isinstance(call, ast.Call) and (call is not child or _builds_error(call)):
                name = ast.unparse(call.func)
                if name not in _SILENT and call.args:
                    text = f"{name}({', '.join(map(_text_of, call.args))})"
                    yield Site(file, function, text, range(child.lineno, (child.end_lineno or 0) + 1))
                    continue
            yield from walk(child, function)

    return walk(ast.parse(path.read_text("utf-8")), "")


def _builds_error(call: ast.Call) -> bool:
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    kind = getattr(errors, name, None)
    return name in _BUILDERS or (isinstance(kind, type) and issubclass(kind, HierdataError))


def _text_of(node: ast.expr) -> str:
    """Return the text of a message, ``{}`` where it has a value; what is no text as it is written."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.replace("\n", " ")
    if isinstance(node, ast.JoinedStr):
        return "".join("{}" if isinstance(one, ast.FormattedValue) else str(one.value) for one in node.values)  # type: ignore[attr-defined]
    return f"<{ast.unparse(node)}>"


def unprovoked(sites: Iterable[Site], reached: Iterable[Line]) -> list[str]:
    """Return a line for each place that was not reached."""
    lines = set(reached)
    return [
        f"no test provokes {one.file}:{one.lines.start} {one.text}"
        for one in sites
        if not any((one.file, line) in lines for line in one.lines)
    ]


class Recorder:
    """Notes lines of the package at which errors are built or pass."""

    def __init__(self, reached: Reached) -> None:
        self.reached = reached

    def note(self, filename: str, line: int) -> None:
        """Note a line if it is one of the package."""
        if filename.startswith(_INSIDE):
            name = filename.removeprefix(_INSIDE).replace(os.sep, "/")
            self.reached.setdefault((name, line), os.environ.get("PYTEST_CURRENT_TEST", "").partition(" ")[0])

    def note_stack(self, frame: FrameType | None) -> None:
        """Note the lines that a stack is at."""
        while frame is not None:
            self.note(frame.f_code.co_filename, frame.f_lineno)
            frame = frame.f_back

    def note_error(self, error: BaseException | None) -> None:
        """Note the lines that an error passed, and those of the errors that it was made of."""
        known: set[int] = set()
        waiting = [error]
        while waiting:
            one = waiting.pop()
            if one is None or id(one) in known:
                continue
            known.add(id(one))
            self._note_traceback(one.__traceback__)
            waiting += [one.__cause__, one.__context__]
            if isinstance(one, ValidationError):
                details = one.errors(include_url=False)
                causes = (detail["ctx"].get("error") for detail in details if "ctx" in detail)
                waiting += [cause for cause in causes if isinstance(cause, BaseException)]

    def _note_traceback(self, traceback: TracebackType | None) -> None:
        while traceback is not None:
            self.note(traceback.tb_frame.f_code.co_filename, traceback.tb_lineno)
            traceback = traceback.tb_next


def _note_signals(recorder: Recorder, kind: type[Exception]) -> None:
    build = kind.__init__

    def built(self: Exception, *arguments: Any, **named: Any) -> None:
        recorder.note_stack(sys._getframe(1))
        build(self, *arguments, **named)

    kind.__init__ = built  # type: ignore[method-assign]


def _note_custom(recorder: Recorder, module: ModuleType) -> None:
    """Note where a module builds errors of pydantic_core, which keep no traceback."""

    def build(*arguments: Any) -> PydanticCustomError:
        recorder.note_stack(sys._getframe(1))
        return PydanticCustomError(*arguments)

    module.PydanticCustomError = build  # type: ignore[attr-defined]


def _observe(recorder: Recorder) -> None:
    """Note every error of the package when it is built, and every error that a test expects."""
    build = HierdataError.__init__

    @functools.wraps(build)
    def built(self: HierdataError, *arguments: Any, **named: Any) -> None:
        recorder.note_stack(sys._getframe(1))
        recorder.note_error(sys.exc_info()[1])
        build(self, *arguments, **named)

    HierdataError.__init__ = built  # type: ignore[method-assign]
    for kind in _SIGNALS:
        _note_signals(recorder, kind)
    for module in map(import_module, _CUSTOM):
        _note_custom(recorder, module)
    expected = type(pytest.raises(HierdataError))
    leave: Callable[..., Any] = expected.__exit__

    def left(self: Any, kind: Any, error: BaseException | None, traceback: Any) -> Any:
        recorder.note_error(error)
        return leave(self, kind, error, traceback)

    expected.__exit__ = left  # type: ignore[method-assign]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--messages``."""
    parser.addoption("--messages", metavar="FILE", help="write each message with a test that provokes it")


def pytest_configure(config: pytest.Config) -> None:
    """Begin to note, if asked to."""
    config.stash[_REACHED] = {}
    config.stash[_FAULTS] = []
    if config.getoption("--messages"):
        _observe(Recorder(config.stash[_REACHED]))


def _is_whole(config: pytest.Config) -> bool:
    """Whether all of the fast tier is asked for, where all packages of the extra ``test`` have wheels."""
    if sys.version_info >= (3, 14):
        return False
    chosen = config.option.keyword or getattr(config.option, "lf", False) or config.option.deselect
    from_settings = config.args_source is not pytest.Config.ArgsSource.ARGS
    return from_settings and not chosen and config.option.markexpr == FAST


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Send what was noted to the process that compares; there, fail where a message has no test."""
    config = session.config
    reached = config.stash[_REACHED]
    written = config.getoption("--messages")
    output: dict[str, Any] | None = getattr(config, "workeroutput", None)
    if output is not None:
        output["messages"] = [[*line, test] for line, test in reached.items()]
        return
    if written:
        _write(Path(written), reached)
    if written and _is_whole(config) and exitstatus == pytest.ExitCode.OK:
        config.stash[_FAULTS] = unprovoked(list_sites(), reached)
        if config.stash[_FAULTS]:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Add what a process of xdist noted."""
    for file, line, test in getattr(node, "workeroutput", {}).get("messages", ()):
        node.config.stash[_REACHED].setdefault((file, line), test)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print which messages have no test."""
    if faults := config.stash[_FAULTS]:
        terminalreporter.section("messages without a test")
        terminalreporter.write_line("\n".join(faults))


def _write(path: Path, reached: Reached) -> None:
    lines = []
    for site in list_sites():
        tests = [reached[site.file, line] for line in site.lines if (site.file, line) in reached]
        lines.append(f"{tests[0] if tests else '-'}\t{site.key}\n")
    path.write_text("".join(lines), "utf-8")
