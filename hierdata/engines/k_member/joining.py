"""Leftovers: records in no class join the finished class where that loses least."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.kernels.arrays import WEIGHT
from hierdata.engines.alignment.kernels.lower_bounds import bounds_to, histogram_of
from hierdata.engines.k_member.grow import Growing, Grown

Numbers = NDArray[np.int64]

_LOOKED_AT = 10
"""The number of classes that a record tries to join."""


def join_late(growing: Growing, classes: list[Grown], left: Numbers) -> list[int]:
    """Add each record of ``left`` to a class, one after the other; return those that cannot join any.

    Joining a class of s records raises what is kept of all values by (s + 1) a - s b, where each member keeps
    b without the record and a with it. A record tries the ten classes with the highest bounds of that gain,
    and joins the class with the highest gain, if it is above 0; the first tried of equal ones.
    """
    if not classes:
        return [*left]
    counts = np.stack([_vector(growing, one)[0] for one in classes])
    totals = np.array([_vector(growing, one)[1] for one in classes])
    by_class = growing.histograms._replace(counts=counts, totals=totals)
    every = np.arange(len(classes))
    bounds = np.empty(len(classes), np.int64)
    staying: list[int] = []
    for record in left.tolist():
        vector, total = growing.histograms.counts[record], growing.histograms.totals[record]
        bounds_to(vector, total, every, by_class, bounds)
        found = _best(growing, classes, record, bounds)
        if found is None:
            staying.append(record)
            continue
        at, one = found
        classes[at] = one
        counts[at], totals[at] = _vector(growing, one)
    return staying


def _best(growing: Growing, classes: list[Grown], record: int, bounds: Numbers) -> tuple[int, Grown] | None:
    """Return the position of the class with the highest gain, and that class with the record added."""
    scale, root = growing.settings.scale, growing.forest.roots[record]
    own = int(growing.rows[root, WEIGHT])
    most = [
        (len(one.records) + 1) * ((scale * (int(one.rows[0, WEIGHT]) + own) - bound) // 2)
        - len(one.records) * one.saved
        for one, bound in zip(classes, bounds.tolist(), strict=True)
    ]
    best, found = 0, None
    for at in sorted(range(len(classes)), key=lambda at: -most[at])[:_LOOKED_AT]:
        if most[at] <= best:
            break
        one = growing.with_one_more(classes[at], record)
        if one is None:
            continue
        gained = len(one.records) * one.saved - len(classes[at].records) * classes[at].saved
        if gained > best:
            best, found = gained, (at, one)
    return found


def _vector(growing: Growing, one: Grown) -> tuple[NDArray[np.uint8], int]:
    vector = np.zeros(len(growing.histograms.weights), np.uint8)
    total = histogram_of(one.rows, len(one.rows), growing.histograms, vector)
    return vector, int(total)
