"""Compiled loops over published records: how much of what is known agrees, and what values they tell."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.adversary.embedding import (
    KnownFacts,
    Vertices,
    count_facts,
    cover,
    find_images,
    lay,
    make_space,
)
from hierdata.engines.jit import inline_kernel, jit, lean, part


class Told(NamedTuple):
    """Rows of shares: row r has the values ``codes[first[r] : first[r + 1]]`` with these ``shares``."""

    first: NDArray[np.int64]
    codes: NDArray[np.int64]
    shares: NDArray[np.float64]


class Shares(NamedTuple):
    """The shares of an attribute's values where a vertex is published.

    Row ``place[v]`` of ``told`` is about vertex v: the shares of the vertices that look as it does. ``kind``
    is the attribute's type, ``depth[t]`` the depth of type t.
    """

    kind: int
    depth: NDArray[np.int64]
    place: NDArray[np.int64]
    told: Told


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
    found = most.copy()
    space = make_space(known, sizes)
    for at in range(len(roots)):
        if found[at]:
            cover(roots[at], sizes[at], vertices, known, space)
        while found[at] and not lay((1 << found[at]) - 1, roots[at], sizes[at], vertices, known, space):
            found[at] -= 1
    return found


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
    found = np.zeros(len(roots), np.int64)
    space = make_space(known, sizes)
    for at in range(len(roots)):
        cover(roots[at], sizes[at], vertices, known, space)
        for mask in masks:
            if lay(mask, roots[at], sizes[at], vertices, known, space):
                found[at] = count_facts(mask)
                break
    return found


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
    space = make_space(known, sizes)
    largest = space.hosts.shape[1]
    images = np.zeros(largest, np.bool_)
    reached = np.zeros((paths.shape[1], largest), np.bool_)
    for at in range(len(roots)):
        root, size = roots[at], sizes[at]
        cover(root, size, vertices, known, space)
        for facts in range(len(paths)):
            own = agreed[facts, at]
            if own < 0 or paths[facts, 0] < 0:
                continue
            for place in range(size):
                images[place] = False
            last = known.of_size[own - 1] if own else len(known.masks)
            for mask in known.masks[known.of_size[own] : last]:
                if mask >> facts:  # sets of one size rise
                    break
                if lay(mask, root, size, vertices, known, space):
                    find_images(mask, root, size, vertices, known, space, paths[facts], reached, images)
            _add_values(root, size, records[at], images, vertices, shares, weights[facts])


@part
def _add_values(
    root: int,
    size: int,
    weight: float,
    images: NDArray[np.bool_],
    vertices: Vertices,
    shares: Shares,
    weights: NDArray[np.float64],
) -> None:
    """Divide a weight equally among the vertices at or below images that have the attribute."""
    total = 0
    for place in range(size):
        if images[place]:
            first, last = _find_places(root + place, vertices, shares)
            for vertex in range(first, last):
                total += vertices.kind[vertex] == shares.kind
    held, times = 0, 0  # vertices that look alike follow one another
    for place in range(size):
        if images[place]:
            first, last = _find_places(root + place, vertices, shares)
            for vertex in range(first, last):
                if vertices.kind[vertex] == shares.kind:
                    row = shares.place[vertex]
                    if row != held:
                        _add_row(held, times * weight / total, shares.told, weights)
                        held, times = row, 0
                    times += 1
    if times:
        _add_row(held, times * weight / total, shares.told, weights)


@lean
def add_rows(
    rows: NDArray[np.int64], factors: NDArray[np.int64], told: Told, weights: NDArray[np.float64]
) -> None:
    """Add to ``weights`` some rows of shares, each times the factor of its row."""
    for row in rows:
        _add_row(row, float(factors[row]), told, weights)


@inline_kernel
def _add_row(row: int, factor: float, told: Told, weights: NDArray[np.float64]) -> None:
    if factor > 0:
        for entry in range(told.first[row], told.first[row + 1]):
            weights[told.codes[entry]] += factor * told.shares[entry]


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
