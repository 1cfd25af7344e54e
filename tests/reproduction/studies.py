"""Small studies for the tests of the papers' pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hierdata.ground.progress import silent
from hierdata.pipeline.points import Points
from hierdata.pipeline.resources import Resources
from hierdata.reproduction.study import Adult, Effort, Study, synthesize_adult


@contextmanager
def small_study(folder: Path, *, scale: float, adult: Adult | None = None) -> Iterator[Study]:
    """A study of one repeat in this process."""
    with Resources(executor="serial").open_context(1, folder, silent) as context:
        yield Study(
            Effort("tiny", 1, scale), adult or synthesize_adult(1_000), Points(folder, context.executor)
        )
