"""Worker processes that an executor has done with serve the next one, since each takes a second to start.

A worker goes on only where a new one would find the same search path and the same variables that are read
once; it moves to the test's working directory and other variables. What a test changes in its own process
never reaches a worker, kept or new. Workers of a failed run end.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hierdata.executors import WorkerError
from hierdata.executors.local import ONE_THREAD, LiveValue
from hierdata.executors.processes import Processes, _WorkerProcess
from hierdata.executors.spill import Extent, SpillPlace, put
from hierdata.executors.worker import Request
from tests.moving import move
from tests.seconds import WORKERS, counting

MOST = 3
"""Workers that are kept for each surrounding."""
_READ_ONCE = ("NUMBA_", "PYTHON", "HIERDATA_", "HOME", "XDG_")
_MOVING = 0
"""The number of a stage that no executor has."""
SURROUNDINGS = 2
"""Surroundings whose workers are kept, those used last."""

_Surrounding = tuple[tuple[str, ...], tuple[tuple[str, str], ...]]

_idle: dict[_Surrounding, list[_WorkerProcess]] = {}
_started_in: dict[tuple[int, int], _Surrounding] = {}
_parents: list[subprocess.Popen[bytes]] = []
_start = _WorkerProcess.start
_close = Processes.close


def _surrounding() -> _Surrounding:
    once = {name: value for name, value in os.environ.items() if name.startswith(_READ_ONCE)}
    return tuple(sys.path), tuple(sorted(once.items()))


def _start_or_take(count: int, work: Extent) -> list[_WorkerProcess]:
    here = _surrounding()
    kept, workers = _idle.get(here, []), []
    while kept and len(workers) < count:
        worker = kept.pop()
        if _can_move(worker):
            workers.append(worker)
    if len(workers) < count:
        workers += _start(count - len(workers), work)
        _parents.append(workers[-1].parent)
    for worker in workers:
        _started_in[worker.parent.pid, worker.number] = here
    return workers


def _can_move(worker: _WorkerProcess) -> bool:
    """Move a worker to the test's folder and variables; return whether it is still there."""
    if worker.parent.poll() is not None:
        return False
    place = SpillPlace(Path(), 1 << 16, 0)
    try:
        where = LiveValue((Path.cwd(), {**os.environ, **ONE_THREAD}))
        worker.give(Request(_MOVING, put(((), move), place), where, place, {}))
        return worker.answer() is None
    except WorkerError:
        return False


def _close_and_keep(executor: Processes) -> None:
    """Keep the workers for others, but for those that are too many, and remove all files."""
    workers = executor._workers
    while workers:
        worker = workers.pop()
        here = _started_in[worker.parent.pid, worker.number]
        kept = _idle.pop(here, [])
        _idle[here] = [*kept, worker][-MOST:]  # used last
        _leave([*kept, worker][:-MOST])
    while len(_idle) > SURROUNDINGS:
        _leave(_idle.pop(next(iter(_idle))))
    _close(executor)


def _leave(workers: list[_WorkerProcess]) -> None:
    """Let workers end; others of the same parent may be in use."""
    for worker in workers:
        worker.connection.close()


@pytest.fixture(name="own_workers")
def _own_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start workers anew, and end them with their executor, as outside tests."""
    monkeypatch.setattr(_WorkerProcess, "start", _start)
    monkeypatch.setattr(Processes, "close", _close)


@pytest.fixture(scope="session", autouse=True)
def _keep_workers() -> Iterator[None]:
    """Keep workers from one executor to the next."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_WorkerProcess, "start", _start_or_take)
        patch.setattr(Processes, "close", _close_and_keep)
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the workers; what they took is counted by itself, since no file has all of it."""
    with counting(session.config, WORKERS):
        for workers in _idle.values():
            _leave(workers)
        _idle.clear()
        for parent in _parents:
            parent.terminate()
            parent.wait()
            assert parent.stdout is not None
            parent.stdout.close()
