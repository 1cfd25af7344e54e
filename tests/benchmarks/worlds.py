"""More random worlds than the full tier has time for: ``python -m tests.benchmarks.worlds [--times N]``.

The full tier runs a share of the random worlds, seeds and examples that tests state (``tests.cases.SHARE``).
Here the same tests run with all of them, so many times over, and with every place of a record in every
format.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tests.cases import TIMES

ROOT = Path(__file__).parents[2]
REPEATING = ("from tests.cases import", "from hypothesis import")
FILES = [
    path.relative_to(ROOT / "tests").as_posix()
    for path in sorted((ROOT / "tests").rglob("test_*.py"))
    if any(words in path.read_text("utf-8") for words in REPEATING)
]
"""The test files that repeat something."""


def parser() -> argparse.ArgumentParser:
    """The options."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--times", type=int, default=5, help="how many times the worlds that tests state")
    options.add_argument("--only", help="an expression for pytest's -k")
    options.add_argument(
        "files", nargs="*", help="files or folders below tests/; by default those that repeat something"
    )
    return options


def main(argv: list[str] | None = None) -> None:
    """Run pytest, and end as it ends if a test fails."""
    stated = parser().parse_args(argv)
    files = [str(ROOT / "tests" / name) for name in stated.files or FILES]
    only = ["-k", stated.only] if stated.only else []
    command = [sys.executable, "-m", "pytest", "-n", "auto", "-m", "full or long"]
    command += ["-p", "no:cacheprovider", *only]
    environment = {**os.environ, TIMES: str(stated.times)}
    ended = subprocess.run([*command, *files], cwd=ROOT, env=environment, check=False)
    if ended.returncode:
        raise SystemExit(ended.returncode)


if __name__ == "__main__":
    main()
