"""Counts of a release for its report, part by part; the sum over the parts is the count of the whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.metrics.base import Added, Metric, Same, Sums, Tallies, columns, count_numbers

__all__ = ["Counted", "Tallies", "count_part", "tally"]


@dataclass(frozen=True)
class Counted(Added):
    """Counts of records, vertices and levels, which no metric asks for.

    ``vertices`` and ``published`` are by vertex type, ``levels`` by path and sensitivity level, over original
    values. ``costs``, ``reasons`` and ``tables`` are those of the publication; each reason with the number of
    parts that gave it. ``values`` and ``published_values`` are by path and code of the sensitive values,
    ``class_sizes`` has the number of published records by the size of their class. ``rounded`` counts
    the parts in which losses were rounded once.
    """

    records: int
    published_records: int
    vertices: Sums[int, int]
    published: Sums[int, int]
    classes: int
    levels: Sums[str, Sums[int, int]]
    costs: Sums[str, int]
    reasons: Sums[int, Sums[str, int]]
    tables: Same[Mapping[str, tuple[str, ...]]]
    values: Sums[str, Sums[int, int]]
    published_values: Sums[str, Sums[int, int]]
    class_sizes: Sums[int, int]
    rounded: int


def tally(publication: Publication, forest: Forest, metrics: Iterable[Metric]) -> Tallies:
    """Count everything in one part of a release; questions of several metrics are answered once.

    The result is picklable, as the metrics are. It grows with the keys that attackers know (see
    ``metrics.cells``); everything else stays small for any number of records.
    """
    asked = [question for metric in metrics for question in metric.questions(forest)]
    return Tallies.of([count_part, *asked], publication, forest)


def count_part(publication: Publication, forest: Forest) -> Counted:
    """Count a part of a release for the report; this is a question."""
    kept = publication.shown >= 0
    types = len(forest.schema.types)
    return Counted(
        forest.record_count,
        int(kept[forest.roots[:-1]].sum()),
        Sums(enumerate(np.bincount(forest.type, minlength=types).tolist())),
        Sums(enumerate(np.bincount(forest.type[kept], minlength=types).tolist())),
        publication.class_count,
        _levels(forest),
        Sums(publication.costs),
        Sums({kind: Sums({reason: 1}) for kind, reason in publication.reasons.items()}),
        Same(publication.tables),
        _count_codes(publication, forest, published=False),
        _count_codes(publication, forest, published=True),
        _class_sizes(publication, forest),
        int(not forest.exact),
    )


def _count_codes(publication: Publication, forest: Forest, *, published: bool) -> Sums[str, Sums[int, int]]:
    """Count each sensitive value by its code, by path: of the input, or those that are published."""
    counts: Sums[str, Sums[int, int]] = Sums()
    for column in columns(publication, forest):
        codes = column.codes[column.places >= 0] if published else column.codes
        counts += Sums({column.site.path: Sums(enumerate(np.bincount(codes).tolist()))})
    return counts


def _class_sizes(publication: Publication, forest: Forest) -> Sums[int, int]:
    """Count the published records by the size of the class of their root."""
    roots = forest.roots[:-1]
    classes = publication.equivalence_class[roots[publication.shown[roots] >= 0]]
    _, sizes = np.unique(classes[classes >= 0], return_counts=True)
    return Sums({size: size * times for size, times in count_numbers(sizes)})


def _levels(forest: Forest) -> Sums[str, Sums[int, int]]:
    """Count the original values of each level, by sensitive attribute that has levels."""
    levels_by_path: Sums[str, Sums[int, int]] = Sums()
    for kind, position, domain in forest.list_domains():
        if domain.levels:
            codes = forest.input_values[forest.first_sensitive[forest.type == kind] + position]
            levels = np.array(domain.levels, np.int64)[codes[codes >= 0]]
            counts = np.bincount(levels, minlength=domain.level_count + 1).tolist()
            levels_by_path += Sums({domain.path: Sums(enumerate(counts[1:], 1))})
    return levels_by_path
