"""Private folders: closed to others, and gone however their process ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hierdata.documents.private_folder import PrivateFolder
from hierdata.errors import TargetError

ENDS = {
    "killed": "os.kill(os.getpid(), 9)",
    "left at once": "os._exit(3)",
    "an exception": "raise ValueError",
    "its end": "",
}
HOLDS = """
import os, sys
from pathlib import Path
from hierdata.documents.private_folder import PrivateFolder
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
    with pytest.raises(TargetError, match=r"^cannot create a folder for a test \(No such file"):
        PrivateFolder(tmp_path / "none", "a test")
