"""The contract of metrics: figures are in their ranges and do not depend on how a release is cut."""

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
from hierdata.forest.publication import Publication, PublishedPart, publish_generalized
from hierdata.metrics import Metric
from hierdata.metrics.base import Figure
from hierdata.privacy import KAnonymity
from hierdata.release.recodings.base import RECORDS
from hierdata.testing.contract import ContractError, require, send_to_worker
from hierdata.testing.parts import cut
from hierdata.testing.worlds import World, find_partition, worlds

_CUTS = 4


def check_metric(metric: type[Metric]) -> None:
    """Check a metric against its contract on releases of tables and trees. Raises ContractError."""
    name = metric.__name__
    for stated in ("symbol", "explanation"):
        require(
            isinstance(getattr(metric, stated, None), str) and getattr(metric, stated),
            f"{name} must state its {stated}",
        )
    require(
        getattr(metric, "better", None) in ("lower", "higher"), f"{name} must state lower or higher as better"
    )
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
    """Yield four publications: classes of two, unchanged records, roots only, and nothing at all."""
    forest = world.forest
    rows, vertices = np.arange(forest.record_count), np.arange(forest.vertex_count)
    alone = Partition(rows, vertices, forest.nodes.copy())
    gone = np.full_like(rows, SUPPRESSED), np.full_like(vertices, SUPPRESSED)
    for partition in (
        find_partition(world, world.bind(KAnonymity(k=2))),
        alone,
        replace(alone, nodes=np.zeros_like(forest.nodes)),
        Partition(*gone, forest.nodes.copy()),
    ):
        yield publish_generalized(forest, partition, PublishedPart(RECORDS, lambda: iter(()), 0))


def check_figures(metric: Metric, figures: tuple[Figure, ...]) -> None:
    """Check that figures have names, units and ranges, and survive JSON. Raises ContractError."""
    name = type(metric).__name__
    names = [figure.name for figure in figures]
    require(len({*names}) == len(names), f"{name} must give every figure a name of its own")
    require(
        not figures or {*metric.gated} <= {*names},
        f"{name} must have every figure that is in its gated",
    )
    for figure in figures:
        value, high = figure.value, figure.high
        require(
            isinstance(value, Fraction | float) and not isinstance(value, bool),
            f"{figure.name} of {name} must be a Fraction if it is exact, otherwise a float",
        )
        require(
            figure.low <= value and (high is None or value <= high),
            f"{figure.name} of {name} is outside its range, {figure.low} to {high}",
        )
        require(figure.unit, f"{figure.name} of {name} must have a unit")
        require(
            figure.better in ("lower", "higher"),
            f"{figure.name} of {name} must state lower or higher as better",
        )
        plain = json.loads(json.dumps(figure.as_dict()))
        require(
            plain["value"] == float(value),
            f"{figure.name} of {name} must be the same after a round trip through JSON",
        )


def _check_parts(
    name: str, metric: Metric, publication: Publication, forest: Forest, figures: tuple[Figure, ...]
) -> None:
    """Check that the sum of the parts' answers, in any order, gives exactly the figures of the whole."""
    whole = metric.tally(publication, forest)
    again: Metric = send_to_worker(metric)
    require(
        again.questions(forest) == metric.questions(forest),
        f"{name} must ask the same questions after pickling: use functions or frozen dataclasses",
    )
    require(
        metric.figures(send_to_worker(whole)) == figures, f"{name} must have answers that survive pickling"
    )
    rng = random.Random(0)  # noqa: S311  # not used for secrets
    for count in range(2, _CUTS):
        parts = [send_to_worker(again.tally(*part)) for part in cut(publication, forest, count, rng)]
        rng.shuffle(parts)
        try:
            summed = metric.figures(reduce(add, parts))
        except TypeError:
            raise ContractError(f"{name} must have answers that can be added") from None
        require(
            [(figure, type(figure.value)) for figure in summed]
            == [(figure, type(figure.value)) for figure in figures],
            f"{name} must compute the figures of the whole from the sum of its parts",
        )
