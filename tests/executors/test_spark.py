"""Spark: its own application, workers on their own, one of them killed, what is missing, and silence."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hierdata.executors import WorkerError, open_executor
from hierdata.executors.base import Failure
from hierdata.executors.partitions import (
    Failures,
    PartitionLayout,
    PartitionStage,
    cut_value,
    map_value,
    scatter_value,
)
from hierdata.executors.processes import Serial
from hierdata.ground.errors import PolicyError
from tests.executors.chains import chain
from tests.executors.conftest import SPARK, no_spark

ROOT = Path(__file__).parents[2]


def marked(test: Any) -> Any:
    """Mark a test that uses the tests' own application."""
    for mark in SPARK:
        test = mark(test)
    return test


needs_spark = pytest.mark.skipif(no_spark() is not None, reason=str(no_spark()))


# What runs in the workers, without Spark


@pytest.mark.parametrize(("values", "partitions"), [(0, 1), (1, 1), (7, 7), (7, 3), (1000, 32), (33, 32)])
def test_every_value_lies_in_one_partition(values: int, partitions: int) -> None:
    layout = PartitionLayout(values, partitions, pieces=True)
    inside = [list(layout.inside(number)) for number in range(partitions)]
    assert [value for those in inside for value in those] == list(range(values))
    for number, those in enumerate(inside):
        assert all(layout.partition((value, 0, 0, 0)) == number for value in those)


def test_rows_become_values_again_and_empty_bins_are_lists() -> None:
    big = os.urandom(1_000_000)
    rows = [
        *cut_value(big, 1, 0, 0),
        *cut_value("small", 1, 0, 1),
        *cut_value(["later"], 1, 2, 0),
        *cut_value(4, 3),
    ]
    assert len(rows) > 6  # the big one takes several
    loaded = PartitionLayout(5, 1, pieces=True).load(range(5), iter(rows))
    assert list(loaded) == [(0, []), (1, [big, "small", ["later"]]), (2, []), (3, [4]), (4, [])]


class Gathered:
    """An accumulator in this process."""

    def __init__(self) -> None:
        self.value: dict[int, bytes] = {}

    def add(self, failures: dict[int, bytes]) -> None:
        self.value = Failures().addInPlace(self.value, failures)


def staged(function: Any, task: Any) -> tuple[list[Any], dict[int, bytes]]:
    import cloudpickle

    gathered = Gathered()
    name = f"test-{time.monotonic_ns()}"
    stage = PartitionStage(
        name, cloudpickle.dumps(((), function)), PartitionLayout(3, 1, pieces=False), task, gathered
    )
    rows = [row for number in range(3) for row in cut_value(number, number)]
    return list(stage(0, iter(rows))), gathered.value


def test_a_failure_is_no_exception_in_the_worker() -> None:
    def fails(value: int) -> int:
        if value == 1:
            raise KeyError("raw")
        return value

    made, failed = staged(fails, map_value)
    assert len(made) == 1
    assert list(failed) == [1]
    assert isinstance(Failure(failed[1]).error(), KeyError)
    made, failed = staged(lambda value: [(value, value)], partial(scatter_value, 2))
    assert list(failed) == [2]
    assert isinstance(Failure(failed[2]).error(), ValueError)


# What is missing


def test_without_pyspark_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(PolicyError, match=r"pip install 'hierdata\[spark\]'"):
        open_executor("spark", folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_without_java_the_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pyspark = pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'hierdata[spark]'")
    monkeypatch.setattr(pyspark.SparkContext, "_active_spark_context", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(PolicyError, match=r"needs Java 17, .* openjdk-17-jre-headless"):
        open_executor("spark", folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


# Applications of their own


def installed_spark() -> Path:
    """PySpark's own folder, into which a local cluster of Spark would write."""
    import pyspark

    return Path(pyspark.__file__).parent


def expected(folder: Path) -> str:
    with Serial(folder=folder) as executor:
        return chain(executor)


@pytest.fixture
def chained(tmp_path: Path) -> Iterator[Any]:
    """Runs the chain as a script with a master and a marker."""
    spill = tmp_path / "spill"
    spill.mkdir()

    def run(master: str, marker: str = "") -> str:
        script = [sys.executable, "-m", "tests.executors.chains", master, str(spill), marker]
        done = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    home = installed_spark()
    before = set(home.iterdir())
    yield run
    assert list(spill.iterdir()) == []
    assert set(home.iterdir()) == before


@pytest.mark.full
@needs_spark
def test_an_application_of_its_own_is_silent_and_leaves_nothing(chained: Any, tmp_path: Path) -> None:
    assert chained("") == f"2 {expected(tmp_path)}\n"


@pytest.mark.long  # test_spark_cluster.py kills one in the full tier
@needs_spark
def test_a_killed_executor_changes_nothing(chained: Any, tmp_path: Path) -> None:
    marker = tmp_path / "killed"
    assert chained("local-cluster[2,1,1024]", str(marker)) == f"2 {expected(tmp_path)}\n"
    assert marker.exists()


@marked
def test_a_task_that_kills_its_worker_is_one_error(spark: None, tmp_path: Path) -> None:
    """On one machine Spark tries nothing twice."""

    def kill(value: int) -> int:
        if value == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return value

    with open_executor("spark", folder=tmp_path) as executor:
        held = executor.hold([1, 2, 3])
        with pytest.raises(WorkerError, match="Spark gave up"):
            held.map(kill)
        assert list(held.map(lambda value: value + 1).collect()) == [2, 3, 4]


@marked
def test_files_are_private_and_the_caller_keeps_ctrl_c(spark: None, tmp_path: Path) -> None:
    from pyspark import SparkContext

    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    context: Any = SparkContext._active_spark_context
    folder = Path(context.getConf().get("spark.local.dir"))
    with open_executor("spark", folder=tmp_path) as executor:
        held = executor.hold([1, 2]).exchange(lambda value: [(0, bytes(1000)), (1, bytes(9))], 2)
        modes: dict[Path, int] = {}
        for path in folder.rglob("*"):
            with suppress(FileNotFoundError):  # Spark may remove those of earlier stages at any time
                if path.is_file():
                    modes[path] = path.stat().st_mode
        assert any("shuffle" in path.name for path in modes)
        assert [path for path, mode in modes.items() if mode & 0o077] == []
        assert folder.stat().st_mode & 0o777 == 0o700
        held.release()


@marked
def test_a_stopped_driver_does_not_wait_for_its_tasks(spark: None, tmp_path: Path) -> None:
    began = time.monotonic()

    def interrupt(done: int, tasks: int) -> None:
        raise KeyboardInterrupt

    def slow(value: int) -> int:
        time.sleep(60 if value else 0)
        return value

    with open_executor("spark", folder=tmp_path) as executor:
        held = executor.hold([0, 1])
        with pytest.raises(KeyboardInterrupt):
            held.map(slow, interrupt)
        assert time.monotonic() - began < 50
        assert list(held.map(str).collect()) == ["0", "1"]
