"""The contract of metrics: figures in their range, and those of the whole whatever parts it is cut into."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from operator import add

import numpy as np

from hierdata.forest.forest import Forest
from hierdata.forest.partition import SUPPRESSED, Partition
from hierdata.forest.publication import Part, Publication, generalized
from hierdata.metrics import Metric
from hierdata.metrics.base import Figure
from hierdata.privacy import KAnonymity
from hierdata.release.recodings.base import RECORDS
from hierdata.testing.contract import ContractError, require, sent
from hierdata.testing.parts import cut
from hierdata.testing.worlds import World, partitioned, worlds

_CUTS = 4


def check_metric(metric: type[Metric]) -> None:
    """Hold a metric to its contract, on releases of tables and trees. Raises ContractError."""
    name = metric.__name__
    for stated in ("symbol", "explanation"):
        require(
            isinstance(getattr(metric, stated, None), str) and getattr(metric, stated),
            f"{name} must state its {stated}",
        )
    require(getattr(metric, "better", None) in ("lower", "higher"), f"{name} must state which is better")
    measured = 0
    for world in worlds(flat=False):
        for publication in _publications(world):
            own = metric.under(None)
            figures = own.of(publication, world.forest)
            check_figures(own, figures)
            _check_parts(name, own, publication, world.forest, figures)
            measured += len(figures)
    require(measured, f"{name} must have a figure of some release")


def _publications(world: World) -> Iterator[Publication]:
    """Classes of two, the records as they are, all as broad as can be, and nothing at all."""
    forest = world.forest
    rows, vertices = np.arange(forest.record_count), np.arange(forest.vertex_count)
    alone = Partition(rows, vertices, forest.nodes.copy())
    gone = np.full_like(rows, SUPPRESSED), np.full_like(vertices, SUPPRESSED)
    for partition in (
        partitioned(world, world.bind(KAnonymity(k=2))),
        alone,
        replace(alone, nodes=np.zeros_like(forest.nodes)),
        Partition(*gone, forest.nodes.copy()),
    ):
        yield generalized(forest, partition, Part(RECORDS, lambda: iter(()), 0))


def check_figures(metric: Metric, figures: tuple[Figure, ...]) -> None:
    """Figures have names, units, ranges, and survive JSON. Raises ContractError."""
    name = type(metric).__name__
    names = [figure.name for figure in figures]
    require(len({*names}) == len(names), f"{name} must give every figure a name of its own")
    require(
        not figures or {*metric.gated} <= {*names},
        f"{name} must have the figures that it says a gate may limit",
    )
    for figure in figures:
        value, high = figure.value, figure.high
        require(
            isinstance(value, Fraction | float) and not isinstance(value, bool),
            f"{figure.name} of {name} must be a Fraction where it is exact, else a float",
        )
        require(
            figure.low <= value and (high is None or value <= high),
            f"{figure.name} of {name} lies outside of its range, {figure.low} to {high}",
        )
        require(figure.unit, f"{figure.name} of {name} must have a unit")
        require(figure.better in ("lower", "higher"), f"{figure.name} of {name} must say which is better")
        plain = json.loads(json.dumps(figure.as_dict()))
        require(
            plain["value"] == float(value),
            f"{figure.name} of {name} must be the same after a trip through JSON",
        )


def _check_parts(
    name: str, metric: Metric, publication: Publication, forest: Forest, figures: tuple[Figure, ...]
) -> None:
    """The sum of what parts answer gives the figures of the whole, to the bit and in any order."""
    whole = metric.tally(publication, forest)
    again: Metric = sent(metric)
    require(
        again.questions(forest) == metric.questions(forest),
        f"{name} must ask the same questions after pickling: let them be functions or frozen dataclasses",
    )
    require(metric.figures(sent(whole)) == figures, f"{name} must have answers that survive pickling")
    rng = random.Random(0)  # noqa: S311  # nothing is secret here
    for count in range(2, _CUTS):
        parts = [sent(again.tally(*part)) for part in cut(publication, forest, count, rng)]
        rng.shuffle(parts)
        try:
            summed = metric.figures(reduce(add, parts))
        except TypeError:
            raise ContractError(f"{name} must have answers that can be added up") from None
        require(
            [(figure, type(figure.value)) for figure in summed]
            == [(figure, type(figure.value)) for figure in figures],
            f"{name} must have the figures of the whole from the sum of its parts",
        )
