"""Compiled search for known facts in published records.

What is known of a victim is a small tree: its root is vertex 0, the vertices of the facts and their ancestors
follow, parents first. It agrees with a published record, for a set of its facts, if it can be laid into the
record: the root on the root, children on different children of the same type, each fact on a value that
covers it. Vertices that only facts outside the set need are left out. Sets of facts are bit masks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.jit import jit


class Vertices(NamedTuple):
    """The vertices of published records, as in Forest."""

    kind: NDArray[np.int64]
    first_child: NDArray[np.int64]
    child_count: NDArray[np.int64]
    first_node: NDArray[np.int64]
    nodes: NDArray[np.int64]


class KnownFacts(NamedTuple):
    """What is known of a victim.

    By vertex: ``above`` its parent, ``kind`` its type, ``own`` its facts and ``below`` the facts at it or its
    descendants, as masks. By fact: ``at`` its vertex, ``position`` its quasi-identifier (-1: the vertex is
    there, which is the fact), ``first`` where its row of ``covers`` begins, which tells for each node whether
    it covers the value. ``masks`` are all sets of facts, larger ones first.
    """

    above: NDArray[np.int64]
    kind: NDArray[np.int64]
    own: NDArray[np.int64]
    below: NDArray[np.int64]
    at: NDArray[np.int64]
    position: NDArray[np.int64]
    first: NDArray[np.int64]
    covers: NDArray[np.bool_]
    masks: NDArray[np.int64]


class Shares(NamedTuple):
    """The shares of an attribute's values where a vertex is published.

    Vertex v has the values ``codes[first[place[v]] : first[place[v] + 1]]``; ``shares`` are those of the
    vertices there that have them. ``kind`` is the attribute's type, ``depth[t]`` the depth of type t.
    """

    kind: int
    depth: NDArray[np.int64]
    place: NDArray[np.int64]
    first: NDArray[np.int64]
    codes: NDArray[np.int64]
    shares: NDArray[np.float64]


@jit
def count_agreeing(
    roots: NDArray[np.int64], sizes: NDArray[np.int64], vertices: Vertices, known: KnownFacts
) -> NDArray[np.int64]:
    """Return for each record, given by root and size, the largest number of facts that it agrees with."""
    found = np.zeros(len(roots), np.int64)
    room = np.int64(1)
    for size in sizes:
        room = max(room, size)
    covered = np.zeros((len(known.above), room), np.int64)
    hosts = np.zeros((len(known.above), room), np.bool_)
    for at in range(len(roots)):
        _cover(roots[at], sizes[at], vertices, known, covered)
        for mask in known.masks:
            if _lay(mask, roots[at], sizes[at], vertices, known, covered, hosts):
                found[at] = _size(mask)
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
    path: NDArray[np.int64],
    shares: Shares,
    weights: NDArray[np.float64],
) -> None:
    """Add to ``weights`` what records tell of an attribute's value at or below a known vertex.

    ``path`` leads from the known root to that vertex. Each record weighs ``records`` times the share of
    vertices with a value, divided equally among the vertices that the known one may be. Where none of its
    facts agrees, the vertex above it is asked. ``agreed`` is the number of facts that the record agrees with.
    """
    room = np.int64(1)
    for size in sizes:
        room = max(room, size)
    covered = np.zeros((len(known.above), room), np.int64)
    hosts = np.zeros((len(known.above), room), np.bool_)
    images = np.zeros(room, np.bool_)
    reached = np.zeros((len(path), room), np.bool_)
    for at in range(len(roots)):
        root, size = roots[at], sizes[at]
        _cover(root, size, vertices, known, covered)
        images[:size] = False
        for mask in known.masks:
            if _size(mask) == agreed[at] and _lay(mask, root, size, vertices, known, covered, hosts):
                _find_images(mask, root, size, vertices, known, hosts, path, reached, images)
        total = 0
        for place in range(size):
            if images[place]:
                total += _add_values(root + place, vertices, shares, 0.0, weights)
        for place in range(size):
            if images[place] and total > 0:
                _add_values(root + place, vertices, shares, records[at] / total, weights)


@jit
def _add_values(
    image: int, vertices: Vertices, shares: Shares, weight: float, weights: NDArray[np.float64]
) -> int:
    """Add the shares of values at or below a vertex, unless ``weight`` is 0; return how many vertices."""
    first, last = image, image + 1
    for _ in range(shares.depth[shares.kind] - shares.depth[vertices.kind[image]]):
        if first < last:
            first, last = (
                vertices.first_child[first],
                vertices.first_child[last - 1] + vertices.child_count[last - 1],
            )
    count = 0
    for vertex in range(first, last):
        if vertices.kind[vertex] == shares.kind:
            count += 1
            if weight > 0:
                row = shares.place[vertex]
                for entry in range(shares.first[row], shares.first[row + 1]):
                    weights[shares.codes[entry]] += weight * shares.shares[entry]
    return count


@jit
def _size(mask: int) -> int:
    count = 0
    while mask:
        count += mask & 1
        mask >>= 1
    return count


@jit
def _cover(root: int, size: int, vertices: Vertices, known: KnownFacts, covered: NDArray[np.int64]) -> None:
    """Find for each known vertex and each vertex of its type the facts that would agree."""
    for own in range(len(known.above)):
        for place in range(size):
            covered[own, place] = 0
    for fact in range(len(known.at)):
        own = known.at[fact]
        for place in range(size):
            vertex = root + place
            if vertices.kind[vertex] != known.kind[own]:
                continue
            position = known.position[fact]
            if position < 0:
                covered[own, place] |= 1 << fact
            else:
                node = vertices.nodes[vertices.first_node[vertex] + position]
                if known.covers[known.first[fact] + node]:
                    covered[own, place] |= 1 << fact


@jit
def _lay(
    mask: int,
    root: int,
    size: int,
    vertices: Vertices,
    known: KnownFacts,
    covered: NDArray[np.int64],
    hosts: NDArray[np.bool_],
) -> bool:
    """Return whether the facts of a mask agree; ``hosts`` tells what each known vertex may lie on."""
    for own in range(len(known.above) - 1, -1, -1):
        if own > 0 and not known.below[own] & mask:
            continue
        asked = known.own[own] & mask
        for place in range(size):
            vertex = root + place
            hosts[own, place] = (
                vertices.kind[vertex] == known.kind[own]
                and (covered[own, place] & asked) == asked
                and _place_children(mask, own, vertex, root, -1, -1, vertices, known, hosts)
            )
    return bool(hosts[0, 0])


@jit
def _place_children(
    mask: int,
    own: int,
    vertex: int,
    root: int,
    fixed: int,
    taken: int,
    vertices: Vertices,
    known: KnownFacts,
    hosts: NDArray[np.bool_],
) -> bool:
    """Return whether the needed children of a known vertex can lie on different children of a vertex.

    The child ``fixed`` is left out, and the vertex ``taken`` with it. A child with as many choices as there
    are children never stands in the way of another; the others are tried in all ways.
    """
    needed = 0
    for child in range(own + 1, len(known.above)):
        if known.above[child] == own and child != fixed and known.below[child] & mask:
            needed += 1
    if needed == 0:
        return True
    choices = np.empty((needed, needed), np.int64)
    waiting = 0
    for child in range(own + 1, len(known.above)):
        if known.above[child] == own and child != fixed and known.below[child] & mask:
            count = _list_choices(child, vertex, root, taken, vertices, hosts, choices[waiting])
            if count == 0:
                return False
            waiting += count < needed
    return _choose_apart(choices, waiting)


@jit
def _list_choices(
    child: int,
    vertex: int,
    root: int,
    taken: int,
    vertices: Vertices,
    hosts: NDArray[np.bool_],
    choices: NDArray[np.int64],
) -> int:
    """List the first children of a vertex that a known child may lie on, and -1 if there is room."""
    count = 0
    first = vertices.first_child[vertex]
    for other in range(first, first + vertices.child_count[vertex]):
        if other != taken and hosts[child, other - root]:
            choices[count] = other
            count += 1
            if count == len(choices):
                return count
    choices[count] = -1
    return count


@jit
def _choose_apart(choices: NDArray[np.int64], count: int) -> bool:
    """Return whether each of the first rows can choose another number; a row ends with -1."""
    chosen = np.full(count + 1, -1, np.int64)
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


@jit
def _find_images(
    mask: int,
    root: int,
    size: int,
    vertices: Vertices,
    known: KnownFacts,
    hosts: NDArray[np.bool_],
    path: NDArray[np.int64],
    reached: NDArray[np.bool_],
    images: NDArray[np.bool_],
) -> None:
    """Mark what the last needed vertex of a path may lie on when all facts of a mask agree."""
    reached[:, :size] = False
    reached[0, 0] = True
    step = 0
    while step + 1 < len(path) and known.below[path[step + 1]] & mask:
        above, own = path[step], path[step + 1]
        for place in range(size):
            if not reached[step, place]:
                continue
            first = vertices.first_child[root + place]
            for other in range(first, first + vertices.child_count[root + place]):
                if hosts[own, other - root] and _place_children(
                    mask, above, root + place, root, own, other, vertices, known, hosts
                ):
                    reached[step + 1, other - root] = True
        step += 1
    for place in range(size):
        images[place] |= reached[step, place]
