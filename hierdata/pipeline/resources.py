"""An executor at work for somebody who watches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from hierdata.documents.private_folder import PrivateFolder
from hierdata.executors import Executor, Held, Watch, open_executor, processors, unwatched
from hierdata.progress import Progress, silent

Value = TypeVar("Value")


@dataclass(frozen=True)
class Resources:
    """What a run may use. Nothing that comes out depends on it.

    ``executor`` is ``serial``, ``processes`` or ``spark``; by default ``processes`` where the input can be
    read in several parts and there are several processors. ``workers`` is the number of processes, by
    default one for each processor. ``memory`` is what they may take together, in bytes: a run that needs
    more is refused. ``master`` is the address of a Spark cluster.
    """

    executor: str | None = None
    workers: int | None = None
    memory: int | None = None
    master: str | None = None

    def kind(self, splits: int) -> str:
        """The executor for an input in so many parts."""
        if self.executor is not None:
            return self.executor
        if self.master is not None:
            return "spark"
        several = splits > 1 and (self.workers or processors()) > 1
        return "processes" if several else "serial"

    @contextmanager
    def spread(
        self, splits: int, beside: Path | None, progress: Progress, requires: object = ()
    ) -> Iterator[Spread]:
        """An executor at work, with a private folder for what does not stay in memory.

        The folder is made in ``beside`` (by default where temporary files lie), and gone with the executor.
        ``requires`` is checked by every worker (see Executor). Raises TargetError when the folder cannot be
        made, PolicyError for an executor that there is not.
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
            yield Spread(executor, folder, self.memory, progress)


@dataclass(frozen=True)
class Spread:
    """An executor, who is told how far it is, what memory it may take, and a private folder for its files."""

    executor: Executor
    folder: Path
    memory: int | None = None
    progress: Progress = silent

    @property
    def at_home(self) -> bool:
        """Whether functions run in this process."""
        return self.executor.runs_here

    def telling(self, stage: str, total: int | None, tasks: int) -> tuple[Progress, Watch]:
        """Who is told of every record where one task does all of the work here, else who of every task."""
        if self.progress is silent:
            return silent, unwatched
        if tasks == 1 and self.at_home:
            return self.progress, unwatched

        def watch(done: int, tasks: int) -> None:
            if total is None:
                self.progress(stage, done, tasks)
            else:
                self.progress(stage, total * done // tasks, total)

        return silent, watch

    def brought_home(self, held: Held[Value]) -> tuple[Held[Value], Spread]:
        """Values, few enough for this process, and who works on them here."""
        if self.at_home:
            return held, self
        serial = open_executor("serial", folder=self.folder, memory=self.memory)
        brought = serial.hold(list(held.collect()))
        held.release()
        return brought, replace(self, executor=serial)
