"""Tasks on this machine: in worker processes, or one after the other in this process.

The workers are our own and not a library's pool: they never import the caller's main module, a killed worker
is noticed at once by its closed socket, and all end with the driver. This needs no threads or semaphores.
They are forked from a process that has imported what they need and has no thread yet.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Unpack, cast

from hierdata.executors.base import ExecutorOptions, Failure, Held, Value, Watch, WorkerError, within
from hierdata.executors.local import (
    ONE_THREAD,
    LiveValue,
    LocalExecutor,
    LocalHeld,
    Part,
    PickledValue,
    Work,
    processors,
)
from hierdata.executors.spill import Extent, SpillPlace, put
from hierdata.executors.worker import Request
from hierdata.ground.secrets import export_secrets

if TYPE_CHECKING:
    import subprocess
    from multiprocessing.connection import Connection


_INLINE = 1 << 16  # up to this size a stage's work is sent with each task, else written to a file
_STAGES = count(1)  # of all executors of this process
_PATIENCE = 5.0  # seconds that the parent of workers has to end them
_START = """
import sys
end = sys.argv.index("-")
driver, sockets, sys.path[:] = int(sys.argv[1]), [*map(int, sys.argv[2:end])], sys.argv[end + 1 :]
from hierdata.executors.worker import main
main(driver, sockets)
"""


class _WorkerProcess(NamedTuple):
    """A worker: the process that forked it and its number there, and the connection to it."""

    parent: subprocess.Popen[bytes]
    number: int
    connection: Connection

    @classmethod
    def start(cls, count: int, work: Extent) -> list[_WorkerProcess]:
        """Start workers. Their parent imports what the work needs, once for all of them."""
        import subprocess
        from multiprocessing import Pipe

        with ExitStack() as unused, ExitStack() as of_workers:
            connections, sockets = [], []
            for _ in range(count):
                connection, end = Pipe()
                connections.append(unused.enter_context(connection))
                sockets.append(of_workers.enter_context(end).fileno())
            # A process group of its own: the terminal's Ctrl-C reaches only the driver.
            parent = subprocess.Popen(  # noqa: S603
                [sys.executable, "-c", _START, str(os.getpid()), *map(str, sockets), "-", *sys.path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, **ONE_THREAD},
                pass_fds=sockets,
                process_group=0,
            )
            unused.pop_all()  # they are in use
        workers = [cls(parent, number, connection) for number, connection in enumerate(connections)]
        assert parent.stdin is not None
        with suppress(BrokenPipeError), parent.stdin:  # the first task tells of it
            pickle.dump(work, parent.stdin, pickle.HIGHEST_PROTOCOL)
        return workers

    def give(self, request: Request) -> None:
        try:
            self.connection.send_bytes(pickle.dumps(request, pickle.HIGHEST_PROTOCOL))
        except OSError:
            raise self._lost_error() from None

    def answer(self) -> Any:
        try:
            return pickle.loads(self.connection.recv_bytes())  # from our own worker
        except (EOFError, OSError):
            raise self._lost_error() from None

    def _lost_error(self) -> WorkerError:
        code = self._find_code()
        how = f"was ended from outside (signal {-code})" if code < 0 else f"ended by itself (code {code})"
        return WorkerError(
            f"a worker process {how}, probably for lack of memory: run it again with fewer workers or with "
            "less memory for each"
        )

    def _find_code(self) -> int:
        """Return how the worker ended, as its parent tells, or how the parent did."""
        assert self.parent.stdout is not None
        for line in self.parent.stdout:
            number, code = map(int, line.split())
            if number == self.number:
                return code
        return self.parent.wait()

    def kill(self) -> None:
        """End the worker, with its parent and all others of that."""
        from subprocess import TimeoutExpired

        self.connection.close()
        if self.parent.returncode is None:
            self.parent.terminate()
            try:
                self.parent.wait(_PATIENCE)
            except TimeoutExpired:
                os.killpg(self.parent.pid, signal.SIGKILL)
                self.parent.wait()
        assert self.parent.stdout is not None
        self.parent.stdout.close()


class Processes(LocalExecutor):
    """One task at a time per worker; without ``workers``, one worker per available processor."""

    kind: ClassVar[str] = "processes"

    def __init__(self, **options: Unpack[ExecutorOptions]) -> None:
        super().__init__(**options)
        self._workers: list[_WorkerProcess] = []
        weakref.finalize(self, _end, self._workers)  # runs before the files are removed

    def staff(self, workers: int | None) -> int:
        """Return the number requested, by default that of the processors."""
        return processors() if workers is None else workers

    def hold(self, values: Sequence[Value]) -> Held[Value]:
        """Store the values where workers can load them."""
        with self.places(len(values)) as places:
            parts = [PickledValue(put(value, place)) for value, place in zip(values, places, strict=True)]
        return self.hold_parts(parts, places)

    def run(self, work: Work, parts: Sequence[Part], places: Sequence[SpillPlace], watch: Watch) -> list[Any]:
        """Give each worker the next task as soon as it is free."""
        stage = next(_STAGES)
        path = self.folder / f"work-{stage}"
        try:
            packed = put((self.requires, work), SpillPlace(path, _INLINE, 0))
            secrets = export_secrets()
            requests = [
                Request(stage, packed, part, place, secrets)
                for part, place in zip(parts, places, strict=True)
            ]
            missing = min(self.workers, len(parts)) - len(self._workers)
            if missing > 0:
                self._workers += _WorkerProcess.start(missing, packed)
            answers = self._answers(requests, watch)
        except BaseException:
            self._end()  # running tasks would write into files that are about to be removed
            raise
        finally:
            self.forget([path], 0)
        return answers

    def _answers(self, requests: list[Request], watch: Watch) -> list[Any]:
        """Assign tasks in order. After a failure only earlier tasks matter: the first failure counts."""
        from multiprocessing.connection import wait

        answers: dict[int, Any] = {}
        idle = list(self._workers)
        busy: dict[Connection, tuple[_WorkerProcess, int]] = {}
        begun, wanted = 0, len(requests)
        while begun < wanted or any(task < wanted for _, task in busy.values()):
            while idle and begun < wanted:
                worker = idle.pop()
                worker.give(requests[begun])
                busy[worker.connection] = worker, begun
                begun += 1
            for ready in wait(list(busy)):
                worker, task = busy.pop(cast("Connection", ready))
                idle.append(worker)
                answers[task] = worker.answer()
                if isinstance(answers[task], Failure):
                    wanted = min(wanted, task)
            watch(len(answers), len(requests))
        if wanted < len(requests):
            raise answers[wanted].error()
        return [answers[task] for task in range(len(requests))]

    def close(self) -> None:
        """End the workers, and remove all files."""
        self._end()
        super().close()

    def _end(self) -> None:
        _end(self._workers)


def _end(workers: list[_WorkerProcess]) -> None:
    for worker in workers:
        worker.kill()
    workers.clear()


def _scatter_into_one(
    function: Callable[[Any], Iterable[tuple[int, Any]]], part: Part, place: SpillPlace
) -> list[Any]:
    """Return the pieces for the only bin: all of them have to fit into memory together anyway."""
    return [piece for number, piece in function(part.load()) if within(number, 1)]


class Serial(LocalExecutor):
    """One task at a time. The result of a single task, or a single bin, is passed on unpickled."""

    kind: ClassVar[str] = "serial"
    runs_here: ClassVar[bool] = True

    def staff(self, workers: int | None) -> int:
        """Return 1: the caller is the worker."""
        return 1

    def hold(self, values: Sequence[Value]) -> Held[Value]:
        """Hold the values unpickled: the caller has them in memory already."""
        return LocalHeld(self, [LiveValue(value) for value in values], [], 0)

    def scattering_task(self, function: Callable[[Any], Iterable[tuple[int, Any]]], bins: int) -> Work:
        """Return the task of ``exchange``."""
        return partial(_scatter_into_one, function) if bins == 1 else super().scattering_task(function, bins)

    def gather_bins(self, scattered: Sequence[Any], bins: int) -> list[Part]:
        """Return the bins of what the tasks scattered."""
        if bins == 1:
            return [LiveValue([piece for pieces in scattered for piece in pieces])]
        return super().gather_bins(scattered, bins)

    def run(self, work: Work, parts: Sequence[Part], places: Sequence[SpillPlace], watch: Watch) -> list[Any]:
        """Run one task after the other."""
        results = []
        for part, place in zip(parts, places, strict=True):
            results.append(work(part, place))
            watch(len(results), len(parts))
        return results
