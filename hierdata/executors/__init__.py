"""The executors, which run tasks, by their names in options."""

from __future__ import annotations

from pathlib import Path

from hierdata.executors.base import Executor, Held, HeldHere, Watch, WorkerError, ignore_progress
from hierdata.executors.local import processors
from hierdata.executors.processes import Processes, Serial
from hierdata.executors.spark import Spark
from hierdata.ground.errors import PolicyError
from hierdata.ground.escaping import quote

EXECUTORS: dict[str, type[Executor]] = {
    "serial": Serial,
    "processes": Processes,
    "spark": Spark,
}


def open_executor(
    kind: str,
    *,
    workers: int | None = None,
    memory: int | None = None,
    folder: Path,
    master: str | None = None,
) -> Executor:
    """Open an executor by its name.

    ``workers`` None means one for each processor available to this process; ``serial`` always has one.
    ``memory`` is what the run may use, in bytes: an executor keeps at most a sixteenth of it for waiting
    values. ``folder`` is an existing private folder (see Executor), ``master`` the address of a Spark
    cluster. Raises PolicyError for options that do not fit.
    """
    check_options(kind, workers, master)
    return EXECUTORS[kind](workers=workers, memory=memory, folder=folder, master=master)


def check_options(kind: str | None, workers: int | None, master: str | None) -> None:
    """Raise PolicyError for an executor that does not exist, or options that do not fit it."""
    if workers is not None and workers < 1:
        raise PolicyError("an executor needs at least one worker")
    if kind is None:
        return
    if kind not in EXECUTORS:
        raise PolicyError(f"there is no executor {quote(kind)}; there are {', '.join(EXECUTORS)}")
    if master is not None and not EXECUTORS[kind].takes_master:
        raise PolicyError("a master is only for Spark: use the executor `spark` with it")


__all__ = [
    "EXECUTORS",
    "Executor",
    "Held",
    "HeldHere",
    "Watch",
    "WorkerError",
    "check_options",
    "ignore_progress",
    "open_executor",
    "processors",
]
