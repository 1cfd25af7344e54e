"""Worker processes of the executor ``processes``: each runs one task after the other.

Their parent is started with ``python -c`` and does not import the driver's main module. It imports what the
first work needs, forks the workers, and tells the driver by its standard output how each of them ended.
Requests and answers go through a socket for each worker.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from hierdata.executors.base import Failure
from hierdata.executors.local import Part, Work
from hierdata.executors.spill import Extent, SpillPlace, read
from hierdata.ground.parents import leave_with
from hierdata.ground.secrets import import_secrets

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


def main(driver: int, sockets: Sequence[int]) -> None:
    """Fork a worker for each socket, and wait until all have ended; end them with the driver."""
    # The terminal's Ctrl-C goes to the driver, which ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # As in the command line: records are trees, and the search for cycles in them takes a tenth of the time.
    gc.disable()
    _import_for(pickle.load(sys.stdin.buffer))  # from our own driver
    gc.freeze()
    workers: dict[int, int] = {}

    def end(*_: object) -> None:
        for worker in workers:
            with suppress(ProcessLookupError):  # it has been waited for already
                os.kill(worker, signal.SIGKILL)

    # They are waited for, so that what they took counts as taken by processes of the driver.
    signal.signal(signal.SIGTERM, end)
    for number in range(len(sockets)):
        workers[_fork(number, sockets)] = number
    leave_with(driver, lambda: os.killpg(0, signal.SIGKILL))
    while workers:
        worker, status = os.wait()
        with suppress(BrokenPipeError):
            os.write(1, b"%d %d\n" % (workers.pop(worker), os.waitstatus_to_exitcode(status)))


def _import_for(work: Extent) -> None:
    """Import what the work needs; a worker meets the same errors and tells them."""
    if sys.platform == "linux":  # elsewhere libraries may not survive a fork
        with suppress(Exception):
            list(read([work]))


def _fork(number: int, sockets: Sequence[int]) -> int:
    parent = os.getpid()
    if worker := os.fork():
        os.close(sockets[number])
        return worker
    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for later in sockets[number + 1 :]:  # who holds the other end of a socket hides that its worker ended
            os.close(later)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(2, 1)  # what a function prints must not get into the parent's messages
        leave_with(parent, lambda: os._exit(1))
        _serve(sockets[number])
        code = 0
    finally:
        os._exit(code)


def _serve(socket: int) -> None:
    """Run tasks until the driver closes the socket or ends."""
    from multiprocessing.connection import Connection

    driver = Connection(socket)
    worker = _TaskRunner()
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            driver.send_bytes(worker.answer(driver.recv_bytes()))
            if gc.get_count()[0] > _GARBAGE:
                gc.collect()
