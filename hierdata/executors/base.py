"""Executors: they run tasks and hold the results until they are collected.

Executors know nothing about records: functions and values go in, values come out. A result never depends on
the executor, on the number of workers, or on the order in which they finish. ``Failure`` carries an exception
of a worker to the caller.
"""

from __future__ import annotations

import os
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Generic, NamedTuple, NotRequired, Self, TypedDict, TypeVar, Unpack

from hierdata.ground.errors import HierdataError
from hierdata.ground.plugins import FAULT, fault_of

Value = TypeVar("Value")
Result = TypeVar("Result")
Piece = TypeVar("Piece")
Watch = Callable[[int, int], None]
"""Called from time to time with the number of finished tasks and the number of all tasks of a stage."""


def ignore_progress(done: int, tasks: int) -> None:
    """Do nothing."""


class WorkerError(HierdataError):
    """A worker was ended from outside, so that its task is not done (exit code 8)."""

    exit_code = 8


class Held(ABC, Generic[Value]):
    """Values in a fixed order, one per task, held where they were made; they need not fit into memory.

    Functions and values must be picklable (cloudpickle's closures included), and a function must not change
    its argument, which may be used again. A function that raises ends the run: the exception of the first
    failed task in order reaches the caller as it was raised, from whatever process.
    """

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of values."""

    @abstractmethod
    def map(self, function: Callable[[Value], Result], watch: Watch = ignore_progress) -> Held[Result]:
        """Apply the function to each value; the results are in the order of the values."""

    @abstractmethod
    def exchange(
        self,
        scatter: Callable[[Value], Iterable[tuple[int, Piece]]],
        bins: int,
        watch: Watch = ignore_progress,
    ) -> Held[list[Piece]]:
        """Send pieces to bins: ``scatter`` yields (bin, piece) for each piece that it makes of a value.

        The n-th result is the list of all pieces of bin n, those of earlier values first and those of one
        value in the order in which they were made. ``scatter`` may be a generator: its pieces are stored as
        they come.
        """

    @abstractmethod
    def collect(self) -> Iterator[Value]:
        """Yield all values to the caller, in order."""

    @abstractmethod
    def release(self) -> None:
        """Free the values and their space."""


class HeldHere(Held[Value]):
    """Values of this process that are never pickled: what is written for many tasks, for one without them."""

    def __init__(self, values: Sequence[Value]) -> None:
        self._values = values

    @property
    def count(self) -> int:
        """The number of values."""
        return len(self._values)

    def map(self, function: Callable[[Value], Result], watch: Watch = ignore_progress) -> Held[Result]:
        """Apply the function to each value."""
        return HeldHere([function(value) for value in self._values])

    def exchange(
        self,
        scatter: Callable[[Value], Iterable[tuple[int, Piece]]],
        bins: int,
        watch: Watch = ignore_progress,
    ) -> Held[list[Piece]]:
        """Sort the pieces by bin."""
        pieces: list[list[Piece]] = [[] for _ in range(bins)]
        for value in self._values:
            for number, piece in scatter(value):
                pieces[number].append(piece)
        return HeldHere(pieces)

    def collect(self) -> Iterator[Value]:
        """Yield the values."""
        return iter(self._values)

    def release(self) -> None:
        """Do nothing: the values are freed with the last reference to them."""


class ExecutorOptions(TypedDict):
    """The options of ``hierdata.executors.open_executor``."""

    folder: Path
    workers: NotRequired[int | None]
    memory: NotRequired[int | None]
    master: NotRequired[str | None]


class Executor(ABC):
    """Runs functions over values; a context manager that leaves nothing behind, even after an exception.

    ``folder`` is an existing private folder for what does not stay in memory: files in it have the mode 0600
    and are removed when the executor is closed. If there are several machines, all of them must have access.
    """

    kind: ClassVar[str]
    runs_here: ClassVar[bool] = False
    """Whether functions run in the caller's process."""
    keeps_secrets: ClassVar[bool] = True
    """Whether secrets are given to workers without being written to a file."""
    takes_master: ClassVar[bool] = False
    """Whether it can run on a cluster, given by the address of its master."""
    workers: int
    requires: object = ()
    """What a worker unpickles before the work of a stage; it raises if the work cannot run there."""

    @abstractmethod
    def __init__(self, **options: Unpack[ExecutorOptions]) -> None:
        """Take the options; no executor needs all of them."""

    @abstractmethod
    def hold(self, values: Sequence[Value]) -> Held[Value]:
        """Hold values of the caller, one per task."""

    @abstractmethod
    def close(self) -> None:
        """Stop all work and remove all files; may be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        self.close()


class Failure(NamedTuple):
    """An exception that a task raised, pickled without traceback and causes, which may show raw values.

    ``fault`` says where in a plug-in's code it was raised, if it was there (see ``plugins.fault_of``).
    """

    pickled: bytes
    fault: str | None = None

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Pickle an exception; one that cannot be pickled is reported by the name of its class."""
        import cloudpickle

        if isinstance(error, MemoryError):  # what its message needs may not be there
            return cls(pickle.dumps(MemoryError()), fault_of(error))
        for packed in (error, _Rebuilt(error)):
            try:
                pickled = cloudpickle.dumps(packed)
                if _is_same(cls(pickled).error(), error):
                    return cls(pickled, fault_of(error))
            except Exception:  # noqa: BLE001, S112  # whatever a foreign class raises, the next form is tried
                continue
        summary = RuntimeError(f"a task ended with {type(error).__name__}")
        return cls(pickle.dumps(summary), fault_of(error))

    def error(self) -> BaseException:
        """Return the exception, ready to be raised."""
        error: BaseException = pickle.loads(self.pickled)  # from our own worker
        if self.fault is not None:
            vars(error)[FAULT] = self.fault
        return error


class _Rebuilt:
    """Pickles an exception with an ``__init__`` that does not accept ``args``: it is rebuilt without it."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self._error), self._error.args, self._error.__dict__)


def _rebuild(
    kind: type[BaseException], arguments: tuple[Any, ...], attributes: dict[str, Any]
) -> BaseException:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(attributes)
    return error


def _is_same(error: BaseException, other: BaseException) -> bool:
    same_text = type(error) is type(other) and str(error) == str(other)
    return same_text and error.__dict__.keys() == other.__dict__.keys()


def name_folder(parent: Path) -> Path:
    """Return the path of a new folder for one executor; no other process makes the same."""
    return Path(parent).absolute() / f"hierdata-{os.getpid()}-{os.urandom(4).hex()}"


def within(number: int, bins: int) -> bool:
    """Return True; raise ValueError for a bin that does not exist."""
    if not 0 <= number < bins:
        raise ValueError(f"there are {bins} bins, and a piece was sent to bin {number}")
    return True
