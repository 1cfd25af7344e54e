"""The command line, everything spilled and in small parts, with a fault in the middle of one of its stages.

``python -m tests.end_to_end.faulty FAULT TASK ARGUMENT ...``: the task is the name of a class of
``hierdata.pipeline``, the fault one of FAULTS, or "-" for none. Where the fault is reached, the file that the
variable MARKER names is made: without it nothing was tried.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hierdata.executors.local as local
import hierdata.pipeline.publish as files
from hierdata.executors.processes import Processes, Serial
from hierdata.executors.spark import Spark
from hierdata.sources import Collection, FileForm, InputSplit
from tests.executors.chains import kill_executor_once

SECRET = "zq"
"""Every raw value of the collections that faults are tried on begins with it."""


@dataclass(frozen=True)
class Faulty:
    """A task in which something happens; ``driver`` is the command's process, ``marker`` says that it did."""

    work: Any
    fault: str
    driver: int
    marker: Path

    def __call__(self, part: Any, place: Any) -> Any:
        """Let it happen, and go on where that is possible."""
        self.marker.touch()
        if self.fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.fault == "full":  # no file may grow any more, which is told as a full disk is
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        elif self.fault == "raise":
            raise ValueError(f"{SECRET} is what a library says of a value")
        elif self.fault in ("SIGINT", "SIGTERM"):
            os.kill(self.driver, getattr(signal, self.fault))
        elif self.fault == "modes":
            _look(place.path.parents[1])
        return self.work(part, place)


FAULTS = ("kill", "full", "raise", "SIGINT", "SIGTERM", "modes", "executor", "spark worker")


def _look(folder: Path) -> None:
    """Say on stderr what others could open of what the run has put away."""
    found = [folder, *folder.rglob("*")]
    open_to_others = [path.name for path in found if path.stat().st_mode & 0o077]
    print(f"{len(found)} private, open to others: {open_to_others}", file=sys.stderr, flush=True)


def small_parts(change: Callable[[Any, str, Any], None] = setattr, bytes_of_split: int = 4000) -> None:
    """Cut files of some kilobytes into several splits and ranges, and keep nothing in memory."""
    of_collection, of_form = Collection.splits, FileForm.splits

    def collection(self: Collection, size: int = bytes_of_split) -> Sequence[InputSplit]:
        return of_collection(self, size)

    def form(
        self: FileForm,
        path: Path,
        element: str | None = None,
        *,
        alone: bool = False,
        size: int = bytes_of_split,
    ) -> Sequence[InputSplit]:
        return of_form(self, path, element, alone=alone, size=size)

    change(Collection, "splits", collection)
    change(FileForm, "splits", form)
    change(files, "_RANGE", 60)
    change(local, "_KEEP", 0)


@dataclass(frozen=True)
class Killing:
    """A task that kills the Spark executor which it runs in, once, or the worker with it."""

    function: Any
    marker: Path
    and_worker: bool

    def __call__(self, value: Any) -> Any:
        """Kill, or if somebody did so do the work."""
        kill_executor_once(self.marker, and_worker=self.and_worker)
        return self.function(value)


def disturb_spark(task: str, marker: Path, *, and_worker: bool) -> None:
    """Kill an executor, or a worker with its executor, in the first of the tasks of that name."""
    own = Spark.stage

    def stage(self: Spark, function: Any, layout: Any, run: Any) -> Any:
        if type(function).__name__ == task:
            function = Killing(function, marker, and_worker)
        return own(self, function, layout, run)

    patched: Any = Spark
    patched.stage = stage


def disturb(fault: str, task: str, marker: Path, change: Callable[[Any, str, Any], None] = setattr) -> None:
    """Let the fault happen in the middle one of the tasks of that name."""
    for kind in (Processes, Serial):
        own = kind.run

        def run(
            self: Any, work: Any, parts: Sequence[Any], places: Sequence[Any], watch: Any, own: Any = own
        ) -> list[Any]:
            if type(work.args[0]).__name__ != task:  # work is a partial of what the executor does
                return own(self, work, parts, places, watch)  # type: ignore[no-any-return]
            faulty = Faulty(work, fault, os.getpid(), marker)
            chosen = _OneOfThem(work, faulty, places[len(places) // 2].path)
            return own(self, chosen, parts, places, watch)  # type: ignore[no-any-return]

        change(kind, "run", run)


@dataclass(frozen=True)
class _OneOfThem:
    """Work that is another one at one place."""

    work: Any
    other: Any
    at: Path

    def __call__(self, part: Any, place: Any) -> Any:
        return (self.other if place.path == self.at else self.work)(part, place)


if __name__ == "__main__":
    from hierdata.cli import main

    chosen, stage = sys.argv[1:3]
    del sys.argv[1:3]
    small_parts()
    reached = Path(os.environ["MARKER"])
    if chosen in ("executor", "spark worker"):
        disturb_spark(stage, reached, and_worker=chosen == "spark worker")
    elif chosen != "-":
        disturb(chosen, stage, reached)
    sys.exit(main())
