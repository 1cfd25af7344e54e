"""Measures the points of figures on worker processes, and keeps each, so that an interrupted run resumes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hierdata.executors import Executor
from hierdata.executors.points import JSON, Points
from hierdata.ground.progress import Progress, silent
from hierdata.reproduction.adult import Adult

__all__ = ["EFFORTS", "JSON", "Effort", "Study"]


@dataclass(frozen=True)
class Effort:
    """How much is measured. ``repeats`` is the number of data sets or seeds behind each point of a figure.

    ``scale`` (above 0, at most 1) is the share of the records that a figure would take; the commands take
    all. ``slow_scale`` is the same for the slowest figures, which say so. Raises ValueError.
    """

    name: str
    repeats: int
    scale: float = 1
    slow_scale: float = 1

    def __post_init__(self) -> None:
        if self.repeats < 1 or not (0 < self.scale <= 1 and 0 < self.slow_scale <= 1):
            raise ValueError("an effort has at least one repeat and scales above 0, at most 1")

    def scale_records(self, records: int, least: int = 1) -> int:
        """Return how many records to take where a figure would take ``records``, but not below ``least``."""
        return max(round(records * self.scale), min(least, records))


EFFORTS = {"quick": Effort("quick", 2, slow_scale=0.5), "full": Effort("full", 10)}
"""What the command offers, by name."""


@dataclass(frozen=True)
class Study:
    """What the exhibits of a paper are measured with: an effort, the table Adult, workers, and kept points.

    A point is one call of a function. It is kept as a file in ``points``, named by a digest of the function's
    name, its arguments, the files of the package and, if it takes Adult, of that table. A point that is there
    is not measured again, whatever the effort.
    """

    effort: Effort
    adult: Adult
    executor: Executor
    points: Path
    progress: Progress = silent

    def measure(self, function: Callable[..., JSON], arguments: Sequence[Mapping[str, JSON]]) -> list[JSON]:
        """Return ``function(**each)`` for each of the arguments, in order.

        ``function`` is defined at the top level of a module; arguments and results are data as JSON has it.
        It draws whatever is random from a seed among its arguments. Points that are missing are measured by
        the workers, in order, and kept as they finish.
        """
        return self._measure(function, function, arguments, "")

    def measure_on_adult(
        self, function: Callable[..., JSON], arguments: Sequence[Mapping[str, JSON]]
    ) -> list[JSON]:
        """Return ``function(adult, **each)`` for each of the arguments; else like ``measure``."""
        return self._measure(function, partial(function, self.adult), arguments, self.adult.digest)

    def _measure(
        self,
        function: Callable[..., JSON],
        call: Callable[..., JSON],
        arguments: Sequence[Mapping[str, JSON]],
        data: str,
    ) -> list[JSON]:
        stage = f"{function.__module__}.{function.__qualname__}"
        points = Points(self.points, self.executor, self.progress)
        return points.measure(stage, call, arguments, data, words=_words(stage))


def _words(stage: str) -> str:
    """Return the name of a stage for people: the paper's code and the function."""
    *_, module, function = stage.split(".")
    paper = stage.removeprefix(f"{__name__.rpartition('.')[0]}.").partition(".")[0].upper()
    return f"{paper}, {module}: {function.strip('_').replace('_', ' ')}"
