"""Private folders for what must not stay: gone with their holder, with the process, and when it is killed."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path

from hierdata.errors import TargetError

# Reads a folder a line until the pipe ends, which it does when nobody is left who could write to it. Workers
# take a moment to notice that too, and may write until then: so it looks three times.
_WAITING = """
trap '' HUP INT TERM
cd /
while IFS= read -r folder; do set -- "$@" "$folder"; done
for seconds in 1 4 0; do rm -rf -- "$@"; sleep $seconds; done
"""

_waiting: int | None = None
"""The end of the pipe to the process that waits for our end."""


class PrivateFolder:
    """A folder of mode 0700 with a name that nobody can guess, for ``what`` (as an error calls it).

    ``remove`` removes it, as do the end of its holder and of the process, even of a process that is killed:
    then by a process that waits for that. Raises TargetError when the folder cannot be made.
    """

    def __init__(self, parent: Path | None, what: str) -> None:
        # A name, and who removes it, before the folder: a signal may come between any two steps.
        self.path = Path(parent or tempfile.gettempdir()).absolute() / f".hierdata-{secrets.token_hex(8)}"
        self._end = weakref.finalize(self, remove, self.path, os.getpid())
        _entrust(self.path)
        try:
            self.path.mkdir(mode=0o700)
        except OSError as error:
            raise TargetError(f"cannot create a folder for {what} ({error.strerror})") from None

    def remove(self) -> None:
        """Remove the folder with all it holds; once it was put in place under another name, nothing."""
        try:
            self._end()
        finally:  # a signal that interrupts the removal is the last one that is heard
            remove(self.path, os.getpid())

    def __enter__(self) -> Path:
        """Use the folder for as long as the context lasts."""
        return self.path

    def __exit__(self, *raised: object) -> None:
        """Remove it."""
        self.remove()


def remove(folder: Path, process: int) -> None:
    """Remove a folder that a process has made; called by a fork of it, do nothing."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _entrust(folder: Path) -> None:
    """Have the folder removed should this process be killed; where there is no shell, nobody can."""
    global _waiting
    told = os.fsencode(folder)
    if b"\n" in told or not hasattr(os, "posix_spawn"):
        return
    with suppress(OSError):
        if _waiting is None:
            _waiting = _waiter()
        os.write(_waiting, told + b"\n")


def _waiter() -> int:
    """Start the process that waits, in a group of its own, so that Ctrl-C does not reach it."""
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
