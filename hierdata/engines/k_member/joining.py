"""Records that are in no class join the finished one where that loses least."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.kernels.arrays import WEIGHT
from hierdata.engines.alignment.kernels.lower_bounds import bounds_to, histogram_of
from hierdata.engines.k_member.grow import Growing, Grown

Numbers = NDArray[np.int64]

_LOOKED_AT = 10
"""How many classes a record tries to join."""


def join_late(growing: Growing, classes: list[Grown], left: Numbers) -> list[int]:
    """Let each of the records left join a class, one after the other; answer those that cannot.

    A record raises what is kept of all values by (s + 1) a - s b, if the members of a class of s keep b each
    without it and a with it. It tries the classes where that may be most by their bounds, up to ten, and
    joins the one where it is most, if it is above 0; of equals the one tried first.
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
    """The class where the record keeps most, and that class with it."""
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
