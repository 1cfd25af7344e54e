"""Coverage-guided fuzzing of each reader: ``python -m tests.benchmarks.fuzz`` prints a table.

The fixtures are the first inputs, broken ones too; the fuzzer changes them and keeps what reaches new code.
Each reader has a process of its own, bounded in memory and in the time of one input. A find is an input with
which something that ``readers.look`` demands does not hold, or a bound is passed. Finds are written to the
folder ``--finds``; each becomes a file of fixtures/broken together with its mend. Needs atheris (the extra
``fuzz``), which has wheels for Linux.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path

MEGABYTES = 1024
SECONDS_OF_ONE = 10
_STATISTICS = re.compile(r"^#(\d+)\s+\w+\s+cov: (\d+).*?corp: (\d+)", re.MULTILINE)


def fuzz(name: str, finds: Path, corpus: Path, seconds: int) -> None:
    """Fuzz one reader in this process, which ends with it."""
    import atheris

    # Only what is imported under it is watched, so nothing of hierdata may have been imported before.
    with atheris.instrument_imports(include=["hierdata.documents.formats", "hierdata.documents.document"]):
        from tests.benchmarks.readers import LENGTH, look

    options = [f"-max_total_time={seconds}", f"-rss_limit_mb={MEGABYTES}", f"-timeout={SECONDS_OF_ONE}"]
    options += [f"-max_len={LENGTH}", f"-artifact_prefix={finds}/{name}-"]
    atheris.Setup([sys.argv[0], *options, str(corpus)], lambda data: look(name, data))
    atheris.Fuzz()


def run(name: str, finds: Path, seconds: int) -> tuple[int, int, int, int]:
    """Fuzz one reader in a process of its own: inputs tried, places reached, inputs kept, finds."""
    from tests.benchmarks.readers import seeds

    before = {*finds.iterdir()}
    with tempfile.TemporaryDirectory() as corpus:
        for number, data in enumerate(seeds(name)):
            (Path(corpus) / str(number)).write_bytes(data)
        command = [sys.executable, "-m", "tests.benchmarks.fuzz", "--reader", name, "--corpus", corpus]
        command += ["--finds", str(finds), "--seconds", str(seconds)]
        ended = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    told = _STATISTICS.findall(ended.stderr)
    if not told:
        raise SystemExit(f"the fuzzer did not start:\n{ended.stderr[-2000:]}")
    found = {*finds.iterdir()} - before
    if found:
        sys.stderr.write(ended.stderr[-3000:])
    tried, reached, kept = map(int, told[-1])
    return tried, reached, kept, len(found)


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--formats", nargs="+", help="the readers, by default all")
    options.add_argument("--seconds", type=int, default=60, help="for each reader")
    options.add_argument("--finds", type=Path, default=Path("finds"), help="a folder for what was found")
    options.add_argument("--reader", help=argparse.SUPPRESS)
    options.add_argument("--corpus", type=Path, help=argparse.SUPPRESS)
    return options


def main(argv: list[str] | None = None) -> None:
    stated = parser().parse_args(argv)
    if stated.reader:
        fuzz(stated.reader, stated.finds, stated.corpus, stated.seconds)
        return
    if importlib.util.find_spec("atheris") is None:
        raise SystemExit("atheris is not installed: pip install 'hierdata[fuzz]'")
    from hierdata.documents.formats import FORMATS
    from tests.benchmarks.engine import header, row

    stated.finds.mkdir(exist_ok=True)
    header(f"Readers fuzzed for {stated.seconds} s each", "format", "inputs", "reached", "kept", "finds")
    for name in stated.formats or FORMATS:
        row(name, *(f"{figure:,}" for figure in run(name, stated.finds, stated.seconds)))


if __name__ == "__main__":
    main()
