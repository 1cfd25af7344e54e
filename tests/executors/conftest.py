"""Executors to be tested: each of the family, and processes with several numbers of workers."""

from __future__ import annotations

import gc
import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from hierdata.executors import EXECUTORS, Executor, open_executor


def no_spark() -> str | None:
    """Why Spark cannot run here."""
    if importlib.util.find_spec("pyspark") is None:
        return "PySpark is not installed: pip install 'hierdata[spark]'"
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return "Java is not installed: on Debian apt-get install openjdk-17-jre-headless"
    return None


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One Spark application for all tests: executors find it active and use it."""
    if reason := no_spark():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("spark")
    with open_executor("spark", workers=2, folder=folder):
        yield
    assert list(folder.iterdir()) == []


# PySpark leaves sockets to the garbage collection, which tells whoever is running then.
SPARK = [
    pytest.mark.full,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
KINDS = [pytest.param(kind, marks=SPARK if kind == "spark" else []) for kind in EXECUTORS]


@pytest.fixture(autouse=True)
def swept(request: pytest.FixtureRequest) -> Iterator[None]:
    """Collect the garbage of a test with Spark before the next one."""
    yield
    if "spark" in request.fixturenames:
        gc.collect()


@pytest.fixture(params=KINDS)
def executor(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Executor]:
    if request.param == "spark":
        request.getfixturevalue("spark")
    with open_executor(request.param, workers=2, folder=tmp_path) as opened:
        yield opened
    assert list(tmp_path.iterdir()) == []
