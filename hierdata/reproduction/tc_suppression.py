"""Equation 9 of TC over l: how many rows of Adult MSB-KACA leaves out, beside the fewest possible."""

from __future__ import annotations

from fractions import Fraction
from statistics import fmean
from typing import Any

import numpy as np

from hierdata.engines.buckets.attainable import JointCounts, keep_most
from hierdata.engines.buckets.buckets import Coordinate
from hierdata.ground.errors import PromiseError
from hierdata.pipeline.anonymize import anonymize
from hierdata.release.charts import Line, LineChart
from hierdata.reproduction.exhibit import Cell, Exhibit, Grid, point_of
from hierdata.reproduction.study import MISSING, Adult, Study
from hierdata.reproduction.tc_census import BASES, QUASI, TREES, K

SENSITIVE = tuple(name for name in TREES if name != "salary-class")
"""Four of the five sensitive attributes: the fifth has two values, and no group is 3-diverse in it."""
LS = (2, 3, 4)
_LEAST = "the fewest"
_ROWS, _REPEATS = 1000, 3


def attainable_rows(adult: Adult, least: int, rows: int | None, seed: int) -> int:
    """Return the most rows of which no value of a sensitive attribute has more than 1 in ``least``."""
    records = adult.draw(SENSITIVE, rows, seed)
    coordinates = []
    for name in SENSITIVE:
        values = sorted({str(record[name]) for record in records} - {MISSING})
        places = {value: place for place, value in enumerate(values)}
        column = np.array([places.get(str(record[name]), -1) for record in records], np.int64)
        coordinates.append(Coordinate(name, column, (Fraction(1, least),) * len(values)))
    cells = JointCounts.of(coordinates, len(records))
    return int(keep_most(cells, cells.count()).sum())


def suppressed_rows(adult: Adult, preset: str, least: int, rows: int | None, seed: int) -> int:
    """Return how many rows a preset leaves out under frequency l-diversity; all where it makes no release."""
    records = adult.draw([*QUASI, *SENSITIVE], rows, seed)
    policy: dict[str, Any] = {
        "version": 1,
        "engine": {"preset": preset},
        "models": [{"kind": "k-anonymity", "k": K}, {"kind": "frequency-l-diversity", "l": least}],
        "fields": {
            **{f"$['{name}']": {"role": "quasi", **domain} for name, domain in QUASI.items()},
            **{f"$['{name}']": {"role": "sensitive", "missing": [MISSING]} for name in SENSITIVE},
        },
    }
    if "shared" not in preset:
        policy["accept"] = {"group-ids": "an experiment, nothing is given out"}
    try:
        return anonymize(records, policy, seed=seed.to_bytes(16)).report.counts.records.suppressed
    except PromiseError:
        return len(records)


def show_suppression_over_l(study: Study) -> Exhibit:
    """Return equation 9 over l: on all rows of the table at full effort, else on some of them."""
    rows = study.effort.scale_records(_ROWS) if study.effort.scale < 1 else None
    seeds = range(min(_REPEATS, study.effort.repeats))
    attainable = study.repeat(attainable_rows, {least: {"least": least, "rows": rows} for least in LS}, seeds)
    settings = {
        (name, least): {"preset": preset, "least": least, "rows": rows}
        for name, preset in BASES.items()
        for least in LS
    }
    suppressed = study.repeat(suppressed_rows, settings, seeds)
    count = min(rows or len(study.adult.rows), len(study.adult.rows))
    ratios = {_LEAST: {least: [(count - most) / count for most in attainable[least]] for least in LS}}
    for name in BASES:
        ratios[name] = {least: [gone / count for gone in suppressed[name, least]] for least in LS}
    return _draw(ratios, count)


def _draw(ratios: dict[str, dict[int, list[float]]], count: int) -> Exhibit:
    grid: list[tuple[Cell, ...]] = [
        (f"l = {least}", *(fmean(by_l[least]) for by_l in ratios.values())) for least in LS
    ]
    lines = tuple(
        Line(name, tuple(point_of(least, runs) for least, runs in by_l.items()))
        for name, by_l in ratios.items()
    )
    published = [
        (1 - fmean(ratios[name][least])) / (1 - fmean(ratios[_LEAST][least]))
        for name in BASES
        for least in LS
        if fmean(ratios[name][least]) < 1
    ]
    return Exhibit(
        "Equation 9, over l",
        "suppression ratio, over l",
        f"No figure is printed. {count:,} rows of the table, k = {K}, and the sensitive attributes "
        f"{', '.join(SENSITIVE)}. What is fewest is found by an integer program over the joint counts.",
        ours=Grid(("", *ratios), tuple(grid)),
        charts=(
            LineChart(
                "suppression ratio",
                f"Suppression ratio of {len(BASES)} ways to group, and the fewest possible, "
                f"for l from {LS[0]} to {LS[-1]}.",
                "l",
                "suppression ratio",
                lines,
            ),
        ),
        differs=f"Where there is a release, it has at least {min(published):.1%} of the attainable rows."
        if published
        else "No release could be made of these rows.",
        errata=("TC-8",),
    )
