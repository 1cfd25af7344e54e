"""Sentences on errata in the package, from fixtures: ``python -m tests.reproduction.errata`` writes them.

Of each entry the page has the heading and the resolution.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "hierdata" / "reproduction" / "data" / "errata.json"
_ENTRY = re.compile(
    r"^\*\*([A-Z]{2}-\d+)\. (.+?)\*\*(.*?)(?=^\*\*[A-Z]{2}-\d+\.|^## |\Z)", re.MULTILINE | re.DOTALL
)


def text() -> str:
    entries = _ENTRY.findall((ROOT / "fixtures" / "papers" / "ERRATA.md").read_text("utf-8"))
    found = {code: f"{title} {resolution(body)}".strip() for code, title, body in entries}
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def resolution(body: str) -> str:
    _, _, resolved = body.partition("*Resolution*:")
    sentence = " ".join(resolved.split("\n\n")[0].split())
    return f"Our reading: {sentence}" if sentence else ""


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
