"""Private folders: closed to others, and gone however their process ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from hierdata.ground.errors import TargetError
from hierdata.ground.private_folder import PrivateFolder

ENDS = {
    "killed": "os.kill(os.getpid(), 9)",
    "left at once": "os._exit(3)",
    "an exception": "raise ValueError",
    "its end": "",
}
HOLDS = """
import os, sys
from pathlib import Path
from hierdata.ground.private_folder import PrivateFolder
first, second = (PrivateFolder(Path(sys.argv[1]), "a test") for _ in range(2))
(first.path / "below").mkdir()
(first.path / "below" / "file").write_text("x")
print(oct(first.path.stat().st_mode & 0o777), len(os.listdir(sys.argv[1])), flush=True)
"""


def gone(folder: Path, patience: float = 20) -> bool:
    until = time.monotonic() + patience
    while any(folder.iterdir()) and time.monotonic() < until:
        time.sleep(0.02)
    return not any(folder.iterdir())


@pytest.mark.parametrize("end", ENDS)
def test_gone_with_the_process(end: str, tmp_path: Path) -> None:
    held = tmp_path / "a folder; with $(odd) 'name"
    held.mkdir()
    command = [sys.executable, "-c", HOLDS + ENDS[end], str(held)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.stdout == "0o700 2\n"
    assert gone(held)


def test_a_signal_to_the_whole_group_does_not_end_who_waits(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDS + "import time; time.sleep(60)", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    process.stdout.readline()
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert gone(tmp_path)


def end_session(leader: int) -> None:
    """Kill every process of a session at once, as the end of a container does.

    They are stopped first, twice: what the first look misses was just started by one that it stopped.
    """
    for number in (signal.SIGSTOP, signal.SIGSTOP, signal.SIGKILL):
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                if stat.read_text("utf-8", "replace").rpartition(")")[2].split()[3] == str(leader):
                    os.kill(int(stat.parent.name), number)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes by /proc")
def test_what_nobody_could_remove_is_removed_by_the_next_run(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDS + "import time; time.sleep(60)", str(tmp_path)]
    killed, living = (
        subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) for _ in range(2)
    )
    for process in (killed, living):
        assert process.stdout is not None
        process.stdout.readline()
    end_session(killed.pid)
    killed.communicate()
    held = list(tmp_path.iterdir())
    assert len(held) == 4
    foreign = [tmp_path / name for name in (".hierdata-run-notes", ".hierdata-0123456789abcdef", "other")]
    for path in foreign:
        path.mkdir()
    (tmp_path / "target").mkdir()
    link = tmp_path / f".hierdata-run-{'0' * 16}"
    link.symlink_to(tmp_path / "target", target_is_directory=True)
    with PrivateFolder(tmp_path, "a test") as own:
        left = {path for path in held if path.exists()}
        assert len(left) == 2
        assert {*tmp_path.iterdir()} == {own, *left, *foreign, link, tmp_path / "target"}
    living.kill()
    living.communicate()


def test_runs_that_begin_at_once_keep_their_folders(tmp_path: Path) -> None:
    """Each looks for folders that nobody holds while others make theirs."""
    script = """
import sys
from pathlib import Path
from hierdata.ground.private_folder import PrivateFolder
for _ in range(100):
    with PrivateFolder(Path(sys.argv[1]), "a test") as folder:
        (folder / "file").write_text("x")
        assert (folder / "file").read_text() == "x"
"""
    command = [sys.executable, "-c", script, str(tmp_path)]
    started = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    assert [process.communicate(timeout=120)[1] for process in started] == [""] * 4
    assert gone(tmp_path)


def test_removed_once_and_with_its_holder(tmp_path: Path) -> None:
    folder = PrivateFolder(tmp_path, "a test")
    folder.remove()
    folder.remove()
    assert not any(tmp_path.iterdir())
    folder = PrivateFolder(tmp_path, "a test")
    del folder
    assert not any(tmp_path.iterdir())


def test_what_was_put_in_place_stays(tmp_path: Path) -> None:
    folder = PrivateFolder(tmp_path, "a test")
    folder.path.rename(tmp_path / "out")
    folder.remove()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_fork_does_not_remove_what_its_parent_holds(tmp_path: Path) -> None:
    script = HOLDS + "child = os.fork()\nif child: os.waitpid(child, 0); print(len(os.listdir(sys.argv[1])))"
    command = [sys.executable, "-c", script, str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout.splitlines() == ["0o700 2", "2"]
    assert gone(tmp_path)


def test_no_folder_to_make_it_in(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match=r"cannot create a folder for a test here \(No such file"):
        PrivateFolder(tmp_path / "none", "a test")
