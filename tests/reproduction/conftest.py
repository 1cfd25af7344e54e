"""A study so small that its figures take seconds: one repeat, few records, in this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hierdata.executors import open_executor
from hierdata.reproduction.adult import Adult, synthesize_adult
from hierdata.reproduction.study import Effort, Study

TINY = Effort("tiny", 1, scale=0.02, slow_scale=1)


@pytest.fixture(scope="session")
def adult() -> Adult:
    return synthesize_adult(2000)


@pytest.fixture
def study(tmp_path: Path, adult: Adult) -> Iterator[Study]:
    points = tmp_path / "points"
    points.mkdir()
    with open_executor("serial", folder=tmp_path) as executor:
        yield Study(TINY, adult, executor, points)
