"""A publication of a partition, without documents: what metrics look at, and what files tell of it."""

from __future__ import annotations

from collections.abc import Mapping

from hierdata.forest.forest import Forest
from hierdata.forest.partition import Partition
from hierdata.forest.publication import Publication, PublishedPart, publish_generalized
from hierdata.metrics import METRICS
from hierdata.release.report.parts import Measure


def publication_of(forest: Forest, partition: Partition) -> Publication:
    return publish_generalized(forest, partition, PublishedPart("records", lambda: iter(()), 0))


def measurable(metrics: Mapping[str, Measure]) -> dict[str, Measure]:
    """The metrics of a run without the figures that depend on its alignment."""
    return {name: _without(one, METRICS[name].aligned) for name, one in metrics.items()}


def _without(measure: Measure, figures: tuple[str, ...]) -> Measure:
    plain = {
        key: {name: own for name, own in value.items() if name not in figures}
        if isinstance(value, dict)
        else value
        for key, value in measure.model_dump().items()
        if key not in figures
    }
    return Measure.model_validate(plain)
