"""Sensitive attributes as columns: the code of each vertex, and its equivalence position."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.metrics.sums import Site


@dataclass(frozen=True)
class PublishedColumn:
    """The present values of one attribute; ``places`` are equivalence positions, -1 if not published."""

    site: Site
    places: NDArray[np.int64]
    codes: NDArray[np.int32]

    def count_places(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Count the values of each published position; then each value at each: positions and counts."""
        there = self.places >= 0
        _, at, sizes = np.unique(self.places[there], return_inverse=True, return_counts=True)
        base = int(self.codes.max(initial=0)) + 1
        entries, counts = np.unique(at.ravel() * base + self.codes[there], return_counts=True)
        return sizes, entries // base, counts.astype(np.int64)


def columns(publication: Publication, forest: Forest) -> Iterator[PublishedColumn]:
    """Yield every sensitive attribute that has values."""
    for kind, domains in enumerate(forest.domains):
        vertices = np.flatnonzero(forest.type == kind)
        for position, domain in enumerate(domains):
            codes = forest.sensitive[forest.first_sensitive[vertices] + position]
            there = codes >= 0
            if there.any():
                yield PublishedColumn(
                    Site(kind, position, domain.path),
                    publication.positions_of(domain.path)[vertices[there]],
                    codes[there],
                )
