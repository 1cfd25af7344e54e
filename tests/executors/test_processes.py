"""Worker processes: killed ones, a driver that is stopped or killed, scripts without a main guard."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hierdata.executors import WorkerError
from hierdata.executors.local import processors
from hierdata.executors.processes import Processes, _WorkerProcess
from hierdata.executors.spill import Extent

pytestmark = pytest.mark.usefixtures("own_workers")

SCRIPT = """
import os, pathlib, signal, sys, time
from hierdata.executors import open_executor

print("main")  # a worker that imported this script would say it again
folder = pathlib.Path(sys.argv[1])

class Mine:
    def __init__(self, value):
        self.value = value

def work(mine):
    (folder / f"worker-{os.getpid()}").touch()
    time.sleep(float(sys_argv))
    return Mine(bytes([mine.value]) * 200_000)

sys_argv = sys.argv[2]
spill = folder / "spill"
spill.mkdir()
with open_executor("processes", workers=2, memory=1 << 20, folder=spill) as executor:
    held = executor.hold([Mine(1), Mine(2), Mine(3)]).map(work)
    print(sum(len(mine.value) for mine in held.collect()))
"""


def script(folder: Path, wait: float) -> subprocess.Popen[str]:
    (folder / "script.py").write_text(SCRIPT, "utf-8")
    return subprocess.Popen(
        [sys.executable, str(folder / "script.py"), str(folder), str(wait)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def workers_of(folder: Path, count: int = 1) -> list[int]:
    """The process numbers of workers that are at work, as soon as there are so many."""
    until = time.monotonic() + 30
    while len(found := list(folder.glob("worker-*"))) < count:
        assert time.monotonic() < until
        time.sleep(0.02)
    return [int(path.name.partition("-")[2]) for path in found]


def runs(process: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(processes: list[int], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while any(runs(process) for process in processes):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def test_a_script_needs_no_main_guard(tmp_path: Path) -> None:
    output, errors = script(tmp_path, 0).communicate(timeout=60)
    assert (output, errors) == ("main\n600000\n", "")
    assert list((tmp_path / "spill").iterdir()) == []


def test_ctrl_c_ends_everything_promptly(tmp_path: Path) -> None:
    process = script(tmp_path, 60)
    workers = workers_of(tmp_path, 2)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert time.monotonic() - began < 5
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert errors.count("Traceback") == 1  # the script's own
    assert gone(workers, 5)
    assert list((tmp_path / "spill").iterdir()) == []


def test_ctrl_c_at_a_terminal_reaches_the_driver_alone(tmp_path: Path) -> None:
    """Workers have a process group of their own, and take no notice of the signal either."""
    with Processes(workers=1, folder=tmp_path) as executor:

        def interrupted(value: int) -> tuple[int, int]:
            os.kill(os.getpid(), signal.SIGINT)
            return os.getpid(), os.getpgid(0)

        ((worker, group),) = executor.hold([1]).map(interrupted).collect()
        assert len({group, worker, os.getpgid(0)}) == 3


def test_workers_end_with_a_driver_that_was_killed(tmp_path: Path) -> None:
    process = script(tmp_path, 60)
    workers = workers_of(tmp_path, 2)
    process.kill()
    _, errors = process.communicate(timeout=30)
    assert gone(workers, 5)
    assert errors == ""


@pytest.mark.parametrize("stage", ["map", "exchange"])
def test_a_killed_worker_is_one_error_and_nothing_stays(
    tmp_path: Path, stage: str, capfd: pytest.CaptureFixture[str]
) -> None:
    def work(value: int) -> list[tuple[int, bytes]]:
        if value == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return [(0, bytes(1 << 20))]

    with Processes(workers=2, folder=tmp_path, memory=0) as executor:
        held = executor.hold(range(6))
        made: dict[str, Callable[[], object]] = {
            "map": lambda: held.map(work),
            "exchange": lambda: held.exchange(work, 1),
        }
        with pytest.raises(
            WorkerError, match=r"\(signal 9\), probably for lack of memory: run it again"
        ) as error:
            made[stage]()
        assert error.value.__cause__ is None
        # What was held before is still there, and new workers take over.
        after = held.map(lambda value: value + 1)
        assert list(after.collect()) == [1, 2, 3, 4, 5, 6]
        after.release()
        held.release()
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


def test_workers_that_cannot_be_started_leave_no_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **options: object) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(subprocess, "Popen", fail)
    work = Extent(b"", 0, 0)
    before = sorted(Path("/proc/self/fd").iterdir())
    with pytest.raises(OSError, match="no more processes") as error:
        _WorkerProcess.start(3, work)
    assert sorted(Path("/proc/self/fd").iterdir()) == before, error


def test_workers_end_with_the_executor(tmp_path: Path) -> None:
    with Processes(workers=2, folder=tmp_path) as executor:

        def who(value: int) -> int:
            time.sleep(0.1)
            return os.getpid()

        workers = set(executor.hold(range(4)).map(who).collect())
        assert len(workers) == 2
        assert os.getpid() not in workers
    assert gone(list(workers), 0)


def test_the_work_of_a_stage_is_unpickled_once_a_worker(tmp_path: Path) -> None:
    class Counting:
        def __init__(self, log: Path) -> None:
            self.log = log
            self.constants = bytes(1 << 20)

        def __setstate__(self, state: dict[str, object]) -> None:
            self.__dict__.update(state)
            with self.log.open("a") as file:
                file.write("unpickled\n")

        def __call__(self, value: int) -> int:
            time.sleep(0.01)
            return value + len(self.constants)

    with Processes(workers=2, folder=tmp_path) as executor:
        made = executor.hold(range(20)).map(Counting(tmp_path / "log"))
        assert list(made.collect()) == [value + (1 << 20) for value in range(20)]
        # Once more by the parent of the workers, which imports what it needs.
        assert 2 <= (tmp_path / "log").read_text("utf-8").count("unpickled") <= 3
        (tmp_path / "log").unlink()


def test_workers_are_silent(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What a task raises is nobody's business but the driver's."""

    def fails(value: int) -> int:
        raise ValueError(f"raw value {value}")

    with Processes(workers=2, folder=tmp_path) as executor, pytest.raises(ValueError, match="raw value 0"):
        executor.hold([0, 1, 2, 3]).map(fails)
    assert capfd.readouterr() == ("", "")


def test_one_thread_a_worker_and_what_it_prints_is_no_answer(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def threads(value: int) -> tuple[int, str]:
        from numba import get_num_threads

        print("printed")
        return get_num_threads(), os.environ["OMP_NUM_THREADS"]

    with Processes(workers=1, folder=tmp_path) as executor:
        assert list(executor.hold([1]).map(threads).collect()) == [(1, "1")]
        assert executor.workers == 1
    with Processes(folder=tmp_path) as executor:
        assert executor.workers == processors() >= 1


def test_a_driver_that_forgets_to_close_leaves_nothing(tmp_path: Path) -> None:
    code = """
import pathlib, sys
from hierdata.executors import open_executor
executor = open_executor(sys.argv[1], workers=2, memory=0, folder=pathlib.Path(sys.argv[2]))
held = executor.hold([1, 2]).map(lambda value: bytes(1 << 20))
assert list(pathlib.Path(sys.argv[2]).iterdir())
sys.exit(3)
"""
    for kind in ("serial", "processes"):
        run = subprocess.run(
            [sys.executable, "-c", code, kind, str(tmp_path)], capture_output=True, text=True, timeout=60
        )
        assert (run.returncode, run.stdout, run.stderr) == (3, "", "")
        assert list(tmp_path.iterdir()) == []
