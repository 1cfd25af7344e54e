"""hierdata beside other tools: ``python -m tests.benchmarks.comparison --out docs/comparison.md``.

Adult by hierdata, anjana, anonypyx and pycanon, each in a process and an environment of its own, and students
by hierdata, as one wide row each and masked only. Figures are printed, and with ``--out`` written as JSON and
as a page. ``--render`` writes the page again from the JSON beside it, without measuring. It needs the Adult
table in the folder that ``HIERDATA_COLLECTIONS`` names.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import hierdata
from tests.benchmarks import adult
from tests.benchmarks.collections import DATA_SETS
from tests.benchmarks.comparison import adult_runs, check_runs, tree_runs
from tests.benchmarks.comparison.page import page, tables
from tests.benchmarks.comparison.tools import VERSIONS, made, named

SIZES = (1000, 10_000)
TURNS = 3
PARTS = ("adult", "checks", "students")


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, help="write the page here, and the figures as JSON beside it")
    options.add_argument("--render", action="store_true", help="only write the page from the JSON beside it")
    options.add_argument(
        "--parts",
        nargs="*",
        default=PARTS,
        choices=PARTS,
        help="measure these only; with --out the others are kept from the JSON beside the page",
    )
    options.add_argument("--tools", nargs="*", default=list(VERSIONS), choices=VERSIONS, help="other tools")
    options.add_argument("--python", nargs="*", default=[], metavar="TOOL=PYTHON", help="where a tool is")
    options.add_argument("--environments", type=Path, help="keep environments that are made in this folder")
    options.add_argument("--rows", type=int, help="only the first rows of Adult")
    options.add_argument("--only", default="", help="settings of Adult whose name has this text")
    options.add_argument("--data", nargs="*", default=list(DATA_SETS), choices=DATA_SETS, help="students")
    options.add_argument("--records", nargs="*", type=int, default=SIZES, help="numbers of students")
    options.add_argument("--turns", type=int, default=TURNS, help="runs of each, for medians")
    return options


def gathered(lines: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """All lines, each told on stderr when it is there."""
    found = []
    for line in lines:
        found.append(line)
        sys.stderr.write(f"{json.dumps(line)}\n")
    return found


def measured(asked: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Run everything; the figures as they are kept in JSON."""
    pythons = made(asked.tools, named(asked.python), asked.environments or folder / "environments")
    whole = adult.table(adult.WITHOUT_MISSING, asked.rows)
    original = adult_runs.Original.of(adult.write(whole, folder / "table.csv"))
    parts = {
        "adult": lambda: adult_runs.compare(original, pythons, folder, asked.turns, asked.only),
        "checks": lambda: check_runs.compare(original, pythons.get("pycanon"), folder, asked.turns),
        "students": lambda: tree_runs.compare(asked.data, asked.records, folder, asked.turns),
    }
    return {
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} shared cores, {platform.system()}, Python {platform.python_version()}",
        "versions": {"hierdata": hierdata.__version__, **{name: VERSIONS[name] for name in pythons}},
        "turns": dict.fromkeys(asked.parts, asked.turns),
        "rows": len(original.rows),
        **{name: gathered(parts[name]()) for name in asked.parts},
    }


def check(asked: argparse.Namespace) -> None:
    """Refuse what would fail after an hour of measuring."""
    if asked.out is None and (asked.render or len(asked.parts) < len(PARTS)):
        sys.exit("--render and --parts need --out: the page whose JSON lies beside it")
    if asked.out is not None and not (asked.out.suffix == ".md" and asked.out.parent.is_dir()):
        sys.exit("--out: name a file that ends in .md, in a folder that is there")
    if asked.turns < 1:
        sys.exit("--turns must be 1 or more")


def main(argv: list[str] | None = None) -> None:
    asked = parser().parse_args(argv)
    check(asked)
    found: dict[str, Any] = {}
    if asked.out is not None and asked.out.with_suffix(".json").exists():
        found = json.loads(asked.out.with_suffix(".json").read_text("utf-8"))
    if not asked.render:
        if not adult.is_there():
            sys.exit("the Adult table does not lie beside the repository: nothing can be compared")
        with tempfile.TemporaryDirectory() as temporary:
            new = measured(asked, Path(temporary))
        kept = {key: {**found.get(key, {}), **new[key]} for key in ("versions", "turns")}
        found |= new | kept
    if asked.out is None:
        sys.stdout.write(tables(found))
        return
    asked.out.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    if missing := [name for name in PARTS if name not in found]:
        sys.exit(f"the JSON beside the page lacks {', '.join(missing)}: measure these parts too")
    asked.out.write_text(page(found), "utf-8")


if __name__ == "__main__":
    main()
