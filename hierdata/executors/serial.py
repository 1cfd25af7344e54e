"""Tasks one after the other, in the caller's own process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from hierdata.executors.base import Held, Value, Watch
from hierdata.executors.local import Kept, LocalExecutor, LocalHeld, Part, Work
from hierdata.executors.spill import Place, within


@dataclass(frozen=True)
class _Direct:
    """A task of ``map`` whose one result stays in memory as it is: as a value it had to fit there anyway."""

    function: Callable[[Any], Any]

    def __call__(self, part: Part, place: Place) -> Kept:
        return Kept(self.function(part.load()))


@dataclass(frozen=True)
class _Together:
    """A task of ``exchange`` with one bin: all pieces have to fit into memory together anyway."""

    function: Callable[[Any], Iterable[tuple[int, Any]]]

    def __call__(self, part: Part, place: Place) -> list[Any]:
        return [piece for number, piece in self.function(part.load()) if within(number, 1)]


class Serial(LocalExecutor):
    """One task at a time. Where there is only one, or one bin, what was made is handed on as it is."""

    kind: ClassVar[str] = "serial"
    runs_here: ClassVar[bool] = True

    def staff(self, workers: int | None) -> int:
        """One worker, the caller."""
        return 1

    def hold(self, values: Sequence[Value]) -> Held[Value]:
        """Hold the values as they are: the caller has them in memory already."""
        return LocalHeld(self, [Kept(value) for value in values], [], 0)

    def mapping(self, function: Callable[[Any], Any], tasks: int) -> Work:
        """The task of ``map``."""
        return _Direct(function) if tasks == 1 else super().mapping(function, tasks)

    def scattering(self, function: Callable[[Any], Iterable[tuple[int, Any]]], bins: int) -> Work:
        """The task of ``exchange``."""
        return _Together(function) if bins == 1 else super().scattering(function, bins)

    def gathered(self, scattered: Sequence[Any], bins: int) -> list[Part]:
        """The bins."""
        if bins == 1:
            return [Kept([piece for pieces in scattered for piece in pieces])]
        return super().gathered(scattered, bins)

    def run(self, work: Work, parts: Sequence[Part], places: Sequence[Place], watch: Watch) -> list[Any]:
        """One task after the other."""
        made = []
        for part, place in zip(parts, places, strict=True):
            made.append(work(part, place))
            watch(len(made), len(parts))
        return made
