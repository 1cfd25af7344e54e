"""The resources of a run: executor, workers, memory, and progress."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from hierdata.executors import (
    Executor,
    Held,
    Watch,
    check_options,
    ignore_progress,
    open_executor,
    processors,
)
from hierdata.ground.errors import PolicyError
from hierdata.ground.private_folder import PrivateFolder
from hierdata.ground.progress import Progress, silent

Value = TypeVar("Value")
Answer = TypeVar("Answer")
log = logging.getLogger(__name__)


def ask_all(
    held: Held[Value], task: Callable[[Value], Answer], watch: Watch = ignore_progress
) -> list[Answer]:
    """Return the answer of a task for each held value; the executor keeps none of them."""
    answers = held.map(task, watch)
    collected = list(answers.collect())
    answers.release()
    return collected


@dataclass(frozen=True)
class Resources:
    """What a run may use. The output does not depend on it.

    ``executor`` is ``serial``, ``processes`` or ``spark``; by default ``processes`` if the input can be
    read in several parts and there are several processors. ``workers`` is the number of processes, by
    default one for each processor. ``memory`` is the limit for all of them together, in bytes: a run that
    needs more is refused. ``master`` is the address of a Spark cluster.
    """

    executor: str | None = None
    workers: int | None = None
    memory: int | None = None
    master: str | None = None

    def __post_init__(self) -> None:
        """Raise PolicyError for options that do not fit, before anything is read."""
        check_options(self.executor, self.workers, self.master)
        if self.memory is not None and self.memory < 1:
            raise PolicyError("memory must be a number of bytes")

    def kind(self, splits: int) -> str:
        """Return the name of the executor for an input in ``splits`` parts."""
        if self.executor is not None:
            return self.executor
        if self.master is not None:
            return "spark"
        several = splits > 1 and (self.workers or processors()) > 1
        return "processes" if several else "serial"

    @contextmanager
    def open_context(
        self, splits: int, beside: Path | None, progress: Progress, requires: object = ()
    ) -> Iterator[RunContext]:
        """Open an executor, with a private folder for data that does not stay in memory.

        The folder is created in ``beside`` (by default in the folder of temporary files), and removed with
        the executor. ``requires`` is checked by every worker (see Executor). Raises TargetError when the
        folder cannot be created, PolicyError for an unknown executor.
        """
        with (
            PrivateFolder(beside, "what does not fit into memory") as folder,
            open_executor(
                self.kind(splits),
                workers=self.workers,
                memory=self.memory,
                folder=folder,
                master=self.master,
            ) as executor,
        ):
            executor.requires = requires
            yield RunContext(executor, folder, self.memory, progress)


@dataclass(frozen=True)
class RunContext:
    """An executor, its private folder, the memory it may use, and the callback for progress."""

    executor: Executor
    folder: Path
    memory: int | None = None
    progress: Progress = silent

    @property
    def is_local(self) -> bool:
        """Whether functions run in this process."""
        return self.executor.runs_here

    def progress_callbacks(self, stage: str, total: int | None, tasks: int) -> tuple[Progress, Watch]:
        """Return the callbacks per record, for a single task in this process, and per task; one is silent."""
        log.debug("%s: %s records, tasks: %d", stage, "some" if total is None else total, tasks)
        if self.progress is silent:
            return silent, ignore_progress
        if tasks == 1 and self.is_local:
            return self.progress, ignore_progress

        def watch(done: int, tasks: int) -> None:
            if total is None:
                self.progress(stage, done, tasks)
            else:
                self.progress(stage, total * done // tasks, total)

        return silent, watch

    def collect_locally(self, held: Held[Value]) -> tuple[Held[Value], RunContext]:
        """Bring values into this process; return them with a context that works on them here."""
        if self.is_local:
            return held, self
        serial = open_executor("serial", folder=self.folder, memory=self.memory)
        brought = serial.hold(list(held.collect()))
        held.release()
        return brought, replace(self, executor=serial)
