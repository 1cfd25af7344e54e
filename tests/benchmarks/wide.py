"""Wide records, patients of about 112 vertices: ``python -m tests.benchmarks.wide`` prints a table.

The search of the default engines is compared with the preset ClusTree on the same records. ``--flat`` puts
encounters and all that lies below them into one list of a record, so that its items are matched with each
other. ``--whole N`` measures the whole command on N patients, from JSON Lines to a verified release.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from hierdata.engines import Engine
from hierdata.engines.base import StepInput
from hierdata.forest.forest import Scope
from hierdata.metrics import METRICS
from hierdata.policy.load import from_data, load
from hierdata.synth import Companions, beside_patients, patients, write
from tests.benchmarks.collections import Encoded, encoded
from tests.benchmarks.engine import header, row
from tests.benchmarks.scale import figure, measured
from tests.publications import publication_of

_NAMES = {
    "conditions": "condition", "procedures": "procedure", "medications": "medication",
    "observations": "observation",
}  # fmt: skip
_FLAT_FIELDS = {
    "$.id": {"role": "identifier", "action": "drop"},
    "$.birth_date": {"role": "quasi", "date": {"steps": ["month", "year", "decade"]}},
    "$.postal_code": {"role": "quasi", "prefix": {"keep": [5, 3, 2, 1]}},
    "$.sex": {"role": "quasi", "flat": True},
    "$.entries[*].kind": {"role": "quasi", "flat": True},
    "$.entries[*].start": {"role": "quasi", "date": {"steps": ["month", "year", "decade"]}},
    "$.entries[*].code": {"role": "quasi", "flat": True},
    "$.entries[*].result": {"role": "sensitive"},
}


def flattened(patient: dict[str, Any]) -> dict[str, Any]:
    """The patient with encounters and all below them as entries of one list."""
    entries = []
    for encounter in patient["encounters"]:
        entries.append({"kind": "encounter", "start": encounter["start"], "code": encounter["class"]})
        for name, kind in _NAMES.items():
            entries += [{"kind": kind, "start": encounter["start"], **item} for item in encounter[name]]
    return {name: value for name, value in patient.items() if name != "encounters"} | {"entries": entries}


def written(folder: Path, records: int, encounters: tuple[int, int]) -> Path:
    """Write patients, with their policy beside them."""
    file = folder / "patients.jsonl"
    write(patients(records, 1, encounters), file, beside_patients())
    return file


def prepared(file: Path, preset: str, flat: bool) -> tuple[Encoded, tuple[Engine, ...]]:
    """The patients of a file ready for the search, and its steps; no preset is the default."""
    policy = load(file.with_suffix(".policy.yaml"))
    stated = policy.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if preset:
        stated["engine"] = {"preset": preset}
    if flat:
        stated["fields"] = _FLAT_FIELDS
    policy = from_data(stated, policy.folder)
    data = encoded(file, policy)
    return data, data.prepared.stages[0].steps


def searched(data: Encoded, steps: tuple[Engine, ...]) -> Iterator[object]:
    """CPU seconds of the search, kept, LM per value, records lost, and published shares of vertex types."""
    forest, partition, rng = data.forest, None, np.random.default_rng(1)
    start = time.process_time()
    for step in steps:
        partition = step.find_classes(
            StepInput(forest, Scope.of(forest), data.prepared.constraints, partition, rng)
        )
    assert partition is not None
    yield time.process_time() - start
    publication = publication_of(forest, partition)
    (kept,) = METRICS["kept"]().of(publication, forest)
    yield f"{100 * float(kept.value):.1f} %"
    total = METRICS["lm_cost"]().of(publication, forest)[0]
    yield f"{float(total.value) / int(forest.quasi_count.sum()):.3f}"
    yield int((partition.equivalence_class < 0).sum())
    shown = partition.representative >= 0
    yield ", ".join(
        f"{100 * float(shown[forest.type == kind.index].mean()):.0f}" for kind in forest.schema.types[1:]
    )


def compare(folder: Path, records: int, encounters: tuple[int, int], flat: bool) -> None:
    file = written(folder, records, encounters)
    if flat:
        file = folder / "flat.jsonl"
        policy = Companions(beside_patients().policy, {})  # ``prepared`` replaces its fields
        write(map(flattened, patients(records, 1, encounters)), file, policy)
    shape = "one list" if flat else "nested"
    header(
        f"{records:,} patients of {encounters[0]} to {encounters[1]} encounters, {shape}",
        *("engine", "vertices a record", "CPU s", "ratio", "kept", "LM per value", "records lost"),
        "vertices published %",
    )
    base = 0.0
    for preset in ("ClusTree", ""):
        data, steps = prepared(file, preset, flat)
        for _ in range(2):  # the first may compile
            seconds, *rest = searched(data, steps)
        assert isinstance(seconds, float)
        base = base or seconds
        mean = data.forest.vertex_count / records
        row(preset or "default", f"{mean:.0f}", f"{seconds:.2f}", f"{seconds / base:.1f}", *rest)


def whole(folder: Path, records: int, encounters: tuple[int, int]) -> None:
    """Measure the whole command on two workers."""
    file, out = written(folder, records, encounters), folder / "release"
    command = [sys.executable, "-m", "hierdata", "anonymize", str(file)]
    command += ["--policy", str(file.with_suffix(".policy.yaml")), "--out", str(out)]
    command += ["--executor", "processes", "--workers", "2", "--quiet"]
    found = measured(command, out)
    header("The whole command, two workers", "patients", "seconds", "peak MiB", "LM per value")
    loss = figure(found.report, "metrics", "lm_cost", "per_value")
    row(f"{records:,}", f"{found.seconds:.0f}", f"{found.peak / 2**20:.0f}", f"{loss:.3f}")


def parser() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--records", type=int, default=600)
    arguments.add_argument("--encounters", type=int, nargs=2, default=[1, 160])
    arguments.add_argument("--flat", action="store_true", help="all entries of a record are one list")
    arguments.add_argument("--whole", type=int, default=0, help="measure the command on so many patients")
    return arguments


def main(argv: list[str] | None = None) -> None:
    options = parser().parse_args(argv)
    encounters = (options.encounters[0], options.encounters[1])
    with tempfile.TemporaryDirectory() as temporary:
        if options.whole:
            whole(Path(temporary), options.whole, encounters)
        else:
            compare(Path(temporary), options.records, encounters, options.flat)


if __name__ == "__main__":
    main()
