"""The only outlet to the terminal. Everything passes through ``escape``, so that no text can forge a line."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from io import BufferedWriter, FileIO, TextIOWrapper
from typing import TYPE_CHECKING, Any

from hierdata.ground.escaping import escape, escape_json

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

FULL, EMPTY = "█░"
BAR_LENGTH = 20
"""Characters of a bar."""


def draw_bar(share: float, length: int = BAR_LENGTH) -> str:
    """Draw a share of 1 as a bar; it is empty or full only where the share is 0 or 1.

    >>> draw_bar(0.001, 5), draw_bar(0.5, 6), draw_bar(0.999, 5), draw_bar(1.0, 5)
    ('█░░░░', '███░░░', '████░', '█████')
    """
    filled = round(share * length)
    if 0 < share < 1:
        filled = min(max(filled, 1), length - 1)
    return FULL * filled + EMPTY * (length - filled)


WIDTH = 100
"""Characters in a line of sentences and bars, where the terminal has as many."""
LEAST_WIDTH = 40
"""Characters in a line of sentences on a terminal of any width."""
PIPE_WIDTH = 160
"""Width in characters if stdout is not a terminal; longer cells are wrapped, never cut."""


class LostOutputError(Exception):
    """Stdout takes no more: its reader is gone, or its disk is full. ``cause`` is the error of the system.

    It is no OSError, since libraries that print have their own answers to these.
    """

    def __init__(self, cause: OSError) -> None:
        super().__init__(cause.errno)
        self.cause = cause


class _Stdout(FileIO):
    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            drop_output()  # else the interpreter would try again to write the rest, at its end
            raise LostOutputError(error) from None


class _Stderr(FileIO):
    """What nobody can read is no reason to fail."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def guard_streams() -> None:
    """Let stdout raise LostOutputError and stderr nothing where they cannot be written.

    A closed stream is opened on the null device: else its number would be that of the next file that is
    opened, and messages of libraries would be written into a release.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115  (until the process ends)
    sys.stdout, sys.stderr = (
        _guard(_Stdout(1, "w", closefd=False)),
        _guard(_Stderr(2, "w", closefd=False)),
    )


def _guard(raw: FileIO) -> TextIOWrapper:
    before = sys.stdout if raw.fileno() == 1 else sys.stderr
    encoding = getattr(before, "encoding", None) or "utf-8"
    errors = "backslashreplace" if raw.fileno() != 1 else getattr(before, "errors", None) or "strict"
    return TextIOWrapper(
        BufferedWriter(raw), encoding, errors, line_buffering=raw.isatty() or raw.fileno() != 1
    )


def drop_output() -> None:
    """Send what is still written to stdout to the null device."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(*lines: str) -> None:
    """Print lines on stdout: results for people. Bars are drawn in ASCII where stdout has nothing else."""
    _require_any_character()
    print(*(_draw_bars(escape(line)) for line in lines), sep="\n")


def say_folded(*lines: str) -> None:
    """Print lines on stdout as ``say`` does; what is longer than a line goes on in an indented one."""
    for line in lines:
        say(*([line] if len(line) <= line_width() else fold_row(line)))


def line_width() -> int:
    """Return how many characters a line of sentences has: ``WIDTH``, or fewer on a narrower terminal."""
    if not sys.stdout.isatty():
        return WIDTH
    return min(WIDTH, max(shutil.get_terminal_size((WIDTH, 24)).columns, LEAST_WIDTH))


def fold(text: str, indent: str = "", hanging: str = "") -> list[str]:
    """Break a text into lines of ``line_width`` characters, at spaces; a longer word keeps its line.

    ``indent`` begins the first line, ``indent`` with ``hanging`` the others. What is in double quotes is one
    word, so that no line begins inside a quoted text.

    >>> fold('the dataset "a b c" ' * 6, "  ")[1]
    '  "a b c" the dataset "a b c"'
    """
    lines, width = [indent], line_width()
    for word in re.findall(r'(?:"[^"]*"|[^\s"]|")+', escape(text)):
        space = "" if lines[-1] in (indent, indent + hanging) else " "
        if space and len(lines[-1]) + 1 + len(word) > width:
            lines.append(indent + hanging + word)
        else:
            lines[-1] += space + word
    return lines


def fold_row(line: str) -> list[str]:
    """Break a line into lines of ``line_width`` characters, first between its cells.

    Cells are what two spaces or more set apart outside of quotes: they keep their columns as long as they
    fit, and the first that does not begins an indented line. A cell longer than a line is folded.

    >>> for line in fold_row(f"  k-anonymity  $.age{' ' * 50}held  {'in all classes ' * 3}"):
    ...     print(line)
      k-anonymity  $.age                                                  held
          in all classes in all classes in all classes
    """
    indent = " " * (len(line) - len(line.lstrip(" ")))
    lines: list[str] = []
    for gap, cell in re.findall(r'(^ *| {2,})((?>"[^"]*"|.)+?)(?= {2,}|$)', line.rstrip()):
        if lines and len(lines[-1]) + len(gap) + len(cell) <= line_width():
            lines[-1] += gap + cell
        else:
            lines += fold(cell, indent + ("    " if lines else ""), "" if lines else "    ")
    return lines


def shorten(text: str, most: int) -> str:
    """Return a text of at most ``most`` characters: of a longer one, such as a path, the end.

    >>> shorten("$.courses[*].evaluations[*].score", 20)
    '...luations[*].score'
    """
    return text if len(text) <= most else f"...{text[3 - most :]}"


def tell(*lines: str) -> None:
    """Print lines on stderr, each with our name: errors and notices."""
    for line in lines:
        print(f"hierdata: {escape(line)}", file=sys.stderr)


def print_json(data: Any) -> None:
    """Print one JSON object on one line on stdout, in ASCII."""
    import json

    print(escape_json(json.dumps(data)))


def show(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table on stdout. Cells are plain text: brackets in paths are not markup."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    def plain(text: str) -> Text:
        return Text(escape(text))

    table = Table(title=plain(title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(plain(column), overflow="fold")
    for row in rows:
        table.add_row(*map(plain, row))
    _require_any_character()
    Console(width=None if sys.stdout.isatty() else PIPE_WIDTH).print(table)


def _draw_bars(line: str) -> str:
    try:
        FULL.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return line.replace(FULL, "#").replace(EMPTY, ".")
    return line


def _require_any_character() -> None:
    """Let stdout escape what its encoding does not have, as stderr does; it would raise an error."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
