"""A study: the folder with the policy, its history, and the figures that were found, which a run continues.

``policy.yaml`` is the policy as the command line takes it. ``history`` has each state of it under a number,
and ``history/log.jsonl`` says what was changed. ``figures`` are the results of works as JSON, ``releases``
the releases by number. The folder is its owner's alone; ``figures/values.json`` has values of the data.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from threading import RLock
from typing import Any

from hierdata.ground.errors import TargetError, file_error

POLICY = "policy.yaml"
_MARK, _LOG = "study.json", "log.jsonl"
_FOLDERS = ("history", "figures", "releases", "hierarchies", "signed")
_DIGITS = 12
"""Hexadecimal digits of the digest in a version."""


class StaleError(TargetError):
    """A page speaks of a policy that has been changed since."""


@dataclass(frozen=True)
class PolicyChange:
    """A state of the policy: its number, what led to it, when, and the questions that it answers.

    ``undoes`` is the number of the change that it takes back; ``outside`` says that another program made it.
    """

    number: int
    what: str
    at: str
    digest: str
    answers: tuple[str, ...] = ()
    undoes: int | None = None
    outside: bool = False


class StudyFolder:
    """An open study; all methods may be called from several threads. Raises TargetError for files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = RLock()
        self._mark: dict[str, Any] = json.loads(self._read(_MARK))

    @classmethod
    def create(cls, folder: Path, source: str) -> StudyFolder:
        """Create the folder of a study of a file or folder. Raises TargetError if it cannot be."""
        path = Path(source)
        if not path.exists():
            raise TargetError("there is no such file or folder: correct the path", path=source)
        try:
            folder.mkdir(mode=0o700)
            for name in _FOLDERS:
                (folder / name).mkdir(mode=0o700)
            mark = {"version": 1, "input": str(path.absolute()), "seen": _look(path)}
            write_whole(folder / _MARK, json.dumps(mark))
        except OSError as error:
            raise file_error(error, f"cannot be created ({error.strerror})", path=str(folder)) from None
        return cls(folder)

    @staticmethod
    def is_study(folder: Path) -> bool:
        """Return whether a folder is that of a study."""
        return (folder / _MARK).is_file()

    @property
    def source(self) -> str:
        """The file or folder with the collection."""
        return str(self._mark["input"])

    @property
    def name(self) -> str:
        """The name of the collection's file."""
        return Path(self.source).name

    @property
    def has_policy(self) -> bool:
        """Whether there is a policy already."""
        return (self.folder / POLICY).is_file() or bool(self.changes())

    def input_changed(self) -> bool:
        """Return whether the input is not what it was when the study began, by its size and time."""
        return bool(_look(Path(self.source)) != self._mark["seen"])

    def accept_input(self) -> None:
        """Take the input as it is now: what was found of it before is forgotten, the policy stays."""
        with self._lock:
            self._mark["seen"] = _look(Path(self.source))
            write_whole(self.folder / _MARK, json.dumps(self._mark))
            for file in (self.folder / "figures").iterdir():
                file.unlink()

    def policy_text(self) -> str:
        """Return the text of the policy."""
        return self._read(POLICY)

    def version(self) -> str:
        """Return what identifies the state of the policy: the number of the last change, and a digest.

        A change by another program is entered into the history first.
        """
        with self._lock:
            if not self.has_policy:
                return "0"
            digest, known = _digest(self.policy_text()), self.changes()
            if not known or known[-1].digest != digest:
                self._enter(self.policy_text(), "changed outside of the studio", outside=True)
            return f"{len(self.changes())}-{digest[:_DIGITS]}"

    @contextmanager
    def edit(self, version: str | None) -> Iterator[None]:
        """Hold the policy for a change. Raises StaleError if ``version`` is not the state of the policy."""
        with self._lock:
            if version is not None and version != self.version():
                raise StaleError("this page is older than the policy, and nothing was changed")
            yield

    def change(self, version: str | None, text: str, description: str, answers: Sequence[str] = ()) -> None:
        """Replace the policy; ``version`` is the state that the change is for, None for the first one."""
        with self.edit(version):
            write_whole(self.folder / POLICY, text)
            self._enter(text, description, tuple(answers))

    def undo(self, version: str) -> PolicyChange | None:
        """Take back the last change that stands, and return it; None if there is none."""
        with self.edit(version):
            standing = self.standing()
            if len(standing) < 2:
                return None
            last, before = standing[-1], standing[-2]
            text = self._read(f"history/{before.number:04}.yaml")
            write_whole(self.folder / POLICY, text)
            self._enter(text, last.what, undoes=last.number)
            return last

    def changes(self) -> list[PolicyChange]:
        """Return all changes, the first one first."""
        with self._lock:
            file = self.folder / "history" / _LOG
            if not file.is_file():
                return []
            lines = map(json.loads, file.read_text("utf-8").splitlines())
            return [PolicyChange(**{**line, "answers": tuple(line["answers"])}) for line in lines]

    def standing(self) -> list[PolicyChange]:
        """Return the changes that were not taken back."""
        standing: list[PolicyChange] = []
        for change in self.changes():
            if change.undoes is None:
                standing.append(change)
            else:
                standing = [earlier for earlier in standing if earlier.number != change.undoes]
        return standing

    def list_answers(self) -> set[str]:
        """Return the questions that have an answer which was not taken back."""
        return {question for change in self.standing() for question in change.answers}

    def figures(self, name: str) -> Any:
        """Return the result of a work, None if there is none."""
        file = self.folder / "figures" / f"{name}.json"
        return json.loads(file.read_text("utf-8")) if file.is_file() else None

    def keep_figures(self, name: str, result: Any) -> None:
        """Keep the result of a work."""
        write_whole(self.folder / "figures" / f"{name}.json", json.dumps(result, ensure_ascii=False))

    def releases(self) -> list[str]:
        """Return the numbers of the releases, the last one last."""
        folders = (self.folder / "releases").iterdir()
        return sorted(path.name for path in folders if path.is_dir() and path.name.isdigit())

    def _enter(
        self,
        text: str,
        description: str,
        answers: tuple[str, ...] = (),
        undoes: int | None = None,
        outside: bool = False,
    ) -> None:
        number = len(self.changes()) + 1
        write_whole(self.folder / "history" / f"{number:04}.yaml", text)
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        change = PolicyChange(number, description, now, _digest(text), answers, undoes, outside)
        log = os.open(self.folder / "history" / _LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(log, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(asdict(change)) + "\n")

    def _read(self, name: str) -> str:
        try:
            return (self.folder / name).read_text("utf-8")
        except UnicodeDecodeError:
            raise TargetError("is not UTF-8 text: put it back from the study's history", path=name) from None
        except OSError as error:
            why = f"cannot be read ({error.strerror}): put it back, for example from the study's history"
            raise file_error(error, why, path=str(self.folder / name)) from None


def write_whole(file: Path, text: str) -> None:
    """Write a file of this user alone, whole or not at all. Raises TargetError."""
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        opened = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(opened, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        unfinished.replace(file)
    except OSError as error:
        raise file_error(error, f"cannot be written ({error.strerror})", path=str(file)) from None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _look(path: Path) -> list[int]:
    """Return sizes and times of a file, or of the files in a folder; empty if it is not there."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return [
        number
        for file in files
        if file.is_file()
        for number in (file.stat().st_size, file.stat().st_mtime_ns)
    ]
