"""Compiled loops over published records: how much of what is known agrees, and what values they tell."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.jit import inline_kernel, jit, lean
from hierdata.measurement.adversary.embedding import (
    KnownFacts,
    RecordSpace,
    Vertices,
    count_facts,
    cover,
    find_images,
    lay,
    make_space,
)


class ShareRows(NamedTuple):
    """Rows of shares: row r has the values ``codes[first[r] : first[r + 1]]`` with these ``shares``."""

    first: NDArray[np.int64]
    codes: NDArray[np.int64]
    shares: NDArray[np.float64]


class Shares(NamedTuple):
    """The shares of an attribute's values where a vertex is published.

    Row ``row[v]`` of ``rows`` is about vertex v: the shares of the vertices that look as it does. ``kind``
    is the attribute's type, ``depth[t]`` the depth of type t.
    """

    kind: int
    depth: NDArray[np.int64]
    row: NDArray[np.int64]
    rows: ShareRows


class Sum(NamedTuple):
    """The weight of each value; the first ``used[0]`` of ``codes`` are the values that weigh anything."""

    weights: NDArray[np.float64]
    codes: NDArray[np.int64]
    used: NDArray[np.int64]


@jit
def count_first_agreeing(
    roots: NDArray[np.int64],
    sizes: NDArray[np.int64],
    most: NDArray[np.int64],
    vertices: Vertices,
    known: KnownFacts,
) -> NDArray[np.int64]:
    """Return for each record, given by root and size, how many of the first facts it agrees with together.

    It agrees with at most ``most`` of them.
    """
    counts = most.copy()
    space = make_space(known, sizes)
    for number in range(len(roots)):
        if counts[number]:
            cover(roots[number], sizes[number], vertices, known, space)
        while counts[number] and not lay(
            (1 << counts[number]) - 1, roots[number], sizes[number], vertices, known, space
        ):
            counts[number] -= 1
    return counts


@jit
def count_agreeing(
    roots: NDArray[np.int64],
    sizes: NDArray[np.int64],
    vertices: Vertices,
    known: KnownFacts,
    masks: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return for each record, given by root and size, the size of the first set of facts that it agrees with.

    ``masks`` are the sets to try, larger ones first.
    """
    counts = np.zeros(len(roots), np.int64)
    space = make_space(known, sizes)
    for number in range(len(roots)):
        cover(roots[number], sizes[number], vertices, known, space)
        for mask in masks:
            if lay(mask, roots[number], sizes[number], vertices, known, space):
                counts[number] = count_facts(mask)
                break
    return counts


@jit
def weigh_values(
    roots: NDArray[np.int64],
    sizes: NDArray[np.int64],
    records: NDArray[np.int64],
    agreed: NDArray[np.int64],
    vertices: Vertices,
    known: KnownFacts,
    paths: NDArray[np.int64],
    shares: Shares,
    weights: NDArray[np.float64],
) -> None:
    """Add to row f of ``weights`` what records tell when the first f facts are known, but for skipped rows.

    It is about an attribute's value at or below a known vertex, to which row f of ``paths`` leads from the
    known root, -1 behind it; rows that begin with -1 are skipped. Each record weighs ``records`` times the
    share of vertices with a value, divided equally among the vertices that the known one may be. Where none
    of its facts agrees, the vertex above it is asked. ``agreed[f]`` is the number of facts that each record
    agrees with, -1 for records that are no candidates.
    """
    space, values = make_space(known, sizes), weights.shape[1]
    sums = Sum(np.zeros(values), np.empty(values, np.int64), np.zeros(1, np.int64))
    images = np.empty((2, len(space.images)), np.int64)
    for number in range(len(roots)):
        cover(roots[number], sizes[number], vertices, known, space)
        _weigh_record(
            roots[number], sizes[number], float(records[number]), agreed[:, number],
            vertices, known, paths, shares, space, images, sums, weights,
        )  # fmt: skip


