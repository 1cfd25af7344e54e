"""Random worlds over all models and recodings: ``python -m tests.benchmarks.ends_of_runs`` prints a table.

A run that ends in anything but a release or a refusal is a find: its number is printed, and the command exits
with 1. A hundred worlds run in the full tier.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from tests.adversarial.ends_of_runs import WAYS, describe_end
from tests.adversarial.random_releases import tables
from tests.benchmarks.engine import header, row

ENDS = ("published", "PromiseError", "PolicyError", "find")


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--worlds", type=int, default=2000)
    options.add_argument("--first", type=int, default=0, help="the number of the first world")
    return options


def main(argv: list[str] | None = None) -> None:
    stated = parser().parse_args(argv)
    ended: Counter[tuple[str, str]] = Counter()
    for number in range(stated.first, stated.first + stated.worlds):
        try:
            ended[describe_end(number)] += 1
        except Exception as error:  # noqa: BLE001  whatever it is, it is a find
            ended[WAYS[number % len(WAYS)], "find"] += 1
            sys.stderr.write(f"world {number}: {type(error).__name__}: {str(error)[:200]}\n")
    tables().cleanup()
    tables.cache_clear()
    header(f"{stated.worlds:,} random worlds", "recoding or model", *ENDS)
    for way in WAYS:
        row(way, *(ended[way, end] for end in ENDS))
    if any(end == "find" for _, end in ended):
        sys.exit(1)


if __name__ == "__main__":
    main()
