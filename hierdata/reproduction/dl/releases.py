"""DL's open question, how to find classes: ``spread`` and ``mondrian`` under both principles on Adult."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np

from hierdata.engines import ENGINES
from hierdata.engines.spread.run import nearness
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import Partition
from hierdata.forest.publication import PublishedPart, publish_generalized
from hierdata.metrics import METRICS
from hierdata.pipeline.anonymize import anonymize
from hierdata.pipeline.resources import Resources
from hierdata.policy.load import from_data
from hierdata.policy.policy import Policy
from hierdata.reproduction.adult import MISSING, Adult
from hierdata.reproduction.encoded import EncodedRecords, encode_records
from hierdata.reproduction.study import JSON

QUASI = ("workclass", "education", "marital-status", "occupation", "race", "sex")
SENSITIVE = "age"
"""The sensitive number. The other numbers of Adult have one value in nearly half of the rows or more."""


def policy_for(model: dict[str, Any]) -> Policy:
    """Return the policy: six flat quasi-identifiers, age as a sensitive number."""
    return from_data(_state_policy(model))


def _state_policy(model: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        f"$['{name}']": {"role": "quasi", "flat": True, "missing": [MISSING]} for name in QUASI
    }
    fields[f"$.{SENSITIVE}"] = {"role": "sensitive", "number": True}
    return {"version": 1, "fields": fields, "models": [model]}


def models_for(delta: str, l: int) -> tuple[dict[str, Any], dict[str, Any]]:  # noqa: E741  (the paper's letter)
    """Return (delta,l)-diversity, and (epsilon,m)-anonymity with epsilon = 2 delta and m = l."""
    return (
        {"kind": "delta-l-diversity", "delta": delta, "l": l},
        {"kind": "epsilon-m-anonymity", "epsilon": str(2 * Fraction(delta)), "m": l},
    )


def search(data: EncodedRecords, engine: str, seed: int) -> Partition:
    """Return the classes that an engine finds."""
    rng = np.random.default_rng(seed)
    constraints = data.prepared.constraints
    return ENGINES[engine](kind=engine).step(data.forest, Scope.of(data.forest), constraints, None, rng)


def measure_release(adult: Adult, engine: str, delta: str, l: int, n: int, seed: int) -> JSON:  # noqa: E741
    """Measure what an engine publishes of n rows that the seed draws.

    ``published`` rows, their ``loss`` per quasi-identifier value (a suppressed one counts 1), the ``bound``
    that no partition can exceed, and ``same``: whether (epsilon,m)-anonymity gives the same release.
    """
    rows = adult.draw((*QUASI, SENSITIVE), n, seed)
    data, other = (encode_records(rows, policy_for(model)) for model in models_for(delta, l))
    found, again = search(data, engine, seed), search(other, engine, seed)
    return {
        "rows": len(rows),
        "published": int((found.equivalence_class >= 0).sum()),
        "bound": count_bound(data),
        "loss": _loss(data.forest, found),
        "same": _is_same(found, again),
    }


def count_bound(data: EncodedRecords) -> int:
    """Return the most rows that can be published in classes with at most 1/l near each value (see Spread)."""
    apart, least = nearness(data.forest, Scope.of(data.forest), data.prepared.constraints)
    return len(apart.tracks(np.arange(data.forest.record_count), least))


def _loss(forest: Forest, partition: Partition) -> float:
    publication = publish_generalized(forest, partition, PublishedPart("records", lambda: iter(()), 0))
    (found,) = (own.value for own in METRICS["lm_cost"]().of(publication, forest) if own.name == "per_value")
    return float(found)


def _is_same(one: Partition, other: Partition) -> bool:
    """Return whether two searches give the same classes, published by the same nodes."""
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("equivalence_class", "representative", "nodes")
    )


def publish_both(adult: Adult, engine: str, delta: str, l: int, n: int, seed: int) -> JSON:  # noqa: E741
    """Publish n rows under both principles as ``hierdata anonymize`` does, judged; compare the records.

    ``same``: both releases have the same records, in whatever order.
    """
    rows = adult.draw((*QUASI, SENSITIVE), n, seed)
    steps = {"engine": {"steps": [{"kind": engine}]}}
    one, other = (
        sorted(
            json.dumps(record, sort_keys=True, default=str)
            for record in anonymize(
                rows,
                _state_policy(model) | steps,
                seed=seed.to_bytes(16, "big"),
                resources=Resources(workers=1),
            ).records()
        )
        for model in models_for(delta, l)
    )
    return {"rows": len(rows), "published": len(one), "same": one == other}
