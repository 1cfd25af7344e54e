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
    """A folder of mode 0700 with an unguessable name, for ``what`` (used in the error message).

    It is removed by ``remove``, with this object, and at the end of the process, also if that is killed. What
    killed runs left in ``parent`` is removed first. Raises TargetError if the folder cannot be created.
    """

    def __init__(self, parent: Path | None, what: str) -> None:
        try:
            place = Path(parent or tempfile.gettempdir()).absolute()
            _remove_abandoned(place)
            # Set the name and arrange its removal before creating it: a signal may come between two steps.
            self.path = place / f".hierdata-run-{secrets.token_hex(8)}"
            held: list[int] = []
            self._end = weakref.finalize(self, _remove_held, self.path, os.getpid(), held)
            _entrust(self.path)
            _make_locked(self.path, held)
        except OSError as error:
            where = str(parent) if parent is not None and str(parent) != "." else None
            why = f"cannot create a folder for {what} here ({error.strerror})"
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


def _remove_held(folder: Path, process: int, held: list[int]) -> None:
    """Remove a folder, and let go of its lock; in a fork do neither."""
    remove(folder, process)
    while held and os.getpid() == process:
        os.close(held.pop())


def _make_locked(folder: Path, held: list[int]) -> None:
    """Create a folder and lock it as long as this process lives, where the file system has locks."""
    while True:
        folder.mkdir(mode=0o700)
        with suppress(FileNotFoundError):  # another run took it for abandoned before it was locked
            if not _lock(folder, held, wait=True) or folder.exists():
                return
            os.close(held.pop())


def _lock(folder: Path, held: list[int], *, wait: bool) -> bool:
    """Lock a folder and add its descriptor to ``held``; return False where that is not possible."""
    if fcntl is None:
        return False
    held.append(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW))
    try:
        fcntl.flock(held[-1], fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:  # locked by a living process, or a file system without locks
        os.close(held.pop())
        return False
    return True


def _remove_abandoned(place: Path) -> None:
    """Remove the folders of this user's killed runs in a place: those that no process has locked."""
    if fcntl is None:
        return
    with suppress(OSError):
        with os.scandir(place) as entries:  # without a Path for each of many
            found = [place / entry.name for entry in entries if _NAME.fullmatch(entry.name)]
        for path in found:
            held: list[int] = []
            with suppress(OSError):
                if path.lstat().st_uid == os.geteuid() and _lock(path, held, wait=False):
                    shutil.rmtree(path, ignore_errors=True)
            for descriptor in held:
                os.close(descriptor)


def _entrust(folder: Path) -> None:
    """Arrange that the folder is removed if this process is killed; not possible without a shell."""
    global _waiting
    told = os.fsencode(folder)
    if b"\n" in told or not hasattr(os, "posix_spawn"):
        return
    with suppress(OSError):
        if _waiting is None:
            _waiting = _waiter()
        os.write(_waiting, told + b"\n")


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
