"""Full-domain optima of Adult: ``python -m tests.benchmarks.lattice`` prints and asserts them.

They were worked out by another tool over all 4,320 nodes of the lattice: NCP (leaves - 1) / (all leaves - 1),
suppressed rows count 1, t against the original with them.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hierdata.engines.base import StepInput
from hierdata.engines.full_domain.engine import FullDomain
from hierdata.forest.encoding import encode
from hierdata.forest.forest import Forest, Scope
from hierdata.metrics import METRICS
from hierdata.policy.load import from_data
from hierdata.policy.plan.plan import Prepared, prepare
from hierdata.records.binding import bind
from hierdata.records.survey import survey
from hierdata.sources import collect
from tests.benchmarks import adult
from tests.benchmarks.engine import header, row
from tests.publications import publication_of

K: dict[str, Any] = {"kind": "k-anonymity", "k": 5}
MODELS: dict[str, list[dict[str, Any]]] = {
    "k = 5": [K],
    "k = 5, 4 distinct": [K, {"kind": "distinct-l-diversity", "l": 4}],
    "k = 5, t = 0.2 hierarchical": [K, {"kind": "t-closeness", "t": "0.2", "distance": "hierarchical"}],
    "k = 5, t = 0.2 equal": [K, {"kind": "t-closeness", "t": "0.2", "distance": "equal"}],
}
OPTIMA: dict[str, dict[str, tuple[str, int]]] = {
    "k = 5": {
        "0": ("0.62500", 0),
        "0.02": ("0.27717", 506),
        "0.05": ("0.17834", 1_346),
        "1": ("0.16902", 2_848),
    },
    "k = 5, 4 distinct": {
        "0": ("0.67915", 0),
        "0.02": ("0.28562", 520),
        "0.05": ("0.22031", 980),
        "1": ("0.18983", 2_881),
    },
    "k = 5, t = 0.2 hierarchical": {
        "0": ("0.80415", 0),
        "0.02": ("0.78530", 151),
        "0.05": ("0.67495", 1_384),
        "1": ("0.54387", 7_271),
    },
    "k = 5, t = 0.2 equal": {
        "0": ("0.92915", 0),
        "0.02": ("0.83969", 235),
        "0.05": ("0.83969", 235),
        "1": ("0.64349", 8_156),
    },
}
"""NCP to five digits and the rows suppressed, by the models and the limit."""


@dataclass(frozen=True)
class Encoded:
    """Adult as a run sees it."""

    prepared: Prepared
    forest: Forest


def encoded(name: str) -> Encoded:
    """The table under some models, occupation with its hierarchy."""
    policy = adult.policy(adult.SENSITIVE, MODELS[name], None, recoding="full_domain")
    plain: dict[str, Any] = policy.model_dump(mode="json", by_alias=True, exclude_unset=True)
    plain["fields"][f"$['{adult.SENSITIVE}']"]["taxonomy"] = str(adult.hierarchy(adult.SENSITIVE))
    policy = from_data(plain)
    collection = collect(adult.folder() / adult.WITHOUT_MISSING, policy)
    prepared = prepare(policy, survey(collection.documents(), policy.declared_fields()))
    records = bind(collection.documents(), prepared.binding)
    return Encoded(prepared, encode(records, prepared.schema, prepared.hierarchies, prepared.domains))


def reached(data: Encoded, limit: str) -> tuple[float, int]:
    """NCP of the best node under a limit, and the rows that it suppresses."""
    (stage,) = data.prepared.stages
    engine = FullDomain(suppression=Fraction(limit))
    scope, rng = Scope.of(data.forest), np.random.default_rng(1)
    partition = engine.find_classes(StepInput(data.forest, scope, stage.constraints, None, rng))
    figures = METRICS["lm_cost"]().of(publication_of(data.forest, partition), data.forest)
    (loss,) = (float(figure.value) for figure in figures if figure.name == "per_value")
    return loss, int((partition.equivalence_class < 0).sum())


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", default="", help="models whose name has this text")
    options.add_argument("--print-only", action="store_true", help="for a table that is not Adult")
    return options


def main(argv: list[str] | None = None) -> None:
    asked = parser().parse_args(argv)
    if not adult.is_there():
        sys.exit("the Adult table does not lie beside the repository: nothing can be compared")
    header("Full domain on Adult, the optima of 4,320 nodes", "models", "limit", "NCP", "suppressed", "CPU s")
    for name in (own for own in OPTIMA if asked.only in own):
        data = encoded(name)
        reached(data, "1")  # compiles, where the cache is empty
        for limit, expected in OPTIMA[name].items():
            start = time.process_time()
            loss, suppressed = reached(data, limit)
            seconds = time.process_time() - start
            row(name, limit, f"{loss:.5f}", f"{suppressed:,}", f"{seconds:.2f}")
            if not asked.print_only and (f"{loss:.5f}", suppressed) != expected:
                sys.exit(f"the optimum is {expected[0]} with {expected[1]:,} rows suppressed")


if __name__ == "__main__":
    main()
