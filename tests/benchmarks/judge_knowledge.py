"""What judging bounded knowledge takes: ``python -m tests.benchmarks.judge_knowledge`` prints a table.

Each line is a process of its own, which judges made-up published records under three known facts: of many
persons with twenty values, and of one with as many as are asked. All have one root vector, so that their
patterns are counted together; each record is there five times. The widest record of 460 values has 16 million
combinations of three. ``--alpha`` also bounds the shares of a sensitive value at each item. Seconds are CPU
seconds; ``MB`` is the peak of the process, ``before`` what it was when reading began.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from math import comb
from random import Random
from typing import Any

from hierdata.judge import judge_counted
from hierdata.pipeline.judging import judge_rules
from hierdata.policy.plan.compared import stated_scales
from hierdata.policy.policy import Policy
from tests.benchmarks.engine import header, row

FACTS = 20
CODES = 2_000
COPIES = 5
M = 3


def published(persons: int, widest: int) -> Iterator[tuple[Any, int]]:
    """Records with the number of their copies, the widest one last."""
    rng = Random(1)
    for size in (*(FACTS for _ in range(persons)), widest):
        codes = sorted(rng.sample(range(CODES), size))
        items = [{"code": f"{code:04}", "grade": rng.randrange(10)} for code in codes]
        yield {"group": "*", "items": items}, COPIES


def judged(persons: int, widest: int, *, alpha: bool) -> tuple[float, float, float]:
    """CPU seconds of judging, and megabytes before and at most."""
    model: dict[str, Any] = {"kind": "bounded-knowledge", "k": COPIES, "m": M, "vertex": "off"}
    fields: dict[str, Any] = {
        path: {"role": "quasi", "flat": True} for path in ("$.group", "$.items[*].code")
    }
    fields["$.items[*].grade"] = {"role": "sensitive", "asks": "value"}
    if alpha:
        model["alpha"] = 1
    policy = Policy.model_validate({"version": 1, "models": [model], "fields": fields})
    rules = judge_rules(policy, stated_scales(policy), {})
    before, start = peak(), time.process_time()
    verdict = judge_counted(published(persons, widest), rules)
    seconds = time.process_time() - start
    assert verdict.passed
    achieved = verdict.judgements[0].achieved
    assert achieved[f"k_{M}"] == COPIES
    assert ("alpha" in achieved) == alpha
    return seconds, before, peak()


def peak() -> float:
    """The most megabytes that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--persons", type=int, default=2_000, help="beside the widest")
    options.add_argument(
        "--widest", type=int, nargs="+", default=[FACTS, 200, 460], help="values of the widest"
    )
    options.add_argument("--alpha", action="store_true", help="bound shares of a sensitive value too")
    options.add_argument(
        "--here", action="store_true", help="judge in this process, and print figures as JSON"
    )
    return options


def main(argv: list[str] | None = None) -> None:
    asked = parser().parse_args(argv)
    if asked.here:
        sys.stdout.write(json.dumps(judged(asked.persons, asked.widest[0], alpha=asked.alpha)))
        return
    header(
        f"Judging bounded knowledge, m = {M}",
        *("records", "widest", "its patterns of 3", "all patterns of 3", "CPU s", "MB before", "MB"),
    )
    for widest in asked.widest:
        command = [sys.executable, "-m", "tests.benchmarks.judge_knowledge", "--here"]
        command += ["--persons", str(asked.persons), "--widest", str(widest)]
        command += ["--alpha"] if asked.alpha else []
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        seconds, before, most = json.loads(done.stdout)
        every = comb(widest, 3) + asked.persons * comb(FACTS, 3)
        row(
            *(f"{asked.persons + 1:,}", widest, f"{comb(widest, 3):,}", f"{every:,}"),
            *(f"{seconds:.1f}", f"{before:.0f}", f"{most:.0f}"),
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
