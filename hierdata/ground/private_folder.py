"""Private temporary folders, removed with their owner, at the end of the process, and if it is killed.

Three things remove a folder: its owner; if the process is killed, another process that waits for that; and if
that is killed too (a container that ends, a power failure), the next run that makes a folder in the same
place. The last two recognize a folder of a living process by a lock, which ends with the process.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hierdata.ground.errors import UnavailableError, file_error

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NAME = re.compile(r"\.hierdata-run-[0-9a-f]{16}")

# Reads one folder per line until the pipe ends, which happens when no process has its other end open. Workers
# notice that a little later and may write until then, so the folders are removed three times.
_WAITING = """
trap '' HUP INT TERM
cd /
while IFS= read -r folder; do set -- "$@" "$folder"; done
for seconds in 1 4 0; do rm -rf -- "$@"; sleep $seconds; done
"""

_waiting: int | None = None
"""The end of the pipe to the process that waits until this one ends."""


@contextmanager
def explain_full_disk() -> Iterator[None]:
    """Raise UnavailableError with one sentence if the disk is full."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise UnavailableError(
            "no space is left for intermediate results, which are kept in a private folder until the run "
            "ends: free some space there, or name another folder for them"
        ) from None


class PrivateFolder:
    """A folder of mode 0700 with an unguessable name, for a ``purpose`` (used in the error message).

    It is removed by ``remove``, with this object, and at the end of the process, also if that is killed. What
    killed runs left in ``parent`` is removed first. Raises TargetError if the folder cannot be created.
    """

    def __init__(self, parent: Path | None, purpose: str) -> None:
        try:
            parent_path = Path(parent or tempfile.gettempdir()).absolute()
            _remove_abandoned(parent_path)
            # Set the name and arrange its removal before creating it: a signal may come between two steps.
            self.path = parent_path / f".hierdata-run-{secrets.token_hex(8)}"
            locks: list[int] = []
            self._end = weakref.finalize(self, _remove_locked, self.path, os.getpid(), locks)
            _entrust(self.path)
            _make_locked(self.path, locks)
        except OSError as error:
            where = str(parent) if parent is not None and str(parent) != "." else None
            why = f"cannot create a folder for {purpose} here ({error.strerror})"
            raise file_error(error, why, path=where) from None

    def remove(self) -> None:
        """Remove the folder with its content; do nothing if it was renamed to its final place."""
        try:
            self._end()
        finally:  # after a signal that interrupts the removal, later signals are ignored
            remove(self.path, os.getpid())

    def __enter__(self) -> Path:
        """Return the path of the folder."""
        return self.path

    def __exit__(self, *raised: object) -> None:
        """Remove the folder."""
        self.remove()


def remove(folder: Path, process: int) -> None:
    """Remove a folder created by ``process``; do nothing in a fork of that process."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_locked(folder: Path, process: int, locks: list[int]) -> None:
    """Remove a folder, and let go of its lock; in a fork do neither."""
    remove(folder, process)
    while locks and os.getpid() == process:
        os.close(locks.pop())


def _make_locked(folder: Path, locks: list[int]) -> None:
    """Create a folder and lock it as long as this process lives, where the file system has locks."""
    while True:
        folder.mkdir(mode=0o700)
        with suppress(FileNotFoundError):  # another run took it for abandoned before it was locked
            if not _lock(folder, locks, wait=True) or folder.exists():
                return
            os.close(locks.pop())


def _lock(folder: Path, locks: list[int], *, wait: bool) -> bool:
    """Lock a folder and add its descriptor to ``locks``; return False where that is not possible."""
    if fcntl is None:
        return False
    locks.append(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW))
    try:
        fcntl.flock(locks[-1], fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:  # locked by a living process, or a file system without locks
        os.close(locks.pop())
        return False
    return True


def _remove_abandoned(parent: Path) -> None:
    """Remove the folders of this user's killed runs below ``parent``: those that no process has locked."""
    if fcntl is None:
        return
    with suppress(OSError):
        with os.scandir(parent) as entries:  # without a Path for each of many
            folders = [parent / entry.name for entry in entries if _NAME.fullmatch(entry.name)]
        for folder in folders:
            locks: list[int] = []
            with suppress(OSError):
                if folder.lstat().st_uid == os.geteuid() and _lock(folder, locks, wait=False):
                    shutil.rmtree(folder, ignore_errors=True)
            for descriptor in locks:
                os.close(descriptor)


def _entrust(folder: Path) -> None:
    """Arrange that the folder is removed if this process is killed; not possible without a shell."""
    global _waiting
    line = os.fsencode(folder)
    if b"\n" in line or not hasattr(os, "posix_spawn"):
        return
    with suppress(OSError):
        if _waiting is None:
            _waiting = _waiter()
        os.write(_waiting, line + b"\n")


def _waiter() -> int:
    """Start the waiting process in its own process group, so that Ctrl-C does not reach it."""
    inner, outer = os.pipe()
    try:
        actions = [
            (os.POSIX_SPAWN_DUP2, inner, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        command = ["sh", "-c", _WAITING, "hierdata"]
        os.posix_spawn("/bin/sh", command, {"PATH": "/usr/bin:/bin"}, file_actions=actions, setpgroup=0)
    except BaseException:
        os.close(outer)
        raise
    finally:
        os.close(inner)
    return outer
