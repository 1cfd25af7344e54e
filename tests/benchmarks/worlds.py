"""More random worlds than the full tier has time for: ``python -m tests.benchmarks.worlds [--times N]``.

The property tests, the tests of random worlds and those of marks at every place run as in the full tier, with
so many times the worlds, and with every place of a record in every format.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tests.cases import TIMES

ROOT = Path(__file__).parents[2]
FILES = (
    *("adversarial", "engines", "identifiers", "privacy", "redteam/test_absence.py"),
    *(
        "end_to_end/test_faults.py",
        "redteam/test_bounded_knowledge.py",
        "test_coalesce.py",
        "test_witness.py",
    ),
)


def parser() -> argparse.ArgumentParser:
    """The options."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--times", type=int, default=5, help="how many times the worlds of the full tier")
    options.add_argument("--only", help="an expression for pytest's -k")
    options.add_argument("files", nargs="*", help="files or folders below tests/; by default those of worlds")
    return options


def main(argv: list[str] | None = None) -> None:
    """Run pytest, and end as it ends if a test fails."""
    stated = parser().parse_args(argv)
    files = [str(ROOT / "tests" / name) for name in stated.files or FILES]
    only = ["-k", stated.only] if stated.only else []
    command = [sys.executable, "-m", "pytest", "-n", "auto", "-m", "full", "-p", "no:cacheprovider", *only]
    environment = {**os.environ, TIMES: str(stated.times)}
    ended = subprocess.run([*command, *files], cwd=ROOT, env=environment, check=False)
    if ended.returncode:
        raise SystemExit(ended.returncode)


if __name__ == "__main__":
    main()
