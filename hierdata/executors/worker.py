"""A worker process of the executor ``processes``: runs one task after the other until the driver is gone.

It is started with ``python -c`` and does not import the driver's main module. Requests arrive through its
former standard input, answers leave through its former standard output.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import threading
import time
from contextlib import suppress
from typing import Any, NamedTuple

from hierdata.executors.base import Failure
from hierdata.executors.local import Part, Work
from hierdata.executors.spill import Extent, SpillPlace, read
from hierdata.ground.secrets import import_secrets

_LOOK = 0.5  # seconds between two checks whether the driver is still there
_GARBAGE = 200_000  # new objects before the next search for cycles


class Request(NamedTuple):
    """One task: the number of its stage, the place of the stage's work, its input, the place for results.

    ``secrets`` are the driver's: a request goes through a pipe and is never written to a file.
    """

    stage: int
    work: Extent
    part: Part
    place: SpillPlace
    secrets: dict[str, bytes]


class _TaskRunner:
    """Keeps the work of the last stage, so that it is unpickled once."""

    def __init__(self) -> None:
        self._stage = 0
        self._work: Work | None = None

    def answer(self, message: bytes) -> bytes:
        try:
            return pickle.dumps(self._run(pickle.loads(message)), pickle.HIGHEST_PROTOCOL)
        except BaseException as error:  # noqa: BLE001  # whatever it is, the driver raises it
            return pickle.dumps(Failure.of(error))

    def _run(self, request: Request) -> Any:
        import_secrets(request.secrets)
        if self._work is None or self._stage != request.stage:
            self._work = None
            ((_, self._work),) = read([request.work])
            self._stage = request.stage
            gc.freeze()
        return self._work(request.part, request.place)


def _leave_with(driver: int) -> None:
    while os.getppid() == driver:
        time.sleep(_LOOK)
    os._exit(1)


def main(driver: int) -> None:
    """Run tasks until the driver closes the pipe or ends."""
    from multiprocessing.connection import Connection

    # The terminal's Ctrl-C goes to the driver, which ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests = Connection(os.dup(0), writable=False)
    answers = Connection(os.dup(1), readable=False)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)  # what a function prints must not get into the answers
    threading.Thread(target=_leave_with, args=(driver,), daemon=True).start()
    # As in the command line: records are trees, and the search for cycles in them takes a tenth of the time.
    gc.disable()
    worker = _TaskRunner()
    with suppress(EOFError, BrokenPipeError):
        while True:
            answers.send_bytes(worker.answer(requests.recv_bytes()))
            if gc.get_count()[0] > _GARBAGE:
                gc.collect()
    os._exit(0)
