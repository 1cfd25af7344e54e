"""Examples of the documentation: run them, compare what they print with what is shown, and write it anew.

``python -m tests.docs`` runs the examples of all pages under the seed and the key of the documentation and
lists what is shown otherwise than printed; ``--write`` puts what was printed into the pages. A PAGE is the
end of a page's path. Pages whose examples need a server are run, and written, by the tests of stores where
there is one: ``HIERDATA_DOCS=write pytest -m full tests/stores/test_how_to.py``.

Everything is compared, figures too. Only what differs from run to run is not: times and versions. ``...``
stands for anything: a line of its own for lines, within a line for words; so pages with ``key: per-run`` hide
pseudonyms. ``--write`` keeps it, and finds the lines around it by their words, figures aside.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hierdata.cli import main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
WRITE = "HIERDATA_DOCS"
SEED = "the-seed-of-the-documentation"
KEY = "00112233445566778899aabbccddeeff" * 2
ENVIRONMENT = {"HIERDATA_SEED": SEED, "HIERDATA_KEY": KEY, "COLUMNS": "160"}

NOT_RUN = ("pip ", "git ", "cd ", "python ", "export ", ".venv/")
SHELL = ("cat ", "cmp ", "head ", "sed ")


@dataclass(frozen=True)
class Block:
    """A code block: its language, the words behind it, its text, and where the text begins in the page."""

    language: str
    words: tuple[str, ...]
    text: str
    start: int

    @property
    def file(self) -> str | None:
        return next((word.removeprefix("file=") for word in self.words if word.startswith("file=")), None)


def blocks(page: Path) -> list[Block]:
    found = re.finditer(r"^```(\S+)([^\n]*)\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return [Block(one[1], tuple(one[2].split()), one[3], one.start(3)) for one in found]


def run(line: str, folder: Path) -> str:
    """Run one line of an example; what it prints, stderr last."""
    command, _, code = line.partition("  # exit code ")
    if command.startswith(NOT_RUN):
        return ""
    if command.startswith(SHELL):
        done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=True)
        return done.stdout
    assert command.startswith("hierdata "), command
    if made := _OF_FIXTURES.fullmatch(command):
        return _publish(command, folder / made[1])
    return _call(command, code)


_OF_FIXTURES = re.compile(r"hierdata anonymize fixtures/\S+ --policy fixtures/\S+ --out (\w+)(?: --quiet)?")
_published: dict[str, tuple[str, Path]] = {}
"""What commands on nothing but fixtures printed, and a copy of their release; pages repeat them."""


def _publish(command: str, out: Path) -> str:
    """Run such a command, or copy the release of the same command of another page: the seed is the same."""
    if command in _published:
        printed, release = _published[command]
        shutil.copytree(release, out)
        return printed
    printed = _call(command)
    _published[command] = printed, Path(shutil.copytree(out, Path(_copies().name) / str(len(_published))))
    return printed


@cache
def _copies() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


def _call(command: str, code: str = "") -> str:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        exit_code = main(shlex.split(command)[1:])
    assert exit_code == int(code or 0), f"{command}\n{err.getvalue()}"
    return out.getvalue() + err.getvalue()


_TIMES = re.compile(r"\b\d+(\.\d+)? ?(ms|s|seconds?|minutes?|min)\b")
_VERSIONS = re.compile(r"\b(hierdata|build|version) ?\d+\.\d+\S*")


def plain(line: str) -> str:
    """A line without what differs from run to run, and without rules and the width of columns."""
    line = re.sub(r"[─━\s]+", " ", line).strip()
    return _VERSIONS.sub(r"\1 #", _TIMES.sub("#", line))


def words(line: str) -> str:
    """A line without its figures either."""
    return re.sub(r"\d[\d,.]*(e-\d+)?", "#", plain(line))


def fits(shown: str, printed: str) -> bool:
    """Whether what is shown is what was printed, figures included, ``...`` standing for anything."""
    lines = " ".join(filter(None, map(plain, shown.splitlines())))
    pattern = ".*".join(re.escape(part.strip()) for part in lines.split("..."))
    return re.fullmatch(pattern, " ".join(filter(None, map(plain, printed.splitlines())))) is not None


def rewrite(shown: str, printed: str) -> str | None:
    """What to show instead: all lines that were printed, or those of the lines shown; None if one is gone."""
    lines = [line.rstrip() for line in printed.splitlines()]
    if "..." not in shown:
        return "".join(f"{line}\n" for line in lines)
    found, at = list[str](), 0
    for line in shown.splitlines():
        if line.strip() in ("...", ""):
            found.append(line)
            continue
        parts = line.strip().split("...")
        pattern = re.compile(rf"\s*{'.*?'.join(f'({_loosely(part)})' for part in parts)}\s*")
        while at < len(lines) and not pattern.fullmatch(lines[at]):
            at += 1
        if at == len(lines):
            return None
        match = pattern.fullmatch(lines[at])
        assert match is not None
        found.append("...".join(match.groups()) if len(parts) > 1 else lines[at])
        at += 1
    return "".join(f"{line.rstrip()}\n" for line in found)


_FIGURE = r"\d[\d,.]*(?:e-\d+)?"


def _loosely(part: str) -> str:
    """A pattern for this part of a line with any figures, and any white space between words."""
    words = re.split(r"[─━\s]+", part)
    return r"[─━\s]*".join(_FIGURE.join(map(re.escape, re.split(_FIGURE, word))) for word in words)


Shown = tuple[Block, str]
"""A block that shows an output, and what its command printed."""


def follow(page: Path, folder: Path) -> Iterator[Shown]:
    """Run the commands of a page in a folder that has the fixtures; yield what is shown of them."""
    printed: str | None = None
    for block in blocks(page):
        if block.file is not None:
            (folder / block.file).parent.mkdir(exist_ok=True)
            (folder / block.file).write_text(block.text, "utf-8")
        elif block.language == "sh":
            printed = "".join(run(line, folder) for line in block.text.splitlines() if line)
        elif block.language == "text" and printed is not None:
            yield block, printed
            printed = None


def prepare(folder: Path) -> None:
    """Give an empty folder what the examples read."""
    for name in ("fixtures", "schemas"):
        shutil.copytree(ROOT / name, folder / name)


def differing(shown: Sequence[Shown]) -> list[Shown]:
    return [(block, printed) for block, printed in shown if not fits(block.text, printed)]


def write(page: Path, shown: Sequence[Shown]) -> list[str]:
    """Put what was printed into a page; the blocks of which a line is gone, which a person must edit."""
    text, gone = page.read_text("utf-8"), []
    for block, printed in reversed(differing(shown)):
        new = rewrite(block.text, printed)
        if new is None or not fits(new, printed):
            gone.append(f"--- shown\n{block.text}--- printed\n{printed}")
        else:
            text = text[: block.start] + new + text[block.start + len(block.text) :]
    page.write_text(text, "utf-8")
    return gone


ON_SERVERS = ("mongodb.md", "fhir-in-mongodb.md", "postgresql.md")
"""Pages whose examples need a server: tests/stores runs them."""
EXAMPLES = [
    page
    for page in PAGES
    if page.name not in ON_SERVERS and any(block.language == "sh" for block in blocks(page))
]


def check_pages(pages: Sequence[Path], *, writing: bool) -> int:
    """Run the examples of pages; print what differs, and return in how many places."""
    os.environ.update(ENVIRONMENT)
    count = 0
    for page in pages:
        with tempfile.TemporaryDirectory() as name:
            prepare(Path(name))
            with contextlib.chdir(name):
                shown = [*follow(page, Path(name))]
        wrong = [f"--- shown\n{block.text}--- printed\n{printed}" for block, printed in differing(shown)]
        left = write(page, shown) if writing else wrong
        count += len(left)
        print(f"{page.relative_to(DOCS)}: {len(shown)} outputs, {len(wrong)} differ, {len(left)} left")
        print("\n".join(left), flush=True)
    return count


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m tests.docs", description=__doc__)
    made.add_argument("page", nargs="*", help="the end of a page's path; all pages with examples by default")
    made.add_argument("--write", action="store_true", help="put what is printed into the pages")
    return made


if __name__ == "__main__":
    stated = parser().parse_args()
    chosen = [page for page in EXAMPLES if not stated.page or page.as_posix().endswith(tuple(stated.page))]
    sys.exit(1 if check_pages(chosen, writing=stated.write) else 0)
