"""Diversity degree: how far apart the sensitive values of a class are in their taxonomy (LE section IV.B)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hierdata.domains.similarity import NodePath
from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.metrics.base import Figure, Metric, Question, Tallies
from hierdata.metrics.sums import Added, Same, Sums, collect_sums, quotients


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
        for kind, domains in enumerate(forest.domains)
        for position, domain in enumerate(domains)
        if domain.paths is not None
    ]
    found = [
        place
        for kind, position, paths in with_taxonomy
        for place in _places(publication, forest, kind, position, paths)
    ]
    deepest = max((len(path) - 1 for _, _, paths in with_taxonomy for path in paths), default=0)
    return _DiversitySums(
        Same(deepest if with_taxonomy else None),
        sum(times for *_, times in found),
        collect_sums((2 * present, times * edges) for edges, present, times in found),
        collect_sums((present * (present - 1), times * edges) for edges, present, times in found),
    )


def _places(
    publication: Publication, forest: Forest, kind: int, position: int, paths: Sequence[NodePath]
) -> Iterator[tuple[int, int, int]]:
    """Yield edges over all pairs, number of values, and number of positions with both; from two values on.

    O(n log n x depth): if m of the q values are below a node of the taxonomy, the edge above it is on the
    paths between them and the q - m others.
    """
    positions = publication.positions_of(forest.domains[kind][position].path)
    vertices = np.flatnonzero((positions >= 0) & (forest.type == kind))
    codes = forest.sensitive[forest.first_sensitive[vertices] + position]
    vertices, codes = vertices[codes >= 0], codes[codes >= 0]
    owners, at, present = np.unique(positions[vertices], return_inverse=True, return_counts=True)
    depth = max(map(len, paths), default=0)
    below = np.array([(*path, *[-1] * (depth - len(path))) for path in paths], np.int64).reshape(
        len(paths), depth
    )
    edges = np.zeros(len(owners), np.int64)
    for level in range(1, depth):
        nodes = below[codes, level]
        there = nodes >= 0
        base = int(nodes.max(initial=0)) + 1
        entries, counts = np.unique(at[there] * base + nodes[there], return_counts=True)
        owner = entries // base
        np.add.at(edges, owner, counts * (present[owner] - counts))
    found, times = np.unique(np.stack([edges, present])[:, present >= 2], axis=1, return_counts=True)
    yield from zip(*found.tolist(), times.tolist(), strict=True)
