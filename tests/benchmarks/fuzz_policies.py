"""Policies at random and small collections: ``python -m tests.benchmarks.fuzz_policies`` prints a table.

A find is a policy that ends in anything but an error of hierdata, or takes longer than ``--bound`` seconds.
Finds are written to the folder ``--finds``; each becomes a test together with its mend.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any, NoReturn

import hierdata
from hierdata.policy.load import from_data
from tests.benchmarks.engine import header, row
from tests.random_policies import PolicyMaker, records


class TookTooLongError(Exception):
    """A policy took longer than its bound."""


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Raise TookTooLongError after some seconds."""

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        raise TookTooLongError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def outcome(policy: dict[str, Any], draws: Random, seconds: float) -> str:
    """Run a policy; return the name of what it ends in. Raises whatever is no error of hierdata."""
    with bounded(seconds):
        try:
            from_data(policy)
        except hierdata.PolicyError as refused:
            str(refused)
            return "no policy"
        try:
            hierdata.anonymize(records(draws), policy)
        except hierdata.HierdataError as error:
            return type(error).__name__
    return "published"


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=int, default=300)
    options.add_argument("--bound", type=float, default=60, help="seconds of one policy at most")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--finds", type=Path, default=Path("finds"), help="a folder for what was found")
    return options


def main(argv: list[str] | None = None) -> None:
    stated = parser().parse_args(argv)
    stated.finds.mkdir(exist_ok=True)
    draws = Random(stated.seed)
    maker = PolicyMaker(draws)
    ended: Counter[str] = Counter()
    begun = time.monotonic()
    while time.monotonic() - begun < stated.seconds:
        policy = maker.make()
        try:
            ended[outcome(policy, draws, stated.bound)] += 1
        except Exception as error:  # noqa: BLE001  whatever it is, it is a find
            ended["finds"] += 1
            name = f"policy-{stated.seed}-{sum(ended.values())}"
            (stated.finds / f"{name}.json").write_text(json.dumps(policy), "utf-8")
            sys.stderr.write(f"{name}: {type(error).__name__}: {str(error)[:200]}\n")
    header(f"Policies at random for {stated.seconds} s", "ended in", "policies")
    for name, count in sorted(ended.items()):
        row(name, f"{count:,}")


if __name__ == "__main__":
    main()
