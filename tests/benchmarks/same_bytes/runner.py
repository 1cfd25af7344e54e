"""Make releases with the hierdata of this interpreter. It is copied to a working folder and runs there.

It uses only public names of hierdata, which all builds have. ``jobs.json`` in the working folder lists the
jobs; ``results`` there gets a folder for each: ``outcome.json``, and the release or the error's message.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import hierdata

SEED = bytes(range(16))
KEY = bytes(range(32))


def make_release(job: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Make one release below a new folder; what came of it."""
    resources = hierdata.Resources(executor=job["executor"], workers=job["workers"], master=job["master"])
    source = job["source"]
    if job["via"] == "objects":
        source = json.loads(Path(source).read_text("utf-8"))
    out = folder / "release"
    try:
        hierdata.anonymize(source, job["policy"], out=out, seed=SEED, key=KEY, resources=resources)
    except Exception as error:  # noqa: BLE001 - an internal error is a result too, and the other jobs go on
        (folder / "message.txt").write_text(f"{error}\n", "utf-8")
        return {"error": type(error).__name__, "exit_code": getattr(error, "exit_code", 1)}
    return {"error": None, "exit_code": 0}


def run_command(job: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The same by the command line, in a process of its own."""
    command = [sys.executable, "-m", "hierdata", "anonymize", job["source"], "--policy", job["policy"]]
    command += ["--out", str(folder / "release"), "--seed-file", "seed", "--executor", job["executor"]]
    done = subprocess.run([*command, "--quiet", "--json"], capture_output=True, check=False)
    (folder / "printed.json").write_bytes(done.stdout)
    return {"error": None, "exit_code": done.returncode}


def main() -> None:
    """Run all jobs of the working folder."""
    Path("seed").write_bytes(SEED)
    results = Path("results")
    results.mkdir()
    versions = {one.name: one.version for one in metadata.distributions() if one.name != "hierdata"}
    (results / "versions.json").write_text(json.dumps(versions, indent=1, sort_keys=True))
    sys.stderr.write(f"{hierdata.__file__}\n")
    for job in json.loads(Path("jobs.json").read_text("utf-8")):
        start = time.perf_counter()
        folder = results / job["name"]
        folder.mkdir()
        outcome = (run_command if job["via"] == "command" else make_release)(job, folder)
        (folder / "outcome.json").write_text(json.dumps(outcome) + "\n")
        seconds = time.perf_counter() - start
        sys.stderr.write(f"{seconds:5.1f} s {job['name']}: {outcome['error'] or outcome['exit_code']}\n")


if __name__ == "__main__":
    main()
