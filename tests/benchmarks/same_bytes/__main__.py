"""Whether two builds make the same releases: ``python -m tests.benchmarks.same_bytes make`` and ``compare``.

``make --python PYTHON --out FOLDER`` has the interpreter ``PYTHON``, in whose environment a wheel of one
build is installed, make some 350 small releases by the public API and the command line: combinations of
shape, search (engine or preset), recoding, format, executor, model and option that cover the valid pairs, and
jobs of their own. ``compare OLD NEW`` then compares two such folders; its exit code is 1 where they differ.
All files of each release must be the same, byte for byte, and so must the errors that jobs end in.

With ``--wording`` texts may differ: in release.json, the reports and messages of errors each sentence that
differs is listed. All else must be the same: numbers and names there, and every byte of all other files.

Both interpreters need the same versions of all other packages, since Parquet files say who wrote them; where
they differ it is told. The extras ``parquet``, ``mongodb`` and ``spark`` are used, and Java.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.benchmarks.same_bytes import comparing, special
from tests.benchmarks.same_bytes.factors import Combination, coverage, covering
from tests.benchmarks.same_bytes.inputs import write_inputs

RUNNER = Path(__file__).with_name("runner.py")
UNSET = ("PYTHONPATH", "PYTHONHOME", "NUMBA_CACHE_DIR", "HIERDATA_SEED", "HIERDATA_KEY")
"""What would lead one build to the other's modules or compiled code, or decide random choices."""


def make(python: str, out: Path, only: str | None = None) -> None:
    """Make all releases with one build, below a new folder; ``only`` is a part of the names of some."""
    chosen = covering()
    jobs = [*map(special.of_combination, chosen), *special.jobs()]
    jobs = [one for one in jobs if only is None or only in one["name"]]
    with tempfile.TemporaryDirectory(prefix="same-bytes-") as temporary:
        folder = Path(temporary)
        write_inputs(folder)
        for one in jobs:
            if one["policy"].startswith("{"):
                own = folder / "policies" / f"{one['name']}.json"
                own.write_text(one["policy"], "utf-8")
                one["policy"] = own.relative_to(folder).as_posix()
        (folder / "jobs.json").write_text(json.dumps(jobs, indent=1), "utf-8")
        # All paths in the jobs are relative, so all builds are given the same ones. The runner is copied,
        # because Python puts a script's folder on its path, and nothing else of the checkout may be there.
        shutil.copy(RUNNER, folder / "run_jobs.py")
        environment = {name: value for name, value in os.environ.items() if name not in UNSET}
        command = [str(Path(python).absolute()), "run_jobs.py"]
        subprocess.run(command, cwd=folder, env=environment, check=True)
        shutil.copytree(folder / "results", out)
    (out / "combinations.json").write_text(json.dumps(chosen, indent=1), "utf-8")


def outcomes(out: Path) -> dict[str, str]:
    """How each job ended."""
    found = {path.parent.name: json.loads(path.read_text("utf-8")) for path in out.glob("*/outcome.json")}
    return {name: one["error"] or f"exit code {one['exit_code']}" for name, one in sorted(found.items())}


def summary(out: Path) -> str:
    """How many jobs ended how, and which pairs of factors the combinations that were released cover."""
    ended = outcomes(out)
    combinations = map(Combination._make, json.loads((out / "combinations.json").read_text("utf-8")))
    released = [one for one in combinations if ended.get(special.name_of(one)) == "exit code 0"]
    counts = ", ".join(f"{count} {outcome}" for outcome, count in Counter(ended.values()).most_common())
    return f"{len(ended)} jobs: {counts}\ncoverage: {coverage(released)}"


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = options.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make", help="make the releases with one build")
    making.add_argument("--python", required=True, help="the interpreter that has the build")
    making.add_argument("--out", type=Path, required=True, help="a new folder")
    making.add_argument("--only", help="jobs that have this in their name")
    compared = commands.add_parser("compare", help="compare the releases of two builds")
    compared.add_argument("old", type=Path)
    compared.add_argument("new", type=Path)
    compared.add_argument("--wording", action="store_true", help="texts may differ, and are listed")
    return options


def main(argv: list[str] | None = None) -> int:
    """Read the command line; the exit code."""
    stated = parser().parse_args(argv)
    if stated.command == "make":
        if stated.out.exists():
            parser().error(f"{stated.out} is there already")
        start = time.perf_counter()
        make(stated.python, stated.out, stated.only)
        print(f"{summary(stated.out)}\n{time.perf_counter() - start:.0f} seconds")
        return 0
    differences = comparing.compare(stated.old, stated.new, wording=stated.wording)
    print("\n".join([*differences.lines(), summary(stated.new)]))
    return 1 if differences.failed else 0


if __name__ == "__main__":
    sys.exit(main())
