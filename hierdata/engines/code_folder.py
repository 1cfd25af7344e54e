"""The folder of compiled code. Code that is loaded from it runs, so nobody else may have written there."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from hierdata.documents.private_folder import PrivateFolder
from hierdata.ground.errors import TargetError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_KEPT = 8
"""Builds whose code is kept; those used least recently are removed."""
_LOCK = "lock"


def build_folder(stamp: str, stated: str) -> Path | None:
    """Return the folder for the code of one build, which ``stamp`` names; None where none can be made.

    ``stated`` is the parent folder that the user names, or empty.
    """
    above = _code_folder(stated)
    folder = above and above / stamp
    if above is None or folder is None:
        return None
    with suppress(OSError):
        if not folder.is_dir():
            folder.mkdir(mode=0o700, exist_ok=True)
            _remove_old(above)
        os.utime(folder)
    return folder


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Keep other processes from writing to a folder; where nothing can be locked, OSError is raised."""
    if fcntl is None:
        yield
        return
    with (folder / _LOCK).open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@cache
def _code_folder(stated: str) -> Path | None:
    """Return a folder of this user alone: the first that can be had, else a fresh one until the process ends.

    None if there is no place for temporary files either: then nothing is kept.
    """
    user = os.geteuid() if hasattr(os, "geteuid") else None
    name = "hierdata" if user is None else f"hierdata-{user}"
    for parent in _parents(stated):
        with suppress(OSError, RuntimeError):  # RuntimeError: links in a circle
            parent.mkdir(mode=0o700, exist_ok=True)
            folder = parent / name
            folder.mkdir(mode=0o700, exist_ok=True)
            if user is None or _is_private(folder, user):
                return folder
    try:
        fresh = PrivateFolder(None, "compiled code")
    except (TargetError, OSError):
        return None
    _FRESH.append(fresh)
    return fresh.path


_FRESH: list[PrivateFolder] = []
"""The fresh folder of this process, which is removed with it."""


def _parents(stated: str) -> Iterator[Path]:
    """Yield where the folder may be, the best place first: no other user can choose the names in these."""
    if stated:
        yield Path(stated).absolute()
    chosen = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if chosen.is_absolute():
        yield chosen
    with suppress(RuntimeError):  # neither HOME nor an entry in the list of users
        yield Path.home() / ".cache"
    with suppress(OSError):
        temporary = Path(tempfile.gettempdir())
        if temporary != Path.cwd():  # chosen for lack of another, and nobody expects our folder there
            yield temporary


def _is_private(folder: Path, user: int) -> bool:
    """Return whether a folder is this user's alone, is no link, and cannot be exchanged by other users."""
    own = folder.lstat()
    if not stat.S_ISDIR(own.st_mode) or own.st_uid != user or stat.S_IMODE(own.st_mode) & 0o777 != 0o700:
        return False
    trusted = {user, Path("/").stat().st_uid}  # whoever owns the root owns the machine
    parent = folder.parent.resolve(strict=True)
    return all(_keeps_entries(above.stat(), trusted) for above in (parent, *parent.parents))


def _keeps_entries(found: os.stat_result, trusted: set[int]) -> bool:
    """Return whether only trusted users can rename what is in a folder; a sticky one guards each entry."""
    shared = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not found.st_mode & stat.S_ISVTX
    return found.st_uid in trusted and not shared


def _remove_old(above: Path) -> None:
    builds = [path for path in above.iterdir() if path.is_dir() and not path.is_symlink()]
    for old in sorted(builds, key=lambda path: path.stat().st_mtime, reverse=True)[_KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