@inline_kernel
def _weigh_record(
    root: int,
    size: int,
    weight: float,
    agreed: NDArray[np.int64],
    vertices: Vertices,
    known: KnownFacts,
    paths: NDArray[np.int64],
    shares: Shares,
    space: RecordSpace,
    images: NDArray[np.int64],
    sums: Sum,
    weights: NDArray[np.float64],
) -> None:
    """Add what a record tells; ``images`` is space for two rows of vertices, ``sums`` for their values."""
    before = -1
    for facts in range(len(paths)):
        most = agreed[facts]
        if most < 0 or paths[facts, 0] < 0:
            continue
        count = 0
        last = known.of_size[most - 1] if most else len(known.masks)
        for mask in known.masks[known.of_size[most] : last]:
            if mask >> facts:  # sets of one size rise
                break
            if lay(mask, root, size, vertices, known, space):
                image_count = find_images(mask, root, vertices, known, space, paths[facts])
                count = _insert(images[0], count, space.images[:image_count])
        # With one fact more the images are often the same.
        if count != before or not _are_equal(images, count):
            _sum_values(images[0, :count], weight, vertices, shares, sums)
            for index in range(count):
                images[1, index] = images[0, index]
            before = count
        _add_sum(sums, weights[facts])


@inline_kernel
def _insert(numbers: NDArray[np.int64], count: int, others: NDArray[np.int64]) -> int:
    """Insert other numbers among the first ones, all ascending and each once; return how many there are."""
    for other in others:
        position = count
        while position and numbers[position - 1] > other:
            position -= 1
        if position and numbers[position - 1] == other:
            continue
        for behind in range(count, position, -1):
            numbers[behind] = numbers[behind - 1]
        numbers[position] = other
        count += 1
    return count


@inline_kernel
def _are_equal(rows: NDArray[np.int64], count: int) -> bool:
    """Return whether two rows begin with the same numbers."""
    equal = True
    for index in range(count):
        equal &= rows[0, index] == rows[1, index]
    return equal


@inline_kernel
def _sum_values(
    images: NDArray[np.int64], weight: float, vertices: Vertices, shares: Shares, sums: Sum
) -> None:
    """Divide a weight equally among the vertices at or below images that have the attribute."""
    for index in range(sums.used[0]):
        sums.weights[sums.codes[index]] = 0
    sums.used[0] = 0
    total = 0
    for image in images:
        first, last = _find_places(image, vertices, shares)
        for vertex in range(first, last):
            total += vertices.kind[vertex] == shares.kind
    held, times = 0, 0  # vertices that look alike follow one another
    for image in images:
        first, last = _find_places(image, vertices, shares)
        for vertex in range(first, last):
            if vertices.kind[vertex] == shares.kind:
                row = shares.row[vertex]
                if row != held:
                    _sum_row(held, times * weight / total, shares.rows, sums)
                    held, times = row, 0
                times += 1
    if times:
        _sum_row(held, times * weight / total, shares.rows, sums)


@inline_kernel
def _sum_row(row: int, factor: float, rows: ShareRows, sums: Sum) -> None:
    if factor > 0:
        for entry in range(rows.first[row], rows.first[row + 1]):
            code = rows.codes[entry]
            if sums.weights[code] == 0:
                sums.codes[sums.used[0]] = code
                sums.used[0] += 1
            sums.weights[code] += factor * rows.shares[entry]


@inline_kernel
def _add_sum(sums: Sum, weights: NDArray[np.float64]) -> None:
    for index in range(sums.used[0]):
        code = sums.codes[index]
        weights[code] += sums.weights[code]


@lean
def add_rows(
    rows: NDArray[np.int64], factors: NDArray[np.int64], shares: ShareRows, weights: NDArray[np.float64]
) -> None:
    """Add to ``weights`` some rows of shares, each times the factor of its row."""
    for row in rows:
        factor = float(factors[row])
        for entry in range(shares.first[row], shares.first[row + 1]):
            weights[shares.codes[entry]] += factor * shares.shares[entry]


@inline_kernel
def _find_places(image: int, vertices: Vertices, shares: Shares) -> tuple[int, int]:
    """Return the range of vertices at or below one in which those with the attribute are."""
    first, last = image, image + 1
    for _ in range(shares.depth[shares.kind] - shares.depth[vertices.kind[image]]):
        if first < last:
            first, last = (
                vertices.first_child[first],
                vertices.first_child[last - 1] + vertices.child_count[last - 1],
            )
    return first, last
