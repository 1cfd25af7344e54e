"""Drafts of any size: ``python -m tests.benchmarks.init --records N ...``.

Each is ``hierdata init`` as a process of its own, beside ``hierdata lint`` with the confirmed draft, which
surveys the same file. The patients have a card number and an income of their own, so that values are many.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hierdata.synth.patients import outpatients
from tests.benchmarks.engine import header, row
from tests.benchmarks.scale import taken

SIZES = (10_000, 100_000, 1_000_000)
SEED = 1


def cards(records: int) -> Iterator[dict[str, Any]]:
    """Patients with two more fields that hardly repeat."""
    draw = random.Random(SEED)
    for ordinal, patient in enumerate(outpatients(records, SEED)):
        yield {**patient, "card": f"{ordinal * 7919 % 10**9:09}", "income": draw.randrange(10**6)}


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--records", type=int, nargs="+", default=SIZES)
    return options


def main(argv: list[str] | None = None) -> None:
    """Print a line for each size."""
    sizes = parser().parse_args(argv).records
    header("Drafts", "records", "MB of the file", "init s", "init MB", "lint s", "lint MB")
    for records in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            file, draft = folder / "patients.jsonl", folder / "draft.yaml"
            with file.open("w") as stream:
                stream.writelines(json.dumps(patient) + "\n" for patient in cards(records))
            command = [sys.executable, "-m", "hierdata"]
            init = taken([*command, "init", str(file), "--out", str(draft), "--quiet"])
            lines = draft.read_text("utf-8").splitlines(keepends=True)
            draft.write_text("".join(line for line in lines if not line.startswith("draft:")), "utf-8")
            lint = taken([*command, "lint", str(draft), "--data", str(file), "--quiet"])
            size = file.stat().st_size
        row(f"{records:,}", f"{size / 1e6:.0f}", *figures(*init), *figures(*lint))
        sys.stdout.flush()


def figures(seconds: float, peak: int) -> tuple[str, str]:
    """Seconds and megabytes."""
    return f"{seconds:.1f}", f"{peak / 1e6:.0f}"


if __name__ == "__main__":
    main()
