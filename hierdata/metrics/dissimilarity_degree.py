"""Dissimilarity degree: how far apart sensitivity levels are at a vertex (ML section 5.1, equations 6, 7)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.metrics.base import Figure, Metric, Question, Tallies
from hierdata.metrics.sums import Added, Same, Sums, collect_sums, quotients


class DissimilarityDegree(Metric):
    """The mean over classes of the mean over the vertices of the class representative.

    At a vertex with levels s_1..s_m: ``as_printed`` is the sum over pairs of |s_i - s_j|, divided by the
    same sum over the z levels themselves (20 for five); it grows with the class size, so compare it at
    equal k only (erratum ML-15). Identical siblings count as one vertex, as every reader sees them, and so
    do classes that look alike. ``mean_level_distance`` is the mean of |s_i - s_j| over pairs, divided by
    z - 1, in 0..1. Vertices with fewer than two values, and attributes without levels or with one level, are
    left out. Higher is better.
    """

    symbol = "DSim"
    better = "higher"
    gated = (
        "as_printed",
        "mean_level_distance",
    )
    explanation = (
        "How far apart the sensitivity levels at a vertex of a class are: as the paper prints it, which grows"
        " with the class, and as a mean distance from 0 to 1."
    )

    def questions(self, forest: Forest) -> tuple[Question, ...]:
        """See Metric.questions."""
        return (_degrees,)

    def figures(self, tallies: Tallies) -> tuple[Figure, ...]:
        """See Metric.figures; empty if no attribute has levels."""
        degrees: _DissimilaritySums = tallies[_degrees]
        if not degrees.levels.value:
            return ()
        return tuple(
            Figure(name, quotients(sums) / max(degrees.classes, 1), "levels", 0, high, "higher")
            for name, sums, high in (
                ("as_printed", degrees.printed, None),
                ("mean_level_distance", degrees.mean, 1),
            )
        )


@dataclass(frozen=True)
class _DissimilaritySums(Added):
    """Whether any attribute has levels, the number of classes with pairs of values, sums by divisor."""

    levels: Same[bool]
    classes: int
    printed: Sums[int, int]
    mean: Sums[int, int]


def _degrees(publication: Publication, forest: Forest) -> _DissimilaritySums:
    with_levels = [
        (kind, position, domain.level_count)
        for kind, domains in enumerate(forest.domains)
        for position, domain in enumerate(domains)
        if domain.levels is not None and domain.level_count > 1  # one level is never apart from itself
    ]
    vertices: Counter[int] = Counter()
    found: list[tuple[int, int, int, int]] = []
    for kind, position, levels in with_levels:
        chosen, counts = _level_counts(publication, forest, kind, position)
        present = counts.sum(axis=1)
        judged = present >= 2
        classes = publication.equivalence_class[chosen[judged]].tolist()
        distances = _pair_distances(counts[judged]).tolist()
        vertices.update(classes)
        found += zip(classes, distances, present[judged].tolist(), [levels] * len(classes), strict=True)
    return _DissimilaritySums(
        Same(bool(with_levels)),
        len(vertices),
        collect_sums((vertices[at] * _over(levels), distance) for at, distance, _, levels in found),
        collect_sums(
            (vertices[at] * (present * (present - 1) // 2) * (levels - 1), distance)
            for at, distance, present, levels in found
        ),
    )


def _over(levels: int) -> int:
    """Return the sum of |i - j| over all pairs of levels."""
    return sum(b - a for b in range(levels) for a in range(b))


def _level_counts(
    publication: Publication, forest: Forest, kind: int, position: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the representative vertices of a type, and the counts of levels among the members of each."""
    domain = forest.domains[kind][position]
    stands_for = publication.equivalence_position
    vertices = np.flatnonzero((stands_for >= 0) & (forest.type == kind))
    codes = forest.sensitive[forest.first_sensitive[vertices] + position]
    vertices, codes = vertices[codes >= 0], codes[codes >= 0]
    chosen, at = np.unique(stands_for[vertices], return_inverse=True)
    counts = np.zeros((len(chosen), domain.level_count), np.int64)
    np.add.at(counts, (at, np.array(domain.levels, np.int64)[codes] - 1), 1)
    return chosen, counts


def _pair_distances(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return per row of level counts the sum of |i - j| over all pairs of values."""
    levels = counts.shape[1]
    return sum(
        ((j - i) * counts[:, i] * counts[:, j] for j in range(levels) for i in range(j)),
        np.zeros(len(counts), np.int64),
    )
