"""Metrics of guessing a sensitive value from its class.

- ``DisclosureRate``: how often a guess from the class is right (TC section 5, erratum TC-10).
- ``ClassificationMetric``: the share that differs from the majority of its class (Iyengar, KDD 2002).
- ``ReconstructionError``: how far a reconstruction from a published table misses the original (LE IV.A).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.metrics.base import (
    Added,
    Figure,
    Metric,
    PublishedColumn,
    Question,
    Same,
    Site,
    Sums,
    Tallies,
    collect_sums,
    columns,
    quotients,
    sum_by_divisor,
)


class DisclosureRate(Metric):
    """The share of right guesses if each person's value is drawn at random from the class.

    TC reports a disclosure rate but does not define it (TC-10); this is our definition. At a position with n
    values, c of them equal to a vertex's own, that vertex counts c / n. The figure is the mean over the
    published vertices that have a value, for each sensitive attribute under its path, and ``largest`` of
    them; 0..1, lower is better, 0 if nothing is published. Positions of l equally frequent values have 1 / l.

    It is a mean, so a few classes that reveal everything hardly change it; such classes are bounded by the
    models. It includes what the whole table reveals, so it cannot fall far below the sum of the squared
    shares of the values. Other attributes and similar values are ignored.
    """

    symbol = "DIS"
    better = "lower"
    gated = ("largest",)
    explanation = (
        "The share of right guesses if each person's sensitive value is drawn at random from the class."
    )

    def questions(self, forest: Forest) -> tuple[Question, ...]:
        """See Metric.questions."""
        return (_guesses,)

    def figures(self, tallies: Tallies) -> tuple[Figure, ...]:
        """See Metric.figures; empty if no sensitive attribute has values."""
        guesses: Sums[Site, _Guesses] = tallies[_guesses]
        rates = {
            site.path: quotients(guesses[site].right) / max(1, guesses[site].values)
            for site in sorted(guesses)
        }
        figures = {"largest": max(rates.values()), **rates} if rates else {}
        return tuple(Figure(name, rate, "share", 0, 1, "lower") for name, rate in figures.items())


@dataclass(frozen=True)
class _Guesses(Added):
    """The sum over positions of sum c^2 / n, by n, and the number of published values."""

    right: Sums[int, int]
    values: int


def _guesses(publication: Publication, forest: Forest) -> Sums[Site, _Guesses]:
    guesses: Sums[Site, _Guesses] = Sums()
    for column in columns(publication, forest):
        sizes, places, counts = column.count_places()
        squares = np.zeros(len(sizes), np.int64)
        np.add.at(squares, places, counts**2)
        guesses[column.site] = _Guesses(sum_by_divisor(squares, sizes), int(sizes.sum()))
    return guesses


class ClassificationMetric(Metric):
    """The share of vertices whose sensitive value is not the most frequent one at their position.

    Of all vertices with a value of the attribute, it counts the suppressed ones, and those whose value is not
    the majority's among the vertices that cannot be told apart; ties have one majority. 0..1, for each
    sensitive attribute under its path, and their ``mean``. Lower is better for learning rules from the
    classes (Iyengar, KDD 2002, with the sensitive value as the label). Classes of one value have low figures,
    so it is no measure of privacy.
    """

    symbol = "CM"
    better = "lower"
    gated = ("mean",)
    explanation = (
        "The share of vertices that are suppressed, or whose sensitive value is not the most frequent at its "
        "place: lower is better for learning rules from the data, not for protecting it."
    )

    def questions(self, forest: Forest) -> tuple[Question, ...]:
        """See Metric.questions."""
        return (_count_agreeing,)

    def figures(self, tallies: Tallies) -> tuple[Figure, ...]:
        """See Metric.figures; empty if no sensitive attribute has values."""
        agreeing: Sums[Site, _Agreeing] = tallies[_count_agreeing]
        shares = {
            site.path: 1 - Fraction(agreeing[site].vertices, agreeing[site].all) for site in sorted(agreeing)
        }
        figures = {"mean": sum(shares.values(), Fraction(0)) / len(shares), **shares} if shares else {}
        return tuple(Figure(name, share, "share", 0, 1, "lower") for name, share in figures.items())


@dataclass(frozen=True)
class _Agreeing(Added):
    """The number of vertices with the most frequent value of their position, and of all with a value."""

    vertices: int
    all: int


def _count_agreeing(publication: Publication, forest: Forest) -> Sums[Site, _Agreeing]:
    sensitive = columns(publication, forest)
    return Sums({column.site: _Agreeing(_majorities(column), len(column.codes)) for column in sensitive})


def _majorities(column: PublishedColumn) -> int:
    """Count the vertices that have the most frequent value of their position."""
    sizes, places, counts = column.count_places()
    most = np.zeros(len(sizes), np.int64)
    np.maximum.at(most, places, counts)
    return int(most.sum())


class ReconstructionError(Metric):
    """The squared distance between the true values of a vertex and its class's shares (LE formulas 5 and 6).

    Among the vertices whose sensitive values cannot be told apart, a share p_x has the combination x of
    values; the one with combination t counts IL = sum over x of (p_x - [x = t])^2 = 1 - 2 p_t + sum p_x^2.
    That is the whole sum, not the one term of the printed example (erratum LE-5). A suppressed vertex counts
    1, since nothing is published of it (LE-6). ``total`` is the sum over all vertices that have a value of
    every sensitive attribute of their type, ``per_tuple`` divides by their number (0..1; 1 - 1/l in classes
    of l different values). Vertices with a missing value count neither here nor in the shares. If nothing
    links the values of a vertex (both kinds of slicing), p_x is the product of the shares in each sensitive
    table; that can mislead, so the distance is at most 2 there. Lower is better. Only sensitive values count,
    as in anatomy, where quasi-identifiers are published unchanged; ``lm_cost`` has the loss by
    generalization.
    """

    symbol = "IL"
    better = "lower"
    gated = (
        "total",
        "per_tuple",
    )
    explanation = (
        "How far one misses a vertex's true sensitive values by guessing from its class: the squared "
        "distance, 1 for a suppressed vertex."
    )
    ties = True

    def questions(self, forest: Forest) -> tuple[Question, ...]:
        """See Metric.questions."""
        return (_errors,)

    def figures(self, tallies: Tallies) -> tuple[Figure, ...]:
        """See Metric.figures; empty if no vertex has all its sensitive values."""
        errors: _Errors = tallies[_errors]
        if not errors.tuples:
            return ()
        worst = 2 if errors.apart.value else 1
        total = quotients(errors.total)
        return (
            Figure("total", total, "vertices", 0, worst * errors.tuples, "lower"),
            Figure("per_tuple", total / errors.tuples, "squared distance", 0, worst, "lower"),
        )


@dataclass(frozen=True)
class _Errors(Added):
    """The sum of squared distances by divisor, the number of vertices, and whether values are unlinked."""

    total: Sums[int, int]
    tuples: int
    apart: Same[bool]


def _errors(publication: Publication, forest: Forest) -> _Errors:
    total: Sums[int, int] = Sums()
    tuples, apart = 0, False
    for kind, domains in enumerate(forest.domains):
        if domains:
            places, combinations = _tuples(publication, forest, kind)
            there = (places >= 0).all(axis=0)
            gone = int((~there).sum())
            errors = _place_errors(places[:, there], combinations[:, there])
            total += collect_sums(chain([(1, gone)], errors))
            tuples += places.shape[1]
            apart |= len(combinations) > 1
    return _Errors(total, tuples, Same(apart))


def _tuples(
    publication: Publication, forest: Forest, kind: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return positions and combinations' numbers of the vertices that have all values, each by table."""
    domains = forest.domains[kind]
    vertices = np.flatnonzero(forest.type == kind)
    codes = forest.sensitive[forest.first_sensitive[vertices][:, None] + np.arange(len(domains))]
    whole = (codes >= 0).all(axis=1)
    complete = codes[whole]
    stated = [
        [position for position, domain in enumerate(domains) if domain.path in paths]
        for paths in publication.tables.values()
    ]
    tables = [*filter(None, stated)] or [[*range(len(domains))]]
    combinations = np.zeros((len(tables), len(complete)), np.int64)
    places = np.zeros((len(tables), len(complete)), np.int64)
    for number, positions in enumerate(tables):
        places[number] = publication.positions_of(domains[positions[0]].path)[vertices[whole]]
        for column in complete.T[positions]:
            base = int(column.max(initial=0)) + 1
            joined = combinations[number] * base + column
            combinations[number] = np.unique(joined, return_inverse=True)[1]
    return places, combinations


