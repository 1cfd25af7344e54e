"""Progress and notices on stderr while a command works; stdout is for results."""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import Lock, Timer
from types import TracebackType
from typing import TYPE_CHECKING

from hierdata.cli.terminal import tell
from hierdata.ground.escaping import escape

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 1.0
"""Seconds before progress is shown; shorter runs show none."""


class Feedback:
    """Shows the progress and notices of a command: nothing if quiet, progress only on a terminal.

    >>> with Feedback(quiet=True) as feedback:
    ...     feedback.notice("compiling")
    ...     feedback.listener is None
    True
    """

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._live = not quiet and sys.stderr.isatty()
        # A timer, so that a stage that reports nothing for long is shown too.
        self._timer = Timer(PATIENCE, self._open)
        self._timer.daemon = True
        self._lock = Lock()
        self._stage: tuple[str, int, int | None] | None = None
        self._shown: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Feedback:
        if self._live:
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._live = False
            if self._shown is not None:
                self._shown.stop()

    def notice(self, text: str) -> None:
        """Print a sentence that explains a wait."""
        if not self._quiet:
            tell(text)

    @property
    def listener(self) -> Callable[[str, int, int | None], None] | None:
        """The progress callback for a pipeline; None if progress is not shown."""
        return self._progress if self._live else None

    def _progress(self, stage: str, done: int, total: int | None) -> None:
        """Store how much of a stage is done, and show it once the display is open."""
        with self._lock:
            self._stage = (stage, done, total)
            if self._shown is not None:
                self._update(self._shown)

    def _open(self) -> None:
        display = _display()
        with self._lock:
            if self._live:
                self._shown = display
                display.start()
                self._update(display)

    def _update(self, display: Progress) -> None:
        if self._stage is None:
            return
        stage, done, total = self._stage
        if stage not in self._tasks:
            for finished in self._tasks.values():
                display.update(finished, visible=False)
            self._tasks[stage] = display.add_task(escape(stage), total=total)
        display.update(self._tasks[stage], completed=done, total=total)


def _display() -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class TimeLeftColumn(ProgressColumn):
        """The time that remains, where that can be said: nothing while the total or the speed is unknown."""

        max_refresh = 0.5
        _known = TimeRemainingColumn(compact=True)

        def render(self, task: Task) -> Text:
            """Return the time for one task."""
            if task.total is None or task.time_remaining is None:
                return Text("")
            return Text("remaining ").append_text(self._known.render(task))

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeLeftColumn(),
        console=Console(stderr=True),
        transient=True,
    )
