"""The contract of metrics: figures are in their ranges, however a release is cut into parts."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierdata.forest.forest import Forest
from hierdata.forest.partition import SUPPRESSED, Partition
from hierdata.forest.publication import Publication, PublishedPart, publish_generalized
from hierdata.metrics import Metric
from hierdata.metrics.base import Figure
from hierdata.privacy import KAnonymity
from hierdata.release.recodings.base import RECORDS
from hierdata.testing.contract import ContractError, require, send_to_worker
from hierdata.testing.worlds import World, find_partition, worlds


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
            member = metric.under(None)
            figures = member.of(publication, world.forest)
            check_figures(member, figures)
            _check_parts(name, member, publication, world.forest, figures)
            measured += len(figures)
    require(measured, f"{name} must have a figure of some release")


Part = tuple[Publication, Forest]
_CUTS = 4


def cut(publication: Publication, forest: Forest, count: int, rng: random.Random) -> list[Part]:
    """Cut a publication at random into up to ``count`` parts of whole classes; suppressed records are in any.

    The costs of the search are in no part.
    """
    of_record = publication.equivalence_class[forest.roots[:-1]].tolist()
    draws = {number: rng.randrange(count) for number in set(of_record)}
    drawn = np.array(
        [draws[number] if number >= 0 else rng.randrange(count) for number in of_record], np.int64
    )
    parts = [np.flatnonzero(drawn == part) for part in range(count)]
    return [_part(publication, forest, records) for records in parts if len(records)]


def _part(publication: Publication, forest: Forest, records: NDArray[np.int64]) -> Part:
    vertices = np.flatnonzero(np.isin(forest.record_of, records))
    number = np.full(forest.vertex_count + 1, -1)  # the last entry maps "no vertex" to itself
    number[vertices] = np.arange(len(vertices))
    nodes, first_node = _laid_out(forest.first_node, forest.quasi_count, vertices)
    counts = np.array([len(attributes) for attributes in forest.domains], np.int64)[forest.type]
    sensitive, first_sensitive = _laid_out(forest.first_sensitive, counts, vertices)
    part = replace(
        forest,
        roots=np.append(0, np.cumsum(np.diff(forest.roots)[records])),
        type=forest.type[vertices],
        parent=number[forest.parent[vertices]],
        first_child=number[np.minimum(forest.first_child[vertices], forest.vertex_count)],
        child_count=forest.child_count[vertices],
        first_node=first_node,
        nodes=forest.nodes[nodes],
        first_sensitive=first_sensitive,
        sensitive=forest.sensitive[sensitive],
        spelling=forest.spelling[sensitive],
        carried={int(number[v]): values for v, values in forest.carried.items() if number[v] >= 0},
    )
    vars(part)["_scale"] = (forest.lm_scale, forest.exact)
    aligned = publication.representative
    classes = publication.equivalence_class[vertices]
    classes[classes >= 0] = np.unique(classes[classes >= 0], return_inverse=True)[1]
    return (
        replace(
            publication,
            shown=number[publication.shown[vertices]],
            nodes=publication.nodes[nodes],
            equivalence_position=number[publication.equivalence_position[vertices]],
            equivalence_class=classes,
            representative=None if aligned is None else number[aligned[vertices]],
            costs=Counter(),
        ),
        part,
    )


def _laid_out(first: NDArray[Any], counts: NDArray[Any], vertices: NDArray[Any]) -> tuple[Any, Any]:
    """Return the indices of some vertices' values, and the first index of each vertex after compaction."""
    sizes = counts[vertices]
    begin = np.cumsum(sizes) - sizes
    return np.repeat(first[vertices] - begin, sizes) + np.arange(int(sizes.sum())), begin


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
