"""Checks of one published table: ``hierdata verify`` and pycanon, each a cold process."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks import adult
from tests.benchmarks.commands import anonymize, watched
from tests.benchmarks.comparison.adult_runs import HERE, Original, judged
from tests.benchmarks.peers import DISTINCT, NEAR_EQUAL, K, Setting, stated

MODELS = [K, DISTINCT, NEAR_EQUAL]


def compare(original: Original, pycanon: Path | None, folder: Path, turns: int) -> Iterator[dict[str, Any]]:
    """One line for each tool: what it says of k, l and t (equal distance), and what that took."""
    place = folder / "checked"
    place.mkdir()
    anonymize(original.file, stated(Setting("checked", MODELS, "", "")), place)
    published = place / "release" / "public" / "records.csv"
    command = [sys.executable, "-m", "hierdata", "verify", place / "release", "--quiet"]
    command += ["--policy", place / "policy.json", "--root", adult.folder()]
    yield {
        "tool": "hierdata verify",
        **judged(published, MODELS, original).achieved,
        **took(command, turns),
    }
    if pycanon is not None:
        out = place / "pycanon.json"
        command = [pycanon, HERE / "by_pycanon.py", published, adult.SENSITIVE, out]
        times = took(command, turns)
        yield {"tool": "pycanon", **json.loads(out.read_text("utf-8")), **times}


def took(command: Sequence[str | Path], turns: int) -> dict[str, float]:
    """Medians of some runs of a command."""
    runs = [watched(command) for _ in range(turns)]
    seconds, cpu, megabytes = map(statistics.median, zip(*runs, strict=True))
    return {"seconds": seconds, "cpu": cpu, "megabytes": megabytes}
