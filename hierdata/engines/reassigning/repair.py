"""What is done with classes that no reassignment brought within their bounds."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.cutting.asking import Asked
from hierdata.engines.cutting.caps import one_of_each_record
from hierdata.engines.rows.contents import Contents, satisfied
from hierdata.engines.rows.leftovers import attach
from hierdata.engines.rows.table import (
    class_sizes,
    codes_of,
    dense,
    dissolved,
    joins,
    nodes_of,
    partition_of,
)
from hierdata.forest import Forest, Scope
from hierdata.partition import SUPPRESSED, Partition

_TRIED = 64
"""So many unions of a class are shown to the models, the one of least loss first."""


def published(
    forest: Forest,
    scope: Scope,
    constraints: Constraints,
    classes: NDArray[np.int64],
    before: Partition,
    rng: np.random.Generator,
) -> Partition:
    """The partition of classes, repaired: every class satisfies all constraints, and costs say what it took.

    A class that fails is united with another, the one of least loss with which all hold. Where there is none
    its rows join the nearest classes that accept them (``rows.leftovers``); what none accepts is suppressed.
    If no class is left, all rows are tried as one.
    """
    costs = Counter(before.costs)
    reached = _smallest(forest, scope, constraints, classes)
    start = np.count_nonzero(classes == SUPPRESSED)
    classes, united = _united(forest, scope, constraints, dense(classes))
    failing = _failing(forest, scope, constraints, classes)
    dissolved_rows = int(failing[classes[classes >= 0]].sum()) if len(failing) else 0
    classes = dissolved(classes, failing) if len(failing) else classes
    if not (classes != SUPPRESSED).any() and start < len(classes):
        whole = _whole(forest, scope, constraints)
        classes = whole if whole is not None else classes
    left = np.flatnonzero(classes == SUPPRESSED)
    classes = attach(forest, scope, constraints, classes, left, rng)
    gone = int((classes == SUPPRESSED).sum())
    costs["vertices_that_no_class_accepts" if scope.kind else "records_that_no_class_accepts"] = gone
    costs["rows_in_the_nearest_class"] += len(left) - gone
    costs["classes_united"] += united
    costs["rows_of_classes_dissolved"] += dissolved_rows
    reason = ""
    if gone == len(classes):
        reason = before.reason if reached is None else _unreachable(reached)
    return partition_of(forest, scope, classes, costs, reason)


def _failing(
    forest: Forest, scope: Scope, constraints: Constraints, classes: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Which classes lack something; one without values may hold and be too small all the same."""
    small = class_sizes(classes) < constraints.min_class_size
    return small | ~satisfied(forest, scope, constraints, classes)


def _united(
    forest: Forest, scope: Scope, constraints: Constraints, classes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], int]:
    """The classes, those that fail united with others where all constraints hold then; and how many were."""
    failing = np.flatnonzero(_failing(forest, scope, constraints, classes)).tolist()
    asked = Asked(forest, scope, constraints)
    alone = bool(one_of_each_record(scope))
    united = 0
    classes = classes.copy()
    merged = set()
    for own in failing:
        if own in merged:
            continue
        mine = np.flatnonzero(classes == own)
        for other in _nearest(forest, scope, classes, own, mine):
            theirs = np.flatnonzero(classes == other)
            rows = np.concatenate([mine, theirs])
            if alone and len(np.unique(scope.records[rows])) < len(rows):
                continue
            if len(rows) >= constraints.min_class_size and asked(rows):
                classes[mine] = other
                merged |= {own, other}
                united += 1
                break
    return dense(classes), united


def _nearest(
    forest: Forest, scope: Scope, classes: NDArray[np.int64], own: int, mine: NDArray[np.int64]
) -> list[int]:
    """The first few of the other classes by what uniting them with one loses, then by number."""
    trees, losses = forest.hierarchies[scope.kind], forest.losses[scope.kind]
    roots = joins(trees, nodes_of(forest, scope), dense(classes))
    numbers = np.unique(classes[classes != SUPPRESSED])
    sizes = np.bincount(classes[classes != SUPPRESSED])[numbers]
    here = roots[np.flatnonzero(numbers == own)[0]]
    lost = np.zeros(len(numbers))
    for column, (tree, loss) in enumerate(zip(trees, losses, strict=True)):
        ancestors = np.array(tree.ancestors, np.int32)
        shared = (ancestors[roots[:, column]] == ancestors[here[column]]) & (ancestors[here[column]] >= 0)
        deepest = shared.shape[1] - 1 - np.argmax(shared[:, ::-1], axis=1)
        joined = loss[ancestors[here[column], deepest]].astype(float)
        lost += joined * (sizes + len(mine)) - loss[roots[:, column]].astype(float) * sizes
    order = np.lexsort((numbers, lost))
    found: list[int] = numbers[order][:_TRIED].tolist()
    return [other for other in found if other != own]


def _whole(forest: Forest, scope: Scope, constraints: Constraints) -> NDArray[np.int64] | None:
    """All rows as one class, if that may be."""
    classes = np.zeros(len(scope.rows), np.int64)
    if one_of_each_record(scope) or _failing(forest, scope, constraints, classes).any():
        return None
    return classes


def _smallest(
    forest: Forest, scope: Scope, constraints: Constraints, classes: NDArray[np.int64]
) -> Fraction | None:
    """The largest distance of the class where it is least: a smaller t none reached; None without."""
    codes = codes_of(forest, scope)
    classes = dense(classes)
    distances: list[Fraction] | None = None
    for position, bound in enumerate(constraints.on_values[scope.kind]):
        close = [one for one in bound if one.closeness is not None]
        if not close or not (classes != SUPPRESSED).any():
            continue
        contents = Contents(classes, codes[:, position])
        own = [max(one.achieved(view).get("t", Fraction(0)) for one in close) for view in contents.views]
        of_class = [own[at] for at in contents.of_class.tolist()]
        distances = of_class if distances is None else list(map(max, distances, of_class))
    return min(distances) if distances else None


def _unreachable(reached: Fraction) -> str:
    return (
        f"no class comes within the t that is asked for: the smallest that was reached is "
        f"{float(reached):.6g} ({reached}); ask for that or more, or for larger classes"
    )
