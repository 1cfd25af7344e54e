"""Points that take long to measure: each is measured once by worker processes, and kept as a file.

A run that was interrupted goes on where it was.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, TypeAlias

from hierdata.executors import Executor, ignore_progress
from hierdata.ground.progress import Progress, silent

JSON: TypeAlias = Any
"""Data as JSON has it: None, bool, int, float, str, lists and dicts of these."""


@dataclass(frozen=True)
class Points:
    """A folder of measured points, and the workers that measure those that are missing.

    A point is one call of a function. Its file is named by a digest of the stage, the arguments, the files of
    the package and what else decides it. A point that is there is not measured again.
    """

    folder: Path
    executor: Executor
    progress: Progress = silent

    def measure(
        self,
        stage: str,
        call: Callable[..., JSON],
        arguments: Sequence[Mapping[str, JSON]],
        data: str = "",
        *,
        words: str = "",
    ) -> list[JSON]:
        """Return ``call(**each)`` for each of the arguments, in order; arguments and results are JSON.

        ``stage`` names the function and ``data`` what it has from elsewhere; ``words`` is the stage for
        people. Points that are missing are measured by the workers, in order, and kept as they finish.
        """
        tasks = [_PointTask(dict(each), self.folder / _name_point(stage, each, data)) for each in arguments]
        missing = [*{task.file: task for task in tasks if not task.file.exists()}.values()]
        if missing:
            held = self.executor.hold(missing)
            watch = ignore_progress if self.progress is silent else partial(self.progress, words or stage)
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
            digest.update(digest_file(file))
    return digest.hexdigest()


def digest_file(file: Path) -> bytes:
    """Return the SHA-256 of a file's bytes."""
    with file.open("rb") as stream:
        return file_digest(stream, "sha256").digest()


def _keep_point(call: Callable[..., JSON], task: _PointTask) -> None:
    """Measure a point and write its file, whole."""
    text = json.dumps(call(**task.arguments), allow_nan=False)
    unfinished = task.file.with_suffix(f".{os.getpid()}")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(task.file)
