"""How far apart the sensitive values of each class are in their taxonomy (LE definitions 5 and 6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.domains.similarity import NodePath, difference_matrix, distance
from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.measurement.key_values import label_values, plain_number


@dataclass(frozen=True)
class ClassDiversity:
    """The diversity of the q sensitive values at one position of a class; in tables a class has one position.

    ``number`` is that of the position, from 1, in the order of the published records. ``counts`` has how many
    of the q values are v1, v2 .., the values of the attribute in ascending order. ``diversity_degree`` is DOD
    of LE definition 6, in edges, half the way; it grows with q (erratum LE-8). ``mean_pair_distance`` is the
    mean over all pairs instead. Both are None for fewer than two values.
    """

    number: int
    counts: Mapping[str, int]
    diversity_degree: Fraction | None
    mean_pair_distance: Fraction | None
    paths: Mapping[str, NodePath] = field(repr=False)

    @property
    def size(self) -> int:
        """q, the number of values."""
        return sum(self.counts.values())

    @property
    def labels(self) -> tuple[str, ...]:
        """The label of each value, the order of the difference matrix."""
        return tuple(Counter(self.counts).elements())

    @property
    def difference_matrix(self) -> tuple[tuple[Fraction, ...], ...]:
        """The q x q distances between the values (LE definition 5), in the order of ``labels``."""
        return difference_matrix([self.paths[label] for label in self.labels])

    def as_dict(self) -> dict[str, Any]:
        """Return plain data; ``distances`` has one row and column for equal values."""
        own = difference_matrix([self.paths[label] for label in self.counts])
        return {
            "number": self.number,
            "size": self.size,
            "diversity_degree": plain_number(self.diversity_degree),
            "mean_pair_distance": plain_number(self.mean_pair_distance),
            "values": [{"value": label, "count": count} for label, count in self.counts.items()],
            "distances": [[float(apart) for apart in row] for row in own],
        }


def list_diversities(publication: Publication, forest: Forest) -> dict[str, tuple[ClassDiversity, ...]]:
    """Return the diversity of each position, by the path of each sensitive attribute with a taxonomy."""
    return {
        domain.path: tuple(_diversities(publication, forest, kind, position, domain.paths, domain))
        for kind, own in enumerate(forest.domains)
        for position, domain in enumerate(own)
        if domain.paths is not None
    }


def _diversities(
    publication: Publication,
    forest: Forest,
    kind: int,
    position: int,
    paths: tuple[NodePath, ...],
    domain: SensitiveDomain,
) -> Iterator[ClassDiversity]:
    labels = label_values(domain.values)
    path_of = dict(zip(labels, paths, strict=True))
    places = publication.positions_of(domain.path)
    vertices = np.flatnonzero((places >= 0) & (forest.type == kind))
    codes = forest.sensitive[forest.first_sensitive[vertices] + position]
    pairs = np.stack([places[vertices], codes.astype(np.int64)])[:, codes >= 0]
    found, counts = np.unique(pairs, axis=1, return_counts=True)
    held: dict[int, dict[int, int]] = {}
    for place, code, count in zip(*found.tolist(), counts.tolist(), strict=True):
        held.setdefault(place, {})[code] = count
    known: dict[tuple[tuple[int, int], ...], tuple[Fraction | None, Fraction | None]] = {}
    for number, own in enumerate(held.values(), 1):
        key = tuple(own.items())
        if key not in known:
            known[key] = _degrees(own, paths)
        yield ClassDiversity(number, {labels[code]: count for code, count in key}, *known[key], path_of)


def _degrees(
    counts: Mapping[int, int], paths: tuple[NodePath, ...]
) -> tuple[Fraction | None, Fraction | None]:
    """Return D / q and D / (q (q - 1) / 2), where D is the sum over all pairs."""
    size, listed = sum(counts.values()), list(counts.items())
    if size < 2:
        return None, None
    total = sum(
        (
            one * other * distance(paths[code], paths[apart])
            for at, (code, one) in enumerate(listed)
            for apart, other in listed[at + 1 :]
        ),
        Fraction(0),
    )
    return total / size, 2 * total / (size * (size - 1))
