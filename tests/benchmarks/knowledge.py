"""What bounded knowledge loses: ``python -m tests.benchmarks.knowledge [NAME ...]`` prints a table.

Each collection is released under ``bounded-knowledge`` with k = 5 and m = 1, 2, 3, and with the clause of
whole vertices at m = 2. LM a value is over all quasi-identifier values; beside it is the mean LM of the
attributes, since the few values of the record itself hardly count in the former. ``--weights unit`` gives all
values the weight 1, ``default`` the weights of a policy that states none. The share of a value that the input
lacks is 0. ``--alpha 1/2`` also bounds, by value, the sensitive values that at most 30 % of the records have.
Seconds are CPU seconds of the whole command, in one process: read, search, write, judge, report.
Real collections are skipped where they do not lie beside the repository.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import hierdata
from hierdata.ground.errors import HierdataError
from hierdata.policy.load import from_data, read_file
from hierdata.policy.policy import Policy
from hierdata.reproduction.small_data import encode_records
from tests.benchmarks.collections import policy_for, written
from tests.benchmarks.engine import header, row
from tests.benchmarks.real_collections import COLLECTIONS, POLICIES

FIXTURES = Path(__file__).parents[2] / "fixtures"
RARE = Fraction(3, 10)
SYNTHETIC = {"A": 10_000, "B": 1_000}
NAMES = ("students", *SYNTHETIC, "oulad", "diabetes130")
CELLS = (
    *("collection", "records", "m", "clause", "LM per value", "mean of attributes"),
    *("kept", "vertices removed", "root classes", "CPU s"),
)


def input_of(name: str, folder: Path, records: int | None) -> tuple[Path, dict[str, Any], Path]:
    """The file of a collection, its policy as plain data without an engine, and the policy's folder."""
    if name == "students":
        policy = FIXTURES / "policies" / "students-multilevel.yaml"
        return FIXTURES / "students" / "students.jsonl", read_file(policy).data, policy.parent
    if name in SYNTHETIC:
        file = written(folder, name, records or SYNTHETIC[name])
        stated = policy_for(file, preset="").model_dump(mode="json", by_alias=True, exclude_unset=True)
        return file, stated, folder
    own = COLLECTIONS[name]
    return own.input(folder, records), own.policy(), POLICIES


def knowing(stated: dict[str, Any], folder: Path, weights: str, **model: Any) -> Policy:
    """The policy with bounded knowledge as its only model."""
    fields = {
        path: {**rule, "weight": 1} if weights == "unit" and is_weighed(rule) else rule
        for path, rule in stated["fields"].items()
    }
    if model.get("alpha") is not None:
        for path, rule in fields.items():
            if rule.get("role") == "sensitive" and "action" not in rule and path in model["values"]:
                fields[path] = {**rule, "asks": "value"}
    models = [{"kind": "bounded-knowledge", "k": 5, **model}]
    kept = {
        key: own for key, own in stated.items() if key not in ("engine", "preset", "effort", "suppressed")
    }
    return from_data({**kept, "models": models, "fields": fields}, folder)


def rare_values(source: Path, policy: Policy) -> dict[str, list[Any]]:
    """By sensitive path the values that at most RARE of the records have, in any vertex."""
    with source.open(encoding="utf-8") as lines:
        forest = encode_records((json.loads(line, parse_float=Decimal) for line in lines), policy).forest
    found = {}
    for kind in forest.schema.types:
        vertices = np.flatnonzero(forest.type == kind.index)
        for at, attribute in enumerate(kind.sensitive):
            codes = forest.sensitive[forest.first_sensitive[vertices] + at]
            pairs = np.unique(np.stack([forest.record_of[vertices], codes], 1)[codes >= 0], axis=0)
            counts = np.bincount(pairs[:, 1])
            rare = np.flatnonzero((counts > 0) & (counts <= RARE * forest.record_count))
            found[attribute.path] = [forest.domains[kind.index][at].values[code] for code in rare.tolist()]
    return {path: values for path, values in found.items() if values}


def is_weighed(rule: dict[str, Any]) -> bool:
    """Whether a field has a weight: quasi-identifiers that are published."""
    return rule.get("role") == "quasi" and "action" not in rule


def measure(name: str, source: Path, policy: Policy, m: int, clause: str) -> None:
    """A line of the table."""
    start = time.process_time()
    try:
        release = hierdata.anonymize(source, policy, seed=bytes(16), resources=hierdata.Resources("serial"))
    except HierdataError as error:
        row(name, "", m, clause, f"refused: {error}", *("" for _ in CELLS[5:]))
        return
    report = release.report
    lost = [
        1 - Fraction(own.kept.exact)
        for path, own in report.kept.fields.items()
        if path in policy_quasi(policy)
    ]
    row(
        *(name, f"{report.counts.records.input:,}", m, clause),
        *(f"{report.metrics['lm_cost'].per_value:.4f}", f"{float(sum(lost) / len(lost)):.4f}"),
        f"{report.metrics['kept'].total:.4f}",
        f"{sum(one.suppressed for one in report.counts.vertices.values()):,}",
        *(f"{report.counts.classes:,}", f"{time.process_time() - start:.1f}"),
    )
    sys.stdout.flush()


def policy_quasi(policy: Policy) -> set[str]:
    """The paths of the quasi-identifiers."""
    return {str(policy.rules_by_keys[keys][0]) for keys in policy.quasi}


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all if none")
    options.add_argument("--weights", choices=["unit", "default"], default="unit")
    options.add_argument("--records", type=int, help="only so many of each")
    options.add_argument("--alpha", type=Fraction, help="the largest share of values that are not common")
    options.add_argument("--m", type=int, action="append", choices=[1, 2, 3], help="only this m")
    options.add_argument("--clause", choices=["off", "whole"], help="only without or with whole vertices")
    return options


def main(argv: list[str] | None = None) -> None:
    asked = parser().parse_args(argv)
    if unknown := sorted(set(asked.names) - set(NAMES)):
        parser().error(f"no such collection: {', '.join(unknown)}")
    header(f"Bounded knowledge, k = 5, {asked.weights} weights", *CELLS)
    for name in asked.names or NAMES:
        if name in COLLECTIONS and not COLLECTIONS[name].is_there():
            sys.stdout.write(f"{name} is skipped: it does not lie beside the repository.\n")
            continue
        with tempfile.TemporaryDirectory() as temporary:
            source, stated, folder = input_of(name, Path(temporary), asked.records)
            bounds = {}
            if asked.alpha is not None:
                rare = rare_values(source, knowing(stated, folder, asked.weights, m=1))
                bounds = {"alpha": str(asked.alpha), "values": rare}
            for m, clause in ((1, "off"), (2, "off"), (3, "off"), (2, "whole")):
                if m in (asked.m or (1, 2, 3)) and asked.clause in (None, clause):
                    policy = knowing(stated, folder, asked.weights, m=m, vertex=clause, **bounds)
                    measure(name, source, policy, m, clause)


if __name__ == "__main__":
    main()
