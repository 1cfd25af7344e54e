"""Shared by the executors of one machine: tasks over parts, with results in memory or in files."""

from __future__ import annotations

import os
import shutil
import weakref
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from hierdata.executors.base import (
    Executor,
    ExecutorOptions,
    Held,
    Piece,
    Result,
    Value,
    Watch,
    ignore_progress,
    name_folder,
)
from hierdata.executors.spill import Extent, Scattered, SpillPlace, put, read, scatter
from hierdata.ground.private_folder import remove

_KEEP = 1 << 26  # bytes of all pickled values that may stay in memory
_BUFFER = 1 << 25  # bytes that a task may buffer to sort them by bin
_LEAST = 1 << 20

# Each worker runs one task on one processor, so libraries must not start threads of their own.
ONE_THREAD = dict.fromkeys(
    ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)


class LiveValue(NamedTuple):
    """A value in memory, not pickled."""

    value: Any

    def load(self) -> Any:
        """The value."""
        return self.value


class PickledValue(NamedTuple):
    """A value that was pickled."""

    extent: Extent

    def load(self) -> Any:
        """The value."""
        (value,) = read([self.extent])
        return value


class PickledPieces(NamedTuple):
    """The pieces of a bin: together they are one value, a list."""

    extents: list[Extent]

    def load(self) -> list[Any]:
        """The pieces, in order."""
        return list(read(self.extents))


Part = LiveValue | PickledValue | PickledPieces


Work = Callable[[Part, SpillPlace], Any]
"""A task: from a value and a place for its results to what the driver needs to find them."""


def _map_value(function: Callable[[Any], Any], part: Part, place: SpillPlace) -> PickledValue:
    """Store the function's result for a value."""
    return PickledValue(put(function(part.load()), place))


def _scatter_value(
    function: Callable[[Any], Iterable[tuple[int, Any]]], bins: int, part: Part, place: SpillPlace
) -> Scattered:
    """Store the pieces that the function makes of a value."""
    return scatter(function(part.load()), bins, place)


class LocalHeld(Held[Value]):
    """Values as parts, with the files that are removed with them."""

    def __init__(self, executor: LocalExecutor, parts: list[Part], files: list[Path], kept: int) -> None:
        self._executor = executor
        self._parts = parts
        self._files = files
        self._kept = kept
        self._count = len(parts)

    @property
    def count(self) -> int:
        """The number of values."""
        return self._count

    def map(self, function: Callable[[Value], Result], watch: Watch = ignore_progress) -> Held[Result]:
        """Apply the function to each value."""
        executor, parts = self._executor, self._require_parts()
        if executor.runs_here and self._count == 1:  # its result has to fit into memory anyway
            (only,) = self.collect()
            result = LiveValue(function(only))
            watch(1, 1)
            return executor.hold_parts([result], [])
        with executor.places(self._count) as places:
            stored = executor.run(partial(_map_value, function), parts, places, watch)
        return executor.hold_parts(stored, places)

    def exchange(
        self,
        scatter: Callable[[Value], Iterable[tuple[int, Piece]]],
        bins: int,
        watch: Watch = ignore_progress,
    ) -> Held[list[Piece]]:
        """Write one file per task, and keep for each bin the places of its pieces."""
        executor, parts = self._executor, self._require_parts()
        work = executor.scattering_task(scatter, bins)
        with executor.places(self._count) as places:
            scattered = executor.run(work, parts, places, watch)
        return executor.hold_parts(executor.gather_bins(scattered, bins), places)

    def collect(self) -> Iterator[Value]:
        """Load one value after the other."""
        parts: list[Any] = self._require_parts()
        return (part.load() for part in parts)

    def release(self) -> None:
        """Remove the files."""
        self._parts = []
        self._executor.forget(self._files, self._kept)
        self._files, self._kept = [], 0

    def _require_parts(self) -> list[Part]:
        if len(self._parts) != self._count:
            raise RuntimeError("these values were released")
        return self._parts


class LocalExecutor(Executor):
    """An executor on this machine. A sixteenth of ``memory`` (bytes) bounds what waits in memory."""

    def __init__(self, **options: Unpack[ExecutorOptions]) -> None:
        workers = self.workers = self.staff(options.get("workers"))
        memory = options.get("memory")
        self._keep = _KEEP if memory is None else min(_KEEP, memory // 16)
        self._buffer = _BUFFER if memory is None else max(_LEAST, min(_BUFFER, memory // 16 // workers))
        self.folder = name_folder(options["folder"])
        self._stages = 0
        # Removes the files if the executor is not closed, or an uncaught exception ends the process.
        self._at_exit = weakref.finalize(self, remove, self.folder, os.getpid())

    @abstractmethod
    def staff(self, workers: int | None) -> int:
        """Return the number of workers, given the number requested."""

    @abstractmethod
    def run(self, work: Work, parts: Sequence[Part], places: Sequence[SpillPlace], watch: Watch) -> list[Any]:
        """Return the result of the work for each part. No task is running after it returns or raises."""

    def scattering_task(self, function: Callable[[Any], Iterable[tuple[int, Any]]], bins: int) -> Work:
        """Return the task of ``exchange``."""
        return partial(_scatter_value, function, bins)

    def gather_bins(self, scattered: Sequence[Any], bins: int) -> list[Part]:
        """Return the bins of what the tasks scattered."""
        extents: list[list[Extent]] = [[] for _ in range(bins)]
        for result in scattered:
            for number, extent in result.extents():
                extents[number].append(extent)
        return [*map(PickledPieces, extents)]

    @contextmanager
    def places(self, tasks: int) -> Iterator[list[SpillPlace]]:
        """Give each task a place for its results; if one fails, remove the files of all."""
        self._stages += 1
        keep = max(0, self._keep) // max(1, tasks)
        files = [self.folder / f"{self._stages}-{task}" for task in range(tasks)]
        try:
            yield [SpillPlace(file, keep, self._buffer) for file in files]
        except BaseException:
            self.forget(files, 0)
            raise

    def hold_parts(self, parts: list[Any], places: Iterable[SpillPlace]) -> LocalHeld[Any]:
        """Hold the results of a stage; what they keep in memory reduces what others may keep."""
        kept = sum(_in_memory(part) for part in parts)
        self._keep -= kept
        return LocalHeld(self, parts, [place.path for place in places], kept)

    def forget(self, files: Iterable[Path], kept: int) -> None:
        """Remove files, if they exist."""
        self._keep += kept
        for path in files:
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Remove all files."""
        self._at_exit.detach()
        with suppress(FileNotFoundError):
            shutil.rmtree(self.folder)


def _in_memory(part: Part) -> int:
    if isinstance(part, LiveValue):
        return 0
    extents = part.extents if isinstance(part, PickledPieces) else [part.extent]
    return sum(extent.length for extent in extents if isinstance(extent.source, bytes))


def processors() -> int:
    """Return how many processors this process may use, by its CPU affinity and its cgroup's quota."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text("ascii").split()
        share = int(quota) // int(period)
    except (OSError, ValueError):  # no cgroups here, or no limit ("max")
        return bound
    return max(1, min(bound, share))
