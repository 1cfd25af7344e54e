"""Reconstruction error: how far a published table lets one miss the original rows (LE section IV.A)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hierdata.forest import Forest
from hierdata.metrics.base import Figure, Metric
from hierdata.publication import Publication


class ReconstructionError(Metric):
    """The squared distance between what is true of a vertex and what its class says (LE formulas 5 and 6).

    Among the vertices whose sensitive values cannot be told apart, a share p_x has the combination x of
    values; the one with combination t counts IL = sum over x of (p_x - [x = t])^2 = 1 - 2 p_t + sum p_x^2.
    That is the whole sum, not the one term of the printed example (erratum LE-5). A suppressed vertex counts
    1: nothing is published of it (LE-6). ``total`` adds up all vertices that have a value of every sensitive
    attribute of their type, ``per_tuple`` divides by their number (0..1; 1 - 1/l in classes of l
    different values). Vertices with a value missing count neither here nor in the shares.
    Lower is better. Only sensitive values are looked at, as in anatomy, where quasi-identifiers are published
    as they are: what generalization takes away is ``lm_cost``.
    """

    symbol = "IL"

    def figures(self, publication: Publication, forest: Forest) -> tuple[Figure, ...]:
        """See Metric.figures; none where no vertex has all its sensitive values."""
        total, tuples = Fraction(0), 0
        for kind, domains in enumerate(forest.domains):
            if domains:
                places, combinations = _tuples(publication, forest, kind, len(domains))
                there = places >= 0
                total += int((~there).sum()) + _errors(places[there], combinations[there])
                tuples += len(places)
        if not tuples:
            return ()
        return (
            Figure("total", total, "vertices", 0, tuples, "lower"),
            Figure("per_tuple", total / tuples, "squared distance", 0, 1, "lower"),
        )


def _tuples(
    publication: Publication, forest: Forest, kind: int, attributes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The place of each vertex of a type that has all its values, and a number for their combination."""
    vertices = np.flatnonzero(forest.type == kind)
    codes = forest.sensitive[forest.first_sensitive[vertices][:, None] + np.arange(attributes)]
    complete = (codes >= 0).all(axis=1)
    combinations = np.zeros(int(complete.sum()), np.int64)
    for column in codes[complete].T:
        base = int(column.max(initial=0)) + 1
        combinations = np.unique(combinations * base + column, return_inverse=True)[1]
    return publication.place[vertices[complete]], combinations


def _errors(places: NDArray[np.int64], combinations: NDArray[np.int64]) -> Fraction:
    """The sum over places of n - sum c^2 / n: n rows, c of them with each combination."""
    owners, at, sizes = np.unique(places, return_inverse=True, return_counts=True)
    base = int(combinations.max(initial=0)) + 1
    entries, counts = np.unique(at * base + combinations, return_counts=True)
    squares = np.zeros(len(owners), np.int64)
    np.add.at(squares, entries // base, counts.astype(np.int64) ** 2)
    # Places of one size are added up as integers before anything is divided.
    return len(places) - sum(
        (Fraction(int(squares[sizes == size].sum()), size) for size in np.unique(sizes).tolist()),
        Fraction(0),
    )
