"""The current classes of local search: their representatives, the rest of each record, and paths.

The **rest** of a record is the alignment of the other members of its class in their order. To weigh a
newcomer in the record's place takes one alignment with the rest.

The **paths** of a tree are the hierarchy nodes that its values pass, with counts. What two trees have in
common there bounds the saving of their alignment from above (``hierdata.engines.alignment.lower_bounds``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.kernels.arrays import (
    CHILD_COUNT,
    FIRST_CHILD,
    FIRST_NODE,
    QUASI_COUNT,
    SLOT_COUNT,
    AlignmentArrays,
    Rules,
)
from hierdata.engines.alignment.kernels.closeness import ClosenessChecks
from hierdata.engines.alignment.kernels.representative import (
    ClassBuffers,
    Ordinals,
    Rows,
    build,
    copy_members,
    copy_rows,
    representative_saving,
    weigh,
)
from hierdata.engines.jit import lean, part
from hierdata.engines.local_search.kernel_closeness import CloseCode, call_find_open


class Paths(NamedTuple):
    """The hierarchy nodes that the values of trees pass, with counts."""

    nodes: NDArray[np.int32]  # [tree, position, 2]: node and count of values that pass it
    lengths: Ordinals  # [tree]: the number of nodes


@part
def trace(
    rep: Rows,
    first: int,
    count: int,
    open_: Ordinals,
    data: SearchInput,
    passed: Ordinals,
    paths: Paths,
    tree: int,
) -> None:
    """Write the paths of a tree, whose vertices are ``count`` rows from ``first`` on.

    Vertices without open values (``open_[vertex, word]``; no word: all have some) are left out.
    """
    worth, passes, nodes = data.worth, data.passes, paths.nodes[tree]
    length = 0
    words = open_.shape[1]
    for v in range(first, first + count):
        is_open = words == 0
        for word in range(words):
            is_open = is_open or open_[v, word] != 0
        if not is_open:
            continue
        for column in range(FIRST_NODE, FIRST_NODE + rep[v, QUASI_COUNT]):
            value = rep[v, column]
            for level in range(passes.shape[1]):
                node = passes[value, level]
                if node >= 0 and worth[node] > 0:
                    if passed[node] == 0:
                        nodes[length, 0] = node
                        length += 1
                    passed[node] += 1
    for position in range(length):
        nodes[position, 1] = passed[nodes[position, 0]]
        passed[nodes[position, 0]] = 0
    paths.lengths[tree] = length


@part
def mark_paths(paths: Paths, tree: int, passed: Ordinals) -> None:
    """Write the counts of the paths of a tree to ``passed``, which must be 0."""
    nodes = paths.nodes[tree]
    for position in range(paths.lengths[tree]):
        passed[nodes[position, 0]] = nodes[position, 1]


@part
def clear_paths(paths: Paths, tree: int, passed: Ordinals) -> None:
    """Set ``passed`` to 0 again."""
    nodes = paths.nodes[tree]
    for position in range(paths.lengths[tree]):
        passed[nodes[position, 0]] = 0


@part
def common_worth(paths: Paths, tree: int, passed: Ordinals, worth: Ordinals) -> np.int64:
    """Return an upper bound of the saving of two trees: the worth of all nodes that values of both pass."""
    nodes = paths.nodes[tree]
    most = np.int64(0)
    for position in range(paths.lengths[tree]):
        node = nodes[position, 0]
        most += worth[node] * min(np.int64(nodes[position, 1]), passed[node])
    return most


NOBODY = -1


class SearchInput(NamedTuple):
    """The data that the search does not change: caps by class size, and the paths of records."""

    caps_of: NDArray[np.int64]  # [class size, group, 3]: ``Rules.caps`` of a class of that size
    worth: Ordinals  # [node]: loss of the node above minus that of the node
    passes: Ordinals  # [node, level]: nodes on the path of the node, -1 for none
    paths: Paths  # of records
    checks: ClosenessChecks
    close: CloseCode


class CurrentClasses(NamedTuple):
    """The current classes, and for each record the rest of its class.

    Exchanges between a record and a class are not weighed again unless one of the two classes has changed
    since the record's last visit, or the class was not near it then.
    """

    class_of: Ordinals  # [record]: its class, -1 if it is suppressed
    sizes: Ordinals  # [class]: records
    order: Ordinals  # [class, position]: records in the order in which they are aligned
    saved: Ordinals  # [class]: saving of each member
    rows: NDArray[np.int32]  # [class, vertex, column]: representative
    open_: Ordinals  # [class, vertex, word]: the open values of its vertices
    paths: Paths  # of the representatives of classes
    rest_saved: Ordinals  # [record]: saving of each member of the rest
    rest_rows: NDArray[np.int32]  # [record, vertex, column]: representative of the rest
    rest_paths: Paths  # of the representatives of rests
    rest_open: Ordinals  # [record, vertex, word]: the open values of the rest's vertices
    changed: Ordinals  # [class]: time of its last change
    visited: Ordinals  # [record]: time of its last visit, -1 for never
    were_near: Ordinals  # [record, position]: the classes that were near it then
    clock: Ordinals  # [1]: the time, which is the number of exchanges made


class SearchBuffers(NamedTuple):
    """Working memory."""

    built: ClassBuffers  # the representative that is being built
    prefix: Rows  # representative of the first members of a class, while one of the others is left out
    prefix_behind: Ordinals  # [member, vertex]: the members' vertices
    open_: Ordinals  # [vertex, word]: open values
    passed: Ordinals  # [node]: values of a tree that pass it; 0 between calls
    passed_rest: Ordinals  # [node]: the same of a rest; 0 between calls
    near: Ordinals  # [position]: classes near the record, the nearest first
    near_gains: Ordinals  # [position]: upper bound of the gain if the record joins
    gain_without: Ordinals  # [1]: gain of the record's class if the record leaves it
    fresh: NDArray[np.bool_]  # [position]: exchanges with the class must be weighed
    chosen: Ordinals  # [exchange, EXCHANGE]: promising exchanges
    records: Ordinals  # [position]: members of a class
    company: Ordinals  # [position]: other suppressed records that may join together with the record
    company_commons: Ordinals  # [position]: worth that their paths have in common with the record's
    parties: Ordinals  # [position of the class, position]: records that would join the near class together
    party_sizes: Ordinals  # [position of the class]: how many
    party_gains: Ordinals  # [position of the class]: gain if they join


class ExchangeSearch(NamedTuple):
    """All arrays of the search; the caps of ``arrays.rules`` are undefined, see ``at_size``."""

    arrays: AlignmentArrays
    data: SearchInput
    classes: CurrentClasses
    buffers: SearchBuffers


@part
def at_size(arrays: AlignmentArrays, caps_of: NDArray[np.int64], size: int) -> AlignmentArrays:
    """Return the arrays with the caps of a class of ``size`` records."""
    settings, work, roots, rows, rules = arrays
    pair_row, pair_losses, _, losses, ancestors, nests = rules
    fitting = Rules(pair_row, pair_losses, caps_of[size], losses, ancestors, nests)
    return AlignmentArrays(settings, work, roots, rows, fitting)


@lean
def trace_all(arrays: AlignmentArrays, data: SearchInput, open_: Ordinals, passed: Ordinals) -> None:
    """Compute the paths of all records; ``open_`` must be without words."""
    for record in range(len(arrays.roots) - 1):
        first = arrays.roots[record]
        trace(arrays.rows, first, arrays.roots[record + 1] - first, open_, data, passed, data.paths, record)


@lean
def read_class(
    first: int, last: int, size: int, first_slot: int, rep: Rows, behind: Ordinals, rows: Rows, kept: Ordinals
) -> int:
    """Complete the rows of a class representative that consists of some vertices of a record.

    ``kept[v]`` is the position in ``rep`` of each vertex of the record, -1 if it is left out. The nodes in
    ``rep`` must be set already. Return the number of vertices.
    """
    count = 1
    for v in range(first, last):
        i = kept[v - first]
        if i < 0:
            continue
        for column in range(FIRST_NODE):
            rep[i, column] = rows[v, column]
        rep[i, FIRST_CHILD] = count
        child = rows[v, FIRST_CHILD]
        for u in range(child, child + rows[v, CHILD_COUNT]):
            if kept[u - first] >= 0:
                count += 1
        rep[i, CHILD_COUNT] = count - rep[i, FIRST_CHILD]
        for slot in range(rows[v, SLOT_COUNT]):
            for member in range(size):
                rep[i, first_slot + slot * size + member] = rows[behind[member, i], first_slot + slot]
    weigh(rep, count)
    return count


@lean
def enter(
    this_class: int, rep: Rows, count: int, open_: Ordinals, saved: int, newcomer: int, search: ExchangeSearch
) -> None:
    """Enter the representative of a class, and compute the rests of its members, except that of a newcomer.

    A newcomer has the rest of the record whose place it takes.
    """
    arrays, data, classes, buffers = search
    built = buffers.built
    size = classes.sizes[this_class]
    classes.changed[this_class] = classes.clock[0]
    classes.saved[this_class] = saved
    copy_rows(rep, count, classes.rows[this_class])
    for v in range(count):
        for word in range(open_.shape[1]):
            classes.open_[this_class, v, word] = open_[v, word]
    trace(rep, 0, count, open_, data, buffers.passed, classes.paths, this_class)
    if size < 2:
        return
    fitting = at_size(arrays, data.caps_of, size)
    order = classes.order[this_class]
    before = 0  # vertices of the prefix: the members before the one that is left out
    for have in range(size):
        record = order[have]
        if record != newcomer:
            _copy_class(before, have, buffers.prefix, buffers.prefix_behind, built.rep, built.members)
            vertices = build(order, have + 1, size, NOBODY, have, before, built, fitting)
            copy_rows(built.rep, vertices, classes.rest_rows[record])
            classes.rest_saved[record] = representative_saving(
                built.rep, vertices, arrays.settings.scale, arrays.rules.losses
            )
            rest_open = classes.rest_open[record]
            if data.checks.words > 0:
                call_find_open(
                    data.close.find_open,
                    (built.rep, vertices, size - 1, built.members, data.checks, rest_open),
                )
            trace(built.rep, 0, vertices, rest_open, data, buffers.passed, classes.rest_paths, record)
        if have + 1 < size:
            _copy_class(before, have, buffers.prefix, buffers.prefix_behind, built.rep, built.members)
            before = build(order, have, have + 1, NOBODY, have, before, built, fitting)
            _copy_class(before, have + 1, built.rep, built.members, buffers.prefix, buffers.prefix_behind)


@lean
def _copy_class(vertices: int, size: int, rep: Rows, behind: Ordinals, to: Rows, to_behind: Ordinals) -> None:
    """Copy a representative of ``size`` records, and its members' vertices."""
    copy_rows(rep, vertices, to)
    copy_members(behind, size, vertices, to_behind)
