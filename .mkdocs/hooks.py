"""What the pages say to their tests, as the site shows it; and no requests to other places."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

_FENCE = re.compile(r"^(```[a-z]+) +([^\n]+)$", re.MULTILINE)
_SHIM = "https://unpkg.com/iframe-worker/shim"
"""The script that the theme requests to search in pages from a folder; ours is in the site."""
_WORKER = "folder-worker.js"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Show the file that a code block is written to as its title; leave out other words for the tests."""
    return _FENCE.sub(_fence, markdown)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Take the script for pages from a folder from the site."""
    return output.replace(_SHIM, "../" * page.url.count("/") + _WORKER)


def on_post_template(output: str, **_: Any) -> str:
    """Leave the script out of the page for addresses that do not exist: a folder never shows it."""
    return output.replace(f'<script src="{_SHIM}"></script>', "")


def on_post_build(config: Any, **_: Any) -> None:
    """Put the script into the site."""
    shutil.copyfile(Path(__file__).with_name(_WORKER), Path(config["site_dir"]) / _WORKER)


def _fence(match: re.Match[str]) -> str:
    name = re.search(r"\bfile=(\S+)", match[2])
    return match[1] if name is None else f'{match[1]} title="{name[1]}"'
