"""Compiled search for known facts in one published record.

What is known of a victim is a small tree: its root is vertex 0, the vertices of the facts and their ancestors
follow, parents first. It agrees with a published record, for a set of its facts, if it can be laid into the
record: the root on the root, children on different children of the same type, each fact on a value that
covers it. Vertices that only facts outside the set need are left out. Sets of facts are bit masks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.jit import inline_kernel, jit, part


class Vertices(NamedTuple):
    """The vertices of published records, as in Forest."""

    kind: NDArray[np.int64]
    first_child: NDArray[np.int64]
    child_count: NDArray[np.int64]
    first_node: NDArray[np.int64]
    nodes: NDArray[np.int64]


class KnownFacts(NamedTuple):
    """What is known of a victim.

    By vertex: ``above`` its parent, ``kind`` its type, ``facts`` its facts and ``below`` the facts at it or
    its descendants, as masks. By fact: ``vertex`` its vertex, ``position`` its quasi-identifier (-1: the
    vertex is there, which is the fact), ``first`` where its row of ``covers`` begins, which tells for each
    node whether it covers the value. ``masks`` are all sets of facts, larger ones first; those of n facts
    begin at ``of_size[n]``.
    """

    above: NDArray[np.int64]
    kind: NDArray[np.int64]
    facts: NDArray[np.int64]
    below: NDArray[np.int64]
    vertex: NDArray[np.int64]
    position: NDArray[np.int64]
    first: NDArray[np.int64]
    covers: NDArray[np.bool_]
    masks: NDArray[np.int64]
    of_size: NDArray[np.int64]


class RecordSpace(NamedTuple):
    """Space for one record. By known vertex and vertex of the record: ``covered`` tells the facts that would
    agree, as a mask, ``hosts`` whether the one may lie on the other. ``laid`` tells for each known vertex
    for which facts that was found last, as a mask, -1 for none. ``choices`` and ``chosen`` are for the
    children of a known vertex, ``images`` and ``following`` for vertices of the record.
    """

    covered: NDArray[np.int64]
    hosts: NDArray[np.bool_]
    laid: NDArray[np.int64]
    choices: NDArray[np.int64]
    chosen: NDArray[np.int64]
    images: NDArray[np.int64]
    following: NDArray[np.int64]


@jit
def make_space(known: KnownFacts, sizes: NDArray[np.int64]) -> RecordSpace:
    """Return space for records of these sizes."""
    count, largest = len(known.above), np.int64(1)
    for size in sizes:
        largest = max(largest, size)
    return RecordSpace(
        np.zeros((count, largest), np.int64),
        np.zeros((count, largest), np.bool_),
        np.empty(count, np.int64),
        np.empty((count, count), np.int64),
        np.empty(count + 1, np.int64),
        np.empty(largest, np.int64),
        np.empty(largest, np.int64),
    )


@inline_kernel
def count_facts(mask: int) -> int:
    """Return the size of a set of facts."""
    count = 0
    while mask:
        count += mask & 1
        mask >>= 1
    return count


@part
def cover(root: int, size: int, vertices: Vertices, known: KnownFacts, space: RecordSpace) -> None:
    """Find for each known vertex and each vertex of its type the facts that would agree."""
    covered, laid, covers = space.covered, space.laid, known.covers
    for known_vertex in range(len(known.above)):
        laid[known_vertex] = -1
        for offset in range(size):
            covered[known_vertex, offset] = 0
    for fact in range(len(known.vertex)):
        known_vertex, position, first = known.vertex[fact], known.position[fact], known.first[fact]
        kind, bit = known.kind[known_vertex], 1 << fact
        for offset in range(size):
            vertex = root + offset
            if vertices.kind[vertex] == kind and (
                position < 0 or covers[first + vertices.nodes[vertices.first_node[vertex] + position]]
            ):
                covered[known_vertex, offset] |= bit


@part
def lay(mask: int, root: int, size: int, vertices: Vertices, known: KnownFacts, space: RecordSpace) -> bool:
    """Return whether the facts of a mask agree; ``hosts`` tells what each known vertex may lie on.

    What was found for another mask since ``cover`` is found again only where other facts are asked.
    """
    covered, hosts, laid, kinds = space.covered, space.hosts, space.laid, vertices.kind
    for known_vertex in range(len(known.above) - 1, -1, -1):
        below = known.below[known_vertex] & mask
        if laid[known_vertex] == below or (known_vertex > 0 and not below):
            continue
        laid[known_vertex] = below
        kind, asked = known.kind[known_vertex], known.facts[known_vertex] & mask
        for offset in range(size if known_vertex else 1):
            hosts[known_vertex, offset] = (
                kinds[root + offset] == kind
                and (covered[known_vertex, offset] & asked) == asked
                and (
                    below == asked
                    or _place_children(
                        mask, known_vertex, root + offset, root, -1, -1, vertices, known, space
                    )
                )
            )
    return bool(hosts[0, 0])


@part
def _place_children(
    mask: int,
    parent: int,
    vertex: int,
    root: int,
    fixed: int,
    taken: int,
    vertices: Vertices,
    known: KnownFacts,
    space: RecordSpace,
) -> bool:
    """Return whether the needed children of a known vertex can lie on different children of a vertex.

    The child ``fixed`` is left out, and the vertex ``taken`` with it. A child with as many choices as there
    are children never stands in the way of another; the others are tried in all ways.
    """
    needed = 0
    for child in range(parent + 1, len(known.above)):
        if known.above[child] == parent and child != fixed and known.below[child] & mask:
            needed += 1
    waiting = 0
    for child in range(parent + 1, len(known.above)):
        if known.above[child] == parent and child != fixed and known.below[child] & mask:
            count = _list_choices(child, vertex, root, taken, needed, waiting, vertices, space)
            if count == 0:
                return False
            waiting += count < needed
    return _choose_apart(waiting, space)


@inline_kernel
def _has_space(
    mask: int,
    parent: int,
    vertex: int,
    root: int,
    fixed: int,
    vertices: Vertices,
    known: KnownFacts,
    space: RecordSpace,
) -> bool:
    """Return whether wherever the child ``fixed`` lies, each other child has as many choices as there are."""
    needed = 0
    for child in range(parent + 1, len(known.above)):
        if known.above[child] == parent and known.below[child] & mask:
            needed += 1
    for child in range(parent + 1, len(known.above)):
        if (
            known.above[child] == parent
            and child != fixed
            and known.below[child] & mask
            and _list_choices(child, vertex, root, -1, needed, 0, vertices, space) < needed
        ):
            return False
    return True


@inline_kernel
def _list_choices(
    child: int,
    vertex: int,
    root: int,
    taken: int,
    needed: int,
    row: int,
    vertices: Vertices,
    space: RecordSpace,
) -> int:
    """List the first ``needed`` children of a vertex that a known child may lie on, -1 behind fewer."""
    count = 0
    first = vertices.first_child[vertex]
    for other in range(first, first + vertices.child_count[vertex]):
        if other != taken and space.hosts[child, other - root]:
            space.choices[row, count] = other
            count += 1
            if count == needed:
                return count
    space.choices[row, count] = -1
    return count


@inline_kernel
def _choose_apart(count: int, space: RecordSpace) -> bool:
    """Return whether each of the first rows can choose another number; a row ends with -1."""
    choices, chosen = space.choices, space.chosen
    for row_number in range(count + 1):
        chosen[row_number] = -1
    row = 0
    while 0 <= row < count:
        chosen[row] += 1
        choice = choices[row, chosen[row]]
        if choice < 0:
            chosen[row] = -1
            row -= 1
            continue
        free = True
        for before in range(row):
            if choices[before, chosen[before]] == choice:
                free = False
        if free:
            row += 1
    return row == count


@inline_kernel
def find_images(
    mask: int,
    root: int,
    vertices: Vertices,
    known: KnownFacts,
    space: RecordSpace,
    path: NDArray[np.int64],
) -> int:
    """List what the last needed vertex of a path may lie on when all facts of a mask agree.

    They are in ``space.images``, ascending; returns how many. Behind a shorter path is -1.
    """
    images, following = space.images, space.following
    images[0], count, step = root, 1, 0
    while step + 1 < len(path) and path[step + 1] >= 0 and known.below[path[step + 1]] & mask:
        above, child = path[step], path[step + 1]
        following_count = 0
        for number in range(count):
            vertex = images[number]
            every = _has_space(mask, above, vertex, root, child, vertices, known, space)
            first = vertices.first_child[vertex]
            for other in range(first, first + vertices.child_count[vertex]):
                if space.hosts[child, other - root] and (
                    every or _place_children(mask, above, vertex, root, child, other, vertices, known, space)
                ):
                    following[following_count] = other
                    following_count += 1
        for number in range(following_count):
            images[number] = following[number]
        count, step = following_count, step + 1
    return count
