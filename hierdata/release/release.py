"""A release: its folder, of which the public part is given out, and its report."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hierdata.documents.document import Document
from hierdata.documents.private_folder import PrivateFolder
from hierdata.errors import PolicyError, TargetError
from hierdata.release.report.models import StewardReport


class Staging:
    """A private folder in which a release is built; removed with the object unless it was put in place.

    ``path`` holds ``public/`` and ``steward/`` (closed to other users). Raises TargetError when it cannot be
    created.
    """

    def __init__(self, parent: Path | None) -> None:
        self._folder = PrivateFolder(parent, "the release")
        self.path, self.remove = self._folder.path, self._folder.remove
        try:
            (self.path / "public").mkdir()
            (self.path / "steward").mkdir(mode=0o700)
        except OSError as error:
            raise TargetError(f"cannot create a folder for the release ({error.strerror})") from None


@dataclass(frozen=True)
class Release:
    """A judged release: its folder, of which the public part will be given out, and its report.

    ``folder`` holds ``public/`` and ``steward/`` (DECISIONS 1); until ``save`` it is a private temporary
    folder that is removed with the object. ``report`` is the steward's report as plain data, ``parts`` are
    the names of the published parts, ``records`` first; ``read`` reads the documents of a part of a folder.
    """

    folder: Path
    report: StewardReport
    parts: tuple[str, ...]
    read: Callable[[Path, str], Iterator[Document]]
    temporary: Any = field(default=None, repr=False)

    def records(self) -> Iterator[Document]:
        """Read the published records back from the file that was judged."""
        return self.part(self.parts[0])

    def part(self, name: str) -> Iterator[Document]:
        """Read the documents of one of ``parts``; parts other than the records hold rows of sensitive values.

        Raises PolicyError for an unknown name.
        """
        if name not in self.parts:
            raise PolicyError(f"the release has no such part; it has {', '.join(self.parts)}")
        return self._read_kept(name)

    def _read_kept(self, name: str) -> Iterator[Document]:
        yield from self.read(self.folder, name)  # a generator keeps the release, and so the folder, alive

    def save(self, directory: str | os.PathLike[str]) -> Path:
        """Move the release to ``directory``, all or nothing. Raises TargetError if ``directory`` exists."""
        target = Path(directory)
        place(self.folder, target)
        object.__setattr__(self, "folder", target)
        return target


def _set_times(public: Path) -> None:
    """Give all published files one time: differences would tell how long each step took."""
    now = int(time.time())
    for path in (*public.rglob("*"), public):
        os.utime(path, (now, now))


def place(staged: Path, target: Path) -> None:
    """Rename a finished folder to its name; from another file system, copy it next to the target first."""
    if target.exists() or target.is_symlink():
        raise TargetError("the output directory is already there; choose a new name", path=str(target))
    try:
        # As open as the user's new folders; steward/ stays closed.
        staged.chmod((staged / "public").stat().st_mode)
        _set_times(staged / "public")
        if staged.stat().st_dev == target.resolve().parent.stat().st_dev:
            staged.rename(target)
            return
        # Copy under a temporary private name: an existing target must not be overwritten or removed.
        with PrivateFolder(target.parent, "the release") as beside:
            shutil.copytree(staged, beside, dirs_exist_ok=True)
            beside.rename(target)
        shutil.rmtree(staged)
    except OSError as error:
        raise TargetError(
            f"the release cannot be put in place ({error.strerror})", path=str(target)
        ) from None