def _place_errors(places: NDArray[np.int64], combinations: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield divisors and dividends of the sum of 1 - 2 p_t + sum p_x^2 over the vertices.

    p is the product over the tables. Where a table has n vertices at a vertex's position, and c of them have
    its value, p_t is the product of c / n, and sum p_x^2 that of sum c^2 / n^2.
    """
    # Products over several tables may exceed 64 bits; the squares of one table do not.
    kind = np.int64 if len(combinations) == 1 else object
    true, squares, sizes = (np.ones(places.shape[1], kind) for _ in range(3))
    for positions, column in zip(places, combinations, strict=True):
        _, number, members = np.unique(positions, return_inverse=True, return_counts=True)
        base = int(column.max(initial=0)) + 1
        entries, cell, counts = np.unique(number * base + column, return_inverse=True, return_counts=True)
        summed = np.zeros(len(members), np.int64)
        np.add.at(summed, entries // base, counts.astype(np.int64) ** 2)
        squares = squares * summed[number]
        true = true * counts[cell]
        sizes = sizes * members[number]
    yield 1, places.shape[1]
    distinct, alike = np.unique(sizes, return_inverse=True)
    sums = [np.zeros(len(distinct), object) for _ in range(2)]
    for total, terms in zip(sums, (squares, true), strict=True):
        np.add.at(total, alike, terms)  # positions of one size are summed as integers
    for size, square, hit in zip(distinct.tolist(), *(total.tolist() for total in sums), strict=True):
        yield size * size, int(square)
        yield size, -2 * int(hit)
