"""Where tasks run: the executors, by the name that an option gives them."""

from __future__ import annotations

from pathlib import Path

from hierdata.errors import PolicyError
from hierdata.executors.base import Executor, Held, Watch, WorkerError, unwatched
from hierdata.executors.local import processors
from hierdata.executors.processes import Processes
from hierdata.executors.serial import Serial
from hierdata.executors.spark import Spark

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

    ``workers`` None is as many as there are processors for this process; ``serial`` has one always.
    ``memory`` is what the run may take, in bytes: an executor keeps a sixteenth of it at most for values that
    wait. ``folder`` is an existing private folder (see Executor), ``master`` the address of a Spark cluster.
    """
    if workers is not None and workers < 1:
        raise PolicyError("an executor needs at least one worker")
    if kind not in EXECUTORS:
        raise PolicyError(f"there is no executor {kind!r}; there are {', '.join(EXECUTORS)}")
    if master is not None and not EXECUTORS[kind].takes_master:
        raise PolicyError("a master is Spark's: name the executor `spark` with it")
    return EXECUTORS[kind](workers=workers, memory=memory, folder=folder, master=master)


__all__ = [
    "EXECUTORS",
    "Executor",
    "Held",
    "Watch",
    "WorkerError",
    "open_executor",
    "processors",
    "unwatched",
]
