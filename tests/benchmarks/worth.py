"""What a search by worth publishes, compared with one by LM: ``python -m tests.benchmarks.worth [NAME ...]``.

Each collection is released twice under one policy, by the engines that are used where a policy names none:
once they minimize LM, as presets do, once what is not kept. All sensitive values are read one by one
(``asks: value``). The table shows by vertex type how many vertices are published, and what is kept.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import hierdata
from hierdata.forest.encoded import Frame
from hierdata.policy.load import read_file
from hierdata.policy.plan.plan import Prepared
from hierdata.release.report.models import StewardReport
from hierdata.release.report.wording import percent, share
from tests.benchmarks.engine import header, row
from tests.benchmarks.real_collections import COLLECTIONS

FIXTURES = Path(__file__).parents[2] / "fixtures"
BUNDLED = {
    "patients": ("patients/patients.jsonl", "policies/patients.yaml"),
    "students": ("students/students.jsonl", "policies/students-multilevel.yaml"),
}
REAL = ("diabetes130", "travel_survey", "ccda_xml")
CELLS = (
    "collection",
    "minimized",
    "vertex type",
    "published",
    "share",
    "kept",
    "kept in all",
    "LM per value",
    "CPU s",
)


def inputs(name: str, target: Path, records: int | None) -> tuple[Path, dict[str, Any]]:
    """The input and the policy without an engine; taxonomies that it names are copied beside ``target``."""
    if name not in BUNDLED:
        own = COLLECTIONS[name]
        return own.input(target, records or own.part), own.policy()
    source, policy = (FIXTURES / one for one in BUNDLED[name])
    shutil.copytree(FIXTURES / "taxonomies", target.parent / "taxonomies")
    stated = read_file(policy).data
    return source, {key: own for key, own in stated.items() if key != "engine"}


def asking_values(stated: dict[str, Any], weights: dict[str, float]) -> dict[str, Any]:
    """The policy with every sensitive value read by itself, and with some weights."""
    fields = {}
    for path, rule in stated["fields"].items():
        asks = {"asks": "value"} if rule.get("role") == "sensitive" and "action" not in rule else {}
        weight = {"weight": weights[path]} if path in weights else {}
        fields[path] = {**rule, **asks, **weight}
    return {**stated, "fields": fields}


def by_lm(prepared: Prepared) -> Frame:
    """The frame of a search that minimizes LM, as with a preset; what is kept is measured all the same."""
    return Frame(prepared.schema, prepared.hierarchies, prepared.domains, prepared.worth, None)


def released(source: Path, policy: Path, *, lm: bool) -> tuple[StewardReport, float]:
    """The report of a release, and its CPU seconds."""
    start = time.process_time()
    with patch.object(Prepared, "frame", property(by_lm) if lm else Prepared.frame):
        release = hierdata.anonymize(source, policy, seed=bytes(16), resources=hierdata.Resources("serial"))
    return release.report, time.process_time() - start


def lines(name: str, minimized: str, report: StewardReport, seconds: float) -> Iterator[tuple[object, ...]]:
    """The lines of a release, one for each vertex type."""
    total = share(report.metrics["kept"].total)
    for path, tally in report.counts.vertices.items():
        kept = report.kept.vertices.get(path)
        yield (
            *(name, minimized, path, f"{tally.published:,} of {tally.input:,}"),
            *(percent(tally.published, tally.input), "" if kept is None else share(kept.kept.value)),
            *(total, f"{report.metrics['lm_cost'].per_value:.4f}", f"{seconds:.1f}"),
        )


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join((*BUNDLED, *REAL))}")
    options.add_argument("--records", type=int, help="only the first of each real collection")
    options.add_argument("--weight", action="append", default=[], metavar="PATH=WEIGHT")
    return options


def main(argv: list[str] | None = None) -> None:
    asked = parser().parse_args(argv)
    weights = {path: float(weight) for path, weight in (one.rsplit("=", 1) for one in asked.weight)}
    header("Published and kept, by LM and by worth", *CELLS)
    for name in asked.names or (*BUNDLED, *REAL):
        if name in COLLECTIONS and not COLLECTIONS[name].is_there():
            row(name, "skipped: it does not lie beside the repository", *("" for _ in CELLS[2:]))
            continue
        with tempfile.TemporaryDirectory() as temporary:
            target = Path(temporary) / name
            target.mkdir()
            source, stated = inputs(name, target, asked.records)
            policy = target / "policy.yaml"
            policy.write_text(json.dumps(asking_values(stated, weights), default=str))
            for minimized, lm in (("LM", True), ("worth", False)):
                for cells in lines(name, minimized, *released(source, policy, lm=lm)):
                    row(*cells)
                sys.stdout.flush()


if __name__ == "__main__":
    main()
