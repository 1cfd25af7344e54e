"""Metrics of how far apart the sensitive values of a class are.

By their sensitivity levels (ML section 5.1, equations 6 and 7), and by their taxonomy (LE section IV.B).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hierdata.domains.similarity import NodePath
from hierdata.forest.forest import Forest
from hierdata.forest.isomorphism import align_alike
from hierdata.forest.publication import Publication
from hierdata.metrics.base import (
    Added,
    Figure,
    Metric,
    Question,
    Same,
    Sums,
    Tallies,
    collect_sums,
    quotients,
)


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
        sums: _Dissimilarity = tallies[_dissimilarity]
        if not sums.levels.value:
            return ()
        means: list[tuple[str, Fraction, int | None]] = [
            ("pooled", sums.pooled.degree, None),
            ("mean_level_distance", sums.pooled.mean_distance, 1),
        ]
        if sums.known.value:
            means.insert(0, ("as_printed", sums.aligned.degree, None))
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
        for kind, position, domain in forest.list_domains()
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
    pair_sums: list[tuple[int, int, int, int]] = []
    for kind, position, levels in with_levels:
        path = forest.domains[kind][position].path
        positions = publication.positions_of(path) if aligned is None else aligned
        chosen, counts = _level_counts(positions, forest, kind, position)
        present = counts.sum(axis=1)
        judged = present >= 2
        classes = _classes(publication, path)[chosen[judged]].tolist()
        distances = _pair_distances(counts[judged]).tolist()
        vertices.update(classes)
        pair_sums += zip(classes, distances, present[judged].tolist(), [levels] * len(classes), strict=True)
    return _PairSums(
        len(vertices),
        collect_sums(
            (vertices[class_] * _sum_distances(levels), distance) for class_, distance, _, levels in pair_sums
        ),
        collect_sums(
            (vertices[class_] * (present * (present - 1) // 2) * (levels - 1), distance)
            for class_, distance, present, levels in pair_sums
        ),
    )


def _classes(publication: Publication, path: str) -> NDArray[np.int64]:
    """Return the classes of vertices for one attribute: groups, where each table has its own."""
    for number, (part, positions) in enumerate(publication.table_positions.items()):
        if path in publication.tables[part]:
            return positions + number * len(positions)
    return publication.equivalence_class


def _sum_distances(levels: int) -> int:
    """Return the sum of |i - j| over all pairs of levels."""
    return sum(b - a for b in range(levels) for a in range(b))


def _level_counts(
    positions: NDArray[np.int64], forest: Forest, kind: int, position: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions of a type, as vertices, and the counts of levels among the members of each."""
    domain = forest.domains[kind][position]
    places, codes = _published_codes(positions, forest, kind, position)
    chosen, number = np.unique(places, return_inverse=True)
    counts = np.zeros((len(chosen), domain.level_count), np.int64)
    np.add.at(counts, (number, np.array(domain.levels, np.int64)[codes] - 1), 1)
    return chosen, counts


def _pair_distances(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return per row of level counts the sum of |i - j| over all pairs of values."""
    levels = counts.shape[1]
    return sum(
        ((j - i) * counts[:, i] * counts[:, j] for j in range(levels) for i in range(j)),
        np.zeros(len(counts), np.int64),
    )


class DiversityDegree(Metric):
    """The mean over classes of the sum of distances over pairs of values, by two divisors.

    Among q values at one position of a class, D is the sum over all pairs of their semantic distance, half
    the path between them in the taxonomy (LE definition 4 with erratum LE-7). ``as_printed`` is DOT of
    formula 10, the mean of DOD = D / q (formula 9): it grows with q, so compare it at equal class sizes only
    (LE-8). ``mean_pair_distance`` is the mean of D / (q (q - 1) / 2). Positions with fewer than two values,
    and attributes without a taxonomy, are left out. With several attributes, or several positions in trees,
    every attribute at every position counts once. Higher is better.
    """

    symbol = "DOT"
    better = "higher"
    gated = (
        "as_printed",
        "mean_pair_distance",
    )
    explanation = (
        "How far apart the sensitive values of a class are in their taxonomy: as the paper prints it, which "
        "grows with the class, and as the mean distance of two values."
    )

    def questions(self, forest: Forest) -> tuple[Question, ...]:
        """See Metric.questions."""
        return (_degrees,)

    def figures(self, tallies: Tallies) -> tuple[Figure, ...]:
        """See Metric.figures; empty if no sensitive attribute has a taxonomy."""
        degrees: _DiversitySums = tallies[_degrees]
        if degrees.deepest.value is None:
            return ()
        return tuple(
            Figure(name, quotients(sums) / max(degrees.places, 1), "edges, half the way", 0, high, "higher")
            for name, sums, high in (
                ("as_printed", degrees.printed, None),
                ("mean_pair_distance", degrees.mean, degrees.deepest.value),
            )
        )


@dataclass(frozen=True)
class _DiversitySums(Added):
    """The depth of the taxonomies (None without any), the number of positions, sums over these by divisor."""

    deepest: Same[int | None]
    places: int
    printed: Sums[int, int]
    mean: Sums[int, int]


def _degrees(publication: Publication, forest: Forest) -> _DiversitySums:
    with_taxonomy = [
        (kind, position, domain.paths)
        for kind, position, domain in forest.list_domains()
        if domain.paths is not None
    ]
    degrees = [
        place
        for kind, position, paths in with_taxonomy
        for place in _places(publication, forest, kind, position, paths)
    ]
    deepest = max((len(path) - 1 for _, _, paths in with_taxonomy for path in paths), default=0)
    return _DiversitySums(
        Same(deepest if with_taxonomy else None),
        sum(times for *_, times in degrees),
        collect_sums((2 * present, times * edges) for edges, present, times in degrees),
        collect_sums((present * (present - 1), times * edges) for edges, present, times in degrees),
    )


def _places(
    publication: Publication, forest: Forest, kind: int, position: int, paths: Sequence[NodePath]
) -> Iterator[tuple[int, int, int]]:
    """Yield edges over all pairs, number of values, and number of positions with both; from two values on.

    O(n log n x depth): if m of the q values are below a node of the taxonomy, the edge above it is on the
    paths between them and the q - m others.
    """
    positions = publication.positions_of(forest.domains[kind][position].path)
    places, codes = _published_codes(positions, forest, kind, position)
    owners, number, present = np.unique(places, return_inverse=True, return_counts=True)
    depth = max(map(len, paths), default=0)
    below = np.array([(*path, *[-1] * (depth - len(path))) for path in paths], np.int64).reshape(
        len(paths), depth
    )
    edges = np.zeros(len(owners), np.int64)
    for level in range(1, depth):
        nodes = below[codes, level]
        there = nodes >= 0
        base = int(nodes.max(initial=0)) + 1
        entries, counts = np.unique(number[there] * base + nodes[there], return_counts=True)
        owner = entries // base
        np.add.at(edges, owner, counts * (present[owner] - counts))
    distinct, times = np.unique(np.stack([edges, present])[:, present >= 2], axis=1, return_counts=True)
    yield from zip(*distinct.tolist(), times.tolist(), strict=True)


def _published_codes(
    positions: NDArray[np.int64], forest: Forest, kind: int, position: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the positions and codes of the vertices of a type that are published and have a value."""
    vertices = np.flatnonzero((positions >= 0) & (forest.type == kind))
    codes = forest.sensitive[forest.first_sensitive[vertices] + position]
    return positions[vertices[codes >= 0]], codes[codes >= 0]
