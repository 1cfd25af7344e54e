"""Tasks one after the other, in the caller's own process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from hierdata.executors.base import Held, Value, Watch
from hierdata.executors.local import Kept, LocalExecutor, LocalHeld, Part, Work
from hierdata.executors.spill import SpillPlace, within


@dataclass(frozen=True)
class _Direct:
    """A task of ``map`` that keeps its one result in memory unpickled: it has to fit there anyway."""

    function: Callable[[Any], Any]

    def __call__(self, part: Part, place: SpillPlace) -> Kept:
        return Kept(self.function(part.load()))


@dataclass(frozen=True)
class _Together:
    """A task of ``exchange`` with one bin: all pieces have to fit into memory together anyway."""

    function: Callable[[Any], Iterable[tuple[int, Any]]]

    def __call__(self, part: Part, place: SpillPlace) -> list[Any]:
        return [piece for number, piece in self.function(part.load()) if within(number, 1)]


class Serial(LocalExecutor):
    """One task at a time. The result of a single task, or a single bin, is passed on unpickled."""

    kind: ClassVar[str] = "serial"
    runs_here: ClassVar[bool] = True

    def staff(self, workers: int | None) -> int:
        """Return 1: the caller is the worker."""
        return 1

    def hold(self, values: Sequence[Value]) -> Held[Value]:
        """Hold the values unpickled: the caller has them in memory already."""
        return LocalHeld(self, [Kept(value) for value in values], [], 0)

    def mapping_task(self, function: Callable[[Any], Any], tasks: int) -> Work:
        """Return the task of ``map``."""
        return _Direct(function) if tasks == 1 else super().mapping_task(function, tasks)

    def scattering_task(self, function: Callable[[Any], Iterable[tuple[int, Any]]], bins: int) -> Work:
        """Return the task of ``exchange``."""
        return _Together(function) if bins == 1 else super().scattering_task(function, bins)

    def gather_bins(self, scattered: Sequence[Any], bins: int) -> list[Part]:
        """Return the bins of what the tasks scattered."""
        if bins == 1:
            return [Kept([piece for pieces in scattered for piece in pieces])]
        return super().gather_bins(scattered, bins)

    def run(self, work: Work, parts: Sequence[Part], places: Sequence[SpillPlace], watch: Watch) -> list[Any]:
        """Run one task after the other."""
        made = []
        for part, place in zip(parts, places, strict=True):
            made.append(work(part, place))
            watch(len(made), len(parts))
        return made
