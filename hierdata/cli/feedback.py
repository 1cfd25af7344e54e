"""Progress and notices on stderr while a command works; stdout is for results."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 1.0
"""Seconds before progress is shown: what is done by then needs none."""


class Feedback:
    """Shows what a command is at: nothing when quiet, progress only on a terminal.

    >>> with Feedback(quiet=True) as feedback:
    ...     feedback.notice("compiling")
    ...     feedback.listener is None
    True
    """

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._live = not quiet and sys.stderr.isatty()
        self._begin = time.monotonic()
        self._shown: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Feedback:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown is not None:
            self._shown.stop()

    def notice(self, text: str) -> None:
        """Say something that explains a wait."""
        if not self._quiet:
            print(f"hierdata: {text}", file=sys.stderr)

    @property
    def listener(self) -> Callable[[str, int, int | None], None] | None:
        """What a pipeline tells its progress to; None where nobody would see it."""
        return self._progress if self._live else None

    def _progress(self, stage: str, done: int, total: int | None) -> None:
        """Show how much of a stage is done, and the remaining time where the total is known."""
        if time.monotonic() - self._begin < PATIENCE:
            return
        if self._shown is None:
            self._shown = _display()
            self._shown.start()
        task = self._tasks.get(stage)
        if task is None:
            task = self._tasks[stage] = self._shown.add_task(stage, total=total)
        self._shown.update(task, completed=done, total=total)


def _display() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=Console(stderr=True),
        transient=True,
    )
