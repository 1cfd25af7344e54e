"""DL section 6, the open question: releases under (delta,l)-diversity, and the same under (epsilon,m)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean

from hierdata.release.charts import Line, LineChart, Point
from hierdata.reproduction.dl.releases import measure_release, publish_both
from hierdata.reproduction.exhibit import Exhibit, Grid
from hierdata.reproduction.study import JSON, Study

SPREAD = "spread"
MONDRIAN = "mondrian"
ENGINES = (SPREAD, MONDRIAN)
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
        values = [scale * float(run[name]) for run in self.runs]
        return Point(float(Fraction(self.delta)), fmean(values), min(values), max(values))


def show_releases(study: Study) -> Exhibit:
    """Return what ``spread`` and ``mondrian`` publish, under both principles."""
    rows = study.effort.scale_records(ROWS, 50)
    found = _measure_searches(study, rows)
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
            for engine in ENGINES
        ],
    )
    return Exhibit(
        "Section 6",
        "Classes for (delta,l)-diversity, which the paper leaves open",
        "The paper has no experiment, and says that finding the best classes is not straightforward. Here "
        "age is the sensitive number, with six quasi-identifiers of Adult; epsilon is 2 delta and m is l.",
        ours=_grid(found),
        charts=tuple(_chart(found, least) for least in DIVERSITIES),
        differs=describe_releases(found, judged),
        errata=("DL-1", "DL-2"),
    )


def _measure_searches(study: Study, rows: int) -> list[Releases]:
    seeds = range(1, study.effort.repeats + 1)
    asked = [(engine, delta, least) for least in DIVERSITIES for engine in ENGINES for delta in DELTAS]
    points = study.measure_on_adult(
        measure_release,
        [
            {"engine": engine, "delta": delta, "l": least, "n": rows, "seed": seed}
            for engine, delta, least in asked
            for seed in seeds
        ],
    )
    repeats = len(seeds)
    return [Releases(*one, points[at * repeats : (at + 1) * repeats]) for at, one in enumerate(asked)]


def _grid(found: Sequence[Releases]) -> Grid:
    columns = ("delta, l, engine", "rows", "published", "bound", "loss per value", "same under (epsilon,m)")
    return Grid(
        columns,
        tuple(
            (
                f"{own.delta}, {own.l}, {own.engine}",
                *(round(own.mean(name)) for name in ("rows", "published", "bound")),
                own.mean("loss"),
                "yes" if all(run["same"] for run in own.runs) else "no",
            )
            for own in found
        ),
    )


def describe_releases(found: Sequence[Releases], judged: Sequence[Mapping[str, JSON]]) -> str:
    """Return whether both principles gave the same releases, and how near the engines come to the bound."""
    runs = [run for own in found for run in own.runs]
    same = sum(bool(run["same"]) for run in runs)
    whole = sum(bool(run["same"]) for run in judged)
    at_bound = {
        engine: sum(
            run["published"] == run["bound"] for own in found if own.engine == engine for run in own.runs
        )
        for engine in ENGINES
    }
    each = len(runs) // len(ENGINES)
    reached = ", ".join(f"{engine} in {count} of {each}" for engine, count in at_bound.items())
    return (
        "(delta,l)-diversity and (epsilon,m)-anonymity with epsilon = 2 delta gave the same classes in "
        f"{same} of {len(runs)} searches and the same records in {whole} of {len(judged)} judged releases "
        f"of {judged[0]['rows']:,} rows. As many rows as any partition can publish are published by "
        f"{reached} searches."
    )


def _chart(found: Sequence[Releases], least: int) -> LineChart:
    return LineChart(
        f"Published rows, l = {least}",
        f"Share of the rows that each engine publishes over delta at l = {least}, and the bound for any "
        "partition.",
        "delta (years)",
        "% of the rows",
        (
            *(Line(engine, _points(found, engine, least, "published")) for engine in ENGINES),
            Line("bound", _points(found, ENGINES[0], least, "bound")),
        ),
    )


def _points(found: Sequence[Releases], engine: str, least: int, name: str) -> tuple[Point, ...]:
    own = [one for one in found if one.engine == engine and one.l == least]
    return tuple(one.point(name, 100 / one.mean("rows")) for one in own)
