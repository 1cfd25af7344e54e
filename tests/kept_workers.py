"""Worker processes that an executor has done with serve the next one, since each takes a second to start.

A worker goes on only where a new one would find the same: working directory, environment and search path.
What a test changes in its own process never reaches a worker, kept or new. Workers of a failed run end.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hierdata.executors import processes
from hierdata.executors.processes import Processes, _WorkerProcess
from tests.seconds import WORKERS, counting

MOST = 3
"""Workers that are kept for each surrounding."""
SURROUNDINGS = 2
"""Surroundings whose workers are kept, those used last."""

_Surrounding = tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]]

_idle: dict[_Surrounding, list[_WorkerProcess]] = {}
_started_in: dict[int, _Surrounding] = {}
_start = _WorkerProcess.start
_close = Processes.close


def _surrounding() -> _Surrounding:
    variables = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    return str(Path.cwd()), tuple(sys.path), tuple(sorted(variables.items()))


def _start_or_take() -> _WorkerProcess:
    here = _surrounding()
    kept = _idle.get(here, [])
    while kept:
        worker = kept.pop()
        if worker.process.poll() is None:
            return worker
        worker.kill()
    worker = _start()
    _started_in[worker.process.pid] = here
    return worker


def _close_and_keep(executor: Processes) -> None:
    """End the workers, but those that are kept, and remove all files."""
    workers = executor._workers
    while workers:
        worker = workers.pop()
        kept = _idle.setdefault(_started_in[worker.process.pid], [])
        kept.append(worker)
        if len(kept) > MOST:
            _end([kept.pop()])
        _idle[_started_in[worker.process.pid]] = _idle.pop(_started_in[worker.process.pid])  # used last
    while len(_idle) > SURROUNDINGS:
        _end(_idle.pop(next(iter(_idle))))
    _close(executor)


def _end(workers: list[_WorkerProcess]) -> None:
    processes._end(workers)


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
            _end(workers)
        _idle.clear()
