"""Dissimilarity degree: how far apart sensitivity levels are at a vertex (ML section 5.1, equations 6, 7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hierdata.forest.forest import Forest
from hierdata.forest.isomorphism import align_alike
from hierdata.forest.publication import Publication
from hierdata.metrics.base import Figure, Metric, Question, Tallies
from hierdata.metrics.sums import Added, Same, Sums, collect_sums, quotients


class DissimilarityDegree(Metric):
    """The mean over classes of the mean over the vertices of the class representative.

    At a vertex with levels s_1..s_m the degree is the sum over pairs of |s_i - s_j|, divided by the same sum
    over the z levels themselves (20 for five); it grows with the class size, so compare it at equal k only
    (erratum ML-15). ``as_printed`` takes the vertices of the representative as they were aligned, also if
    siblings look alike; classes that look alike are one class, whose siblings of one form are aligned in
    their order. It needs the alignment, so files that are read back have no such figure. Where each sensitive
    table has groups of its own (slicing by table), groups are the classes of its attributes. ``pooled`` takes
    siblings of one form as one vertex, as every reader sees them. ``mean_level_distance`` is the mean of
    |s_i - s_j| over pairs at the same vertices as ``pooled``, divided by z - 1, in 0..1. Vertices with fewer
    than two values, and attributes without levels or with one level, are left out. Higher is better.
    """

    symbol = "DSim"
    better = "higher"
    gated = (
        "as_printed",
        "pooled",
        "mean_level_distance",
    )
    aligned = ("as_printed",)
    explanation = (
        "How far apart the sensitivity levels at a vertex of a class are: as the paper prints it, with"
        " siblings that look alike pooled (both grow with the class), and as a mean distance from 0 to 1."
    )

    def questions(self, forest: Forest) -> tuple[Question, ...]:
        """See Metric.questions."""
        return (_dissimilarity,)

    def figures(self, tallies: Tallies) -> tuple[Figure, ...]:
        """See Metric.figures; empty if no attribute has levels."""
        found: _Dissimilarity = tallies[_dissimilarity]
        if not found.levels.value:
            return ()
        means: list[tuple[str, Fraction, int | None]] = [
            ("pooled", found.pooled.degree, None),
            ("mean_level_distance", found.pooled.mean_distance, 1),
        ]
        if found.known.value:
            means.insert(0, ("as_printed", found.aligned.degree, None))
        return tuple(Figure(name, mean, "levels", 0, high, "higher") for name, mean, high in means)


@dataclass(frozen=True)
class _PairSums(Added):
    """The number of classes with pairs of values, and sums over them by divisor."""

    classes: int
    degrees: Sums[int, int]
    distances: Sums[int, int]

    @property
    def degree(self) -> Fraction:
        return quotients(self.degrees) / max(self.classes, 1)

    @property
    def mean_distance(self) -> Fraction:
        return quotients(self.distances) / max(self.classes, 1)


@dataclass(frozen=True)
class _Dissimilarity(Added):
    """Whether any attribute has levels, whether the alignment is known, and the sums at its positions."""

    levels: Same[bool]
    known: Same[bool]
    aligned: _PairSums
    pooled: _PairSums


def _dissimilarity(publication: Publication, forest: Forest) -> _Dissimilarity:
    with_levels = [
        (kind, position, domain.level_count)
        for kind, domains in enumerate(forest.domains)
        for position, domain in enumerate(domains)
        if domain.levels is not None and domain.level_count > 1  # one level is never apart from itself
    ]
    pooled = aligned = _sum_pairs(publication, forest, None, with_levels)
    known = publication.representative is not None
    if publication.representative is not None and not publication.table_positions:
        positions = align_alike(forest, publication.representative, publication.equivalence_position)
        aligned = _sum_pairs(publication, forest, positions, with_levels)
    return _Dissimilarity(Same(bool(with_levels)), Same(known), aligned, pooled)


def _sum_pairs(
    publication: Publication,
    forest: Forest,
    aligned: NDArray[np.int64] | None,
    with_levels: Sequence[tuple[int, int, int]],
) -> _PairSums:
    """Sum over the pairs of values at each position, divided by the vertices of its class.

    Positions are those of the publication unless vertices are ``aligned`` otherwise.
    """
    vertices: Counter[int] = Counter()
    found: list[tuple[int, int, int, int]] = []
    for kind, position, levels in with_levels:
        path = forest.domains[kind][position].path
        positions = publication.positions_of(path) if aligned is None else aligned
        chosen, counts = _level_counts(positions, forest, kind, position)
        present = counts.sum(axis=1)
        judged = present >= 2
        classes = _classes(publication, path)[chosen[judged]].tolist()
        distances = _pair_distances(counts[judged]).tolist()
        vertices.update(classes)
        found += zip(classes, distances, present[judged].tolist(), [levels] * len(classes), strict=True)
    return _PairSums(
        len(vertices),
        collect_sums((vertices[at] * _over(levels), distance) for at, distance, _, levels in found),
        collect_sums(
            (vertices[at] * (present * (present - 1) // 2) * (levels - 1), distance)
            for at, distance, present, levels in found
        ),
    )


def _classes(publication: Publication, path: str) -> NDArray[np.int64]:
    """Return the classes of vertices for one attribute: groups, where each table has its own."""
    for number, (part, positions) in enumerate(publication.table_positions.items()):
        if path in publication.tables[part]:
            return positions + number * len(positions)
    return publication.equivalence_class


def _over(levels: int) -> int:
    """Return the sum of |i - j| over all pairs of levels."""
    return sum(b - a for b in range(levels) for a in range(b))


def _level_counts(
    positions: NDArray[np.int64], forest: Forest, kind: int, position: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions of a type, as vertices, and the counts of levels among the members of each."""
    domain = forest.domains[kind][position]
    vertices = np.flatnonzero((positions >= 0) & (forest.type == kind))
    codes = forest.sensitive[forest.first_sensitive[vertices] + position]
    vertices, codes = vertices[codes >= 0], codes[codes >= 0]
    chosen, at = np.unique(positions[vertices], return_inverse=True)
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
