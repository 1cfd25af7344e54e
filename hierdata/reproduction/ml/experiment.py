"""The experiment of ML section 5: MLevCluTree and ClusTree on data sets A and B, with our engine beside."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from hierdata.forest.encoding import encode
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.publication import PublishedPart, publish_generalized
from hierdata.metrics import METRICS
from hierdata.policy.load import from_data, load
from hierdata.policy.plan.plan import prepare
from hierdata.policy.plan.stages import default_engines
from hierdata.policy.policy import Policy
from hierdata.records.binding import bind
from hierdata.records.survey import Survey, survey
from hierdata.sources import collect
from hierdata.synth import beside_students, students, write

DEPTHS = {"A": 2, "B": 3}
"""The data sets: A has students and courses (h = 2), B also instructors (h = 3)."""
CORRELATION = 0.8
"""How far courses follow majors in the synthetic data sets."""
PAPER, BASELINE = "MLevCluTree", "ClusTree"
OURS, OURS_BASELINE = "default engine, alpha", "default engine, l"


@dataclass(frozen=True)
class Algorithm:
    """What is compared: a model, the name of its parameter, and a preset (None: the default engines)."""

    model: str
    letter: str
    preset: str | None


ALGORITHMS = {
    PAPER: Algorithm("level-alpha-k", "k", "MLevCluTree"),
    BASELINE: Algorithm("frequency-l-diversity", "l", "ClusTree"),
    OURS: Algorithm("level-alpha-k", "k", None),
    OURS_BASELINE: Algorithm("frequency-l-diversity", "l", None),
}
"""The algorithms by the name in figures."""
_WARM = 40
"""Records of the run that only compiles."""


def measure_algorithms(data_set: str, skew: float, k: int, records: int, seed: int) -> dict[str, Any]:
    """Run each algorithm on one synthetic data set and return its figures by algorithm, and the levels.

    ``loss`` is LM a record, suppressed records in full. ``dissimilarity`` is as printed (equations 6 and 7
    with siblings as aligned), None if no class is published. ``suppressed`` is the share of records.
    ``seconds`` are CPU seconds of the search, after compiling. ``levels`` are the shares of the sensitivity
    levels 1 to 5.
    """
    _warm_up(data_set)
    return _measure(data_set, skew, k, records, seed)


@cache
def _warm_up(data_set: str) -> None:
    """Compile, or load what is compiled, once a process."""
    _measure(data_set, 0.5, 3, _WARM, 1)


def _measure(data_set: str, skew: float, k: int, records: int, seed: int) -> dict[str, Any]:
    depth = DEPTHS[data_set]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "students.jsonl"
        write(students(records, depth, seed, CORRELATION, skew), file, beside_students(depth))
        written = load(file.with_suffix(".policy.yaml"))
        collection = collect(file, written)
        surveyed = survey(collection.documents(), written.declared_fields())
        prepared = prepare(written, surveyed)
        bound = bind(collection.documents(), prepared.binding)
        forest = encode(bound, prepared.schema, prepared.hierarchies, prepared.domains)
        found: dict[str, Any] = {
            name: _run(forest, _policy(written, k, algorithm), surveyed, seed)
            for name, algorithm in ALGORITHMS.items()
        }
    found["levels"] = _shares_of_levels(forest)
    return found


def _policy(written: Policy, k: int, algorithm: Algorithm) -> Policy:
    """Return the policy of the data set with the model of an algorithm, and its preset."""
    stated = written.model_dump(mode="json", by_alias=True, exclude_unset=True)
    stated.pop("engine", None)
    stated["models"] = [{"kind": algorithm.model, algorithm.letter: k}]
    if algorithm.preset is not None:
        stated["engine"] = {"preset": algorithm.preset}
    return from_data(stated, written.folder)


def _run(forest: Forest, policy: Policy, surveyed: Survey, seed: int) -> dict[str, float | None]:
    """Search, and measure the classes."""
    prepared = prepare(policy, surveyed)
    steps = policy.steps or default_engines(policy, prepared.schema, prepared.constraints)
    partition, rng = None, np.random.default_rng(seed)
    start = time.process_time()
    for step in steps:
        partition = step.step(forest, Scope.of(forest), prepared.constraints, partition, rng)
    seconds = time.process_time() - start
    assert partition is not None
    publication = publish_generalized(forest, partition, PublishedPart("records", lambda: iter(()), 0))
    loss = float(METRICS["lm_cost"]().of(publication, forest)[0].value)
    degrees = {own.name: own for own in METRICS["dissimilarity_degree"]().of(publication, forest)}
    published = bool((partition.equivalence_class >= 0).any())
    return {
        "loss": loss / forest.record_count,
        "dissimilarity": float(degrees["as_printed"].value) if published else None,
        "suppressed": float((partition.equivalence_class < 0).mean()),
        "seconds": seconds,
    }


def _shares_of_levels(forest: Forest) -> list[float]:
    """Return the shares of the levels among all sensitive values."""
    counts: Counter[int] = Counter()
    for kind, domains in enumerate(forest.domains):
        for position, domain in enumerate(domains):
            codes = forest.sensitive[forest.first_sensitive[forest.type == kind] + position]
            levels = np.array(domain.levels, np.int64)[codes[codes >= 0]]
            counts.update(levels.tolist())
    return [counts[level] / counts.total() for level in range(1, 6)]
