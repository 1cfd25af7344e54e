"""The only outlet to the terminal. Everything passes through ``escape``, so that no text can forge a line."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from io import TextIOWrapper
from typing import Any

from hierdata.escaping import escape, escape_json

PIPE_WIDTH = 160
"""Width in characters if stdout is not a terminal; longer cells are wrapped, never cut."""


def say(*lines: str) -> None:
    """Print lines on stdout: results for people."""
    _require_any_character()
    print(*map(escape, lines), sep="\n")


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


def _require_any_character() -> None:
    """Let stdout escape what its encoding does not have, as stderr does; it would raise an error."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
