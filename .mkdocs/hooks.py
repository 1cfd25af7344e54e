"""What the pages say to their tests, as the site shows it."""

from __future__ import annotations

import re
from typing import Any

_FENCE = re.compile(r"^(```[a-z]+) +([^\n]+)$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Show the file that a code block is written to as its title; leave out other words for the tests."""
    return _FENCE.sub(_fence, markdown)


def _fence(match: re.Match[str]) -> str:
    name = re.search(r"\bfile=(\S+)", match[2])
    return match[1] if name is None else f'{match[1]} title="{name[1]}"'
