"""Limits for policies, the files that they name, and releases, which may come from untrusted sources.

File names must be below one folder, files have a maximum size, and YAML is measured while it is parsed,
before anything is built from it.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hierdata.ground.errors import PolicyError

if TYPE_CHECKING:
    import yaml


@dataclass(frozen=True)
class Limits:
    """Limits of a file: bytes, values, the characters of all values, levels of nesting.

    Aliases of YAML count at each use: ten lines of them could mean billions of values. So do their
    characters, since one long text may be used a hundred thousand times.
    """

    size: int
    values: int
    characters: int
    depth: int


POLICY = Limits(size=4 * 2**20, values=100_000, characters=4 * 2**20, depth=64)
SCHEMA = Limits(size=16 * 2**20, values=1_000_000, characters=16 * 2**20, depth=64)
TAXONOMY = Limits(size=64 * 2**20, values=200_000, characters=64 * 2**20, depth=160)
"""Each level of a tree may be a list in a mapping."""


class TooMuch(Exception):  # noqa: N818  a signal to the reader: where, and which limit
    """A text exceeds a limit."""

    def __init__(self, why: str, mark: Any = None) -> None:
        where = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: "
        super().__init__(f"{where}{why}")


def require_confined(name: str, folder: Path, root: Path) -> None:
    """Raise PolicyError unless a file name is below ``root`` after following symbolic links.

    Relative names begin at ``folder``. A missing file is no error here: its reader reports it.
    """
    try:
        file, top = (folder / name).resolve(), root.resolve()
        is_special = file.exists() and not file.is_file()
    except (OSError, ValueError, RuntimeError):  # too long, a NUL in it, a loop of links
        raise PolicyError(f"{_quote_name(name)} cannot be a file name") from None
    if not file.is_relative_to(top):
        raise PolicyError(
            f"{_quote_name(name)} leads out of the folder that must contain the policy's files; if this is "
            "intended, name a folder above them with --root, in Python load_policy(path, root=...)"
        )
    if is_special:
        raise PolicyError(f"{_quote_name(name)} is not a file")


def _quote_name(name: str) -> str:
    return repr(name) if len(name) <= 200 else f"a name of {len(name)} characters"


def text_within(file: Path, limits: Limits, encoding: str = "utf-8") -> str:
    """Return the text of a file. Raises TooMuch above the maximum size, OSError, UnicodeDecodeError."""
    return bytes_within(file, limits).decode(encoding)


def bytes_within(file: Path, limits: Limits) -> bytes:
    """Return the bytes of a file (see text_within)."""
    with file.open("rb") as stream:
        data = stream.read(limits.size + 1)
    if len(data) > limits.size:
        raise TooMuch(f"it is larger than {limits.size // 2**20} MiB")
    return data


RELEASE_SIZE = 512 * 2**20
"""The largest file about a release that is read, such as release.json, in bytes."""


def regular_bytes(file: Path) -> bytes:
    """Return the bytes of a regular file that somebody else made.

    Raises OSError for one of more than ``RELEASE_SIZE`` bytes, and for a pipe or a device, which may not end.
    """
    # O_NONBLOCK: to open a pipe does not wait for somebody who writes.
    with os.fdopen(os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as stream:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        if status.st_size > RELEASE_SIZE:
            raise OSError(errno.EFBIG, f"it has more than {RELEASE_SIZE // 2**20} MiB")
        return stream.read(RELEASE_SIZE)


def check_yaml(text: str, loader: Any, limits: Limits) -> None:
    """Raise TooMuch for YAML that is nested too deeply or too large, yaml.YAMLError for invalid YAML.

    Events are processed one by one; only a measure of each anchor is held in memory.
    """
    import yaml

    count = _Count(limits)
    try:
        for event in yaml.parse(text, loader):
            count.take(event)
    except yaml.MarkedYAMLError as error:
        if error.problem == _LIBYAML_TOO_DEEP:
            raise TooMuch(f"it is nested beyond {limits.depth}") from None
        raise


_LIBYAML_TOO_DEEP = "exceeded maximum nesting depth"
"""What newer versions of libyaml say before any event of the innermost levels is made."""


def check_plain(data: object, limits: Limits) -> None:
    """Raise TooMuch for plain data that is nested too deeply or has too many values."""
    todo = [(data, 0)]
    values = 0
    while todo:
        value, depth = todo.pop()
        values += 1
        if values > limits.values:
            raise TooMuch(f"it has more than {limits.values} values")
        if depth > limits.depth:
            raise TooMuch(f"it is nested beyond {limits.depth}")
        if isinstance(value, dict):
            todo.extend((below, depth + 1) for below in value.values())
        elif isinstance(value, list):
            todo.extend((below, depth + 1) for below in value)


@dataclass
class _Measure:
    """The size of a part of a document with aliases expanded: values, characters, levels below it."""

    values: int
    characters: int
    height: int

    def include(self, other: _Measure) -> None:
        self.values += other.values
        self.characters += other.characters
        self.height = max(self.height, other.height + 1)


class _Count:
    """The measures of open containers, of anchors, and of the whole document."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._total = _Measure(0, 0, 0)
        self._open: list[tuple[str | None, _Measure]] = []
        self._anchored: dict[str, _Measure] = {}

    def take(self, event: Any) -> None:
        """Count an event."""
        import yaml

        if isinstance(event, yaml.ScalarEvent):
            measure = _Measure(1, len(event.value), 0)
            self._charge(event, measure)
            self._close(event.anchor, measure)
        elif isinstance(event, yaml.AliasEvent):
            if any(anchor == event.anchor for anchor, _ in self._open):
                raise TooMuch(f"it is nested beyond {self._limits.depth}", event.start_mark)
            if event.anchor in self._anchored:  # the reader reports an unknown anchor
                self._charge(event, self._anchored[event.anchor])
                self._close(None, self._anchored[event.anchor])
        elif isinstance(event, yaml.CollectionStartEvent):
            self._charge(event, _Measure(1, 0, 0))
            self._open.append((event.anchor, _Measure(1, 0, 0)))
        elif isinstance(event, yaml.CollectionEndEvent):
            self._close(*self._open.pop())

    def _charge(self, event: yaml.Event, measure: _Measure) -> None:
        self._total.include(measure)
        if self._total.values > self._limits.values:
            raise TooMuch(f"it has more than {self._limits.values} values, aliases counted each time")
        if self._total.characters > self._limits.characters:
            raise TooMuch(f"it has more than {self._limits.characters} characters, aliases counted each time")
        if len(self._open) + measure.height > self._limits.depth:
            raise TooMuch(f"it is nested beyond {self._limits.depth}", event.start_mark)

    def _close(self, anchor: str | None, measure: _Measure) -> None:
        if anchor is not None:
            self._anchored[anchor] = measure
        if self._open:
            self._open[-1][1].include(measure)
