"""DL section 6, the open question how to find classes: ``spread`` and ``mondrian`` on Adult.

Each is asked for (delta,l)-diversity and for the same under (epsilon,m)-anonymity.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from statistics import fmean
from typing import Any

import numpy as np

from hierdata.engines import ENGINES
from hierdata.engines.spread.run import nearness
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import Partition
from hierdata.metrics import METRICS
from hierdata.pipeline.anonymize import anonymize
from hierdata.pipeline.points import JSON
from hierdata.pipeline.resources import Resources
from hierdata.policy.load import from_data
from hierdata.policy.policy import Policy
from hierdata.release.charts import Line, LineChart, Point
from hierdata.reproduction.exhibit import Exhibit, Grid, point_of, yes_or_no
from hierdata.reproduction.small_data import EncodedRecords, encode_records, find_classes, publish_classes
from hierdata.reproduction.study import MISSING, Adult, Study

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
    return find_classes(data.forest, ENGINES[engine](kind=engine), data.prepared.constraints, seed)


def measure_release(adult: Adult, engine: str, delta: str, l: int, n: int, seed: int) -> JSON:  # noqa: E741
    """Measure what an engine publishes of n rows that the seed draws.

    ``published`` rows, their ``loss`` per quasi-identifier value (a suppressed one counts 1), the ``bound``
    that no partition can exceed, and ``same``: whether (epsilon,m)-anonymity gives the same release.
    """
    rows = adult.draw((*QUASI, SENSITIVE), n, seed)
    data, other = (encode_records(rows, policy_for(model)) for model in models_for(delta, l))
    classes, again = search(data, engine, seed), search(other, engine, seed)
    return {
        "rows": len(rows),
        "published": int((classes.equivalence_class >= 0).sum()),
        "bound": count_bound(data),
        "loss": _loss(data.forest, classes),
        "same": _is_same(classes, again),
    }


def count_bound(data: EncodedRecords) -> int:
    """Return the most rows that can be published in classes with at most 1/l near each value (see Spread)."""
    apart, least = nearness(data.forest, Scope.of(data.forest), data.prepared.constraints)
    return len(apart.tracks(np.arange(data.forest.record_count), least))


def _loss(forest: Forest, partition: Partition) -> float:
    figures = METRICS["lm_cost"]().of(publish_classes(forest, partition), forest)
    return float(next(figure.value for figure in figures if figure.name == "per_value"))


def _is_same(first: Partition, other: Partition) -> bool:
    """Return whether two searches give the same classes, published by the same nodes."""
    return all(
        np.array_equal(getattr(first, name), getattr(other, name))
        for name in ("equivalence_class", "representative", "nodes")
    )


def publish_both(adult: Adult, engine: str, delta: str, l: int, n: int, seed: int) -> JSON:  # noqa: E741
    """Publish n rows under both principles as ``hierdata anonymize`` does, judged; compare the records.

    ``same``: both releases have the same records, in whatever order.
    """
    rows = adult.draw((*QUASI, SENSITIVE), n, seed)
    steps = {"engine": {"steps": [{"kind": engine}]}}
    first, other = (
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
    return {"rows": len(rows), "published": len(first), "same": first == other}


SPREAD = "spread"
MONDRIAN = "mondrian"
COMPARED = (SPREAD, MONDRIAN)
DELTAS = ("0", "1", "2", "4", "8")
DIVERSITIES = (2, 4)
ROWS = 5_000
JUDGED_ROWS = 500
"""Rows of the releases that are judged as a whole; delta and l of these are the third and the first."""


@dataclass(frozen=True)
class Releases:
    """What an engine published at one delta and l, over the repeats."""

    engine: str
    delta: str
    l: int  # noqa: E741  (the paper's letter)
    runs: Sequence[Mapping[str, JSON]]

    def mean(self, name: str) -> float:
        """Return the mean of a figure."""
        return fmean(float(run[name]) for run in self.runs)

    def point(self, name: str, scale: float = 1) -> Point:
        """Return a figure, times a scale, as a point over delta."""
        return point_of(float(Fraction(self.delta)), [scale * float(run[name]) for run in self.runs])


def show_releases(study: Study) -> Exhibit:
    """Return what ``spread`` and ``mondrian`` publish, under both principles."""
    rows = study.effort.scale_records(ROWS, 50)
    measured = _measure_searches(study, rows)
    judged = study.measure_on_adult(
        publish_both,
        [
            {
                "engine": engine,
                "delta": DELTAS[2],
                "l": DIVERSITIES[0],
                "n": min(rows, JUDGED_ROWS),
                "seed": 1,
            }
            for engine in COMPARED
        ],
    )
    return Exhibit(
        "Section 6",
        "Classes for (delta,l)-diversity, which the paper leaves open",
        "The paper has no experiment, and says that finding the best classes is not straightforward. Here "
        "age is the sensitive number, with six quasi-identifiers of Adult; epsilon is 2 delta and m is l.",
        ours=_grid(measured),
        charts=tuple(_chart(measured, least) for least in DIVERSITIES),
        differs=describe_releases(measured, judged),
        errata=("DL-1", "DL-2"),
    )


def _measure_searches(study: Study, rows: int) -> list[Releases]:
    settings = {
        (engine, delta, least): {"engine": engine, "delta": delta, "l": least, "n": rows}
        for least, engine, delta in product(DIVERSITIES, COMPARED, DELTAS)
    }
    return [Releases(*setting, runs) for setting, runs in study.repeat(measure_release, settings).items()]


def _grid(measured: Sequence[Releases]) -> Grid:
    columns = ("delta, l, engine", "rows", "published", "bound", "loss per value", "same under (epsilon,m)")
    return Grid(
        columns,
        tuple(
            (
                f"{releases.delta}, {releases.l}, {releases.engine}",
                *(round(releases.mean(name)) for name in ("rows", "published", "bound")),
                releases.mean("loss"),
                yes_or_no(all(run["same"] for run in releases.runs)),
            )
            for releases in measured
        ),
    )


def describe_releases(measured: Sequence[Releases], judged: Sequence[Mapping[str, JSON]]) -> str:
    """Return whether both principles gave the same releases, and how near the engines come to the bound."""
    runs = [run for releases in measured for run in releases.runs]
    same = sum(bool(run["same"]) for run in runs)
    whole = sum(bool(run["same"]) for run in judged)
    at_bound = dict.fromkeys(COMPARED, 0)
    for releases in measured:
        at_bound[releases.engine] += sum(run["published"] == run["bound"] for run in releases.runs)
    each = len(runs) // len(COMPARED)
    reached = ", ".join(f"{engine} in {count} of {each}" for engine, count in at_bound.items())
    return (
        "(delta,l)-diversity and (epsilon,m)-anonymity with epsilon = 2 delta gave the same classes in "
        f"{same} of {len(runs)} searches and the same records in {whole} of {len(judged)} judged releases "
        f"of {judged[0]['rows']:,} rows. As many rows as any partition can publish are published by "
        f"{reached} searches."
    )


def _chart(measured: Sequence[Releases], least: int) -> LineChart:
    return LineChart(
        f"Published rows, l = {least}",
        f"Share of the rows that each engine publishes over delta at l = {least}, and the bound for any "
        "partition.",
        "delta (years)",
        "% of the rows",
        (
            *(Line(engine, _points(measured, engine, least, "published")) for engine in COMPARED),
            Line("bound", _points(measured, COMPARED[0], least, "bound")),
        ),
    )


def _points(measured: Sequence[Releases], engine: str, least: int, name: str) -> tuple[Point, ...]:
    chosen = [releases for releases in measured if releases.engine == engine and releases.l == least]
    return tuple(releases.point(name, 100 / releases.mean("rows")) for releases in chosen)
