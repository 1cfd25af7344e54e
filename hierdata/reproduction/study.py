"""Measures the points of figures on worker processes, and keeps each, so that an interrupted run resumes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from hierdata.executors import Executor, ignore_progress
from hierdata.progress import Progress, silent
from hierdata.reproduction.adult import Adult

JSON: TypeAlias = Any
"""Data as JSON has it: None, bool, int, float, str, lists and dicts of these."""


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
        tasks = [_PointTask(dict(each), self.points / _name_point(stage, each, data)) for each in arguments]
        missing = [*{task.file: task for task in tasks if not task.file.exists()}.values()]
        if missing:
            held = self.executor.hold(missing)
            watch = ignore_progress if self.progress is silent else partial(self.progress, _words(stage))
            held.map(partial(_keep_point, call), watch).release()
            held.release()
        return [json.loads(task.file.read_text("utf-8")) for task in tasks]


@dataclass(frozen=True)
class _PointTask:
    """The arguments of a point, and the file that keeps its result."""

    arguments: dict[str, JSON]
    file: Path


def _name_point(stage: str, arguments: Mapping[str, JSON], data: str) -> str:
    """Return the file name of a point."""
    key = json.dumps([stage, dict(arguments), digest_build(), data], sort_keys=True, allow_nan=False)
    return f"{sha256(key.encode()).hexdigest()[:32]}.json"


@cache
def digest_build() -> str:
    """Return a digest of the package that runs: a version does not tell two states of the code apart."""
    return digest_folder(Path(__file__).parents[1])


def digest_folder(folder: Path) -> str:
    """Return a digest of the names and bytes of a folder's files, without what Python compiled of them."""
    digest = sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        if "__pycache__" not in file.parts:
            digest.update(sha256(file.relative_to(folder).as_posix().encode()).digest())
            digest.update(sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _keep_point(call: Callable[..., JSON], task: _PointTask) -> None:
    """Measure a point and write its file, whole."""
    text = json.dumps(call(**task.arguments), allow_nan=False)
    unfinished = task.file.with_suffix(f".{os.getpid()}")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(task.file)


def _words(stage: str) -> str:
    """Return the name of a stage for people: the paper's code and the function."""
    *_, module, function = stage.split(".")
    paper = stage.removeprefix(f"{__name__.rpartition('.')[0]}.").partition(".")[0].upper()
    return f"{paper}, {module}: {function.strip('_').replace('_', ' ')}"
