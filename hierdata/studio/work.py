"""Works of a study in progress: worker processes that tell how far they are, and that can be stopped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Lock, Thread
from typing import Any

from hierdata.studio.study import StudyFolder

_NEXT = {"survey": "prepare"}
"""Works that follow others which ended well."""
_PATIENCE = 5.0
"""Seconds that a stopped process has until it is killed."""


@dataclass(frozen=True)
class WorkState:
    """How far a work is; ``ended`` is empty while it runs, then done, failed or stopped, and ``why``."""

    name: str
    stage: str = ""
    done: int = 0
    total: int | None = None
    ended: str = ""
    why: str = ""

    @property
    def is_running(self) -> bool:
        """Whether the work goes on."""
        return not self.ended

    @property
    def share(self) -> float | None:
        """The share of the stage that is done, None if it is not known."""
        return self.done / self.total if self.total else None


class Works:
    """The works that this studio started, one of a name at a time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._states: dict[str, WorkState] = {}
        self._processes: dict[str, subprocess.Popen[str]] = {}
        self._is_closed = False

    def state(self, name: str) -> WorkState | None:
        """Return how far a work is, None if it was not started."""
        with self._lock:
            return self._states.get(name)

    def is_running(self, name: str) -> bool:
        """Return whether a work goes on."""
        state = self.state(name)
        return state is not None and state.is_running

    def start(self, study: StudyFolder, name: str, arguments: Mapping[str, Any]) -> None:
        """Start a work, unless it goes on already or the studio ends."""
        with self._lock:
            before = self._states.get(name)
            if self._is_closed or (before is not None and before.is_running):
                return
            # -P: a file beside the input must not be taken for a module.
            process = subprocess.Popen(  # noqa: S603  (our own module, no shell)
                [sys.executable, "-P", "-m", "hierdata.studio.worker", str(study.folder), name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
                start_new_session=os.name == "posix",  # Ctrl-C is for the studio, which closes stdin
            )
            self._states[name], self._processes[name] = WorkState(name), process
        followed = (study, name, process, json.dumps(arguments))
        Thread(target=self._follow, args=followed, daemon=True).start()

    def stop(self, name: str) -> None:
        """Stop a work; what it wrote so far is removed."""
        with self._lock:
            state, process = self._states.get(name), self._processes.get(name)
            if state is None or process is None or not state.is_running:
                return
            self._states[name] = replace(state, ended="stopped")
        _end(process)

    def close(self) -> None:
        """Stop all works."""
        with self._lock:
            self._is_closed = True
        for name in list(self._processes):
            self.stop(name)

    def _follow(self, study: StudyFolder, name: str, process: subprocess.Popen[str], arguments: str) -> None:
        assert process.stdin is not None, "opened as a pipe"
        assert process.stdout is not None, "opened as a pipe"
        try:
            process.stdin.write(arguments + "\n")
            process.stdin.flush()
            for line in process.stdout:
                with self._lock:
                    if self._states[name].is_running and self._processes[name] is process:
                        self._states[name] = replace(self._states[name], **json.loads(line))
        except (OSError, ValueError):
            pass  # the process was stopped between two lines
        process.wait()
        process.stdout.close()
        with suppress(OSError):
            process.stdin.close()
        with self._lock:
            if self._processes[name] is process and self._states[name].is_running:
                why = "the worker process ended early, perhaps for lack of memory: try again"
                self._states[name] = replace(self._states[name], ended="failed", why=why)
            ended = self._states[name].ended if name in self._states else ""
        if ended == "done" and name in _NEXT:
            self.start(study, _NEXT[name], {})


def _end(process: subprocess.Popen[str]) -> None:
    """End a process: by the end of its input, then by a signal."""
    if process.stdin is not None:
        try:
            process.stdin.close()
        except OSError:
            process.terminate()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
