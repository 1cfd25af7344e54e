"""Sensitive attributes as columns: what each vertex has, and where it lies once it is published."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.metrics.sums import Site


@dataclass(frozen=True)
class Column:
    """The values of one attribute that are there: ``places`` -1 for a vertex that is not published."""

    site: Site
    places: NDArray[np.int64]
    codes: NDArray[np.int32]

    def counted(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """How many values each published place has; then places, and how often one value occurs there."""
        there = self.places >= 0
        _, at, sizes = np.unique(self.places[there], return_inverse=True, return_counts=True)
        base = int(self.codes.max(initial=0)) + 1
        entries, counts = np.unique(at.ravel() * base + self.codes[there], return_counts=True)
        return sizes, entries // base, counts.astype(np.int64)


def columns(publication: Publication, forest: Forest) -> Iterator[Column]:
    """Every sensitive attribute that has values."""
    for kind, domains in enumerate(forest.domains):
        vertices = np.flatnonzero(forest.type == kind)
        for position, domain in enumerate(domains):
            codes = forest.sensitive[forest.first_sensitive[vertices] + position]
            there = codes >= 0
            if there.any():
                yield Column(
                    Site(kind, position, domain.path), publication.place[vertices[there]], codes[there]
                )
