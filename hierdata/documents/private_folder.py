"""Private temporary folders, removed with their owner, at the end of the process, and if it is killed."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path

from hierdata.errors import TargetError

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


class PrivateFolder:
    """A folder of mode 0700 with an unguessable name, for ``what`` (used in the error message).

    It is removed by ``remove``, with this object, and at the end of the process; if the process is killed, by
    another process that waits for that. Raises TargetError if the folder cannot be created.
    """

    def __init__(self, parent: Path | None, what: str) -> None:
        # Set the name and arrange its removal before creating it: a signal may arrive between any two steps.
        self.path = Path(parent or tempfile.gettempdir()).absolute() / f".hierdata-{secrets.token_hex(8)}"
        self._end = weakref.finalize(self, remove, self.path, os.getpid())
        _entrust(self.path)
        try:
            self.path.mkdir(mode=0o700)
        except OSError as error:
            raise TargetError(f"cannot create a folder for {what} ({error.strerror})") from None

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
