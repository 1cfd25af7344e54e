"""What closeness lets join the vertices of a class, for local search (see ``alignment.kernels.closeness``).

The **open** values of a vertex are those that may join its present values: with such a value in addition
every check holds. They are bits, so that an exchange is decided by looking up the values of the newcomer.
Kernels call this code by address, so that it is compiled only where a policy asks for closeness.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hierdata.engines.alignment.kernels.anonytree import NO_ROWS, NO_SIDES, align, join
from hierdata.engines.alignment.kernels.arrays import (
    CHILD_COUNT,
    FIRST_CHILD,
    FIRST_NODE,
    KIND,
    OWN,
    QUASI_COUNT,
    Sides,
)
from hierdata.engines.alignment.kernels.closeness import BITS, FOREIGN_SET, ClosenessChecks, count_held
from hierdata.engines.alignment.kernels.representative import Ordinals, Rows, vertex_saving
from hierdata.engines.alignment.kernels.vertices import fits, open_alignment
from hierdata.engines.jit import address_of, call_by_symbol, call_of, lean, part, shared, signature_of


@part
def _open_at(
    v: int,
    check: int,
    column: int,
    have: int,
    behind: Ordinals,
    checks: ClosenessChecks,
    open_values: Ordinals,
) -> bool:
    """Mark the open values of a check at one vertex of ``have`` members; return whether there are any."""
    present = count_held(v, check, column, have, behind, checks)
    if present < 0:
        return False
    held, weight, expected, paths = checks.held, checks.weight, checks.expected, checks.paths
    first = checks.first_set[check]
    last = checks.first_set[check + 1]
    total, limit, bottom = checks.total[check], checks.limit[check], checks.bottom[check]
    missing = checks.counts[check] - 1
    now = np.int64(0)
    further = np.int64(0)
    for value_set in range(first, last):
        now += weight[value_set] * abs(held[value_set] * total - expected[value_set] * present)
        further += weight[value_set] * abs(held[value_set] * total - expected[value_set] * (present + 1))
    some = False
    for value in range(missing + 1):
        if value == missing:
            is_open = now * bottom <= limit * present
        else:
            moved = further
            for level in range(paths.shape[2]):
                value_set = paths[check, value, level]
                if value_set < 0:
                    break
                excess = held[value_set] * total - expected[value_set] * (present + 1)
                moved += weight[value_set] * (abs(excess + total) - abs(excess))
            is_open = paths[check, value, 0] != FOREIGN_SET and moved * bottom <= limit * (present + 1)
        if is_open:
            number = checks.first_value[check] + value
            open_values[number // BITS] |= np.int64(1) << (number % BITS)
            some = True
    return some


@call_by_symbol
@lean
def find_open(
    rep: Rows, count: int, have: int, behind: Ordinals, checks: ClosenessChecks, open_values: Ordinals
) -> None:
    """Find the open values of each vertex of a representative of ``have`` members.

    They are written to ``open_values[vertex, word]``. A vertex has none where it, or one above, cannot be
    published with a further member. Vertices without checks have all.
    """
    for v in range(count if checks.words else 0):
        for word in range(checks.words):
            open_values[v, word] = 0
    if checks.words:
        open_values[0, 0] = 1  # until it is looked at, a vertex is marked where the one above is open
    for v in range(count if checks.words else 0):
        is_open = open_values[v, 0] != 0
        open_values[v, 0] = 0
        first = checks.first_check[rep[v, KIND]]
        last = checks.first_check[rep[v, KIND] + 1]
        for check in range(first, last):
            is_open = is_open and _open_at(v, check, check - first, have, behind, checks, open_values[v])
        for word in range(checks.words):
            if not is_open:
                open_values[v, word] = 0
            elif first == last:
                open_values[v, word] = -1
        for child in range(rep[v, FIRST_CHILD], rep[v, FIRST_CHILD] + rep[v, CHILD_COUNT]):
            open_values[child, 0] = np.int64(is_open)


@part
def is_open_to(open_values: Ordinals, kind: int, vertex: int, checks: ClosenessChecks) -> bool:
    """Return whether the values of a record's vertex are open, by the words of a vertex of its type."""
    first = checks.first_check[kind]
    some: bool = open_values[0] != 0
    for word in range(1, checks.words):
        some = some or open_values[word] != 0
    for check in range(first, checks.first_check[kind + 1]):
        number = checks.first_value[check] + checks.values[vertex, check - first]
        some = some and (open_values[number // BITS] >> (number % BITS)) & 1 != 0
    return some


@shared
def close_saving_with(
    open_values: Ordinals, root: int, queue: Ordinals, sides: Sides, checks: ClosenessChecks
) -> np.int64:
    """Return what members keep of a representative with a further record.

    Vertices where a check fails then, and those below, are not published. -1 if the root does not fit.
    """
    _, settings, work, rep, rows, rules = sides
    open_alignment(rules.caps, work.full)
    if not fits(0, root, sides):
        return np.int64(-1)
    if not is_open_to(open_values[0], 0, root, checks):
        return np.int64(-1)
    saved = np.int64(0)
    queue[0, 0] = 0
    queue[0, 1] = root
    count = 1
    position = 0
    while position < count:
        a = queue[position, 0]
        b = queue[position, 1]
        position += 1
        saved += settings.scale * np.int64(rep[a, OWN])
        for node in range(FIRST_NODE, FIRST_NODE + rep[a, QUASI_COUNT]):
            saved -= rules.losses[join(rep[a, node], rows[b, node], rules.ancestors)] // 2
        if rep[a, CHILD_COUNT] == 0 or rows[b, CHILD_COUNT] == 0:
            continue
        align(
            rep[a, FIRST_CHILD], rep[a, CHILD_COUNT], rows[b, FIRST_CHILD], rows[b, CHILD_COUNT],
            False, sides,
        )  # fmt: skip
        for i in range(rep[a, CHILD_COUNT]):
            if work.mates[0, i] < 0:
                continue
            child = rep[a, FIRST_CHILD] + i
            partner = rows[b, FIRST_CHILD] + work.mates[0, i]
            if is_open_to(open_values[child], rep[child, KIND], partner, checks):
                queue[count, 0] = child
                queue[count, 1] = partner
                count += 1
    return saved


@shared
def close_saving(
    rep: Rows,
    count: int,
    have: int,
    behind: Ordinals,
    open_values: Ordinals,
    scale: int,
    losses: Ordinals,
    checks: ClosenessChecks,
) -> np.int64:
    """Return what members keep of a representative of ``have`` records; -1 if a check fails at the root."""
    find_open(rep, count, have - 1, behind, checks, open_values)
    saved = np.int64(0)
    for v in range(count):
        if checks.words and not is_open_to(open_values[v], rep[v, KIND], behind[have - 1, v], checks):
            if v == 0:
                return np.int64(-1)
            for child in range(rep[v, FIRST_CHILD], rep[v, FIRST_CHILD] + rep[v, CHILD_COUNT]):
                for word in range(checks.words):
                    open_values[child, word] = 0
            continue
        saved += vertex_saving(rep, v, scale, losses)
    return saved


class CloseCode(NamedTuple):
    """The addresses of the code for closeness; 0 without checks, and then nothing calls it."""

    find_open: int = 0
    close_saving: int = 0
    close_saving_with: int = 0


_NUMBERS = np.empty(0, np.int64)
_MATRIX = np.empty((0, 0), np.int64)
_NO_CHECKS = ClosenessChecks(
    0, _NUMBERS, _NUMBERS, np.empty((0, 0, 0), np.int32), *(_NUMBERS,) * 7, NO_ROWS, _NUMBERS
)
_FIND_OPEN = signature_of(None, NO_ROWS, 0, 0, _MATRIX, _NO_CHECKS, _MATRIX)
_SAVING = signature_of(0, NO_ROWS, 0, 0, _MATRIX, _MATRIX, 0, _NUMBERS, _NO_CHECKS)
_SAVING_WITH = signature_of(0, _MATRIX, 0, _MATRIX, NO_SIDES, _NO_CHECKS)
call_find_open = call_of(_FIND_OPEN)
call_close_saving = call_of(_SAVING)
call_close_saving_with = call_of(_SAVING_WITH)


def close_code(checks: ClosenessChecks) -> CloseCode:
    """Return the addresses of the code for these checks; compile it if there are any."""
    if checks.words == 0:
        return CloseCode()
    return CloseCode(
        address_of(find_open, _FIND_OPEN),
        address_of(close_saving, _SAVING),
        address_of(close_saving_with, _SAVING_WITH),
    )
