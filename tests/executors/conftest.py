"""Executors to be tested: each of the family, and processes with several numbers of workers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hierdata.executors import EXECUTORS, Executor, open_executor

KINDS = [pytest.param(kind, marks=[pytest.mark.spark] if kind == "spark" else []) for kind in EXECUTORS]


@pytest.fixture(params=KINDS)
def executor(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Executor]:
    with open_executor(request.param, workers=2, folder=tmp_path) as opened:
        yield opened
    assert list(tmp_path.iterdir()) == []
