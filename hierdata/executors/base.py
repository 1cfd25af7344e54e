"""What an executor is: where tasks run, and where their results lie until they are asked for.

Executors know nothing of records: functions and values go in, values come out. A result never depends on
which executor ran it, on how many workers there were, or on who was ready first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Generic, Self, TypeVar

from hierdata.errors import HierdataError

Value = TypeVar("Value")
Result = TypeVar("Result")
Piece = TypeVar("Piece")


def unwatched(done: int, tasks: int) -> None:
    """Watch no progress."""


Watch = Callable[[int, int], None]
"""Told from time to time how many of the tasks of a stage are done."""


class WorkerError(HierdataError):
    """A worker was ended from outside, so that what it had to do is not done (exit code 8)."""

    exit_code = 8


class Held(ABC, Generic[Value]):
    """Values in a fixed order, one a task, held where they were made; they need not fit into memory.

    Functions and values must be picklable (cloudpickle's closures included), and a function must not change
    what it is given: it may be given again. A function that raises ends the run: the exception of the first
    task in order that failed reaches the caller as it was raised, whatever process it was in.
    """

    @property
    @abstractmethod
    def count(self) -> int:
        """How many values there are."""

    @abstractmethod
    def map(self, function: Callable[[Value], Result], watch: Watch = unwatched) -> Held[Result]:
        """What the function makes of each value, in the order of the values."""

    @abstractmethod
    def exchange(
        self,
        scatter: Callable[[Value], Iterable[tuple[int, Piece]]],
        bins: int,
        watch: Watch = unwatched,
    ) -> Held[list[Piece]]:
        """Bring pieces to their bins: ``scatter`` names the bin of each piece that it makes of a value.

        The n-th result has all pieces of bin n, those of earlier values first and those of one value in the
        order in which they were made. ``scatter`` may be a generator: its pieces are put away as they come.
        """

    @abstractmethod
    def collect(self) -> Iterator[Value]:
        """Bring all values to the caller, in order."""

    @abstractmethod
    def release(self) -> None:
        """Let go of the values, and of the space that they take."""


class Executor(ABC):
    """Runs functions over values; a context manager, which leaves nothing behind however it is left.

    ``folder`` is an existing private folder for what does not stay in memory: files in it have the mode 0600
    and are removed when the executor is closed. With several machines all of them must see it.
    """

    kind: ClassVar[str]
    runs_here: ClassVar[bool] = False
    """Whether functions run in the caller's process."""
    keeps_secrets: ClassVar[bool] = True
    """Whether no secret that is given to a worker is written to a file."""
    takes_master: ClassVar[bool] = False
    """Whether it runs on a cluster, which is found by the address of its master."""
    workers: int
    requires: object = ()
    """What a worker unpickles before the work of a stage; it raises where the work cannot run."""

    @abstractmethod
    def __init__(
        self, *, workers: int | None, memory: int | None, folder: Path, master: str | None = None
    ) -> None:
        """Take what ``hierdata.executors.open_executor`` explains; no executor needs all of it."""

    @abstractmethod
    def hold(self, values: Sequence[Value]) -> Held[Value]:
        """Hold values that the caller has: one task each."""

    @abstractmethod
    def close(self) -> None:
        """Stop all work and remove all files; may be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        self.close()
