"""Whole cold commands on tables: ``hierdata anonymize`` as a process of its own, with what it takes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks import adult

_WATCHED = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
done = subprocess.run(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
sys.exit(done.returncode)
"""
"""Runs a command and tells its seconds by the clock, its CPU seconds and its peak in MB.

In a process of its own: to a child's peak counts what its parent held when it started it.
"""


@dataclass(frozen=True)
class Taken:
    """What a command took, and the report.json that it wrote."""

    seconds: float
    cpu: float
    megabytes: float
    release: dict[str, Any]


def watched(
    command: Sequence[str | Path], environment: Mapping[str, str] | None = None
) -> tuple[float, float, float]:
    """Run a command in a new process: its seconds by the clock, CPU seconds and peak in MB.

    Raises CalledProcessError with the exit code of the command and what it said.
    """
    done = subprocess.run(
        [sys.executable, "-c", _WATCHED, *command],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    )
    seconds, cpu, megabytes = json.loads(done.stdout.splitlines()[-1])
    return seconds, cpu, megabytes


def anonymize(
    file: Path,
    policy: Mapping[str, Any],
    folder: Path,
    environment: Mapping[str, str] | None = None,
    *,
    root: Path | None = None,
    seed: bytes | None = None,
) -> Taken:
    """Anonymize a table in a new process; policy and release are written to ``folder``.

    The policy names hierarchies by their place in Adult's folder, or in ``root``. Without a seed the command
    draws one.
    """
    stated, out = folder / "policy.json", folder / "release"
    stated.write_text(json.dumps(policy), encoding="utf-8")
    command = [sys.executable, "-m", "hierdata", "anonymize", str(file), "--quiet", "--policy", str(stated)]
    command += ["--root", str(root or adult.folder()), "--out", str(out)]
    if seed is not None:
        (folder / "seed").write_bytes(seed)
        command += ["--seed-file", str(folder / "seed")]
    took = watched(command, environment)
    release = json.loads((out / "steward" / "report.json").read_text(encoding="utf-8"))
    return Taken(*took, release)
