"""Dissimilarity degree: how far apart sensitivity levels are at a vertex (ML section 5.1, equations 6, 7)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hierdata.forest import Forest
from hierdata.metrics.base import Figure, Metric
from hierdata.publication import Publication


class DissimilarityDegree(Metric):
    """The mean over classes of the mean over the vertices of the class representative.

    At a vertex with levels s_1..s_m: ``as_printed`` is the sum over pairs of |s_i - s_j|, divided by the
    same sum over the z levels themselves (20 for five); it grows with the class size, so compare it at
    equal k only (erratum ML-15). Identical siblings are one vertex here, as they are to every reader, and so
    are classes that look alike. ``mean_level_distance`` is the mean of |s_i - s_j| over pairs, divided by
    z - 1, in 0..1. Vertices with fewer than two values are left out, and attributes without levels. Higher
    is better.
    """

    symbol = "DSim"

    def figures(self, publication: Publication, forest: Forest) -> tuple[Figure, ...]:
        """See Metric.figures; none where no attribute has levels."""
        if not any(domain.levels is not None for own in forest.domains for domain in own):
            return ()
        classes_there = publication.class_count
        printed = [Fraction(0)] * classes_there
        mean = [Fraction(0)] * classes_there
        vertices = [0] * classes_there
        for kind, domains in enumerate(forest.domains):
            for position, domain in enumerate(domains):
                if domain.levels is None:
                    continue
                chosen, counts = _level_counts(publication, forest, kind, position)
                distances = _pair_distances(counts)
                normaliser = sum(b - a for b in range(domain.level_count) for a in range(b))
                classes = publication.class_of[chosen]
                for at, distance, present in zip(
                    classes.tolist(), distances.tolist(), counts.sum(axis=1).tolist(), strict=True
                ):
                    if present >= 2:
                        pairs = present * (present - 1) // 2
                        printed[at] += Fraction(distance, normaliser)
                        mean[at] += Fraction(distance, pairs * (domain.level_count - 1))
                        vertices[at] += 1
        judged = [at for at, count in enumerate(vertices) if count]
        return tuple(
            Figure(
                name,
                sum((sums[at] / vertices[at] for at in judged), Fraction(0)) / max(len(judged), 1),
                "levels",
                0,
                high,
                "higher",
            )
            for name, sums, high in (("as_printed", printed, None), ("mean_level_distance", mean, 1))
        )


def _level_counts(
    publication: Publication, forest: Forest, kind: int, position: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The representative vertices of a type, and for each how often every level occurs among its members."""
    domain = forest.domains[kind][position]
    stands_for = publication.place
    vertices = np.flatnonzero((stands_for >= 0) & (forest.type == kind))
    codes = forest.sensitive[forest.first_sensitive[vertices] + position]
    vertices, codes = vertices[codes >= 0], codes[codes >= 0]
    chosen, at = np.unique(stands_for[vertices], return_inverse=True)
    counts = np.zeros((len(chosen), domain.level_count), np.int64)
    np.add.at(counts, (at, np.array(domain.levels, np.int64)[codes] - 1), 1)
    return chosen, counts


def _pair_distances(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Per row the sum of |i - j| over all pairs of values, from the counts of levels."""
    levels = counts.shape[1]
    return sum(
        ((j - i) * counts[:, i] * counts[:, j] for j in range(levels) for i in range(j)),
        np.zeros(len(counts), np.int64),
    )
