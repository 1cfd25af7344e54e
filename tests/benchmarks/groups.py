"""What one group id costs: ``python -m tests.benchmarks.groups`` prints a table.

Classes by quasi-identifiers alone, classes under the same models by engines that look at both, and the groups
of msb merged by kaca, on the task of ``tests.benchmarks.tables``: Adult without missing values, eight
quasi-identifiers, occupation sensitive. Without the data beside the project a synthetic table stands in.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from hierdata.engines import ENGINES
from hierdata.engines.rows.table import class_sizes, losses_of
from hierdata.forest.forest import Scope
from hierdata.forest.partition import SUPPRESSED
from hierdata.policy.plan.stages import Stage
from tests.benchmarks.adult import SENSITIVE, WITHOUT_MISSING, encoded, policy, table
from tests.benchmarks.engine import header, row

K: dict[str, Any] = {"kind": "k-anonymity", "k": 5}
L: dict[str, Any] = {"kind": "frequency-l-diversity", "l": 3}
RUNS = [
    (["kaca"], [K]),
    (["mondrian"], [K]),
    (["kaca"], [K, L]),
    (["mondrian"], [K, L]),
    (["msb", "kaca"], [K, L]),
]


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, help="only the first rows")
    return options


def main(argv: list[str] | None = None) -> None:
    own = table(WITHOUT_MISSING, parser().parse_args(argv).rows)
    header(
        f"Groups of l = 3 merged to classes of k = 5 ({SENSITIVE} sensitive)",
        *("steps", "models", "s", "NCP", "suppressed", "classes", "largest"),
    )
    for names, models in RUNS:
        steps = tuple(ENGINES[name](kind=name) for name in names)
        data = encoded(own, policy(SENSITIVE, models, "kaca"))
        forest, scope = data.forest, Scope.of(data.forest)
        start, partition = time.perf_counter(), None
        for step, constraints in Stage(0, steps, data.prepared.constraints).work():
            partition = step.step(forest, scope, constraints, partition, np.random.default_rng(1))
        seconds = time.perf_counter() - start
        assert partition is not None
        classes = partition.class_of
        gone = int((classes == SUPPRESSED).sum())
        width = len(forest.hierarchies[0])
        lost = losses_of(forest, scope, classes).sum() / forest.scale + gone * width
        row(
            ", ".join(names),
            ", ".join(model["kind"] for model in models),
            f"{seconds:.1f}",
            f"{lost / (len(classes) * width):.4f}",
            gone,
            partition.class_count,
            int(class_sizes(classes).max()),
        )


if __name__ == "__main__":
    main()
