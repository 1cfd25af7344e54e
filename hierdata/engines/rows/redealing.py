"""Deal regions that no cut divides, so that every class gets a similar share of each sensitive value."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.rows.contents import check_classes
from hierdata.engines.rows.order import RowLine
from hierdata.engines.rows.table import class_sizes, codes_of, dense, losses_of
from hierdata.engines.rows.tracks import Apart
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import SUPPRESSED


def redealt(
    forest: Forest, scope: Scope, constraints: Constraints, line: RowLine, classes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Deal classes into smaller ones where that loses less and satisfies all models.

    A class just within its caps cannot be cut: of two sides by quasi-identifiers, one has too many of some
    value. If its rows are dealt in the order of the sensitive values, each of g classes gets at most c / g,
    rounded up, of c equal values, so its distribution is like that of the whole. Sizes are tried from the
    least up, each 1.5 times the one before; the first that works is used. The loss never rises.
    O(rows log rows) for each size.
    """
    judged = [bool(own) for own in constraints.on_values[scope.kind]]
    if not any(judged):
        return classes
    codes = codes_of(forest, scope)[:, judged]
    value = np.unique(codes, axis=0, return_inverse=True)[1].ravel()
    in_order = np.lexsort((*line.places.T[::-1], value))
    for size in _sizes(constraints.min_class_size, len(classes)):
        room = np.append(class_sizes(classes) // size, 0)  # SUPPRESSED is -1: the last
        rows = in_order[room[classes[in_order]] >= 2]
        if not len(rows):
            break
        rows = rows[np.argsort(classes[rows], kind="stable")]
        dealt = _chunks(rows, classes, value, room).deal_blocks(line, scope, _blocks(rows, classes), size)
        taken = _better(forest, scope, constraints, classes, dealt)
        classes = dense(np.where(taken[classes], dealt + 1 + classes.max(), classes))
    return classes


def _sizes(least: int, rows: int) -> Iterator[int]:
    size = least
    while 2 * size <= rows:
        yield size
        size += (size + 1) // 2


def _blocks(rows: NDArray[np.int64], classes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    return np.split(rows, np.flatnonzero(np.diff(classes[rows])) + 1)


def _chunks(
    rows: NDArray[np.int64], classes: NDArray[np.int64], value: NDArray[np.int64], room: NDArray[np.int64]
) -> Apart:
    """Keep equal values of a class apart, in chunks of as many rows as the class has room for classes."""
    changes = (np.diff(classes[rows]) != 0) | (np.diff(value[rows]) != 0)
    first = np.append(True, changes)
    at = np.arange(len(rows))
    since = at - np.maximum.accumulate(np.where(first, at, 0))
    groups = np.full(len(classes), -1, np.int32)
    groups[rows] = np.cumsum(since % room[classes[rows]] == 0) - 1
    return Apart(groups, np.arange(int(groups.max()) + 1, dtype=np.int32))


def _better(
    forest: Forest,
    scope: Scope,
    constraints: Constraints,
    classes: NDArray[np.int64],
    dealt: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """By class, whether dealing it leaves no row out, keeps all models and loses less; the last is False."""
    count = int(classes.max()) + 1
    there = dealt != SUPPRESSED
    complete = np.bincount(classes[there], minlength=count) == class_sizes(classes)
    parent = np.empty(int(dealt.max(initial=-1)) + 1, np.int64)
    parent[dealt[there]] = classes[there]
    whole = np.bincount(parent[~check_classes(forest, scope, constraints, dealt)], minlength=count) == 0
    after = np.zeros(count, np.int64)
    np.add.at(after, parent, losses_of(forest, scope, dealt))
    return np.append(complete & whole & (after < losses_of(forest, scope, classes)), False)
